"""The test tables of scripts, ours and Karmada's, read into one noun and run.

Ours is `cases.yaml`, Karmada's are `testdata/*-test.yaml` and up to 1.16 `customizations_tests.yaml`.
`interp test`, pytest and lint all use this.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import msgspec

from interpreters.catalog import Catalog
from interpreters.comparison import Difference, compare
from interpreters.core.documents import load_values
from interpreters.core.errors import DocumentError, InterpError, ScriptError
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.operations import Answer, Operation, find_operation
from interpreters.core.wire import Reply, Request
from interpreters.files import read_bytes
from interpreters.interpretation import Interpretation, Runner, interpret, request_for
from interpreters.older_tests import OLDER_TESTS_FILE, newer_tests
from interpreters.retention import retains, second_retain

_OUR_FILE: Final = "cases.yaml"
_KARMADA_SUFFIX: Final = "-test.yaml"
_KARMADA_OUTPUT: Final = {
    "replica": "replicas",
    "requires": "replicaRequirements",
    "components": "components",
    "revised": "object",
    "retained": "object",
    "aggregatedStatus": "object",
    "status": "rawStatus",
    "healthy": "healthy",
    "dependencies": "dependencies",
}

CASE_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["name", "operation", "object"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string", "minLength": 1, "description": "says what the case shows; unique in the file"},
        "why": {"type": "string", "description": "the rule behind it and where it is written"},
        "operation": {"type": "string", "description": "an operation or a function, in any case"},
        "object": {"type": "object"},
        "observed": {"type": "object", "description": "Retain: the object in the member cluster"},
        "status": {"type": "array", "items": {"type": "object"}, "description": "AggregateStatus: one item a cluster"},
        "replicas": {"type": "integer", "description": "ReviseReplica: the number asked for"},
        "want": {
            "type": "object",
            "description": "response fields; `object` for operations that change it",
            "additionalProperties": False,
            "properties": {field: {} for field in dict.fromkeys(_KARMADA_OUTPUT.values())},
        },
        "wantError": {"type": "string", "description": "a part of the error message"},
        "match": {"enum": ["exact", "partial"]},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
}


@dataclass(frozen=True, slots=True)
class Case:
    """One question and the wanted answer. Neither `want` nor `want_error`: nothing to compare with."""

    name: str
    operation: Operation
    object: dict[str, Any]
    file: Path
    position: int  # of the case in its file, from 0
    observed: dict[str, Any] | None = None
    status: list[dict[str, Any]] | None = None
    replicas: int = 0
    want: dict[str, Any] | None = None
    want_error: str | None = None
    partial: bool = False
    is_karmada: bool = False

    @property
    def expects_nothing(self) -> bool:
        return self.want is None and self.want_error is None


class Verdict(Enum):
    PASSED = "passed"
    FAILED = "failed"
    NOT_COMPARED = "not compared"


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a case."""

    case: Case
    verdict: Verdict
    differences: tuple[Difference, ...] = ()
    error: InterpError | None = None
    interpretation: Interpretation | None = None
    seconds: float = 0.0
    printed: str = field(default="", compare=False)

    @property
    def cost(self) -> int | None:
        """What the scripts' calls cost, if they answered."""
        return sum(outcome.cost for outcome in self.interpretation.outcomes) if self.interpretation else None

    @property
    def reasons(self) -> list[str]:
        """Why it failed, a line each."""
        lines = [str(difference) for difference in self.differences]
        return [str(self.error), *lines] if self.error else lines

    @property
    def lost(self) -> list[str]:
        """What the script returned and the reply does not hold: no failure, but hardly what its author wanted."""
        return self.interpretation.lost if self.interpretation else []


def read_cases(file: Path) -> list[Case]:
    """The cases of one file, whichever format it has. Raises `DocumentError` naming the case and the key."""
    documents = load_values(read_bytes(file), str(file))
    if file.name == OLDER_TESTS_FILE:
        documents = list(newer_tests(documents, file))
    cases = [entry for document in documents for entry in (document if isinstance(document, list) else [document])]
    is_karmada = file.name == OLDER_TESTS_FILE or file.name.endswith(_KARMADA_SUFFIX)
    read = _read_karmada if is_karmada else _read_ours
    seen: set[str] = set()
    found = []
    for position, entry in enumerate(cases):
        case = read(entry, file, position)
        if case.name in seen:
            raise DocumentError(f"{file}: case {position + 1}", f"the name {case.name!r} stands twice")
        seen.add(case.name)
        found.append(case)
    return found


def _read_ours(entry: Any, file: Path, position: int) -> Case:
    where = f"{file}: case {position + 1}"
    for error in _case_validator().iter_errors(entry):
        path = ".".join(str(part) for part in error.absolute_path)
        raise DocumentError(f"{where}{': ' + path if path else ''}", error.message)
    return Case(
        name=entry["name"],
        operation=_operation(entry["operation"], where),
        object=entry["object"],
        file=file,
        position=position,
        observed=entry.get("observed"),
        status=entry.get("status"),
        replicas=entry.get("replicas", 0),
        want=entry.get("want"),
        want_error=entry.get("wantError"),
        partial=entry.get("match") == "partial",
    )


