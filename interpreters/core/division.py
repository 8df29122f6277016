"""How a workload of a kind may be divided over clusters, as the kind's script declares it.

The number of components does not decide this: a JAXJob has one and cannot be divided, a UnitedDeployment has several
and can. What decides is what the kind's operator can do with a part of the object, so the script's author says it.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from interpreters.core.errors import InputError

DIVISION_KEY: Final = "division"
"""The key of the declaration in a script's header, and of a customization's annotation."""


class Division(Enum):
    """What a script may declare."""

    DIVIDES = "divides"  # a share of the replicas is a smaller workload that runs by itself
    WHOLE = "whole"  # the object works as a whole or not at all
    KARMADA = "karmada"  # Karmada's own scripts divide it; ours serve estimates and audits

    def __str__(self) -> str:
        return self.value


MEANINGS: Final = {
    Division.DIVIDES: "its replicas may be shared out over clusters",
    Division.WHOLE: "it goes whole to a cluster or not at all",
    Division.KARMADA: "Karmada's own scripts count and divide it",
}


def parse_division(text: str) -> Division:
    """Raises `InputError` naming the values.

    >>> parse_division("Whole")
    <Division.WHOLE: 'whole'>
    """
    try:
        return Division(text.strip().lower())
    except ValueError:
        known = ", ".join(map(str, Division))
        raise InputError(f"Division: expected one of {known}, got {text.strip()[:40]!r}") from None
