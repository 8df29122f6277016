"""The Lua engine: compiles a script once, calls its functions with JSON in and JSON out, and words its failures."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Final

from msgspec import DecodeError

from interpreters.core.decoder_errors import misfit
from interpreters.core.engine import MIB, Limits, Outcome, Script
from interpreters.core.errors import LimitError, ScriptError, ScriptSyntaxError
from interpreters.lua.arguments import read_argument
from interpreters.lua.concatenation import Unreadable, enclosed, prepared, source_of
from interpreters.lua.failures import failure_of, syntax_failure
from interpreters.lua.runtime import OutOfMemory, Runtime

_REMEMBERED_SCRIPTS: Final = 512
_COMPILER_ROOM: Final = 16 * MIB
_GARBAGE: Final = 8 * MIB  # what earlier calls may leave behind before it is collected


class LuaEngine:
    """LuaJIT inside a worker: one call at a time, nothing kept between calls but compiled code."""

    def __init__(self) -> None:
        self._runtime = Runtime()
        self._compiled: OrderedDict[str, int] = OrderedDict()  # chunk numbers, from 1
        self._last_id = 0

    def functions(self, script: Script, limits: Limits) -> frozenset[str]:
        """The names of the global functions that the script defines."""
        answer = self._run(
            script,
            "",
            limits,
            self._runtime.functions,
            self._compiled.get(script.text) or self._compile(script),
            limits.cost,
            limits.seconds,
            limits.memory,
            limits.printed,
        )
        return frozenset(answer[3].decode().split("\n")) - {""}

    def call(
        self, script: Script, function: str, arguments: Sequence[bytes], limits: Limits, *, reads_only: bool = False
    ) -> Outcome:
        """Call one function with fresh globals. What may wait undecoded waits whether or not the script only reads."""
        chunk = self._compiled.get(script.text) or self._compile(script)
        texts: list[bytes | None] = []
        size = 0
        for argument in arguments:
            size += len(argument)
            try:
                texts += read_argument(argument)
            except DecodeError as error:
                raise ScriptError(f"an argument is {misfit(error)}", script=script.name, function=function) from None
            except RecursionError:
                raise LimitError(
                    "depth", "an argument is nested too deeply", script=script.name, function=function
                ) from None
        if size > limits.input:
            raise LimitError(
                "input",
                f"the arguments have {size} bytes, at most {limits.input} are allowed",
                script=script.name,
                function=function,
            )
        answer = self._run(
            script, function, limits, self._runtime.call, chunk, function.encode(), limits.cost, limits.seconds,
            limits.memory, limits.depth, limits.output, limits.printed, *texts,
        )  # fmt: skip
        printed = answer[1]
        text = printed.decode(errors="replace") if printed else ""
        return Outcome(answer[3:], text, memory=self._runtime.memory_of_call(), cost=int(answer[2]))

    def _compile(self, script: Script) -> int:
        """The number of its chunk, which is kept."""
        chunk = self._last_id = self._last_id + 1
        try:
            source = source_of(script.text)
            self._runtime.begin_call(_COMPILER_ROOM, _GARBAGE)
            ok, problem = self._runtime.compile(chunk, source, prepared(source), enclosed(source))
        except Unreadable as error:
            raise ScriptSyntaxError(error.problem, script=script.name, line=error.line) from None
        except OutOfMemory:
            raise LimitError("memory", "the script is too large to compile", script=script.name) from None
        if not ok:
            raise syntax_failure(script, problem.decode(errors="replace"))
        self._compiled[script.text] = chunk
        if len(self._compiled) > _REMEMBERED_SCRIPTS:
            self._runtime.forget(self._compiled.popitem(last=False)[1])
        return chunk

    def _run(self, script: Script, name: str, limits: Limits, function: Any, *arguments: object) -> tuple[Any, ...]:
        self._runtime.begin_call(limits.memory, _GARBAGE)
        try:
            answer: tuple[Any, ...] = function(*arguments)
        except OutOfMemory:
            answer = (False, b"", b"limit", b"memory")
        if not answer[0]:
            if answer[2:4] == (b"limit", b"memory"):
                self._runtime.recover()
            raise failure_of(script, name, answer, limits)
        return answer