def _read_karmada(entry: Any, file: Path, position: int) -> Case:
    where = f"{file}: document {position + 1}"
    if not isinstance(entry, dict) or not isinstance(entry.get("operation"), str):
        raise DocumentError(where, "expected a test with an operation")
    operation = _operation(entry["operation"], where)
    desired, observed = entry.get("desiredObj"), entry.get("observedObj")
    obj = desired or observed
    if not isinstance(obj, dict):
        raise DocumentError(where, "expected an object in desiredObj or observedObj")
    for key, kind in (("output", dict), ("observedObj", dict), ("statusItems", list), ("inputReplicas", int)):
        if not isinstance(entry.get(key), kind | None):
            raise DocumentError(f"{where}: {key}", f"expected {_WORDS[kind]}, got {entry[key]!r:.40}")
    output = entry.get("output")
    unknown = [key for key in output or {} if key not in _KARMADA_OUTPUT]
    if unknown:
        raise DocumentError(f"{where}: output", f"unknown key {unknown[0]}; known are {', '.join(_KARMADA_OUTPUT)}")
    return Case(
        name=str(entry.get("name") or f"document {position + 1}"),
        operation=operation,
        object=obj,
        file=file,
        position=position,
        observed=observed,
        status=entry.get("statusItems"),
        replicas=entry.get("inputReplicas") or 0,
        want={_KARMADA_OUTPUT[key]: value for key, value in output.items()} if output else None,
        is_karmada=True,
    )


_WORDS: Final = {dict: "an object", list: "a list", int: "a whole number"}


def _operation(text: str, where: str) -> Operation:
    try:
        return find_operation(text)
    except InterpError as error:
        raise DocumentError(f"{where}: operation", str(error)) from None


@lru_cache
def _case_validator() -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(CASE_SCHEMA)


def run_case(runner: Runner, catalog: Catalog, case: Case) -> Result:
    """Ask the catalog's script and compare."""
    try:
        answer = interpret(runner, catalog, case_request(case))
    except InterpError as error:
        return _judge_error(case, error)
    if case.want_error is not None:
        want = Difference("error", f"an error with {case.want_error!r}", "a reply")
        return Result(case, Verdict.FAILED, (want,), interpretation=answer, printed=answer.printed)
    got = reply_fields(answer.reply, case.operation)
    if case.is_karmada:  # Karmada compares what the output names and nothing else
        got = {name: value for name, value in got.items() if name in (case.want or {})}
    differences = compare(case.want, got, partial=case.partial) if case.want is not None else []
    differences += _when_retained_again(runner, catalog, case, answer)
    verdict = Verdict.FAILED if differences else Verdict.NOT_COMPARED if case.expects_nothing else Verdict.PASSED
    if case.expects_nothing and not case.is_karmada:
        verdict = Verdict.FAILED
        differences = [Difference("want", "an expectation", "neither want nor wantError in the case")]
    return Result(case, verdict, tuple(differences), interpretation=answer, printed=answer.printed)


def served_as(case: Case, kind: GroupVersionKind) -> Case:
    """The same case asked about another version of its kind; one of another group or kind stays as it is."""
    own = GroupVersionKind.of(case.object)
    if own == kind or (own.group, own.kind) != (kind.group, kind.kind):
        return case
    version = {"apiVersion": kind.api_version}
    want = case.want
    if want is not None and isinstance(want.get("object"), dict) and "apiVersion" in want["object"]:
        want = want | {"object": want["object"] | version}
    return replace(
        case, object=case.object | version, observed=case.observed and case.observed | version, want=want,
    )  # fmt: skip


def _when_retained_again(runner: Runner, catalog: Catalog, case: Case, first: Interpretation) -> list[Difference]:
    """What a second Retain would change: every Retain case is one of idempotence, too."""
    if not retains(case.operation) or case.observed is None:
        return []
    return list(second_retain(runner, catalog, first, case.object, case.observed))


def case_request(case: Case) -> Request:
    """The request that a case stands for."""
    more: dict[str, Any] = {"replicas": case.replicas}
    if case.observed is not None:
        more["observed_object"] = msgspec.json.encode(case.observed)
    if case.status is not None:
        more["aggregated_status"] = msgspec.json.encode(case.status)
    return request_for(case.object, case.operation, **more)


def _judge_error(case: Case, error: InterpError) -> Result:
    printed = error.printed if isinstance(error, ScriptError) else ""
    if case.want_error is None:
        return Result(case, Verdict.FAILED, error=error, printed=printed)
    if case.want_error in str(error):
        return Result(case, Verdict.PASSED, printed=printed)
    difference = Difference("error", f"a message with {case.want_error!r}", str(error))
    return Result(case, Verdict.FAILED, (difference,), printed=printed)


def reply_fields(reply: Reply, operation: Operation) -> dict[str, Any]:
    """The reply in the words of a case: plain values, and the whole object for operations that change it."""
    if operation.answer is Answer.OBJECT:
        return {"object": reply.changed_object}
    fields: dict[str, Any] = {
        "replicas": reply.replicas,
        "replicaRequirements": reply.replica_requirements,
        "components": reply.components,
        "healthy": reply.healthy,
        "dependencies": reply.dependencies,
    }
    plain = {name: msgspec.to_builtins(value) for name, value in fields.items() if value is not None}
    if reply.raw_status is not None:
        plain["rawStatus"] = msgspec.json.decode(reply.raw_status)
    return plain


def within_cost(result: Result, most: int) -> Result:
    """The result; failed if its calls cost more than that."""
    if result.cost is None or result.cost <= most:
        return result
    difference = Difference("cost", f"at most {most}", str(result.cost))
    return replace(result, verdict=Verdict.FAILED, differences=(*result.differences, difference))


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
