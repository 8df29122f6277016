"""Reconciling the ledger with the truth: every binding there is. Each correction is handed out and recorded.

The truth has a moment it was taken at; what the ledger learned after that moment is newer and stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from estimator.accounting.amounts import Amounts, quantity
from estimator.accounting.charges import Charge, bound
from estimator.accounting.demand import Binding, WorkloadKey
from estimator.accounting.inspection import negatives, unreadable
from estimator.accounting.ledger import Ledger
from estimator.accounting.pages import Page
from estimator.accounting.rows import Decision
from interpreters.core.errors import QuantityError

What = Literal["added", "changed", "removed", "unreadable"]


@dataclass(frozen=True, slots=True)
class Correction:
    """One charge that was wrong."""

    what: What
    workload: WorkloadKey
    before: Amounts
    after: Amounts
    problem: str = ""

    def __str__(self) -> str:
        return f"{self.what} {self.workload}: {self.reason}"

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
    as_of: float
    dry_run: bool = False
    username: str = "interp ledger reconcile"
    newer: int = field(default=0, init=False)
    """Charges left alone because the ledger learned of them after the truth was taken."""

    _started: float = field(init=False)
    _namespaces: set[str] = field(default_factory=set, init=False)

    def __post_init__(self) -> None:
        self._started = self.ledger.clock()

    async def take(self, bindings: Sequence[Binding]) -> list[Correction]:
        """Compare some bindings with their charges."""
        by_namespace: dict[str, list[Binding]] = {}
        for binding in bindings:
            by_namespace.setdefault(binding.workload.namespace, []).append(binding)
        self._namespaces.update(by_namespace)
        corrections = []
        async with self.ledger.pages(by_namespace, read_only=self.dry_run) as pages:
            for namespace, group in by_namespace.items():
                corrections += await self._compare(pages[namespace], group)
        return corrections

    async def finish(self, *, complete: bool) -> list[Correction]:
        """Remove charges without a binding: everywhere if the truth is `complete`, else where it named any."""
        corrections = []
        for namespace in await self.ledger.namespaces() if complete else sorted(self._namespaces):
            async with self.ledger.page(namespace, read_only=self.dry_run) as page:
                gone = await page.unmarked(self._started, self.as_of)
                nothing = [(Charge(charge.workload), _correction(charge, Charge(charge.workload))) for charge in gone]
                corrections += await self._correct(page, nothing)
        return corrections

    async def _compare(self, page: Page, bindings: list[Binding]) -> list[Correction]:
        known = await page.charges_of([binding.workload for binding in bindings])
        changes: dict[WorkloadKey, tuple[Charge, Correction]] = {}
        refused = []
        for binding in bindings:
            before = known.get(binding.workload) or Charge(binding.workload)
            if before.updated_at > self.as_of:
                self.newer += 1
                continue
            after = bound(before, binding.spec.plain)
            if below := "; ".join(negatives(binding.spec)):
                refused.append(Correction("unreadable", binding.workload, {}, {}, below))
                continue
            try:
                if after != before:
                    changes[binding.workload] = (replace(after, source="reconcile"), _correction(before, after))
            except QuantityError as error:
                problem = unreadable(binding.spec) or str(error)
                refused.append(Correction("unreadable", binding.workload, {}, {}, problem))
        corrections = await self._correct(page, list(changes.values()))
        if not self.dry_run:
            await page.mark([binding.workload for binding in bindings], self._started)
        return corrections + refused

    async def _correct(self, page: Page, changes: Sequence[tuple[Charge, Correction]]) -> list[Correction]:
        corrections = [correction for _, correction in changes]
        if corrections and not self.dry_run:
            await page.save(*(after for after, _ in changes))
            await page.record(
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


def _correction(before: Charge, after: Charge) -> Correction:
    what: What = "removed" if not after.is_live else "changed" if before.is_live else "added"
    return Correction(what, before.workload, before.amounts, after.amounts)
