"""Starlark beside Lua: a recorded FlinkDeployment in the worker, and whether memory stays flat over 200 000 calls."""

from __future__ import annotations

import json
import statistics
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from interpreters.core.engine import MIB, Limits, Script
from interpreters.core.kinds import GroupVersionKind
from interpreters.sandbox.calls import Recycling
from interpreters.sandbox.runner import SandboxRunner
from interpreters.scan import Candidate, scan
from interpreters.starlark.engine import StarlarkEngine

RECORDINGS = Path(__file__).parent.parent / "tests" / "recordings" / "webhook-requests.json"
FLINK = GroupVersionKind("flink.apache.org", "v1beta1", "FlinkDeployment")
CALLS = 2000
ROUNDS = 100
MANY_CALLS = 200_000
SMALL = Script(
    "small.star",
    "starlark",
    "def GetComponents(obj):\n"
    "    needs = accuratePodRequirements(obj['spec']['template'])\n"
    "    return [{'name': 'main', 'replicas': obj['spec']['replicas'], 'replicaRequirements': needs}]\n",
)
TEMPLATE = {"spec": {"containers": [{"name": "a", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}]}}

Row = tuple[str, float, str, float | None]


def run() -> Iterable[Row]:
    """Rows of what, value, unit, budget."""
    flink = recorded_object()
    yield "FlinkDeployment InterpretComponent, starlark, best of many rounds", best_time(flink), "µs", None
    for language, budget in (("starlark", 500.0), ("lua", 80.0)):
        script = bundled(language)
        inside, around = call_times(script, "GetComponents", [flink])
        yield f"FlinkDeployment InterpretComponent, {language}, median in the worker", inside, "µs", budget
        yield f"FlinkDeployment InterpretComponent, {language}, through the blocking front", around, "µs", None
    inside, _ = call_times(bundled("starlark"), "ReviseReplica", [flink, b"5"])
    yield "FlinkDeployment ReviseReplica, starlark, in the worker", inside, "µs", None
    yield "loading the FlinkDeployment script, starlark", loading_time(bundled("starlark")), "ms", None
    yield f"growth of resident memory over {MANY_CALLS:,} calls", growth(), "MiB", 8.0


def recorded_object() -> bytes:
    """The first recorded request's object, as Karmada sends it."""
    request = json.loads(json.loads(RECORDINGS.read_text())[0]["request"]["body"])
    return json.dumps(request["request"]["object"], separators=(",", ":")).encode()


def bundled(language: str) -> Script:
    return next(
        found.script
        for found in scan(bundled=language)
        if isinstance(found, Candidate) and found.kind == FLINK and found.script.language == language
    )


def best_time(flink: bytes) -> float:
    """Microseconds of one call in the best of many short rounds, as for Lua: what it costs on a quiet machine."""

    def measure() -> None:
        engine, script, limits = StarlarkEngine(), bundled("starlark"), Limits()
        for _ in range(ROUNDS):
            started = time.perf_counter()
            for _ in range(CALLS // ROUNDS):
                engine.call(script, "GetComponents", [flink], limits, reads_only=True)
            rounds.append((time.perf_counter() - started) / (CALLS // ROUNDS))

    rounds: list[float] = []
    outside_the_main_thread(measure)
    return min(rounds) * 1e6


def call_times(script: Script, function: str, arguments: list[bytes]) -> tuple[float, float]:
    """Median microseconds of a call inside the sealed worker, limits on, and as the caller sees it."""
    inside, around = [], []
    with SandboxRunner(recycling=Recycling(calls=10 * CALLS)) as runner:
        for _ in range(CALLS):
            started = time.perf_counter()
            outcome = runner.call(script, function, arguments, reads_only=function == "GetComponents")
            around.append(time.perf_counter() - started)
            inside.append(outcome.seconds)
    return statistics.median(inside) * 1e6, statistics.median(around) * 1e6


def loading_time(script: Script) -> float:
    def load() -> None:
        for _ in range(5):
            started = time.perf_counter()
            StarlarkEngine().functions(script, Limits())
            samples.append(time.perf_counter() - started)

    samples: list[float] = []
    outside_the_main_thread(load)
    return statistics.median(samples) * 1e3


def growth() -> float:
    """Of this process, after a warm-up that lets Go's heap find its size."""
    argument = json.dumps({"spec": {"replicas": 2, "template": TEMPLATE}}).encode()

    def measure() -> None:
        engine, limits = StarlarkEngine(), Limits()
        for i in range(MANY_CALLS + 5000):
            if i == 5000:
                sizes.append(resident())
            engine.call(SMALL, "GetComponents", [argument], limits)
        sizes.append(resident())

    sizes: list[int] = []
    outside_the_main_thread(measure)
    return (sizes[1] - sizes[0]) / MIB


def outside_the_main_thread(work: Callable[[], None]) -> None:
    """Where workers run the engine too: entering Go from the main thread costs 90 µs."""
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
