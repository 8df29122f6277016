"""Links between documents lead to a file, and to a heading in it; a page that the code or a manifest names exists."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from tests.console import ROOT

PAGES = sorted(
    page
    for pattern in ("*.md", "docs/**/*.md", "deploy/**/*.md", "interpreters/**/*.md", "tests/**/*.md")
    for page in ROOT.glob(pattern)
)
NAMING = sorted(
    path
    for folder in ("interp", "interpreters", "estimator", "webhook", "certs", "deploy", "docs", "tests", "benchmarks")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in {".py", ".md", ".yaml", ".lua", ".star", ".json", ".proto"} and "vectors" not in path.parts
)
_LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)")
_CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r"(?<![\w./])docs/[\w./-]+\.(?:md|json|yaml)\b")


@cache
def anchors(page: Path) -> frozenset[str]:
    """What can follow `#` in a link to the page: its headings as GitHub and GitLab make anchors of them.

    >>> sorted(anchors(ROOT / "docs" / "metrics.md"))
    ['metrics-of-the-webhook']
    """
    seen: dict[str, int] = {}
    for title in re.findall(r"^#+ +(.+?) *$", _CODE.sub("", page.read_text()), re.MULTILINE):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title)
        slug = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        seen[slug] = times = seen.get(slug, -1) + 1
        if times:
            seen[f"{slug}-{times}"] = 0
    return frozenset(seen)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    broken = []
    for target, anchor in _LINK.findall(_CODE.sub("", page.read_text())):
        path = (page.parent / target).resolve() if target else page
        if not path.exists() or (anchor and anchor not in anchors(path)):
            broken.append(f"{target}#{anchor}" if anchor else target)
    assert broken == []


def test_every_page_that_a_source_names_exists() -> None:
    named = {
        (path.relative_to(ROOT).as_posix(), name)
        for path in NAMING
        for name in _NAMED.findall(path.read_text(errors="replace"))
    }
    assert named, "nothing was looked at"
    assert sorted((path, name) for path, name in named if not (ROOT / name).exists()) == []


def test_every_page_of_the_documentation_is_reached_from_the_readme() -> None:
    reached, to_do = set[Path](), [ROOT / "README.md"]
    while to_do:
        page = to_do.pop()
        reached.add(page)
        targets = {(page.parent / target).resolve() for target, _ in _LINK.findall(page.read_text()) if target}
        to_do += [path for path in targets - reached if path.suffix == ".md" and path.exists()]
    assert sorted(page.name for page in set((ROOT / "docs").glob("*.md")) - reached) == []
