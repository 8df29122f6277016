"""From files to a tally: every object goes to the binding it is or the quota it is.

One process does it all. Two of them were tried: handing five gigabytes of text from one to the other costs a third more
processor time than it spreads, and on a busy machine it took longer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from estimator.accounting.audit.findings import finding
from estimator.accounting.audit.totals import Tally
from estimator.accounting.demand import (
    Binding,
    BindingSpec,
    Metadata,
    ResourceReference,
    WorkloadKey,
    decode_binding,
)
from estimator.accounting.sources.file_errors import described, kind_of, numbered, refuse_wrong_files
from estimator.accounting.sources.object_stream import Progress, files_in, stream_objects
from estimator.accounting.sources.quota_files import decode_quota
from estimator.quotas.objects import QUOTA_KINDS, Quota
from interpreters.core.decoder_errors import misfit
from interpreters.core.karmada.api import BINDING_KINDS, BINDINGS
from interpreters.files import name_of


@dataclass(slots=True)
class Intake:
    """What was read: the tally of all bindings, and the quotas that stood among them."""

    tally: Tally
    quotas: list[Quota] = field(default_factory=list)
    unreadable: int = 0

    def take(self, texts: Iterable[bytes], where: str) -> None:
        """Count objects, given as JSON. Raises `InputError` for a quota that cannot be read."""
        for binding in self.bindings(texts, where):
            self.tally.add(binding)

    def bindings(self, texts: Iterable[bytes], where: str) -> Iterator[Binding]:
        """The bindings among objects; quotas are kept, anything else is counted as ignored. Raises `InputError`."""
        decode = decode_binding
        for number, text in enumerate(texts, 1):
            try:
                binding = decode(text)
            except msgspec.DecodeError as error:
                self._refuse(f"{where}, object {number}", text, error)
                continue
            if is_binding(binding):
                yield binding
            elif binding.kind in QUOTA_KINDS:
                self.quotas.append(decode_quota(f"{where}, object {number}", text))
            else:
                self._ignore(binding.kind)

    def _ignore(self, kind: str) -> None:
        self.tally.ignored[kind] = self.tally.ignored.get(kind, 0) + 1

    def _refuse(self, place: str, text: bytes, error: msgspec.DecodeError) -> None:
        kind = kind_of(text)
        if kind and kind not in BINDING_KINDS:
            self._ignore(kind)  # what is no binding need not read like one
            return
        self.unreadable += 1
        self.tally.findings.add(finding("unreadable", described(text), f"{place}: {misfit(error, by_hand=True)}"))


def read_bindings(paths: Sequence[str | Path], tally: Tally, *, progress: Progress | None = None) -> Intake:
    """Read files and folders into the tally. Raises `InputError`, also when there is no binding in any of them."""
    intake, empty_lists = Intake(tally), list[str]()
    for file in files_in(paths):
        intake.take(stream_objects(file, progress, empty_lists=empty_lists), name_of(file))
    if not tally.bindings and not intake.unreadable:
        quotas = Counter(quota.kind for quota in intake.quotas)
        _refuse_wrong_files(paths, {**tally.ignored, **quotas}, empty_lists)
    return intake


def _refuse_wrong_files(paths: Sequence[str | Path], found: Mapping[str, int], empty_lists: Sequence[str]) -> None:
    refuse_wrong_files(
        paths, found, empty_lists, what="bindings", kinds=BINDING_KINDS,
        resources=",".join(binding.plural for binding in BINDINGS),
    )  # fmt: skip


def is_binding(found: Binding) -> bool:
    """Whether it is one; in a typed list from the API server items do not say their kind."""
    if found.kind in BINDING_KINDS:
        return True
    return not found.kind and bool(found.spec.resource.kind)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A binding that cannot be read, and whose it is as far as that can."""

    problem: str
    namespace: str | None = None
    workload: WorkloadKey | None = None


def read_binding(place: str, text: bytes) -> Binding | Unreadable:
    """An object, given as JSON, as a binding."""
    try:
        return decode_binding(text)
    except msgspec.DecodeError as error:
        return _unreadable(text, f"{place}: {described(text)}: {misfit(error, by_hand=True)}")


class _Names(msgspec.Struct, rename="camel"):
    """The part of a binding that says whose it is."""

    class Spec(msgspec.Struct):
        resource: ResourceReference = ResourceReference()

    kind: str = ""
    metadata: Metadata = Metadata()
    spec: Spec = msgspec.field(default_factory=Spec)


def _unreadable(text: bytes, problem: str) -> Unreadable:
    try:
        names = msgspec.json.decode(text, type=_Names)
        found = Binding(names.kind, names.metadata, BindingSpec(resource=names.spec.resource))
    except msgspec.DecodeError:
        return Unreadable(problem)
    if not found.spec.resource.kind:
        return Unreadable(problem, found.metadata.namespace or None)
    return Unreadable(problem, found.workload.namespace, found.workload)


def only_bindings(texts: Iterable[bytes], where: str) -> Iterator[Binding | Unreadable]:
    """The bindings among objects, one by one, and those that cannot be read."""
    for place, text in numbered(where, texts):
        found = read_binding(place, text)
        if isinstance(found, Unreadable) or is_binding(found):
            yield found


def stream_bindings(paths: Sequence[str | Path]) -> Iterator[Binding | Unreadable]:
    """The bindings in files and folders one by one. Raises `InputError`, in the end also when there was none."""
    others, empty_lists, is_any = Counter[str](), list[str](), False
    for file in files_in(paths):
        for place, text in numbered(name_of(file), stream_objects(file, empty_lists=empty_lists)):
            found = read_binding(place, text)
            if isinstance(found, Binding) and not is_binding(found):
                others[found.kind] += 1
            elif isinstance(found, Unreadable) and kind_of(text) not in ("", *BINDING_KINDS):
                others[kind_of(text)] += 1  # what is no binding need not read like one
            else:
                is_any = True
                yield found
    if not is_any:
        _refuse_wrong_files(paths, others, empty_lists)


def total_size(paths: Iterable[str | Path]) -> int | None:
    """How many bytes there are to read; None when standard input is among them."""
    files = files_in(paths)
    return None if "-" in files else sum(Path(file).stat().st_size for file in files if Path(file).is_file())
