"""Where Karmada finds the webhook: by URL or by Service, refused here where Karmada would refuse it."""

from __future__ import annotations

import ipaddress
from base64 import b64encode
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from interpreters.core.errors import InputError

DEFAULT_PATH: Final = "/interpret"


def client_config(
    authorities: bytes, *, url: str | None = None, service: str | None = None, path: str = DEFAULT_PATH
) -> dict[str, Any]:
    """Where Karmada finds the webhook. Raises `InputError` for what Karmada would refuse."""
    if (url is None) == (service is None):
        raise InputError("give either --url or --service")
    if b"BEGIN CERTIFICATE" not in authorities:
        raise InputError("the CA bundle holds no PEM certificate; give the ca.crt of `interp certs make`")
    bundle = {"caBundle": b64encode(authorities).decode()}
    if url is not None:
        parts = check_url(url)
        return {"url": url if parts.path.strip("/") else url.rstrip("/") + path, **bundle}
    namespace, name, port = parse_service(service or "")
    if not path.startswith("/") or "?" in path or "#" in path:
        raise InputError(f'"{path}": expected a path such as {DEFAULT_PATH}, without a query')
    reference = {"namespace": namespace, "name": name, "port": port, "path": path}
    return {"service": reference, **bundle}


def check_url(url: str) -> SplitResult:
    """The parts of a URL that Karmada calls. Raises `InputError` for one that it refuses."""
    parts = urlsplit(url)
    if parts.scheme != "https" or not parts.hostname:
        raise InputError(f'"{url}": Karmada calls https URLs with a host only')
    for what, present in (
        ("a query", parts.query or url.endswith("?")),
        ("a fragment", parts.fragment),
        ("a user", parts.username),
    ):
        if present:
            raise InputError(f'"{url}": Karmada refuses a URL with {what}')
    return parts


def host_of(url: str | None, service: str | None) -> str:
    """The name by which Karmada knows the server, which its certificate must be for."""
    if url is not None:
        return check_url(url).hostname or ""
    namespace, name, _ = parse_service(service or "")
    return f"{name}.{namespace}.svc"


def default_name(host: str) -> str:
    """What the webhook is called unless told otherwise: whose it is, and where. The object keeps the first word."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return f"interp.{host.rstrip('.').lower().replace('_', '-')}"
    return f"interp.{address}" if address.version == 4 else f"interp.ipv6-{address.exploded.replace(':', '-')}"


def parse_service(service: str) -> tuple[str, str, int]:
    """Namespace, name and port of `namespace/name[:port]`. Raises `InputError`."""
    namespace, slash, rest = service.partition("/")
    name, colon, port = rest.partition(":")
    if not (slash and namespace and name) or (colon and not (port.isdigit() and 0 < int(port) < 65536)):
        raise InputError(f'"{service}": expected namespace/name or namespace/name:port')
    return namespace, name, int(port) if colon else 443
