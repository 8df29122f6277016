"""Starlark scripts: the language that looks like Python, run by Google's interpreter through `starlark-go`.

Which binding: the stable 1.0.1. The pre-release 1.1.0rc1 was tried beside it on Python 3.11, 3.12 and 3.13: speed,
memory and results are the same. It adds a timeout, but one that acts between steps only (a long `sorted` or `*` runs to
its end), so a worker must be killable anyway; and installers refuse a pre-release that nobody asked for by name. When
the installed binding has the timeout, it is used: an endless loop then names its line and costs no worker.

What the binding does badly, and what is done about it:
- Converting values costs more than compiling the same value as an expression, and results leak. So arguments go in as
  JSON text, which is a Starlark expression once `true`, `false` and `null` are names, and results come out printed.
- Redefining functions leaks. So a script is executed once per worker; its globals are then frozen by the runtime.
- It keeps no reference to Python functions that it is given (fixed in 1.1). So the loaded script keeps them.
- Entering Go from the *main* thread makes the C library read /proc/self/maps each time: 90 µs, and refused once the
  process is sealed. Call the engine from any other thread.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

import msgspec
import starlark_go
from msgspec import Raw
from starlark_go import Starlark

from interpreters.core.engine import Limits, Outcome, Script
from interpreters.core.errors import LimitError, ReplyError, ScriptError, ScriptSyntaxError
from interpreters.core.operations import BY_FUNCTION, Answer
from interpreters.starlark.builtins import BINDER, PRELUDE, PRELUDE_NAME, Ledger, builtins
from interpreters.starlark.faults import loading_fault, missing_fault, placed, running_fault
from interpreters.starlark.ownership import FROZEN, OwnershipRecords
from interpreters.starlark.reply_text import values_of

KEPT_SCRIPTS: Final = 256
_CALL: Final = "<call>"
_HAS_TIMEOUT: Final = hasattr(starlark_go, "EvalTimeoutError")
_JSON_WORDS: Final = {"true": True, "false": False, "null": None}
_JSON_ONLY: Final = re.compile(r"\\(?:/|u[dD])")
_JSON_ONLY_ESCAPE: Final = re.compile(r"\\(?:u(?P<high>d[89ab]..)\\u(?P<low>d[c-f]..)|(?P<slash>/)|.)", re.IGNORECASE)
_VALID: Final = msgspec.json.Decoder(Raw)
_ROOTS: Final = {
    Answer.REPLICAS: ("replicas", "replicaRequirements"),
    Answer.COMPONENTS: ("components",),
    Answer.OBJECT: ("",),
    Answer.STATUS: ("status",),
    Answer.HEALTH: ("healthy",),
    Answer.DEPENDENCIES: ("dependencies",),
}

starlark_go.configure_starlark(allow_set=True, allow_recursion=False, allow_global_reassign=False)


class StarlarkEngine:
    """Loaded scripts by name and text. Nothing that a call could change is kept for the next one."""

    def __init__(self) -> None:
        self._loaded: OrderedDict[tuple[str, str], _Loaded | ScriptSyntaxError] = OrderedDict()

    def functions(self, script: Script, limits: Limits) -> frozenset[str]:
        return self._load(script, limits).functions

    def call(
        self, script: Script, function: str, arguments: Sequence[bytes], limits: Limits, *, reads_only: bool = False
    ) -> Outcome:
        """`reads_only`: parts of the object that came before need not be compiled again."""
        loaded = self._load(script, limits)
        if function not in loaded.functions:
            raise missing_fault(function, loaded.functions, script.name)
        literals = [_literal(argument, limits) for argument in arguments]
        text = loaded.call_reading(function, literals, arguments[0], limits) if reads_only and arguments else None
        if text is None:
            text = loaded.call(function, literals, limits)
        operation = BY_FUNCTION.get(function)
        try:
            values = values_of(text, _ROOTS[operation.answer] if operation else ("",), limits)
        except (ReplyError, LimitError) as error:
            error.script, error.function, error.printed = script.name, function, loaded.printed
            raise
        return Outcome(values, loaded.printed)

    def _load(self, script: Script, limits: Limits) -> _Loaded:
        key = (script.name, script.text)
        loaded = self._loaded.get(key)
        if loaded is None:
            try:
                loaded = _Loaded(script, limits)
            except ScriptSyntaxError as error:
                loaded = error
            self._loaded[key] = loaded
            if len(self._loaded) > KEPT_SCRIPTS:
                self._loaded.popitem(last=False)
        else:
            self._loaded.move_to_end(key)
        if isinstance(loaded, ScriptSyntaxError):
            raise loaded.with_traceback(None)
        return loaded


class _Loaded:
    """One script, executed: its frozen globals inside the binding, its functions, what its module code printed."""

    def __init__(self, script: Script, limits: Limits) -> None:
        self._script = script.name
        self._ledger = Ledger()
        self._builtins = builtins(self._ledger)
        self._interpreter = Starlark(globals=self._builtins)
        self._interpreter.exec(PRELUDE, filename=PRELUDE_NAME)
        for name in (*self._builtins, BINDER):
            with suppress(starlark_go.ConversionToPythonFailed):  # it is gone, it just cannot be handed over
                self._interpreter.pop(name)
        self._loading_printed = ""
        self.functions = self._execute(script, limits)
        # Only now: the script is resolved already, so it cannot see these names.
        self._interpreter.set(**_JSON_WORDS)
        self._records = OwnershipRecords(self._interpreter)

    @property
    def printed(self) -> str:
        return self._ledger.printed

    def call_reading(self, function: str, literals: list[str], argument: bytes, limits: Limits) -> str | None:
        """What the function returns, given an object with frozen parts; None if it tried to change one of these."""
        try:
            return self.call(function, [self._records.shortened(argument, literals[0]), *literals[1:]], limits)
        except ScriptError as error:
            if FROZEN in error.message:
                return None
            raise

    def call(self, function: str, literals: list[str], limits: Limits) -> str:
        """What the function returns, as Starlark prints it."""
        expression = f"{function}({', '.join(literals)})"
        self._ledger.start(limits.printed, self._loading_printed)
        try:
            text: str = self._interpreter.eval(expression, filename=_CALL, convert=False, **_timeout(limits))
        except (starlark_go.StarlarkError, TypeError) as error:
            fault = self._fault(error) or running_fault(error, self._script, limits.seconds)
            fault.printed = self.printed
            raise fault from None
        return text

    def _execute(self, script: Script, limits: Limits) -> frozenset[str]:
        before = set(self._interpreter.globals())
        self._ledger.start(limits.printed)
        try:
            self._interpreter.exec(script.text, filename=script.name, **_timeout(limits))
        except (starlark_go.StarlarkError, TypeError) as error:
            fault = self._fault(error) or loading_fault(error, script.name, limits.seconds)
            fault.printed = self.printed
            raise fault from None
        except ValueError:  # how Python refuses to pass text on that C cannot hold
            problem = "the text has a NUL character or a lone surrogate"
            raise ScriptSyntaxError(problem, script=script.name) from None
        self._loading_printed = self._ledger.printed
        names = sorted(set(self._interpreter.globals()) - before)
        kinds = self._interpreter.eval(f"[{', '.join(f'type({name})' for name in names)}]", convert=False)
        return frozenset(
            name for name, kind in zip(names, msgspec.json.decode(kinds), strict=True) if kind == "function"
        )

    def _fault(self, error: Exception) -> ScriptError | None:
        fault = self._ledger.failure
        return None if fault is None else placed(fault, error, self._script)


def _timeout(limits: Limits) -> dict[str, Any]:
    return {"timeout": limits.seconds} if _HAS_TIMEOUT else {}


def _literal(argument: bytes, limits: Limits) -> str:
    """A JSON text as a Starlark expression. It is checked to be JSON, so that no argument can be a program."""
    if len(argument) > limits.input:
        raise LimitError("input", f"an argument has {len(argument)} bytes, at most {limits.input} are allowed")
    try:
        text = str(_VALID.decode(argument), "utf-8", "replace")
    except RecursionError:
        raise LimitError("input", "an argument is nested too deeply") from None
    if _JSON_ONLY.search(text):
        return _JSON_ONLY_ESCAPE.sub(_starlark_escape, text)
    return text


def _starlark_escape(escape: re.Match[str]) -> str:
    """Starlark knows neither `\\/` nor surrogates. (A lone surrogate is not JSON and never comes this far.)"""
    if escape["high"]:
        return chr(0x10000 + ((int(escape["high"], 16) - 0xD800) << 10) + int(escape["low"], 16) - 0xDC00)
    return "/" if escape["slash"] else escape[0]
