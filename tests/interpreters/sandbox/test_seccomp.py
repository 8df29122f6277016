"""The filter's answers, for both architectures, read from its instructions."""

from __future__ import annotations

import errno

import pytest

from interpreters.sandbox.seccomp import ARCHITECTURES, program
from tests.interpreters.sandbox.filter_machine import verdict

ALLOW, REFUSE, NO_SUCH_CALL, KILL = 0x7FFF0000, 0x50000 | errno.EPERM, 0x50000 | errno.ENOSYS, 0x80000000
PID = 4711
THREAD = 0x3D0F00  # what glibc passes to clone for a thread
FORK = 0x1200011

TABLE = {
    # what: (x86_64, aarch64), arguments, answer
    "read": ((0, 63), (), ALLOW),
    "futex": ((202, 98), (), ALLOW),
    "exit_group": ((231, 94), (), ALLOW),
    "openat": ((257, 56), (), REFUSE),
    "socket": ((41, 198), (2, 1, 0), REFUSE),
    "connect": ((42, 203), (), REFUSE),
    "execve": ((59, 221), (), REFUSE),
    "execveat": ((322, 281), (), REFUSE),
    "ptrace": ((101, 117), (), REFUSE),
    "kill": ((62, 129), (PID, 9), REFUSE),
    "a call with the x32 bit": ((0x40000000, 0x40000000 + 63), (), REFUSE),
    "a call of the future": ((9999, 9999), (), REFUSE),
    "a thread": ((56, 220), (THREAD,), ALLOW),
    "a process": ((56, 220), (FORK,), REFUSE),
    "a process that shares memory": ((56, 220), (0x4111,), REFUSE),
    "clone3": ((435, 435), (), NO_SUCH_CALL),
    "plain memory": ((9, 222), (0, 4096, 3, 0x22), ALLOW),
    "memory for a thread's stack": ((9, 222), (0, 4096, 3, 0x20022), ALLOW),
    "addresses without memory": ((9, 222), (0, 1 << 40, 0, 0x4022), ALLOW),
    "shared memory": ((9, 222), (0, 4096, 3, 0x21), REFUSE),
    "shared memory, checked": ((9, 222), (0, 4096, 3, 0x23), REFUSE),
    "memory that grows by itself": ((9, 222), (0, 4096, 3, 0x122), REFUSE),
    "writable and executable memory": ((9, 222), (0, 4096, 7, 0x22), REFUSE),
    "memory made writable and executable": ((10, 226), (0, 4096, 6), REFUSE),
    "memory made executable when it is written": ((10, 226), (0, 4096, 5), REFUSE),
    "a signal to itself": ((234, 131), (PID, PID, 6), ALLOW),
    "a signal to another": ((234, 131), (PID + 1, PID + 1, 9), REFUSE),
    "reading its limits": ((302, 261), (0, 3, 0, 1 << 40), ALLOW),
    "setting its limits": ((302, 261), (0, 3, 1 << 40, 0), REFUSE),
    "reading another's limits": ((302, 261), (1, 3, 0, 1 << 40), REFUSE),
    "descriptor flags": ((72, 25), (3, 3), ALLOW),
    "descriptor owner": ((72, 25), (3, 8, 1), REFUSE),
}


@pytest.mark.parametrize("machine", ARCHITECTURES)
@pytest.mark.parametrize("what", TABLE)
def test_the_filter_answers(what: str, machine: str) -> None:
    numbers, arguments, answer = TABLE[what]
    architecture, column = ARCHITECTURES[machine]
    assert verdict(program(machine, PID), architecture, numbers[column], arguments) == answer


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_a_call_of_another_architecture_ends_the_process(machine: str) -> None:
    assert verdict(program(machine, PID), 0x40000003, 1) == KILL
