"""What a binding says of decisions before: where the workload is, by which group, what is being evicted, and whether a
new decision was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from estimator.placement.decision import Target
from estimator.placement.scheduling import Past
from interpreters.core.decoder_errors import misfit
from interpreters.core.errors import InputError
from interpreters.core.karmada.api import BINDING_KINDS
from interpreters.core.karmada.releases import NEWEST, Release
from interpreters.core.requirements import Wire


class EvictionTask(Wire, frozen=True):
    """A cluster that the workload is being taken from."""

    from_cluster: str = ""
    reason: str = ""
    producer: str = ""

    def __str__(self) -> str:
        because = f" ({self.reason})" if self.reason else ""
        return f"the workload is being evicted from it by {self.producer or 'an eviction task'}{because}"


class _Spec(Wire, frozen=True):
    clusters: list[Target] = []
    graceful_eviction_tasks: list[EvictionTask] = []
    reschedule_triggered_at: str | None = None


class _Status(Wire, frozen=True):
    scheduler_observing_affinity_name: str = ""
    last_scheduled_time: str | None = None


class _Binding(Wire, frozen=True):
    kind: str = ""
    spec: _Spec = _Spec()
    status: _Status = _Status()


def read_past(
    binding: Mapping[str, Any] | None, observed: str | None = None, reschedule: bool = False, release: Release = NEWEST
) -> Past:
    """What a binding, if there is one, says of the last decision; `observed` overrides its group.

    Raises `InputError` for what is no binding."""
    try:
        last = msgspec.convert(binding or {}, _Binding)
    except msgspec.ValidationError as error:
        raise InputError(f"the binding: {misfit(error, by_hand=True)}") from None
    if binding is not None and last.kind not in BINDING_KINDS:
        raise InputError(f"the binding: expected a {' or '.join(BINDING_KINDS)}, got {last.kind or 'none'}")
    name = last.status.scheduler_observing_affinity_name if observed is None else observed
    asked = reschedule or is_reschedule_due(last.spec.reschedule_triggered_at, last.status.last_scheduled_time)
    return Past(
        name, last.spec.clusters, asked,
        keeps_group=not release.reschedules_from_first_group,
        evicting={task.from_cluster: str(task) for task in last.spec.graceful_eviction_tasks},
    )  # fmt: skip


def is_reschedule_due(triggered_at: str | None, last_scheduled: str | None) -> bool:
    """Whether a reschedule was asked for after the last decision; one that was never made is waited for, not repeated.

    >>> is_reschedule_due("2026-01-02T00:00:00Z", "2026-01-01T23:59:59Z")
    True
    >>> is_reschedule_due("2026-01-02T00:00:00Z", None)
    False
    """
    if not triggered_at or not last_scheduled:
        return False
    return _moment(triggered_at, "spec.rescheduleTriggeredAt") > _moment(last_scheduled, "status.lastScheduledTime")


def _moment(text: str, field: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise InputError(f'the binding: {field}: expected a time such as 2026-01-02T15:04:05Z, got "{text}"')
    return moment
