"""From bindings and charges to the meter: dumps that hold for a time, a live Karmada, and a ledger."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from estimator.accounting.audit.read_bindings import is_binding
from estimator.accounting.chargeback.meter import Meter, Period
from estimator.accounting.demand import Binding, Metadata, decode_object, with_dependents
from estimator.accounting.ledger.charges import Charge
from estimator.accounting.ledger.freshness import moment_of
from estimator.accounting.sources.file_errors import described, kind_of, numbered, refuse_wrong_files
from estimator.accounting.sources.object_stream import files_in, stream_objects
from interpreters.core.decoder_errors import misfit
from interpreters.core.karmada.api import BINDING_KINDS, BINDINGS
from interpreters.files import name_of


class _MarkedMetadata(Metadata, frozen=True, gc=False):
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


class _MarkedBinding(Binding, frozen=True, gc=False):
    """A binding with the labels and annotations that an audit leaves out."""

    metadata: _MarkedMetadata = _MarkedMetadata()


_decoder = msgspec.json.Decoder(_MarkedBinding)


class Snapshot(NamedTuple):
    """Bindings in a file or folder, and how long they were so."""

    path: str
    period: Period


def read_snapshot(meter: Meter, snapshot: Snapshot) -> None:
    """Count the bindings of a dump. Raises `InputError`, also when there is none in it."""
    others, empty_lists, found = Counter[str](), list[str](), 0
    paths: Sequence[str | Path] = [snapshot.path]
    for file in files_in(paths):
        objects = stream_objects(file, empty_lists=empty_lists)
        found += read_bindings(meter, numbered(name_of(file), objects), snapshot.period, others)
    if not found:
        refuse_wrong_files(
            paths, others, empty_lists, what="bindings", kinds=BINDING_KINDS,
            resources=",".join(binding.plural for binding in BINDINGS),
        )  # fmt: skip


def read_bindings(
    meter: Meter, objects: Iterable[tuple[str, bytes]], period: Period, others: Counter[str] | None = None
) -> int:
    """Count objects, given as JSON with their place; how many bindings there were. The rest goes to `others`."""
    found = 0
    for place, text in objects:
        try:
            binding = with_dependents(decode_object(text, _decoder))
        except msgspec.DecodeError as error:
            kind = kind_of(text)
            if kind in ("", *BINDING_KINDS):
                found += 1
                meter.unreadable.append(f"{described(text)}: {place}: {misfit(error, by_hand=True)}")
            elif others is not None:
                others[kind] += 1
            continue
        if is_binding(binding):
            found += 1
            metadata = binding.metadata
            seconds = period.since(moment_of(metadata.creation_timestamp))
            meter.add(binding.workload, binding.spec, seconds, metadata.labels, metadata.annotations)
        elif others is not None:
            others[binding.kind] += 1
    return found


async def read_charges(meter: Meter, charges: AsyncIterator[Charge], period: Period) -> None:
    """Count what a ledger charges and has seen. What is provisional, or has no cluster yet, runs nowhere."""
    async for charge in charges:
        if charge.confirmed is not None:
            created = charge.binding.created if charge.binding.created is not None else charge.object_created
            meter.add(charge.workload, charge.confirmed, period.since(created))
