"""Does a cluster match an affinity? Excluded ones never do; label selector, field selector and names all count."""

from __future__ import annotations

from collections.abc import Mapping

from estimator.placement.policy import Cluster, ClusterAffinity
from interpreters.core.requirements import LabelSelector, NodeSelectorRequirement


def matches(cluster: Cluster, affinity: ClusterAffinity) -> bool:
    return mismatch(cluster, affinity) is None


def mismatch(cluster: Cluster, affinity: ClusterAffinity) -> str | None:
    """Which part of the affinity keeps the cluster out: `exclude`, `labelSelector`, `fieldSelector`, `clusterNames`."""
    if cluster.name in affinity.exclude:
        return "exclude"
    if affinity.label_selector is not None and not selected(cluster.metadata.labels, affinity.label_selector):
        return "labelSelector"
    fields = affinity.field_selector
    if fields is not None and not all(_field_matches(cluster, one) for one in fields.match_expressions):
        return "fieldSelector"
    if affinity.cluster_names and cluster.name not in affinity.cluster_names:
        return "clusterNames"
    return None


def selected(labels: Mapping[str, str], selector: LabelSelector) -> bool:
    """As Kubernetes reads a label selector; one it would refuse selects nothing."""
    if any(labels.get(key) != value for key, value in selector.match_labels.items()):
        return False
    return all(_label_matches(labels, one.key, one.operator, one.values) for one in selector.match_expressions)


def _label_matches(labels: Mapping[str, str], key: str, operator: str, values: list[str]) -> bool:
    match operator:
        case "In":
            return labels.get(key) in values if values else False
        case "NotIn":
            return bool(values) and labels.get(key) not in values
        case "Exists":
            return key in labels and not values
        case "DoesNotExist":
            return key not in labels and not values
    return False


def _field_matches(cluster: Cluster, requirement: NodeSelectorRequirement) -> bool:
    if requirement.key == "zone":
        return _zones_match(cluster.spec.zones, requirement)
    fields = {"provider": cluster.spec.provider, "region": cluster.spec.region}
    present = {key: value for key, value in fields.items() if value}
    return _label_matches(present, requirement.key, requirement.operator, requirement.values)


def _zones_match(zones: list[str], requirement: NodeSelectorRequirement) -> bool:
    named = any(zone in requirement.values for zone in zones)
    match requirement.operator:
        case "In":
            return named
        case "NotIn":
            return not named
        case "Exists":
            return bool(zones)
        case "DoesNotExist":
            return not zones
    return False
