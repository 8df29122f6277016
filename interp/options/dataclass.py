"""The options of a verb as one frozen dataclass, which its runner reads."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

Options = TypeVar("Options")
Result = TypeVar("Result")


def read_into(options: type[Options]) -> Callable[[Callable[[Options], Result]], Callable[..., Result]]:
    """Call the command with this dataclass, made of what click passes by name; the innermost of its decorators."""

    def decorate(command: Callable[[Options], Result]) -> Callable[..., Result]:
        @wraps(command)
        def called(**given: Any) -> Result:
            return command(options(**given))

        return called

    return decorate
