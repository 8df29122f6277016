"""The schemas in docs/schemas, made from the types of what they describe."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import msgspec

from certs.check import FindingsReport
from estimator.accounting.admission.dry_run import TrialReport
from estimator.accounting.audit.report import AuditReport
from estimator.accounting.chargeback.rendering import BillReport
from estimator.accounting.history.rendering import QuotaHistory
from estimator.accounting.ledger.report import LINES, Statement
from estimator.placement.diagnosis import Diagnosis
from interp.estimates import EstimateReport
from interp.verbs.lint.formats.json import ReportedRemark
from interp.verbs.lint.formats.sarif import SarifLog
from interp.verbs.list.report import ListReport
from interp.verbs.run.formats.fields import Failure
from interp.verbs.schedule.decisions import ScheduleReport, ScheduleReports
from interp.verbs.test.formats.json import SuitesReport
from interpreters.cases import CASE_SCHEMA
from interpreters.core.operations import OPERATIONS
from interpreters.core.reply_schemas import REPLY_SCHEMAS
from tests.published.parts import DOCS
from webhook.server.settings import schema as settings_schema

FOLDER: Final = DOCS / "schemas"
_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

Schema = dict[str, Any]

# file -> what it describes, and the type of that; of several types it is any of them
_TYPED: Final[dict[str, tuple[str, tuple[Any, ...]]]] = {
    "admit-output.json": ("The answer of `interp admit -o json`, and of /admit?dryRun to a List", (TrialReport,)),
    "audit-output.json": ("The report of `interp audit -o json`", (AuditReport,)),
    "cost-output.json": ("The bill of `interp cost -o json`", (BillReport,)),
    "diagnosis-output.json": ("Output of `interp schedule --binding NAMESPACE/NAME -o json`", (Diagnosis,)),
    "estimate-output.json": ("Output of `interp estimate -o json`", (EstimateReport,)),
    "findings.json": ("Output of `interp doctor -o json` and `interp certs check -o json`", (FindingsReport,)),
    "ledger-export-line.json": ("A line of `interp ledger export`", tuple(LINES.values())),
    "ledger-history-output.json": ("Output of `interp ledger history -o json`", (list[QuotaHistory],)),
    "ledger-show-output.json": ("The statement of `interp ledger show -o json`", (Statement,)),
    "lint-json.json": ("Output of `interp lint -o json`", (list[ReportedRemark],)),
    "lint-sarif.json": ("Output of `interp lint -o sarif`: the parts of SARIF 2.1.0 that it fills", (SarifLog,)),
    "list-output.json": ("Output of `interp list -o json`", (ListReport,)),
    "schedule-output.json": (
        "Output of `interp schedule -o json`, of one workload or several",
        (ScheduleReport, ScheduleReports),
    ),
    "test-output.json": ("Output of `interp test -o json`", (SuitesReport,)),
}


def typed(title: str, kinds: tuple[Any, ...]) -> Schema:
    """Unknown fields are refused, so that a test notices a field that the schema lacks."""
    references, parts = msgspec.json.schema_components(kinds, ref_template="#/$defs/{name}")
    if ambiguous := [name for name in parts if "." in name]:  # msgspec tells types of one name apart by their modules
        raise ValueError(f"{title}: types of one name: {', '.join(ambiguous)}")
    closed = {
        name: in_one_order(part) | ({"additionalProperties": False} if "properties" in part else {})
        for name, part in parts.items()
    }
    (first, *more) = references
    return {"$schema": _DIALECT, "title": title, **({"anyOf": references} if more else first), "$defs": closed}


def in_one_order(part: Any) -> Any:
    """Alternatives in one order, null last: releases of msgspec differ in it."""
    if isinstance(part, list):
        return [in_one_order(inner) for inner in part]
    if not isinstance(part, dict):
        return part
    ordered = {key: in_one_order(inner) for key, inner in part.items()}
    if "anyOf" in ordered:
        ordered["anyOf"].sort(key=lambda option: (option == {"type": "null"}, json.dumps(option)))
    return ordered


def _run_output() -> Schema:
    """A reply for each operation asked, by its published schema, or the error in its place."""
    replies = {
        operation.name: {"anyOf": [{"$ref": f"reply-{operation.name}.json"}, {"$ref": "#/$defs/Failed"}]}
        for operation in OPERATIONS
    }
    failed = typed("", (Failure,))["$defs"]
    return {
        "$schema": _DIALECT,
        "title": "Output of `interp run -o json` without an operation: the reply of each; a list for several objects",
        "anyOf": [{"$ref": "#/$defs/Replies"}, {"type": "array", "items": {"$ref": "#/$defs/Replies"}}],
        "$defs": {
            "Replies": {"type": "object", "properties": replies, "additionalProperties": False},
            "Failed": {
                "type": "object",
                "properties": {"error": {"$ref": "#/$defs/Failure"}},
                "required": ["error"],
                "additionalProperties": False,
            },
            **failed,
        },
    }


PUBLISHED: Final[dict[str, Schema]] = {
    "cases.json": {"$schema": _DIALECT, "title": "A case table (cases.yaml)", "type": "array", "items": CASE_SCHEMA},
    **{
        f"reply-{operation.name}.json": {
            "$schema": _DIALECT,
            "title": f"Response fields of {operation.name}: {operation.summary}",
            **REPLY_SCHEMAS[operation.answer],
        }
        for operation in OPERATIONS
    },
    **{name: typed(title, kinds) for name, (title, kinds) in _TYPED.items()},
    "run-output.json": _run_output(),
    "settings.json": {**settings_schema(), "title": "The file given to `interp serve --config`"},
}


def pages() -> dict[Path, str]:
    return {
        FOLDER / name: json.dumps(schema, indent=2, ensure_ascii=False) + "\n" for name, schema in PUBLISHED.items()
    }
