"""The nouns of a quota's history: whose it is, one reading, and the points of hours and days."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

DAY: Final = 86400  # seconds


class Subject(NamedTuple):
    """One key of one quota; with a cluster, of the part that is assigned to it."""

    kind: str
    namespace: str
    name: str
    cluster: str
    key: str

    def __str__(self) -> str:
        where = f" in cluster {self.cluster}" if self.cluster else ""
        return f"{self.kind} {self.namespace}/{self.name}{where} {self.key}"


class Reading(NamedTuple):
    """Nano-units."""

    subject: Subject
    limit: int
    used: int
    provisional: int


class Point(NamedTuple):
    """One hour or day: when it began, and nano-units."""

    at: int
    limit: int
    used: int
    most: int
    provisional: int


@dataclass(frozen=True, slots=True)
class Series:
    subject: Subject
    points: Sequence[Point]
