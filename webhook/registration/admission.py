"""The ValidatingWebhookConfiguration that puts /admit and /validate-policy in front of the Karmada API server.

It asks for as little as it can, because whatever it asks for waits for interp: only namespaces that Karmada propagates
from, only kinds whose pods are known, and of bindings only changes of their spec. Deletions have a webhook of their own
that never stops anything: freeing a quota late harms nobody. Labels of objects are not looked at: whoever may create an
object may label it, and would walk around the quota.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from interpreters.core.errors import InputError
from interpreters.core.karmada.answers import is_native
from interpreters.core.karmada.api import BINDING, POLICIES, POLICY
from interpreters.core.kinds import GroupVersionKind, plural_of
from webhook.registration.ownership import LABELS

SCALE: Final = "scale"
FailurePolicy = Literal["Ignore", "Fail"]
SYSTEM_NAMESPACES: Final = ("kube-system", "kube-public", "kube-node-lease", "karmada-system", "karmada-cluster")
_NAMESPACE: Final = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
NAMESPACE_NAME: Final = "kubernetes.io/metadata.name"  # a label that every namespace has
_BINDINGS: Final = {"apiGroups": [BINDING.group], "apiVersions": [BINDING.version], "resources": [BINDING.plural]}
_POLICIES: Final = {
    "apiGroups": [POLICY.group], "apiVersions": [POLICY.version], "resources": [policy.plural for policy in POLICIES],
    "operations": ["CREATE", "UPDATE"], "scope": "*",
}  # fmt: skip
# An expression that fails counts as the failurePolicy says, so that each must hold for any object.
_EXECUTION: Final = {
    "name": "not-an-execution-namespace",  # where Karmada keeps what it sends to members
    "expression": "!request.namespace.startsWith('karmada-es-')",
}
_STAYS: Final = {
    "name": "not-on-its-way-out",
    "expression": "!has(object.metadata.deletionTimestamp)",
}
_SPEC: Final = {
    "name": "spec-changes",
    "expression": "request.operation == 'CREATE' || !has(object.spec) || !has(oldObject.spec)"
    " || object.spec != oldObject.spec",
}
_GROWS: Final = {
    "name": "more-replicas",
    "expression": "has(object.spec) && has(object.spec.replicas) && (!has(oldObject.spec)"
    " || !has(oldObject.spec.replicas) || object.spec.replicas > oldObject.spec.replicas)",
}
_ENFORCING: Final = ("workloads", "bindings", "scales")


@dataclass(frozen=True, slots=True)
class Admission:
    """How admission is registered."""

    name: str
    timeout: int
    port: int | None = None
    """Of the second listener, if /admit is served there."""

    failure_policy: FailurePolicy = "Ignore"
    labels: Mapping[str, str | None] = field(default_factory=dict)
    """That a namespace has to have for its workloads to be asked about; None for any value."""

    exempt: Sequence[str] = ()
    """Further namespaces that are never asked about, such as that of the ledger's database."""

    @property
    def namespaces_left_out(self) -> list[str]:
        return sorted({*SYSTEM_NAMESPACES, *self.exempt})

    def consequence(self, kinds: int) -> str:
        """What the failure policy means, for whoever registers it."""
        wanted = ", ".join(key if value is None else f"{key}={value}" for key, value in self.labels.items())
        where = f"in namespaces labelled {wanted}, " if wanted else ""
        but = f"{where}not counting {', '.join(self.namespaces_left_out)}"
        if self.failure_policy == "Fail":
            return (
                f"failurePolicy Fail: while interp does not answer, nobody creates or changes workloads "
                f"({kinds} kind{'' if kinds == 1 else 's'}), and Karmada binds and schedules nothing ({but}); "
                "deleting goes on. The same command with --failure-policy Ignore opens it again"
            )
        return (
            f"failurePolicy Ignore: while interp does not answer, workloads and bindings pass uncharged ({but}), "
            f"after up to {self.timeout} s each; a reconcile charges them later, `interp audit` shows what is over"
        )


def parse_label(text: str) -> tuple[str, str | None]:
    """`KEY` or `KEY=VALUE`. Raises `InputError`."""
    key, equals, value = text.partition("=")
    if not key or "," in text or " " in text:
        raise InputError(f'"{text}": expected a label of namespaces, KEY or KEY=VALUE')
    return key, value if equals else None


def parse_labels(texts: Iterable[str]) -> dict[str, str | None]:
    """Labels that must all be there. Raises `InputError` for two values of one key, which no namespace has."""
    found: dict[str, str | None] = {}
    for key, value in map(parse_label, texts):
        if found.setdefault(key, value) != value:
            raise InputError(f'the label "{key}" is asked for with two values, which no namespace can have; keep one')
    return found


def check_namespace(name: str) -> str:
    """The name of a namespace. Raises `InputError`."""
    if not _NAMESPACE.fullmatch(name):
        raise InputError(f'"{name}" is no name of a namespace: expected at most 63 of a-z, 0-9 and - inside')
    return name


