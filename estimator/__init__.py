"""How many replicas or whole component sets fit a cluster, what stops the next one, and what it costs a quota.

The names in `__all__` are meant to be imported; docs/python.md shows how. They are loaded when one is first used, since
the command and its workers import this package and must start fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from estimator.public import (
        NO_LIMIT,
        AssumedWorkload,
        AuditReport,
        ClusterState,
        Code,
        Estimate,
        KnownCluster,
        Method,
        PluginResult,
        audit_files,
        default_plugins,
        estimate_replicas,
        estimate_sets,
        explain,
        general_replicas,
        general_sets,
        merge_estimates,
        read_clusters,
    )

__all__ = [
    "NO_LIMIT",
    "AssumedWorkload",
    "AuditReport",
    "ClusterState",
    "Code",
    "Estimate",
    "KnownCluster",
    "Method",
    "PluginResult",
    "audit_files",
    "default_plugins",
    "estimate_replicas",
    "estimate_sets",
    "explain",
    "general_replicas",
    "general_sets",
    "merge_estimates",
    "read_clusters",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from estimator import public

    return getattr(public, name)
