"""Scripts that say what a custom resource needs: the nouns, the engines, the sandbox and the catalog.

The names in `__all__` are meant to be imported; docs/python.md shows how. They are loaded when one is first used, since
the command and its workers import this package and must start fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interpreters.core.version import __version__

if TYPE_CHECKING:
    from interpreters.public import (
        Component,
        ComponentRequirements,
        Dependency,
        GroupVersionKind,
        InputError,
        InterpError,
        Limits,
        NodeClaim,
        Quantity,
        ReplicaRequirements,
        Reply,
        RequestError,
        ScriptError,
        Scripts,
        UnknownTargetError,
        load_documents,
    )


__all__ = [
    "Component",
    "ComponentRequirements",
    "Dependency",
    "GroupVersionKind",
    "InputError",
    "InterpError",
    "Limits",
    "NodeClaim",
    "Quantity",
    "ReplicaRequirements",
    "Reply",
    "RequestError",
    "ScriptError",
    "Scripts",
    "UnknownTargetError",
    "__version__",
    "load_documents",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from interpreters import public

    return getattr(public, name)
