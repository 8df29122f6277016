"""Reading objects from files: YAML, JSON, gzip, or standard input as `-`; never more of them than a bound."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final, cast

from interpreters.core.documents import Document, load_documents
from interpreters.core.errors import DocumentError

LARGEST_FILE: Final = 1 << 30
_CHUNK: Final = 1 << 20
_FOUND_FLAGS: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK  # opening a pipe must not wait for who writes to it


Fingerprint = tuple[tuple[str, int, int, int], ...]
"""Name, inode, size and time of each file: another one means that something was written."""


def fingerprint(files: Iterable[str | Path]) -> Fingerprint:
    """Of the files that are there: an editor or a rotation may take one away at any moment. Links are followed, as a
    ConfigMap's `..data` needs."""
    found = []
    for file in files:
        with suppress(OSError):
            status = Path(file).stat()
            found.append((str(file), status.st_ino, status.st_size, status.st_mtime_ns))
    return tuple(found)


def newest(seen: Fingerprint) -> float:
    """When the newest of the files was written."""
    return max((written for *_, written in seen), default=0) / 1e9


def read_bytes(path: str | Path, most: int = LARGEST_FILE) -> bytes:
    """What somebody named, a file, a pipe or standard input: its content, unpacked if it is gzip.

    Raises `DocumentError` in plain words, also for more than `most` bytes.
    """
    where = name_of(path)
    try:
        if str(path) == "-":
            return _unpacked(_read(sys.stdin.buffer, most, where), most, where)
        with Path(path).open("rb") as file:
            return _unpacked(_read(file, most, where), most, where)
    except IsADirectoryError:
        raise DocumentError(where, "a folder; expected a file") from None
    except OSError as error:
        raise DocumentError(where, error.strerror or "cannot be read") from None


def read_found(path: Path, root: Path, most: int = LARGEST_FILE) -> bytes:
    """The same for a file that was found at or below `root`, which others may write: a regular one, and in there.

    A link out of the folder would show its author, by our error messages, what the reader alone may read.
    """
    where = str(path)
    try:
        descriptor = os.open(path, _FOUND_FLAGS)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise DocumentError(where, "neither a file nor a link to one")
            if not _real_path(path, descriptor).is_relative_to(root.resolve()):
                raise DocumentError(where, f"a link that leads out of {root}; put a copy there")
            return _unpacked(_read(file, most, where), most, where)
    except OSError as error:
        raise DocumentError(where, error.strerror or "cannot be read") from None


def _real_path(path: Path, descriptor: int) -> Path:
    """Where an open file is. The kernel knows; asking by name again might find another file."""
    try:
        return Path(os.readlink(f"/proc/self/fd/{descriptor}"))  # noqa: PTH115 - its pathlib twin is no faster to read
    except OSError:
        return path.resolve()


def _read(file: BinaryIO, most: int, where: str) -> bytes:
    """What is larger is not read to its end: a device has none."""
    parts: list[bytes] = []
    total = 0
    while chunk := file.read(_CHUNK):
        total += len(chunk)
        if total > most:
            raise DocumentError(where, f"larger than {most} bytes")
        parts.append(chunk)
    return b"".join(parts)


def _unpacked(raw: bytes, most: int, where: str) -> bytes:
    if raw[:2] != b"\x1f\x8b":
        return raw
    import gzip
    import zlib
    from io import BytesIO

    try:
        with gzip.GzipFile(fileobj=BytesIO(raw)) as packed:
            return _read(cast(BinaryIO, packed), most, f"{where}, unpacked")
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise DocumentError(where, "not a complete gzip file") from None


def name_of(path: str | Path) -> str:
    """What messages call a file."""
    return "standard input" if str(path) == "-" else str(path)


def read_documents(path: str | Path) -> list[Document]:
    """The objects in a file, `List`s taken apart."""
    return load_documents(read_bytes(path), name_of(path))
