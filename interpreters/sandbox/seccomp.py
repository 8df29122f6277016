"""The system calls a sealed worker may make: an allowlist compiled to a seccomp filter, for every thread at once.

Allowed is what a running interpreter needs (memory, futexes, clocks, threads, the descriptors it already has) and
nothing that names a file, a socket, a process or an address. Everything else is answered with EPERM.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Iterable

SYSTEM_CALLS = {
    # name: (x86_64, aarch64); None where the architecture has no such call
    "read": (0, 63),
    "write": (1, 64),
    "close": (3, 57),
    "poll": (7, None),
    "lseek": (8, 62),
    "munmap": (11, 215),
    "brk": (12, 214),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "pread64": (17, 67),
    "readv": (19, 65),
    "writev": (20, 66),
    "sched_yield": (24, 124),
    "mremap": (25, 216),
    "mincore": (27, 232),
    "madvise": (28, 233),
    "nanosleep": (35, 101),
    "getitimer": (36, 102),
    "setitimer": (38, 103),
    "getpid": (39, 172),
    "exit": (60, 93),
    "gettimeofday": (96, 169),
    "getrlimit": (97, None),
    "getrusage": (98, 165),
    "sigaltstack": (131, 132),
    "gettid": (186, 178),
    "time": (201, None),
    "futex": (202, 98),
    "sched_getaffinity": (204, 123),
    "restart_syscall": (219, 128),
    "timer_create": (222, 107),
    "timer_settime": (223, 110),
    "timer_delete": (226, 111),
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115),
    "exit_group": (231, 94),
    "epoll_wait": (232, None),
    "epoll_ctl": (233, 21),
    "ppoll": (271, 73),
    "set_robust_list": (273, 99),
    "epoll_pwait": (281, 22),
    "eventfd2": (290, 19),
    "epoll_create1": (291, 20),
    "getrandom": (318, 278),
    "membarrier": (324, 283),
    "rseq": (334, 293),
    # below: allowed with certain arguments only, see _conditions
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "clone": (56, 220),
    "fcntl": (72, 25),
    "prctl": (157, 167),
    "tgkill": (234, 131),
    "prlimit64": (302, 261),
    # answered with ENOSYS, after which the C library falls back to clone
    "clone3": (435, 435),
}
ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
SECCOMP_CALL = {"x86_64": 317, "aarch64": 277}

_ALLOW = 0x7FFF0000
_ERRNO = 0x00050000
_KILL_PROCESS = 0x80000000
_SET_MODE_FILTER = 1
_EVERY_THREAD = 1  # SECCOMP_FILTER_FLAG_TSYNC

_LOAD, _EQUAL, _AND, _RETURN = 0x20, 0x15, 0x54, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16

_PROT_EXEC = 0x4  # new machine code: no engine needs it, LuaJIT's compiler is off
# RLIMIT_DATA counts private memory that can be written. Shared memory and stacks that grow by themselves are not
# counted and so not allowed.
_MAP_TYPE, _MAP_PRIVATE, _MAP_GROWSDOWN = 0xF, 0x2, 0x100
_THREAD_FLAGS = 0x100 | 0x800 | 0x10000  # CLONE_VM, CLONE_SIGHAND, CLONE_THREAD
_F_GETFD, _F_SETFD, _F_GETFL = 1, 2, 3
_PR_SET_NAME, _PR_SET_VMA = 15, 0x53564D41


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def _step(code: int, value: int, when_true: int = 0, when_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, when_true, when_false, value)


def _argument(index: int, high: bool = False) -> bytes:
    return _step(_LOAD, _ARGUMENTS + 8 * index + (4 if high else 0))


def _allow() -> bytes:
    return _step(_RETURN, _ALLOW)


def _refuse(number: int = errno.EPERM) -> bytes:
    return _step(_RETURN, _ERRNO | number)


def _one_of(index: int, values: Iterable[int]) -> bytes:
    tests = b"".join(_step(_EQUAL, value, 0, 1) + _allow() for value in values)
    return _argument(index) + tests + _refuse()


def _all_set(index: int, bits: int) -> bytes:
    return _argument(index) + _step(_AND, bits) + _step(_EQUAL, bits, 0, 1)


def _masked(index: int, bits: int, value: int) -> bytes:
    return _argument(index) + _step(_AND, bits) + _step(_EQUAL, value, 0, 1) + _allow() + _refuse()


def _conditions(pid: int) -> dict[str, bytes]:
    """What is tested once the number matched. Pointers and sizes cannot be tested, flags and identifiers can."""
    own_limits_unchanged = b"".join(
        _argument(index, high) + _step(_EQUAL, 0, 1, 0) + _refuse()
        for index, high in ((0, False), (2, False), (2, True))
    )
    return {
        "mmap": _all_set(2, _PROT_EXEC) + _refuse() + _masked(3, _MAP_TYPE | _MAP_GROWSDOWN, _MAP_PRIVATE),
        "mprotect": _all_set(2, _PROT_EXEC) + _refuse() + _allow(),
        "clone": _all_set(0, _THREAD_FLAGS) + _allow() + _refuse(),
        # F_SETOWN with O_ASYNC would send signals to other processes
        "fcntl": _one_of(1, (_F_GETFD, _F_SETFD, _F_GETFL)),
        "prctl": _one_of(0, (_PR_SET_NAME, _PR_SET_VMA)),
        "tgkill": _one_of(0, (pid,)),
        "prlimit64": own_limits_unchanged + _allow(),
        "clone3": _refuse(errno.ENOSYS),
    }


def program(machine: str, pid: int) -> bytes:
    """The filter's instructions, for one architecture and one process."""
    architecture, column = ARCHITECTURES[machine]
    conditions = _conditions(pid)
    steps = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_EQUAL, architecture, 1, 0),
        _step(_RETURN, _KILL_PROCESS),
        _step(_LOAD, _NUMBER),
    ]
    for name, numbers in SYSTEM_CALLS.items():
        number = numbers[column]
        if number is not None:
            body = conditions.get(name, _allow())
            steps.append(_step(_EQUAL, number, 0, len(body) // 8) + body)
    steps.append(_refuse())
    return b"".join(steps)


def seal(libc: ctypes.CDLL) -> str:
    """Put the filter on every thread of this process. Returns what was reached, in words."""
    machine = os.uname().machine
    if machine not in ARCHITECTURES or struct.calcsize("P") != 8:
        return f"not available on {machine}"
    instructions = program(machine, os.getpid())
    filter_program = _Program(len(instructions) // 8, instructions)
    number = SECCOMP_CALL[machine]
    if libc.syscall(number, _SET_MODE_FILTER, _EVERY_THREAD, ctypes.byref(filter_program)) == 0:
        return "on"
    return f"refused by the kernel: {os.strerror(ctypes.get_errno())}"
