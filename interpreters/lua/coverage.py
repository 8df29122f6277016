"""A Lua engine that watches which lines run."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from interpreters.core.coverage import with_lines
from interpreters.core.engine import Limits, Outcome, Script
from interpreters.core.errors import ScriptError
from interpreters.lua.engine import LuaEngine


class CoveringLuaEngine(LuaEngine):
    """As the plain engine, several times slower, with the lines that ran behind what was printed."""

    def __init__(self) -> None:
        super().__init__()
        self._runtime.cover()

    def call(
        self, script: Script, function: str, arguments: Sequence[bytes], limits: Limits, *, reads_only: bool = False
    ) -> Outcome:
        try:
            outcome = super().call(script, function, arguments, limits, reads_only=reads_only)
        except ScriptError as error:
            error.printed = with_lines(error.printed, self._lines())
            raise
        return replace(outcome, printed=with_lines(outcome.printed, self._lines()))

    def _lines(self) -> list[int]:
        return [int(line) for line in self._runtime.covered().split()]
