"""Keeping the ledger and the bindings of Karmada the same: at start, before /admit decides anything, and periodically.

Without a kubeconfig the server cannot look; then it warns when a quota's own status knows of more than the ledger.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from estimator.accounting.audit.read_bindings import only_bindings
from estimator.accounting.ledger.ledger import RECONCILED, Ledger
from estimator.accounting.reconcile import Reconciliation
from estimator.accounting.sources.karmada_source import GRACE_SECONDS, live_bindings
from estimator.clusters.apiserver import ApiServer
from estimator.quotas.amounts import NanoAmounts, no_amounts, quantity
from estimator.quotas.keys import read_key
from estimator.quotas.objects import FEDERATED, Quota
from interpreters.core.errors import InterpError
from webhook.endpoints.admission.ledger_state import LedgerState
from webhook.endpoints.admission.objects import LiveDemands
from webhook.server.logs import LOGGER
from webhook.server.repeating import repeat

_RETRY_SECONDS: Final = 10.0
_LOOK_EVERY: Final = 60.0
_MOST_NAMED: Final = 3


@dataclass(slots=True)
class Reconciler:
    """Run `serve` as a task."""

    ledger: Ledger
    state: LedgerState
    server: ApiServer
    demands: LiveDemands
    seconds: float
    problem: str | None = "the ledger has not been compared with Karmada's bindings yet"
    _is_done: bool = field(default=False, init=False)

    async def unready(self) -> str | None:
        """Why no admission can be decided: the ledger may be cold. None once it was compared."""
        return None if self._is_done else self.problem

    async def serve(self) -> None:
        await self.state.is_open.wait()
        await repeat(
            self._turn,
            every=self.seconds / 4,
            failing="the ledger cannot be compared with Karmada's bindings",
            level=logging.ERROR,  # /admit decides nothing until then
            retry=_RETRY_SECONDS,
        )

    async def _turn(self) -> None:
        try:
            await self._when_due()
        except InterpError as error:
            self.problem = str(error)
            raise
        self._is_done, self.problem = True, None

    async def _when_due(self) -> None:
        """Unless another server has done it lately."""
        now = await self.ledger.now()
        last = await self.ledger.moment(RECONCILED)
        if last is not None and now - last < self.seconds:
            return
        run = Reconciliation(
            self.ledger, now - GRACE_SECONDS, username="interp serve", objects=self.demands.of_bindings
        )
        corrected = 0
        async for page in live_bindings(self.server):
            for correction in await run.take(list(only_bindings(page, self.server.address))):
                corrected += correction.is_made
                if not correction.is_made:
                    about = {"workload": str(correction.workload), "reason": correction.problem}
                    LOGGER.warning(f"a binding is {correction.what}", extra=about)
        corrected += len(await run.finish(complete=True))
        await self.ledger.note_moment(RECONCILED)
        LOGGER.info("compared the ledger with Karmada's bindings", extra={"corrected": corrected})


def missing_usage(quotas: Sequence[Quota], totals: dict[str, NanoAmounts]) -> list[str]:
    """Quotas whose own status says that more is used than the ledger knows."""
    found = []
    for quota in quotas:
        charged = totals.get(quota.namespace) or no_amounts()
        for text, nano in sorted((quota.reported or no_amounts()).items()) if quota.kind == FEDERATED else ():
            resource = read_key(text).resource
            if resource is not None and nano > charged.get(resource, 0):
                reported, known = (quantity(resource, amount) for amount in (nano, charged.get(resource, 0)))
                found.append(f"{quota}: its status says {text} {reported} is used, the ledger knows {known}")
    return found


@dataclass(slots=True)
class ColdWatch:
    """Warns of a ledger that knows less than the quotas' status. Run `serve` as a task."""

    ledger: Ledger
    state: LedgerState
    quotas: Callable[[], Sequence[Quota]]
    tell: Callable[[str | None], None]

    async def serve(self) -> None:
        await self.state.is_open.wait()
        await repeat(self._look, every=_LOOK_EVERY, failing="the ledger cannot be compared with the quotas' status")

    async def _look(self) -> None:
        self.tell(self._worded(missing_usage(self.quotas(), await self.ledger.totals())))

    @staticmethod
    def _worded(missing: list[str]) -> str | None:
        if not missing:
            return None
        more = f"; and {len(missing) - _MOST_NAMED} more" if len(missing) > _MOST_NAMED else ""
        return f"{'; '.join(missing[:_MOST_NAMED])}{more}: run `interp ledger reconcile`, or set kubeconfig"
