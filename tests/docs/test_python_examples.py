"""What the documents show in Python runs and gives what they say; what is exported exists."""

from __future__ import annotations

import doctest
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.console import ROOT

_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = {page.name: _BLOCK.findall(page.read_text()) for page in sorted((ROOT / "docs").glob("*.md"))}
LOADED_AT_START = ("numpy", "msgspec", "yaml", "interpreters.public", "estimator.public")


@pytest.mark.parametrize("page", [page for page, blocks in PAGES.items() if blocks])
def test_the_python_examples_of_a_page_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    names = {"ledger_file": str(tmp_path / "ledger.db")}
    example = doctest.DocTestParser().get_doctest("\n".join(PAGES[page]), names, page, page, 0)
    said: list[str] = []
    outcome = doctest.DocTestRunner(verbose=False).run(example, out=said.append)
    assert outcome.attempted > 10
    assert outcome.failed == 0, "".join(said)


@pytest.mark.parametrize("name", ["interpreters", "estimator"])
def test_what_a_package_exports_is_what_its_public_module_has(name: str) -> None:
    package, public = importlib.import_module(name), importlib.import_module(f"{name}.public")
    assert {*package.__all__} - {"__version__"} == {*public.__all__}
    assert all(getattr(package, one) is getattr(public, one) for one in public.__all__)
    assert [one for one in public.__all__ if callable(getattr(public, one)) and not getattr(public, one).__doc__] == []
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = package.no_such_name


@pytest.mark.parametrize("name", ["interpreters", "estimator"])
def test_a_package_loads_what_it_exports_only_when_it_is_used(name: str) -> None:
    asked = f"import sys, {name}; print(*(set({LOADED_AT_START!r}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.split() == []
