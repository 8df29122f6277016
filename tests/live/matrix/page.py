"""The page docs/live-matrix.md, made by `make docs` from what the last runs of the matrix wrote down."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from tests.live.matrix.cells import Policy
from tests.live.matrix.order import HARMFUL
from tests.live.matrix.results import DOCS, Row, Run, read

PAGE = DOCS / "live-matrix.md"
INTRODUCTION = """\
# What Karmada does with what interp offers

What was observed: `make live-matrix` lets objects of every bundled kind be created, relabelled and scaled before a
real Karmada with two member clusters, and reads what arrives there. Karmada alone comes first and is the measure; then
interp is registered, before and after the objects, stops answering, comes back, and is taken away. This page is made
from what the last runs wrote into `live-matrix.json` (`make docs`).

Three functions of Karmada decide it. `applyReplicaInterpretation` (pkg/detector) asks for components if the feature
gate MultiplePodTemplatesScheduling is on and anybody offers InterpretComponent, else for replicas if anybody offers
InterpretReplica, and writes one or the other into the binding. `AssignReplicas` (pkg/scheduler/core) shares out only a
binding that has replicas and at most one component; any other goes to every cluster that was selected, which a spread
of 1..1 limits to one, unless static weights are given. `ensureWork` (pkg/controllers/binding) calls ReviseReplica
with the share, also under Duplicated, and with 0 for a binding that has components.
"""
BEHAVIOUR = """\
## Behaviour
By interp are those of InterpretReplica, InterpretComponent and ReviseReplica that it registers. A cell says what the
members get: the whole object, or shares of its pods. An aggregated division is whole in one cluster when that has
room, as here. Two things in one cell are two objects of a kind. Unless a row names a release, the releases did the
same. The last rows are what interp does not register for kinds that divide, and why: with the gate on, every cluster
gets all pods.
"""
EXCEPTIONS = """\
## Exceptions
Where an object is meant to be otherwise than with Karmada alone, and how often it was so in these runs; the table is in
`tests/live/matrix/judgement.py`.
"""
UNSEEN = """\
- Not in these runs, where everything fits: with the gate on and a Divided policy with a spread of 1..1, a job for which
  no cluster has room is not placed, while Karmada alone places it without a look, if it does not know the kind. What
  runs already stays. `tests/live/registering.py` shows both."""


def page(runs: Sequence[Run]) -> str:
    return "\n".join([INTRODUCTION, *_runs(runs), "", *_behaviours(runs), "", *_exemptions(runs), ""])


def _runs(runs: Sequence[Run]) -> Iterator[str]:
    yield "## Runs"
    yield "| Karmada | gate | kinds | objects | judged | wrong | calls answered | minutes |"
    yield "|---|---|---|---|---|---|---|---|"
    for karmada, gate in _planes(runs):
        here = [run for run in runs if (run.karmada, run.gate) == (karmada, gate)]
        sums = [sum(getattr(run, name) for run in here) for name in ("kinds", "objects", "judged", "wrong", "calls")]
        told = " | ".join(map(str, [*sums, round(sum(run.minutes for run in here), 1)]))
        yield f"| {karmada} | {'on' if gate else 'off'} | {told} |"
    yield ""
    yield "Judged are an object and an event while interp was registered: whether it is in the clusters and has the"
    yield "fields that it has with Karmada alone, and asks for the pods that its policy means."
    failing = sorted({kind for run in runs for kind in run.unpropagated})
    if failing:
        yield ""
        yield "Karmada alone does not propagate some object of each of these, because its own scripts fail on it,"
        yield "always or at times, and then the members have other pods than the policy means:"
        yield f"{', '.join(failing)}. With interp it arrives, and only its pods are judged."


def _planes(runs: Sequence[Run]) -> list[tuple[str, bool]]:
    return sorted({(run.karmada, run.gate) for run in runs})


def _behaviours(runs: Sequence[Run]) -> Iterator[str]:
    policies = [str(policy) for policy in Policy]
    releases = sorted({run.karmada for run in runs})
    yield BEHAVIOUR
    yield f"| kinds | registered | by interp | gate | binding holds | {' | '.join(policies)} |"
    yield "|---" * (len(policies) + 5) + "|"
    for line in sorted(_lines(runs), key=lambda line: (_ORDER.index(line.settings[0]), line)):
        only = f" ({', '.join(line.releases)})" if list(line.releases) != releases else ""
        told = [", ".join(line.kinds), ", ".join(line.settings) + only, line.offered or "nothing",
                ", ".join(line.gates), line.bound, *line.cells]  # fmt: skip
        yield f"| {' | '.join(told)} |"


_ORDER = ("Karmada alone", "by default", "--all", "--divide", "--count", HARMFUL)


class Line(msgspec.Struct, frozen=True, order=True):
    """What the same kinds do in the same way, however interp is registered, with either gate and any release."""

    settings: tuple[str, ...]
    gates: tuple[str, ...]
    offered: str
    bound: str
    cells: tuple[str, ...]  # by policy
    releases: tuple[str, ...]
    kinds: tuple[str, ...] = ()


def _lines(runs: Sequence[Run]) -> Iterator[Line]:
    """The rows of all runs in as few lines as possible."""
    seen: dict[tuple[str, str, str, tuple[str, ...]], dict[str, set[tuple[str, str]]]] = {}
    for run in runs:
        of_kinds: dict[tuple[str, str, str], list[Row]] = {}
        for row in run.rows:
            for kind in row.kinds:
                of_kinds.setdefault((_short(kind, run), row.setting, row.offered), []).append(row)
        for (kind, setting, offered), rows in of_kinds.items():
            cells = tuple(_all("members", (row for row in rows if row.policy == str(policy))) for policy in Policy)
            gates = seen.setdefault((kind, offered, _all("bound", rows), cells), {})
            gates.setdefault("on" if run.gate else "off", set()).add((setting, run.karmada))
    lines: dict[Line, set[str]] = {}
    for (kind, offered, bound, cells), by_gate in seen.items():
        for met in {frozenset(met) for met in by_gate.values()}:
            gates = tuple(sorted((gate for gate, here in by_gate.items() if here == met), reverse=True))
            settings = tuple(sorted({setting for setting, _ in met}, key=_ORDER.index))
            line = Line(settings, gates, offered, bound, cells, tuple(sorted({release for _, release in met})))
            lines.setdefault(line, set()).add(kind)
    for line, kinds in lines.items():
        yield msgspec.structs.replace(line, kinds=tuple(sorted(kinds)))


def _short(kind: str, run: Run) -> str:
    """The kind without its group; a further version of it is named."""
    version, _, name = kind.rpartition("/")[2].partition(" ")
    return f"{name} {version}" if run.batch else name


def _all(field: str, rows: Iterable[Row]) -> str:
    return "; ".join(sorted({str(getattr(row, field)) for row in rows}))


def _exemptions(runs: Sequence[Run]) -> Iterator[str]:
    yield EXCEPTIONS
    for reason in sorted({reason for run in runs for reason in run.exemptions}):
        times = sum(run.exemptions.get(reason, 0) for run in runs)
        yield f"- {reason[0].upper()}{reason[1:]} ({times} time{'' if times == 1 else 's'})."
    yield UNSEEN


def pages() -> dict[Path, str]:
    return {PAGE: page(read())}
