"""Reading objects from files: YAML, JSON, gzip, or standard input as `-`."""

from __future__ import annotations

import gzip
import sys
import zlib
from pathlib import Path

from interpreters.core.documents import Document, load_documents
from interpreters.core.errors import DocumentError

LARGEST_FILE = 1 << 30


def read_bytes(path: str | Path) -> bytes:
    """A file's content, unpacked if it is gzip. Raises `DocumentError` with the reason in plain words."""
    if str(path) == "-":
        return sys.stdin.buffer.read()
    try:
        raw = Path(path).read_bytes()
        if raw[:2] != b"\x1f\x8b":
            return raw
        with gzip.open(path) as packed:
            unpacked = packed.read(LARGEST_FILE + 1)
    except OSError as error:
        raise DocumentError(str(path), error.strerror or "cannot be read") from None
    except (EOFError, zlib.error):
        raise DocumentError(str(path), "not a complete gzip file") from None
    if len(unpacked) > LARGEST_FILE:
        raise DocumentError(str(path), f"unpacks to more than {LARGEST_FILE} bytes")
    return unpacked


def read_documents(path: str | Path) -> list[Document]:
    """The objects in a file, `List`s taken apart."""
    return load_documents(read_bytes(path), "standard input" if str(path) == "-" else str(path))
