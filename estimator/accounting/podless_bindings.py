"""Bindings that say no pods, as that of a whole job does with the feature gate off.

They are counted by what a script says about their object. Where nobody can say it, that is told and never passed over:
a sum that leaves a workload out is wrong by all of it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from estimator.accounting.demand import Binding, BindingSpec, Demand, WorkloadKey


@dataclass(frozen=True, slots=True)
class Untold:
    """Why nobody can say what pods the object of a binding stands for."""

    why: str


NOT_AT_HAND: Final = Untold("its object is not at hand")

Told = Mapping[WorkloadKey, Demand | Untold]
"""For each binding whose kind a script knows: its object's pods, or why they are not known. Others are no workloads."""

Objects = Callable[[Sequence[Binding]], Awaitable[Told]]
"""Asks scripts about the objects of bindings that say no pods."""


async def no_objects(bindings: Sequence[Binding]) -> Told:
    return {}


def says_no_pods(spec: BindingSpec) -> bool:
    return not (spec.components or spec.replicas or spec.replica_requirements)


def uncounted(untold: Untold) -> str:
    """What follows, for whoever adds up."""
    return f"its binding says neither replicas nor components and {untold.why}, so it counts as nothing"


def completed(binding: Binding, demand: Demand) -> Binding:
    """The binding as if it said the pods of its object: one set in each of its clusters."""
    return msgspec.structs.replace(binding, spec=msgspec.structs.replace(binding.spec, components=demand.parts))
