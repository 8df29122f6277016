"""Reading objects from files: YAML, JSON, gzip, or standard input as `-`."""

from __future__ import annotations

import sys
from pathlib import Path

from interpreters.core.documents import Document, load_documents
from interpreters.core.errors import DocumentError

LARGEST_FILE = 1 << 30


def read_bytes(path: str | Path) -> bytes:
    """A file's content, or standard input's, unpacked if it is gzip. Raises `DocumentError` in plain words."""
    where = name_of(path)
    try:
        raw = sys.stdin.buffer.read() if str(path) == "-" else Path(path).read_bytes()
    except IsADirectoryError:
        raise DocumentError(where, "a folder; expected a file") from None
    except OSError as error:
        raise DocumentError(where, error.strerror or "cannot be read") from None
    return _unpacked(raw, where) if raw[:2] == b"\x1f\x8b" else raw


def _unpacked(raw: bytes, where: str) -> bytes:
    import gzip
    import zlib
    from io import BytesIO

    try:
        with gzip.GzipFile(fileobj=BytesIO(raw)) as packed:
            unpacked = packed.read(LARGEST_FILE + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise DocumentError(where, "not a complete gzip file") from None
    if len(unpacked) > LARGEST_FILE:
        raise DocumentError(where, f"unpacks to more than {LARGEST_FILE} bytes")
    return unpacked


def name_of(path: str | Path) -> str:
    """What messages call a file."""
    return "standard input" if str(path) == "-" else str(path)


def read_documents(path: str | Path) -> list[Document]:
    """The objects in a file, `List`s taken apart."""
    return load_documents(read_bytes(path), name_of(path))
