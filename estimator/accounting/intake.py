"""From files to a tally: every object goes to the binding it is or the quota it is, in several processes when it pays.

Finding where objects begin and end is cheap; decoding and adding them up is not. So one process cuts the files into
batches and the others each keep a tally of what they were given; tallies merge without loss.
"""

from __future__ import annotations

import multiprocessing
import os
import queue
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec

from estimator.accounting.allowances import FEDERATED, NATIVE
from estimator.accounting.demand import Binding, binding_decoder
from estimator.accounting.findings import finding
from estimator.accounting.streams import Progress, files_in, stream_objects
from estimator.accounting.tally import Tally
from interpreters.core.errors import InputError, InternalError

_BATCH: Final = 4 * 1024 * 1024
_WORTH_PROCESSES: Final = 96 * 1024 * 1024
_PATIENCE: Final = 1.0

Batch = list[bytes]


@dataclass(slots=True)
class Intake:
    """What was read: the tally of all bindings, and the quota objects that stood among them."""

    tally: Tally
    quotas: list[dict[str, Any]] = field(default_factory=list)

    def take(self, batch: Batch) -> None:
        decode, add = binding_decoder.decode, self.tally.add
        for text in batch:
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

    def merge(self, other: Intake) -> None:
        self.tally.merge(other.tally)
        self.quotas += other.quotas

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


def read_bindings(
    paths: Sequence[str | Path], tally: Tally, *, progress: Progress | None = None, processes: int | None = None
) -> Intake:
    """Read files and folders into the tally. `processes`: how many; None decides by size. Raises `InputError`."""
    files = files_in(paths)
    batches = _batches(files, progress)
    if processes is None:
        size = sum(Path(file).stat().st_size for file in files if Path(file).is_file())
        processes = os.cpu_count() or 1 if size > _WORTH_PROCESSES else 1
    intake = Intake(tally)
    if processes > 1:
        _take_in_processes(intake, batches, processes)
    else:
        for batch in batches:
            intake.take(batch)
    return intake


def is_binding(found: Binding) -> bool:
    """Whether it is one; in a typed list from the API server items do not say their kind."""
    if found.kind in ("ResourceBinding", "ClusterResourceBinding"):
        return True
    return not found.kind and bool(found.spec.resource.kind)


def only_bindings(batch: Batch) -> list[Binding]:
    """The bindings among objects. Raises `InputError` when one cannot be read."""
    try:
        return [binding for text in batch if is_binding(binding := binding_decoder.decode(text))]
    except msgspec.DecodeError as error:
        raise InputError(f"not a binding: {error}") from None


def total_size(paths: Iterable[str | Path]) -> int | None:
    """How many bytes there are to read; None when standard input is among them."""
    files = files_in(paths)
    return None if "-" in files else sum(Path(file).stat().st_size for file in files if Path(file).is_file())


def _batches(files: Iterable[str], progress: Progress | None) -> Iterator[Batch]:
    batch: Batch = []
    size = 0
    for file in files:
        for text in stream_objects(file, progress):
            batch.append(text)
            size += len(text)
            if size >= _BATCH:
                yield batch
                batch, size = [], 0
    if batch:
        yield batch


def _take_in_processes(intake: Intake, batches: Iterator[Batch], processes: int) -> None:
    # Spawned, not forked: the caller may have threads (a progress bar, an event loop).
    context = multiprocessing.get_context("spawn")
    line: Any = context.Queue(maxsize=2 * processes)
    results: Any = context.Queue()
    empty = intake.tally.empty()
    workers = [context.Process(target=_work, args=(line, results, empty), daemon=True) for _ in range(processes)]
    for worker in workers:
        worker.start()
    try:
        for batch in batches:
            _put(line, batch, workers)
        for _ in workers:
            _put(line, None, workers)
        for _ in workers:
            intake.merge(_get(results, workers))
    finally:
        for worker in workers:
            worker.terminate()
            worker.join()
        for each in (line, results):
            each.cancel_join_thread()


def _work(line: Any, results: Any, tally: Tally) -> None:
    intake = Intake(tally)
    while (batch := line.get()) is not None:
        intake.take(batch)
    results.put(intake)


def _put(line: Any, batch: Batch | None, workers: Sequence[Any]) -> None:
    while True:
        try:
            line.put(batch, timeout=_PATIENCE)
        except queue.Full:
            _refuse_dead(workers)
        else:
            return


def _get(results: Any, workers: Sequence[Any]) -> Intake:
    while True:
        try:
            intake: Intake = results.get(timeout=_PATIENCE)
        except queue.Empty:
            _refuse_dead(workers)
        else:
            return intake


def _refuse_dead(workers: Sequence[Any]) -> None:
    """A worker that was killed (out of memory, say) would leave a hole in the sums: say so instead."""
    for worker in workers:
        if worker.exitcode:
            raise InternalError(f"an audit process ended with {worker.exitcode}; is the machine out of memory?")
