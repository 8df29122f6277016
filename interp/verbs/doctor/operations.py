"""Asking a running webhook about every operation as Karmada does, judged by its rules; equal failures are told once."""

from __future__ import annotations

import http.client
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any
from uuid import uuid4

import msgspec

from certs.check import Finding
from interp.connection_errors import TIMED_OUT, connection_problem
from interp.verbs.doctor.acceptance import problems_of
from interpreters.cases import Case, case_files, read_cases
from interpreters.core.karmada.api import CONFIG_API
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.operations import Answer, Operation
from interpreters.core.wire import KIND
from interpreters.scan import Candidate, Found, scan

_LATENCIES = 20
_SLOW_SECONDS = 0.1
_HOPELESS = 3  # so many answers in the beginning that are none, all alike: the rest would be the same

NO_ANSWER = 0
"""Stands for an HTTP status where there was no answer at all."""


@dataclass(frozen=True, slots=True)
class Caller:
    """One keep-alive connection, the path that Karmada is given, and its timeout."""

    connection: http.client.HTTPSConnection
    path: str
    timeout: int

    def exchange(self, request: dict[str, Any]) -> tuple[int, bytes]:
        """Status and body of the answer. Raises `OSError` or `HTTPException`."""
        body = msgspec.json.encode({"apiVersion": CONFIG_API, "kind": KIND, "request": request})
        headers = {"Content-Type": "application/json", "User-Agent": "interp-doctor"}
        self.connection.request("POST", f"{self.path}?timeout={self.timeout}s", body, headers)
        response = self.connection.getresponse()
        return response.status, response.read()


@dataclass(slots=True)
class _Failure:
    """One cause, with every question that met it."""

    status: int
    message: str
    foreign: bool = False
    asked: list[Case] = field(default_factory=list)

    def finding(self, unasked: int) -> Finding:
        first = self.asked[0]
        if len(self.asked) == 1:
            return Finding(
                "error", _subject(first), self.message, self._fix(f"register {first.operation} for this kind")
            )
        more = f", and the other {unasked} were not asked" if unasked else ""
        message = f"{self.message} (first for {_subject(first)}{more})"
        return Finding("error", f"{len(self.asked)} operations", message, self._fix("register them"))

    @property
    def is_of_the_server(self) -> bool:
        """Not of one script: whatever else is asked meets it too."""
        return self.status != 200 or self.foreign

    def _fix(self, registering: str) -> str:
        if self.foreign:
            return "these are not answers of interp: is another server behind this address?"
        match self.status:
            case _ if self.status == NO_ANSWER and self.message.endswith(TIMED_OUT):
                return "the answer must come within the registered timeout"
            case _ if self.status == NO_ANSWER:
                return "see the server's log; a listener with clientCa (adminPort) hangs up like this, for Karmada too"
            case 404:
                return "the path is wrong: /interpret, followed by the path secret if one is set"
            case 403:
                return "add this address to allowFrom"
            case 200:
                return f"do not {registering}, or mend the script: `interp test` shows more"
        return "see the server's log"


_HONEST = "the operation failed"  # how problems_of begins about a failure in a proper envelope
_FOREIGN = {"the body is not JSON", "the body is not an object", "apiVersion", "kind", "response", "response.uid"}


def cases_of(scripts: list[str], bundled: str, *, everything: bool) -> list[Case]:
    """The objects to ask about: of each kind and operation the first case that expects an answer, or all of them."""
    found: list[Found] = scan([Path(place) for place in scripts], bundled=None if bundled == "none" else bundled)
    folders = dict.fromkeys(entry.folder for entry in found if isinstance(entry, Candidate) and entry.folder)
    cases = [case for folder in folders for file in case_files(folder) for case in read_cases(file)]
    wanted: dict[tuple[Any, ...], Case] = {}
    for case in cases:
        if case.want_error is None:
            key = (GroupVersionKind.of(case.object), case.operation, *([case.name] if everything else []))
            wanted.setdefault(key, case)
    return list(wanted.values())


