"""A trial: manifests decided one after the other as admission would, and nothing written.

Each is decided as if those before it that passed had been admitted; one that is denied counts for nothing. Quotas
among the manifests stand in for those of their names from the beginning, wherever in the list they are.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import msgspec

from estimator.accounting.admission.decide import Gate, Interpretation
from estimator.accounting.admission.review import AdmissionRequest, request_to_create
from estimator.accounting.admission.review import Verdict as Answer
from estimator.accounting.audit.report import Effect, Verdict
from estimator.accounting.audit.what_if import with_changed
from estimator.accounting.demand import WorkloadKey, charge_binding, placed_in
from estimator.accounting.history.readings import readings
from estimator.accounting.history.series import Reading, Subject
from estimator.accounting.ledger.charges import Charge
from estimator.accounting.ledger.database import LedgerError
from estimator.accounting.ledger.namespace_page import Page
from estimator.quotas.amounts import NanoAmounts, add, quantity, texts, without_zeros
from estimator.quotas.objects import Quota
from interpreters.core.errors import QuantityError
from interpreters.core.karmada.api import BINDING
from interpreters.core.requirements import Wire


class TriedManifest(Wire, frozen=True, omit_defaults=False):
    """One manifest and what admission would say to it. What no script knows is not counted, and passes."""

    object: str
    decision: Literal["allowed", "denied", "not counted", "quota"]
    reason: str = ""
    message: str = ""
    warnings: list[str] = []
    adds: dict[str, str] = {}
    """What it would add to its namespace's charge; less than nothing where it shrinks."""


class TrialReport(Wire, frozen=True, omit_defaults=False):
    """The answer: every manifest in its order, and each key of a quota that all that passed would touch."""

    manifests: list[TriedManifest]
    effects: list[Effect]


@dataclass(frozen=True, slots=True)
class Manifest:
    """One document of a trial: a quota, or what the API server would ask if it were applied, or neither."""

    name: str
    request: AdmissionRequest | None = None
    said: Interpretation | None = None
    quota: Quota | None = None


@dataclass(frozen=True, slots=True)
class Trial:
    """Manifests in the order in which they would be applied."""

    gate: Gate
    manifests: Sequence[Manifest]
    clusters: int | None = None
    """In how many clusters a new workload would be bound; None to decide about the workload alone, as one set."""

    async def run(self, seconds: float | None = None) -> TrialReport:
        """Decide everything on the ledger as it is at one moment. Raises `LedgerError` within `seconds`."""
        workloads = self._workloads()
        live = {namespace: await self.gate.quotas.of_namespace(namespace) for namespace in workloads}
        changed = [manifest.quota for manifest in self.manifests if manifest.quota is not None]
        would = {
            namespace: with_changed(quotas, [quota for quota in changed if quota.namespace == namespace])
            for namespace, quotas in live.items()
        }

        until = None if seconds is None else asyncio.get_running_loop().time() + seconds

        async def decide(pages: Mapping[str, Page]) -> TrialReport:
            before = await _readings(pages, live)
            tried = []
            for manifest in self.manifests:
                tried.append(await self._tried(manifest, pages, would))
                await asyncio.sleep(0)  # a long list must not keep others from being answered
                if until is not None and asyncio.get_running_loop().time() > until:
                    raise LedgerError(f"{len(tried)} of {len(self.manifests)} manifests were decided in time")
            return TrialReport(tried, list(_effects(before, await _readings(pages, would))))

        return await self.gate.ledger.look_through(workloads, decide, seconds)

    def _workloads(self) -> dict[str, list[WorkloadKey]]:
        """By namespace; those that only a quota is about have none."""
        found: dict[str, list[WorkloadKey]] = {}
        for manifest in self.manifests:
            if manifest.quota is not None:
                found.setdefault(manifest.quota.namespace, [])
            elif manifest.request is not None and (case := self.gate.case(manifest.request, manifest.said)):
                found.setdefault(case.workload.namespace, []).append(case.workload)
        return found

    async def _tried(
        self, manifest: Manifest, pages: Mapping[str, Page], quotas: Mapping[str, Sequence[Quota]]
    ) -> TriedManifest:
        if manifest.quota is not None:
            return TriedManifest(manifest.name, "quota")
        case = self.gate.case(manifest.request, manifest.said) if manifest.request is not None else None
        if case is None:
            return TriedManifest(manifest.name, "not counted")
        page, in_force = pages[case.workload.namespace], quotas[case.workload.namespace]
        before = await page.charge(case.workload)
        verdict, place = await replace(case, quotas=in_force).decide(page), ""
        warnings = list(verdict.warnings)
        charge = await page.charge(case.workload)
        if verdict.allowed and case.binding is None and self.clusters and not charge.demand.clusters:
            # Karmada would bind it next, and that is decided as well.
            verdict, place = await self._bound(charge, self.clusters, page, in_force)
            warnings += [warning for warning in verdict.warnings if warning not in warnings]
            charge = await page.charge(case.workload)
        if not verdict.allowed:
            await page.save(before)
            return TriedManifest(manifest.name, "denied", verdict.reason, place + verdict.message, warnings)
        return TriedManifest(manifest.name, "allowed", warnings=warnings, adds=_added(before, charge))

    async def _bound(self, charge: Charge, clusters: int, page: Page, in_force: Sequence[Quota]) -> tuple[Answer, str]:
        """What admission would say to the workload's binding, and the words that say that it is about that."""
        binding = charge_binding(charge.workload, placed_in(charge.demand, clusters))
        request = request_to_create(BINDING.group_version_kind, msgspec.json.encode(binding), charge.workload.namespace)
        case = self.gate.case(request, None, in_force)
        answer = Answer(True) if case is None else await case.decide(page)
        return answer, f"bound to {clusters} cluster{'' if clusters == 1 else 's'}: "


def _added(before: Charge, after: Charge) -> dict[str, str]:
    try:
        difference = NanoAmounts(dict(after.amounts))
        add(difference, before.amounts, -1)
    except QuantityError:
        return {}  # let in by a mode that refuses nothing
    return texts(without_zeros(difference))


async def _readings(pages: Mapping[str, Page], quotas: Mapping[str, Sequence[Quota]]) -> dict[Subject, Reading]:
    found: dict[Subject, Reading] = {}
    for namespace, in_force in quotas.items():
        if in_force:
            sums = await pages[namespace].all_sums()
            found |= {reading.subject: reading for reading in readings(in_force, sums)}
    return found


def _effects(before: Mapping[Subject, Reading], after: Mapping[Subject, Reading]) -> Iterator[Effect]:
    """Each key that would be used otherwise, or that would allow something else."""
    for subject, now in after.items():
        old = before.get(subject)
        if old is not None and (old.used, old.limit) == (now.used, now.limit):
            continue
        was_over = old is not None and old.used > old.limit
        verdict: Verdict = ("still over" if was_over else "over") if now.used > now.limit else "fits"
        yield Effect(
            quota=str(subject._replace(key="")).rstrip(),
            key=subject.key,
            used_before=_spelled(subject, old.used) if old else None,
            limit_before=_spelled(subject, old.limit) if old else None,
            used=_spelled(subject, now.used),
            limit=_spelled(subject, now.limit),
            verdict=verdict,
        )


def _spelled(subject: Subject, nano: int) -> str:
    return str(quantity(subject.key, nano))
