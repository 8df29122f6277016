"""How a worker gives up its own powers: resource limits, privileges, system calls, files. Runs inside the worker.

`confine` comes first, while engines still have to be imported; `seal` comes last, before the first script runs.
Whatever the system does not offer is left out and said so in the report, which the pool shows as `hardening()`.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import struct
import sys

from interpreters.core.engine import MIB, Limits
from interpreters.sandbox import landlock, seccomp

LINUX = sys.platform == "linux"

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 1, 4, 38
_CAPSET = {"x86_64": 126, "aarch64": 91}
_CAPABILITY_VERSION = 0x20080522

DESCRIPTORS = 64
BASE_MEMORY = 256 * MIB
"""What the runtimes map before a script does anything: Python, Lua, Go's heap arenas and thread stacks."""


def hard_memory(limits: Limits) -> int:
    """The data segment a process may have: its runtime, and a call's memory with room for copies and a collector."""
    return BASE_MEMORY + 3 * limits.memory


def confine(parent: int) -> dict[str, str]:
    """Privileges and everything that loading engines does not need. `parent` is who must still be there."""
    if not LINUX:
        return {"privileges": f"kept on {sys.platform}"}
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(0)
    done = libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 and libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) == 0
    return {
        "privileges": "none can be gained" if done else "refused by the kernel",
        "capabilities": _drop_capabilities(libc),
        "landlock": landlock.restrict(libc, files=False),
    }


def seal(limits: Limits) -> dict[str, str]:
    """Resource limits, then no file, socket or process any more."""
    report = {"limits": _limit_resources(hard_memory(limits))}
    if not LINUX:
        return report | {"seccomp": f"not available on {sys.platform}", "landlock": f"not available on {sys.platform}"}
    libc = ctypes.CDLL(None, use_errno=True)
    return report | {"landlock": landlock.restrict(libc, files=True), "seccomp": seccomp.seal(libc)}


def _limit_resources(memory: int) -> str:
    """No RLIMIT_AS, because Go reserves gigabytes of addresses. No RLIMIT_NPROC: it counts all of a user's processes
    and threads together, Go needs threads, and the filter refuses new processes."""
    kept = []
    for name, value in (("DATA", memory), ("NOFILE", DESCRIPTORS), ("CORE", 0), ("FSIZE", 0)):
        try:
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))
        except (OSError, ValueError):
            kept.append(name)
    return "on" if not kept else f"refused by the kernel: {', '.join(kept)}"


def _drop_capabilities(libc: ctypes.CDLL) -> str:
    number = _CAPSET.get(os.uname().machine)
    if number is None:
        return "kept"
    header, nothing = struct.pack("=Ii", _CAPABILITY_VERSION, 0), bytes(24)
    return "dropped" if libc.syscall(number, header, nothing) == 0 else "kept"
