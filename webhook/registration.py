"""The ResourceInterpreterWebhookConfiguration: what may be registered, what must not be, and why.

Karmada has no fall-back: what is registered must be answered, and an answer that obeys `replicas: 0` scales a
workload to nothing. So the rules here are hard, and everything they leave out is named with its reason.
"""

from __future__ import annotations

import ipaddress
import re
from base64 import b64encode
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from interpreters.catalog import Catalog, Offer
from interpreters.core.errors import InputError
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.operations import OPERATIONS, Answer, Argument, Operation

API_VERSION: Final = "config.karmada.io/v1alpha1"
KIND: Final = "ResourceInterpreterWebhookConfiguration"
DEFAULT_PATH: Final = "/interpret"
_LABEL: Final = re.compile("[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")

# Groups of Kubernetes itself with a dot in their name; those without one are all its own.
_NATIVE_GROUPS: Final = frozenset(
    f"{name}.k8s.io"
    for name in (
        "admissionregistration", "apiextensions", "apiregistration", "authentication", "authorization", "certificates",
        "coordination", "discovery", "events", "flowcontrol.apiserver", "internal.apiserver", "metrics", "networking",
        "node", "rbac.authorization", "resource", "scheduling", "storage", "storagemigration",
    )
)  # fmt: skip

_COMPONENTS: Final = next(operation for operation in OPERATIONS if operation.answer is Answer.COMPONENTS)
_REVISION: Final = next(operation for operation in OPERATIONS if Argument.REPLICAS in operation.arguments)
_NATIVE: Final = "Karmada's own code answers for it and would be replaced; it is for estimates and audits only"

SafeAtZero = Callable[[GroupVersionKind, Offer], str | None]
"""Why the offer for changing replicas must not be trusted with 0, None if it was seen to leave the object alone."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Something the catalog offers and the configuration leaves out."""

    kind: GroupVersionKind | None
    operation: Operation | None
    reason: str

    def __str__(self) -> str:
        return " ".join(str(part) for part in (self.kind or "any kind", self.operation) if part) + f": {self.reason}"


@dataclass(frozen=True, slots=True)
class Plan:
    """The tuples to register, and what was left out."""

    tuples: Mapping[GroupVersionKind, tuple[Operation, ...]]
    refusals: tuple[Refusal, ...]

    def rules(self) -> list[dict[str, Any]]:
        """Grouped. A rule means every combination of its lists, so only kinds of one group and version share one."""
        together: dict[tuple[str, str, tuple[Operation, ...]], list[str]] = defaultdict(list)
        for kind, operations in sorted(self.tuples.items()):
            together[kind.group, kind.version, operations].append(kind.kind)
        return [
            {
                "apiGroups": [group],
                "apiVersions": [version],
                "kinds": kinds,
                "operations": [operation.name for operation in operations],
            }
            for (group, version, operations), kinds in together.items()
        ]


def is_native(kind: GroupVersionKind) -> bool:
    """Whether Karmada has Go code for the kind's group, which the webhook would take the place of."""
    return "." not in kind.group or kind.group in _NATIVE_GROUPS


def tells_pods(catalog: Catalog, kind: GroupVersionKind) -> bool:
    """Whether some script says what pods an object of the kind stands for, or would if it were not broken."""
    return any(
        catalog.concerns(kind, operation)
        for operation in OPERATIONS
        if operation.answer in (Answer.COMPONENTS, Answer.REPLICAS)
    )


def plan_registration(
    catalog: Catalog,
    safe_at_zero: SafeAtZero,
    *,
    wanted_kinds: Callable[[GroupVersionKind], bool] = lambda kind: True,
    wanted_operations: Iterable[Operation] = OPERATIONS,
) -> Plan:
    """What of the catalog may be registered."""
    wanted = frozenset(wanted_operations)
    tuples: dict[GroupVersionKind, tuple[Operation, ...]] = {}
    refusals = [
        Refusal(None, operation, f"{offers[0].script.name} answers for every kind, but a rule must name its kinds")
        for (kind, operation), offers in catalog.offers.items()
        if kind is None
    ]
    for kind in filter(wanted_kinds, catalog.kinds):
        if is_native(kind):
            refusals.append(Refusal(kind, None, _NATIVE))
            continue
        against = _reasons_against(kind, dict(catalog.operations(kind)), wanted, safe_at_zero)
        refusals += [Refusal(kind, operation, reason) for operation, reason in against.items() if reason]
        allowed = tuple(operation for operation, reason in against.items() if not reason)
        if allowed:
            tuples[kind] = allowed
    return Plan(tuples, tuple(refusals))


