"""What may be registered with Karmada and what must not be: never worse than Karmada alone.

Karmada has no fall-back, so what is registered must be answered. With MultiplePodTemplatesScheduling on, a kind that
offers InterpretComponent is no longer divided; with it off, ReviseReplica writes shares into the object. Which of the
three a kind may have follows from how its script declares that it may be divided, and is proven on objects before it is
believed. docs/contract.md has the table of what Karmada does with each combination.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from interpreters.catalog import Offer
from interpreters.core.division import MEANINGS, Division
from interpreters.core.errors import InputError
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.operations import BY_NAME, OPERATIONS, Answer, Argument, Operation
from interpreters.headers import declaration, division_of
from interpreters.scan import Origin

COMPONENTS: Final = next(operation for operation in OPERATIONS if operation.answer is Answer.COMPONENTS)
REPLICAS: Final = next(operation for operation in OPERATIONS if operation.answer is Answer.REPLICAS)
REVISION: Final = next(operation for operation in OPERATIONS if Argument.REPLICAS in operation.arguments)
COUNTING: Final = (REPLICAS, COMPONENTS, REVISION)
CORRECTS: Final = "corrects"  # header key: an operation that Karmada answers itself, and what is wrong with its answer
ON_REQUEST: Final = "on-request"  # header key: operations that few objects need


class Proof(Protocol):
    """Why a promise does not hold on the objects at hand, None if it was seen to hold."""

    def divides(self, kind: GroupVersionKind, replicas: Offer, revision: Offer) -> str | None: ...

    def changes_nothing(self, kind: GroupVersionKind, revision: Offer) -> str | None: ...


Kinds = Callable[[GroupVersionKind], bool]


def _none(kind: GroupVersionKind) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Wishes:
    """What was asked for beyond the default."""

    divide: Kinds = _none
    count: Kinds = _none
    everything: bool = False  # also what Karmada answers well itself


NO_WISHES: Final = Wishes()


@dataclass(frozen=True, slots=True)
class Asked:
    """One kind: what its scripts offer, and what Karmada answers by itself."""

    kind: GroupVersionKind
    offered: Mapping[Operation, Offer]
    by_karmada: Collection[Operation]

    @property
    def revised_by_karmada(self) -> bool:
        return REVISION in self.by_karmada


def declared_division(offered: Mapping[Operation, Offer]) -> Division | None:
    """What the scripts that count a kind declare; None if one of them declares nothing. Raises `InputError` if they
    declare something else than each other, or something unknown."""
    found: dict[Division | None, Offer] = {}
    for operation in COUNTING:
        if operation in offered:
            offer = offered[operation]
            try:
                found.setdefault(division_of(offer.candidate.header), offer)
            except InputError as error:
                raise InputError(f"{offer.script.name}: {error}") from None
    if None in found or not found:
        return None
    if len(found) > 1:
        said = " and ".join(f"{offer.script.name} declares {division}" for division, offer in found.items())
        raise InputError(f"{said}; one kind has one Division")
    return next(iter(found))


def reasons_against(asked: Asked, wishes: Wishes, proof: Proof) -> Iterator[tuple[Operation, str]]:
    """The offered operations that must not be registered, each with the reason."""
    for operation in asked.offered:
        if not operation.registrable:
            yield operation, "Karmada does not let it be registered"
    offered = [operation for operation in COUNTING if operation in asked.offered]
    if not offered:
        return
    try:
        division = declared_division(asked.offered)
    except InputError as error:
        yield from ((operation, str(error)) for operation in offered)
        return
    if wishes.divide(asked.kind):
        yield from _dividing(asked, proof)
    elif division is None:
        yield from _undeclared(asked, offered)
    elif wishes.count(asked.kind) or division is Division.WHOLE:
        yield from _whole(asked, proof, counted=wishes.count(asked.kind), declared=division)
    elif division is Division.DIVIDES:
        yield from _dividing(asked, proof)
    else:
        reason = f"{MEANINGS[division]}; the script serves estimates and audits, and --divide {asked.kind.kind} insists"
        yield from ((operation, reason) for operation in offered)


def _undeclared(asked: Asked, offered: Collection[Operation]) -> Iterator[tuple[Operation, str]]:
    for operation in offered:
        offer = asked.offered[operation]
        script, annotated = offer.script, offer.candidate.operations is not None
        how = declaration(offer.candidate.header, script.text, script.language, annotated=annotated)
        why = "does not declare whether the kind may be divided, and a wrong guess loses or doubles pods"
        yield operation, f"{offer.script.name} {why}; {how}"


def _dividing(asked: Asked, proof: Proof) -> Iterator[tuple[Operation, str]]:
    """InterpretReplica and ReviseReplica, proven together; never InterpretComponent."""
    if COMPONENTS in asked.offered:
        yield COMPONENTS, "the kind divides; with components, Karmada would send all of its pods to every cluster"
    absent = [operation for operation in (REPLICAS, REVISION) if operation not in asked.offered]
    if absent:
        reason = f"a share needs both {REPLICAS} and {REVISION}, and {missing(absent[0])}"
    else:
        reason = proof.divides(asked.kind, asked.offered[REPLICAS], asked.offered[REVISION]) or ""
    if reason:
        yield from ((operation, reason) for operation in (REPLICAS, REVISION) if operation in asked.offered)


def _whole(asked: Asked, proof: Proof, *, counted: bool, declared: Division) -> Iterator[tuple[Operation, str]]:
    """InterpretComponent; a revision only where one would be asked anyway, and then one that changes nothing."""
    if counted and declared is not Division.WHOLE:
        reason = f"--count is for kinds that go whole, and this one declares that {MEANINGS[declared]}"
        yield from ((operation, reason) for operation in COUNTING if operation in asked.offered)
        return
    revises = counted or asked.revised_by_karmada
    trouble = _revision_trouble(asked, proof) if revises else None
    if REVISION in asked.offered:
        if trouble:
            yield REVISION, trouble
        elif not revises:
            yield REVISION, "the kind goes whole and nothing revises it; a revision could only do harm"
    if REPLICAS in asked.offered:
        if counted and trouble:
            yield REPLICAS, trouble
        elif not counted and (REPLICAS not in asked.by_karmada or asked.revised_by_karmada):
            yield REPLICAS, "the kind goes whole; with replicas, a Divided policy would share it out"
    if COMPONENTS in asked.offered and asked.revised_by_karmada and trouble:
        yield COMPONENTS, f"Karmada's own {REVISION} would be asked, with replicas 0: {trouble}"


def _revision_trouble(asked: Asked, proof: Proof) -> str | None:
    if REVISION not in asked.offered:
        return f"{missing(REVISION)}; one that returns the object as it is would do"
    unproven = proof.changes_nothing(asked.kind, asked.offered[REVISION])
    if unproven is None:
        return None
    name = asked.offered[REVISION].script.name
    return f"{name} must leave a whole object alone, whatever {REVISION} asks: {unproven}"


def missing(operation: Operation) -> str:
    return f"no script answers {operation}, or --operations leaves it out"


def better_left_to_karmada(asked: Asked, wishes: Wishes) -> frozenset[Operation]:
    """Of the bundled scripts' offers, those that Karmada answers itself and not wrongly, or that few objects need:
    every operation more is a call that fails while the webhook is down."""
    if wishes.everything:
        return frozenset()
    wished = wishes.divide(asked.kind) or wishes.count(asked.kind)
    left = {
        operation
        for operation, offer in asked.offered.items()
        if offer.source.origin is Origin.BUNDLED
        and not (wished and operation in COUNTING)
        and (_answered_well(asked, offer) or operation.name in offer.candidate.header.listed(ON_REQUEST))
    }
    # A share is counted and written by the same party, or not at all.
    return frozenset(left if {REPLICAS, REVISION} <= left else left - {REVISION})


def _answered_well(asked: Asked, offer: Offer) -> bool:
    return offer.operation in asked.by_karmada and offer.operation not in corrections(offer)


def corrections(offer: Offer) -> dict[Operation, str]:
    """The operations that Karmada answers wrongly by itself, as a bundled script claims, and what is wrong."""
    pairs = (value.partition(":") for value in offer.candidate.header.all(CORRECTS))
    return {BY_NAME[name.strip()]: reason.strip() for name, _, reason in pairs if name.strip() in BY_NAME}
