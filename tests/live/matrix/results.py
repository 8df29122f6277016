"""What a run of the matrix saw, as a file and as the page docs/live-matrix.md.

A run adds itself to docs/live-matrix.json in place of an earlier one of the same release and gate; `make docs` makes
the page from the file, so the page says what was seen.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from interpreters.core.division import Division
from interpreters.core.karmada_answers import answered_by_karmada
from tests.live.matrix.cells import Policy
from tests.live.matrix.judgement import Verdict, template_at
from tests.live.matrix.order import HARMFUL
from tests.live.matrix.run import Phase
from tests.live.matrix.samples import Counter
from webhook.registration.rules import COUNTING

DOCS = Path(__file__).parents[3] / "docs"
FILE, PAGE = DOCS / "live-matrix.json", DOCS / "live-matrix.md"
INTRODUCTION = """\
# What Karmada does with what interp offers

Seen, not foretold: `make live-matrix` lets objects of every bundled kind be created, relabelled and scaled before a
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


class Row(msgspec.Struct, frozen=True, order=True):
    """What some kinds have in common: who offers what, and what Karmada then does under a policy."""

    setting: str  # how interp is registered
    offered: str  # by interp, of the operations that count and divide
    karmada: str  # offered by Karmada itself, of the same
    policy: str
    bound: str  # what the binding says of the pods
    members: str  # what the members get
    kinds: tuple[str, ...] = ()


class Run(msgspec.Struct, frozen=True):
    """One control plane."""

    karmada: str
    gate: bool
    batch: int
    kinds: int
    objects: int
    judged: int
    wrong: int
    calls: int
    minutes: float
    rows: tuple[Row, ...]
    exemptions: dict[str, int]
    unpropagated: tuple[str, ...]  # by Karmada alone, whose scripts fail on some object of the kind


def run_of(
    phases: Sequence[Phase], counter: Counter, *, karmada: str, gate: bool, batch: int, unpropagated: Iterable[str]
) -> Run:
    verdicts = [verdict for phase in phases for verdict in phase.verdicts]
    judged = [verdict for phase in phases if phase.registered for verdict in phase.verdicts]
    exempt = [reason for verdict in verdicts for reason in verdict.exempt]
    return Run(
        karmada, gate, batch,
        kinds=len({verdict.cell.sample.kind for verdict in verdicts}),
        objects=len({verdict.cell for verdict in verdicts}),
        judged=len(judged),
        wrong=sum(1 for phase in phases if phase.title != HARMFUL for verdict in phase.verdicts if verdict.faults),
        calls=sum(phase.calls for phase in phases),
        minutes=round(sum(phase.seconds for phase in phases) / 60, 1),
        rows=tuple(_rows(phases, counter)),
        exemptions={reason: exempt.count(reason) for reason in sorted(set(exempt))},
        unpropagated=tuple(sorted(set(unpropagated))),
    )  # fmt: skip


_TOLD_ELSEWHERE = ("interp down", "interp back", "removed")


def _rows(phases: Iterable[Phase], counter: Counter) -> Iterator[Row]:
    kinds: dict[Row, set[str]] = {}
    for phase in phases:
        if phase.title in _TOLD_ELSEWHERE:
            continue
        for verdict in phase.verdicts:
            kind = verdict.cell.sample.kind
            if not verdict.seen.copies:
                continue  # Karmada's own script fails on it
            offered = phase.registered.get(kind, ())
            row = Row(
                phase.title,
                ", ".join(one.name for one in COUNTING if one in offered),
                ", ".join(one.name for one in COUNTING if one in answered_by_karmada(kind)),
                str(verdict.cell.policy),
                " and ".join(name for name in verdict.seen.bound if name != "replicaRequirements") or "neither",
                behaviour(verdict, counter),
            )
            kinds.setdefault(row, set()).add(str(kind))
    for row, names in sorted(kinds.items()):
        yield msgspec.structs.replace(row, kinds=tuple(sorted(names)))


