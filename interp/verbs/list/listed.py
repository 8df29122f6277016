"""What `interp list` shows: for each kind the scripts that answer, and those that are broken."""

from __future__ import annotations

from dataclasses import dataclass

from interpreters.catalog import Catalog, Offer
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.operations import OPERATIONS, Operation
from interpreters.scan import Broken


@dataclass(frozen=True, slots=True)
class Listed:
    """A catalog, and the kinds of it to show; `wide` with one line per operation."""

    catalog: Catalog
    kinds: list[GroupVersionKind]
    wide: bool = False

    def offers(self, kind: GroupVersionKind) -> list[tuple[Operation, Offer, tuple[Offer, ...]]]:
        """What answers for a kind by name (the default, which answers for every kind, is left out), and what it
        shadows."""
        catalog, found = self.catalog, []
        for operation, offer in catalog.operations(kind):
            if offer.kind is not None and not catalog.in_the_way(kind, operation):
                shadowed = [o for o in catalog.shadowing(kind, operation) if o not in catalog.find(kind, operation)]
                found.append((operation, offer, tuple(o for o in shadowed if o.kind is not None)))
        return found

    def failing(self, kind: GroupVersionKind) -> dict[Broken, list[Operation]]:
        """The broken scripts of the user's own that come first, each with the operations that fail because of it."""
        failing: dict[Broken, list[Operation]] = {}
        for operation in OPERATIONS:
            if broken := self.catalog.in_the_way(kind, operation):
                failing.setdefault(broken, []).append(operation)
        return failing