def question(caller: Caller, cases: Sequence[Case]) -> Iterator[Finding]:
    """Ask about all cases, unless the first answers show that there is no point."""
    if not cases:
        yield Finding("warning", "operations", "no case object to ask about", "name scripts with cases by --scripts")
        return
    failures: dict[tuple[Any, ...], _Failure] = {}
    for asked, case in enumerate(cases, 1):
        answer = _ask(caller, case)
        if answer is not None:
            key, failure = answer
            failures.setdefault(key, failure).asked.append(case)
        hopeless = asked == _HOPELESS and [len(one.asked) for one in failures.values()] == [asked]
        if hopeless and next(iter(failures.values())).is_of_the_server:
            break
    for failure in failures.values():
        yield failure.finding(len(cases) - asked)
    if not failures:
        yield Finding("ok", "operations", f"{len(cases)} answers, and Karmada would accept them all")
        yield _latency(caller, cases[0])


def _ask(caller: Caller, case: Case) -> tuple[tuple[Any, ...], _Failure] | None:
    """What is wrong with the answer, and what it has in common with others that have the same cause."""
    request = _request(case)
    try:
        status, body = caller.exchange(request)
    except (OSError, http.client.HTTPException) as error:
        caller.connection.close()
        message = f"no answer: {connection_problem(error)}"
        return (NO_ANSWER, isinstance(error, TimeoutError)), _Failure(NO_ANSWER, message)
    problems = problems_of(request, status, body)
    if not problems:
        return None
    # What a stranger's server puts into its bodies may differ each time; what is wrong with them does not.
    alike = [one if one.startswith(_HONEST) else one.partition(":")[0] for one in problems]
    return (status, *alike), _Failure(status, "; ".join(problems), foreign=not _FOREIGN.isdisjoint(alike))


def _latency(caller: Caller, case: Case) -> Finding:
    taken = []
    for _ in range(_LATENCIES):
        start = time.perf_counter()
        caller.exchange(_request(case))
        taken.append(time.perf_counter() - start)
    middle = median(taken)
    message = f"median {middle * 1000:.1f} ms, slowest {max(taken) * 1000:.1f} ms of {_LATENCIES}"
    if middle > _SLOW_SECONDS:
        return Finding(
            "warning", "latency", message, "Karmada asks a dozen times per object: run it nearer, or add workers"
        )
    return Finding("ok", "latency", message)


def _subject(case: Case) -> str:
    return f"{GroupVersionKind.of(case.object)} {case.operation}"


def _request(case: Case) -> dict[str, Any]:
    kind = GroupVersionKind.of(case.object)
    metadata = case.object.get("metadata") or {}
    request: dict[str, Any] = {
        "uid": str(uuid4()),
        "kind": kind._asdict(),
        "name": metadata.get("name", ""),
        "namespace": metadata.get("namespace", ""),
        "operation": case.operation.name,
        "object": _unheld(case),
        "replicas": case.replicas,
    }
    more = {"observedObject": case.observed, "aggregatedStatus": case.status}
    return request | {name: value for name, value in more.items() if value is not None}


def bare_request(kind: GroupVersionKind, operation: Operation) -> dict[str, Any]:
    """A question about an object that has a name and nothing else; no API server holds it."""
    obj = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": "doctor"}}
    request = {"uid": str(uuid4()), "kind": kind._asdict(), "name": "doctor", "operation": operation.name}
    return {**request, "object": obj, "replicas": 0, "observedObject": obj, "aggregatedStatus": []}


def _unheld(case: Case) -> dict[str, Any]:
    """The object as no API server holds it: a server with a ledger notes what is asked about, by its uid."""
    if case.operation.answer not in (Answer.COMPONENTS, Answer.REPLICAS) or not case.object.get("metadata"):
        return case.object
    metadata = {name: value for name, value in case.object["metadata"].items() if name != "uid"}
    return {**case.object, "metadata": metadata}
