"""From files to a tally: every object goes to the binding it is or the quota it is.

One process does it all. Two of them were tried: handing five gigabytes of text from one to the other costs a third more
processor time than it spreads, and on a busy machine it took longer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec

from estimator.accounting.allowances import FEDERATED, NATIVE
from estimator.accounting.demand import Binding, binding_decoder
from estimator.accounting.findings import finding
from estimator.accounting.streams import Progress, files_in, stream_objects
from estimator.accounting.tally import Tally
from interpreters.core.errors import DocumentError, InputError
from interpreters.files import name_of

BINDING_KINDS: Final = ("ResourceBinding", "ClusterResourceBinding")
_LISTS_OF_BINDINGS: Final = ("List", *(f"{kind}List" for kind in BINDING_KINDS))  # kubectl's own lists are just List
_MOST_NAMED: Final = 5


@dataclass(slots=True)
class Intake:
    """What was read: the tally of all bindings, and the quota objects that stood among them."""

    tally: Tally
    quotas: list[dict[str, Any]] = field(default_factory=list)
    unreadable: int = 0

    def take(self, texts: Iterable[bytes]) -> None:
        """Count objects, given as JSON."""
        decode, add = binding_decoder.decode, self.tally.add
        for text in texts:
            try:
                binding = decode(text)
            except msgspec.DecodeError as error:
                self._refuse(text, error)
                continue
            if is_binding(binding):
                add(binding)
            elif binding.kind in (FEDERATED, NATIVE):
                self.quotas.append(msgspec.json.decode(text))
            else:
                self._ignore(binding.kind)

    def _ignore(self, kind: str) -> None:
        self.tally.ignored[kind] = self.tally.ignored.get(kind, 0) + 1

    def _refuse(self, text: bytes, error: msgspec.DecodeError) -> None:
        try:
            about = msgspec.json.decode(text, type=_Named)
        except msgspec.DecodeError:
            about = _Named()
        if about.kind and about.kind not in BINDING_KINDS:
            self._ignore(about.kind)  # what is no binding need not read like one
            return
        self.unreadable += 1
        name = f"{about.kind or 'object'} {about.metadata.namespace}/{about.metadata.name}"
        self.tally.findings.add(finding("unreadable", name, str(error)))


class _NamedMetadata(msgspec.Struct):
    name: str = "?"
    namespace: str = ""


class _Named(msgspec.Struct):
    kind: str = ""
    metadata: _NamedMetadata = msgspec.field(default_factory=_NamedMetadata)


def read_bindings(paths: Sequence[str | Path], tally: Tally, *, progress: Progress | None = None) -> Intake:
    """Read files and folders into the tally. Raises `InputError`, also when there is no binding in any of them."""
    intake, empty_lists = Intake(tally), list[str]()
    for file in files_in(paths):
        intake.take(stream_objects(file, progress, empty_lists=empty_lists))
    if not tally.bindings and not intake.unreadable:
        quotas = Counter(str(quota["kind"]) for quota in intake.quotas)
        _refuse_wrong_files(paths, {**tally.ignored, **quotas}, empty_lists)
    return intake


def _refuse_wrong_files(paths: Sequence[str | Path], found: Mapping[str, int], empty_lists: Sequence[str]) -> None:
    """Raise for files without bindings, unless one of them is an export of none."""
    if any(kind in _LISTS_OF_BINDINGS for kind in empty_lists):
        return
    kinds = sorted(found.items(), key=lambda entry: (-entry[1], entry[0]))
    named = [f"{count} {kind or 'without a kind'}" for kind, count in kinds[:_MOST_NAMED]]
    named += ["and other kinds"] if len(kinds) > _MOST_NAMED else []
    named += [f"an empty {kind}" for kind in empty_lists]
    raise DocumentError(
        ", ".join(map(name_of, paths)),
        f"no bindings in it; found {', '.join(named) or 'nothing'}; expected {' or '.join(BINDING_KINDS)} objects, as "
        "printed by: kubectl get resourcebindings,clusterresourcebindings -A -o json",
    )


def is_binding(found: Binding) -> bool:
    """Whether it is one; in a typed list from the API server items do not say their kind."""
    if found.kind in BINDING_KINDS:
        return True
    return not found.kind and bool(found.spec.resource.kind)


def only_bindings(texts: Iterable[bytes]) -> list[Binding]:
    """The bindings among objects. Raises `InputError` when one cannot be read."""
    return [binding for binding in map(_decoded, texts) if is_binding(binding)]


def _decoded(text: bytes) -> Binding:
    try:
        return binding_decoder.decode(text)
    except msgspec.DecodeError as error:
        raise InputError(f"not a binding: {error}") from None


def stream_bindings(paths: Sequence[str | Path]) -> Iterator[Binding]:
    """The bindings in files and folders one by one. Raises `InputError`, in the end also when there was none."""
    others, empty_lists, is_any = Counter[str](), list[str](), False
    for file in files_in(paths):
        for found in map(_decoded, stream_objects(file, empty_lists=empty_lists)):
            if is_binding(found):
                is_any = True
                yield found
            else:
                others[found.kind] += 1
    if not is_any:
        _refuse_wrong_files(paths, others, empty_lists)


def total_size(paths: Iterable[str | Path]) -> int | None:
    """How many bytes there are to read; None when standard input is among them."""
    files = files_in(paths)
    return None if "-" in files else sum(Path(file).stat().st_size for file in files if Path(file).is_file())
