"""A quota object as its API defines it: limits, reported usage, assignments to clusters and scopes, each value checked.

Both kinds come from files that anybody may have written; what is wrong is refused with the object and the field.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from estimator.quotas.amounts import NanoAmounts
from estimator.quotas.keys import Key, read_key
from estimator.quotas.scopes import PodClass, Scope, covered
from interpreters.core.errors import DocumentError, InputError, QuantityError
from interpreters.core.karmada.api import FEDERATED_QUOTA
from interpreters.core.quantity import Quantity

FEDERATED: Final = FEDERATED_QUOTA.kind
NATIVE: Final = "ResourceQuota"
QUOTA_KINDS: Final = (FEDERATED, NATIVE)


@dataclass(frozen=True, slots=True)
class Quota:
    """What one quota object allows its namespace."""

    kind: str
    namespace: str
    name: str
    limits: NanoAmounts
    reported: NanoAmounts | None = None
    """Used, as the object's status says; None when there is no status."""

    assignments: Mapping[str, NanoAmounts] = field(default_factory=dict)
    """The part of each cluster, for a federated quota with static assignments."""

    reported_by_cluster: Mapping[str, NanoAmounts] = field(default_factory=dict)
    scopes: tuple[Scope, ...] = ()
    enforced: Mapping[str, Quantity] | None = None
    """The limits that the object's status says are enforced; None when there is no status."""

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"

    @property
    def has_status(self) -> bool:
        """Whether whoever enforces the quota has looked at it."""
        return self.enforced is not None

    @property
    def keys(self) -> list[Key]:
        return [read_key(text) for text in sorted(self.limits)]

    def covers(self, pod: PodClass) -> bool | None:
        """Whether it counts such a pod; None when one of its scopes cannot be decided and none excludes."""
        return covered(self.scopes, pod)

    @property
    def undecided_scopes(self) -> list[str]:
        return sorted({scope.name for scope in self.scopes if not scope.is_decided})


def read_quota(quota: Mapping[str, Any], kind: str = "") -> Quota:
    """Read a quota object; those of a list do not say their `kind`. Raises `InputError` when it is none,
    `DocumentError` with the object and field in it."""
    kind = kind or str(quota.get("kind", ""))
    if kind not in QUOTA_KINDS:
        raise InputError(f"expected a {FEDERATED} or {NATIVE}, got {kind or 'an object without a kind'}")
    metadata = _Fields(kind, quota, "").part("metadata")
    namespace, name = metadata.text("namespace") or "default", metadata.text("name")
    fields = _Fields(f"{kind} {namespace}/{name}", quota, "")
    spec, status = fields.part("spec"), fields.part("status")
    limits, used = ("overall", "overallUsed") if kind == FEDERATED else ("hard", "used")
    return Quota(
        kind=kind,
        namespace=namespace,
        name=name,
        limits=spec.amounts(limits),
        reported=status.amounts(used) if status.values.get(used) is not None else None,
        assignments={part.text("clusterName"): part.amounts("hard") for part in spec.parts("staticAssignments")},
        reported_by_cluster={
            part.text("clusterName"): part.amounts("used") for part in status.parts("aggregatedStatus")
        },
        scopes=_scopes(spec),
        enforced=status.quantities(limits) if status.values.get(limits) is not None else None,
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

    def texts(self, name: str) -> tuple[str, ...]:
        values = self.values.get(name)
        if values is not None and not (isinstance(values, list) and all(isinstance(text, str) for text in values)):
            raise self._wrong(name, "a list of texts", values)
        return tuple(values or ())

    def quantities(self, name: str) -> dict[str, Quantity]:
        found = self.part(name)
        return {resource: found.quantity(resource) for resource in found.values}

    def quantity(self, name: str) -> Quantity:
        text = self.values[name]
        if isinstance(text, bool) or not isinstance(text, str | int | float):
            raise self._wrong(name, "a quantity", text)
        try:
            return Quantity.parse(text)
        except QuantityError as error:
            raise DocumentError(f"{self.about}: {self.path}{name}", str(error)) from None

    def amounts(self, name: str) -> NanoAmounts:
        return NanoAmounts({resource: amount.nano for resource, amount in self.quantities(name).items()})

    def _wrong(self, name: str, wanted: str, value: object) -> DocumentError:
        got = "nothing" if value is None else f"{value!r:.40}"
        return DocumentError(f"{self.about}: {self.path}{name}", f"expected {wanted}, got {got}")


def read_quotas(objects: Iterable[Mapping[str, Any]]) -> list[Quota]:
    """The quotas among objects, in order of namespace, kind and name."""
    return in_order(read_quota(item) for item in objects if item.get("kind") in QUOTA_KINDS)


def in_order(found: Iterable[Quota]) -> list[Quota]:
    return sorted(found, key=lambda quota: (quota.namespace, quota.kind, quota.name))


def _scopes(spec: _Fields) -> tuple[Scope, ...]:
    selector = spec.part("scopeSelector").parts("matchExpressions")
    return (
        *(Scope(name) for name in spec.texts("scopes")),
        *(Scope(item.text("scopeName"), item.text("operator"), item.texts("values")) for item in selector),
    )
