"""An engine for tests whose scripts are native code: what a script could do that had broken out of its language.

A script's text is ignored; the function names one of the acts below.
"""
# pathlib would hide which system call is made
# ruff: noqa: PTH108, PTH116, PTH208

from __future__ import annotations

import _thread as _thread_module
import contextlib
import ctypes
import json
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Sequence
from math import inf, nan

import msgspec

from interpreters.core.engine import Limits, Outcome, Script
from interpreters.core.errors import Frame, LimitError, ReplyError, ScriptError, ScriptSyntaxError
from interpreters.sandbox.messages import HEADER, encode, failure_of

LIBC = ctypes.CDLL(None, use_errno=True)
PARENT = os.getppid()
ARM = os.uname().machine == "aarch64"


def _refused(act: Callable[[], object]) -> str:
    """The name of the error that the act met, or `done`."""
    try:
        act()
    except OSError as error:
        return f"refused {error.errno}"
    return "done"


NUMBERS = {
    # name: (x86_64, aarch64)
    "mmap": (9, 222),
    "clone": (56, 220),
    "vfork": (58, -1),
    "fcntl": (72, 25),
    "ptrace": (101, 117),
    "prctl": (157, 167),
    "mount": (165, 40),
    "tgkill": (234, 131),
    "keyctl": (250, 219),
    "prlimit64": (302, 261),
    "process_vm_readv": (310, 270),
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
}


def _system_call(name: str, *arguments: object) -> str:
    number = NUMBERS[name][ARM]
    ctypes.set_errno(0)
    return "done" if LIBC.syscall(number, *arguments) >= 0 else f"refused {ctypes.get_errno()}"


def _thread() -> str:
    seen: list[int] = []
    thread = threading.Thread(target=seen.append, args=(1,))
    thread.start()
    thread.join()
    return "done" if seen else "nothing ran"


ATTEMPTS: dict[str, Callable[[], str]] = {
    "tcp socket": lambda: _refused(socket.socket),
    "unix socket": lambda: _refused(lambda: socket.socket(socket.AF_UNIX)),
    "socket pair": lambda: _refused(socket.socketpair),
    "netlink socket": lambda: _refused(lambda: socket.socket(16, socket.SOCK_RAW)),
    "read /etc/passwd": lambda: _refused(lambda: os.open("/etc/passwd", os.O_RDONLY)),
    "read the parent's memory": lambda: _refused(lambda: os.open(f"/proc/{PARENT}/mem", os.O_RDONLY)),
    "read the parent's environment": lambda: _refused(lambda: os.open(f"/proc/{PARENT}/environ", os.O_RDONLY)),
    "read its own environment": lambda: _refused(lambda: os.open("/proc/self/environ", os.O_RDONLY)),
    "write a file": lambda: _refused(lambda: os.open("/tmp/probe", os.O_WRONLY | os.O_CREAT)),
    "list a folder": lambda: _refused(lambda: os.listdir("/")),
    "ask for a file": lambda: _refused(lambda: os.stat("/etc/passwd")),
    "remove a file": lambda: _refused(lambda: os.unlink("/tmp/probe")),
    "change folder": lambda: _refused(lambda: os.chdir("/")),
    "make a file in memory": lambda: _refused(lambda: os.memfd_create("probe")),
    "run a program": lambda: _refused(lambda: os.execv("/bin/true", ["true"])),
    "fork": lambda: _refused(os.fork),
    "vfork by number": lambda: _system_call("vfork"),
    "clone a process": lambda: _system_call("clone", 17, None, None, None, None),
    "kill the parent": lambda: _refused(lambda: os.kill(PARENT, 0)),
    "kill everybody": lambda: _refused(lambda: os.kill(-1, 0)),
    "signal a thread of the parent": lambda: _system_call("tgkill", PARENT, PARENT, 0),
    "trace the parent": lambda: _system_call("ptrace", 16, PARENT, None, None),
    "read the parent by process_vm_readv": lambda: _system_call("process_vm_readv", PARENT, None, 0, None, 0, 0),
    "open the parent by pidfd": lambda: _refused(lambda: os.pidfd_open(PARENT)),
    "raise its own limits": lambda: _system_call("prlimit64", 0, 2, ctypes.create_string_buffer(b"\xff" * 16), None),
    "lower the parent's limits": lambda: _system_call("prlimit64", PARENT, 7, ctypes.create_string_buffer(16), None),
    "be dumpable again": lambda: _system_call("prctl", 4, 1, 0, 0, 0),
    "map executable memory": lambda: _system_call("mmap", None, 4096, 7, 0x22, -1, 0),
    "map shared memory": lambda: _system_call("mmap", None, 1 << 30, 3, 0x21, -1, ctypes.c_long(0)),
    "map memory that grows by itself": lambda: _system_call("mmap", None, 1 << 30, 3, 0x122, -1, ctypes.c_long(0)),
    "io_uring": lambda: _system_call("io_uring_setup", 8, ctypes.create_string_buffer(128)),
    "own a descriptor's signals": lambda: _system_call("fcntl", 3, 8, PARENT),
    "userfaultfd": lambda: _system_call("userfaultfd", 0),
    "bpf": lambda: _system_call("bpf", 0, None, 0),
    "keyring": lambda: _system_call("keyctl", 0, -3, 0),
    "mount": lambda: _system_call("mount", b"none", b"/", b"tmpfs", 0, None),
    "start a thread": _thread,
}


