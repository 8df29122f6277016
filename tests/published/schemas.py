"""The schemas in docs/schemas, made from the types of what they describe."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from estimator.accounting.admission.dry_run import TrialReport
from estimator.accounting.audit.report import AuditReport
from estimator.accounting.chargeback.rendering import BillReport
from estimator.accounting.ledger.report import Statement
from interpreters.cases import CASE_SCHEMA
from interpreters.core.operations import OPERATIONS
from interpreters.core.reply_schemas import REPLY_SCHEMAS
from tests.published.parts import DOCS

FOLDER = DOCS / "schemas"
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_PRINTED: dict[str, tuple[type, str]] = {
    "admit-output.json": (TrialReport, "The answer of `interp admit -o json`, and of /admit?dryRun to a List"),
    "audit-output.json": (AuditReport, "The report of `interp audit -o json`"),
    "cost-output.json": (BillReport, "The bill of `interp cost -o json`"),
    "ledger-show-output.json": (Statement, "The statement of `interp ledger show -o json`"),
}


def schema(kind: type, title: str) -> dict[str, Any]:
    """Unknown fields are refused, so that a test notices a field that the schema lacks."""
    (reference,), parts = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    closed = {
        name: in_one_order(part) | ({"additionalProperties": False} if "properties" in part else {})
        for name, part in parts.items()
    }
    return {"$schema": _DIALECT, "title": title, **reference, "$defs": closed}


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


PUBLISHED: dict[str, dict[str, Any]] = {
    "cases.json": {"$schema": _DIALECT, "title": "A case table (cases.yaml)", "type": "array", "items": CASE_SCHEMA},
    **{
        f"reply-{operation.name}.json": {
            "$schema": _DIALECT,
            "title": f"Response fields of {operation.name}: {operation.summary}",
            **REPLY_SCHEMAS[operation.answer],
        }
        for operation in OPERATIONS
    },
    **{name: schema(kind, title) for name, (kind, title) in _PRINTED.items()},
}


def pages() -> dict[Path, str]:
    return {
        FOLDER / name: json.dumps(published, indent=2, ensure_ascii=False) + "\n"
        for name, published in PUBLISHED.items()
    }
