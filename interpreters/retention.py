"""Is Retain idempotent? From Karmada 1.19 on it is called for every change, so a second call must change nothing.

Two second calls count: with the first result as the object, and with the member's object as it is once the first
result was applied to it. A script that fails either makes Karmada write to the member again and again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import msgspec

from interpreters.catalog import Catalog
from interpreters.comparison import Difference, compare
from interpreters.core.errors import InterpError
from interpreters.core.operations import Argument, Operation
from interpreters.interpretation import Interpretation, Runner, interpret, request_for


def retains(operation: Operation) -> bool:
    """Whether an operation compares with the object in the member, as Retain alone does."""
    return Argument.OBSERVED in operation.arguments


def second_retain(
    runner: Runner, catalog: Catalog, first: Interpretation, obj: dict[str, Any], observed: dict[str, Any]
) -> Iterator[Difference]:
    """Where the second call says something else than the first one, which was asked about these two objects."""
    retained = first.reply.changed_object
    if retained is None:
        return
    for about, again, member in (
        ("retained again", retained, observed),
        ("retained after it was applied", obj, _applied(observed, retained)),
    ):
        request = request_for(again, first.offers[0].operation, observed_object=msgspec.json.encode(member))
        try:
            second = interpret(runner, catalog, request).reply.changed_object
        except InterpError as error:
            yield Difference(about, "the same object", str(error))
            continue
        for difference in compare(retained, second or {}):
            yield replace(difference, path=f"{about}: {difference.path}".rstrip(": "))


def _applied(observed: dict[str, Any], retained: dict[str, Any]) -> dict[str, Any]:
    """The member's object after Karmada wrote to it: what the API server adds and the status stay."""
    kept = {key: observed[key] for key in ("status",) if key in observed}
    metadata = {**(observed.get("metadata") or {}), **(retained.get("metadata") or {})}
    return {**observed, **retained, **kept, "metadata": metadata}