def _endless() -> str:
    while True:
        pass


def _devour() -> str:
    hoard = []
    while True:
        hoard.append(bytearray(1 << 20))


def _crowd() -> str:
    """As many threads as there may be. Their stacks are small, so that memory is not what ends it."""
    threading.stack_size(32 * 1024)
    while True:
        with contextlib.suppress(RuntimeError):
            _thread_module.start_new_thread(time.sleep, (60,))


def _go_out_of_memory() -> str:
    os.write(2, b"fatal error: runtime: out of memory\n\ngoroutine 1 [running]:\n" + b"x" * 200_000)
    os._exit(2)


def _no_room_for_a_stack() -> str:
    os.write(2, b"runtime/cgo: pthread_create failed: Resource temporarily unavailable\n")
    os.abort()


def _hang_up() -> str:
    os.close(3)
    time.sleep(60)
    return "unreachable"


def _raw(frame: bytes) -> Callable[[], str]:
    def act() -> str:
        os.write(3, frame)
        time.sleep(60)
        return "unreachable"

    return act


def _frame(*fields: object) -> bytes:
    """A frame with such fields, whatever the messages allow."""
    payload = msgspec.msgpack.encode(fields)
    return len(payload).to_bytes(HEADER, "big") + payload


def _raise(error: Exception) -> Callable[[], str]:
    def act() -> str:
        raise error

    return act


