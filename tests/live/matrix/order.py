"""The events of the matrix in their order: all of it, and the part that `make live` runs."""

from __future__ import annotations

from interpreters.core.division import Division
from tests.live.matrix.cells import Event, Group
from tests.live.matrix.judgement import Verdict
from tests.live.matrix.run import Matrix

COUNTED = ("PyTorchJob", "JobSet", "Job", "LeaderWorkerSet", "JAXJob", "MPIJob")
# A RayService cannot be asked for every number of pods, so `--divide RayService` is refused.
DIVIDED = ("CloneSet", "StatefulSet", "UnitedDeployment", "Workflow", "BroadcastJob")
HARMFUL = "everything that scripts offer"  # what interp no longer registers


def full(matrix: Matrix) -> list[Verdict]:
    """Everything in its order. The verdicts with faults, of which there should be none."""
    after, before = matrix.cells(Group.AFTER), matrix.cells(Group.BEFORE)
    old = matrix.cells(Group.OLD, _dividing(matrix))
    alone = matrix.cells(Group.ALONE)
    matrix.prepare(Group)
    matrix.happens(Event.CREATED, [*after, *old])
    for event in Event:
        matrix.learn(event, alone)
    wrong: list[Verdict] = []
    server = matrix.serve()
    try:
        matrix.register()
        wrong += matrix.judge("by default", (Event.CREATED, before), (Event.RELABELLED, after))
        wrong += matrix.judge("by default", (Event.RELABELLED, before), (Event.SCALED, after))
        wrong += matrix.judge("by default", (Event.SCALED, before))
        server.stop()
        down = (Event.CREATED, matrix.cells(Group.DOWN))
        wrong += matrix.judge_while_down(down, (Event.RELABELLED, after), again=Event.SCALED)
        server = matrix.serve()
        wrong += matrix.judge_back(down, (Event.SCALED, after))
        matrix.register("--all")
        wrong += matrix.judge("--all", (Event.CREATED, matrix.cells(Group.ALL)))
        wrong += matrix.judge("--all", (Event.SCALED, matrix.cells(Group.ALL)))
        wrong += _wished(matrix)
        failing = {cell.sample.kind for cell in matrix.unpropagated}
        answered = [cell for cell in before if cell.sample.kind not in failing]
        wrong += matrix.judge("removed", (Event.RELABELLED, answered), again=Event.SCALED)
    finally:
        server.stop()
    return wrong


def part(matrix: Matrix) -> list[Verdict]:
    """What matters most, for the story: registered before and after the objects, and not answering."""
    alone, after, before = (matrix.cells(group) for group in (Group.ALONE, Group.AFTER, Group.BEFORE))
    matrix.prepare((Group.ALONE, Group.AFTER, Group.BEFORE))
    matrix.happens(Event.CREATED, after)
    for event in Event:
        matrix.learn(event, alone)
    server = matrix.serve()
    try:
        matrix.register()
        wrong = matrix.judge("by default", (Event.CREATED, before), (Event.RELABELLED, after))
        wrong += matrix.judge("by default", (Event.SCALED, before))
        server.stop()
        wrong += matrix.judge_while_down((Event.RELABELLED, before), again=Event.SCALED)
        server = matrix.serve()
        wrong += matrix.judge_back((Event.SCALED, before))
    finally:
        server.stop()
    return wrong


def _wished(matrix: Matrix) -> list[Verdict]:
    kinds = {sample.kind.kind for sample in matrix.samples}
    wrong: list[Verdict] = []
    for flag, group, names in (("--divide", Group.DIVIDE, DIVIDED), ("--count", Group.COUNT, COUNTED)):
        here = [f"{s.kind.group}/{s.kind.version}/{s.kind.kind}" for s in matrix.samples if s.kind.kind in names]
        if here:
            matrix.register(flag, ",".join(sorted(set(here))))
            for event in (Event.CREATED, Event.SCALED):
                wrong += matrix.judge(flag, (event, matrix.cells(group, names)))
    old = matrix.cells(Group.OLD, _dividing(matrix))
    if kinds & set(_dividing(matrix)):
        matrix.register_everything(_dividing(matrix))
        matrix.harmed = matrix.judge(HARMFUL, (Event.RELABELLED, old))
    matrix.remove()
    return wrong


def _dividing(matrix: Matrix) -> list[str]:
    return sorted({sample.kind.kind for sample in matrix.samples if sample.division is Division.DIVIDES}) or ["none"]
