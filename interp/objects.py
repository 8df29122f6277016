"""What scripts say about the objects of bindings that say no pods themselves, for the verbs that count bindings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from interp.interpreted import interpreted
from interp.scripts import Sources, open_scripts
from interpreters.core.kinds import GroupVersionKind

if TYPE_CHECKING:
    from estimator.accounting.demand import Binding, Demand, WorkloadKey
    from estimator.accounting.live import LiveObjects
    from interpreters.catalog import Catalog
    from interpreters.sandbox.runner import SandboxRunner


class ObjectDemands:
    """Asks scripts about objects. They are loaded at the first question: most runs have none."""

    def __init__(self, sources: Sources, stack: ExitStack) -> None:
        self._sources, self._stack = sources, stack
        self._opened: tuple[SandboxRunner, Catalog] | None = None
        self._silent: set[tuple[str, str]] = set()  # kinds of which no script tells the pods

    def of_object(self, obj: Mapping[str, Any]) -> Demand | None:
        """The pods that an object stands for; None when no script tells. Raises `ScriptError`."""
        from estimator.accounting.demand import demand_of

        if self._opened is None:
            self._opened = self._stack.enter_context(open_scripts(self._sources))
        said = interpreted(*self._opened, obj)
        if said.components is None and said.replicas is None:
            return None
        return demand_of(list(said.as_components))

    def of_files(self, objects: Sequence[Mapping[str, Any]]) -> dict[WorkloadKey, Demand]:
        """Of each object that a script knows."""
        from estimator.accounting.demand import WorkloadKey

        found = {WorkloadKey.of(dict(obj)): self.of_object(obj) for obj in objects}
        return {workload: demand for workload, demand in found.items() if demand is not None}

    async def of_live(self, bindings: Sequence[Binding], objects: LiveObjects) -> dict[WorkloadKey, Demand]:
        """Of the objects that these bindings name, read from a live Karmada. Raises `ApiError`, `ScriptError`."""
        found = {}
        for binding in bindings:
            reference = binding.spec.resource
            kind = (GroupVersionKind.parse(reference.api_version, reference.kind).group, reference.kind)
            if kind in self._silent:
                continue
            obj = await objects.get(reference, binding.workload.namespace)
            if obj is None:
                continue
            demand = self.of_object(obj)
            if demand is None:
                self._silent.add(kind)
            else:
                found[binding.workload] = demand
        return found


@contextmanager
def object_demands(sources: Sources) -> Iterator[ObjectDemands]:
    with ExitStack() as stack:
        yield ObjectDemands(sources, stack)
