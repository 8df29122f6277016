"""Even native code inside a worker finds no network, no files, no programs and no parent."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from interpreters.core.engine import Limits
from interpreters.sandbox.runner import SandboxRunner
from tests.interpreters.sandbox.probe import ATTEMPTS
from tests.interpreters.sandbox.surroundings import PROBE, probe

ALLOWED = {"start a thread"}


@pytest.fixture(scope="module")
def runner() -> Iterator[SandboxRunner]:
    with SandboxRunner(engines=PROBE, limits=Limits(seconds=10)) as front:
        yield front


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_native_code_cannot(attempt: str, runner: SandboxRunner) -> None:
    answer = json.loads(runner.call(probe(), "attempt", [json.dumps(attempt).encode()]).values[0])
    hardening = runner.hardening()
    if attempt in ALLOWED:
        assert answer == "done"
    elif hardening["seccomp"] == "on":
        assert answer.startswith("refused ")
    else:
        assert hardening["seccomp"].startswith(("not ", "refused "))


def test_the_environment_of_a_worker_is_its_own(runner: SandboxRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "x")
    with SandboxRunner(engines=PROBE) as fresh:
        environment = json.loads(fresh.call(probe(), "environment", []).printed)
    assert not {name for name in environment if not name.startswith("GO")} - {"TZ", "LC_ALL", "LC_CTYPE"}


def test_the_report_names_every_wall(runner: SandboxRunner) -> None:
    runner.call(probe(), "echo", [])
    assert {"privileges", "limits", "seccomp", "landlock"} <= set(runner.hardening())
