"""Misspelt fields of a reply are dropped on the wire; `run`, `test` and `lint` tell the author."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import jsonschema
import pytest

from tests.interp.command import interp

OBJECT = "{apiVersion: example.io/v1, kind: Thing, metadata: {name: t}}"
SCRIPTS = {
    "interpreter.lua": "-- Division: whole\nfunction GetReplicas(o)\n"
    '  return 1.5, { resourceRequests = { cpu = "20000" } }\nend\n',
    "interpreter.star": "# Division: whole\ndef GetReplicas(o):\n"
    '    return 1.5, {"resourceRequests": {"cpu": "20000"}}\n',
}
FRACTION = "replicas: Karmada cuts 1.5 down to 1; return a whole number"
FIELD = (
    "replicaRequirements.resourceRequests: there is no such field, so what it holds (an object) is lost; "
    "did you mean resourceRequest?"
)


@pytest.fixture(params=SCRIPTS)
def script(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    folder = tmp_path / "example.io/v1/Thing"
    folder.mkdir(parents=True)
    (folder / request.param).write_text(SCRIPTS[request.param])
    (folder / "cases.yaml").write_text(
        "".join(
            f"- {{name: {name}, operation: GetReplicas, object: {OBJECT}, want: {{replicas: 1}}}}\n"
            for name in ("first", "second")
        )
    )
    return folder / request.param


@pytest.mark.parametrize("output", ["text", "json", "yaml"])
def test_run_warns_and_answers(output: str, script: Path) -> None:
    ran = interp("run", "GetReplicas", "-", "-s", script, "-o", output, stdin=OBJECT)
    assert (ran.code, "replicas" in ran.out) == (0, True)
    assert ran.err.splitlines() == [f"warning: {FRACTION}", f"warning: {FIELD}"]


def test_lint_has_one_finding_for_each_however_many_cases_show_it(script: Path) -> None:
    ran = interp("lint", script.parent)
    assert ran.code == 1
    assert ran.out.splitlines() == [
        f"{script}:2:1: lost-value: case 'first' and 1 more: {lost}" for lost in (FIELD, FRACTION)
    ]


def test_test_warns_and_passes_in_every_report(script: Path) -> None:
    text = interp("test", script.parent)
    assert (text.code, text.out.splitlines()[-1]) == (0, "2 passed, 0 failed")
    assert f"     warning: case 'first' and 1 more: {FIELD}" in text.out.splitlines()
    report = json.loads(interp("test", script.parent, "-o", "json").out)
    assert [case["warnings"] for case in report["suites"][0]["cases"]] == [[FRACTION, FIELD]] * 2
    schema = Path(__file__).parents[2] / "docs/schemas/test-output.json"
    jsonschema.validate(report, json.loads(schema.read_text()))
    junit = ElementTree.fromstring(interp("test", script.parent, "-o", "junit").out)
    assert [told.text for told in junit.iter("system-out")] == [f"warning: {FRACTION}\nwarning: {FIELD}"] * 2
    assert f"# warning: {FIELD}" in interp("test", script.parent, "-o", "tap").out.splitlines()
    assert "::warning file=" in interp("test", script.parent, "-o", "github").out
    assert f"warning: case 'first' and 1 more: {FIELD}" in interp("test", script.parent, "-o", "markdown").out
