"""What every Starlark script finds beside the language itself: the kube functions, under the names they have in Lua.

They are written in Starlark on top of functions that take text only, because the binding's conversion of arguments
loses memory for every list. An error inside one is kept on this side of the border and raised when the
evaluation comes back: what the binding makes of a Python exception is its text passed through a format string.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

import msgspec

from interpreters.core.engine import Limits
from interpreters.core.errors import InterpError, LimitError, ReplyError, ScriptError
from interpreters.core.pod_dependencies import pod_dependencies
from interpreters.core.pods import pod_requirements
from interpreters.core.quantity import ZERO, Quantity
from interpreters.starlark.faults import too_costly
from interpreters.starlark.reply_text import to_json

PRELUDE_NAME: Final = "<builtin>"
PRELUDE: Final = """
def __bind(show, requirements, dependencies, add, number):
    def print(*values, sep = " "):
        show(repr(sep.join([value if type(value) == "string" else str(value) for value in values])))

    def accuratePodRequirements(template):
        return requirements(repr(template))

    def getPodDependencies(template, namespace):
        return dependencies(repr((template, namespace)))

    def resourceAdd(*quantities):
        return add(repr(quantities))

    def getResourceQuantity(quantity):
        return number(repr(quantity))

    return print, accuratePodRequirements, getPodDependencies, resourceAdd, getResourceQuantity

print, accuratePodRequirements, getPodDependencies, resourceAdd, getResourceQuantity = __bind(
    __show, __requirements, __dependencies, __add, __number,
)
"""
_HALF_CHARACTER: Final = re.compile(r"(?<!\\)((?:\\\\)*)\\x[89a-f].")  # bytes that are not UTF-8 are shown, not refused
NAMES: Final = ("print", "accuratePodRequirements", "getPodDependencies", "resourceAdd", "getResourceQuantity")
BINDER: Final = "__bind"
OVER: Final = "__over"
_WEIGHTS: Final = {"print": 10, "accuratePodRequirements": 1000, "getPodDependencies": 1000}
_OTHER_WEIGHT: Final = 100
_BYTES: Final = 8  # of an argument, for one unit of cost
_decode: Final = msgspec.json.Decoder().decode


class Ledger:
    """What one evaluation printed, what its builtins cost, and the error one of them met."""

    __slots__ = ("cost", "failure", "limit", "limits", "lines", "size")

    def __init__(self) -> None:
        self.start(Limits())

    def start(self, limits: Limits) -> None:
        """Forget what was."""
        self.limits = limits
        self.limit = limits.printed
        self.cost = 0
        self.lines: list[str] = []
        self.size = 0
        self.failure: ScriptError | None = None

    @property
    def printed(self) -> str:
        return "".join(self.lines)


def builtins(ledger: Ledger) -> dict[str, Callable[[str], Any]]:
    """The text-only functions under the prelude. The caller must keep them: the binding does not."""

    def guarded(name: str, answer: Callable[[Any], Any]) -> Callable[[str], Any]:
        def call(text: str) -> Any:
            try:
                ledger.cost += _WEIGHTS.get(name, _OTHER_WEIGHT) + len(text) // _BYTES
                if ledger.cost > ledger.limits.cost:
                    refuse(None)
                return answer(_value(text))
            except LimitError as error:
                ledger.failure = error
            except ReplyError as error:
                where = f"argument {error.path}" if error.path else "argument"
                ledger.failure = ScriptError(f"{name}: {where}: {error.problem}")
            except InterpError as error:
                ledger.failure = ScriptError(f"{name}: {error}")
            except RecursionError:
                ledger.failure = LimitError("depth", f"{name}: the argument is nested too deeply")
            raise RuntimeError(name)

        return call

    def refuse(_: object) -> None:
        raise too_costly(ledger.limits)

    def written(line: str) -> None:
        if ledger.size > ledger.limit:
            return
        room = ledger.limit - ledger.size
        ledger.size += len(line.encode()) + 1
        if ledger.size > ledger.limit:
            line = f"{line[:room]}\n... (print stops here: the limit is {ledger.limit} bytes)"
        ledger.lines.append(f"{line}\n")

    return {
        "__show": guarded("print", written),
        "__requirements": guarded("accuratePodRequirements", _requirements),
        "__dependencies": guarded("getPodDependencies", _dependencies),
        "__add": guarded("resourceAdd", _sum),
        "__number": guarded("getResourceQuantity", _number),
        OVER: guarded("cost", refuse),
    }


def _value(text: str) -> Any:
    try:
        return _decode(text)
    except msgspec.DecodeError:  # printed Starlark that is not JSON as it stands
        return _decode(to_json(_HALF_CHARACTER.sub("\\1\ufffd", text)))


def _requirements(template: Any) -> Any:
    found = pod_requirements(template)
    return None if found is None else msgspec.to_builtins(found)


def _dependencies(arguments: list[Any]) -> Any:
    template, namespace = arguments
    return msgspec.to_builtins(pod_dependencies(template, namespace or ""))


def _sum(quantities: list[Any]) -> str:
    if not quantities:
        raise ScriptError("expected at least one quantity")
    return str(sum((_quantity(quantity) for quantity in quantities), ZERO))


def _number(quantity: Any) -> int | float:
    nano = _quantity(quantity).nano
    return nano // 10**9 if nano % 10**9 == 0 else nano / 10**9


def _quantity(value: Any) -> Quantity:
    if value is None:
        return ZERO
    if isinstance(value, bool | list | dict):
        raise ScriptError(f"expected a quantity, got a {type(value).__name__}")
    return Quantity.parse(str(value))
