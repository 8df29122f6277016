"""The whole matrix, by hand: `make live-matrix`. What it sees goes into docs/live-matrix.json."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.live.matrix.order import full
from tests.live.matrix.results import add, run_of
from tests.live.matrix.run import Matrix
from tests.live.matrix.samples import batches, counter, definitions, samples_of
from tests.live.peers import control_plane, karmada_version, scheduler


@pytest.mark.parametrize("batch", [0, 1], ids=["first-versions", "further-versions"])
@pytest.mark.parametrize("gate", [True, False], ids=["gate-on", "gate-off"])
def test_nothing_is_worse_than_with_karmada_alone(gate: bool, batch: int, tmp_path: Path) -> None:
    most = int(os.environ.get("SAMPLES") or 2)
    with counter() as counting:
        kinds = batches(counting.kinds)[batch]
        samples = [sample for kind in kinds for sample in samples_of(kind, counting)[:most]]
        with (
            control_plane(tmp_path, definitions(kinds), components=gate) as plane,
            scheduler(tmp_path, plane, estimators=False),
        ):
            matrix = Matrix(plane, gate, samples, counting)
            wrong = full(matrix)
        karmada = os.environ.get("KARMADA_NAME") or karmada_version() or "a checkout"
        failing = [str(cell.sample.kind) for cell in matrix.unpropagated]
        add(run_of(matrix.phases, counting, karmada=karmada, gate=gate, batch=batch, unpropagated=failing))
    assert not wrong, "\n".join(map(str, wrong))
    assert bool(matrix.harmed) == gate, "components of a kind that divides do harm, exactly with the gate on"
