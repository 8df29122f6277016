"""The scopes of a quota: which pods it counts, told by a pod's requests and priority class as far as these tell.

Kubernetes' rules: all scopes of a quota have to hold; a pod is of best effort when no container requests or limits cpu
or memory. Whether a pod ends by a deadline, or has affinity across namespaces, is not in its requests.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from interpreters.core.resources import CPU, MEMORY

_BY_QUALITY: Final = ("BestEffort", "NotBestEffort")
_OF_CLAIMS: Final = "VolumeAttributesClass"  # counts volume claims, never pods
_OPERATORS: Final = ("In", "NotIn", "Exists", "DoesNotExist")


class PodClass(NamedTuple):
    """What the scopes of quotas ask of a pod."""

    priority: str = ""
    best_effort: bool = False


def is_best_effort(requests: Mapping[str, int]) -> bool:
    """Whether a pod with these requests, in any unit, is of best effort. Limits without requests do not come with
    bindings: such a pod is taken for one of best effort, as Karmada's estimator does."""
    return requests.get(CPU, 0) <= 0 and requests.get(MEMORY, 0) <= 0


@dataclass(frozen=True, slots=True)
class Scope:
    """A condition on the pods that a quota counts."""

    name: str
    operator: str = "Exists"
    values: tuple[str, ...] = ()

    @property
    def is_decided(self) -> bool:
        """Whether a pod's requests and priority class tell if it holds. What is not known here is not guessed."""
        return self.name in (*_BY_QUALITY, _OF_CLAIMS) or (self.name == "PriorityClass" and self.operator in _OPERATORS)

    def covers(self, pod: PodClass) -> bool | None:
        """Whether such a pod counts; None when that cannot be told."""
        if not self.is_decided:
            return None
        if self.name == _OF_CLAIMS:
            return False
        if self.name in _BY_QUALITY:
            return pod.best_effort == (self.name == "BestEffort")
        match self.operator:
            case "In":
                return pod.priority in self.values
            case "NotIn":
                return pod.priority not in self.values
            case "Exists":
                return bool(pod.priority)
        return not pod.priority


def covered(scopes: Iterable[Scope], pod: PodClass) -> bool | None:
    """Whether all scopes hold; None when one of them cannot be decided and none excludes."""
    verdicts = [scope.covers(pod) for scope in scopes]
    return False if False in verdicts else None if None in verdicts else True
