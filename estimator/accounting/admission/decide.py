"""Admission: one request, one decision, charged and recorded in the same transaction.

The caller interprets the objects and says which clusters would fit; this reads the namespace's charges under its lock,
compares with the quotas, and writes charge and decision together. So of two requests that fit alone but not together
exactly one passes, whichever process they reach.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, Protocol

from msgspec import DecodeError, Raw

from estimator.accounting.admission.checks import counts_parts, excesses, needs_scopes, unchecked
from estimator.accounting.admission.review import QUOTA_EXCEEDED, AdmissionRequest, Verdict
from estimator.accounting.audit.binding_checks import impossible, unreadable
from estimator.accounting.demand import Binding, Demand, WorkloadKey, decode_binding, demand_of
from estimator.accounting.ledger.charges import Charge, admitted, bound, deleted, filled, is_superseded, unbound
from estimator.accounting.ledger.freshness import mark_of, moment_of, version_of
from estimator.accounting.ledger.ledger import Ledger
from estimator.accounting.ledger.namespace_page import Page
from estimator.accounting.ledger.rows import Decision, digest_of
from estimator.accounting.ledger.write_queue import Task
from estimator.quotas.amounts import NanoAmounts, no_amounts
from estimator.quotas.objects import Quota
from interpreters.core.decoder_errors import misfit
from interpreters.core.errors import QuantityError, RequestError
from interpreters.core.interpreted import Interpreted
from interpreters.core.karmada.api import BINDING_KINDS, WORK_GROUP
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.wire import LONGEST_UID

Mode = Literal["enforce", "warn", "record"]
_FORBIDDEN: Final = "Forbidden"
_LATE: Final = "of an object that another one of the same name has replaced; that one stays charged"


class QuotaSource(Protocol):
    """Where quotas come from: files, a folder, a live cluster."""

    async def of_namespace(self, namespace: str) -> Sequence[Quota]: ...


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

    tells_pods: bool = False
    """Of a binding: a script knows what pods its object stands for, whether or not the object is at hand."""


@dataclass(frozen=True, slots=True)
class Gate:
    """Everything a decision needs that is not in the request."""

    ledger: Ledger
    quotas: QuotaSource
    modes: Modes = Modes()

    async def decide(
        self, request: AdmissionRequest, interpretation: Interpretation | None, seconds: float | None = None
    ) -> Verdict:
        """Decide, charge and record. `interpretation` is None for a kind that no script knows.

        Raises `LedgerError` when the ledger cannot be written within `seconds`. Then nothing was charged, or it is
        written late; either way the same request again gets the decision that stands."""
        case = self.case(request, interpretation)
        if case is None:
            return Verdict(True)
        case = replace(case, quotas=await self.quotas.of_namespace(case.workload.namespace))
        task = Task(case.workload, case.decide, request.uid)
        return await (self.ledger.look if request.dry_run else self.ledger.submit)(task, seconds)

    def case(
        self, request: AdmissionRequest, interpretation: Interpretation | None, quotas: Sequence[Quota] = ()
    ) -> Case | None:
        """What there is to decide; None for a request that passes untouched."""
        binding = _binding(request)
        if (interpretation is None and binding is None) or request.sub_resource:
            return None
        if request.operation not in ("CREATE", "UPDATE", "DELETE"):
            return None
        if request.operation == "UPDATE" and request.metadata.deletion_timestamp:
            return None  # it is on its way out: finalizers must be able to go
        workload = binding.workload if binding is not None else request.workload
        return Case(self, request, interpretation or Interpretation(), binding, workload, quotas)


@dataclass(frozen=True, slots=True)
class Case:
    """One request with all that is known about it."""

    gate: Gate
    request: AdmissionRequest
    said: Interpretation
    binding: Binding | None
    workload: WorkloadKey
    quotas: Sequence[Quota]

    @property
    def mode(self) -> Mode:
        return self.gate.modes.of(self.workload.namespace)

    async def decide(self, page: Page) -> Verdict:
        if made := await page.decision_on(self.request.uid, self._digest):
            # Delivered again. What was decided stands, whatever has happened since.
            return Verdict(made.allowed, "" if made.allowed else made.message, reason=made.reason or _FORBIDDEN)
        before = await page.charge(self.workload)
        if self.request.operation == "DELETE":
            return await self._release(page, before)
        if self.said.problem:
            return await self._unweighed(page, before, self.said.problem)
        metadata = self.request.metadata
        if self.binding is None and is_superseded(before, metadata.uid, moment_of(metadata.creation_timestamp)):
            return await self._finish(page, before, before, [], late=_LATE)
        after = self._after(before, page.now)
        if misplaced := "; ".join(self._misplaced()):
            return await self._finish(page, before, before, [f"{self.workload}: {misplaced}"])
        if below := "; ".join(impossible(after.demand)):
            return await self._unweighed(page, before, below)
        try:
            exceeded, problems, notes = await self._judge(page, before, after)
        except QuantityError as error:
            problem = unreadable(after.demand) or str(error)
            return await self._unweighed(page, before, problem)
        return await self._finish(page, before, after, [*exceeded, *problems], notes, exceeded=bool(exceeded))

    async def _unweighed(self, page: Page, before: Charge, problem: str) -> Verdict:
        """It could cost anything. Where no quota holds, that is nobody's business."""
        told = [f"{self.workload}: {problem}"]
        problems, notes = (told, []) if self.quotas else ([], told)
        return await self._finish(page, before, before, problems, notes)

    def _misplaced(self) -> Iterator[str]:
        """A binding stands in its object's namespace, whose quota it costs. None is charged from elsewhere."""
        if self.binding is not None:
            own, named = self.binding.metadata.namespace, self.binding.spec.resource.namespace
            if own and named and own != named:
                yield f"its binding is in namespace {own} and names an object of {named}"

    @property
    def _digest(self) -> str:
        request = self.request
        return digest_of(request.operation.encode(), *(text.encode() for text in self.workload), bytes(request.object))

    def _after(self, before: Charge, now: float) -> Charge:
        known = replace(before, owner=self.request.owner or before.owner)
        metadata = self.request.metadata
        if self.binding is None:
            seen = replace(
                known,
                object_created=moment_of(metadata.creation_timestamp) or before.object_created,
                object_version=version_of(metadata.resource_version),
            )
            after = admitted(
                seen,
                _demand(self.said.new),
                _demand(self.said.old) if self.said.old is not None else None,
                uid=metadata.uid,
                generation=metadata.generation,
                expires_at=now + self.gate.ledger.provisional_seconds,
            )
            return replace(after, source="admission")
        spec = self.binding.spec
        parts = _demand(self.said.new).parts if self.said.new is not None else None
        demand = filled(spec.plain, before, parts, version=version_of(spec.resource.resource_version))
        # The state that the API server holds until it has stored this one.
        version = version_of(metadata.resource_version) if self.request.operation == "UPDATE" else 0
        mark = mark_of(self.binding, version)
        return replace(bound(known, demand, uid=spec.resource.uid, mark=mark), owner=before.owner, source="admission")

    def _compared(self, before: Charge, after: Charge) -> tuple[Charge, Charge]:
        """What is there already and what would be, to tell what grows.

        Of a workload: the ledger's charge and what the API server itself still holds. Of a binding: the one that the
        API server holds, by itself, as Karmada compares. The charge may be larger without anybody having allowed it:
        what `kubectl scale` wrote into the object is charged as soon as the object is seen."""
        if self.binding is None:
            return before if self.said.old is None else replace(before, confirmed=after.confirmed), after
        nothing = Charge(self.workload)
        old = decode_reviewed(self.request, self.request.old_object) if self.request.operation == "UPDATE" else None
        was = nothing if old is None else replace(nothing, confirmed=filled(old.spec.plain, after))
        return was, replace(nothing, confirmed=after.confirmed)

    async def _judge(self, page: Page, before: Charge, after: Charge) -> tuple[list[str], list[str], list[str]]:
        """Which quotas the change breaks, what else is wrong with it, and what could not be looked at."""
        was, will = self._compared(before, after)
        notes = [self._uncounted] if self._is_uncounted(after) else []
        grows = _grows(was.amounts, will.amounts)
        if not grows and not counts_parts(self.quotas):
            return [], [], notes
        others = await page.others(before, after, scopes=needs_scopes(self.quotas))
        exceeded = [str(excess) for excess in excesses(self.quotas, others, was, will)]
        if not grows:
            return exceeded, [], notes
        problems = []
        fits = self.said.fits
        if fits is not None and not any(fit.sets >= 1 for fit in fits):
            why = "; ".join(f"{fit.cluster}: {fit.reason or 'full'}" for fit in fits) or "no cluster is known"
            problems.append(f"{self.workload}: no cluster fits one set: {why}")
        return exceeded, problems, [*notes, *unchecked(self.quotas)]

    def _is_uncounted(self, after: Charge) -> bool:
        return self.binding is not None and self.said.tells_pods and not after.demand.parts

    @property
    def _uncounted(self) -> str:
        return (
            f"{self.workload}: its binding says no pods and the object was never admitted, so it counts as nothing; "
            "set kubeconfig, or reconcile with --workloads"
        )

    async def _finish(
        self,
        page: Page,
        before: Charge,
        after: Charge,
        problems: Sequence[str],
        notes: Sequence[str] = (),
        *,
        exceeded: bool = False,
        late: str = "",
    ) -> Verdict:
        denied = bool(problems) and self.mode == "enforce"
        if not denied and after is not before:
            await page.save(after)
        message = "; ".join(problems)
        reason = QUOTA_EXCEEDED if exceeded else _FORBIDDEN
        uncounted = self._uncounted if self._is_uncounted(after) else ""
        self._record(page, not denied, message or late or uncounted, after, reason if denied else "")
        return Verdict(
            allowed=not denied,
            message=message if denied else "",
            warnings=() if self.mode == "record" else (*(() if denied else problems), *notes),
            reason=reason,
        )

    async def _release(self, page: Page, before: Charge) -> Verdict:
        expires = page.now + self.gate.ledger.provisional_seconds
        if self.binding is None:
            after = deleted(before, self.request.metadata.uid, expires_at=expires)
            if not after.is_live:
                page.forget_sighting(self.workload)
        elif self._is_old_binding(before, self.binding):
            after = before
        elif before.is_leaving:
            after = Charge(self.workload)
        else:
            after = replace(unbound(before, expires_at=expires), source="admission") if before.is_live else before
        if after != before:
            await page.save(after)
        is_late = before.is_live and after == before
        self._record(page, True, _LATE if is_late else "", Charge(self.workload))
        return Verdict(True)

    @staticmethod
    def _is_old_binding(before: Charge, binding: Binding) -> bool:
        """Whether a binding that goes is not the one that the charge was made from."""
        uids = (before.binding.uid, binding.metadata.uid)
        objects = (before.uid, binding.spec.resource.uid)
        return any(all(pair) and pair[0] != pair[1] for pair in (uids, objects))

    def _record(self, page: Page, allowed: bool, message: str, charge: Charge, reason: str = "") -> None:
        try:
            asked = charge.amounts
        except QuantityError:
            asked = no_amounts()
        request = self.request
        page.record(
            Decision(
                operation=request.operation,
                workload=self.workload,
                allowed=allowed,
                message=message,
                username=request.user_info.username[:LONGEST_UID],  # whoever reaches us may claim any
                mode=self.mode,
                asked=asked,
                request=request.uid,
                digest=self._digest,
                reason=reason,
            )
        )


def _demand(interpreted: Interpreted | None) -> Demand:
    return demand_of(list(interpreted.as_components)) if interpreted is not None else Demand()


def _grows(before: NanoAmounts, after: NanoAmounts) -> bool:
    return any(nano > before.get(resource, 0) for resource, nano in after.items())


def _binding(request: AdmissionRequest) -> Binding | None:
    """The binding that the request is about, when it is about one."""
    if not is_binding_kind(request.kind):
        return None
    return decode_reviewed(request, request.old_object if request.operation == "DELETE" else request.object)


def is_binding_kind(kind: GroupVersionKind) -> bool:
    return kind.group == WORK_GROUP and kind.kind in BINDING_KINDS


def decode_reviewed(request: AdmissionRequest, raw: Raw) -> Binding:
    """A binding of the request. Raises `RequestError`."""
    try:
        return decode_binding(raw)
    except DecodeError as error:
        raise RequestError(f"request.object: not a {request.kind.kind}: {misfit(error)}") from None
