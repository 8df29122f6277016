"""What scripts found in an object: the pods that it stands for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from interpreters.core.division import Division
from interpreters.core.requirements import Component, ComponentRequirements, ReplicaRequirements

MAIN: Final = "main"
"""The component's name where a script tells replicas only."""


@dataclass(frozen=True, slots=True)
class Interpreted:
    """What the scripts said about a workload. None: there is no such script, or it did not answer."""

    components: tuple[Component, ...] | None = None
    replicas: int | None = None
    requirements: ReplicaRequirements | None = None
    division: Division | None = None

    @property
    def as_components(self) -> tuple[Component, ...]:
        """The pods it stands for, whichever script said so."""
        if self.components is not None:
            return self.components
        return () if self.replicas is None else (self.as_replicas,)

    @property
    def as_replicas(self) -> Component:
        """The pods as one number of equal ones."""
        return Component(MAIN, self.replicas or 0, without_namespace(self.requirements))


def without_namespace(needs: ReplicaRequirements | None) -> ComponentRequirements | None:
    """What one pod needs, for a component; the namespace is the workload's."""
    return needs and ComponentRequirements(needs.node_claim, needs.resource_request, needs.priority_class_name)
