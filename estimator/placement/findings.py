"""A remark on a policy: how grave, by which rule, about which field."""

from __future__ import annotations

from typing import Literal

from interpreters.core.requirements import Wire

Level = Literal["error", "warning", "information"]


class PolicyFinding(Wire, frozen=True, omit_defaults=False):
    """A remark on a policy and the field it is about."""

    level: Level
    rule: str
    field: str
    message: str

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"
