"""A folder with a script and an object for the tests of `interp run`, and one made by `interp new`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interp.command import interp

SCRIPT = """
local kube = require("kube")
function GetReplicas(obj)
  print("asked for", obj.metadata.name)
  return obj.spec.replicas, kube.accuratePodRequirements(obj.spec.template)
end
function ReviseReplica(obj, n) obj.spec.replicas = n return obj end
function Retain(desired, observed) desired.spec.kept = observed.spec.kept return desired end
function AggregateStatus(obj, items)
  obj.status = { clusters = #items }
  return obj
end
function InterpretHealth(obj) return obj.status.ready end
"""


OBJECT = """
apiVersion: example.io/v1
kind: Thing
metadata: {name: one, namespace: lab}
spec: {big: 9007199254740993, replicas: 2}
status: {ready: true}
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "s.lua").write_text(SCRIPT)
    (tmp_path / "o.yaml").write_text(OBJECT)
    (tmp_path / "two.yaml").write_text(
        OBJECT + "---" + OBJECT.replace("one", "two").replace("replicas: 2", "replicas: 5")
    )
    (tmp_path / "observed.yaml").write_text(OBJECT.replace("replicas: 2", "replicas: 2, kept: yes"))
    (tmp_path / "status.yaml").write_text("- {clusterName: a, applied: true}\n- {clusterName: b, applied: true}\n")
    return tmp_path


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    assert interp("new", "example.io/v1/Thing", cwd=tmp_path).code == 0
    return tmp_path
