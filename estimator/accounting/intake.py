"""From files to a tally: every object goes to the binding it is or the quota it is.

One process does it all. Two of them were tried: handing five gigabytes of text from one to the other costs a third more
processor time than it spreads, and on a busy machine it took longer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from estimator.accounting.allowances import FEDERATED, NATIVE
from estimator.accounting.demand import Binding, binding_decoder
from estimator.accounting.findings import finding
from estimator.accounting.streams import Progress, files_in, stream_objects
from estimator.accounting.tally import Tally
from interpreters.core.errors import InputError


@dataclass(slots=True)
class Intake:
    """What was read: the tally of all bindings, and the quota objects that stood among them."""

    tally: Tally
    quotas: list[dict[str, Any]] = field(default_factory=list)

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
                self.tally.ignored[binding.kind] = self.tally.ignored.get(binding.kind, 0) + 1

    def _refuse(self, text: bytes, error: msgspec.DecodeError) -> None:
        try:
            about = msgspec.json.decode(text, type=_Named)
        except msgspec.DecodeError:
            about = _Named()
        name = f"{about.kind or 'object'} {about.metadata.namespace}/{about.metadata.name}"
        self.tally.findings.add(finding("unreadable", name, str(error)))


class _NamedMetadata(msgspec.Struct):
    name: str = "?"
    namespace: str = ""


class _Named(msgspec.Struct):
    kind: str = ""
    metadata: _NamedMetadata = msgspec.field(default_factory=_NamedMetadata)


def read_bindings(paths: Sequence[str | Path], tally: Tally, *, progress: Progress | None = None) -> Intake:
    """Read files and folders into the tally. Raises `InputError`."""
    intake = Intake(tally)
    for file in files_in(paths):
        intake.take(stream_objects(file, progress))
    return intake


def is_binding(found: Binding) -> bool:
    """Whether it is one; in a typed list from the API server items do not say their kind."""
    if found.kind in ("ResourceBinding", "ClusterResourceBinding"):
        return True
    return not found.kind and bool(found.spec.resource.kind)


def only_bindings(texts: Iterable[bytes]) -> list[Binding]:
    """The bindings among objects. Raises `InputError` when one cannot be read."""
    try:
        return [binding for text in texts if is_binding(binding := binding_decoder.decode(text))]
    except msgspec.DecodeError as error:
        raise InputError(f"not a binding: {error}") from None


def total_size(paths: Iterable[str | Path]) -> int | None:
    """How many bytes there are to read; None when standard input is among them."""
    files = files_in(paths)
    return None if "-" in files else sum(Path(file).stat().st_size for file in files if Path(file).is_file())
