"""The ValidatingWebhookConfiguration that puts /admit and /validate-policy in front of the Karmada API server."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from interpreters.core.karmada_answers import is_native
from interpreters.core.kinds import GroupVersionKind

SYSTEM_NAMESPACES: Final = ("kube-system", "kube-public", "kube-node-lease", "karmada-system", "karmada-cluster")
_BINDINGS: Final = {
    "apiGroups": ["work.karmada.io"], "apiVersions": ["v1alpha2"], "resources": ["resourcebindings"],
    "operations": ["CREATE", "UPDATE", "DELETE"], "scope": "Namespaced",
}  # fmt: skip
_POLICIES: Final = {
    "apiGroups": ["policy.karmada.io"], "apiVersions": ["v1alpha1"],
    "resources": ["propagationpolicies", "clusterpropagationpolicies"],
    "operations": ["CREATE", "UPDATE"], "scope": "*",
}  # fmt: skip


def admission_configuration(
    client: Mapping[str, Any],
    kinds: Iterable[GroupVersionKind],
    *,
    name: str,
    timeout: int,
    port: int | None = None,
) -> dict[str, Any]:
    """For the server that `client` names, at another port if its second listener has one, and the kinds it knows.

    A server that does not answer lets everything pass (Ignore): an audit finds later what it missed, while refusing
    everything would stop every cluster at once.
    """
    webhooks = [("quota", "/admit", [*_workload_rules(kinds), _BINDINGS]), ("policy", "/validate-policy", [_POLICIES])]
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": f"{name.partition('.')[0]}-admission"},
        "webhooks": [
            {
                "name": f"{short}.{name}",
                "clientConfig": _at(client, path, port),
                "admissionReviewVersions": ["v1"],
                "sideEffects": "NoneOnDryRun",
                "failurePolicy": "Ignore",
                "timeoutSeconds": timeout,
                "namespaceSelector": {
                    "matchExpressions": [
                        {
                            "key": "kubernetes.io/metadata.name",
                            "operator": "NotIn",
                            "values": list(SYSTEM_NAMESPACES),
                        }
                    ]
                },
                "rules": rules,
            }
            for short, path, rules in webhooks
        ],
    }


def _workload_rules(kinds: Iterable[GroupVersionKind]) -> list[dict[str, Any]]:
    """Rules name resources, not kinds, and a custom resource may be called anything: so all of a custom group, whose
    unknown kinds /admit lets pass, but of Kubernetes' own groups only the plural that is known."""
    resources: dict[tuple[str, str], list[str]] = defaultdict(list)
    for kind in sorted(kinds):
        plural = f"{kind.kind.lower()}s" if is_native(kind) else "*"
        if plural not in resources[kind.group, kind.version]:
            resources[kind.group, kind.version].append(plural)
    return [
        {
            "apiGroups": [group],
            "apiVersions": [version],
            "resources": plurals,
            "operations": ["CREATE", "UPDATE", "DELETE"],
            "scope": "Namespaced",
        }
        for (group, version), plurals in resources.items()
    ]


def _at(client: Mapping[str, Any], path: str, port: int | None) -> dict[str, Any]:
    """The same server, another path, perhaps another port."""
    if "service" in client:
        elsewhere = {"path": path, **({"port": port} if port else {})}
        return {**client, "service": {**client["service"], **elsewhere}}
    parts = urlsplit(str(client["url"]))
    place = parts.netloc if port is None else f"{parts.netloc.removesuffix(f':{parts.port}')}:{port}"
    return {**client, "url": f"https://{place}{path}"}
