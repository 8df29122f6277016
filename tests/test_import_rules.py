"""Imports point one way, and each outside library stays in its room. The rules are docs/design.md's."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("interp", "webhook", "interpreters", "estimator", "certs")

# what all of accounting speaks of
ACCOUNTING_NOUNS = tuple(f"estimator.accounting.{noun}" for noun in ("defaults", "demand", "usage"))

# part of the tree -> what of ours it may import (a prefix allows all below it)
MAY_IMPORT: dict[str, tuple[str, ...]] = {
    "interpreters/core": ("interpreters.core",),
    "interpreters/lua": ("interpreters.core", "interpreters.lua", "interpreters.snippets"),
    "interpreters/starlark": ("interpreters.core", "interpreters.starlark"),
    "interpreters/sandbox": ("interpreters.core", "interpreters.sandbox"),
    "interpreters": ("interpreters",),
    "estimator/quotas": ("estimator.quotas", "interpreters.core"),
    "estimator/fit": ("estimator.fit", "estimator.quotas", "interpreters.core"),
    "estimator/clusters": ("estimator.clusters", "estimator.fit", "interpreters.core", "interpreters.files"),
    "estimator/placement": ("estimator.placement", "estimator.fit", "interpreters.core"),
    "estimator/service": (
        "estimator.service",
        "estimator.clusters",
        "estimator.fit",
        "interpreters.core",
        "interpreters.files",
    ),
    "estimator/accounting": (
        "estimator.accounting",
        "estimator.quotas",
        "estimator.placement",
        "interpreters.core",
        "interpreters.files",
    ),
    "estimator/accounting/ledger": (
        *ACCOUNTING_NOUNS,
        "estimator.accounting.ledger",
        "estimator.quotas",
        "interpreters.core",
    ),
    "estimator/accounting/sources": (
        *ACCOUNTING_NOUNS,
        "estimator.accounting.sources",
        "estimator.clusters",
        "estimator.quotas",
        "interpreters.core",
        "interpreters.files",
    ),
    "estimator": ("estimator", "interpreters.core", "interpreters.files"),
    "certs": ("certs", "interpreters.core"),
    "webhook/server": (
        "webhook.server",
        "interpreters.core",
        "interpreters.files",
        "interpreters.folders",
        "estimator.accounting.defaults",
        "estimator.accounting.ledger.database",  # settings check the ledger's address
        "certs",
    ),
    "webhook/registration": ("webhook.registration", "interpreters"),
    "webhook/endpoints": ("webhook.endpoints", "webhook.server", "webhook.registration", "interpreters", "estimator"),
    "webhook": ("webhook", "interpreters", "estimator", "certs"),
    "interp": ("interp", "webhook", "interpreters", "estimator", "certs"),
}

# outside library -> the only places that may import it
ONLY_IN: dict[str, tuple[str, ...]] = {
    "lupa": ("interpreters/lua",),
    "starlark_go": ("interpreters/starlark",),
    "grpc": ("estimator/service",),
    "grpc_health": ("estimator/service",),
    "grpc_reflection": ("estimator/service",),
    "aiohttp.web": ("webhook",),
    "aiohttp": ("webhook", "estimator/clusters", "interp/verbs"),
    "sqlalchemy": ("estimator/accounting",),
    "aiosqlite": ("estimator/accounting",),
    "asyncpg": ("estimator/accounting",),
    "sqlite3": ("estimator/accounting",),
    "pyarrow": ("estimator/accounting/chargeback",),
    "click": ("interp",),
    "rich": ("interp",),
}

KARMADA_NAME = re.compile(r"^\S*karmada\.io\S*$|^(Cluster)?(ResourceBinding|PropagationPolicy)$")

# core is pure: none of these
IMPURE = (
    "socket",
    "os",
    "pathlib",
    "time",
    "datetime",
    "logging",
    "subprocess",
    "asyncio",
    "threading",
    "io",
    "tempfile",
)


def imports(path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def within(module: str, prefix: str) -> bool:
    return module == prefix or module.startswith(prefix + ".")


SOURCES = [path.relative_to(ROOT) for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_a_module_imports_only_what_its_place_allows(path: Path) -> None:
    place = max((p for p in MAY_IMPORT if path.as_posix().startswith(p + "/")), key=len)
    ours = [module for module in imports(ROOT / path) if module.split(".")[0] in PACKAGES]
    strangers = [m for m in ours if not any(within(m, allowed) for allowed in MAY_IMPORT[place])]
    assert not strangers, f"{path} is in {place} and may import {MAY_IMPORT[place]}, but imports {strangers}"


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Imports inside functions and for types only are counted too: a circle is one idea in two files, or a noun in the
    wrong one."""
    names = {".".join(path.with_suffix("").parts).removesuffix(".__init__"): path for path in SOURCES}
    graph = {
        name: {module for module in imports(ROOT / path) if module in names and module != name}
        for name, path in names.items()
    }
    for name, found in graph.items():  # `from package import module` means the module
        graph[name] = {one for one in found if not any(within(other, one) for other in found - {one})}
    list(TopologicalSorter(graph).static_order())  # raises CycleError with the modules


COMMAND = [path for path in SOURCES if path.as_posix().startswith("interp/")]


@pytest.mark.parametrize("path", COMMAND, ids=str)
def test_a_verb_imports_no_other_verb_and_what_verbs_share_imports_none(path: Path) -> None:
    """`interp/verbs/<verb>` is a file or a folder; whatever two verbs need is beside `interp/verbs`, not in one."""
    own = path.parts[2].removesuffix(".py") if path.parts[:2] == ("interp", "verbs") else None
    foreign = {module for module in imports(ROOT / path) if within(module, "interp.verbs")}
    if own is not None:
        foreign = {module for module in foreign if not within(module, f"interp.verbs.{own}")} - {"interp.verbs"}
    assert not foreign, f"{path} imports {sorted(foreign)}: move what both need beside interp/verbs"


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_an_outside_library_stays_in_its_room(path: Path) -> None:
    for module in imports(ROOT / path):
        for library, rooms in ONLY_IN.items():
            if within(module, library):
                assert path.as_posix().startswith(rooms), f"{path} imports {module}, which belongs to {rooms}"


@pytest.mark.parametrize(
    "path", [path for path in SOURCES if path.as_posix().startswith("interpreters/core/")], ids=str
)
def test_core_is_pure(path: Path) -> None:
    impure = [module for module in imports(ROOT / path) if any(within(module, name) for name in IMPURE)]
    assert not impure, f"{path} imports {impure}; core has no sockets, files, clock or logging"


def test_engines_are_loaded_by_name_only() -> None:
    """The sandbox knows its engines as text, so that a worker loads just the one it needs."""
    for path in (ROOT / "interpreters" / "sandbox").glob("*.py"):
        assert not [m for m in imports(path) if within(m, "interpreters.lua") or within(m, "interpreters.starlark")]


def test_names_of_karmadas_api_are_spelled_in_one_module() -> None:
    """Help texts and sentences may name them; nothing else may, so that a new version of an API is one change."""
    spelled = []
    for path in SOURCES:
        if path.as_posix().startswith("interpreters/core/karmada/"):
            continue
        for node in ast.walk(ast.parse((ROOT / path).read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and KARMADA_NAME.search(node.value):
                spelled.append(f"{path}:{node.lineno}: {node.value[:60]}")
    assert not spelled, "interpreters/core/karmada/api.py has names for these:\n" + "\n".join(spelled)
