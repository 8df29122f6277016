"""Bindings and quotas of a live Karmada."""

from __future__ import annotations

import asyncio
from pathlib import Path

from estimator.accounting.audit.read_bindings import Intake
from estimator.accounting.audit.totals import Tally
from estimator.accounting.podless_bindings import says_no_pods
from estimator.accounting.sources.karmada_source import LiveObjects, live_bindings, live_quotas
from estimator.clusters.apiserver import ApiServer
from estimator.clusters.kubeconfig import read_kubeconfig
from estimator.quotas.objects import Quota
from interp.options.karmada_release import release_of
from interp.scripts.object_demands import ObjectDemands
from interpreters.core.karmada.releases import Release


def read_karmada(
    kubeconfig: str, context: str, tally: Tally, karmada: Release | None, demands: ObjectDemands
) -> list[Quota]:
    """Add the bindings to the tally; the quotas."""
    given = tally.known

    async def read() -> list[Quota]:
        intake = Intake(tally)
        async with ApiServer(read_kubeconfig(Path(kubeconfig), context)) as server:
            tally.release = await release_of(server, karmada)
            objects = LiveObjects(server)
            async for page in live_bindings(server):
                found = list(intake.bindings(page, kubeconfig))
                told = await demands.of_bindings([one for one in found if says_no_pods(one.spec)], objects)
                tally.known = {**{str(workload): said for workload, said in told.items()}, **given}
                for binding in found:
                    tally.add(binding)
            return await live_quotas(server)

    return asyncio.run(read())
