"""Which lines of a script ran: how engines that watch report it, and what that makes of a script's text.

A covering engine appends the lines to what the script printed, behind a mark; so nothing else between worker and author
needs to know about coverage.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Final

_MARK: Final = "\0lines:"


def with_lines(printed: str, lines: Iterable[int]) -> str:
    """What was printed, with the lines that ran behind it."""
    return f"{printed}{_MARK}{' '.join(map(str, sorted(lines)))}"


def split_lines(printed: str) -> tuple[str, frozenset[int]]:
    """The two apart again."""
    text, mark, lines = printed.rpartition(_MARK)
    return (text, frozenset(map(int, lines.split()))) if mark else (printed, frozenset())


@dataclass(frozen=True)
class Coverage:
    """One file: its lines with code, and those that ran."""

    name: str
    text: str
    code: frozenset[int]
    ran: frozenset[int]

    @property
    def missed(self) -> list[int]:
        return sorted(self.code - self.ran)

    @property
    def percent(self) -> float:
        return 100.0 * (len(self.code) - len(self.missed)) / len(self.code) if self.code else 100.0

    @property
    def missed_ranges(self) -> str:
        """`3, 7-9`, as people read it."""
        numbered = enumerate(self.missed)
        runs = [[line for _, line in run] for _, run in groupby(numbered, key=lambda entry: entry[1] - entry[0])]
        return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)

    def listing(self) -> Iterator[str]:
        """The text, each line with `+` if it ran, `-` if it could have."""
        for number, line in enumerate(self.text.splitlines(), 1):
            mark = " " if number not in self.code else "+" if number in self.ran else "-"
            yield f"{mark} {number:4} | {line}"