ACTS: dict[str, Callable[[], str]] = {
    "spin": _endless,
    "sleep": lambda: time.sleep(60) or "",
    "devour": _devour,
    "crowd": _crowd,
    "GoOutOfMemory": _go_out_of_memory,
    "NoRoomForAStack": _no_room_for_a_stack,
    "HangUp": _hang_up,
    "exit": lambda: os._exit(7),
    "abort": os.abort,
    "segfault": lambda: str(ctypes.string_at(1)),
    "pid": lambda: str(os.getpid()),
    "environment": lambda: json.dumps(dict(os.environ)),
    "KillItself": lambda: _system_call("tgkill", os.getpid(), os.getpid(), signal.SIGKILL),
    "HugeFrame": _raw(b"\xff\xff\xff\xff"),
    "NotAReply": _raw(b"\x00\x00\x00\x03abc"),
    "TwoReplies": _raw(b"\x00\x00\x00\x01\x90" * 2),
    "MemoryThenJunk": _raw(bytes(encode(failure_of(LimitError("memory", "full"), heavy=True))) + b"\xff" * 4),
    "DeepFrame": _raw(b"\x00\x01\x00\x00" + b"\x91" * 65536),
    "NoNumberOfSeconds": _raw(_frame("answer", [[b"1"], "", nan, 0, 0], False)),
    "EndlessSeconds": _raw(_frame("answer", [[b"1"], "", inf, 0, 0], False)),
    "NegativeMemory": _raw(_frame("answer", [[b"1"], "", 0.0, -1, 0], False)),
    "ManyValues": _raw(_frame("answer", [[b"1"] * 100_000, "", 0.0, 0, 0], False)),
    "LongPrint": _raw(_frame("answer", [[b"1"], "x" * 200_000, 0.0, 0, 0], False)),
    "LargeFailure": _raw(_frame("failure", "error", "x" * 3_000_000, "", None, None, [], "", "", False)),
    "LongNames": _raw(_frame("failure", "error", "x", "y" * 100_000, None, "z" * 100_000, [], "", "", False)),
    "ManyFrames": _raw(_frame("failure", "error", "x", "", None, None, [("f", 1)] * 100_000, "", "", False)),
    "HugeLine": _raw(_frame("failure", "error", "x", "", 2**60, None, [], "", "", False)),
    "FalseQuarantine": _raw(_frame("failure", "quarantined", "x", "", None, None, [], "", "", False)),
    "NamesInstead": _raw(_frame("names", ["f"], False)),
    "WrongTypes": _raw(_frame("answer", ["text", 1, "soon", None, 0], 3)),
    "ReadyAgain": _raw(b"\x00\x00\x00\x09\x93\xa5ready\x80\x80"),
    "ScriptError": _raise(
        ScriptError("bad", script="s", line=3, function="F", frames=(Frame("G", 2), Frame("F", 3)), printed="hello")
    ),
    "ScriptSyntaxError": _raise(ScriptSyntaxError("no", script="s", line=1)),
    "ReplyError": _raise(ReplyError("components[0].name", "is missing", script="s", function="F")),
    "LimitError": _raise(LimitError("depth", "too deep")),
    "EngineBug": _raise(ZeroDivisionError("division by zero")),
    "MemoryError": _raise(MemoryError()),
    "BrokenText": lambda: "\ud800",
}


class ProbeEngine:
    """Functions are acts; `echo` returns its arguments."""

    def functions(self, script: Script, limits: Limits) -> frozenset[str]:
        if script.text == "broken":
            raise ScriptSyntaxError("unexpected end", script=script.name, line=1)
        return frozenset({"echo", *ACTS})

    def call(
        self, script: Script, function: str, arguments: Sequence[bytes], limits: Limits, *, reads_only: bool = False
    ) -> Outcome:
        USES.append(function)
        if function == "OnceUsed" and len(USES) == 1:
            return Outcome((b'"fresh"',))
        if function == "OnceUsed":
            return Outcome((b"null",), printed=ACTS[json.loads(arguments[0])]())
        if function == "echo":
            return Outcome(tuple(arguments), printed=script.name)
        if function == "attempt":
            return Outcome((json.dumps(ATTEMPTS[json.loads(arguments[0])]()).encode(),))
        if function == "grow":
            GROWTH.append(b"x" * int(arguments[0]))
            return Outcome((str(os.getpid()).encode(),))
        if function == "FailLater":
            threading.Timer(0.1, os._exit, (3,)).start()
            return Outcome((b"null",))
        if function == "CrowdLater":
            threading.Timer(0.1, _crowd).start()
            return Outcome((b"null",))
        if function == "nap":
            time.sleep(float(arguments[0]))
            return Outcome((b"null",))
        if function == "NapThen":
            time.sleep(float(arguments[0]))
            return Outcome((b"null",), printed=ACTS[json.loads(arguments[1])]())
        if function == "big":
            return Outcome((b"1" * int(arguments[0]),))
        return Outcome((b"null",), printed=ACTS[function]())


GROWTH: list[bytes] = []
USES: list[str] = []
"""The functions that this worker has been asked."""
