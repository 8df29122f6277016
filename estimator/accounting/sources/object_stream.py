"""Objects out of very large files, one at a time: a `kubectl get -o json` dump, NDJSON, YAML, gzip, a folder of them.

A dump of a million bindings is one JSON text of gigabytes. No JSON library here reads one in pieces at the speed that
takes (event parsers hand every token to Python), so this finds only where each item begins and ends, with numpy over
chunks, and leaves reading the item to a typed decoder.
"""

from __future__ import annotations

import gzip
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import IO, Final, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from interpreters.core.decoder_errors import misfit
from interpreters.core.documents import load_documents, load_values
from interpreters.core.errors import DocumentError

Progress = Callable[[int], None]  # told how many bytes of the file were read since the last call

CHUNK: Final = 4 * 1024 * 1024
LARGEST_OBJECT: Final = 256 * 1024 * 1024
SUFFIXES: Final = (".json", ".ndjson", ".jsonl", ".yaml", ".yml")

_QUOTE, _BACKSLASH, _OPEN, _CLOSE = 1, 2, 3, 4
_CLASSES: Final = bytes.maketrans(
    bytes(range(256)), bytes({34: 1, 92: 2, 91: 3, 123: 3, 93: 4, 125: 4}.get(c, 0) for c in range(256))
)
_KUBECTL_ITEM: Final = b"\n        {\n"
_KUBECTL_END: Final = b"\n        }"
_KUBECTL_BETWEEN: Final = _KUBECTL_END + b","
_KUBECTL_LIST_END: Final = b"\n    ]"
_BETWEEN: Final = b", \t\r\n"
_ITEMS_BEFORE: Final = re.compile(rb'"items"\s*:\s*\Z')


def files_in(paths: Iterable[str | Path]) -> list[str]:
    """The files named by paths: a folder stands for the JSON and YAML files below it, sorted. `-` is standard input.

    Hidden files and folders are left out; behind them a mounted ConfigMap keeps what its links show.
    """
    found: list[str] = []
    for path in map(str, paths):
        if path != "-" and Path(path).is_dir():
            inside = [str(file) for file in sorted(Path(path).rglob("*")) if _is_object_file(file, Path(path))]
            if not inside:
                raise DocumentError(
                    path, f"the folder holds no file that ends in {', '.join(SUFFIXES)} or those with .gz"
                )
            found += inside
        else:
            found.append(path)
    return found


def stream_objects(
    path: str | Path, progress: Progress | None = None, chunk: int = CHUNK, *, empty_lists: list[str] | None = None
) -> Iterator[bytes]:
    """The JSON text of every object in a file, lists taken apart. Raises `DocumentError`.

    A list without items leaves its kind in `empty_lists`: an export of nothing is not the same as a wrong file.
    """
    empty = [] if empty_lists is None else empty_lists
    where = "standard input" if str(path) == "-" else str(path)
    try:
        with _open(path) as (file, position):
            read = _reader(file, position, progress)
            first = read(chunk)
            if first.lstrip()[:1] in (b"{", b"["):
                yield from _Scanner(where, first, read, chunk, empty).objects()
            elif first.strip():
                yield from _yaml_objects(first, read, where, empty)
    except OSError as error:
        raise DocumentError(where, error.strerror or "cannot be read") from None
    except (EOFError, zlib.error):
        raise DocumentError(where, "not a complete gzip file") from None


def _is_object_file(file: Path, root: Path) -> bool:
    if any(part.startswith(".") for part in file.relative_to(root).parts):
        return False
    return file.is_file() and file.name.removesuffix(".gz").endswith(SUFFIXES)


