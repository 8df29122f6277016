"""Bindings that are on their way: suspended, evicted, or asked to be scheduled again. An audit counts them apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from estimator.accounting.audit.drift import held_elsewhere
from estimator.accounting.demand import Binding, BindingSpec
from estimator.accounting.ledger.freshness import moment_of
from estimator.quotas.amounts import NanoAmounts, add, no_amounts

STATES: Final = {
    "suspended": "scheduling or dispatching is suspended; in the sums as they are",
    "evicting": "still held by the clusters they are evicted from; not in the sums",
    "rescheduling": "to be scheduled again; in the sums as they are placed now",
}


@dataclass(slots=True)
class StateTally:
    """How many bindings are in a state, and what that is about."""

    bindings: int = 0
    amounts: NanoAmounts = field(default_factory=no_amounts)


def is_moving(spec: BindingSpec) -> bool:
    """Whether it may be in one of the states; of most bindings that is quickly told."""
    return bool(spec.suspension or spec.graceful_eviction_tasks or spec.reschedule_triggered_at)


def add_states(states: dict[str, StateTally], binding: Binding, used: NanoAmounts) -> None:
    """Count a binding in each of the states that it is in."""
    for name, amounts in _states(binding, used):
        tally = states.setdefault(name, StateTally())
        tally.bindings += 1
        add(tally.amounts, amounts)


def _states(binding: Binding, used: NanoAmounts) -> Iterator[tuple[str, NanoAmounts]]:
    spec = binding.spec
    if spec.suspension is not None and spec.suspension.is_any:
        yield "suspended", used
    if spec.graceful_eviction_tasks:
        held = no_amounts()
        for _, amounts in held_elsewhere(spec):
            add(held, amounts)
        yield "evicting", held
    if spec.reschedule_triggered_at:
        triggered, scheduled = moment_of(spec.reschedule_triggered_at), moment_of(binding.status.last_scheduled_time)
        if triggered is not None and (scheduled is None or triggered > scheduled):
            yield "rescheduling", used
