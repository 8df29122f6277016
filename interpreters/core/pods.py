"""What one pod needs: its resource requests as Kubernetes charges them, and the nodes it may run on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from interpreters.core.errors import QuantityError, RequestError
from interpreters.core.pod_spec import Amount, Container, PodSpec, Resources, read_pod_spec, read_pod_template
from interpreters.core.quantity import Format, Quantity
from interpreters.core.requirements import NodeClaim, ReplicaRequirements

Requests = dict[str, Quantity]

_POD_LEVEL: Final = ("cpu", "memory")
_PLAIN_NAMES: Final = ("cpu", "memory", "ephemeral-storage")
_PREFIXED_NAMES: Final = ("hugepages-", "attachable-volumes-")


def pod_requests(pod_spec: Mapping[str, Any] | PodSpec) -> Requests:
    """What Kubernetes charges for the pod: sidecars, init containers, overhead and pod-level resources included."""
    spec = pod_spec if isinstance(pod_spec, PodSpec) else read_pod_spec(pod_spec)
    return _aggregate(spec, round_amount=lambda _name, amount: amount)


def pod_requirements(template: Mapping[str, Any] | None) -> ReplicaRequirements | None:
    """The requirements of one replica of a pod template, or None when it asks for nothing at all.

    Amounts are rounded up per container (cpu to thousandths, everything else to whole units), as the scheduler counts.
    """
    if template is None:
        return None
    spec = read_pod_template(template)
    requests = _aggregate(spec, round_amount=_scheduler_unit)
    amounts = {name: str(_spelled(name, requests[name])) for name in sorted(requests) if requests[name]}
    amounts = {name: text for name, text in amounts.items() if _counts(name)}
    claim = node_claim(spec)
    if claim is None and not amounts:
        return None
    return ReplicaRequirements(node_claim=claim, resource_request=amounts)


def node_claim(spec: PodSpec) -> NodeClaim | None:
    """Selector, tolerations and *required* node affinity; None when the pod may run anywhere."""
    affinity = spec.affinity.node_affinity if spec.affinity else None
    required = affinity.required if affinity else None
    if required is None and not spec.node_selector and not spec.tolerations:
        return None
    return NodeClaim(
        hard_node_affinity=required, node_selector=spec.node_selector or {}, tolerations=spec.tolerations or []
    )


Rounding = Callable[[str, Quantity], Quantity]


def _aggregate(spec: PodSpec, round_amount: Rounding) -> Requests:
    containers = [
        _container_requests(container, f"containers[{i}]", round_amount)
        for i, container in enumerate(spec.containers or ())
    ]
    total = _sum(containers)
    sidecars: Requests = {}
    highest_init_step: Requests = {}
    for i, container in enumerate(spec.init_containers or ()):
        asked = _container_requests(container, f"initContainers[{i}]", round_amount)
        if container.is_sidecar:
            # A sidecar runs beside every later init step and beside the containers.
            sidecars = _sum((sidecars, asked))
            total = _sum((total, asked))
            step = sidecars
        else:
            step = _sum((sidecars, asked))
        highest_init_step = _maximum(highest_init_step, step)
    total = _with_pod_level(_maximum(total, highest_init_step), spec.resources, round_amount)
    return _sum((total, _read(spec.overhead, "overhead", round_amount)))


def _with_pod_level(total: Requests, resources: Resources | None, round_amount: Rounding) -> Requests:
    """Pod-level requests replace the sum; a pod-level limit stands in where nobody asked."""
    if resources is None:
        return total
    limits = _read(resources.limits, "resources.limits", round_amount)
    requests = _read(resources.requests, "resources.requests", round_amount)
    stand_ins = {name: amount for name, amount in limits.items() if name not in total}
    return total | {name: amount for name, amount in (stand_ins | requests).items() if _may_be_pod_level(name)}


def _may_be_pod_level(name: str) -> bool:
    return name in _POD_LEVEL or name.startswith("hugepages-")


def _container_requests(container: Container, where: str, round_amount: Rounding) -> Requests:
    if container.resources is None:
        return {}
    limits = _read(container.resources.limits, f"{where}.resources.limits", round_amount)
    return limits | _read(container.resources.requests, f"{where}.resources.requests", round_amount)


def _read(amounts: Mapping[str, Amount] | None, where: str, round_amount: Rounding) -> Requests:
    try:
        return {name: round_amount(name, Quantity.parse(text)) for name, text in (amounts or {}).items()}
    except QuantityError as error:
        raise RequestError(f"spec.{where}: {error}") from None


def _sum(parts: Iterable[Requests]) -> Requests:
    total: Requests = {}
    for part in parts:
        for name, amount in part.items():
            total[name] = total[name] + amount if name in total else amount
    return total


def _maximum(left: Requests, right: Requests) -> Requests:
    return left | {name: amount for name, amount in right.items() if name not in left or amount > left[name]}


def _counts(name: str) -> bool:
    return name in _PLAIN_NAMES or name.startswith(_PREFIXED_NAMES) or "/" in name


def _scheduler_unit(name: str, amount: Quantity) -> Quantity:
    return Quantity.milli(amount.milli_value) if name == "cpu" else Quantity.of(amount.value)


def _spelled(name: str, amount: Quantity) -> Quantity:
    is_binary = name in ("memory", "ephemeral-storage") or name.startswith("hugepages-")
    return Quantity(amount.nano, Format.BINARY if is_binary else Format.DECIMAL)
