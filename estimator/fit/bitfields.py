"""Several amounts in one integer, so that comparing and taking them all is one operation.

Each resource has a field of bits wide enough for every amount that occurs, and above it a guard bit that is set in what
is free. Subtracting a need clears a guard exactly where the need is larger than what is free: one subtraction and one
mask answer «does it fit?», and give what is left as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fields:
    """Where each resource's field begins, and how wide it is."""

    places: tuple[tuple[int, int], ...]
    guards: int

    @staticmethod
    def wide_enough(amounts: Sequence[Iterable[int]], resources: int) -> Fields:
        """Fields for the resources; `amounts` holds columns, one per resource and then again one per resource."""
        widths = [
            max((max(column, default=0) for column in amounts[resource::resources]), default=0).bit_length()
            for resource in range(resources)
        ]
        places, guards, shift = [], 0, 0
        for width in widths:
            places.append((shift, width))
            guards |= 1 << shift + width
            shift += width + 1
        return Fields(tuple(places), guards)

    def amount(self, amounts: Iterable[int]) -> int:
        """One amount per resource, packed, guards clear."""
        return sum(amount << shift for amount, (shift, _) in zip(amounts, self.places, strict=True))

    def rows(self, columns: Sequence[Sequence[int]]) -> list[int]:
        """What is free on each node, packed, guards set."""
        packed = [self.guards] * len(columns[0])
        for column, (shift, _) in zip(columns, self.places, strict=True):
            packed = [row + (amount << shift) for row, amount in zip(packed, column, strict=True)]
        return packed

    def columns(self, rows: Sequence[int]) -> list[list[int]]:
        """Back from packed rows to a column per resource."""
        return [[row >> shift & (1 << width) - 1 for row in rows] for shift, width in self.places]

    def parts(self, amounts: Sequence[int]) -> list[tuple[int, int, int]]:
        """Shift, mask and amount of each resource that is needed at all: what dividing takes."""
        return [
            (shift, (1 << width) - 1, amount)
            for amount, (shift, width) in zip(amounts, self.places, strict=True)
            if amount
        ]
