"""Every error interp raises on purpose, and whose fault it is.

InterpError
├── ScriptError              the script's author must act; the request was fine
│   ├── ScriptSyntaxError    the text does not compile or fails while loading
│   ├── ReplyError           it ran, but what it returned is not a valid reply
│   ├── LimitError           it used more cost, time, memory, output or depth than it may
│   └── QuarantinedError     it kept losing its workers and is not tried again for a while
├── RequestError             the caller must act: malformed envelope or object
│   └── UnknownTargetError   no script answers for this kind or operation
├── InputError               a file, a setting or a command-line value is wrong
│   ├── DocumentError        a YAML or JSON document cannot be read
│   └── QuantityError        a text is not a resource quantity
├── BusyError                more requests than may wait; try again
└── InternalError            ours: a worker died from outside, a bug
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple


class InterpError(Exception):
    """Root of the tree. `code` is the HTTP-like status a reply carries; `str()` is one stable line for people."""

    code: ClassVar[int] = 500
    fault: ClassVar[str] = "ours"


class Frame(NamedTuple):
    """One line of an author's own traceback."""

    function: str
    line: int


class ScriptError(InterpError):
    """Something the script did. `script:line: in Function: message`.

    `place` is where an author finds the line if not at `script:line`: a bundled script is made of several files.
    """

    code = 422
    fault = "script"
    kind: ClassVar[str] = "error"

    def __init__(
        self,
        message: str,
        *,
        script: str = "",
        line: int | None = None,
        function: str | None = None,
        frames: tuple[Frame, ...] = (),
        printed: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.script = script
        self.line = line
        self.function = function
        self.frames = frames
        self.printed = printed
        self.place = ""

    def __str__(self) -> str:
        where = self.place or ":".join(str(part) for part in (self.script, self.line) if part)
        in_function = f"in {self.function}" if self.function else ""
        return ": ".join(part for part in (where, in_function, self.message) if part)


class ScriptSyntaxError(ScriptError):
    kind = "syntax"


class ReplyError(ScriptError):
    """The reply is not what the operation promises. `path` is the field, such as `components[1].replicas`."""

    kind = "reply"

    def __init__(self, path: str, problem: str, **where: object) -> None:
        super().__init__(f"{path}: {problem}" if path else problem, **where)  # type: ignore[arg-type]
        self.path = path
        self.problem = problem


LIMITS = frozenset({"cost", "time", "memory", "output", "input", "depth", "print", "stack"})


class LimitError(ScriptError):
    """`limit` is one of LIMITS."""

    kind = "limit"

    def __init__(self, limit: str, message: str, **where: object) -> None:
        super().__init__(message, **where)  # type: ignore[arg-type]
        self.limit = limit


class QuarantinedError(ScriptError):
    code = 503
    kind = "quarantined"


class RequestError(InterpError):
    """What was asked cannot be answered: a wrong field, or an object that is none."""

    code = 400
    fault = "request"


class UnknownTargetError(RequestError):
    """Nobody answers for this kind or operation."""

    code = 404


class InputError(InterpError):
    """What was read is wrong: a file, a setting, an argument."""

    code = 400
    fault = "request"


class DocumentError(InputError):
    """`where` is `file:line:column` as far as it is known."""

    def __init__(self, where: str, problem: str) -> None:
        super().__init__(f"{where}: {problem}" if where else problem)
        self.where = where
        self.problem = problem


class QuantityError(InputError):
    def __init__(self, text: str, problem: str) -> None:
        shown = text if len(text) <= 40 else text[:37] + "..."
        super().__init__(f'"{shown}" is not a quantity: {problem}')
        self.text = text
        self.problem = problem


class BusyError(InterpError):
    code = 429


class InternalError(InterpError):
    code = 500