def _reasons_against(
    kind: GroupVersionKind,
    offered: Mapping[Operation, Offer],
    wanted: frozenset[Operation],
    safe_at_zero: SafeAtZero,
) -> dict[Operation, str]:
    """Why each offered and wanted operation must not be registered; empty where it may.

    Karmada revises a workload of several components with replicas 0, whoever answers. Left to Karmada's built-in
    scripts that writes 0 into some kinds, so components come only with a revision that was seen to do nothing then;
    and a revision that was not is kept away from such kinds, since Karmada may know their components by itself.
    """
    against = {
        operation: "" if operation.registrable else "Karmada does not let it be registered"
        for operation in offered
        if operation in wanted
    }
    if _COMPONENTS not in offered:
        return against
    unsafe = safe_at_zero(kind, offered[_REVISION]) if _REVISION in offered else None
    if unsafe:
        name = offered[_REVISION].script.name
        unsafe = f"{name} must leave the object alone when {_REVISION} comes with replicas 0: {unsafe}"
        if _REVISION in against:
            against[_REVISION] = unsafe
    elif _REVISION not in offered:
        unsafe = f"no script answers {_REVISION}, so Karmada's own would, with replicas 0"
    elif _REVISION not in wanted:
        unsafe = f"without {_REVISION} registered too, Karmada's own would answer it, with replicas 0"
    if unsafe and _COMPONENTS in against:
        against[_COMPONENTS] = unsafe
    return against


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
    namespace, name, port = _parse_service(service or "")
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
    namespace, name, _ = _parse_service(service or "")
    return f"{name}.{namespace}.svc"


def default_name(host: str) -> str:
    """What the webhook is called unless told otherwise: whose it is, and where. The object keeps the first word."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return f"interp.{host.rstrip('.').lower().replace('_', '-')}"
    return f"interp.{address}" if address.version == 4 else f"interp.ipv6-{address.exploded.replace(':', '-')}"


def _parse_service(service: str) -> tuple[str, str, int]:
    namespace, slash, rest = service.partition("/")
    name, colon, port = rest.partition(":")
    if not (slash and namespace and name) or (colon and not (port.isdigit() and 0 < int(port) < 65536)):
        raise InputError(f'"{service}": expected namespace/name or namespace/name:port')
    return namespace, name, int(port) if colon else 443


def configuration(plan: Plan, client: Mapping[str, Any], *, name: str, timeout: int = 10) -> dict[str, Any]:
    """The object to apply. Raises `InputError` for what Karmada would refuse, or if there is nothing to register."""
    labels = name.split(".")
    if len(labels) < 2 or len(name) > 253 or not all(map(_LABEL.fullmatch, labels)):
        raise InputError(f'"{name}": the webhook\'s name must be lower-case words joined by dots, at least two')
    if not 1 <= timeout <= 30:
        raise InputError(f"timeoutSeconds: expected 1 to 30, got {timeout}")
    rules = plan.rules()
    if not rules:
        raise InputError("nothing to register: no script offers an operation that may be registered")
    check_rules(rules)
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": labels[0]},
        "webhooks": [
            {
                "name": name,
                "clientConfig": dict(client),
                "interpreterContextVersions": ["v1alpha1"],
                "timeoutSeconds": timeout,
                "rules": rules,
            }
        ],
    }


def check_rules(rules: Iterable[Mapping[str, Any]]) -> None:
    """Refuse what Karmada refuses in any rule: a `*` in company, an empty list, an operation it does not know."""
    known = {operation.name for operation in OPERATIONS if operation.registrable} | {"*"}
    for index, rule in enumerate(rules):
        for field in ("apiGroups", "apiVersions", "kinds", "operations"):
            values = rule.get(field) or []
            where = f"rules[{index}].{field}"
            if not values:
                raise InputError(f"{where}: must not be empty")
            if "*" in values and len(values) > 1:
                raise InputError(f"{where}: * stands alone")
        unknown = [name for name in rule["operations"] if name not in known]
        if unknown:
            raise InputError(f"rules[{index}].operations: {unknown[0]} cannot be registered")
