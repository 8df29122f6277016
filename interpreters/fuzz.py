"""Objects with parts missing: each optional field of a case taken away, and each two neighbours.

A script must then answer with a sensible default or say in its own words what is missing; an error of the language
itself (`attempt to index a nil value`) or an invalid reply is a failure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

from interpreters.cases import Case, Result, Verdict, case_request
from interpreters.catalog import Catalog
from interpreters.core.errors import InterpError, LimitError, ReplyError, ScriptError
from interpreters.interpretation import Runner, interpret

Path = tuple[str | int, ...]

_NEEDED: Final = (("apiVersion",), ("kind",))  # they decide which script is asked
_THE_LANGUAGES_OWN: Final = re.compile(
    r"attempt to |bad argument #|stack overflow|invalid (?:key|order|value|option)|'for' (?:initial|limit|step)"
    r"|has no \.?\w+ (?:field|attribute)|unhandled index|unknown binary op|got \w+, want|key .* not in dict"
    r"|out of range|expected `|is not a quantity"
)


def fuzz_cases(runner: Runner, catalog: Catalog, cases: tuple[Case, ...]) -> Iterator[Result]:
    """One result per damaged case: passed, or failed with the script's error. Equal questions are asked once."""
    asked: set[tuple[str, bytes]] = set()
    for case in cases:
        if case.want_error is not None:
            continue
        for missing, obj in damaged(case.object):
            damaged_case = replace(case, name=f"{case.name}, without {missing}", object=obj, want=None)
            request = case_request(damaged_case)
            question = (case.operation.name, b"".join(request.arguments()))
            if question in asked:
                continue
            asked.add(question)
            yield _judge(runner, catalog, damaged_case, request)


def _judge(runner: Runner, catalog: Catalog, case: Case, request: Any) -> Result:
    try:
        interpret(runner, catalog, request)
    except (ReplyError, LimitError) as error:
        return Result(case, Verdict.FAILED, error=error)
    except ScriptError as error:
        is_own = not _THE_LANGUAGES_OWN.search(error.message)
        return Result(case, Verdict.PASSED if is_own else Verdict.FAILED, error=None if is_own else error)
    except InterpError as error:
        return Result(case, Verdict.FAILED, error=error)
    return Result(case, Verdict.PASSED)


def damaged(obj: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The object without each part, and without each two neighbouring parts, with the names of what is missing."""
    every = [path for path in _paths(obj) if path not in _NEEDED]
    for path in every:
        yield _shown(path), _without(obj, path)
    for first, second in pairwise(every):
        if second[: len(first)] != first:  # else the first takes the second along
            yield f"{_shown(first)} and {_shown(second)}", _without(_without(obj, second), first)


def _paths(value: Any, above: Path = ()) -> Iterator[Path]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*above, key)
        yield from _paths(item, (*above, key))


def _without(value: Any, path: Path) -> Any:
    key, *rest = path
    changed: Any = dict(value) if isinstance(value, dict) else list(value)
    if rest:
        changed[key] = _without(changed[key], tuple(rest))
    else:
        del changed[key]
    return changed


def _shown(path: Path) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")
