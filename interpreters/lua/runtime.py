"""Builds a Lua state: LuaJIT with the privileged prelude loaded and nothing of Python in reach of scripts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from lupa.luajit21 import LuaMemoryError, LuaRuntime

from interpreters.lua import kube
from interpreters.lua.arguments import waiting_fields

OutOfMemory = LuaMemoryError

# In this order: each file is given the table of pieces that the earlier ones filled.
_ORDER: Final = (
    "cost", "numbers", "texts", "decode", "emptiness", "encode", "concatenation", "kube", "blame", "calls", "order",
    "strings", "library",
)  # fmt: skip
_FOLDER: Final = f"{__file__.rpartition('/')[0]}/prelude"


def _source(name: str) -> bytes:
    # importlib.resources and pathlib would add a fifth to the start of every worker
    with open(f"{_FOLDER}/{name}.lua", "rb") as file:  # noqa: PTH123
        return file.read()


# Read with the module: a sealed worker has no files any more.
_PRELUDE: Final = {name: _source(name) for name in _ORDER}

# The compiler stays off: hooks do not fire in compiled code, and a sealed worker may not make memory executable.
_SETTINGS: Final = b"jit.off() jit.flush()"
_LOAD: Final = b"local name, source, pieces = ... assert(load(source, name, 't'))(pieces)"


class Runtime:
    """One Lua state and the prelude functions that the engine calls."""

    __slots__ = ("_before", "_live", "_lua", "_used", "call", "compile", "cover", "covered", "forget", "functions")

    def __init__(self) -> None:
        self._lua = LuaRuntime(
            encoding=None,
            register_eval=False,
            register_builtins=False,
            unpack_returned_tuples=True,
            attribute_filter=_refuse,
            max_memory=0,
        )
        self._lua.execute(_SETTINGS)
        pieces = self._lua.table()
        host = {**kube.FUNCTIONS, "waiting_fields": waiting_fields}
        pieces[b"host"] = self._lua.table_from({name.encode(): function for name, function in host.items()})
        for name, source in _PRELUDE.items():
            self._lua.execute(_LOAD, f"=interp/{name}.lua".encode(), source, pieces)
        self.call: Callable[..., tuple[Any, ...]] = pieces[b"call"]
        self.compile: Callable[..., tuple[Any, ...]] = pieces[b"compile"]
        self.cover: Callable[[], None] = pieces[b"cover"]
        self.covered: Callable[[], bytes] = pieces[b"covered"]
        self.forget: Callable[[int], None] = pieces[b"forget"]
        self.functions: Callable[..., tuple[Any, ...]] = pieces[b"functions"]
        self._used: Callable[[], int] = self._lua.get_memory_used
        self._lua.gccollect()
        self._live = self._before = self._used()

    def begin_call(self, memory: int, garbage: int) -> None:
        """Allow `memory` bytes more than are in use; clear first what earlier calls left, if it is above `garbage`."""
        used = self._used()
        if used > self._live + garbage:
            self._lua.set_max_memory(0)  # collecting needs a little room, and without it the process would end
            self._lua.gccollect()
            used = self._live = self._used()
        self._before = used
        self._lua.set_max_memory(used + memory, total=True)

    def recover(self) -> None:
        """Give back what a call took that ran out of memory. Buffers of the state only halve with every collection."""
        self._lua.set_max_memory(0)
        used = self._used()
        while True:
            self._lua.gccollect()
            self._live = self._used()
            if self._live > used * 0.9:
                return
            used = self._live

    def memory_of_call(self) -> int:
        """Bytes by which the call has grown the state, as far as they are not collected yet."""
        return int(max(0, self._used() - self._before))


def _refuse(obj: object, name: object, setting: bool) -> object:
    raise AttributeError("scripts have no access to host objects")
