"""Whose a webhook configuration is: made by interp, or by somebody who happens to use the same name.

What interp makes has a label. What versions before the label made is known by who applied it, or by how it looks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from webhook.registration.client import DEFAULT_PATH

MANAGER: Final = "interp"  # as which interp applies objects
LABELS: Final = {"app.kubernetes.io/managed-by": MANAGER}
_PATHS: Final = (DEFAULT_PATH, "/admit", "/validate-policy")


def is_made_by_interp(configuration: Mapping[str, Any]) -> bool:
    """By its label, by who applied it, or because it looks as interp writes them."""
    metadata = configuration.get("metadata") or {}
    labels = metadata.get("labels") or {}
    managers = {entry.get("manager") for entry in metadata.get("managedFields") or ()}
    if any(labels.get(name) == value for name, value in LABELS.items()) or MANAGER in managers:
        return True
    webhooks = configuration.get("webhooks") or ()
    return bool(webhooks) and all(_looks_like_ours(webhook, str(metadata.get("name", ""))) for webhook in webhooks)


def _looks_like_ours(webhook: Mapping[str, Any], name: str) -> bool:
    """interp names the object after a word of its webhooks' names, and answers at few paths."""
    path = _path_of(webhook.get("clientConfig") or {})
    called = any(path == known or path.startswith(f"{known}/") for known in _PATHS)
    return called and name.removesuffix("-admission") in str(webhook.get("name", "")).split(".")[:2]


def addresses(configuration: Mapping[str, Any]) -> list[str]:
    """The servers that a configuration makes somebody call, each once, as `host:port`."""
    clients = (webhook.get("clientConfig") or {} for webhook in configuration.get("webhooks") or ())
    return list(dict.fromkeys(map(address_of, clients)))


def address_of(client: Mapping[str, Any]) -> str:
    """Where a webhook is called, as `host:port`."""
    if client.get("url"):
        return address_of_url(str(client["url"]))
    service = client.get("service")
    if not service:
        return "nobody"
    return f"{service.get('name')}.{service.get('namespace')}.svc:{service.get('port') or 443}"


def address_of_url(url: str) -> str:
    """What others wrote may be no URL; then it is shown as it is."""
    try:
        parts = urlsplit(url)
        port = parts.port or 443
    except ValueError:
        return url
    return f"{parts.hostname}:{port}"


def _path_of(client: Mapping[str, Any]) -> str:
    if not client.get("url"):
        return str((client.get("service") or {}).get("path"))
    try:
        return urlsplit(str(client["url"])).path
    except ValueError:
        return ""
