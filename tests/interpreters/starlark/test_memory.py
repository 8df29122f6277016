"""What docs/starlark.md says of memory: the worker as a whole is bounded, and `scriptMemory` moves that bound."""

from __future__ import annotations

import pytest

from interpreters.core.engine import MIB, Limits, Script
from interpreters.core.errors import LimitError
from interpreters.sandbox.confinement import BASE_MEMORY, hard_memory
from interpreters.sandbox.runner import SandboxRunner

HOLDING = Script("holding", "starlark", "def F(o):\n    return len(['x' * (1 << 20) for i in range(o)])\n")
GLOBAL = Script("global", "starlark", "X = ['x' * (1 << 20) for i in range(100)]\ndef F(o):\n    return len(X)\n")

# scriptMemory in MiB, what one call holds in MiB, whether it is answered
CALLS = [
    (16, 8, True),
    (16, 64, True),  # more than scriptMemory, which is not what bounds a Starlark call
    (16, 16 * 3 + 256, False),  # the whole of what the worker may have, its runtime included
    (64, 100, True),
    (64, 64 * 3 + 256, False),
    (128, 64 * 3 + 256 - 200, True),
    (128, 4096, False),
]


@pytest.mark.parametrize(("script_memory", "held", "answered"), CALLS)
def test_one_call_may_hold_what_its_worker_may_hold(script_memory: int, held: int, answered: bool) -> None:
    limits = Limits(seconds=30, memory=script_memory * MIB)
    with SandboxRunner(limits=limits) as runner:
        if answered:
            assert runner.call(HOLDING, "F", [b"%d" % held]).values == (b"%d" % held,)
        else:
            assert held * MIB >= hard_memory(limits)
            with pytest.raises(LimitError) as caught:
                runner.call(HOLDING, "F", [b"%d" % held])
            assert caught.value.limit == "memory"
            assert runner.stats().kills == {"memory": 1}
        assert runner.call(HOLDING, "F", [b"1"]).values == (b"1",), "the next call finds a worker"


def test_the_bound_is_the_one_that_is_documented() -> None:
    assert hard_memory(Limits(memory=64 * MIB)) == BASE_MEMORY + 3 * 64 * MIB
    assert BASE_MEMORY == 256 * MIB


def test_globals_of_six_scripts_leave_a_seventh_all_it_needs() -> None:
    with SandboxRunner(limits=Limits(seconds=30), workers=1) as runner:
        for number in range(6):
            script = Script(f"global{number}", "starlark", f"{GLOBAL.text}# {number}\n")
            assert runner.call(script, "F", [b"0"]).values == (b"100",)
        assert runner.call(HOLDING, "F", [b"60"]).values == (b"60",)
