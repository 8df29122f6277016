"""What other webhooks than ours have registered with Karmada, and who is asked where two have the same.

Karmada asks the first webhook that matches, in the order of the names of their configurations, and no other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from interpreters.core.kinds import GroupVersionKind
from interpreters.core.operations import OPERATIONS, Operation


@dataclass(frozen=True, slots=True)
class OtherWebhooks:
    """The rules of the other configurations, each with the name of its own."""

    ours: str = ""  # the name of our configuration
    rules: tuple[tuple[str, Mapping[str, Any]], ...] = ()

    def asked_first(self, kind: GroupVersionKind) -> dict[Operation, str]:
        """The operations that another answers before we are asked, with the name of its configuration."""
        return self._matching(kind, first=True)

    def asked_next(self, kind: GroupVersionKind) -> dict[Operation, str]:
        """The operations that another answers wherever we do not."""
        return self._matching(kind, first=False)

    def _matching(self, kind: GroupVersionKind, *, first: bool) -> dict[Operation, str]:
        found: dict[Operation, str] = {}
        for name, rule in self.rules:
            # As Karmada sorts them: a dash comes before the slash that ends the name.
            if (f"{name}/" < f"{self.ours}/") is first and _is_of(rule, kind):
                for operation in OPERATIONS:
                    if operation.registrable and _matches(rule, "operations", operation.name):
                        found.setdefault(operation, name)
        return found


def _is_of(rule: Mapping[str, Any], kind: GroupVersionKind) -> bool:
    parts = {"apiGroups": kind.group, "apiVersions": kind.version, "kinds": kind.kind}
    return all(_matches(rule, field, part) for field, part in parts.items())


def _matches(rule: Mapping[str, Any], field: str, value: str) -> bool:
    """A list names values, or all of them by a star."""
    return not {"*", value}.isdisjoint(rule.get(field) or ())
