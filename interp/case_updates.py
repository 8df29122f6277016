"""Writing what scripts answer into their case files, comments and layout kept (that is what ruamel.yaml is for)."""

from __future__ import annotations

from collections import defaultdict
from io import StringIO
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.scalarstring import LiteralScalarString, SingleQuotedScalarString

from interpreters.cases import Result, reply_fields
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
    for result in results:
        _write_expectation(entries[result.case.position], result)
    text = StringIO()
    yaml.dump_all(documents, text)
    file.write_text(text.getvalue(), "utf-8")


def _write_expectation(entry: Any, result: Result) -> None:
    if result.interpretation is None:
        entry.pop("want", None)
        entry["wantError"] = _kept_text(str(result.error) if result.error else result.differences[0].got)
    else:
        entry.pop("wantError", None)
        entry.pop("match", None)
        entry["want"] = _kept_text(reply_fields(result.interpretation.reply, result.case.operation))


def _kept_text(value: Any) -> Any:
    """Quotes where Kubernetes would not read a text as one: ruamel.yaml writes a later YAML than Kubernetes reads."""
    if isinstance(value, dict):
        return {_kept_text(key): _kept_text(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_kept_text(item) for item in value]
    if isinstance(value, str) and not reads_as_text(value):
        return SingleQuotedScalarString(value)
    return LiteralScalarString(value) if isinstance(value, str) and "\n" in value else value
