"""What `interp register --admission` asks a live API server: whether it finds the webhook, and what quotas it skips."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from estimator.clusters.apiserver import ApiServer
from estimator.clusters.listing import get_object, list_objects
from interpreters.core.errors import InputError
from interpreters.core.karmada.api import FEDERATED_QUOTA
from webhook.registration.admission import Admission, admits
from webhook.registration.client import host_of, parse_service

_UNRESOLVED: Final = (
    "Karmada's API server looks a Service up in its own store, which does not have those of the cluster that it runs in"
)


def _instead(service: str) -> str:
    _, _, port = parse_service(service)
    return (
        f"register by its name as Karmada's own webhooks are, --url https://{host_of(None, service)}:{port}, "
        "or make a Service of type ExternalName in the Karmada API server and register with --apply"
    )


def refuse_unresolved(service: str) -> None:
    """Of a Service that nobody has looked for. Raises `InputError`."""
    raise InputError(f"--service {service} with --admission: {_UNRESOLVED}; {_instead(service)}")


async def check_service(server: ApiServer, service: str) -> None:
    """Raise `InputError` when the API server would not find the Service."""
    namespace, name, _ = parse_service(service)
    found = await get_object(server, f"/api/v1/namespaces/{namespace}/services/{name}")
    if found is None:
        raise InputError(f"--service {service} with --admission: {server.address} has no such Service: "
                         f"{_UNRESOLVED}; {_instead(service)}")  # fmt: skip
    kind = (found.get("spec") or {}).get("type") or "ClusterIP"
    if kind != "ExternalName":
        raise InputError(f"--service {service} with --admission: it is of type {kind}, and no network leads to a "
                         f"Service of the Karmada API server; {_instead(service)}")  # fmt: skip


async def unguarded_quotas(server: ApiServer, admission: Admission) -> list[str]:
    """A line about each namespace that has a quota and that admission would not be asked about."""
    quotas: dict[str, list[str]] = {}
    async for page in list_objects(server, FEDERATED_QUOTA.path()):
        for quota in (_metadata(item) for item in page):
            quotas.setdefault(str(quota.get("namespace", "")), []).append(str(quota.get("name", "")))
    lines = []
    for namespace, names in sorted(quotas.items()):
        found = await get_object(server, f"/api/v1/namespaces/{namespace}") or {}
        labels = (found.get("metadata") or {}).get("labels") or {}
        if not admits(admission, namespace, labels):
            about = f"namespace {namespace} has a quota ({', '.join(names)}) that is not enforced"
            lines.append(f"{about}: {_why(admission, namespace)}")
    return lines


def _why(admission: Admission, namespace: str) -> str:
    if namespace in admission.namespaces_left_out:
        return "it is left out"
    labels = " ".join(f"{key}={'' if value is None else value}" for key, value in admission.labels.items())
    return f"it lacks a label; `kubectl label namespace {namespace} {labels}`"


def _metadata(item: bytes) -> Mapping[str, Any]:
    found: Mapping[str, Any] = msgspec.json.decode(item).get("metadata") or {}
    return found
