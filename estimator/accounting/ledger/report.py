"""A statement of the ledger: what each namespace is charged for, charge by charge, and the newest decisions."""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Final

import msgspec

from estimator.accounting.ledger.charges import Charge, Unadmitted
from estimator.accounting.ledger.ledger import Ledger
from estimator.accounting.ledger.rows import Decision
from estimator.quotas.amounts import texts
from interpreters.core.requirements import Wire


class PartLine(Wire, frozen=True, omit_defaults=False):
    name: str
    replicas: int


class ChargeLine(Wire, frozen=True, omit_defaults=False):
    """One charge. `owner` is the workload that controls it; both are counted where both are charged."""

    workload: str
    namespace: str
    amounts: dict[str, str]
    state: str
    components: list[PartLine]
    clusters: list[str]
    source: str
    updated_at: str
    expires_at: str | None = None
    owner: str | None = None


class DecisionLine(Wire, frozen=True, omit_defaults=False):
    at: str
    operation: str
    workload: str
    namespace: str
    allowed: bool
    mode: str
    username: str
    message: str
    asked: dict[str, str]
    request: str


class UnadmittedLine(Wire, frozen=True, omit_defaults=False):
    """A workload that Karmada asked about and that is not charged as it was seen. `charged` is what is, if anything."""

    workload: str
    namespace: str
    amounts: dict[str, str]
    components: list[PartLine]
    seen_at: str
    charged: dict[str, str] | None = None


class NamespaceStatement(Wire, frozen=True, omit_defaults=False):
    namespace: str
    used: dict[str, str]
    charges: list[ChargeLine]
    unadmitted: list[UnadmittedLine]


Line = ChargeLine | DecisionLine | UnadmittedLine


class Statement(Wire, frozen=True, omit_defaults=False):
    namespaces: list[NamespaceStatement]
    decisions: list[DecisionLine]


async def read_statement(ledger: Ledger, *, namespace: str | None, decisions: int) -> Statement:
    """Everything, or one namespace."""
    names = [namespace] if namespace is not None else await ledger.namespaces()
    pages = []
    for name in names:
        async with ledger.page(name, read_only=True) as page:
            used = await page.used()
            strangers = [_unadmitted_line(stranger) for stranger in await page.unadmitted()]
        lines = [_charge_line(charge) async for charge in ledger.charges(name)]
        pages.append(NamespaceStatement(name, texts(used), lines, strangers))
    newest = [_decision_line(line) async for line in ledger.decisions(namespace, decisions)]
    return Statement(pages, newest)


async def export_lines(ledger: Ledger, what: str, namespace: str | None) -> AsyncIterator[Line]:
    """All charges, all decisions or all that is not admitted, one at a time."""
    if what == "decisions":
        async for decision in ledger.decisions(namespace):
            yield _decision_line(decision)
        return
    if what == "charges":
        async for charge in ledger.charges(namespace):
            yield _charge_line(charge)
        return
    for name in [namespace] if namespace is not None else await ledger.namespaces():
        async with ledger.page(name, read_only=True) as page:
            for stranger in await page.unadmitted():
                yield _unadmitted_line(stranger)


LINES: Final[dict[str, type[Line]]] = {
    "charges": ChargeLine, "decisions": DecisionLine, "unadmitted": UnadmittedLine,
}  # fmt: skip


def csv_header(what: str) -> str:
    return _csv(list(LINES[what].__struct_fields__))


def csv_row(line: Line) -> str:
    """Lists and amounts stand in their cell as JSON."""
    values = (getattr(line, field) for field in line.__struct_fields__)
    return _csv([msgspec.json.encode(v).decode() if isinstance(v, dict | list) else v for v in values])


def ndjson_row(line: Line) -> str:
    return msgspec.json.encode(line).decode() + "\n"


def render_statement(statement: Statement) -> str:
    """The statement for a terminal."""
    lines = []
    for page in statement.namespaces:
        used = _resources(page.used)
        lines.append(f"{page.namespace or '(cluster-scoped)'}: charged {used}")
        for charge in page.charges:
            until = f" until {charge.expires_at}" if charge.expires_at else ""
            owned = f", controlled by {charge.owner}" if charge.owner else ""
            where = f" in {', '.join(charge.clusters)}" if charge.clusters else ""
            lines.append(f"  {charge.workload}{where}: {_resources(charge.amounts)} ({charge.state}{until}{owned})")
        for stranger in page.unadmitted:
            instead = "nothing" if stranger.charged is None else _resources(stranger.charged)
            lines.append(f"  {stranger.workload}: {_resources(stranger.amounts)} (not admitted, charged {instead})")
    if not statement.namespaces:
        lines.append("nothing is charged")
    if statement.decisions:
        lines.append("\nnewest decisions")
    for line in statement.decisions:
        answer = "allowed" if line.allowed else "denied"
        why = f": {line.message}" if line.message else ""
        lines.append(f"  {line.at}  {answer}  {line.operation} {line.workload} by {line.username or 'unknown'}{why}")
    return "\n".join(lines) + "\n"


def _resources(amounts: dict[str, str]) -> str:
    """NanoAmounts in a line; the counts of objects are left to JSON."""
    named = [f"{name} {amount}" for name, amount in amounts.items() if not name.startswith("count/")]
    return ", ".join(named) or "nothing"


def _charge_line(charge: Charge) -> ChargeLine:
    demand = charge.demand
    return ChargeLine(
        workload=str(charge.workload),
        namespace=charge.workload.namespace,
        amounts=texts(charge.amounts),
        state="provisional" if charge.provisional is not None else "confirmed",
        components=[PartLine(part.name, part.replicas) for part in demand.parts],
        clusters=[target.name for target in demand.targets],
        source=charge.source,
        updated_at=_moment(charge.updated_at),
        expires_at=None if charge.expires_at is None else _moment(charge.expires_at),
        owner=None if charge.owner is None else str(charge.owner),
    )


def _unadmitted_line(stranger: Unadmitted) -> UnadmittedLine:
    return UnadmittedLine(
        workload=str(stranger.workload),
        namespace=stranger.workload.namespace,
        amounts=texts(stranger.amounts),
        components=[PartLine(part.name, part.replicas) for part in stranger.demand.parts],
        seen_at=_moment(stranger.seen_at),
        charged=None if stranger.charged is None else texts(stranger.charged),
    )


def _decision_line(decision: Decision) -> DecisionLine:
    return DecisionLine(
        at=_moment(decision.at),
        operation=decision.operation,
        workload=str(decision.workload),
        namespace=decision.workload.namespace,
        allowed=decision.allowed,
        mode=decision.mode,
        username=decision.username,
        message=decision.message,
        asked=texts(decision.asked),
        request=decision.request,
    )


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _csv(values: list[object]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(values)
    return text.getvalue()
