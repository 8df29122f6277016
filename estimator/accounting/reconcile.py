"""Reconciling the ledger with the truth: every binding there is. Each correction is handed out and recorded.

What the ledger knows of a newer state stays: `freshness.py` tells which of two is newer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from estimator.accounting.audit.binding_checks import impossible, unreadable
from estimator.accounting.audit.read_bindings import Unreadable
from estimator.accounting.demand import Binding, Demand, WorkloadKey
from estimator.accounting.ledger.charges import Charge, bound, filled
from estimator.accounting.ledger.freshness import is_stale, mark_of, moment_of, version_of
from estimator.accounting.ledger.ledger import Ledger
from estimator.accounting.ledger.namespace_page import Page
from estimator.accounting.ledger.rows import Decision
from estimator.accounting.podless_bindings import Objects, Told, Untold, no_objects, says_no_pods, uncounted
from estimator.quotas.amounts import NanoAmounts, no_amounts, quantity
from interpreters.core.errors import QuantityError

What = Literal["added", "changed", "removed", "unreadable", "uncounted"]


@dataclass(frozen=True, slots=True)
class Correction:
    """One charge that was wrong."""

    what: What
    workload: WorkloadKey
    before: NanoAmounts
    after: NanoAmounts
    problem: str = ""

    def __str__(self) -> str:
        about = f" {self.workload}" if self.workload.name else ""
        return f"{self.what}{about}: {self.reason}"

    @property
    def is_made(self) -> bool:
        """Whether the ledger is corrected by it; otherwise it tells of a binding that could not be taken."""
        return not self.problem

    @property
    def reason(self) -> str:
        """What differs, resource by resource."""
        changes = [
            f"{resource} {quantity(resource, self.before.get(resource, 0))} → "
            f"{quantity(resource, self.after.get(resource, 0))}"
            for resource in sorted({*self.before, *self.after})
            if self.before.get(resource, 0) != self.after.get(resource, 0) and not resource.startswith("count/")
        ]
        return self.problem or ", ".join(changes) or "same amounts, other clusters or components"


@dataclass(slots=True)
class Reconciliation:
    """One run over a ledger. Feed it bindings with `take`, then `finish`; both hand out corrections."""

    ledger: Ledger
    as_of: float | None
    """When the truth was taken, by the database's clock; None when nobody knows."""

    dry_run: bool = False
    username: str = "interp ledger reconcile"
    objects: Objects = no_objects
    newer: int = field(default=0, init=False)
    """Charges left alone because the ledger knows something newer than the truth."""

    _found: dict[str, set[int]] = field(default_factory=dict, init=False)
    """Per namespace, the workloads that the truth names, as their hashes: there may be very many."""

    _unclear: set[str | None] = field(default_factory=set, init=False)
    """Namespaces with a binding of which it cannot be read whose it is; None when not even that can."""

    _newest: float | None = field(default=None, init=False)

    async def take(self, bindings: Sequence[Binding | Unreadable]) -> list[Correction]:
        """Compare some bindings with their charges."""
        by_namespace: dict[str, list[Binding]] = {}
        refused = []
        for binding in bindings:
            if isinstance(binding, Unreadable):
                refused.append(self._refuse(binding))
                continue
            workload = binding.workload
            by_namespace.setdefault(workload.namespace, []).append(binding)
            self._found.setdefault(workload.namespace, set()).add(hash(workload))
            created = moment_of(binding.metadata.creation_timestamp)
            self._newest = max((moment for moment in (self._newest, created) if moment is not None), default=None)
        told = await self.objects(
            [found for group in by_namespace.values() for found in group if says_no_pods(found.spec)]
        )
        corrections = []
        async with self.ledger.pages(by_namespace, read_only=self.dry_run) as pages:
            for namespace, group in by_namespace.items():
                corrections += await self._compare(pages[namespace], group, told)
        return corrections + refused

    async def finish(self, *, complete: bool) -> list[Correction]:
        """Remove charges without a binding: everywhere if the truth is `complete`, else where it named any."""
        if None in self._unclear:
            return []
        until = self.as_of if self.as_of is not None else self._newest
        corrections = []
        for namespace in await self.ledger.namespaces() if complete else sorted(self._found):
            if namespace in self._unclear:
                continue
            found = self._found.get(namespace, set())
            async with self.ledger.page(namespace, read_only=self.dry_run) as page:
                lost = [one for one in await page.untouched_since(page.now) if hash(one.workload) not in found]
                gone = [charge for charge in lost if until is None or charge.updated_at <= until]
                self.newer += len(lost) - len(gone)
                nothing = [(Charge(charge.workload), _correction(charge, Charge(charge.workload))) for charge in gone]
                corrections += await self._correct(page, nothing)
        return corrections

    def _refuse(self, unreadable: Unreadable) -> Correction:
        if unreadable.workload is None:
            self._unclear.add(unreadable.namespace)
        else:
            self._found.setdefault(unreadable.workload.namespace, set()).add(hash(unreadable.workload))
        about = unreadable.workload or WorkloadKey("", "", unreadable.namespace or "", "")
        return _uncharged("unreadable", about, unreadable.problem)

    async def _compare(self, page: Page, bindings: list[Binding], told: Told) -> list[Correction]:
        known = await page.charges_of([binding.workload for binding in bindings])
        changes: dict[WorkloadKey, tuple[Charge, Correction]] = {}
        refused = []
        for binding in bindings:
            workload = binding.workload
            before = known.get(workload) or Charge(workload)
            if is_stale(before, binding, self.as_of):
                self.newer += 1
                continue
            spec = binding.spec
            said = told.get(workload)
            parts = said.parts if isinstance(said, Demand) else None
            demand = filled(spec.plain, before, parts, version=version_of(spec.resource.resource_version))
            if problem := "; ".join(impossible(demand)):
                refused.append(_uncharged("unreadable", workload, problem))
                continue
            if isinstance(said, Untold) and not demand.parts:
                refused.append(_uncharged("uncounted", workload, uncounted(said)))
            after = bound(before, demand, uid=spec.resource.uid, mark=mark_of(binding))
            try:
                if _charged(after) != _charged(before):
                    changes[workload] = (replace(after, source="reconcile"), _correction(before, after))
            except QuantityError as error:
                refused.append(_uncharged("unreadable", workload, unreadable(demand) or str(error)))
        return await self._correct(page, list(changes.values())) + refused

    async def _correct(self, page: Page, changes: Sequence[tuple[Charge, Correction]]) -> list[Correction]:
        corrections = [correction for _, correction in changes]
        if corrections and not self.dry_run:
            await page.save(*(after for after, _ in changes))
            page.record(
                *(
                    Decision(
                        operation="RECONCILE",
                        workload=correction.workload,
                        allowed=True,
                        message=f"{correction.what}: {correction.reason}",
                        username=self.username,
                        asked=correction.after,
                    )
                    for correction in corrections
                )
            )
        return corrections


def _charged(charge: Charge) -> tuple[Demand | None, Demand | None]:
    return charge.confirmed, charge.provisional


def _uncharged(what: What, workload: WorkloadKey, problem: str) -> Correction:
    return Correction(what, workload, no_amounts(), no_amounts(), problem)


def _correction(before: Charge, after: Charge) -> Correction:
    what: What = "removed" if not after.is_live else "changed" if before.is_live else "added"
    return Correction(what, before.workload, before.amounts, after.amounts)
