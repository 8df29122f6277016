"""Where admission gets its quotas: given ones, or files and folders that are read again when they change."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from estimator.accounting.allowances import Allowance, read_allowances
from estimator.accounting.streams import files_in, stream_objects
from interpreters.core.errors import DocumentError, InputError

log = logging.getLogger("interp.accounting")


@dataclass(frozen=True, slots=True)
class GivenAllowances:
    """Quotas that do not change."""

    every: Sequence[Allowance] = ()

    async def allowances(self, namespace: str) -> Sequence[Allowance]:
        return [allowance for allowance in self.every if allowance.namespace == namespace]


def load_allowances(paths: Iterable[str | Path]) -> list[Allowance]:
    """The quotas in files and folders. Raises `InputError`."""
    objects = [msgspec.json.decode(text) for file in files_in(paths) for text in stream_objects(file)]
    return read_allowances(item for item in objects if isinstance(item, dict))


@dataclass(slots=True)
class FileAllowances:
    """Quotas from files and folders. A change is taken up within `seconds`; a broken one leaves the last good state."""

    paths: Sequence[str | Path]
    seconds: float = 5.0
    _known: GivenAllowances = field(default_factory=GivenAllowances, init=False)
    _stamp: tuple[tuple[str, int, int], ...] | None = field(default=None, init=False)
    _looked: float = field(default=float("-inf"), init=False)
    _reading: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def allowances(self, namespace: str) -> Sequence[Allowance]:
        if self._is_stale():
            # Whoever comes while the files are being read waits: deciding by what was known before would let it pass.
            async with self._reading:
                if self._is_stale():
                    await asyncio.to_thread(self._refresh)
                    self._looked = time.monotonic()
        return await self._known.allowances(namespace)

    def _is_stale(self) -> bool:
        return time.monotonic() - self._looked >= self.seconds

    def _refresh(self) -> None:
        try:
            stamp = tuple(_stamp(file) for file in files_in(self.paths))
            if stamp != self._stamp:
                self._known = GivenAllowances(load_allowances(self.paths))
                self._stamp = stamp
        except InputError as error:
            if self._stamp is None:
                raise
            log.warning("quotas: keeping the last good state: %s", error)


def _stamp(file: str) -> tuple[str, int, int]:
    try:
        found = Path(file).stat()
    except OSError as error:
        raise DocumentError(file, error.strerror or "cannot be read") from None
    return file, found.st_mtime_ns, found.st_size
