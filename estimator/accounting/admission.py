"""Admission: one request, one decision, charged and recorded in the same transaction.

The caller interprets the objects and says which clusters would fit; this reads the namespace's charges under its lock,
compares with the quotas, and writes charge and decision together. So of two requests that fit alone but not together
exactly one passes, whichever process they reach.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from msgspec import DecodeError, Raw

from estimator.accounting.allowances import Allowance
from estimator.accounting.amounts import Amounts
from estimator.accounting.charges import Charge, admitted, bound, unbound
from estimator.accounting.checks import Others, excesses, needs_single_charges, unchecked
from estimator.accounting.demand import Binding, Demand, WorkloadKey, binding_decoder, demand_of
from estimator.accounting.inspection import negatives, unreadable
from estimator.accounting.ledger import Ledger
from estimator.accounting.pages import Page
from estimator.accounting.review import AdmissionRequest, Verdict
from estimator.accounting.rows import Decision
from estimator.placement.bindings import Interpreted
from interpreters.core.errors import QuantityError, RequestError

Mode = Literal["enforce", "warn", "record"]
BINDINGS = ("ResourceBinding", "ClusterResourceBinding")


class AllowanceSource(Protocol):
    """Where quotas come from: files, a folder, a live cluster."""

    async def allowances(self, namespace: str) -> Sequence[Allowance]: ...


@dataclass(frozen=True, slots=True)
class Modes:
    """What a breach leads to, per namespace."""

    default: Mode = "enforce"
    namespaces: Mapping[str, Mode] = field(default_factory=dict)

    def of(self, namespace: str) -> Mode:
        return self.namespaces.get(namespace, self.default)


@dataclass(frozen=True, slots=True)
class ClusterFit:
    """How many sets one cluster takes, and what stops the next."""

    cluster: str
    sets: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Interpretation:
    """What the scripts said about the object and about the one it replaces; `problem` when they failed."""

    new: Interpreted | None = None
    old: Interpreted | None = None
    problem: str = ""
    fits: Sequence[ClusterFit] | None = None
    """One per configured cluster; None when no cluster is configured."""


@dataclass(frozen=True, slots=True)
class Gate:
    """Everything a decision needs that is not in the request."""

    ledger: Ledger
    quotas: AllowanceSource
    modes: Modes = Modes()

    async def decide(self, request: AdmissionRequest, interpretation: Interpretation | None) -> Verdict:
        """Decide, charge and record. `interpretation` is None for a kind that no script knows.

        Raises `LedgerError` when the ledger cannot be written: then nothing was charged."""
        binding = _binding(request)
        if (interpretation is None and binding is None) or request.sub_resource:
            return Verdict(True)
        if request.operation not in ("CREATE", "UPDATE", "DELETE"):
            return Verdict(True)
        if request.operation == "UPDATE" and request.metadata.deletion_timestamp:
            return Verdict(True)  # it is on its way out: finalizers must be able to go
        workload = binding.workload if binding is not None else request.workload
        allowances = await self.quotas.allowances(workload.namespace)
        case = _Case(self, request, interpretation or Interpretation(), binding, workload, allowances)
        async with self.ledger.page(workload.namespace, read_only=bool(request.dry_run)) as page:
            return await case.decide(page)


@dataclass(frozen=True, slots=True)
class _Case:
    """One request with all that is known about it."""

    gate: Gate
    request: AdmissionRequest
    said: Interpretation
    binding: Binding | None
    workload: WorkloadKey
    allowances: Sequence[Allowance]

    @property
    def mode(self) -> Mode:
        return self.gate.modes.of(self.workload.namespace)

    async def decide(self, page: Page) -> Verdict:
        before = await page.charge(self.workload)
        if self.request.operation == "DELETE":
            return await self._release(page, before)
        if self.said.problem:
            return await self._finish(page, before, before, [f"{self.workload}: {self.said.problem}"])
        after = self._after(before, page.now)
        if self.binding is not None and (below := "; ".join(negatives(self.binding.spec))):
            return await self._finish(page, before, before, [f"{self.workload}: {below}"])
        try:
            problems, notes = await self._judge(page, before, after)
        except QuantityError as error:
            problem = unreadable(after.demand) or str(error)
            return await self._finish(page, before, before, [f"{self.workload}: {problem}"])
        return await self._finish(page, before, after, problems, notes)

    def _after(self, before: Charge, now: float) -> Charge:
        known = replace(before, owner=self.request.owner or before.owner, source="admission")
        if self.binding is not None:
            return replace(bound(known, self.binding.spec.plain), owner=before.owner)
        metadata = self.request.metadata
        return admitted(
            replace(known, uid=metadata.uid or before.uid),
            _demand(self.said.new),
            _demand(self.said.old) if self.said.old is not None else None,
            generation=metadata.generation,
            expires_at=now + self.gate.ledger.provisional_seconds,
        )

    def _was(self, before: Charge, after: Charge) -> Charge:
        """What counts as already there: the ledger's charge, and what the API server itself still holds."""
        if self.binding is None:
            return before if self.said.old is None else replace(before, confirmed=after.confirmed)
        old = _decoded(self.request, self.request.old_object) if self.request.operation == "UPDATE" else None
        return before if old is None or before.confirmed is not None else replace(before, confirmed=old.spec.plain)

    async def _judge(self, page: Page, before: Charge, after: Charge) -> tuple[list[str], list[str]]:
        """What is wrong with the change, and what could not be looked at."""
        was = self._was(before, after)
        if not _grows(was.amounts, after.amounts):
            return [], []
        if after.owner is not None and await page.is_charged(after.owner):
            return [], []  # its owner is charged for it
        others = Others(
            total=await page.used(without=self.workload),
            charges=await page.charged(without=self.workload) if needs_single_charges(self.allowances) else (),
        )
        problems = [str(excess) for excess in excesses(self.allowances, others, was, after)]
        fits = self.said.fits
        if fits is not None and not any(fit.sets >= 1 for fit in fits):
            why = "; ".join(f"{fit.cluster}: {fit.reason or 'full'}" for fit in fits) or "no cluster is known"
            problems.append(f"{self.workload}: no cluster fits one set: {why}")
        return problems, unchecked(self.allowances)

    async def _finish(
        self, page: Page, before: Charge, after: Charge, problems: list[str], notes: Sequence[str] = ()
    ) -> Verdict:
        denied = bool(problems) and self.mode == "enforce"
        if not denied and after is not before:
            await self._save(page, after)
        verdict = Verdict(
            allowed=not denied,
            message="; ".join(problems) if denied else "",
            warnings=() if self.mode == "record" else (*(() if denied else problems), *notes),
        )
        await self._record(page, not denied, "; ".join(problems), after)
        return verdict

    async def _release(self, page: Page, before: Charge) -> Verdict:
        if self.binding is None and not page.read_only:
            await page.forget_sighting(self.workload)
        if before.is_live:
            if self.binding is None:
                await self._save(page, Charge(self.workload))
            else:
                expires = page.now + self.gate.ledger.provisional_seconds
                await self._save(page, replace(unbound(before, expires_at=expires), source="admission"))
        await self._record(page, True, "", Charge(self.workload))
        return Verdict(True)

    async def _save(self, page: Page, charge: Charge) -> None:
        if not page.read_only:
            await page.save(charge)

    async def _record(self, page: Page, allowed: bool, message: str, charge: Charge) -> None:
        if page.read_only:
            return
        try:
            asked = charge.amounts
        except QuantityError:
            asked = {}
        request = self.request
        await page.record(
            Decision(
                operation=request.operation,
                workload=self.workload,
                allowed=allowed,
                message=message,
                username=request.user_info.username,
                mode=self.mode,
                asked=asked,
                request=request.uid,
            )
        )


def _demand(interpreted: Interpreted | None) -> Demand:
    return demand_of(list(interpreted.as_components)) if interpreted is not None else Demand()


def _grows(before: Amounts, after: Amounts) -> bool:
    return any(nano > before.get(resource, 0) for resource, nano in after.items())


def _binding(request: AdmissionRequest) -> Binding | None:
    """The binding that the request is about, when it is about one."""
    if request.kind.group != "work.karmada.io" or request.kind.kind not in BINDINGS:
        return None
    return _decoded(request, request.old_object if request.operation == "DELETE" else request.object)


def _decoded(request: AdmissionRequest, raw: Raw) -> Binding:
    try:
        return binding_decoder.decode(raw)
    except DecodeError as error:
        raise RequestError(f"request.object: not a {request.kind.kind}: {error}") from None
