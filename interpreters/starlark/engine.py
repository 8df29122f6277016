"""Starlark scripts: the language that looks like Python, run by Google's interpreter through `starlark-go`.

Which binding: the stable 1.0.1. The pre-release 1.1.0rc1 was tried beside it on Python 3.11, 3.12 and 3.13: speed,
memory and results are the same. It adds a timeout, but one that acts between steps only (a long `sorted` or `*` runs to
its end), so a worker must be killable anyway; and installers refuse a pre-release that nobody asked for by name. When
the installed binding has the timeout, it is used: an endless loop then names its line and costs no worker.

What the binding does badly, and what is done about it:
- Converting values costs more than compiling the same value as an expression, and results leak. So arguments go in as
  JSON text, which is a Starlark expression once `true`, `false` and `null` are names, and results come out printed.
- Redefining functions leaks. So a script is compiled once per worker, as a function whose calls make its globals.
- Steps are not counted for us. So the text counts them itself (counting.py).
- It keeps no reference to Python functions that it is given (fixed in 1.1). So the loaded script keeps them.
- Entering Go from the *main* thread makes the C library read /proc/self/maps each time: 90 µs, and refused once the
  process is sealed. Call the engine from any other thread.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, Final

import msgspec
import starlark_go
from msgspec import Raw
from starlark_go import Starlark

from interpreters.core.engine import Limits, Outcome, Script
from interpreters.core.errors import Frame, LimitError, ReplyError, ScriptError, ScriptSyntaxError
from interpreters.core.operations import BY_FUNCTION, Answer
from interpreters.starlark.builtins import BINDER, OVER, PRELUDE, PRELUDE_NAME, Ledger, builtins
from interpreters.starlark.counting import Names, counting
from interpreters.starlark.faults import (
    TOP_LEVEL,
    loading_fault,
    missing_fault,
    placed,
    running_fault,
    too_costly,
)
from interpreters.starlark.lint import LINTING, findings
from interpreters.starlark.ownership import FROZEN, OwnershipRecords
from interpreters.starlark.reply_text import values_of

KEPT_SCRIPTS: Final = 256
_CALL: Final = "<call>"
_BYTES: Final = 8  # of arguments and reply, for one unit of cost
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
        if function == LINTING:
            return Outcome((msgspec.json.encode(list(findings(script.text))),))
        loaded = self._load(script, limits)
        if function not in loaded.functions:
            raise missing_fault(function, loaded.functions, script.name)
        literals = [_literal(argument, limits) for argument in arguments]
        text = loaded.call_reading(function, literals, arguments[0], limits) if reads_only and arguments else None
        if text is None:
            text = loaded.call(function, literals, limits)
        text, _, steps = text[1:-1].rpartition(", ")
        cost = int(steps) + loaded.helpers_cost + (sum(map(len, arguments)) + len(text)) // _BYTES
        if cost > limits.cost:
            raise too_costly(limits, script.name, function)
        operation = BY_FUNCTION.get(function)
        try:
            values = values_of(text, _ROOTS[operation.answer] if operation else ("",), limits)
        except (ReplyError, LimitError) as error:
            error.script, error.function, error.printed = script.name, function, loaded.printed
            raise
        return Outcome(values, loaded.printed, cost=cost)

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
    """One script, compiled: its functions, and the function that makes them for a call."""

    def __init__(self, script: Script, limits: Limits) -> None:
        self._script = script.name
        self._ledger = Ledger()
        self._builtins = builtins(self._ledger)
        names = Names.unlike(script.text)
        self._run, self._module = names["run"], names["module"]
        self._check(script, names["undefined"])
        self._counted = counting(script.text.replace("\r\n", "\n"), names, script.name)
        self._interpreter = self._new_interpreter(**{names["over"]: self._builtins[OVER]})
        self._interpreter.exec(names.helpers, filename=PRELUDE_NAME)
        _hide(self._interpreter, (names["over"], names["bind"]))
        self._places = self._execute(names, limits)
        self.functions = frozenset(self._places)
        # Only now: the script is resolved already, so it cannot see these names.
        self._interpreter.set(**_JSON_WORDS)
        self._records = OwnershipRecords(self._interpreter)

    def _new_interpreter(self, **more: Any) -> Starlark:
        interpreter = Starlark(globals={**self._builtins, **more})
        interpreter.exec(PRELUDE, filename=PRELUDE_NAME)
        _hide(interpreter, (*self._builtins, BINDER))
        return interpreter

    @property
    def helpers_cost(self) -> int:
        return self._ledger.cost

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
        """What the function returns and the steps it took, as Starlark prints the two."""
        arguments = ", ".join((self._module, str(limits.cost), str(self._places[function]), *literals))
        expression = f"{self._run}({arguments})"
        self._ledger.start(limits)
        try:
            text: str = self._interpreter.eval(expression, filename=_CALL, convert=False, **_timeout(limits))
        except (starlark_go.StarlarkError, TypeError) as error:
            fault = self._fault(error) or running_fault(error, self._script, limits.seconds)
            raise self._in_the_authors_text(fault) from None
        return text

    def _check(self, script: Script, undefined: str) -> None:
        """What the language says of the text as it stands. A name that is defined nowhere keeps it from being run."""
        try:
            self._new_interpreter().exec(f"{script.text}\n{undefined}\n", filename=script.name)
        except starlark_go.StarlarkError as error:
            if isinstance(error, starlark_go.ResolveError) and len(error.errors) == 1:
                return  # that name
        except ValueError:  # how Python refuses to pass text on that C cannot hold
            problem = "the text has a NUL character or a lone surrogate"
            raise ScriptSyntaxError(problem, script=script.name) from None
        try:
            self._new_interpreter().exec(script.text, filename=script.name)
        except starlark_go.StarlarkError as error:
            raise loading_fault(error, script.name, 0) from None

    def _execute(self, names: Names, limits: Limits) -> dict[str, int]:
        """The functions, each with its place among what the text defines."""
        self._ledger.start(limits)
        try:
            self._interpreter.exec(self._counted.text, filename=self._script, **_timeout(limits))
            expression = f"{names['kinds']}({self._module}, {limits.cost})"
            kinds = self._interpreter.eval(expression, filename=_CALL, convert=False, **_timeout(limits))
        except (starlark_go.StarlarkError, TypeError) as error:
            fault = self._fault(error) or loading_fault(error, self._script, limits.seconds)
            raise self._in_the_authors_text(fault) from None
        found = zip(self._counted.defined, msgspec.json.decode(kinds), strict=True)
        return {name: place for place, (name, kind) in enumerate(found) if kind == "function"}

    def _in_the_authors_text(self, fault: ScriptError) -> ScriptError:
        """With the author's own lines, and what was printed so far."""
        own = self._counted.author_line
        if fault.line is not None:
            fault.line = own(fault.line)
        fault.frames = tuple(
            Frame(TOP_LEVEL if frame.function == self._module else frame.function, own(frame.line))
            for frame in fault.frames
        )
        if fault.function == self._module:
            fault.function = None
        fault.printed = self.printed
        return fault

    def _fault(self, error: Exception) -> ScriptError | None:
        fault = self._ledger.failure
        return None if fault is None else placed(fault, error, self._script)


def _hide(interpreter: Starlark, names: Iterable[str]) -> None:
    for name in names:
        with suppress(starlark_go.ConversionToPythonFailed):  # it is gone, it just cannot be handed over
            interpreter.pop(name)


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
