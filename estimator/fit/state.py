"""What is known of one cluster: nodes, what their pods take, and quotas, kept up to date change by change.

Fed with Kubernetes objects as `kubectl get -o json` prints them. A pod counts from the moment it has a node until it
has terminated, whether it runs or not; one on a node that is not known yet counts when the node appears. Nodes keep the
order in which they first appeared. Reading goes through `ClusterState.view`, which later changes do not touch.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, TypeVar

from estimator.fit.amounts import SchedulerAmounts, scheduler_amount
from estimator.fit.free_amounts import FreeAmounts, free_amounts
from estimator.fit.model import Node
from estimator.fit.node_index import NodeIndex
from estimator.fit.quota import FreeQuota
from interpreters.core.errors import InputError, InterpError
from interpreters.core.pods import pod_requests

_TERMINATED: Final = ("Succeeded", "Failed")

T = TypeVar("T")
PodAmounts = tuple[tuple[str, int], ...]


def _read(kind: str, read: Callable[[Mapping[str, Any]], T], item: Mapping[str, Any]) -> T:
    """Read an object; what is wrong with it is told with its name."""
    try:
        return read(item)
    except InterpError as error:
        metadata = item.get("metadata")
        names = [metadata.get(key) for key in ("namespace", "name")] if isinstance(metadata, dict) else []
        called = "/".join(str(name) for name in names if name) or "without a name"
        raise InputError(f"{kind} {called}: {error}") from None


class ClusterState:
    """The one mutable noun: `upsert_*` and `remove_*` as objects come and go."""

    def __init__(self, objects: Iterable[Mapping[str, Any]] = ()) -> None:
        self._nodes: dict[str, Node] = {}
        self._pods: dict[str, tuple[str, PodAmounts]] = {}
        self._used: dict[str, dict[str, int]] = {}
        self._counts: dict[str, int] = {}
        self._quotas: dict[str, dict[str, FreeQuota]] = {}
        self._interned: dict[PodAmounts, PodAmounts] = {}
        self._node_index: NodeIndex | None = None
        self._free: FreeAmounts | None = None
        self._stale: set[str] = set()
        for item in objects:
            self.upsert(item)

    # -- changes -----------------------------------------------------------------------------------------------------

    def upsert(self, item: Mapping[str, Any]) -> None:
        """Take in a Node, Pod or ResourceQuota object by its kind; other kinds are refused."""
        kind = item.get("kind")
        if kind == "Node":
            self.upsert_node(item)
        elif kind == "Pod":
            self.upsert_pod(item)
        elif kind == "ResourceQuota":
            self.upsert_quota(item)
        else:
            raise InputError(f'a cluster is made of Node, Pod and ResourceQuota objects, got kind "{kind}"')

    def upsert_node(self, node: Mapping[str, Any] | Node) -> None:
        new = node if isinstance(node, Node) else _read("Node", Node.of, node)
        old = self._nodes.get(new.name)
        if old == new:
            return
        self._nodes[new.name] = new
        self._stale.add(new.name)
        if old is None or replace(old, allocatable=new.allocatable, pods=new.pods) != new:
            self._node_index = None
        if old is None:
            self._free = None

    def remove_node(self, name: str) -> None:
        if self._nodes.pop(name, None) is not None:
            self._node_index = self._free = None

    def upsert_pod(self, pod: Mapping[str, Any]) -> None:
        metadata, spec = pod.get("metadata") or {}, pod.get("spec") or {}
        namespace, name = metadata.get("namespace", ""), metadata.get("name", "")
        node = spec.get("nodeName")
        if not node or (pod.get("status") or {}).get("phase") in _TERMINATED:
            self.remove_pod(namespace, name)
            return
        self.place_pod(namespace, name, node, _read("Pod", lambda _: self._amounts(spec), pod))

    def place_pod(self, namespace: str, name: str, node: str, amounts: PodAmounts) -> None:
        """Take in a pod of which only the node and the requests, in scheduler units by resource name, are known."""
        amounts = self._interned.setdefault(amounts, amounts)
        key = f"{namespace}/{name}"
        old = self._pods.get(key)
        if old is not None:
            if old == (node, amounts):
                return
            self._release(*old)
        node = sys.intern(node)
        self._pods[key] = (node, amounts)
        used = self._used.setdefault(node, {})
        for resource, amount in amounts:
            used[resource] = used.get(resource, 0) + amount
        self._counts[node] = self._counts.get(node, 0) + 1
        self._stale.add(node)

    def remove_pod(self, namespace: str, name: str) -> None:
        old = self._pods.pop(f"{namespace}/{name}", None)
        if old is not None:
            self._release(*old)

    def upsert_quota(self, quota: Mapping[str, Any] | FreeQuota) -> None:
        new = quota if isinstance(quota, FreeQuota) else FreeQuota.of(quota)
        self._quotas[new.namespace] = {**self._quotas.get(new.namespace, {}), new.name: new}

    def remove_quota(self, namespace: str, name: str) -> None:
        kept = {key: quota for key, quota in self._quotas.pop(namespace, {}).items() if key != name}
        if kept:
            self._quotas[namespace] = kept

    # -- reading -----------------------------------------------------------------------------------------------------

    @property
    def node_count(self) -> int:
        return len(self._nodes)

    @property
    def pod_count(self) -> int:
        """Pods that count against a node, known or not yet known."""
        return len(self._pods)

    def nodes(self) -> tuple[Node, ...]:
        return tuple(self._nodes.values())

    def quotas(self, namespace: str) -> tuple[FreeQuota, ...]:
        """The namespace's quotas, by name."""
        return tuple(quota for _, quota in sorted(self._quotas.get(namespace, {}).items()))

    def view(self) -> FreeAmounts:
        """What is free on each node now. Cheap to ask again: only nodes that changed since are worked out anew."""
        if self._node_index is None:
            self._node_index = NodeIndex(self._nodes.values())
        if self._free is None:
            self._free = FreeAmounts.of(self._node_index, [self._row(name) for name in self._nodes])
        elif self._stale or self._free.node_index is not self._node_index:
            index = self._node_index.index
            rows = [(index[name], self._row(name)) for name in self._stale if name in index]
            self._free = self._free.with_rows(self._node_index, rows)
        self._stale.clear()
        return self._free

    def still(self) -> ClusterState:
        """The same cluster for an estimate in another thread: later changes do not touch it, and it is not changed.

        It costs a look at the changed nodes, nothing per pod; the pods themselves are shared and only counted.
        """
        copy = ClusterState()
        copy._free, copy._node_index = self.view(), self._node_index
        copy._nodes, copy._quotas, copy._pods = dict(self._nodes), dict(self._quotas), self._pods
        return copy

    # -- bookkeeping -------------------------------------------------------------------------------------------------

    def _amounts(self, spec: Mapping[str, Any]) -> PodAmounts:
        amounts = tuple(
            (sys.intern(name), amount)
            for name, quantity in sorted(pod_requests(spec).items())
            if (amount := scheduler_amount(name, quantity))
        )
        return self._interned.setdefault(amounts, amounts)

    def _row(self, name: str) -> SchedulerAmounts:
        return free_amounts(self._nodes[name], self._used.get(name, {}), self._counts.get(name, 0))

    def _release(self, node: str, amounts: PodAmounts) -> None:
        used = self._used[node]
        for resource, amount in amounts:
            used[resource] -= amount
        self._counts[node] -= 1
        if not self._counts[node]:
            del self._counts[node], self._used[node]
        self._stale.add(node)
