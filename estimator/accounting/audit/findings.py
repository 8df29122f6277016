"""What an audit can find: each kind of finding with its weight and what to do, and a bounded collection of them."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import Final, Literal

from interpreters.core.requirements import Wire

Severity = Literal["error", "drift", "warning"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of finding."""

    code: str
    severity: Severity
    advice: str


RULES: Final = {
    rule.code: rule
    for rule in (
        Rule("over-limit", "error", "raise the limit, or remove or shrink workloads; the heaviest are listed"),
        Rule("near-limit", "warning", "plan more capacity before the next workload is refused"),
        Rule(
            "reported-wrong",
            "drift",
            "trust the recomputed. Karmada counts afresh when a binding goes, when spec.overall changes, and every "
            "five minutes (--federated-resource-quota-sync-period); if it stays wrong, the log of "
            "karmada-controller-manager tells more",
        ),
        Rule(
            "enforcement-off",
            "drift",
            "turn the feature gate FederatedQuotaEnforcement on in karmada-controller-manager and karmada-webhook, or "
            "enforce by /admit: without it Karmada reports the sum of the members' quotas and refuses nothing",
        ),
        Rule(
            "assignments-above-overall",
            "drift",
            "raise spec.overall or lower the assignments: Karmada refuses such a quota at its next change",
        ),
        Rule(
            "assignment-not-overall",
            "drift",
            "name the key in spec.overall, too: Karmada refuses such a quota at its next change",
        ),
        Rule(
            "scheduled-differs",
            "drift",
            "reschedule the workload (WorkloadRebalancer): what its clusters got is not what it wants now",
        ),
        Rule(
            "legacy-maximum", "drift", "turn MultiplePodTemplatesScheduling on, so that each component counts as itself"
        ),
        Rule(
            "requests-missing", "warning", "give every container requests; without them the pods cost the quota nothing"
        ),
        Rule("milli-memory", "warning", "write Mi or Gi: the suffix m means thousandths of a byte"),
        Rule(
            "key-not-enforced",
            "warning",
            "name the resource itself (cpu, not requests.cpu): Karmada compares by letter",
        ),
        Rule("key-not-computed", "warning", "enforce it in the member clusters: bindings do not tell"),
        Rule("duplicate-component", "warning", "make the script name each component differently"),
        Rule("too-many-clusters", "warning", "check the policy's spread constraints, or reschedule the workload"),
        Rule(
            "purge-mode",
            "warning",
            "let the eviction end before Karmada is upgraded: its API server will refuse to change the binding",
        ),
        Rule("not-interpretable", "warning", "write a script for its kind (interp new), or leave it out"),
        Rule(
            "not-admitted",
            "warning",
            "see that /admit is registered for its kind and its namespace, then run interp ledger reconcile",
        ),
        Rule(
            "uncounted",
            "drift",
            "give its object with --workloads, or read it with --kubeconfig, so that its script says what it costs",
        ),
        Rule(
            "child-counted",
            "warning",
            "propagate one of the two: where its owner runs, the controller makes it there as well",
        ),
        Rule("negative", "error", "correct the object; here less than nothing counts as nothing"),
        Rule("unreadable", "error", "correct the object; it is not part of any sum here"),
    )
}


class Finding(Wire, frozen=True, omit_defaults=False):
    """One thing found: on which object, what shows it, and what to do."""

    code: str
    severity: Severity
    object: str
    evidence: str
    advice: str


def finding(code: str, about: str, evidence: str, advice: str = "") -> Finding:
    """One of its kind; `advice` where it is another than that of the rule."""
    rule = RULES[code]
    return Finding(code, rule.severity, about, evidence, advice or rule.advice)


@dataclass(slots=True)
class Findings:
    """How many of each kind, and the first of them in order of object, however many there are and however they came."""

    most: int | None = 200
    """How many of each kind are kept; None keeps all of them."""

    counts: dict[str, int] = field(default_factory=dict)
    _kept: dict[str, list[_Reversed]] = field(default_factory=dict)

    def add(self, found: Finding) -> None:
        self.counts[found.code] = self.counts.get(found.code, 0) + 1
        self._keep(found)

    def merge(self, other: Findings) -> None:
        for code, count in other.counts.items():
            self.counts[code] = self.counts.get(code, 0) + count
        for kept in other._kept.values():
            for entry in kept:
                self._keep(entry.found)

    def listed(self) -> list[Finding]:
        """Those that were kept: errors first, then in order of code and object."""
        weight = {"error": 0, "drift": 1, "warning": 2}
        kept = (entry.found for entries in self._kept.values() for entry in entries)
        return sorted(kept, key=lambda found: (weight[found.severity], found.code, found.object, found.evidence))

    def _keep(self, found: Finding) -> None:
        kept = self._kept.setdefault(found.code, [])
        if self.most is None:
            kept.append(_Reversed(found))
        elif len(kept) < self.most:
            heapq.heappush(kept, _Reversed(found))
        else:
            heapq.heappushpop(kept, _Reversed(found))


@dataclass(frozen=True, slots=True)
class _Reversed:
    """Orders findings last object first, so that a heap gives up the last one when it is full."""

    found: Finding

    def __lt__(self, other: _Reversed) -> bool:
        return (self.found.object, self.found.evidence) > (other.found.object, other.found.evidence)
