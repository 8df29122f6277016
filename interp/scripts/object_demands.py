"""What scripts say about the objects of bindings that say no pods themselves, for the verbs that count bindings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from interp.scripts.pods import interpreted
from interp.scripts.sources import Sources, open_scripts
from interpreters.components import kinds_with_several_components
from interpreters.core.errors import ScriptError

if TYPE_CHECKING:
    from estimator.accounting.demand import Binding, Demand, WorkloadKey
    from estimator.accounting.podless_bindings import Untold
    from estimator.accounting.sources.karmada_source import LiveObjects
    from interpreters.catalog import Catalog
    from interpreters.sandbox.runner import SandboxRunner


class ObjectDemands:
    """Asks scripts about objects. They are loaded at the first question: most runs have none."""

    def __init__(self, sources: Sources, stack: ExitStack) -> None:
        self._sources, self._stack = sources, stack
        self._opened: tuple[SandboxRunner, Catalog] | None = None
        self._with_script: set[tuple[str, str]] | None = None
        self._workloads: set[tuple[str, str]] | None = None

    @property
    def _scripts(self) -> tuple[SandboxRunner, Catalog]:
        if self._opened is None:
            self._opened = self._stack.enter_context(open_scripts(self._sources))
        return self._opened

    def is_workload(self, group: str, kind: str) -> bool:
        """Whether a script tells the pods of a kind, in whatever version. Scripts are only loaded if one is there."""
        from webhook.registration.plan import tells_pods

        if self._with_script is None:
            entries = self._sources.scan()
            self._with_script = {(one.group, one.kind) for entry in entries for one in entry.kinds if one is not None}
        if (group, kind) not in self._with_script:
            return False
        if self._workloads is None:
            catalog = self._scripts[1]
            self._workloads = {(one.group, one.kind) for one in catalog.kinds if tells_pods(catalog, one)}
        return (group, kind) in self._workloads

    def kinds_with_several_components(self) -> frozenset[tuple[str, str]]:
        """Group and kind of those that the scripts say so of."""
        return kinds_with_several_components(self._scripts[1])

    def of_object(self, obj: Mapping[str, Any]) -> Demand | None:
        """The pods that an object stands for; None when no script tells. Raises `ScriptError`."""
        from estimator.accounting.demand import demand_of

        said = interpreted(*self._scripts, obj)
        if said.components is None and said.replicas is None:
            return None
        return demand_of(list(said.as_components))

    def of_files(self, objects: Sequence[Mapping[str, Any]]) -> dict[WorkloadKey, Demand | Untold]:
        """Of each object that a script knows."""
        from estimator.accounting.demand import WorkloadKey

        found = {WorkloadKey.of(dict(obj)): self._asked(obj) for obj in objects}
        return {workload: demand for workload, demand in found.items() if demand is not None}

    async def of_bindings(
        self, bindings: Sequence[Binding], objects: LiveObjects | None
    ) -> dict[WorkloadKey, Demand | Untold]:
        """Of the objects that these bindings name, as far as scripts know their kind. Raises `ApiError`."""
        from estimator.accounting.podless_bindings import NOT_AT_HAND

        found: dict[WorkloadKey, Demand | Untold] = {}
        for binding in bindings:
            workload = binding.workload
            if not self.is_workload(workload.group, workload.kind):
                continue
            obj = None
            if objects is not None:
                obj = await objects.get(binding.spec.resource, workload.namespace)
            found[workload] = (self._asked(obj) if obj is not None else None) or NOT_AT_HAND
        return found

    def _asked(self, obj: Mapping[str, Any]) -> Demand | Untold | None:
        from estimator.accounting.podless_bindings import Untold

        try:
            return self.of_object(obj)
        except ScriptError as error:
            return Untold(f"its script fails: {error}")


@contextmanager
def object_demands(sources: Sources) -> Iterator[ObjectDemands]:
    with ExitStack() as stack:
        yield ObjectDemands(sources, stack)