def behaviour(verdict: Verdict, counter: Counter) -> str:
    """What the members got, in a few words."""
    cell, copies = verdict.cell, verdict.seen.copies
    pods = [counter.pods(copy) for copy in copies.values()]
    whole = counter.pods(template_at(cell, verdict.event))
    if all(one == whole for one in pods):
        return "whole in both" if len(pods) > 1 else "whole in one"
    if sum(pods) == whole:
        return "shares"
    return "Karmada's own shares" if cell.sample.division is Division.KARMADA else "wrong pods"


def read() -> list[Run]:
    return msgspec.json.decode(FILE.read_bytes(), type=list[Run]) if FILE.exists() else []


def add(run: Run) -> None:
    """In place of an earlier run of the same."""
    key = (run.karmada, run.gate, run.batch)
    runs = [one for one in read() if (one.karmada, one.gate, one.batch) != key] + [run]
    runs.sort(key=lambda one: (one.karmada, one.gate, one.batch))
    FILE.write_bytes(msgspec.json.format(msgspec.json.encode(runs), indent=1) + b"\n")


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
        yield f"Karmada alone does not propagate one object of {', '.join(failing)}, because its own scripts"
        yield "fail on it; with interp it arrives, and only its pods are judged."


def _planes(runs: Sequence[Run]) -> list[tuple[str, bool]]:
    return sorted({(run.karmada, run.gate) for run in runs})


def _behaviours(runs: Sequence[Run]) -> Iterator[str]:
    policies = [str(policy) for policy in Policy]
    yield "## Behaviour"
    yield "A cell says what the binding holds (`components`, `replicas` or neither) and what the members then get. An"
    yield "aggregated division is whole in one cluster when that has room, as here. The last rows are what interp does"
    yield "not register for kinds that divide, and why: with the gate on, every cluster gets all pods."
    yield ""
    yield f"| registered | by interp | by Karmada itself | gate | {' | '.join(policies)} | kinds | seen with |"
    yield "|---" * (len(policies) + 6) + "|"
    found: dict[tuple[str, ...], tuple[set[str], set[str]]] = {}
    for run in runs:
        for offers in sorted({(row.setting, row.offered, row.karmada) for row in run.rows}):
            rows = [row for row in run.rows if (row.setting, row.offered, row.karmada) == offers]
            told = tuple(_told([row for row in rows if row.policy == policy]) for policy in policies)
            kinds, releases = found.setdefault((*offers, "on" if run.gate else "off", *told), (set(), set()))
            kinds |= {kind for row in rows for kind in row.kinds}
            releases.add(run.karmada)
    for cells, (kinds, releases) in sorted(found.items(), key=lambda item: (_ORDER.index(item[0][0]), item[0])):
        line = [cell or "nothing" for cell in cells]
        short = ", ".join(sorted({kind.rpartition(" ")[2] for kind in kinds}))
        yield f"| {' | '.join(line)} | {short} | {', '.join(sorted(releases))} |"


_ORDER = ("Karmada alone", "by default", "--all", "--divide", "--count", HARMFUL)


def _told(rows: Sequence[Row]) -> str:
    return "; ".join(sorted({f"{row.bound}: {row.members}" for row in rows}))


def _exemptions(runs: Sequence[Run]) -> Iterator[str]:
    yield "## Exemptions"
    yield "Where an object may be otherwise than with Karmada alone, and how often it was; the table is in"
    yield "`tests/live/matrix/judgement.py`."
    yield ""
    for reason in sorted({reason for run in runs for reason in run.exemptions}):
        yield f"- {reason} ({sum(run.exemptions.get(reason, 0) for run in runs)})"


if __name__ == "__main__":
    text = page(read())
    if "--check" in sys.argv[1:]:
        sys.exit(f"{PAGE.name} is out of date: make docs" if PAGE.read_text() != text else 0)
    PAGE.write_text(text)
