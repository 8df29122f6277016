"""What Python programs import from `estimator`: estimates on a snapshot of a cluster, and audits."""

from __future__ import annotations

from estimator.accounting.audit.from_files import audit_files
from estimator.accounting.audit.report import AuditReport
from estimator.clusters.once import KnownCluster
from estimator.clusters.once import known_from_folder as read_clusters
from estimator.fit.estimation import estimate_replicas, estimate_sets
from estimator.fit.explain import explain
from estimator.fit.merge import merge_estimates
from estimator.fit.methods import Method
from estimator.fit.model import NO_LIMIT, AssumedWorkload, Code, Estimate, PluginResult
from estimator.fit.plugins import default_plugins
from estimator.fit.state import ClusterState
from estimator.fit.summary import general_replicas, general_sets

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
