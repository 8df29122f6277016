"""A part of the matrix, which `make live` runs: a kind that divides, one that Karmada counts too, one that is whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.live.matrix.cells import Policy
from tests.live.matrix.order import part
from tests.live.matrix.run import Matrix
from tests.live.matrix.samples import counter, definitions, samples_of
from tests.live.peers import control_plane, scheduler

KINDS = ("apps.kruise.io/v1alpha1 CloneSet", "flink.apache.org/v1beta1 FlinkDeployment", "kubeflow.org/v1 JAXJob")


@pytest.mark.parametrize("gate", [True, False], ids=["gate-on", "gate-off"])
def test_nothing_is_worse_than_with_karmada_alone(gate: bool, tmp_path: Path) -> None:
    with counter() as counting:
        kinds = [kind for kind in counting.kinds if str(kind) in KINDS]
        samples = [samples_of(kind, counting)[0] for kind in kinds]
        with (
            control_plane(tmp_path, definitions(kinds), components=gate) as plane,
            scheduler(tmp_path, plane, estimators=False),
        ):
            wrong = part(Matrix(plane, gate, samples, counting, policies=(Policy.WEIGHTS, Policy.ONE)))
    assert not wrong, "\n".join(map(str, wrong))
