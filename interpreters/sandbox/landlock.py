"""Landlock for a worker: a second wall behind the seccomp filter, against files, TCP, signals and foreign sockets.

It goes up in two steps because it binds only the calling thread and those it starts later: before the engines are
imported (they start threads of their own) nothing outside may be run, connected to or signalled; afterwards no file may
be touched either.
"""

from __future__ import annotations

import ctypes
import os
import struct

_CREATE_RULESET, _RESTRICT_SELF = 444, 446
_ASK_VERSION = 1

_RUN = 1
_RIGHTS_BY_VERSION = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
_TCP_VERSION, _TCP_RIGHTS = 4, 0b11
_SCOPE_VERSION, _SCOPES = 6, 0b11  # abstract sockets and signals of processes outside


def version(libc: ctypes.CDLL) -> int:
    """What the kernel offers; 0 for nothing."""
    return max(0, int(libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint(_ASK_VERSION))))


def restrict(libc: ctypes.CDLL, *, files: bool) -> str:
    """Give up the right to run programs, to TCP and to outsiders; with `files`, to all files. Says what came of it."""
    offered = version(libc)
    if not offered:
        return "not offered by the kernel"
    all_rights = next(rights for since, rights in sorted(_RIGHTS_BY_VERSION.items(), reverse=True) if since <= offered)
    attributes = struct.pack(
        "=QQQ",
        all_rights if files else _RUN,
        _TCP_RIGHTS if offered >= _TCP_VERSION else 0,
        _SCOPES if offered >= _SCOPE_VERSION else 0,
    )
    size = 24 if offered >= _SCOPE_VERSION else 16 if offered >= _TCP_VERSION else 8
    ruleset = libc.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(size), ctypes.c_uint(0))
    if ruleset < 0:
        return f"refused by the kernel: {os.strerror(ctypes.get_errno())}"
    try:
        if libc.syscall(_RESTRICT_SELF, ruleset, ctypes.c_uint(0)) != 0:
            return f"refused by the kernel: {os.strerror(ctypes.get_errno())}"
    finally:
        os.close(ruleset)
    return f"on (version {offered})"
