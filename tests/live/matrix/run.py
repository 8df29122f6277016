"""What can happen in a matrix, to objects and to interp; after each event everything is read and judged."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from interp.verbs.register.control_plane import CONFIGURATIONS, tuples_of
from interpreters.core.kinds import GroupVersionKind
from tests.interp.command import interp
from tests.live.api import item, named
from tests.live.matrix.cells import STEP_LABEL, Cell, Event, Group, Policy, cells_of, propagation
from tests.live.matrix.judgement import Judge, Registered, Verdict, waits_for_interp
from tests.live.matrix.observation import PATIENCE, Seen, Watch
from tests.live.matrix.samples import Counter, Sample
from tests.live.peers import ControlPlane, free_port
from tests.webhook.server import Client, Server
from webhook.registration.rules import COUNTING

_ROOM = (
    {"cpu": "20000", "memory": "200Ti", "pods": "100000", "ephemeral-storage": "200Ti"},
    {"cpu": "10000", "memory": "100Ti", "pods": "50000", "ephemeral-storage": "100Ti"},
)
_DEVICES = (20000, 10000)  # of whatever else the samples ask for


@dataclass(frozen=True)
class Phase:
    """What was judged together, and what interp had registered then."""

    title: str
    registered: Registered
    verdicts: tuple[Verdict, ...]
    calls: int  # that Karmada made meanwhile
    seconds: float


@dataclass
class Matrix:
    """One control plane, one feature gate, some kinds, and how far their objects have come."""

    plane: ControlPlane
    gate: bool
    samples: Sequence[Sample]
    counter: Counter
    policies: Collection[Policy] = tuple(Policy)
    phases: list[Phase] = field(default_factory=list)
    unpropagated: set[Cell] = field(default_factory=set)  # by Karmada alone, whose scripts fail on the object
    harmed: list[Verdict] = field(default_factory=list)  # by what interp does not register
    _steps: dict[Cell, int] = field(default_factory=dict)
    _alone: dict[tuple[Cell, Event], Seen] = field(default_factory=dict)
    _port: int = field(default_factory=free_port)

    def prepare(self, groups: Iterable[Group]) -> None:
        """Namespaces with policies, and room in the members, the first of which has more."""
        names = {name for sample in self.samples for name in self.counter.resources(sample.object)}
        for number, member in enumerate(self.plane.members):
            room = _ROOM[number] | dict.fromkeys(sorted(names - set(_ROOM[number])), str(_DEVICES[number]))
            node = named("v1", "Node", "large")
            member.create({**node, "status": {"allocatable": room, "capacity": room}})
            member.change(node, {"spec": {"taints": None}})
        for group in groups:
            for policy in self.policies:
                namespace = f"{group.value}-{policy.value}"
                self.plane.karmada.create(named("v1", "Namespace", namespace))
                self.plane.karmada.create(propagation(namespace, policy, self._kinds))

    def cells(self, group: Group, kinds: Collection[str] = ()) -> list[Cell]:
        chosen = [sample for sample in self.samples if not kinds or sample.kind.kind in kinds]
        return cells_of(group, chosen, self.policies)

    # What happens to objects.

    def happens(self, event: Event, cells: Sequence[Cell]) -> None:
        for cell in cells:
            step = self._steps[cell] = self._steps.get(cell, -1) + 1
            if event is Event.CREATED:
                self.plane.karmada.create(cell.template(step))
                continue
            label = {"op": "replace", "path": "/metadata/labels/" + STEP_LABEL.replace("/", "~1"), "value": str(step)}
            changes = [label, *(cell.sample.scaling if event is Event.SCALED else ())]
            self.plane.karmada.ask("PATCH", item(cell.reference), changes, "application/json-patch+json")

    def learn(self, event: Event, cells: Sequence[Cell]) -> None:
        """How Karmada alone leaves the objects after an event; some it cannot count and does not propagate."""
        started = time.monotonic()
        self.happens(event, cells)
        seen = self._watch.until(cells, lambda cell, one: cell in self.unpropagated or self._is_settled(cell, one))
        self._alone.update({(cell, event): one for cell, one in seen.items()})
        self.unpropagated |= {cell for cell in cells if not self._is_settled(cell, seen[cell])}
        self._note("Karmada alone", [Verdict(cell, event, one) for cell, one in seen.items()], started, 0)
        for cell in sorted(self.unpropagated, key=str):
            print(f"  not propagated: {cell}", flush=True)

    def judge(self, title: str, *events: tuple[Event, Sequence[Cell]], again: Event | None = None) -> list[Verdict]:
        """Let events happen and judge what comes of them. `again` says which event the objects are to look like."""
        started, calls = time.monotonic(), self._calls()
        for event, cells in events:
            self.happens(event, cells)
        return self._judge(title, [(again or event, cells) for event, cells in events], started, calls)

    def _judge(
        self, title: str, events: Iterable[tuple[Event, Sequence[Cell]]], started: float, calls: int, **patience: float
    ) -> list[Verdict]:
        meant = {cell: event for event, cells in events for cell in cells}
        seen = self._watch.until(meant, self._is_settled, **patience)
        judge = Judge(self.counter, self.gate, self._alone, self.unpropagated, self.registered)
        verdicts = [judge.verdict(cell, event, seen[cell], self._steps[cell]) for cell, event in meant.items()]
        self._note(title, verdicts, started, self._calls() - calls)
        return [verdict for verdict in verdicts if verdict.faults]

    # What happens to interp.

    def serve(self) -> Server:
        return Server(self.plane.pki, "--port", str(self._port))

    def register(self, *flags: str) -> None:
        gate = f"MultiplePodTemplatesScheduling={str(self.gate).lower()}"
        url = f"https://127.0.0.1:{self._port}/interpret"
        ran = interp("register", "--url", url, "--ca", self.plane.pki / "ca.crt", "--apply", "--yes", "--kubeconfig",
                     self.plane.karmada.kubeconfig, "--feature-gates", gate, *flags)  # fmt: skip
        assert ran.code == 0, ran.err
        time.sleep(3)  # Karmada does not tell when it has seen a registration; that interp is asked is checked later

    def remove(self) -> None:
        ran = interp("register", "--remove", "--yes", "--kubeconfig", self.plane.karmada.kubeconfig)
        assert ran.code == 0, ran.err
        time.sleep(3)

    def register_everything(self, kinds: Collection[str]) -> None:
        """As interp once did: whatever the scripts offer, components too for kinds that divide."""
        concerned = {sample.kind for sample in self.samples if sample.kind.kind in kinds}
        path = f"{CONFIGURATIONS}/interp"
        found = self.plane.karmada.ask("GET", path).body
        offered = {
            kind: [one for one, _ in self.counter.catalog.operations(kind) if one in COUNTING] for kind in concerned
        }
        found["webhooks"][0]["rules"] = [
            {"apiGroups": [kind.group], "apiVersions": [kind.version], "kinds": [kind.kind],
             "operations": [operation.name for operation in operations]}
            for kind, operations in offered.items()
        ]  # fmt: skip
        self.plane.karmada.ask("PUT", path, found)
        time.sleep(3)

    @property
    def registered(self) -> Registered:
        answer = self.plane.karmada.send("GET", f"{CONFIGURATIONS}/interp")
        return tuples_of(answer.body) if answer.status == 200 else {}

    def judge_while_down(self, *events: tuple[Event, Sequence[Cell]], again: Event) -> list[Verdict]:
        """Events while nobody answers: what Karmada does not ask about arrives, everything else stays as it is."""
        started, registered = time.monotonic(), self.registered
        meant = {cell: event for event, cells in events for cell in cells}
        before = self._watch.until(meant, lambda cell, seen: True)
        for event, cells in events:
            self.happens(event, cells)

        def waits(cell: Cell) -> bool:
            return waits_for_interp(registered.get(cell.sample.kind, ()), meant[cell], gate=self.gate)

        seen = self._watch.until(meant, lambda cell, one: waits(cell) or self._is_settled(cell, one))
        judge = Judge(self.counter, self.gate, self._alone, self.unpropagated, self.registered)
        verdicts = []
        for cell, event in meant.items():
            like = event if event is Event.CREATED else again
            step = self._steps[cell]
            verdicts.append(judge.verdict_while_down(cell, like, seen[cell], before[cell], step, waits(cell)))
        self._note("interp down", verdicts, started, 0)
        return [verdict for verdict in verdicts if verdict.faults]

    def judge_back(self, *events: tuple[Event, Sequence[Cell]]) -> list[Verdict]:
        """Once somebody answers again, everything arrives."""
        started = time.monotonic()
        return self._judge("interp back", events, started, 0, standstill=PATIENCE)  # Karmada tries ever less often

    def _note(self, title: str, verdicts: Sequence[Verdict], started: float, calls: int) -> None:
        phase = Phase(title, self.registered, tuple(verdicts), calls, time.monotonic() - started)
        self.phases.append(phase)
        wrong = sum(1 for verdict in verdicts if verdict.faults)
        print(f"{title}: {len(verdicts)} objects, {wrong} wrong, {calls} calls, {phase.seconds:.0f} s", flush=True)
        for verdict in verdicts:
            if verdict.faults:
                print(f"  {verdict}", flush=True)

    def _is_settled(self, cell: Cell, seen: Seen) -> bool:
        return seen.is_settled(self._steps[cell])

    @property
    def _kinds(self) -> list[GroupVersionKind]:
        return sorted({sample.kind for sample in self.samples})

    @property
    def _watch(self) -> Watch:
        return Watch(self.plane, self._kinds)

    def _calls(self) -> int:
        client = Client(self._port, self.plane.pki / "ca.crt")
        try:
            return int(client.metric("interp_requests_total"))
        except OSError:
            return 0
        finally:
            client.close()
