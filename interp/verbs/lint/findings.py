"""What `interp lint` found."""

from __future__ import annotations

from dataclasses import dataclass

from interpreters.lint import Remark


@dataclass(frozen=True, slots=True)
class Linted:
    """How many scripts and policies were looked at, what is wrong, and what is merely worth knowing."""

    scripts: int
    policies: int
    remarks: list[Remark]
    notes: list[str]
