"""Which policy is about a workload: by its resourceSelectors, and of several by Karmada's order of precedence.

A PropagationPolicy of the workload's namespace comes before any ClusterPropagationPolicy; then the higher
`spec.priority`; then a selector by name before one by labels before one by kind alone; then the name that sorts first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from estimator.placement.affinity import selected
from interpreters.core.karmada.api import POLICIES, POLICY
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.requirements import LabelSelector

_NOT, _BY_KIND, _BY_LABELS, _BY_NAME = range(4)


def is_policy(document: Mapping[str, Any]) -> bool:
    return any(policy.describes(document) for policy in POLICIES)


def policy_name(policy: Mapping[str, Any]) -> str:
    """`PropagationPolicy shop/web`."""
    metadata = policy.get("metadata") or {}
    name = "/".join(str(part) for part in (metadata.get("namespace"), metadata.get("name")) if part)
    return f"{policy.get('kind')} {name}"


def best_policy(policies: Iterable[Mapping[str, Any]], workload: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The policy that Karmada follows; None when none is about the workload."""

    def rank(pair: tuple[int, Mapping[str, Any]]) -> tuple[bool, int, int, str]:
        strength, policy = pair
        spec, metadata = policy.get("spec") or {}, policy.get("metadata") or {}
        is_general = policy.get("kind") != POLICY.kind
        return is_general, -int(spec.get("priority") or 0), -strength, str(metadata.get("name", ""))

    about = [(strength, policy) for policy in policies if (strength := _strength(policy, workload))]
    return min(about, key=rank)[1] if about else None


def selects(policy: Mapping[str, Any], workload: Mapping[str, Any]) -> bool:
    """Whether the policy is about the workload: one of its resourceSelectors matches, and the namespace does."""
    return _strength(policy, workload) > _NOT


def unselected(policy: Mapping[str, Any], workload: Mapping[str, Any]) -> list[str]:
    """The warning that a policy is not about a workload, if it is not."""
    if selects(policy, workload):
        return []
    metadata = workload.get("metadata") or {}
    name = f"{workload.get('kind')} {metadata.get('namespace') or 'default'}/{metadata.get('name') or ''}"
    return [f"the policy's resourceSelectors do not select {name}"]


def _strength(policy: Mapping[str, Any], workload: Mapping[str, Any]) -> int:
    """How closely the best of the selectors names the workload."""
    kind, metadata = GroupVersionKind.of(dict(workload)), workload.get("metadata") or {}
    namespace = metadata.get("namespace") or "default"
    home = (policy.get("metadata") or {}).get("namespace") or "default"
    if policy.get("kind") == POLICY.kind and namespace != home:
        return _NOT
    best = _NOT
    for selector in (policy.get("spec") or {}).get("resourceSelectors") or ():
        wanted = (selector.get("apiVersion"), selector.get("kind"))
        if wanted == (kind.api_version, kind.kind) and selector.get("namespace", namespace) == namespace:
            best = max(best, _closeness(selector, metadata))
    return best


def _closeness(selector: Mapping[str, Any], metadata: Mapping[str, Any]) -> int:
    if selector.get("name"):
        return _BY_NAME if selector["name"] == metadata.get("name") else _NOT
    try:
        labels = msgspec.convert(selector.get("labelSelector") or {}, LabelSelector)
    except msgspec.ValidationError:
        return _NOT  # one that the API server would refuse selects nothing
    if not selected(metadata.get("labels") or {}, labels):
        return _NOT
    return _BY_LABELS if selector.get("labelSelector") else _BY_KIND
