"""YAML and JSON files: refused in our words, or plain values that can be written down and read again."""

import msgspec

from interpreters.core.documents import DocumentError, dump_documents, load_documents, load_values


def check(data: bytes) -> None:
    try:
        values = load_values(data, "file.yaml")
        load_documents(data, "file.yaml")
    except DocumentError as error:
        assert str(error).startswith("file.yaml")
    else:
        written = dump_documents(values)
        assert msgspec.json.encode(load_values(written)) == msgspec.json.encode(values), written
