"""Which kinds have several components is told by their scripts: a new kind needs no line anywhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from interpreters.cases import case_files, read_cases
from interpreters.catalog import Catalog
from interpreters.components import has_several_components, kinds_sent_whole, kinds_with_several_components
from interpreters.core.karmada.answers import is_native
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.languages import LANGUAGES
from interpreters.interpretation import load_functions
from interpreters.sandbox.runner import SandboxRunner
from interpreters.scan import Candidate, scan, scan_bundled
from tests.interp.command import interp

THING = GroupVersionKind("example.io", "v1", "Thing")
COMPONENTS = "function GetComponents(obj) return {} end\n"
REPLICAS = "function GetReplicas(obj) return 1 end\n"
POLICY = """
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: things}
spec:
  resourceSelectors: [{apiVersion: %s, kind: %s}]
  placement: {replicaScheduling: {replicaSchedulingType: Duplicated}}
"""


def catalog_of(*entries: object) -> Catalog:
    with SandboxRunner() as runner:
        return Catalog.build(entries, load_functions(runner, entries))  # type: ignore[arg-type]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_bundled_kind_is_judged_as_its_cases_show(language: str) -> None:
    found = [entry for entry in scan_bundled(language) if isinstance(entry, Candidate)]
    catalog = catalog_of(*found)
    for entry in found:
        assert entry.kind is not None and entry.folder is not None
        cases = [case for file in case_files(entry.folder) for case in read_cases(file)]
        counts = [len(case.want.get("components") or ()) for case in cases
                  if case.operation.name == "InterpretComponent" and case.want is not None]  # fmt: skip
        shown = max(counts) > 1 and not is_native(entry.kind)
        assert has_several_components(catalog, entry.kind) == shown, entry.kind


@pytest.mark.parametrize(
    ("script", "several"),
    [
        ("-- Division: whole\n" + COMPONENTS, True),
        ("-- Division: divides\n" + COMPONENTS, False),
        ("-- Division: karmada\n" + COMPONENTS, False),
        (COMPONENTS, True),
        ("-- Division: whole\n-- Components: one\n" + COMPONENTS, False),
        ("-- Division: divides\n-- Components: several\n" + COMPONENTS, True),
        ("-- Division: whole\n-- Division: divides\n" + COMPONENTS, True),
        ("-- Division: whole\n" + REPLICAS, False),
    ],
)
def test_a_script_says_whether_its_kind_has_several(script: str, several: bool, tmp_path: Path) -> None:
    _write(tmp_path, script)
    catalog = catalog_of(*scan([tmp_path], bundled=None))
    assert has_several_components(catalog, THING) is several
    assert (("example.io", "Thing") in kinds_with_several_components(catalog)) is several


def test_what_divides_need_not_be_bound_to_one_cluster() -> None:
    found = [entry for entry in scan_bundled("lua") if isinstance(entry, Candidate)]
    catalog = catalog_of(*found)
    assert kinds_with_several_components(catalog) - kinds_sent_whole(catalog) == {
        ("apps.kruise.io", "UnitedDeployment")
    }
    assert ("flink.apache.org", "FlinkDeployment") in kinds_sent_whole(catalog)


def test_an_unknown_word_is_taken_for_several_and_lint_says_so(tmp_path: Path) -> None:
    _write(tmp_path, "-- Division: divides\n-- Components: many\n" + COMPONENTS)
    assert has_several_components(catalog_of(*scan([tmp_path], bundled=None)), THING)
    assert "components: Components: expected one or several, got 'many'" in interp("lint", ".", cwd=tmp_path).out


def test_without_a_script_what_karmada_tells_the_components_of_has_several() -> None:
    found = kinds_with_several_components(catalog_of())
    assert ("flink.apache.org", "FlinkDeployment") in found
    assert ("apps.kruise.io", "CloneSet") not in found


def test_lint_warns_of_a_kind_that_was_added_in_a_folder(tmp_path: Path) -> None:
    _write(tmp_path, "-- Division: whole\n" + COMPONENTS)
    (tmp_path / "policy.yaml").write_text(POLICY % ("example.io/v1", "Thing"))
    assert "multi-component-divided" in interp("lint", ".", cwd=tmp_path).out


@pytest.mark.parametrize(
    ("version", "kind", "warned"),
    [
        ("flink.apache.org/v1beta1", "FlinkDeployment", True),
        ("apps.kruise.io/v1alpha1", "UnitedDeployment", False),
        ("ray.io/v1", "RayService", True),
        ("apps/v1", "Deployment", False),
        ("batch/v1", "CronJob", False),
        ("argoproj.io/v1alpha1", "Workflow", False),
    ],
)
def test_lint_warns_of_bundled_kinds(version: str, kind: str, warned: bool, tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text(POLICY % (version, kind))
    assert ("multi-component-divided" in interp("lint", "policy.yaml", cwd=tmp_path).out) is warned


def _write(folder: Path, script: str) -> None:
    place = folder / "example.io" / "v1" / "Thing"
    place.mkdir(parents=True)
    (place / "interpreter.lua").write_text(script)
