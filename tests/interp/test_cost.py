"""What a call costs is shown by `interp run --trace` and `interp test`, the same every time, and bounded there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.interp.command import interp

SCRIPTS = {
    "interpreter.lua": "function GetReplicas(o) local n = 0 for i = 1, o.spec.replicas do n = n + 1 end return n end\n",
    "interpreter.star": "def GetReplicas(o):\n n = 0\n for i in range(o['spec']['replicas']):\n  n += 1\n return n\n",
}
CASES = """
- name: {name}
  operation: InterpretReplica
  object: {{apiVersion: example.io/v1, kind: Thing, metadata: {{name: x}}, spec: {{replicas: {replicas}}}}}
  want: {{replicas: {replicas}}}
"""


@pytest.fixture(params=SCRIPTS)
def suite(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    folder = tmp_path / "example.io/v1/Thing"
    folder.mkdir(parents=True)
    (folder / request.param).write_text(SCRIPTS[request.param])
    (folder / "cases.yaml").write_text(CASES.format(name="many", replicas=1000))
    (tmp_path / "o.yaml").write_text(
        "{apiVersion: example.io/v1, kind: Thing, metadata: {name: x}, spec: {replicas: 1000}}"
    )
    return tmp_path


def traced(suite: Path) -> int:
    ran = interp(
        "run", "--trace", "--script", str(next(suite.rglob("interpreter.*"))), "InterpretReplica", "o.yaml", cwd=suite
    )
    found = re.search(r": cost (\d+), ", ran.err)
    assert found, ran.err
    return int(found[1])


def test_trace_tells_the_cost_and_so_does_every_report_of_test(suite: Path) -> None:
    cost = traced(suite)
    assert cost > 1000
    assert traced(suite) == cost
    (tested,) = json.loads(interp("test", "-o", "json", ".", cwd=suite).out)["suites"]
    assert [case["cost"] for case in tested["cases"]] == [cost]
    assert re.search(rf"^ +{cost:,}  InterpretReplica: many$", interp("test", "-v", ".", cwd=suite).out, re.MULTILINE)


def test_max_cost_is_met_exactly(suite: Path) -> None:
    cost = traced(suite)
    assert interp("test", "--max-cost", str(cost), ".", cwd=suite).code == 0
    refused = interp("test", "--max-cost", str(cost - 1), ".", cwd=suite)
    assert refused.code == 1
    assert f"cost: want at most {cost - 1}, got {cost}" in refused.out
    assert interp("test", "--max-cost", "0", ".", cwd=suite).code == 2
