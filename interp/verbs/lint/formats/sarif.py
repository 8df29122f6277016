"""Findings as SARIF 2.1.0, which code scanning services read: the parts of it that a linter fills."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct, field

from interpreters import __version__
from interpreters.core.requirements import Wire
from interpreters.lint import Remark


class Message(Wire, frozen=True):
    text: str


class ArtifactLocation(Wire, frozen=True):
    uri: str


class Region(Wire, frozen=True):
    start_line: int
    start_column: int


class PhysicalLocation(Wire, frozen=True):
    artifact_location: ArtifactLocation
    region: Region


class Location(Wire, frozen=True):
    physical_location: PhysicalLocation


class Result(Wire, frozen=True, omit_defaults=False):
    rule_id: str
    level: Literal["error"]
    message: Message
    locations: list[Location]


class Rule(Wire, frozen=True):
    id: str


class Driver(Wire, frozen=True):
    name: str
    version: str
    rules: list[Rule]


class Tool(Wire, frozen=True):
    driver: Driver


class Run(Wire, frozen=True):
    tool: Tool
    results: list[Result]


class SarifLog(Struct, frozen=True):
    schema: str = field(name="$schema")
    version: Literal["2.1.0"]
    runs: list[Run]


def sarif_log(remarks: Sequence[Remark]) -> SarifLog:
    rules = [Rule(rule) for rule in sorted({remark.finding.rule for remark in remarks})]
    run = Run(Tool(Driver("interp", __version__, rules)), list(map(_result, remarks)))
    return SarifLog("https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", [run])


def _result(remark: Remark) -> Result:
    found = remark.finding
    place = PhysicalLocation(ArtifactLocation(remark.file), Region(found.line, found.column))
    return Result(found.rule, "error", Message(found.message), [Location(place)])