@contextmanager
def _open(path: str | Path) -> Iterator[tuple[IO[bytes], Callable[[], int]]]:
    """The unpacked file, and a function that says how far the file on disk was read."""
    if str(path) == "-":
        yield sys.stdin.buffer, lambda: 0
        return
    with Path(path).open("rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        if not packed:
            yield raw, raw.tell
            return
        with gzip.open(raw) as unpacked:
            yield unpacked, raw.tell  # type: ignore[misc]


def _reader(file: IO[bytes], position: Callable[[], int], progress: Progress | None) -> Callable[[int], bytes]:
    last = 0

    def read(size: int) -> bytes:
        nonlocal last
        text = file.read(size)
        if progress is not None:
            now = position()
            progress(now - last)
            last = now
        return text

    return read


def _yaml_objects(first: bytes, read: Callable[[int], bytes], where: str, empty: list[str]) -> Iterator[bytes]:
    parts = [first]
    while more := read(CHUNK):
        parts.append(more)
        if sum(map(len, parts)) > LARGEST_OBJECT:
            raise DocumentError(where, f"YAML of more than {LARGEST_OBJECT >> 20} MiB; dump it with `-o json` instead")
    text = b"".join(parts)
    documents = load_documents(text, where)
    for document in documents:
        yield msgspec.json.encode(document)
    if not documents:
        for value in load_values(text, where):
            yield from _items_of(msgspec.json.encode(value), where, empty)


class _State(Enum):
    ROOT = "between root values"
    ITEMS = "in a list"
    TAIL = "behind the items of a list"


class _Scanner:
    """Walks root values; in a root too large for the buffer, walks its `items`. The buffer starts where a value may."""

    def __init__(
        self, where: str, first: bytes, read: Callable[[int], bytes], chunk: int, empty_lists: list[str]
    ) -> None:
        self.where, self.read, self.chunk, self.empty_lists = where, read, chunk, empty_lists
        self.buffer = first.removeprefix(b"\xef\xbb\xbf")
        self.state = _State.ROOT
        self.in_object = False  # whether the items stand in an object, which then has a tail

    def objects(self) -> Iterator[bytes]:
        while True:
            if self.state is _State.ITEMS and self.buffer.startswith(_KUBECTL_ITEM):
                yield from self._kubectl_items()
            found = _find_values(self.buffer)
            used = 0
            for start, end in zip(found.starts, found.ends, strict=False):
                self._refuse_junk(used, start)
                used = end
                if self.state is _State.ITEMS:
                    yield self.buffer[start:end]
                elif self.state is _State.ROOT:
                    yield from _items_of(self.buffer[start:end], self.where, self.empty_lists)
            if found.closed is not None:
                self._close()
                self.buffer = self.buffer[found.closed + 1 :]
            elif self.state is _State.ROOT and (items := self._items_begin(found, used)) is not None:
                self.state = _State.ITEMS
                self.buffer = self.buffer[items:]
            elif not self._read_on(used):
                return

    def _kubectl_items(self) -> Iterator[bytes]:
        """Items as kubectl indents them. A JSON string holds no line break, so the indentation alone tells them apart,
        several times faster than counting brackets. Leaves the last, unfinished item in the buffer."""
        while self.buffer.startswith(_KUBECTL_ITEM):
            *whole, rest = self.buffer.split(_KUBECTL_BETWEEN)
            for item in whole:
                if item.startswith(_KUBECTL_ITEM):
                    yield item + _KUBECTL_END
                else:  # an empty object has no lines of its own
                    yield from _items_of(b"[" + item + _KUBECTL_END + b"]", self.where, [])
            more = self.read(self.chunk) if len(rest) < LARGEST_OBJECT and _KUBECTL_LIST_END not in rest else b""
            self.buffer = rest + more
            if not more:
                return

    def _items_begin(self, found: _Found, used: int) -> int | None:
        """Where the items of the unfinished root begin, behind their `[`."""
        if len(found.starts) <= len(found.ends):
            return None
        root = found.starts[len(found.ends)]
        if self.buffer[root] == ord("["):
            self.in_object = False
            return root + 1
        for opening in found.second_level[found.second_level > root].tolist():
            if self.buffer[opening] == ord("[") and _ITEMS_BEFORE.search(self.buffer, max(root, opening - 64), opening):
                self.in_object = True
                return int(opening) + 1
        return None

    def _close(self) -> None:
        if self.state is _State.ROOT:
            raise DocumentError(self.where, "a closing bracket without an opening one")
        self.state = _State.TAIL if self.state is _State.ITEMS and self.in_object else _State.ROOT

    def _read_on(self, used: int) -> bool:
        rest = self.buffer[used:]
        more = self.read(self.chunk)
        if not more:
            if self.state is not _State.ROOT or rest.strip(_BETWEEN):
                raise DocumentError(self.where, "ends in the middle of an object; is the file cut off?")
            return False
        if len(rest) > LARGEST_OBJECT:
            raise DocumentError(self.where, f"one object is larger than {LARGEST_OBJECT >> 20} MiB")
        self.buffer = rest + more
        # An object that outgrew the chunk is scanned again from its start: read more each time, or it takes forever.
        self.chunk = max(self.chunk, len(rest))
        return True

    def _refuse_junk(self, start: int, end: int) -> None:
        between = self.buffer[start:end].strip(_BETWEEN)
        if between and self.state is not _State.TAIL:
            raise DocumentError(self.where, f"expected an object, got {between[:40].decode(errors='replace')!r}")


class _Found(NamedTuple):
    """Where values begin and end in a buffer, and the bracket that closes what is around them."""

    starts: list[int]
    ends: list[int]
    second_level: NDArray[np.int64]
    closed: int | None


def _find_values(buffer: bytes) -> _Found:
    classes = np.frombuffer(buffer.translate(_CLASSES), dtype=np.uint8)
    if b"\\" in buffer:
        classes = _without_escaped(classes)
    positions = np.flatnonzero(classes)
    kinds = classes[positions]
    quotes = kinds == _QUOTE
    outside = ((np.cumsum(quotes, dtype=np.int32) & 1) == 0) & ~quotes
    positions, opening = positions[outside], kinds[outside] == _OPEN
    depth = np.cumsum(np.where(opening, 1, -1), dtype=np.int32)
    closing = np.flatnonzero(depth < 0)
    closed = int(positions[closing[0]]) if closing.size else None
    if closing.size:
        positions, opening, depth = positions[: closing[0]], opening[: closing[0]], depth[: closing[0]]
    return _Found(
        starts=positions[opening & (depth == 1)].tolist(),
        ends=(positions[~opening & (depth == 0)] + 1).tolist(),
        second_level=positions[opening & (depth == 2)],
        closed=closed,
    )


def _without_escaped(classes: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Blank the backslashes, and every character that an odd number of them stands before."""
    backslashes = np.flatnonzero(classes == _BACKSLASH)
    first_of_run = np.flatnonzero(np.diff(backslashes, prepend=-2) != 1)
    lengths = np.diff(first_of_run, append=len(backslashes))
    escaping = backslashes[first_of_run + lengths - 1][lengths % 2 == 1]
    classes = classes.copy()
    classes[backslashes] = 0
    escaped = escaping + 1
    classes[escaped[escaped < len(classes)]] = 0
    return classes


class _ListObject(msgspec.Struct, rename="camel"):
    kind: str = ""
    api_version: str = ""
    items: list[msgspec.Raw] | None = None


def _items_of(value: bytes, where: str, empty_lists: list[str]) -> Iterator[bytes]:
    """A whole root value: itself, or its items when it is a list."""
    try:
        if value.startswith(b"["):
            items = msgspec.json.decode(value, type=list[msgspec.Raw])
            if not items:
                empty_lists.append("List")
            yield from (bytes(item) for item in items)
            return
        found = msgspec.json.decode(value, type=_ListObject) if b'"items"' in value else _ListObject()
        if found.items is None or not found.kind.endswith("List"):
            yield value
            return
        if not found.items:
            empty_lists.append(found.kind)
        kind = found.kind.removesuffix("List")
        for item in found.items:
            yield bytes(item) if not kind else _with_kind(item, kind, found.api_version)
    except msgspec.DecodeError as error:
        raise DocumentError(where, misfit(error, by_hand=True)) from None


def _with_kind(item: msgspec.Raw, kind: str, api_version: str) -> bytes:
    """A typed list (`ResourceBindingList`) leaves apiVersion and kind out of its items."""
    return msgspec.json.encode({"apiVersion": api_version, "kind": kind} | msgspec.json.decode(item, type=dict))