def admits(admission: Admission, namespace: str, labels: Mapping[str, str]) -> bool:
    """Whether the API server asks about objects of a namespace that has these labels."""
    return namespace not in admission.namespaces_left_out and all(
        key in labels if value is None else labels.get(key) == value for key, value in admission.labels.items()
    )


def namespace_of_host(host: str) -> str | None:
    """The namespace of a Service's name in the cluster: interp's own, which it must not stand in the way of."""
    labels = host.rstrip(".").split(".")
    return labels[1] if len(labels) >= 3 and labels[2] == "svc" else None


def admission_configuration(
    client: Mapping[str, Any],
    kinds: Iterable[GroupVersionKind],
    admission: Admission,
    whole: Iterable[GroupVersionKind] = (),
) -> dict[str, Any]:
    """For the server that `client` names and the kinds it knows; `whole` are those that are not divided."""
    known = sorted(kinds)
    workloads = _workload_rules(known)
    both = [*workloads, {**_BINDINGS, "scope": "Namespaced"}]
    webhooks = [
        ("workloads", "/admit", _of(("CREATE", "UPDATE"), workloads), [_EXECUTION, _known(known), _STAYS]),
        ("bindings", "/admit", _of(("CREATE", "UPDATE"), both[-1:]), [_EXECUTION, _STAYS, _SPEC]),
        ("scales", "/admit", _of(("UPDATE",), _scale_rules(sorted(whole))), [_EXECUTION, _GROWS]),
        ("deletions", "/admit", _of(("DELETE",), both), [_EXECUTION]),
        ("policies", "/validate-policy", [_POLICIES], []),
    ]
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": f"{admission.name.partition('.')[0]}-admission", "labels": dict(LABELS)},
        "webhooks": [
            {
                "name": f"{short}.{admission.name}",
                "clientConfig": _at(client, path, admission.port),
                "admissionReviewVersions": ["v1"],
                "sideEffects": "NoneOnDryRun",
                # Deletions are never refused, and policies only warned of: neither is worth stopping anybody for.
                "failurePolicy": admission.failure_policy if short in _ENFORCING else "Ignore",
                "matchPolicy": "Equivalent",  # an object sent as another version of its kind counts as well
                "timeoutSeconds": admission.timeout,
                "namespaceSelector": {"matchExpressions": _selector(admission)},
                "rules": rules,
                **({"matchConditions": conditions} if conditions else {}),
            }
            for short, path, rules, conditions in webhooks
            if rules
        ],
    }


def _selector(admission: Admission) -> list[dict[str, Any]]:
    names = {"key": NAMESPACE_NAME, "operator": "NotIn", "values": admission.namespaces_left_out}
    labels = [
        {"key": key, "operator": "Exists"} if value is None else {"key": key, "operator": "In", "values": [value]}
        for key, value in admission.labels.items()
    ]
    return [names, *labels]


def _of(operations: Sequence[str], rules: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{**rule, "operations": list(operations)} for rule in rules]


def _known(kinds: Sequence[GroupVersionKind]) -> dict[str, str]:
    names = sorted({f"'{kind.group}/{kind.kind}'" for kind in kinds})
    return {
        "name": "a-kind-whose-pods-are-known",
        "expression": f"(request.kind.group + '/' + request.kind.kind) in [{', '.join(names)}]",
    }


def _workload_rules(kinds: Iterable[GroupVersionKind]) -> list[dict[str, Any]]:
    """Rules name resources, not kinds, and a custom resource may be called anything: so all of a custom group, of which
    a condition picks the kinds, but of Kubernetes' own groups only the plural that is known."""
    resources: dict[tuple[str, str], list[str]] = defaultdict(list)
    for kind in kinds:
        plural = plural_of(kind.kind) if is_native(kind) else "*"
        if plural not in resources[kind.group, kind.version]:
            resources[kind.group, kind.version].append(plural)
    return [
        {"apiGroups": [group], "apiVersions": [version], "resources": plurals, "scope": "Namespaced"}
        for (group, version), plurals in resources.items()
    ]


def _scale_rules(kinds: Iterable[GroupVersionKind]) -> list[dict[str, Any]]:
    resources: dict[tuple[str, str], list[str]] = defaultdict(list)
    for kind in kinds:
        resources[kind.group, kind.version].append(f"{plural_of(kind.kind)}/{SCALE}")
    return [
        {"apiGroups": [group], "apiVersions": [version], "resources": names, "scope": "Namespaced"}
        for (group, version), names in resources.items()
    ]


def _at(client: Mapping[str, Any], path: str, port: int | None) -> dict[str, Any]:
    """The same server, another path, perhaps another port."""
    if "service" in client:
        elsewhere = {"path": path, **({"port": port} if port else {})}
        return {**client, "service": {**client["service"], **elsewhere}}
    parts = urlsplit(str(client["url"]))
    place = parts.netloc if port is None else f"{parts.netloc.removesuffix(f':{parts.port}')}:{port}"
    return {**client, "url": f"https://{place}{path}"}
