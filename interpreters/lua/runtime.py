"""Builds a Lua state: LuaJIT with the privileged prelude loaded and nothing of Python in reach of scripts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from lupa import luajit21

from interpreters.lua import kube

# In this order: each file is given the table of pieces that the earlier ones filled.
_ORDER: Final = ("numbers", "decode", "lazy", "encode", "concatenation", "kube", "calls", "library")
_FOLDER: Final = f"{__file__.rpartition('/')[0]}/prelude"


def _source(name: str) -> bytes:
    with open(f"{_FOLDER}/{name}.lua", "rb") as file:  # noqa: PTH123 - pathlib slows the start of every worker
        return file.read()


# Read with the module: a sealed worker has no files any more.
_PRELUDE: Final = {name: _source(name) for name in _ORDER}


class Runtime:
    """One Lua state and the prelude functions that the engine calls."""

    __slots__ = ("_lua", "call", "compile", "forget", "functions")

    def __init__(self) -> None:
        self._lua = luajit21.LuaRuntime(
            encoding=None,
            register_eval=False,
            register_builtins=False,
            unpack_returned_tuples=True,
            attribute_filter=_refuse,
            max_memory=0,
        )
        pieces = self._lua.table()
        pieces[b"host"] = self._lua.table_from({name.encode(): function for name, function in kube.FUNCTIONS.items()})
        for name, source in _PRELUDE.items():
            self._lua.execute(
                b"local name, source, pieces = ... assert(load(source, name, 't'))(pieces)",
                f"=interp/{name}.lua".encode(),
                source,
                pieces,
            )
        self.call: Callable[..., tuple[Any, ...]] = pieces[b"call"]
        self.compile: Callable[..., tuple[Any, ...]] = pieces[b"compile"]
        self.forget: Callable[[int], None] = pieces[b"forget"]
        self.functions: Callable[..., tuple[Any, ...]] = pieces[b"functions"]

    @property
    def memory(self) -> int:
        """Bytes in use, garbage included."""
        return int(self._lua.get_memory_used())

    def allow(self, more: int) -> None:
        """From here on at most `more` bytes may be added to what is in use."""
        self._lua.set_max_memory(self.memory + more, total=True)

    def collect(self) -> None:
        self._lua.gccollect()


def _refuse(obj: object, name: object, setting: bool) -> object:
    raise AttributeError("scripts have no access to host objects")
