"""What the Lua engine costs in a worker: JSON in, script, JSON out, limits on. Also where the time goes."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from interpreters.core.engine import Limits, Script
from interpreters.lua.arguments import read_argument
from interpreters.lua.engine import LuaEngine
from interpreters.scan import Candidate, scan

RECORDINGS = Path(__file__).parent.parent / "tests" / "recordings" / "webhook-requests.json"
LIMITS = Limits()
ROUNDS, CALLS = 300, 20

Row = tuple[str, float, str, float | None]

FLINK = """
local kube = require("kube")

local function isempty(s)
  return s == nil or s == ''
end

local function claim(template, requires)
  if template == nil or template.spec == nil then
    return
  end
  local spec = template.spec
  if spec.nodeSelector ~= nil then
    requires.nodeClaim.nodeSelector = spec.nodeSelector
  end
  if spec.tolerations ~= nil then
    requires.nodeClaim.tolerations = spec.tolerations
  end
  if spec.affinity ~= nil and spec.affinity.nodeAffinity ~= nil then
    requires.nodeClaim.hardNodeAffinity = spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution
  end
  if not isempty(spec.priorityClassName) then
    requires.priorityClassName = spec.priorityClassName
  end
end

local function requirements(role, template)
  local requires = { resourceRequest = {}, nodeClaim = {} }
  if role.resource ~= nil then
    requires.resourceRequest.cpu = role.resource.cpu
    requires.resourceRequest.memory = role.resource.memory
    if not isempty(role.resource.ephemeralStorage) then
      requires.resourceRequest["ephemeral-storage"] = role.resource.ephemeralStorage
    end
  end
  claim(template, requires)
  return requires
end

function GetComponents(observedObj)
  local components = {}
  local spec = observedObj.spec

  local jm_replicas = spec.jobManager.replicas
  if isempty(jm_replicas) then
    jm_replicas = 1
  end
  components[#components + 1] = {
    name = "jobmanager",
    replicas = jm_replicas,
    replicaRequirements = requirements(spec.jobManager, spec.podTemplate),
  }

  local tm_replicas = spec.taskManager.replicas
  if isempty(tm_replicas) then
    local slots = tonumber(spec.flinkConfiguration["taskmanager.numberOfTaskSlots"]) or 1
    tm_replicas = math.ceil(spec.job.parallelism / slots)
  end
  components[#components + 1] = {
    name = "taskmanager",
    replicas = tm_replicas,
    replicaRequirements = requirements(spec.taskManager, spec.podTemplate),
  }
  return components
end
"""
ONE = "function f(o) return 1 end"
UNCHANGED = "function f(o) return o end"
POD = """
local kube = require("kube")
function GetReplicas(o) return 1, kube.accuratePodRequirements(o.spec.podTemplate) end
"""

POD_SPEC = {
    "containers": [
        {"name": "main", "image": "x", "resources": {"requests": {"cpu": "2", "memory": "4Gi"}}},
        {"name": "beside", "image": "y", "resources": {"requests": {"cpu": "250m", "memory": "256Mi"}}},
    ],
    "nodeSelector": {"kubernetes.io/os": "linux"},
    "tolerations": [{"key": "dedicated", "operator": "Exists"}],
}
RAY = json.dumps({
    "metadata": {"name": "ray", "namespace": "default"},
    "spec": {
        "headGroupSpec": {"template": {"spec": POD_SPEC}},
        "workerGroupSpecs": [
            {"groupName": name, "replicas": 3, "minReplicas": 1, "maxReplicas": 5, "template": {"spec": POD_SPEC}}
            for name in ("small", "large")
        ],
    },
}).encode()  # fmt: skip
DEPLOYMENT = json.dumps({
    "metadata": {"name": "web", "namespace": "default"},
    "spec": {"replicas": 3, "template": {"spec": POD_SPEC}},
}).encode()  # fmt: skip


def run() -> Iterable[Row]:
    """Rows of what, value, unit, budget."""
    engine = LuaEngine()
    obj = recorded_object()

    def call(script: Script, function: str, argument: bytes) -> Callable[[], object]:
        return lambda: engine.call(script, function, [argument], LIMITS, reads_only=True)

    def own(text: str) -> Script:
        return Script("benchmark.lua", "lua", text)

    flink = bundled("FlinkDeployment")
    yield "InterpretComponent of the recorded FlinkDeployment", best(call(flink, "GetComponents", obj)), "µs", 80.0
    yield "  by a script that counts less", best(call(own(FLINK), "GetComponents", obj)), "µs", None
    yield "  of which: checking the JSON, finding what may wait", best(lambda: read_argument(obj)), "µs", None
    yield "  the same object to a script that returns 1", best(call(own(ONE), "f", obj)), "µs", None
    yield "  an empty object to a script that returns 1", best(call(own(ONE), "f", b"{}")), "µs", None
    yield "InterpretHealth of the recorded FlinkDeployment", best(call(flink, "InterpretHealth", obj)), "µs", None
    yield "InterpretComponent of a RayCluster", best(call(bundled("RayCluster"), "GetComponents", RAY)), "µs", None
    yield "InterpretReplica of a Deployment", best(call(bundled("Deployment"), "GetReplicas", DEPLOYMENT)), "µs", None
    yield "the object returned unchanged", best(call(own(UNCHANGED), "f", obj)), "µs", None
    yield "kube.accuratePodRequirements of its pod template", best(call(own(POD), "GetReplicas", obj)), "µs", None
    yield "a new engine", best(LuaEngine, calls=1) / 1000, "ms", None


def bundled(kind: str) -> Script:
    """The bundled Lua script of a kind."""
    return next(
        found.script
        for found in scan()
        if isinstance(found, Candidate) and found.kind and (found.kind.kind, found.script.language) == (kind, "lua")
    )


def recorded_object() -> bytes:
    """The first recorded request's object, as it travels."""
    body = json.loads(json.loads(RECORDINGS.read_text())[0]["request"]["body"])
    return json.dumps(body["request"]["object"], separators=(",", ":")).encode()


def best(work: Callable[[], object], calls: int = CALLS) -> float:
    """Microseconds of one call, in the best of many short rounds: what it costs on a quiet machine."""
    work()
    fastest = float("inf")
    for _ in range(ROUNDS):
        started = time.thread_time()
        for _ in range(calls):
            work()
        fastest = min(fastest, (time.thread_time() - started) / calls)
    return fastest * 1e6
