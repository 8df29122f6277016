"""Whether interp left an object as Karmada alone would have it, and with the pods that its policy means."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from interpreters.comparison import compare
from interpreters.core.division import Division
from interpreters.core.karmada.answers import answered_by_karmada
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.operations import Operation
from tests.live.matrix.cells import WEIGHTS, Cell, Event, Group, Policy
from tests.live.matrix.observation import Seen
from tests.live.matrix.samples import Counter
from webhook.registration.rules import COMPONENTS, REPLICAS, REVISION

Registered = Mapping[GroupVersionKind, Collection[Operation]]


class Wrong(Enum):
    """What can be wrong with an object."""

    PLACE = "in other clusters than with Karmada alone"
    FIELD = "a field that Karmada alone leaves as it is"
    PODS = "other pods than the policy means"
    LATE = "the change does not arrive"


@dataclass(frozen=True)
class Fault:
    wrong: Wrong
    what: str

    def __str__(self) -> str:
        return f"{self.wrong.value}: {self.what}"


@dataclass(frozen=True)
class Exemption:
    """A deviation from Karmada alone that is meant, and why."""

    reason: str
    wrong: Collection[Wrong]
    groups: Collection[Group] = tuple(Group)
    kinds: Collection[str] = ()  # none named: all; names without a version mean every version
    gate: bool | None = None
    policies: Collection[Policy] = tuple(Policy)

    def covers(self, cell: Cell, fault: Fault, gate: bool) -> bool:
        return (
            fault.wrong in self.wrong
            and cell.group in self.groups
            and (not self.kinds or not {str(cell.sample.kind), cell.sample.kind.kind}.isdisjoint(self.kinds))
            and self.gate in (None, gate)
            and cell.policy in self.policies
        )


_NEW = frozenset(Group) - {Group.AFTER}  # made when interp was registered; what runs already must not move
EXEMPTIONS = (
    Exemption(
        "a new FlinkDeployment: Karmada reads memory of 2048m as 2.048 bytes; by the right number the scheduler may "
        "choose another cluster",
        {Wrong.PLACE}, _NEW, ["FlinkDeployment"], policies={Policy.ONE},
    ),
    Exemption(
        "--count: with the gate off the pods are counted, so a cluster without a share gets nothing and a spread of "
        "1..1 chooses by room",
        {Wrong.PLACE}, {Group.COUNT}, gate=False, policies=[policy for policy in Policy if policy.divides],
    ),
    Exemption(
        "--divide: interp counts and shares out instead of Karmada, whose numbers are others",
        {Wrong.PLACE, Wrong.FIELD}, {Group.DIVIDE}, ["Workflow", "BroadcastJob"],
    ),
)  # fmt: skip
WHILE_DOWN = "while interp does not answer, an object whose kind it is asked about stays as it is"
BY_POLICY = (
    "a kind that divides, in a version that Karmada's own scripts do not know: Karmada alone sends all pods to every "
    "cluster, whatever the policy says, and nobody else can answer; with interp the policy is followed. Judged are the "
    "shares, and that nothing else in the object differs; `register --apply` names every such object first"
)


def faults(
    cell: Cell, event: Event, seen: Seen, alone: Seen | None, counter: Counter, *, step: int, division: Division
) -> Iterator[Fault]:
    """Everything that is wrong with an object after an event, measured by the same object with Karmada alone, if that
    propagates it at all, and by what its policy means for a kind that is divided so."""
    if not seen.is_settled(step):
        yield Fault(Wrong.LATE, f"bound to {_told(seen.targets)}, steps {dict(seen.steps)} of {step} {seen.refusal}")
    if alone is not None:
        yield from _beside_karmada_alone(seen, alone)
    asked = {cluster: counter.pods(copy) for cluster, copy in seen.copies.items()}
    wanted = meaning(division, cell.policy, counter.pods(template_at(cell, event)), asked)
    if wanted:
        yield Fault(Wrong.PODS, f"{_told(asked)}; {wanted}")


def _beside_karmada_alone(seen: Seen, alone: Seen) -> Iterator[Fault]:
    if set(seen.copies) != set(alone.copies):
        yield Fault(Wrong.PLACE, f"{_told(list(seen.copies))} instead of {_told(list(alone.copies))}")
    for cluster in sorted(set(seen.copies) & set(alone.copies)):
        for difference in compare(alone.copies[cluster], seen.copies[cluster]):
            yield Fault(Wrong.FIELD, f"{cluster} {difference.path} {difference.want} → {difference.got}")


def template_at(cell: Cell, event: Event) -> Mapping[str, Any]:
    return cell.sample.scaled if event is Event.SCALED else cell.sample.object


def meaning(division: Division, policy: Policy, pods: int, asked: Mapping[str, int]) -> str:
    """What a policy means for so many pods, if that is not what the members were asked for.

    >>> meaning(Division.WHOLE, Policy.WEIGHTS, 6, {"member1": 4, "member2": 2})
    'all 6 in each'
    >>> meaning(Division.DIVIDES, Policy.WEIGHTS, 6, {"member1": 4, "member2": 2})
    ''
    """
    if division is Division.KARMADA:
        return ""  # what Karmada's own scripts make of it is nothing that interp answers for
    if division is Division.WHOLE or not policy.divides:
        right, wanted = all(one == pods for one in asked.values()), f"all {pods} in each"
    elif policy is Policy.WEIGHTS:
        total = sum(WEIGHTS.values())
        shares = {name: pods * weight / total for name, weight in WEIGHTS.items()}
        near = all(abs(asked.get(name, 0) - share) < 1 for name, share in shares.items())
        right, wanted = near and sum(asked.values()) == pods, f"shares of {pods} by weight"
    elif policy is Policy.ONE:
        right, wanted = list(asked.values()) == [pods], f"{pods} in one cluster"
    else:
        right, wanted = sum(asked.values()) == pods, f"shares of {pods}"
    return "" if right else wanted


@dataclass(frozen=True)
class Verdict:
    """The faults of a cell after an event, those that are meant apart."""

    cell: Cell
    event: Event
    seen: Seen
    faults: tuple[Fault, ...] = ()
    exempt: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.cell}, {self.event.value}: " + "; ".join(map(str, self.faults[:4]))


@dataclass(frozen=True)
class Judge:
    """Knows what Karmada alone did."""

    counter: Counter
    gate: bool
    alone: Mapping[tuple[Cell, Event], Seen]
    unpropagated: Collection[Cell] = ()  # by Karmada alone
    registered: Registered = field(default_factory=dict)

    def verdict(self, cell: Cell, event: Event, seen: Seen, step: int) -> Verdict:
        left, reasons = [], set()
        alone = None if cell.alone in self.unpropagated else self.alone[cell.alone, event]
        if alone is not None and self._is_divided_by_interp_alone(cell):
            shared = self._shared_out(alone, seen)
            if shared.copies != alone.copies:
                reasons.add(BY_POLICY)
            alone = shared
        for fault in faults(cell, event, seen, alone, self.counter, step=step, division=self._division(cell)):
            excuse = next((one for one in EXEMPTIONS if one.covers(cell, fault, self.gate)), None)
            if excuse is None:
                left.append(fault)
            else:
                reasons.add(excuse.reason)
        return Verdict(cell, event, seen, tuple(left), tuple(sorted(reasons)))

    def _division(self, cell: Cell) -> Division:
        if cell.group is Group.DIVIDE:
            return Division.DIVIDES
        declared = cell.sample.division
        if declared is Division.DIVIDES and not self._is_counted(cell.sample.kind):
            return Division.KARMADA  # nobody divides it
        return declared

    def _is_counted(self, kind: GroupVersionKind) -> bool:
        return REPLICAS in answered_by_karmada(kind) or REPLICAS in self.registered.get(kind, ())

    def _is_divided_by_interp_alone(self, cell: Cell) -> bool:
        kind = cell.sample.kind
        divides = cell.sample.division is Division.DIVIDES and self._is_counted(kind)
        return divides and REPLICAS not in answered_by_karmada(kind)

    def _shared_out(self, alone: Seen, seen: Seen) -> Seen:
        """What Karmada alone left, with the pods and in the clusters that it has now."""
        copies = {
            cluster: self.counter.revised(alone.copies[cluster], self.counter.pods(copy))
            if cluster in alone.copies
            else copy
            for cluster, copy in seen.copies.items()
        }
        return replace(alone, copies=copies)

    def verdict_while_down(self, cell: Cell, event: Event, seen: Seen, before: Seen, step: int, waits: bool) -> Verdict:
        """Like Karmada alone, or, if Karmada has to ask interp about it, just as before."""
        if waits and seen.copies == before.copies and not seen.is_settled(step):
            return Verdict(cell, event, seen, (), (WHILE_DOWN,))
        return self.verdict(cell, event, seen, step)


def waits_for_interp(operations: Collection[Operation], event: Event, *, gate: bool) -> bool:
    """Whether Karmada asks one of these before it propagates the event of an object."""
    counted = COMPONENTS if gate and COMPONENTS in operations else REPLICAS
    names = {operation.name for operation in operations}
    return counted in operations or REVISION in operations or ("Retain" in names and event is not Event.CREATED)


def _told(values: Mapping[str, Any] | Collection[str]) -> str:
    if isinstance(values, Mapping):
        told = (f"{name} {value}" if isinstance(value, int) else name for name, value in sorted(values.items()))
        return " + ".join(told) or "nowhere"
    return " + ".join(sorted(values)) or "nowhere"
