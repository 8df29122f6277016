"""What Python programs import from `interpreters`: the scripts, what they answer, and the nouns of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from interpreters.catalog import Catalog
from interpreters.core.documents import load_documents
from interpreters.core.engine import Limits
from interpreters.core.errors import InputError, InterpError, RequestError, ScriptError, UnknownTargetError
from interpreters.core.interpreted import Interpreted
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.languages import LUA
from interpreters.core.operations import find_operation
from interpreters.core.quantity import Quantity
from interpreters.core.requirements import Component, ComponentRequirements, Dependency, NodeClaim, ReplicaRequirements
from interpreters.core.wire import Reply
from interpreters.interpretation import interpret, load_functions, request_for
from interpreters.sandbox.runner import SandboxRunner
from interpreters.scan import scan

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
    "load_documents",
]

Object = Mapping[str, Any]


class Scripts:
    """Scripts and the sandbox that runs them. Close it, or use it in a `with` block; threads may share it.

    `places` are folders of scripts, single scripts, or files of ResourceInterpreterCustomizations, the first wins; the
    bundled scripts answer where none of these does. Changed files are not noticed: open them again.
    """

    def __init__(
        self, *places: str | Path, bundled: bool = True, workers: int = 1, limits: Limits | None = None
    ) -> None:
        found = scan([Path(place) for place in places], bundled=LUA if bundled else None, default=True)
        self._runner = SandboxRunner(workers, limits=limits)
        try:
            self._catalog = Catalog.build(found, load_functions(self._runner, found), strict=True)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Stop the sandbox's processes."""
        self._runner.close()

    @property
    def kinds(self) -> list[GroupVersionKind]:
        """The kinds that some script is for, sorted."""
        return self._catalog.kinds

    @property
    def problems(self) -> list[str]:
        """A sentence about each script that does not load. What it would answer raises `ScriptError`."""
        return [str(broken.error) for broken in self._catalog.broken]

    def operations(self, kind: GroupVersionKind) -> list[str]:
        """The operations that can be asked about a kind."""
        return [operation.name for operation, _ in self._catalog.operations(kind)]

    def interpret(
        self,
        obj: Object,
        operation: str,
        *,
        replicas: int = 0,
        observed: Object | None = None,
        status_items: Sequence[Object] | None = None,
    ) -> Reply:
        """Ask about an object. `operation` is Karmada's name or the function's: InterpretComponent or GetComponents.

        ReviseReplica needs `replicas`, Retain `observed`, AggregateStatus `status_items`. Raises `UnknownTargetError`
        where no script answers, `ScriptError` where one fails.
        """
        request = request_for(
            dict(obj),
            find_operation(operation),
            replicas=replicas,
            observed_object=msgspec.json.encode(observed),
            aggregated_status=msgspec.json.encode(status_items),
        )
        return interpret(self._runner, self._catalog, request).reply

    def components(self, obj: Object) -> list[Component]:
        """The pods that an object stands for: its components, or its replicas as one component called `main`."""
        offered = self.operations(GroupVersionKind.of(dict(obj)))
        if "InterpretComponent" in offered:
            return self.interpret(obj, "InterpretComponent").components or []
        reply = self.interpret(obj, "InterpretReplica")
        return list(Interpreted(None, reply.replicas, reply.replica_requirements).as_components)
