"""Where admission gets its quotas: given ones, or files and folders that can be read again when they change."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from estimator.accounting.sources.file_errors import kind_of, numbered, refuse_wrong_files
from estimator.accounting.sources.object_stream import files_in, stream_objects
from estimator.quotas.objects import QUOTA_KINDS, Quota, in_order, read_quota
from interpreters.core.decoder_errors import misfit
from interpreters.core.errors import DocumentError, InputError
from interpreters.files import name_of


@dataclass(frozen=True, slots=True)
class GivenQuotas:
    """Quotas that do not change."""

    every: Sequence[Quota] = ()

    async def of_namespace(self, namespace: str) -> Sequence[Quota]:
        return [quota for quota in self.every if quota.namespace == namespace]


def load_quotas(paths: Sequence[str | Path]) -> list[Quota]:
    """The quotas in files and folders. Raises `InputError`, also when there is no quota in any of them."""
    found: list[Quota] = []
    others, empty_lists = Counter[str](), list[str]()
    for file in files_in(paths):
        for place, text in numbered(name_of(file), stream_objects(file, empty_lists=empty_lists)):
            kind = kind_of(text)
            if kind in QUOTA_KINDS:
                found.append(decode_quota(place, text))
            else:
                others[kind] += 1
    if not found:
        refuse_wrong_files(
            paths, others, empty_lists, what="quotas", kinds=QUOTA_KINDS,
            resources="federatedresourcequotas,resourcequotas",
        )  # fmt: skip
    return in_order(found)


def decode_quota(place: str, text: bytes) -> Quota:
    """A quota, given as JSON. Raises `DocumentError` that names its place in a file, the object and the field."""
    try:
        return read_quota(msgspec.json.decode(text, type=dict))
    except msgspec.DecodeError as error:
        raise DocumentError(place, misfit(error, by_hand=True)) from None
    except InputError as error:
        raise DocumentError(place, str(error)) from None


@dataclass(slots=True)
class FileQuotas:
    """Quotas from files and folders: those of the last `load` that succeeded."""

    paths: Sequence[str | Path]
    _known: GivenQuotas = field(default_factory=GivenQuotas, init=False)

    async def load(self) -> str:
        """Read the files as they are now; how many quotas that were. Raises `InputError` and keeps what it had."""
        found = await asyncio.to_thread(load_quotas, self.paths)
        self._known = GivenQuotas(found)
        return f"{len(found)} quota{'' if len(found) == 1 else 's'}"

    @property
    def every(self) -> Sequence[Quota]:
        return self._known.every

    async def every_one(self) -> Sequence[Quota]:
        return self._known.every

    async def of_namespace(self, namespace: str) -> Sequence[Quota]:
        return await self._known.of_namespace(namespace)
