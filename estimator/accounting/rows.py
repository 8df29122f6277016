"""Charges and decisions as rows of the ledger's tables, and back."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from estimator.accounting.amounts import Amounts, parse_amounts, texts
from estimator.accounting.charges import Charge, Unadmitted
from estimator.accounting.demand import Demand, WorkloadKey, demand_decoder
from estimator.accounting.schema import NANOS_PER_THOUSAND

_LARGEST: Final = (2**62) * NANOS_PER_THOUSAND  # what two whole columns can hold; nothing real comes near it


@dataclass(frozen=True, slots=True)
class Decision:
    """One line of the record: who asked for what, and the answer."""

    operation: str
    workload: WorkloadKey
    allowed: bool
    message: str = ""
    username: str = ""
    mode: str = ""
    asked: Amounts = field(default_factory=dict)
    request: str = ""
    at: float = 0.0


def workload_text(workload: WorkloadKey) -> str:
    return "/".join(workload)


def read_workload(text: str) -> WorkloadKey:
    return WorkloadKey(*text.split("/"))


def charge_row(charge: Charge) -> dict[str, Any]:
    return {
        "workload": workload_text(charge.workload),
        "namespace": charge.workload.namespace,
        "owner": workload_text(charge.owner) if charge.owner else None,
        "uid": charge.uid,
        "generation": charge.generation,
        "confirmed": _demand_text(charge.confirmed),
        "provisional": _demand_text(charge.provisional),
        "expires_at": charge.expires_at,
        "source": charge.source,
        "updated_at": charge.updated_at,
    }


def amount_rows(charge: Charge) -> list[dict[str, Any]]:
    about = {
        "workload": workload_text(charge.workload),
        "namespace": charge.workload.namespace,
        "owner": workload_text(charge.owner) if charge.owner else None,
    }
    rows = []
    for resource, nano in charge.amounts.items():
        thousands, nanos = divmod(min(nano, _LARGEST), NANOS_PER_THOUSAND)
        rows.append({**about, "resource": resource, "thousands": thousands, "nanos": nanos})
    return rows


def _demand_text(demand: Demand | None) -> str | None:
    return None if demand is None else msgspec.json.encode(demand).decode()


def read_charge(row: Any) -> Charge:
    return Charge(
        workload=read_workload(row.workload),
        owner=read_workload(row.owner) if row.owner else None,
        uid=row.uid,
        generation=row.generation,
        confirmed=demand_decoder.decode(row.confirmed) if row.confirmed is not None else None,
        provisional=demand_decoder.decode(row.provisional) if row.provisional is not None else None,
        expires_at=row.expires_at,
        source=row.source,
        updated_at=row.updated_at,
    )


def sighting_row(sighting: Unadmitted) -> dict[str, Any]:
    return {
        "workload": workload_text(sighting.workload),
        "namespace": sighting.workload.namespace,
        "demand": _demand_text(sighting.demand),
        "seen_at": sighting.seen_at,
    }


def read_sighting(row: Any) -> Unadmitted:
    return Unadmitted(read_workload(row.workload), demand_decoder.decode(row.demand), row.seen_at)


def read_decision(row: Any) -> Decision:
    return Decision(
        operation=row.operation,
        workload=read_workload(row.workload),
        allowed=bool(row.allowed),
        message=row.message,
        username=row.username,
        mode=row.mode,
        asked=parse_amounts(msgspec.json.decode(row.asked)),
        request=row.request,
        at=row.at,
    )


def decision_row(decision: Decision, now: float) -> dict[str, Any]:
    return {
        "request": decision.request or str(uuid.uuid4()),
        "at": now,
        "username": decision.username,
        "operation": decision.operation,
        "namespace": decision.workload.namespace,
        "workload": workload_text(decision.workload),
        "allowed": decision.allowed,
        "mode": decision.mode,
        "message": decision.message,
        "asked": msgspec.json.encode(texts(decision.asked)).decode(),
    }
