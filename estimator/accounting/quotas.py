"""Quotas as accounting reads them: FederatedResourceQuota and ResourceQuota objects, their keys and their scopes.

A key either names something that bindings tell (requests, pods, objects) or it does not (limits, storage, services);
what cannot be computed keeps its reason, so that no report drops it silently.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from estimator.accounting.amounts import Amounts, nano_of
from estimator.accounting.usage import PODS
from interpreters.core.errors import DocumentError, InputError, QuantityError
from interpreters.core.kinds import plural_of

FEDERATED: Final = "FederatedResourceQuota"
NATIVE: Final = "ResourceQuota"
QUOTA_KINDS: Final = (FEDERATED, NATIVE)

_REQUESTED: Final = re.compile(r"cpu|memory|ephemeral-storage|hugepages-.+|attachable-volumes-.+")


@dataclass(frozen=True, slots=True)
class Key:
    """A quota's key: the resource it limits, or why that cannot be computed."""

    text: str
    resource: str | None
    why: str = ""

    @property
    def is_enforced_by_karmada(self) -> bool:
        """A federated quota compares its keys with the requests in bindings letter by letter."""
        return self.resource == self.text and self.resource != PODS and not self.text.startswith("count/")


def read_key(text: str) -> Key:
    """`requests.cpu` limits `cpu`; `count/pods` limits `pods`; `limits.cpu` limits what no binding says."""
    if text in (PODS, "count/pods"):
        return Key(text, PODS)
    if text.startswith("count/"):
        return Key(text, text)
    if text.startswith("limits."):
        return Key(text, None, "bindings carry requests, not limits")
    name = text.removeprefix("requests.")
    if "storageclass.storage.k8s.io/" in name or name in ("storage", "persistentvolumeclaims"):
        return Key(text, None, "bindings say nothing of volume claims")
    if _REQUESTED.fullmatch(name) or "/" in name:
        return Key(text, name)
    return Key(text, None, "bindings of workloads do not count such objects")


@lru_cache(maxsize=4096)
def count_key(group: str, kind: str) -> str:
    """`count/<plural>.<group>`, the plural guessed."""
    return f"count/{plural_of(kind)}.{group}" if group else f"count/{plural_of(kind)}"


@dataclass(frozen=True, slots=True)
class Scope:
    """A condition on the pods that a quota counts."""

    name: str
    operator: str = "Exists"
    values: tuple[str, ...] = ()

    def covers(self, priority_class: str) -> bool | None:
        """Whether a pod of that priority class counts; None when a pod's requests cannot tell."""
        if self.name != "PriorityClass":
            return None
        match self.operator:
            case "In":
                return priority_class in self.values
            case "NotIn":
                return priority_class not in self.values
            case "Exists":
                return bool(priority_class)
            case "DoesNotExist":
                return not priority_class
        return None


@dataclass(frozen=True, slots=True)
class Allowance:
    """What one quota object allows its namespace."""

    kind: str
    namespace: str
    name: str
    limits: Amounts
    reported: Amounts | None = None
    """Used, as the object's status says; None when there is no status."""

    assignments: Mapping[str, Amounts] = field(default_factory=dict)
    """The part of each cluster, for a federated quota with static assignments."""

    reported_by_cluster: Mapping[str, Amounts] = field(default_factory=dict)
    scopes: tuple[Scope, ...] = ()
    has_status: bool = False
    """Whether Karmada has looked at the quota."""

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"

    @property
    def keys(self) -> list[Key]:
        return [read_key(text) for text in sorted(self.limits)]

    def covers(self, priority_class: str) -> bool | None:
        """Scopes are all to hold; None when one of them cannot be decided and none excludes."""
        answers = [scope.covers(priority_class) for scope in self.scopes]
        return False if False in answers else None if None in answers else True

    @property
    def undecided_scopes(self) -> list[str]:
        return sorted({scope.name for scope in self.scopes if scope.covers("") is None})


def read_allowance(quota: Mapping[str, Any]) -> Allowance:
    """Read a quota object. Raises `InputError` when it is none, `DocumentError` with the object and field in it."""
    kind = str(quota.get("kind", ""))
    if kind not in QUOTA_KINDS:
        raise InputError(f"expected a {FEDERATED} or {NATIVE}, got {kind or 'an object without a kind'}")
    metadata = _Fields(kind, quota, "").part("metadata")
    namespace, name = metadata.text("namespace") or "default", metadata.text("name")
    fields = _Fields(f"{kind} {namespace}/{name}", quota, "")
    spec, status = fields.part("spec"), fields.part("status")
    used = "overallUsed" if kind == FEDERATED else "used"
    return Allowance(
        kind=kind,
        namespace=namespace,
        name=name,
        limits=spec.amounts("overall" if kind == FEDERATED else "hard"),
        reported=status.amounts(used) if status.values.get(used) is not None else None,
        assignments={part.text("clusterName"): part.amounts("hard") for part in spec.parts("staticAssignments")},
        reported_by_cluster={
            part.text("clusterName"): part.amounts("used") for part in status.parts("aggregatedStatus")
        },
        scopes=_scopes(spec),
        has_status=status.values.get("overall" if kind == FEDERATED else "hard") is not None,
    )


@dataclass(frozen=True, slots=True)
class _Fields:
    """A mapping inside a quota that knows where it stands, so that what is wrong in it can be named."""

    about: str
    values: Mapping[str, Any]
    path: str

    def part(self, name: str) -> _Fields:
        value = self.values.get(name)
        if value is not None and not isinstance(value, dict):
            raise self._wrong(name, "an object", value)
        return _Fields(self.about, value or {}, f"{self.path}{name}.")

    def parts(self, name: str) -> Iterator[_Fields]:
        values = self.values.get(name)
        if values is not None and not isinstance(values, list):
            raise self._wrong(name, "a list", values)
        for index, value in enumerate(values or ()):
            if not isinstance(value, dict):
                raise self._wrong(f"{name}[{index}]", "an object", value)
            yield _Fields(self.about, value, f"{self.path}{name}[{index}].")

    def text(self, name: str) -> str:
        return str(self.values.get(name) or "")

    def amounts(self, name: str) -> Amounts:
        found = self.part(name)
        amounts = {}
        for resource, text in found.values.items():
            if isinstance(text, bool) or not isinstance(text, str | int | float):
                raise found._wrong(resource, "a quantity", text)
            try:
                amounts[resource] = nano_of(text)
            except QuantityError as error:
                raise DocumentError(f"{self.about}: {found.path}{resource}", str(error)) from None
        return amounts

    def _wrong(self, name: str, wanted: str, value: object) -> DocumentError:
        got = "nothing" if value is None else f"{value!r:.40}"
        return DocumentError(f"{self.about}: {self.path}{name}", f"expected {wanted}, got {got}")


def read_allowances(objects: Iterable[Mapping[str, Any]]) -> list[Allowance]:
    """The quotas among objects, in order of namespace, kind and name."""
    return in_order(read_allowance(item) for item in objects if item.get("kind") in QUOTA_KINDS)


def in_order(found: Iterable[Allowance]) -> list[Allowance]:
    return sorted(found, key=lambda allowance: (allowance.namespace, allowance.kind, allowance.name))


def _scopes(spec: _Fields) -> tuple[Scope, ...]:
    selector = spec.part("scopeSelector").parts("matchExpressions")
    return (
        *(Scope(str(name)) for name in spec.values.get("scopes") or ()),
        *(
            Scope(item.text("scopeName"), item.text("operator"), tuple(item.values.get("values") or ()))
            for item in selector
        ),
    )
