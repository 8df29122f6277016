"""Broken scripts of one's own: `interp list` shows what fails because of them, `interp export` prints nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from tests.interp.command import interp

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/schemas/list-output.json").read_text())
WORDS = "'end' expected"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    file = tmp_path / "scripts/flink.apache.org/v1beta1/FlinkDeployment/interpreter.lua"
    file.parent.mkdir(parents=True)
    file.write_text("function GetReplicas(obj)\n")
    return tmp_path / "scripts"


def test_list_shows_the_kind_with_what_fails_and_the_error_and_the_others_as_ever(folder: Path) -> None:
    ran = interp("list", "flink", "--folder", folder)
    assert (ran.code, WORDS in ran.err) == (1, True)
    assert "FlinkDeployment  folder  broken    Replica Component" in ran.out
    assert "bundled" not in ran.out
    assert "RayJob" in interp("list", "--folder", folder).out
    report = json.loads(interp("list", "flink", "--folder", folder, "-o", "json").out)
    jsonschema.validate(report, SCHEMA)
    assert report["kinds"] == [{"apiVersion": "flink.apache.org/v1beta1", "kind": "FlinkDeployment", "operations": []}]
    (broken,) = report["broken"]
    assert (broken["kind"], WORDS in broken["error"], "InterpretHealth" in broken["fails"]) == (
        "FlinkDeployment", True, True,
    )  # fmt: skip


def test_list_shows_a_kind_that_only_a_broken_script_is_for(folder: Path) -> None:
    ran = interp("list", "--folder", folder, "--no-bundled", "--wide")
    assert (ran.code, "FlinkDeployment  InterpretReplica" in ran.out) == (1, True)


EXPORTS = [  # arguments, exit code, part of what is said
    (["FlinkDeployment", "--folder", "scripts"], 1, WORDS),
    (["--folder", "scripts"], 1, WORDS),
    (["FlinkDeployment", "--folder", "scripts", "--no-bundled"], 1, WORDS),
    (["FlinkDeployment", "-s", "s.star"], 2, "is in starlark, Karmada runs Lua"),
    (["-s", "s.star"], 2, "answers for every kind: name the KIND"),
]


@pytest.mark.parametrize(("arguments", "code", "said"), EXPORTS)
def test_export_prints_nothing_in_place_of_what_it_was_given(
    arguments: list[str], code: int, said: str, folder: Path
) -> None:
    (folder.parent / "s.star").write_text("# Division: whole\n\ndef GetReplicas(obj):\n    return 3\n")
    ran = interp("export", *arguments, cwd=folder.parent)
    assert (ran.code, ran.out) == (code, "")
    assert said in ran.err


def test_export_of_another_kind_goes_on_and_a_named_script_is_what_is_exported(folder: Path) -> None:
    assert interp("export", "RayJob", "--folder", folder).code == 0
    script = folder.parent / "mine.lua"
    script.write_text("-- Division: whole\nfunction GetReplicas(obj)\n  return 42\nend\n")
    assert "return 42" in interp("export", "FlinkDeployment", "-s", script).out


def test_what_would_do_harm_is_not_exported_and_the_reason_is_said(folder: Path) -> None:
    script = folder.parent / "mine.lua"
    script.write_text("function GetComponents(obj)\n  return {}\nend\n")
    ran = interp("export", "FlinkDeployment", "-s", script)
    assert "componentResource" not in yaml.safe_load(ran.out)["spec"]["customizations"]
    assert "does not declare whether the kind may be divided" in ran.err


EXPORTED = [  # kind, the rules among the three that decide division
    ("TFJob", ["componentResource"]),
    ("CloneSet.v1alpha1.apps.kruise.io", ["replicaResource", "replicaRevision"]),
    ("FlinkDeployment", ["replicaResource", "componentResource"]),
    ("Workflow", []),
]


@pytest.mark.parametrize(("kind", "rules"), EXPORTED)
def test_exported_customizations_keep_the_rules_of_registration(kind: str, rules: list[str]) -> None:
    document = yaml.safe_load(interp("export", kind).out)
    deciding = {"replicaResource", "componentResource", "replicaRevision"}
    assert [rule for rule in document["spec"]["customizations"] if rule in deciding] == rules
    assert document["metadata"]["annotations"]["interp.dev/division"] in ("whole", "divides", "karmada")
