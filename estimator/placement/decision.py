"""The nouns of a scheduling decision: what is wanted, what a cluster has free, the verdict on each cluster and group.

What is printed as JSON is a msgspec struct; the schema in docs/schemas derives from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from interpreters.core.division import Division
from interpreters.core.interpreted import Interpreted
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.requirements import Component, Wire


@dataclass(frozen=True, slots=True)
class Demand:
    """The workload to schedule: what kind it is and what pods it stands for."""

    kind: GroupVersionKind
    components: tuple[Component, ...] = ()
    uid: str = ""
    undivided: bool = False
    """One component that Karmada knows as a component only, without replicas: it divides that no more than several."""

    @staticmethod
    def of(workload: Mapping[str, Any], said: Interpreted) -> Demand:
        """A kind that declares how it may be divided is believed; of others the number of components decides."""
        uid = (workload.get("metadata") or {}).get("uid") or ""
        kind = GroupVersionKind.of(dict(workload))
        if said.division in (Division.DIVIDES, Division.KARMADA) and said.replicas is not None:
            return Demand(kind, (said.as_replicas,), str(uid))
        return Demand(kind, said.as_components, str(uid), undivided=said.division is Division.WHOLE)

    @property
    def is_whole(self) -> bool:
        """Several components: never divided, a cluster gets all of it or nothing."""
        return len(self.components) > 1 or (self.undivided and bool(self.components))

    @property
    def replicas(self) -> int:
        """What is divided among clusters."""
        return self.components[0].replicas if len(self.components) == 1 and not self.is_whole else 0

    @property
    def unit(self) -> str:
        return "sets" if self.is_whole else "replicas"


class Availability(Wire, frozen=True, omit_defaults=False):
    """How many replicas or sets a cluster takes, and what stops the next one."""

    count: int
    bound_by: str = ""


Estimating = Callable[[str], Availability | None]
"""The availability of a cluster by its name; None when nobody has an opinion."""


class Verdict(StrEnum):
    """What became of a cluster in a group."""

    EXCLUDED = "excluded"  # the affinity does not select it
    FILTERED = "filtered"  # selected, but it cannot take the workload
    PASSED_OVER = "passedOver"  # it could, but others were chosen
    CHOSEN = "chosen"


class FailureReason(StrEnum):
    """Why scheduling failed, by the names that Karmada writes into the binding's Scheduled condition."""

    NO_CLUSTER_FIT = "NoClusterFit"
    UNSCHEDULABLE = "Unschedulable"
    SCHEDULER_ERROR = "SchedulerError"


class Failure(Wire, frozen=True, omit_defaults=False):
    """Why a group cannot take the workload."""

    reason: FailureReason
    message: str


class Target(Wire, frozen=True, omit_defaults=False):
    """A cluster that gets the workload; `replicas` is None when it gets all of it."""

    name: str
    replicas: int | None = None


class ClusterVerdict(Wire, frozen=True, omit_defaults=False):
    """One cluster in one group."""

    cluster: str
    verdict: Verdict
    by: str = ""
    """What excluded or filtered it, such as `labelSelector` or `taint`."""

    detail: str = ""
    available: int | None = None
    """Replicas or sets that it takes, those it has already included; None when it was not asked."""

    bound_by: str = ""
    replicas: int | None = None
    overflow: int = 0
    """0: in the group itself; from 1 on: in the group's overflow affinity of this number."""


class GroupReport(Wire, frozen=True, omit_defaults=False):
    """What came of one scheduling group. The name is empty when the policy has no named groups."""

    name: str
    position: int
    clusters: list[ClusterVerdict]
    failure: Failure | None = None


class Decision(Wire, frozen=True, omit_defaults=False):
    """Where a workload goes: the groups tried, in order, the last being the winner if there is one."""

    scheduled: bool
    observed_affinity_name: str
    """What the binding said before."""

    recorded_affinity_name: str
    """What it says afterwards: the winner's name, or unchanged."""

    clusters: list[Target]
    """`spec.clusters` afterwards."""

    groups: list[GroupReport]
    untried: list[str]
    """Groups that were not looked at: behind the winner, or before the observed one."""

    failure: Failure | None = None
    """The first group's, when all failed."""

    @property
    def winner(self) -> GroupReport | None:
        return self.groups[-1] if self.scheduled else None
