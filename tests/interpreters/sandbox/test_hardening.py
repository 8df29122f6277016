"""Which walls stand is judged by the workers' own words."""

from __future__ import annotations

import pytest

from interpreters.sandbox.hardening import WALLS, hardening_report
from interpreters.sandbox.runner import SandboxRunner
from tests.interpreters.sandbox.surroundings import PROBE, probe

ALL = {"seccomp": "on", "landlock": "on (version 4)", "privileges": "none can be gained", "limits": "on"}
GAPS = [
    ({}, 1000, ()),
    ({}, 0, ("notRoot: the server runs as root",)),
    ({"seccomp": "not available on riscv64"}, 1000, ("seccomp: not available on riscv64",)),
    ({"landlock": "not offered by the kernel"}, 1000, ("landlock: not offered by the kernel",)),
    ({"privileges": "refused by the kernel"}, 1000, ("noNewPrivileges: refused by the kernel",)),
    ({"limits": "refused by the kernel: DATA"}, 1000, ("limits: refused by the kernel: DATA",)),
]


@pytest.mark.parametrize(("changed", "user", "gaps"), GAPS)
def test_every_wall_that_does_not_stand_is_named(changed: dict[str, str], user: int, gaps: tuple[str, ...]) -> None:
    report = hardening_report(ALL | changed, user)
    assert report.gaps == gaps
    assert set(report.walls) == set(report.words) == set(WALLS)
    assert sum(not stands for stands in report.walls.values()) == len(gaps)


def test_a_worker_that_says_nothing_stands_behind_no_wall() -> None:
    assert len(hardening_report({}, 0).gaps) == len(WALLS)


def test_a_real_worker_reports_every_wall() -> None:
    with SandboxRunner(engines=PROBE) as runner:
        runner.call(probe(), "echo", [])
        assert "not reported" not in hardening_report(runner.hardening()).words.values()
