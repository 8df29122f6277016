"""The blocking front: the same answers, from one thread or several, with workers started when needed."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from interpreters.core.engine import Limits, Script
from interpreters.core.errors import (
    BusyError,
    InternalError,
    LimitError,
    QuarantinedError,
    ScriptError,
    ScriptSyntaxError,
)
from interpreters.sandbox import process
from interpreters.sandbox.calls import Recycling
from interpreters.sandbox.runner import SandboxRunner
from tests.interpreters.sandbox.surroundings import PROBE, children, nothing_left_behind, probe
from tests.interpreters.sandbox.test_pool import ENDLESS, FAULTS, PATIENT, QUICK

TWO_LANGUAGES = {"probe": PROBE["probe"], "second": PROBE["probe"]}


def test_calls_and_functions() -> None:
    with nothing_left_behind(), SandboxRunner(engines=PROBE) as runner:
        assert runner.call(probe("s"), "echo", [b"1", b"2"]).values == (b"1", b"2")
        assert "echo" in runner.functions(probe("s"))
        with pytest.raises(ScriptSyntaxError, match="s:1: unexpected end"):
            runner.functions(Script("s", "probe", "broken"))
        assert runner.stats().calls == 3


@pytest.mark.parametrize("function", FAULTS)
def test_a_fault_is_one_stable_line_and_the_next_call_is_answered(function: str) -> None:
    kind, text = FAULTS[function]
    with nothing_left_behind(), SandboxRunner(engines=PROBE, limits=PATIENT) as runner:
        with pytest.raises(kind) as caught:
            runner.call(probe("fault"), function, [], limits=QUICK if function in ENDLESS else PATIENT)
        assert type(caught.value) is kind
        assert str(caught.value) == text
        assert runner.call(probe(), "echo", [b"1"]).values == (b"1",)


def test_no_worker_is_started_before_the_first_call() -> None:
    before = children()
    with SandboxRunner(engines=PROBE):
        assert children() == before


def test_a_worker_started_early_serves_the_first_call() -> None:
    with nothing_left_behind():
        early = process.start(preload=["json"])
        with SandboxRunner(engines=PROBE, first=early) as runner:
            assert int(runner.call(probe(), "pid", []).printed) == early.pid


def test_a_worker_started_early_and_never_used_is_collected() -> None:
    with nothing_left_behind(), SandboxRunner(engines=PROBE, first=process.start()):
        pass


def test_a_second_language_replaces_the_worker_once() -> None:
    with nothing_left_behind(), SandboxRunner(engines=TWO_LANGUAGES) as runner:
        pids = {
            int(runner.call(Script("s", language, ""), "pid", []).printed)
            for language in ("probe", "second", "probe", "second")
        }
        assert len(pids) == 2


def test_an_unknown_language_is_an_error_and_costs_no_worker() -> None:
    with SandboxRunner(engines=PROBE) as runner:
        for _ in range(2):
            with pytest.raises(InternalError, match="the cobol engine is not available: no such language"):
                runner.call(Script("s", "cobol", ""), "F", [])
        assert runner.call(probe(), "echo", [b"1"]).values == (b"1",)


def test_the_callers_deadline() -> None:
    with SandboxRunner(engines=PROBE, limits=Limits(seconds=30)) as runner:
        with pytest.raises(LimitError, match="did not finish before the caller's deadline"):
            runner.call(probe(), "sleep", [], deadline=time.monotonic() + 0.2)
        with pytest.raises(BusyError):
            runner.call(probe(), "echo", [], deadline=time.monotonic() - 1)


def test_a_killed_worker_is_replaced_and_the_call_run_again() -> None:
    with nothing_left_behind(), SandboxRunner(engines=PROBE, limits=Limits(seconds=20)) as runner:
        os.kill(int(runner.call(probe(), "pid", []).printed), signal.SIGKILL)
        assert runner.call(probe(), "echo", [b"1"]).values == (b"1",)
        pid = int(runner.call(probe(), "pid", []).printed)
        threading.Timer(0.2, os.kill, (pid, signal.SIGKILL)).start()
        assert runner.call(probe(), "nap", [b"0.6"]).values == (b"null",)
        assert runner.stats().retries <= 2
        assert runner.stats().kills == {"lost": 2}


def test_a_worker_that_dies_idle_is_not_the_next_scripts_fault() -> None:
    with nothing_left_behind(), SandboxRunner(engines=PROBE) as runner:
        runner.call(probe("culprit"), "FailLater", [])
        time.sleep(0.5)
        assert runner.call(probe(), "echo", [b"1"]).values == (b"1",)
        assert runner.stats().kills == {"crash": 1}


def test_a_worker_that_starts_thousands_of_threads_is_killed() -> None:
    with nothing_left_behind(), SandboxRunner(engines=PROBE, limits=Limits(seconds=30)) as runner:
        with pytest.raises(ScriptError, match="its worker started more than 64 threads and was killed"):
            runner.call(probe(), "crowd", [])
        assert runner.call(probe(), "echo", [b"1"]).values == (b"1",)
        assert runner.stats().kills == {"threads": 1}


def test_a_script_that_keeps_losing_workers_is_quarantined() -> None:
    with SandboxRunner(engines=PROBE, limits=Limits(seconds=0.05)) as runner:
        for _ in range(3):
            with pytest.raises(LimitError):
                runner.call(probe("bad"), "spin", [])
        with pytest.raises(QuarantinedError):
            runner.call(probe("bad"), "spin", [])
        assert runner.call(probe(), "echo", [b"1"], limits=PATIENT).values == (b"1",)


def test_threads_share_the_workers_and_may_end_before_them() -> None:
    with nothing_left_behind(), SandboxRunner(2, engines=PROBE) as runner:
        pids: set[str] = set()
        for _ in range(3):
            with ThreadPoolExecutor(4) as threads:
                answers = threads.map(lambda n: runner.call(probe(), "echo", [b"%d" % n]).values, range(100))
                assert list(answers) == [(b"%d" % n,) for n in range(100)]
                pids |= set(threads.map(lambda _: runner.call(probe(), "pid", []).printed, range(20)))
        assert len(pids) <= 2
        assert runner.stats().kills == {}


def test_a_worker_that_cannot_start_says_why_and_blames_no_script(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interpreters.sandbox.process._BOOT", "raise SystemExit('no such thing')")
    with nothing_left_behind(), SandboxRunner(engines=PROBE) as runner:
        for _ in range(5):
            with pytest.raises(InternalError, match="no sandbox worker starts: it ended with status 1: no such thing"):
                runner.call(probe(), "echo", [])


def test_workers_are_recycled() -> None:
    with nothing_left_behind(), SandboxRunner(engines=PROBE, recycling=Recycling(calls=5)) as runner:
        pids = {runner.call(probe(), "pid", []).printed for _ in range(20)}
        assert len(pids) == 4
        assert runner.stats().kills == {}


def test_a_closed_runner_says_so() -> None:
    runner = SandboxRunner(engines=PROBE)
    runner.close()
    with pytest.raises(BusyError, match="closed"):
        runner.call(probe(), "echo", [])


def test_a_worker_dies_with_its_parent() -> None:
    code = (
        f"import os, sys, threading, time; sys.path[:0] = {sys.path!r}\n"
        "from interpreters.core.engine import Limits, Script\n"
        "from interpreters.sandbox.runner import SandboxRunner\n"
        f"runner = SandboxRunner(engines={PROBE!r}, limits=Limits(seconds=60))\n"
        "print(runner.call(Script('s', 'probe', ''), 'pid', []).printed, flush=True)\n"
        "threading.Timer(0.3, os._exit, (0,)).start()\n"
        "runner.call(Script('s', 'probe', ''), 'spin', [])\n"
    )
    read, write = os.pipe()
    os.set_inheritable(write, True)
    pid = os.posix_spawn(
        sys.executable, [sys.executable, "-c", code], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, write, 1)]
    )
    os.close(write)
    with os.fdopen(read) as output:
        worker = int(output.readline())
    os.waitpid(pid, 0)
    until = time.monotonic() + 10
    while _runs(worker) and time.monotonic() < until:
        time.sleep(0.01)
    assert not _runs(worker)


def _runs(pid: int) -> bool:
    """Whether the process is there and not merely waiting to be collected by whoever inherited it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
