"""Karmada's test format up to 1.16: a `customizations_tests.yaml` that names operations and files with objects.

It knows no expectations: a test passes when the script answers. Since 1.17 a test holds its objects itself, and that is
what the older ones are turned into here.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from interpreters.core.documents import load_values
from interpreters.core.errors import DocumentError
from interpreters.files import read_bytes

OLDER_TESTS_FILE: Final = "customizations_tests.yaml"
_KEYS: Final = ("operation", "desiredInputPath", "observedInputPath", "statusInputPath", "desiredReplicas")


def newer_tests(documents: list[Any], file: Path) -> Iterator[dict[str, Any]]:
    """The tests of the file as Karmada writes them today. Raises `DocumentError` naming the test and the key."""
    tests = documents[0].get("tests") if len(documents) == 1 and isinstance(documents[0], dict) else None
    if not isinstance(tests, list):
        raise DocumentError(str(file), "expected one document with a list of tests")
    for number, test in enumerate(tests, 1):
        where = f"{file}: test {number}"
        if not isinstance(test, dict):
            raise DocumentError(where, f"expected an object, got {test!r:.40}")
        unknown = [key for key in test if key not in _KEYS]
        if unknown:
            raise DocumentError(where, f"unknown key {unknown[0]}; known are {', '.join(_KEYS)}")
        yield _newer(test, number, file.parent, where)


def _newer(test: dict[str, Any], number: int, folder: Path, where: str) -> dict[str, Any]:
    read = {key: _read(test.get(f"{key}InputPath"), folder, where) for key in ("desired", "observed", "status")}
    about = Path(str(test.get("desiredInputPath") or test.get("observedInputPath"))).name
    return {
        "name": f"{number}: {test.get('operation')} of {about}",
        "operation": test.get("operation"),
        "desiredObj": read["desired"] and read["desired"][0],
        "observedObj": read["observed"] and read["observed"][0],
        "statusItems": read["status"],
        "inputReplicas": test.get("desiredReplicas"),
    }


def _read(path: Any, folder: Path, where: str) -> list[Any] | None:
    """The documents in a file that a test names; Karmada takes a leading slash for the folder of the tests."""
    if not path:
        return None
    if not isinstance(path, str):
        raise DocumentError(where, f"expected the path of a file, got {path!r:.40}")
    file = folder / path.lstrip("/")
    documents = load_values(read_bytes(file), str(file))
    if not documents:
        raise DocumentError(f"{where}: {file}", "no object in it")
    return documents
