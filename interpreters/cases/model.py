"""A case, ours or Karmada's: one question to a script, the answer wanted, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from interpreters.comparison import Difference
from interpreters.core.errors import InterpError
from interpreters.core.operations import Operation
from interpreters.interpretation import Interpretation


@dataclass(frozen=True, slots=True)
class Case:
    """One question and the wanted answer. Neither `want` nor `want_error`: nothing to compare with."""

    name: str
    operation: Operation
    object: dict[str, Any]
    file: Path
    position: int  # of the case in its file, from 0
    observed: dict[str, Any] | None = None
    status: list[dict[str, Any]] | None = None
    replicas: int = 0
    want: dict[str, Any] | None = None
    reference: dict[str, Any] | None = None
    """What `wantChanged` is written against: the answer of the base, or the object where an object is the answer."""

    want_error: str | None = None
    partial: bool = False
    base: str | None = None
    is_karmada: bool = False

    @property
    def expects_nothing(self) -> bool:
        return self.want is None and self.want_error is None


class Verdict(Enum):
    PASSED = "passed"
    FAILED = "failed"
    NOT_COMPARED = "not compared"


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a case."""

    case: Case
    verdict: Verdict
    differences: tuple[Difference, ...] = ()
    error: InterpError | None = None
    interpretation: Interpretation | None = None
    seconds: float = 0.0
    printed: str = field(default="", compare=False)

    @property
    def cost(self) -> int | None:
        """What the scripts' calls cost, if they answered."""
        return sum(outcome.cost for outcome in self.interpretation.outcomes) if self.interpretation else None

    @property
    def reasons(self) -> list[str]:
        """Why it failed, a line each."""
        lines = [str(difference) for difference in self.differences]
        return [str(self.error), *lines] if self.error else lines

    @property
    def lost(self) -> list[str]:
        """What the script returned and the reply does not hold: no failure, but hardly what its author wanted."""
        return self.interpretation.lost if self.interpretation else []
