"""The operation table: what Karmada may ask, which script function answers it, with what arguments and which reply.

Server, engines, command line, lint and registration read this table; none of them decides by an operation's name.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from msgspec import Struct
from msgspec.structs import force_setattr

from interpreters.core.errors import UnknownTargetError


class Argument(Enum):
    """What a script function is given, in the words of the request. Optional ones arrive as null when absent."""

    OBJECT = "object"
    REPLICAS = "replicas"
    OBSERVED = "observedObject"
    STATUS = "aggregatedStatus"


class Answer(Enum):
    """The shape of a reply, and so the response fields it fills."""

    REPLICAS = "replicas"
    COMPONENTS = "components"
    OBJECT = "patch"
    STATUS = "rawStatus"
    HEALTH = "healthy"
    DEPENDENCIES = "dependencies"


class Operation(Struct, frozen=True, eq=False):
    """One row of the table. There is one object for each, so they are compared by identity."""

    name: str
    functions: tuple[str, ...]  # the first is the name that Karmada calls
    arguments: tuple[Argument, ...]
    answer: Answer
    rule: str | None  # the field of a ResourceInterpreterCustomization's spec.customizations
    summary: str
    registrable: bool = True  # may stand in a ResourceInterpreterWebhookConfiguration
    changes_object: bool = False  # follows from the answer

    def __post_init__(self) -> None:
        force_setattr(self, "changes_object", self.answer is Answer.OBJECT)

    @property
    def function(self) -> str:
        return self.functions[0]

    def __str__(self) -> str:
        return self.name


_OBJECT = Argument.OBJECT

OPERATIONS: Final[tuple[Operation, ...]] = (
    Operation(
        "InterpretReplica", ("GetReplicas",), (_OBJECT,), Answer.REPLICAS, "replicaResource",
        "how many pods, and what one of them needs",
    ),
    Operation(
        "InterpretComponent", ("GetComponents", "GetComponentReplicas"), (_OBJECT,), Answer.COMPONENTS,
        "componentResource", "the groups of equal pods, each with replicas and requirements",
    ),
    Operation(
        "ReviseReplica", ("ReviseReplica",), (_OBJECT, Argument.REPLICAS), Answer.OBJECT, "replicaRevision",
        "the object, scaled",
    ),
    Operation(
        "Retain", ("Retain",), (_OBJECT, Argument.OBSERVED), Answer.OBJECT, "retention",
        "the desired object with what the member cluster may keep",
    ),
    Operation(
        "AggregateStatus", ("AggregateStatus",), (_OBJECT, Argument.STATUS), Answer.OBJECT, "statusAggregation",
        "the object with the status of all clusters in one",
    ),
    Operation(
        "Prune", ("Prune",), (_OBJECT,), Answer.OBJECT, None,
        "the object without what must not be propagated", registrable=False,
    ),
    Operation(
        "InterpretStatus", ("ReflectStatus",), (_OBJECT,), Answer.STATUS, "statusReflection",
        "the part of the status to bring back",
    ),
    Operation(
        "InterpretHealth", ("InterpretHealth",), (_OBJECT,), Answer.HEALTH, "healthInterpretation",
        "healthy or not",
    ),
    Operation(
        "InterpretDependency", ("GetDependencies",), (_OBJECT,), Answer.DEPENDENCIES, "dependencyInterpretation",
        "what else must be propagated along",
    ),
)  # fmt: skip

BY_NAME: Final = {operation.name: operation for operation in OPERATIONS}
BY_FUNCTION: Final = {function: operation for operation in OPERATIONS for function in operation.functions}
BY_RULE: Final = {operation.rule: operation for operation in OPERATIONS if operation.rule}
_BY_ANY_SPELLING: Final = {
    name.lower(): operation for names in (BY_NAME, BY_FUNCTION) for name, operation in names.items()
}


def meant_function(name: str) -> str | None:
    """The function that Karmada calls and that this one, which it does not call, was probably meant to be.

    >>> meant_function("getReplica"), meant_function("InterpretReplica"), meant_function("is_ready")
    ('GetReplicas', 'GetReplicas', None)
    """
    from difflib import get_close_matches

    if name in BY_FUNCTION:
        return None
    names = {known.lower(): known for known in (*BY_FUNCTION, *BY_NAME)}
    near = get_close_matches(name.lower(), names, n=1, cutoff=0.85)
    if not near:
        return None
    found = names[near[0]]
    return BY_NAME[found].function if found in BY_NAME else found


def find_operation(text: str) -> Operation:
    """An operation by its own name or its function's, in any case. Raises `UnknownTargetError` naming all of them."""
    operation = _BY_ANY_SPELLING.get(text.lower())
    if operation is None:
        raise UnknownTargetError(f'operation "{text}" is unknown; known are {", ".join(BY_NAME)}')
    return operation
