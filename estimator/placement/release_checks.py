"""What a policy says outside its placement's rules that one release of Karmada takes and another does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from estimator.placement.findings import PolicyFinding
from estimator.placement.policy import Placement
from interpreters.core.karmada.api import WORKLOAD_AFFINITY
from interpreters.core.karmada.releases import KARMADA_1_19, RENAMED_PURGE_MODES, Release

PRIORITY_SOURCE: Final = "KubePriorityClass"
_OF_CLUSTERS: Final = ("Directly", "Gracefully")


def release_findings(spec: Mapping[str, Any], placement: Placement, release: Release) -> Iterator[PolicyFinding]:
    """The findings on `spec` of a policy that depend on the release, or on a gate that is off in it."""
    yield from _purge_modes(spec, release)
    yield from _priority(spec, release)
    if placement.workload_affinity is not None:
        yield PolicyFinding(
            "information", "workload-affinity", "spec.placement.workloadAffinity",
            f"heeded only with the feature gate {WORKLOAD_AFFINITY}, which is off by default",
        )  # fmt: skip


def _purge_modes(spec: Mapping[str, Any], release: Release) -> Iterator[PolicyFinding]:
    failover = _mapping(spec.get("failover"))
    for part, known in (("application", release.purge_modes), ("cluster", _OF_CLUSTERS)):
        mode, where = _mapping(failover.get(part)).get("purgeMode"), f"spec.failover.{part}.purgeMode"
        if mode is None:
            continue
        if not isinstance(mode, str):
            yield PolicyFinding("error", "purge-mode", where, "expected text")
            continue
        if mode not in known:
            instead = RENAMED_PURGE_MODES.get(mode, "")
            hint = f"write {instead}" if instead else f"expected one of {', '.join(known)}"
            yield PolicyFinding("error", "purge-mode", where, f"Karmada {release} does not know {mode!r}: {hint}")
        elif mode in RENAMED_PURGE_MODES:
            message = f"{mode!r} is gone in Karmada {KARMADA_1_19}: write {RENAMED_PURGE_MODES[mode]}"
            yield PolicyFinding("warning", "purge-mode", where, message)


def _priority(spec: Mapping[str, Any], release: Release) -> Iterator[PolicyFinding]:
    if not spec.get("schedulePriority"):
        return
    wish, where = _mapping(spec["schedulePriority"]), "spec.schedulePriority"
    source = wish.get("priorityClassSource")
    if source != PRIORITY_SOURCE:
        message = f"{source!r}: Karmada resolves {PRIORITY_SOURCE} only and leaves the workload without a binding"
        yield PolicyFinding("error", "schedule-priority", f"{where}.priorityClassSource", message)
    if not release.schedules_by_priority:
        message = f"heeded only with the feature gate PriorityBasedScheduling, which is off by default in {release}"
        yield PolicyFinding("information", "schedule-priority", where, message)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
