"""The keys of a quota: which resource of a pod's requests each limits, or why a binding cannot tell its usage."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from interpreters.core.kinds import plural_of
from interpreters.core.resources import CPU, MEMORY, PODS

_COMPUTE: Final = (CPU, MEMORY, "ephemeral-storage")


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

    @property
    def requested(self) -> str | None:
        """The resource, if pods request it or are it; None for objects of other kinds."""
        return None if self.resource is None or self.resource.startswith("count/") else self.resource


@lru_cache(maxsize=4096)
def read_key(text: str) -> Key:
    """`requests.cpu` limits `cpu`; `count/pods` limits `pods`; `limits.cpu` limits what no binding says."""
    if text in (PODS, "count/pods"):
        return Key(text, PODS)
    if text.startswith("count/"):
        return Key(text, text)
    if text.startswith("limits."):
        return Key(text, None, "bindings carry requests, not limits")
    name = text.removeprefix("requests.")
    if ".storageclass.storage.k8s.io/" in name or name in ("storage", "persistentvolumeclaims"):
        return Key(text, None, "bindings say nothing of volume claims")
    if name.startswith("attachable-volumes-"):
        return Key(text, None, "no container can request it; it limits nodes, not namespaces")
    if name in _COMPUTE or name.startswith("hugepages-") or "/" in name:
        return Key(text, name)
    return Key(text, None, "bindings of workloads do not count such objects")


@lru_cache(maxsize=4096)
def count_key(group: str, kind: str) -> str:
    """`count/<plural>.<group>`, the plural guessed."""
    return f"count/{plural_of(kind)}.{group}" if group else f"count/{plural_of(kind)}"
