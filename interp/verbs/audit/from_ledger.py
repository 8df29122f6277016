"""What a ledger charges, as if it were bindings, and what quotas allowed and used until now."""

from __future__ import annotations

import asyncio
from typing import Final

from estimator.accounting.audit.binding_checks import not_admitted
from estimator.accounting.audit.charged import add_charge
from estimator.accounting.audit.owned_workloads import OwnedWorkloads
from estimator.accounting.audit.totals import Tally
from estimator.accounting.history.rendering import QuotaHistory, history_of
from estimator.accounting.history.store import read_steps
from estimator.accounting.ledger.database import existing_ledger
from estimator.accounting.ledger.ledger import Ledger

_HISTORY: Final = 30 * 86400  # seconds


def read_ledger(url: str, tally: Tally) -> list[QuotaHistory]:
    """Add the charges to the tally; the history of the quotas."""
    tally.unscheduled_sets = 1  # as the ledger charges it
    owners: dict[str, str] = {}
    counted: set[str] = set()

    async def read() -> list[QuotaHistory]:
        async with Ledger(existing_ledger(url), create=False) as ledger:
            for namespace in await ledger.namespaces():
                async with ledger.page(namespace, read_only=True) as page:
                    for charge in await page.charged():
                        add_charge(tally, charge)
                        counted.add(str(charge.workload))
                        if charge.owner is not None:
                            owners[str(charge.workload)] = str(charge.owner)
                    for stranger in await page.unadmitted():
                        tally.findings.add(not_admitted(stranger))
            return [history_of(series) for series in await read_steps(ledger, _HISTORY)]

    history = asyncio.run(read())
    tally.families = OwnedWorkloads(owners, counted)
    return history
