"""Answers for machines: the fields of each reply, or its error."""

from __future__ import annotations

from typing import Any

from interp.output.json import print_json
from interp.output.yaml import print_yaml
from interp.verbs.run.answers import Answers
from interp.verbs.run.formats.asides import print_answer_error, print_printed, print_warnings
from interpreters.core.errors import InterpError
from interpreters.core.requirements import Wire
from interpreters.core.wire import response_fields


class Failure(Wire, frozen=True):
    """Why there is no reply, as `error` in the output."""

    code: int
    message: str


def print_json_fields(answers: Answers) -> None:
    documents = _documents(answers)
    print_json(documents[0] if len(documents) == 1 else documents)


def print_yaml_fields(answers: Answers) -> None:
    print_yaml(*_documents(answers))


def _documents(answers: Answers) -> list[dict[str, Any]]:
    """One object a document; with several operations, a field for each."""
    documents: list[dict[str, Any]] = []
    seen: list[int] = []
    for answer in answers.each:
        if isinstance(answer.found, InterpError):
            print_answer_error(answer, answer.found)
            fields: dict[str, Any] = {"error": Failure(answer.found.code, str(answer.found))}
        else:
            print_printed(answer.found)
            print_warnings(answer.found)
            fields = response_fields(answer.found.reply)
        if answers.single_operation:
            documents.append(fields)
        elif id(answer.object) in seen:
            documents[seen.index(id(answer.object))][answer.operation.name] = fields
        else:
            seen.append(id(answer.object))
            documents.append({answer.operation.name: fields})
    return documents
