"""The pods of objects whose bindings say none, such as whole jobs with the feature gate off: read from the control
plane and interpreted by the scripts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from estimator.accounting.demand import Binding, Demand, WorkloadKey, demand_of
from estimator.accounting.podless_bindings import NOT_AT_HAND, Told, Untold
from estimator.accounting.sources.karmada_source import LiveObjects
from interpreters.core.errors import ScriptError
from interpreters.core.interpreted import Interpreted
from interpreters.core.kinds import GroupVersionKind
from webhook.endpoints.service import Service
from webhook.endpoints.workloads import interpreted
from webhook.registration.plan import tells_pods
from webhook.server.logs import LOGGER

_SECONDS: Final = 10.0  # for one object, when nobody waits for an answer


def bound_kind(binding: Binding) -> GroupVersionKind:
    reference = binding.spec.resource
    return GroupVersionKind.parse(reference.api_version, reference.kind)


@dataclass(frozen=True, slots=True)
class LiveDemands:
    """Asks the scripts about objects of a live Karmada."""

    service: Service
    objects: LiveObjects

    async def of_binding(self, binding: Binding, deadline: float) -> Interpreted | None:
        """What the scripts say about the binding's object; None when it is not there. Raises `InterpError`."""
        obj = await self.objects.get(binding.spec.resource, binding.workload.namespace)
        if obj is None:
            return None
        return await interpreted(self.service, bound_kind(binding), msgspec.json.encode(obj), deadline)

    async def of_bindings(self, bindings: Sequence[Binding]) -> Told:
        """The same for a reconcile. Raises `ApiError`."""
        found: dict[WorkloadKey, Demand | Untold] = {}
        for binding in bindings:
            if not tells_pods(self.service.catalog, bound_kind(binding)):
                continue
            try:
                said = await self.of_binding(binding, asyncio.get_running_loop().time() + _SECONDS)
            except ScriptError as error:
                found[binding.workload] = Untold(f"its script fails: {error}")
                LOGGER.warning("not compared", extra={"workload": str(binding.workload), "reason": str(error)})
            else:
                found[binding.workload] = NOT_AT_HAND if said is None else demand_of(list(said.as_components))
        return found
