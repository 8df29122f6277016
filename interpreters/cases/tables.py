"""Reading case tables: ours is `cases.yaml`, Karmada's are `testdata/*-test.yaml` and `customizations_tests.yaml`.

A case of ours may be written as a difference: its object as a change to that of an earlier case or of a file, and what
it wants as a change to that case's answer, or to the object where an object is the answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from interpreters.cases.differences import changed
from interpreters.cases.karmada_tables import OUTPUT, named_operation, read_karmada_test
from interpreters.cases.model import Case
from interpreters.cases.older_tests import OLDER_TESTS_FILE, newer_tests
from interpreters.core.documents import load_documents, load_values
from interpreters.core.errors import DocumentError, InputError
from interpreters.core.operations import Answer, Operation
from interpreters.files import read_bytes, read_found

_OUR_FILE: Final = "cases.yaml"
_KARMADA_SUFFIX: Final = "-test.yaml"
_ANSWER: Final[dict[str, Any]] = {field: {} for field in dict.fromkeys(OUTPUT.values())}
_CHANGE: Final = "a JSON merge patch; a mapping of positions changes elements of a list"

CASE_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["name", "operation"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string", "minLength": 1, "description": "says what the case shows; unique in the file"},
        "why": {"type": "string", "description": "the rule behind it and where it is written"},
        "operation": {"type": "string", "description": "an operation or a function, in any case"},
        "object": {
            "type": ["object", "string"],
            "description": "in full, or a file beside the table, `sample.yaml` or `sample.yaml#name`",
        },
        "base": {"type": "string", "description": "an earlier case with an object in full, instead of `object`"},
        "set": {"type": "object", "description": f"what differs from the object of the base or file: {_CHANGE}"},
        "observed": {"type": ["object", "string"], "description": "Retain: the object in the member cluster"},
        "observedSet": {"type": "object", "description": f"the same, as what differs from the object: {_CHANGE}"},
        "status": {"type": "array", "items": {"type": "object"}, "description": "AggregateStatus: one item a cluster"},
        "replicas": {"type": "integer", "description": "ReviseReplica: the number asked for"},
        "want": {
            "type": "object",
            "description": "response fields; `object` for operations that change it",
            "additionalProperties": False,
            "properties": _ANSWER,
        },
        "wantChanged": {
            "type": "object",
            "description": "what differs from the answer of the base, or from the object where that is the answer: "
            + _CHANGE,
            "additionalProperties": False,
            "properties": _ANSWER,
        },
        "wantError": {"type": "string", "description": "a part of the error message"},
        "match": {"enum": ["exact", "partial"]},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
}
_ONE_OF: Final = (("object", "base"), ("observed", "observedSet"), ("want", "wantChanged", "wantError"))


def read_cases(file: Path) -> list[Case]:
    """The cases of one file, whichever format it has. Raises `DocumentError` naming the case and the key."""
    documents = load_values(read_bytes(file), str(file))
    if file.name == OLDER_TESTS_FILE:
        documents = list(newer_tests(documents, file))
    entries = [entry for document in documents for entry in (document if isinstance(document, list) else [document])]
    is_karmada = file.name == OLDER_TESTS_FILE or file.name.endswith(_KARMADA_SUFFIX)
    found: dict[str, Case] = {}
    for position, entry in enumerate(entries):
        case = read_karmada_test(entry, file, position) if is_karmada else _read_ours(entry, file, position, found)
        if case.name in found:
            raise DocumentError(f"{file}: case {position + 1}", f"duplicate name {case.name!r}")
        found[case.name] = case
    return list(found.values())


def _read_ours(entry: Any, file: Path, position: int, earlier: Mapping[str, Case]) -> Case:
    where = f"{file}: case {position + 1}"
    for error in _case_validator().iter_errors(entry):
        path = ".".join(str(part) for part in error.absolute_path)
        raise DocumentError(f"{where}{': ' + path if path else ''}", error.message)
    for keys in _ONE_OF:
        if len(given := [key for key in keys if key in entry]) > 1:
            raise DocumentError(where, f"{' and '.join(given)} say the same thing twice; keep one")
    operation = named_operation(entry["operation"], where)
    base = _base(entry, where, earlier)
    obj = _object(entry, file, where, base)
    reference = _reference(operation, obj, base)
    want = entry.get("want")
    if "wantChanged" in entry:
        if reference is None:
            raise DocumentError(
                f"{where}: wantChanged", f"needs a base that asks {operation.name} and has `want` in full; write `want`"
            )
        want = _changed(reference, entry["wantChanged"], f"{where}: wantChanged")
    return Case(
        name=entry["name"],
        operation=operation,
        object=obj,
        file=file,
        position=position,
        observed=_observed(entry, file, where, obj),
        status=entry.get("status"),
        replicas=entry.get("replicas", 0),
        want=want,
        reference=reference,
        want_error=entry.get("wantError"),
        partial=entry.get("match") == "partial",
        base=entry.get("base"),
    )


def _base(entry: dict[str, Any], where: str, earlier: Mapping[str, Case]) -> Case | None:
    if "base" not in entry:
        return None
    base = earlier.get(entry["base"])
    if base is None:
        known = ", ".join(case.name for case in earlier.values() if case.base is None) or "none"
        raise DocumentError(f"{where}: base", f"no case before this one is called {entry['base']!r}; known are {known}")
    if base.base is not None:
        raise DocumentError(f"{where}: base", f"{base.name!r} is based on {base.base!r} itself; name that one")
    return base


def _object(entry: dict[str, Any], file: Path, where: str, base: Case | None) -> dict[str, Any]:
    given = entry.get("object")
    if base is None and given is None:
        raise DocumentError(where, "expected an object: `object`, or `base` with the name of an earlier case")
    if isinstance(given, dict):
        if "set" in entry:
            raise DocumentError(f"{where}: set", "changes the object of a base or file; here the object is in full")
        return given
    obj = base.object if base is not None else _from_file(str(given), file, f"{where}: object")
    found: dict[str, Any] = _changed(obj, entry.get("set", {}), f"{where}: set")
    return found


def _observed(entry: dict[str, Any], file: Path, where: str, obj: dict[str, Any]) -> dict[str, Any] | None:
    if "observedSet" in entry:
        found: dict[str, Any] = _changed(obj, entry["observedSet"], f"{where}: observedSet")
        return found
    given: dict[str, Any] | str | None = entry.get("observed")
    return _from_file(given, file, f"{where}: observed") if isinstance(given, str) else given


def _reference(operation: Operation, obj: dict[str, Any], base: Case | None) -> dict[str, Any] | None:
    if operation.answer is Answer.OBJECT:
        return {"object": obj}
    return base.want if base is not None and base.operation == operation and not base.partial else None


def _changed(value: Any, change: dict[str, Any], where: str) -> Any:
    try:
        return changed(value, change)
    except InputError as error:
        raise DocumentError(where, str(error)) from None


def _from_file(text: str, table: Path, where: str) -> dict[str, Any]:
    """`sample.yaml`, with one object, or `sample.yaml#name`, beside the table."""
    path, _, name = text.partition("#")
    if not path or Path(path).is_absolute() or ".." in Path(path).parts:
        raise DocumentError(where, f"expected an object, or a file beside the table or below, got {text!r:.80}")
    file = table.parent / path
    objects = load_documents(read_found(file, table.parent), str(file))
    names = [str((obj.get("metadata") or {}).get("name", "")) for obj in objects]
    chosen = [obj for obj, own in zip(objects, names, strict=True) if not name or own == name]
    if len(chosen) != 1:
        called = f" called {name!r}" if name else ""
        known = f": {', '.join(names)}" if names else ""
        raise DocumentError(where, f"{path} has {len(chosen)} objects{called}; expected one of its {len(names)}{known}")
    return chosen[0]


@lru_cache
def _case_validator() -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(CASE_SCHEMA)


def case_files(folder: Path) -> Iterator[Path]:
    """The case files that belong to the script or customization in this folder."""
    for name in (_OUR_FILE, OLDER_TESTS_FILE):
        if (folder / name).is_file():
            yield folder / name
    yield from sorted((folder / "testdata").glob(f"*{_KARMADA_SUFFIX}"))


def is_case_file(file: Path) -> bool:
    """Whether a file is a test table, by its name."""
    return file.name in (_OUR_FILE, OLDER_TESTS_FILE) or file.name.endswith(_KARMADA_SUFFIX)


def scripts_folder(case_file: Path) -> Path:
    """Where the script is that a test table is about."""
    return case_file.parent.parent if case_file.parent.name == "testdata" else case_file.parent
