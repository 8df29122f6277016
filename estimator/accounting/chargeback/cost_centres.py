"""Who pays: the cost centre of a workload, by a label or annotation, or by a map of namespaces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

import msgspec
from msgspec import Struct

from estimator.accounting.demand import WorkloadKey
from interpreters.core.decoder_errors import misfit
from interpreters.core.errors import DocumentError
from interpreters.core.kinds import GroupVersionKind


class Centres(Struct, forbid_unknown_fields=True, rename="camel"):
    """How a price file says to find cost centres."""

    label: str = ""
    annotation: str = ""
    namespaces: dict[str, str] = {}
    default: str = "unassigned"

    def check(self, where: str) -> None:
        """Raise `DocumentError` for a centre without a name."""
        for pattern, centre in self.namespaces.items():
            if not centre:
                raise DocumentError(f'{where}: costCentres.namespaces["{pattern}"]', 'expected a name, got ""')
        if not self.default:
            raise DocumentError(f"{where}: costCentres.default", 'expected a name, got ""')

    def of_namespace(self, namespace: str) -> str:
        """By the map: the name itself first, then the longest pattern that matches."""
        if namespace in self.namespaces:
            return self.namespaces[namespace]
        fitting = [pattern for pattern in self.namespaces if fnmatchcase(namespace, pattern)]
        return self.namespaces[max(fitting, key=lambda p: (len(p), p))] if fitting else self.default


class Marks(Struct, frozen=True, gc=False):
    """The labels and annotations of an object."""

    name: str = ""
    namespace: str = ""
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


class _Marked(Struct, frozen=True, rename="camel"):
    api_version: str = ""
    kind: str = ""
    metadata: Marks = Marks()


@dataclass(slots=True)
class Payers:
    """The cost centre of each workload: its own mark, its binding's, its namespace's, and else the map."""

    centres: Centres
    _workloads: dict[WorkloadKey, str] = field(default_factory=dict)
    _namespaces: dict[str, str] = field(default_factory=dict)

    @property
    def reads_marks(self) -> bool:
        return bool(self.centres.label or self.centres.annotation)

    def learn(self, objects: Iterable[tuple[str, bytes]]) -> None:
        """Remember the marks of workloads and Namespaces, given as JSON with their place. Raises `DocumentError`."""
        for place, text in objects:
            try:
                found = msgspec.json.decode(text, type=_Marked)
            except msgspec.DecodeError as error:
                raise DocumentError(place, misfit(error, by_hand=True)) from None
            centre = self._marked(found.metadata.labels, found.metadata.annotations)
            if not centre:
                continue
            if (found.api_version, found.kind) == ("v1", "Namespace"):
                self._namespaces[found.metadata.name] = centre
            else:
                group = GroupVersionKind.parse(found.api_version, found.kind).group
                namespace = found.metadata.namespace or "default"
                self._workloads[WorkloadKey(group, found.kind, namespace, found.metadata.name)] = centre

    def of(self, workload: WorkloadKey, labels: Mapping[str, str] | None, annotations: Mapping[str, str] | None) -> str:
        """`labels` and `annotations` are those of its binding."""
        return (
            self._workloads.get(workload)
            or self._marked(labels, annotations)
            or self._namespaces.get(workload.namespace)
            or self.centres.of_namespace(workload.namespace)
        )

    def _marked(self, labels: Mapping[str, str] | None, annotations: Mapping[str, str] | None) -> str:
        by_label = (labels or {}).get(self.centres.label, "") if self.centres.label else ""
        return by_label or ((annotations or {}).get(self.centres.annotation, "") if self.centres.annotation else "")
