"""What `interp export` writes is what Karmada runs: the cut scripts answer every case as the whole ones do."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from interp.command import interp
from interpreters.sandbox.runner import SandboxRunner
from interpreters.suites import find_suites, run_suite
from tests.interpreters.scripts.bundled import scripts

LARGEST_ANNOTATION = 262_144  # kubectl apply keeps the document in an annotation of at most this size


def export(*arguments: str) -> str:
    result = CliRunner().invoke(interp, ["export", *arguments], standalone_mode=False)
    assert result.exception is None, result.exception
    return result.stdout


def test_exported_scripts_pass_their_exported_tests(tmp_path: Path) -> None:
    names = [f"{kind.kind}.{kind.version}.{kind.group or 'core'}" for kind in scripts()]
    export("--testdata", str(tmp_path), *names)
    with SandboxRunner() as runner:
        suites = list(find_suites(runner, [tmp_path]))
        assert len(suites) == len(names)
        for suite in suites:
            results = list(run_suite(runner, suite))
            assert len(results) > 5
            assert not suite.problems
            assert not [(result.case.name, result.reasons) for result in results if result.reasons], suite.name


def test_without_a_name_every_kind_but_kubernetes_own_is_exported() -> None:
    documents = list(yaml.safe_load_all(export()))
    kinds = {document["spec"]["target"]["kind"] for document in documents}
    assert {"FlinkDeployment", "RayJob", "UnitedDeployment", "MPIJob"} <= kinds
    assert "Deployment" not in kinds
    assert len({document["metadata"]["name"] for document in documents}) == len(documents)


def test_a_document_fits_what_kubectl_apply_can_hold() -> None:
    for text in export().split("\n---\n"):
        assert len(text) < LARGEST_ANNOTATION / 2


def test_components_of_kubernetes_own_kinds_stay_out() -> None:
    (document,) = yaml.safe_load_all(export("Deployment"))
    rules = document["spec"]["customizations"]
    assert "replicaResource" in rules
    assert "componentResource" not in rules


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("flinkdeployment", "flink.apache.org/v1beta1"),
        ("Job.batch.volcano.sh", "batch.volcano.sh/v1alpha1"),
        ("MPIJob.v2beta1.kubeflow.org", "kubeflow.org/v2beta1"),
        ("kubeflow.org/v1/MPIJob", "kubeflow.org/v1"),
    ],
)
def test_a_kind_is_found_by_any_of_its_names(name: str, target: str) -> None:
    (document,) = yaml.safe_load_all(export(name))
    assert document["spec"]["target"]["apiVersion"] == target


def test_an_unknown_kind_is_refused_with_a_hint() -> None:
    result = CliRunner().invoke(interp, ["export", "FlinkDeploymnet"], standalone_mode=False)
    assert str(result.exception) == 'no script knows the kind "FlinkDeploymnet"; did you mean FlinkDeployment?'


def test_the_proposals_name_is_exported_under_the_name_that_karmada_calls(tmp_path: Path) -> None:
    folder = tmp_path / "example.io/v1/Thing"
    folder.mkdir(parents=True)
    (folder / "interpreter.lua").write_text(
        '-- Division: whole\nfunction GetComponentReplicas(object)\n  return { { name = "a", replicas = 2 } }\nend\n'
    )
    (document,) = yaml.safe_load_all(export("--folder", str(tmp_path), "Thing"))
    script = document["spec"]["customizations"]["componentResource"]["luaScript"]
    assert script.endswith("GetComponents = GetComponentReplicas\n")


def test_starlark_cannot_go_to_karmada(tmp_path: Path) -> None:
    folder = tmp_path / "example.io/v1/Thing"
    folder.mkdir(parents=True)
    (folder / "interpreter.star").write_text("# Division: whole\n\ndef GetComponents(object):\n    return []\n")
    result = CliRunner().invoke(interp, ["export", "--folder", str(tmp_path), "Thing"], standalone_mode=False)
    assert "is in starlark, Karmada runs Lua" in str(result.exception)


def test_a_division_that_only_a_sample_proves_is_exported_with_it(tmp_path: Path) -> None:
    folder = tmp_path / "scripts/stage.example.org/v1/Choir"
    folder.mkdir(parents=True)
    (folder / "interpreter.lua").write_text(
        "-- Division: divides\n"
        "function GetReplicas(object)\n  return object.spec.singers, nil\nend\n"
        "function ReviseReplica(object, replicas)\n  object.spec.singers = replicas\n  return object\nend\n"
        "function InterpretHealth(object)\n  return true\nend\n"
    )
    sample = tmp_path / "choir.yaml"
    sample.write_text("{apiVersion: stage.example.org/v1, kind: Choir, metadata: {name: c}, spec: {singers: 5}}")
    unproven = yaml.safe_load(export("--folder", str(tmp_path / "scripts"), "Choir"))["spec"]["customizations"]
    proven = yaml.safe_load(export("--folder", str(tmp_path / "scripts"), "--sample", str(sample), "Choir"))
    assert set(unproven) == {"healthInterpretation"}
    assert set(proven["spec"]["customizations"]) == {"healthInterpretation", "replicaResource", "replicaRevision"}
