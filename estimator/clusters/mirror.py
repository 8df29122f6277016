"""The copy of a cluster that a feed keeps: the state that estimation reads, and the pods that wait for a node."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from estimator.clusters.records import NodeRecord, PodRecord
from estimator.fit.state import ClusterState


@dataclass(frozen=True, slots=True)
class WaitingPod:
    """A pod for which the cluster's scheduler finds no node."""

    namespace: str
    controller_kind: str
    controller_name: str
    controller_uid: str
    template_hash: str
    since: float  # seconds since 1970


@dataclass(slots=True)
class Mirror:
    """Everything known of one cluster."""

    state: ClusterState = field(default_factory=ClusterState)
    waiting: dict[str, WaitingPod] = field(default_factory=dict)

    def waiting_pods(self, owned: Callable[[WaitingPod], bool], before: float) -> int:
        """How many of the waiting pods that `owned` accepts were refused a node before that time."""
        return sum(1 for pod in self.waiting.values() if pod.since < before and owned(pod))


@dataclass(slots=True)
class NodeCopy:
    """Puts nodes into the mirror."""

    mirror: Mirror

    def put(self, item: NodeRecord) -> str:
        self.mirror.state.upsert_node(item.node())
        return item.metadata.name

    def drop(self, item: NodeRecord) -> None:
        self.mirror.state.remove_node(item.metadata.name)

    def keep_only(self, keys: set[str]) -> None:
        for node in self.mirror.state.nodes():
            if node.name not in keys:
                self.mirror.state.remove_node(node.name)


@dataclass(slots=True)
class PodCopy:
    """Puts pods into the mirror: those with a node take room on it, those refused a node are remembered as waiting."""

    mirror: Mirror
    _known: set[str] = field(default_factory=set)

    def put(self, item: PodRecord) -> str:
        key = item.key
        self._known.add(key)
        metadata, node = item.metadata, item.node
        if node:
            self.mirror.state.place_pod(metadata.namespace, metadata.name, node, item.amounts())
            self.mirror.waiting.pop(key, None)
            return key
        self.mirror.state.remove_pod(metadata.namespace, metadata.name)
        waiting = _waiting(item)
        if waiting is None:
            self.mirror.waiting.pop(key, None)
        else:
            self.mirror.waiting[key] = waiting
        return key

    def drop(self, item: PodRecord) -> None:
        self._forget(item.key)

    def keep_only(self, keys: set[str]) -> None:
        for key in self._known - keys:
            self._forget(key)

    def _forget(self, key: str) -> None:
        namespace, _, name = key.partition("/")
        self.mirror.state.remove_pod(namespace, name)
        self.mirror.waiting.pop(key, None)
        self._known.discard(key)


@dataclass(slots=True)
class QuotaCopy:
    """Puts resource quotas into the mirror; they are few, so they are read whole."""

    mirror: Mirror
    _known: set[tuple[str, str]] = field(default_factory=set)

    def put(self, item: dict[str, Any]) -> str:
        self.mirror.state.upsert_quota(item)
        namespace, name = _names(item)
        self._known.add((namespace, name))
        return f"{namespace}/{name}"

    def drop(self, item: dict[str, Any]) -> None:
        self._forget([_names(item)])

    def keep_only(self, keys: set[str]) -> None:
        self._forget([known for known in self._known if "/".join(known) not in keys])

    def _forget(self, quotas: Iterable[tuple[str, str]]) -> None:
        for namespace, name in quotas:
            self.mirror.state.remove_quota(namespace, name)
            self._known.discard((namespace, name))


def _names(item: Mapping[str, Any]) -> tuple[str, str]:
    metadata = item.get("metadata") or {}
    return metadata.get("namespace", ""), metadata.get("name", "")


def _waiting(pod: PodRecord) -> WaitingPod | None:
    condition = None if pod.spec is None or pod.spec.node_name else pod.condition("PodScheduled")
    if condition is None or condition.status != "False" or condition.reason != "Unschedulable":
        return None
    controller = pod.controller
    return WaitingPod(
        namespace=pod.metadata.namespace,
        controller_kind=controller.kind if controller else "",
        controller_name=controller.name if controller else "",
        controller_uid=controller.uid if controller else "",
        template_hash=pod.metadata.labels.template_hash if pod.metadata.labels else "",
        since=_seconds(condition.last_transition_time),
    )


def _seconds(timestamp: str | None) -> float:
    """A Kubernetes time in seconds since 1970; an absent one is long ago."""
    try:
        return datetime.fromisoformat(timestamp or "").timestamp()
    except ValueError:
        return 0.0
