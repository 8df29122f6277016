"""Names of resources as Kubernetes spells them, and which of them are measured in bytes."""

from __future__ import annotations

from typing import Final

CPU: Final = "cpu"
MEMORY: Final = "memory"
PODS: Final = "pods"

_BYTES: Final = (MEMORY, "ephemeral-storage", "storage", "hugepages-")


def counts_bytes(resource: str) -> bool:
    """Whether the resource is measured in bytes (`memory`, `requests.memory`, `hugepages-2Mi`, …)."""
    return resource.rpartition(".")[2].startswith(_BYTES) or resource.startswith(_BYTES)
