"""What a run of the matrix saw, in docs/live-matrix.json, from which `page.py` makes docs/live-matrix.md."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from interpreters.core.division import Division
from interpreters.core.karmada.answers import answered_by_karmada
from tests.live.matrix.judgement import Verdict, template_at
from tests.live.matrix.order import HARMFUL
from tests.live.matrix.run import Phase
from tests.live.matrix.samples import Counter
from webhook.registration.rules import COUNTING

DOCS = Path(__file__).parents[3] / "docs"
FILE = DOCS / "live-matrix.json"


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
