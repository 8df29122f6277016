"""Which script answers for a kind and an operation: precedence per operation, and what shadows what."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from msgspec import Struct

from interpreters.core.engine import Script
from interpreters.core.errors import ScriptError, UnknownTargetError
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.operations import OPERATIONS, Answer, Operation
from interpreters.scan import Broken, Candidate, Found, Origin, Source, operations_of

Functions = Mapping[tuple[str, str, str], frozenset[str] | ScriptError]
"""What the sandbox found in each script, by its content: its global functions, or why it does not load."""


_MOST_COMPARED = 200  # kinds that a name which nobody knows is compared with; that takes some milliseconds
_MOST_REMEMBERED = 10_000  # a script for every kind is asked about any name that a caller makes up


class Offer(Struct, frozen=True):
    """One script's answer for one operation on one kind (on every kind if `kind` is None)."""

    kind: GroupVersionKind | None
    operation: Operation
    function: str
    candidate: Candidate

    @property
    def script(self) -> Script:
        return self.candidate.script

    @property
    def source(self) -> Source:
        return self.candidate.source

    @property
    def rank(self) -> tuple[int, int]:
        return (self.source.origin, self.source.order)


class Catalog(Struct, frozen=True, eq=False):
    """All offers, best first, and all that is broken. Immutable: a reload builds another."""

    offers: Mapping[tuple[GroupVersionKind | None, Operation], tuple[Offer, ...]]
    broken: tuple[Broken, ...] = ()
    strict: bool = False  # what a broken script of the user's own would answer is an error, not left to the next source
    _answers: dict[tuple[GroupVersionKind, Operation], tuple[Offer, ...]] = {}

    @classmethod
    def build(cls, found: Iterable[Found], functions: Functions, *, strict: bool = False) -> Catalog:
        """From what `scan` found and the functions that the sandbox saw in each script."""
        offers: dict[tuple[GroupVersionKind | None, Operation], list[Offer]] = defaultdict(list)
        broken: list[Broken] = []
        for entry in found:
            if isinstance(entry, Broken):
                broken.append(entry)
                continue
            seen = functions[entry.script.content]
            if isinstance(seen, ScriptError):
                broken += [
                    Broken(entry.script.name, seen, entry.source, kind, operation, entry.script)
                    for kind in entry.kinds
                    for operation in entry.operations or (None,)
                ]
                continue
            offered = operations_of(seen)
            for operation in entry.operations or offered:
                if operation in offered:
                    for kind in entry.kinds:
                        offers[kind, operation].append(Offer(kind, operation, offered[operation], entry))
                else:
                    broken.append(_misnamed(entry, operation, seen))
        broken += _remove_conflicts(offers)
        ranked = {key: tuple(sorted(group, key=lambda offer: offer.rank)) for key, group in offers.items() if group}
        return cls(ranked, tuple(broken), strict)

    def find(self, kind: GroupVersionKind, operation: Operation) -> tuple[Offer, ...]:
        """The offers that answer: one, or several dependency customizations whose results are united."""
        answers = self._answers.get((kind, operation))
        if answers is None:
            if self.strict and (broken := self.in_the_way(kind, operation)):
                raise broken.as_script_error
            if operation not in {offered for offered, _ in self.operations(kind)}:
                raise self._unknown(kind, operation)
            candidates = self.shadowing(kind, operation)
            together = operation.answer is Answer.DEPENDENCIES and candidates[0].source.origin is Origin.CUSTOMIZATION
            best = candidates[0].rank
            answers = tuple(offer for offer in candidates if offer.rank == best) if together else candidates[:1]
            if len(self._answers) < _MOST_REMEMBERED:
                self._answers[kind, operation] = answers
        return answers

    def shadowing(self, kind: GroupVersionKind, operation: Operation) -> tuple[Offer, ...]:
        """Every offer for this kind and operation, the one that answers first, then those it shadows."""
        both = self.offers.get((kind, operation), ()) + self.offers.get((None, operation), ())
        return tuple(sorted(both, key=lambda offer: offer.rank))

    def in_the_way(self, kind: GroupVersionKind, operation: Operation | None = None) -> Broken | None:
        """A broken script of the user's own that comes before every offer; of any operation, one broken as a whole."""
        offers = self.shadowing(kind, operation) if operation else ()
        best = offers[0].rank if offers else (Origin.BUNDLED, 0)
        for entry in self.own_broken:
            concerned = entry.kind == kind and entry.operation in (None, operation)
            if concerned and entry.rank <= best:
                return entry
        return None

    def concerns(self, kind: GroupVersionKind, operation: Operation) -> bool:
        """Whether a script answers, or would if it were not broken."""
        return bool(self.shadowing(kind, operation)) or self.in_the_way(kind, operation) is not None

    def operations(self, kind: GroupVersionKind) -> list[tuple[Operation, Offer]]:
        """What can be asked about this kind, in the order of the operation table, with the offer that answers."""
        return [(op, offers[0]) for op in OPERATIONS if (offers := self.shadowing(kind, op))]

    @property
    def kinds(self) -> list[GroupVersionKind]:
        """The kinds named by some script, sorted."""
        return sorted({kind for kind, _ in self.offers if kind is not None})

    @property
    def own_broken(self) -> tuple[Broken, ...]:
        """What is broken among the user's own."""
        return tuple(entry for entry in self.broken if entry.source.origin < Origin.BUNDLED)

    def _unknown(self, kind: GroupVersionKind, operation: Operation) -> UnknownTargetError:
        for entry in self.broken:
            if entry.kind == kind:
                return UnknownTargetError(f"the script for {kind} is broken: {entry.error}")
        offered = [str(op) for op, _ in self.operations(kind)]
        if offered:
            return UnknownTargetError(f"no script answers {operation} for {kind}; offered are {', '.join(offered)}")
        from difflib import get_close_matches

        names = list(map(str, self.kinds))
        near = get_close_matches(str(kind), names, n=3) if len(names) <= _MOST_COMPARED else []
        more = f" and {len(names) - _MOST_COMPARED} more" if len(names) > _MOST_COMPARED else ""
        known = ", ".join(names[:_MOST_COMPARED]) + more
        hint = f"did you mean {' or '.join(near)}?" if near else f"known are {known or 'no kinds at all'}"
        return UnknownTargetError(f"no script knows the kind {kind}; {hint}")


def _misnamed(entry: Candidate, operation: Operation, seen: frozenset[str]) -> Broken:
    error = ScriptError(
        f"expected a function {operation.function} for {operation}, found {', '.join(sorted(seen)) or 'no function'}",
        script=entry.script.name,
    )
    return Broken(entry.script.name, error, entry.source, entry.kind, operation)


def _remove_conflicts(offers: dict[tuple[GroupVersionKind | None, Operation], list[Offer]]) -> list[Broken]:
    """Two scripts of one source for the same operation: neither may answer, since nobody could tell which would.

    Customizations are different: Karmada merges them in order of their names, and so do we.
    """
    broken = []
    for (kind, operation), group in offers.items():
        by_source: dict[Source, list[Offer]] = defaultdict(list)
        for offer in group:
            if offer.candidate.operations is None:
                by_source[offer.source].append(offer)
        for source, rivals in by_source.items():
            if len(rivals) < 2:
                continue
            names = " and ".join(offer.script.name for offer in rivals)
            error = ScriptError(f"{names} both answer {operation} for {kind}; keep one of them")
            broken += [Broken(offer.script.name, error, source, kind, operation) for offer in rivals]
            for offer in rivals:
                group.remove(offer)
    return broken
