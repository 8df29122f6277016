"""The ValidatingWebhookConfiguration that puts /admit and /validate-policy in front of the Karmada API server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_ENDPOINTS = (  # name, path, group, version, resources, operations, scope
    ("quota", "/admit", "work.karmada.io", "v1alpha2", ["resourcebindings"],
     ["CREATE", "UPDATE", "DELETE"], "Namespaced"),
    ("policy", "/validate-policy", "policy.karmada.io", "v1alpha1",
     ["propagationpolicies", "clusterpropagationpolicies"], ["CREATE", "UPDATE"], "*"),
)  # fmt: skip


def admission_configuration(client: Mapping[str, Any], *, name: str, timeout: int) -> dict[str, Any]:
    """For the same server that `client` names. A server that does not answer lets everything pass (Ignore): quota is
    then caught up by an audit, while refusing all bindings would stop every cluster."""
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": name.partition(".")[0]},
        "webhooks": [
            {
                "name": f"{short}.{name}",
                "clientConfig": _at(client, path),
                "admissionReviewVersions": ["v1"],
                "sideEffects": "NoneOnDryRun",
                "failurePolicy": "Ignore",
                "timeoutSeconds": timeout,
                "rules": [
                    {
                        "apiGroups": [group],
                        "apiVersions": [version],
                        "resources": resources,
                        "operations": operations,
                        "scope": scope,
                    }
                ],
            }
            for short, path, group, version, resources, operations, scope in _ENDPOINTS
        ],
    }


def _at(client: Mapping[str, Any], path: str) -> dict[str, Any]:
    """The same server, another path."""
    if "service" in client:
        return {**client, "service": {**client["service"], "path": path}}
    scheme, _, rest = str(client["url"]).partition("://")
    return {**client, "url": f"{scheme}://{rest.partition('/')[0]}{path}"}
