"""The Lua engine: compiles a script once, calls its functions with JSON in and JSON out, and words its failures."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Final

from interpreters.core.engine import Limits, Outcome, Script
from interpreters.core.errors import LimitError, ScriptSyntaxError
from interpreters.lua.concatenation import Unreadable, enclosed, prepared, source_of
from interpreters.lua.failures import failure_of, syntax_failure
from interpreters.lua.runtime import Runtime

_REMEMBERED_SCRIPTS: Final = 512
_COLLECT_ABOVE: Final = 16 * 1024 * 1024


class LuaEngine:
    """LuaJIT inside a worker: one call at a time, nothing kept between calls but compiled code."""

    def __init__(self) -> None:
        self._runtime = Runtime()
        self._compiled: OrderedDict[str, int] = OrderedDict()
        self._next_id = 0
        self._base = self._runtime.memory

    def functions(self, script: Script, limits: Limits) -> frozenset[str]:
        """The names of the global functions that the script defines."""
        chunk = self._compile(script)
        answer = self._run(limits, self._runtime.functions, chunk, limits.seconds, limits.printed)
        if not answer[0]:
            raise failure_of(script, "", answer, limits)
        return frozenset(answer[2].decode().split("\n")) - {""}

    def call(
        self, script: Script, function: str, arguments: Sequence[bytes], limits: Limits, *, reads_only: bool = False
    ) -> Outcome:
        """Call one function with fresh globals."""
        if sum(map(len, arguments)) > limits.input:
            raise LimitError(
                "input",
                f"the arguments have {sum(map(len, arguments))} bytes, at most {limits.input} are allowed",
                script=script.name,
                function=function,
            )
        chunk = self._compile(script)
        started = time.perf_counter()
        answer = self._run(
            limits, self._runtime.call, chunk, function.encode(), limits.seconds, limits.depth, limits.output,
            limits.printed, *arguments,
        )  # fmt: skip
        if not answer[0]:
            raise failure_of(script, function, answer, limits)
        return Outcome(answer[2:], answer[1].decode(errors="replace"), time.perf_counter() - started)

    def _compile(self, script: Script) -> int:
        known = self._compiled.get(script.text)
        if known is not None:
            self._compiled.move_to_end(script.text)
            return known
        self._next_id += 1
        try:
            source = source_of(script.text)
            self._runtime.allow(_COLLECT_ABOVE + 32 * len(source))
            ok, problem = self._runtime.compile(self._next_id, source, prepared(source), enclosed(source))
        except Unreadable as error:
            raise ScriptSyntaxError(error.problem, script=script.name, line=error.line) from None
        if not ok:
            raise syntax_failure(script, problem.decode(errors="replace"))
        self._compiled[script.text] = self._next_id
        if len(self._compiled) > _REMEMBERED_SCRIPTS:
            self._runtime.forget(self._compiled.popitem(last=False)[1])
        return self._next_id

    def _run(self, limits: Limits, function: Any, *arguments: object) -> tuple[Any, ...]:
        if self._runtime.memory > self._base + _COLLECT_ABOVE:
            self._runtime.collect()
        self._runtime.allow(limits.memory)
        answer: tuple[Any, ...] = function(*arguments)
        return answer
