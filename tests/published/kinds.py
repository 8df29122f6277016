"""The bundled kinds, out of the scripts' own headers: a README for each, and docs/kinds.md with all of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from interpreters.core.division import DIVISION_KEY, MEANINGS, Division, parse_division
from interpreters.core.errors import InputError
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.operations import BY_FUNCTION, OPERATIONS, Operation
from interpreters.headers import ALSO_SERVES, script_header
from tests.published.parts import DOCS, ROOT

SCRIPTS: Final = ROOT / "interpreters" / "lua" / "scripts"
TABLE: Final = DOCS / "kinds.md"
SECTIONS: Final = ("Counted", "Not counted", "Sources")
EXAMPLE: Final = "interpreters/lua/scripts/batch/v1/CronJob/interpreter.lua"
_FUNCTION: Final = re.compile(r"^function (\w+)\(", re.MULTILINE)
_INTRODUCTION: Final = """\
# Bundled kinds

Made by `make docs` from the headers of the scripts; edit those. Rules that hold for every kind:

- Components are what the workload needs once it runs. A suspended one counts its size after it is resumed, an elastic
  one its start value.
- A component name has at most 32 characters. A longer name becomes its first 23 characters, a dash and a checksum of
  the whole name in eight hexadecimal digits (polynomial 31 modulo 4294967291). A name that occurs again gets `-2`,
  `-3` and so on.
- What a pod needs is what Kubernetes charges: limits replace missing requests, init containers count by maximum,
  native sidecars, pod-level resources and overhead are included.
- InterpretReplica tells all pods, the largest request per resource, and the node claim and priority class that all
  components share.
- ReviseReplica changes nothing on a kind that goes whole, and with 0 or all of its replicas nothing on any but
  Kubernetes' own. How a kind may be divided is the first line about it; docs/contract.md says what follows.
- AggregateStatus takes one cluster's status as it is; of several it adds up counters, and a good condition holds only
  if it holds everywhere.
"""


@dataclass(frozen=True, slots=True)
class KindDoc:
    """What the header of one script says, and the operations that the script offers."""

    kind: GroupVersionKind
    summary: str
    division: Division
    sections: dict[str, tuple[str, ...]]
    operations: frozenset[Operation]
    also_serves: tuple[str, ...] = ()

    @property
    def versions(self) -> str:
        """Every apiVersion that it answers for, its own first."""
        return ", ".join(f"`{version}`" for version in (self.kind.api_version, *self.also_serves))


def read_kind(kind: GroupVersionKind, text: str) -> KindDoc:
    """Read a script's header: a summary, then sections of points. Raises `InputError` with all that is missing."""
    where = (SCRIPTS / kind.folder / "interpreter.lua").relative_to(ROOT)
    lines = text.splitlines()
    length = next((i for i, line in enumerate(lines) if not line.startswith("--")), len(lines))
    summary, *header = [line.removeprefix("--") for line in lines[:length]] or [""]
    sections = _points(header)
    facts = script_header(text)
    declared = facts.first(DIVISION_KEY)
    missing = [f"{name}:" for name in SECTIONS if not sections.get(name)]
    if declared is None:
        missing.insert(0, f"{DIVISION_KEY.capitalize()}:")
    if not summary.strip() or missing:
        lacks = " and ".join(filter(None, ["a summary" * (not summary.strip()), ", ".join(missing)]))
        raise InputError(f"{where}: the comment that it begins with lacks {lacks}; {EXAMPLE} shows how it is written")
    functions = {BY_FUNCTION[name] for name in _FUNCTION.findall(text) if name in BY_FUNCTION}
    also_serves = facts.listed(ALSO_SERVES)
    try:
        division = parse_division(str(declared))
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    return KindDoc(kind, summary.strip(), division, sections, frozenset(functions), also_serves)


def _points(header: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The points under each section; a line that is indented further goes on with its point."""
    sections: dict[str, list[str]] = {}
    points: list[str] = []
    for line in header:
        if line.strip().removesuffix(":") in SECTIONS:
            points = sections.setdefault(line.strip().removesuffix(":"), [])
        elif line.startswith(" - "):
            points.append(line[3:])
        elif line.startswith("   ") and points:
            points[-1] += " " + line.strip()
    return {name: tuple(points) for name, points in sections.items()}


def bundled_kinds(scripts: Path = SCRIPTS) -> list[KindDoc]:
    """All bundled kinds, sorted by group and kind. Raises `InputError` that names every kind with a mistake."""
    found, wrong = [], []
    for path in sorted(scripts.glob("*/*/*/interpreter.lua")):
        kind = GroupVersionKind.from_folder(str(path.parent.relative_to(scripts)))
        try:
            found.append(read_kind(kind, path.read_text()))
        except InputError as error:
            wrong.append(str(error))
        except UnicodeDecodeError:
            wrong.append(f"{path.relative_to(scripts)}: expected UTF-8")
    if wrong:
        raise InputError("\n".join(wrong))
    return found


def readme(doc: KindDoc) -> str:
    """The README of one kind."""
    offered = ", ".join(operation.name for operation in OPERATIONS if operation in doc.operations)
    return "\n".join(
        [
            f"# {doc.kind.kind} ({doc.kind.api_version})",
            "",
            doc.summary,
            "",
            _division(doc),
            "",
            *([f"Serves {doc.versions}.", ""] if doc.also_serves else []),
            f"Answers {offered}. Worked examples: [cases.yaml](cases.yaml).",
            *_sections(doc, "##"),
            "",
            "Made by `make docs` from the header of [interpreter.lua](interpreter.lua).",
            "",
        ]
    )


def _division(doc: KindDoc) -> str:
    return f"Division: **{doc.division}** — {MEANINGS[doc.division]}."


def _sections(doc: KindDoc, mark: str) -> Iterator[str]:
    for name in SECTIONS:
        yield from ("", f"{mark} {name}", "", *(f"- {point}" for point in doc.sections[name]))


def table(docs: list[KindDoc]) -> str:
    """The page of all kinds: which operation each answers, and what is counted."""
    asked = [operation for operation in OPERATIONS if any(operation in doc.operations for doc in docs)]
    titles = [operation.name.removeprefix("Interpret") for operation in asked]
    lines = [_INTRODUCTION, f"| kind | division | {' | '.join(titles)} | what |", "|---" * (len(titles) + 3) + "|"]
    for doc in docs:
        marks = " | ".join("✓" if operation in doc.operations else "" for operation in asked)
        anchor = f"{doc.kind.kind}-{doc.kind.api_version}".lower().replace(".", "").replace("/", "")
        lines.append(f"| [{doc.kind.kind}](#{anchor}) {doc.versions} | {doc.division} | {marks} | {doc.summary} |")
    for doc in docs:
        lines += [
            "",
            f"## {doc.kind.kind} ({doc.kind.api_version})",
            "",
            doc.summary,
            "",
            _division(doc),
            *_sections(doc, "###"),
        ]
    return "\n".join(lines) + "\n"


def pages(scripts: Path = SCRIPTS) -> dict[Path, str]:
    docs = bundled_kinds(scripts)
    readmes = {scripts / doc.kind.folder / "README.md": readme(doc) for doc in docs}
    return readmes | {TABLE: table(docs)}
