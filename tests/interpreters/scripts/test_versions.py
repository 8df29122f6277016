"""A script that serves further versions of its kind answers for each of them as for its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from certs.folder import make_folder
from interpreters.cases import Verdict, run_case, served_as
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.languages import LANGUAGES
from interpreters.sandbox.runner import SandboxRunner
from interpreters.scan import Candidate, scan_bundled
from interpreters.suites import load_suite
from tests.interp.command import interp

SERVING = [
    (found, kind)
    for language in LANGUAGES
    for found in scan_bundled(language)
    if isinstance(found, Candidate)
    for kind in found.kinds[1:]
    if kind is not None
]
KINDS = {
    "ray.io/v1alpha1 RayCluster", "ray.io/v1alpha1 RayJob", "ray.io/v1alpha1 RayService",
    "apps.kruise.io/v1beta1 CloneSet", "apps.kruise.io/v1beta1 UnitedDeployment",
    "apps.kruise.io/v1beta1 BroadcastJob", "apps.kruise.io/v1alpha1 StatefulSet",
}  # fmt: skip


def test_these_kinds_are_served_in_two_versions() -> None:
    assert {str(kind) for _, kind in SERVING} == KINDS


@pytest.mark.parametrize(("found", "kind"), SERVING, ids=[f"{kind.folder} {f.script.language}" for f, kind in SERVING])
def test_the_cases_hold_in_every_version(found: Candidate, kind: GroupVersionKind) -> None:
    with SandboxRunner() as runner:
        suite = load_suite(runner, found.script.name, [found])
        cases = [served_as(case, kind) for case in suite.cases]
        assert any(GroupVersionKind.of(case.object) == kind for case in cases)
        failed = [str(result.reasons) for case in cases if (result := run_case(runner, suite.catalog, case)).verdict
                  is Verdict.FAILED]  # fmt: skip
    assert not failed


def test_a_kind_is_listed_and_exported_in_every_version(tmp_path: Path) -> None:
    listed = json.loads(interp("list", "RayCluster", "-o", "json").out)["kinds"]
    assert [kind["apiVersion"] for kind in listed] == ["ray.io/v1", "ray.io/v1alpha1"]
    assert {op["script"] for kind in listed for op in kind["operations"]} == {
        "bundled/ray.io/v1/RayCluster/interpreter.lua"
    }
    exported = list(yaml.safe_load_all(interp("export", "RayCluster").out))
    assert [one["metadata"]["name"] for one in exported] == ["raycluster.v1.ray.io", "raycluster.v1alpha1.ray.io"]
    assert [one["spec"]["target"]["apiVersion"] for one in exported] == ["ray.io/v1", "ray.io/v1alpha1"]
    interp("export", "RayCluster", "--testdata", tmp_path)
    tested = interp("test", tmp_path / "ray.io" / "v1alpha1")
    assert tested.code == 0, tested.out
    table = tmp_path / "ray.io/v1alpha1/RayCluster/testdata/interpretcomponent-test.yaml"
    assert "apiVersion: ray.io/v1alpha1" in table.read_text()


def test_an_object_of_a_further_version_is_asked_about(tmp_path: Path) -> None:
    workload = {"apiVersion": "apps.kruise.io/v1beta1", "kind": "CloneSet", "metadata": {"name": "c"},
                "spec": {"replicas": 3}}  # fmt: skip
    path = tmp_path / "c.yaml"
    path.write_text(yaml.safe_dump(workload))
    ran = interp("run", "InterpretReplica", path, "-o", "json")
    assert ran.code == 0, ran.err
    assert '"replicas": 3' in ran.out


@pytest.mark.parametrize("kind", ["CloneSet", "RayCluster"])
def test_a_kind_is_registered_for_the_same_operations_in_every_version(tmp_path: Path, kind: str) -> None:
    """What is proved on the cases of one version holds for the other."""
    make_folder(tmp_path, ["localhost"])
    ran = interp(
        "register", "--url", "https://localhost", "--ca", tmp_path / "ca.crt", "--kinds", kind, "--all", "-o", "json"
    )
    rules = json.loads(ran.out)["webhooks"][0]["rules"]
    assert len({version for rule in rules for version in rule["apiVersions"]}) == 2
    assert len({tuple(rule["operations"]) for rule in rules}) == 1, ran.err
