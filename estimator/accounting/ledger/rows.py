"""Charges and decisions as rows of the ledger's tables, and back."""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import dataclass, field
from typing import Any

import msgspec

from estimator.accounting.demand import Demand, WorkloadKey, demand_decoder
from estimator.accounting.ledger.charges import BindingMark, Charge, Unadmitted
from estimator.quotas.amounts import NanoAmounts, no_amounts, parse_amounts, texts


@dataclass(frozen=True, slots=True)
class Decision:
    """One line of the record: who asked for what, and the answer."""

    operation: str
    workload: WorkloadKey
    allowed: bool
    message: str = ""
    username: str = ""
    mode: str = ""
    asked: NanoAmounts = field(default_factory=no_amounts)
    request: str = ""
    digest: str = ""
    reason: str = ""
    at: float = 0.0


def workload_columns(workload: WorkloadKey) -> dict[str, str]:
    return {
        "namespace": workload.namespace,
        "name": workload.name,
        "kind": workload.kind,
        "api_group": workload.group,
    }


def read_workload(row: Any) -> WorkloadKey:
    return WorkloadKey(row.api_group, row.kind, row.namespace, row.name)


def digest_of(*parts: bytes) -> str:
    """Tells whether the same was asked twice."""
    return hashlib.blake2b(b"\0".join(parts), digest_size=16).hexdigest()


def charge_row(charge: Charge) -> dict[str, Any]:
    owner, binding = charge.owner, charge.binding
    return {
        **workload_columns(charge.workload),
        "owner_group": owner and owner.group,
        "owner_kind": owner and owner.kind,
        "owner_name": owner and owner.name,
        "uid": charge.uid,
        "provisional_uid": charge.provisional_uid,
        "generation": charge.generation,
        "object_created": charge.object_created,
        "object_version": charge.object_version,
        "binding_uid": binding.uid,
        "binding_created": binding.created,
        "binding_version": binding.version,
        "confirmed": _demand_text(charge.confirmed),
        "provisional": _demand_text(charge.provisional),
        "expires_at": charge.expires_at,
        "is_mixed": charge.is_mixed,
        "source": charge.source,
        "updated_at": charge.updated_at,
    }


def _demand_text(demand: Demand | None) -> str | None:
    return None if demand is None else msgspec.json.encode(demand).decode()


def read_charge(row: Any) -> Charge:
    owner = None
    if row.owner_kind is not None:
        owner = WorkloadKey(row.owner_group, row.owner_kind, row.namespace, row.owner_name)
    return Charge(
        workload=read_workload(row),
        owner=owner,
        uid=row.uid,
        provisional_uid=row.provisional_uid,
        generation=row.generation,
        object_created=row.object_created,
        object_version=row.object_version,
        binding=BindingMark(row.binding_uid, row.binding_created, row.binding_version),
        confirmed=demand_decoder.decode(row.confirmed) if row.confirmed is not None else None,
        provisional=demand_decoder.decode(row.provisional) if row.provisional is not None else None,
        expires_at=row.expires_at,
        source=row.source,
        updated_at=row.updated_at,
    )


def sighting_row(sighting: Unadmitted) -> dict[str, Any]:
    return {
        **workload_columns(sighting.workload),
        "demand": _demand_text(sighting.demand),
        "seen_at": sighting.seen_at,
    }


def read_sighting(row: Any) -> Unadmitted:
    return Unadmitted(read_workload(row), demand_decoder.decode(row.demand), row.seen_at)


def read_decision(row: Any) -> Decision:
    return Decision(
        operation=row.operation,
        workload=read_workload(row),
        allowed=bool(row.allowed),
        message=row.message,
        username=row.username,
        mode=row.mode,
        asked=parse_amounts(msgspec.json.decode(row.asked)),
        request=row.request,
        digest=row.digest,
        reason=row.reason,
        at=row.at,
    )


def decision_row(decision: Decision, now: float) -> dict[str, Any]:
    return {
        "request": decision.request or str(uuid.uuid4()),
        "at": now,
        "username": decision.username,
        "operation": decision.operation,
        **workload_columns(decision.workload),
        "digest": decision.digest,
        "reason": decision.reason,
        "allowed": decision.allowed,
        "mode": decision.mode,
        "message": decision.message,
        "asked": msgspec.json.encode(texts(decision.asked)).decode(),
    }
