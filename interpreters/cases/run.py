"""Asking scripts what cases ask, and comparing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec

from interpreters.cases.model import Case, Result, Verdict
from interpreters.catalog import Catalog
from interpreters.comparison import Difference, compare
from interpreters.core.errors import InterpError, ScriptError
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.operations import Answer, Operation
from interpreters.core.wire import Reply, Request
from interpreters.interpretation import Interpretation, Runner, interpret, request_for
from interpreters.retention import retains, second_retain


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
