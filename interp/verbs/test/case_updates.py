"""Writing what scripts answer into their case files, comments and layout kept (that is what ruamel.yaml is for)."""

from __future__ import annotations

from collections import defaultdict
from io import StringIO
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.scalarstring import LiteralScalarString, SingleQuotedScalarString

from interpreters.cases import Case, Result, read_cases, reply_fields
from interpreters.cases.differences import UnsayableError, difference
from interpreters.core.yaml_values import reads_as_text


def update_cases(failed: list[Result]) -> list[Result]:
    """Put the actual reply, or the actual error, into each failed case; returns those that were written."""
    by_file: dict[Path, list[Result]] = defaultdict(list)
    for result in failed:
        if result.interpretation or result.error or result.differences:
            by_file[result.case.file].append(result)
    for file, results in by_file.items():
        _update(file, results)
    return [result for results in by_file.values() for result in results]


def _update(file: Path, results: list[Result]) -> None:
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 110
    documents = list(yaml.load_all(file.read_text("utf-8-sig")))
    entries = [entry for document in documents for entry in (document if isinstance(document, list) else [document])]
    answers = {result.case.name: _answer(result) for result in results}
    for case in read_cases(file):
        if case.name in answers or case.base in answers:
            _write_expectation(entries[case.position], case, answers)
    text = StringIO()
    yaml.dump_all(documents, text)
    file.write_text(text.getvalue(), "utf-8")


def _answer(result: Result) -> dict[str, Any] | str:
    """The reply's fields, or the error's message."""
    if result.interpretation is not None:
        return reply_fields(result.interpretation.reply, result.case.operation)
    return str(result.error) if result.error else result.differences[0].got


def _write_expectation(entry: Any, case: Case, answers: dict[str, dict[str, Any] | str]) -> None:
    """What the case wants from now on, in the form that it has. One whose base changes its answer is written anew."""
    is_change = "wantChanged" in entry
    if case.name not in answers and not is_change:
        return
    wanted = answers.get(case.name, case.want)
    new: dict[str, Any] = {"wantError": wanted} if isinstance(wanted, str) else {"want": wanted}
    change = _change(case, answers, wanted) if is_change and isinstance(wanted, dict) else None
    if change is not None:
        new = {"wantChanged": change}
    for key in {"want", "wantChanged", "wantError", *(["match"] if "wantError" not in new else [])} - set(new):
        entry.pop(key, None)
    entry.update({key: _kept_text(value) for key, value in new.items()})


def _change(case: Case, answers: dict[str, dict[str, Any] | str], wanted: dict[str, Any]) -> dict[str, Any] | None:
    """The answer as a difference; None where it cannot be one."""
    reference = case.reference if case.operation.changes_object else answers.get(str(case.base), case.reference)
    if not isinstance(reference, dict):
        return None
    try:
        found: dict[str, Any] = difference(reference, wanted)
    except UnsayableError:
        return None
    return found


def _kept_text(value: Any) -> Any:
    """Quotes where Kubernetes would not read a text as one: ruamel.yaml writes a later YAML than Kubernetes reads."""
    if isinstance(value, dict):
        return {_kept_text(key): _kept_text(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_kept_text(item) for item in value]
    if isinstance(value, str) and not reads_as_text(value):
        return SingleQuotedScalarString(value)
    return LiteralScalarString(value) if isinstance(value, str) and "\n" in value else value
