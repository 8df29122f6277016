"""From what the binding raises to the project's errors, with the author's own lines and Starlark's own words."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Final

import starlark_go

from interpreters.core.engine import Limits
from interpreters.core.errors import Frame, LimitError, ScriptError, ScriptSyntaxError

_FRAME: Final = re.compile(r"^  (?P<file>.*):(?P<line>\d+):\d+: in (?P<function>.+)$", re.MULTILINE)
TOP_LEVEL: Final = "<toplevel>"
_TIMEOUT: Final = getattr(starlark_go, "EvalTimeoutError", ())


def loading_fault(error: Exception, script: str, seconds: float) -> ScriptError:
    """Why a script could not be loaded: it does not parse, names something unknown, or its module code failed."""
    if isinstance(error, starlark_go.SyntaxError):
        return ScriptSyntaxError(error.msg, script=script, line=error.line)
    if isinstance(error, starlark_go.ResolveError):
        first, *others = error.errors
        more = f" (and {len(others)} more)" if others else ""
        return ScriptSyntaxError(first.msg + more, script=script, line=first.line)
    fault = running_fault(error, script, seconds)
    if isinstance(fault, LimitError):
        return fault
    return ScriptSyntaxError(fault.message, script=script, line=fault.line, frames=fault.frames)


def running_fault(error: Exception, script: str, seconds: float) -> ScriptError:
    """Why a call that had so many seconds failed. `fail("…")` is the author speaking, so nothing is put before it."""
    if isinstance(error, starlark_go.EvalError):
        where = _where(error.backtrace, script)
        if isinstance(error, _TIMEOUT):
            return LimitError("time", f"did not finish within {seconds:g} s", script=script, **where)
        message = str(error.args[0])
        if error.function_name == "fail":
            message = message.removeprefix("fail: ")
        return ScriptError(message, script=script, **where)  # type: ignore[arg-type]
    if isinstance(error, TypeError):  # how the binding fails to raise an error whose text is not UTF-8
        return ScriptError("failed with a message that is not valid UTF-8", script=script)
    return ScriptError(str(error), script=script)


def too_costly(limits: Limits, script: str = "", function: str | None = None) -> LimitError:
    message = f"stopped: it costs more than {limits.cost} units (statements, helper calls and bytes copied)"
    return LimitError("cost", message, script=script, function=function)


def missing_fault(function: str, defined: frozenset[str], script: str) -> ScriptError:
    """The script has no such function; perhaps one with nearly the same name."""
    if not defined:
        problem = f"the script does not define {function}; it defines no global function at all"
        return ScriptError(problem, script=script)
    similar = get_close_matches(function, sorted(defined), n=1)
    hint = f"; did you mean {similar[0]}?" if similar else ""
    problem = f"the script does not define {function}; it defines {', '.join(sorted(defined))}{hint}"
    return ScriptError(problem, script=script)


def placed(fault: ScriptError, error: Exception, script: str) -> ScriptError:
    """A builtin's own error, at the place in the script that called it."""
    fault.script = script
    if isinstance(error, starlark_go.EvalError):
        for name, value in _where(error.backtrace, script).items():
            setattr(fault, name, value)
    return fault


def _where(backtrace: str, script: str) -> dict[str, object]:
    frames = tuple(
        Frame(frame["function"], int(frame["line"]))
        for frame in reversed(list(_FRAME.finditer(backtrace)))
        if frame["file"] == script
    )
    if not frames:
        return {}
    function = frames[0].function
    return {"line": frames[0].line, "function": None if function == TOP_LEVEL else function, "frames": frames}
