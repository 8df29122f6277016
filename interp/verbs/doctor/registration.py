"""What a live Karmada has registered of a webhook, against what the scripts answer and what the rules allow."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from certs.check import Finding
from estimator.clusters.apiserver import ApiServer
from estimator.clusters.kubeconfig import find_access
from estimator.clusters.release import live_release
from interp.registered import configurations, customized_tuples, tuples_of
from interp.verbs.doctor.connection import Probe, unserved
from interp.verbs.doctor.operations import cases_of
from interpreters.cases import Case
from interpreters.catalog import Catalog
from interpreters.core.errors import InterpError
from interpreters.core.karmada.answers import answered_by_karmada, is_native
from interpreters.core.karmada.releases import NEWEST, Release
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.operations import Operation
from interpreters.division_proof import CaseProof
from interpreters.interpretation import load_functions
from interpreters.sandbox.runner import SandboxRunner
from interpreters.scan import scan
from webhook.registration.others import OtherWebhooks
from webhook.registration.ownership import address_of, address_of_url
from webhook.registration.plan import NATIVE, plan_registration
from webhook.registration.rules import COUNTING, NO_WISHES, Asked, Proof, Wishes, reasons_against

_SUBJECT: Final = "registration"
_AGAIN: Final = "`interp register --apply` registers what the rules allow"
Tuples = Mapping[GroupVersionKind, Collection[Operation]]


@dataclass(slots=True)
class Registered:
    """What a control plane says: the tuples of this webhook, and those that are answered before it is asked."""

    release: Release = NEWEST
    ours: dict[GroupVersionKind, set[Operation]] = field(default_factory=dict)
    customized: Tuples = field(default_factory=dict)
    starred: list[str] = field(default_factory=list)  # rules of ours with a star, which interp never writes
    others: list[str] = field(default_factory=list)  # addresses of webhooks that are not this one
    names: set[str] = field(default_factory=set)  # of the configurations that call this one
    rules_of_others: list[tuple[str, Mapping[str, Any]]] = field(
        default_factory=list
    )  # with their configuration's name

    def asked_first(self, kind: GroupVersionKind) -> dict[Operation, str]:
        """What another webhook answers before this one is asked, by the name of its configuration."""
        return OtherWebhooks(min(self.names, default=""), tuple(self.rules_of_others)).asked_first(kind)


def check_registration(
    probe: Probe,
    kubeconfig: Path,
    context: str,
    scripts: list[str],
    bundled: str,
    samples: Sequence[Mapping[str, Any]] = (),
) -> list[Finding]:
    """Every finding. What cannot be read is one, too."""
    try:
        registered = asyncio.run(_read(probe.url, kubeconfig, context))
    except InterpError as error:
        return [Finding("error", _SUBJECT, str(error), "give the kubeconfig of the Karmada API server")]
    if not registered.ours and not registered.starred:
        known = f"; registered are {', '.join(registered.others)}" if registered.others else ""
        message = f"Karmada does not call {address_of_url(probe.url)}{known}"
        return [Finding("error", _SUBJECT, message, f"{_AGAIN}; --url must be the one that Karmada is given")]
    found = scan([Path(place) for place in scripts], bundled=None if bundled == "none" else bundled)
    with SandboxRunner() as runner:
        catalog = Catalog.build(found, load_functions(runner, found))
        findings = list(_judge(registered, catalog, CaseProof(runner, catalog, samples)))
    findings += _unanswered(probe, registered, cases_of(scripts, bundled, everything=False), catalog)
    if not any(finding.level == "error" for finding in findings):
        count = sum(map(len, registered.ours.values()))
        message = f"{count} operations of {len(registered.ours)} kinds, all served and none against the rules"
        findings.insert(0, Finding("ok", _SUBJECT, message))
    return findings


async def _read(url: str, kubeconfig: Path, context: str) -> Registered:
    async with ApiServer(find_access(kubeconfig, context)) as server:
        registered = Registered(
            release=await live_release(server) or NEWEST, customized=await customized_tuples(server)
        )
        async for configuration in configurations(server):
            name = str((configuration.get("metadata") or {}).get("name", ""))
            for webhook in configuration.get("webhooks") or ():
                address = address_of(webhook.get("clientConfig") or {})
                if address == address_of_url(url):
                    registered.names.add(name)
                    registered.starred += _starred(webhook)
                    for kind, operations in tuples_of({"webhooks": [webhook]}).items():
                        registered.ours.setdefault(kind, set()).update(operations)
                else:
                    registered.others.append(address)
                    registered.rules_of_others += [(name, rule) for rule in webhook.get("rules") or ()]
        return registered


def _unanswered(probe: Probe, registered: Registered, cases: Sequence[Case], catalog: Catalog) -> Iterator[Finding]:
    """What the scripts here answer and those of the running server do not; what has a case was asked by it already."""
    known = {(GroupVersionKind.of(case.object), case.operation) for case in cases}
    claimed = [
        (kind, operation)
        for kind, operations in sorted(registered.ours.items())
        for operation, _ in catalog.operations(kind)
        if operation in operations and (kind, operation) not in known
    ]
    missing: dict[GroupVersionKind, list[Operation]] = {}
    for kind, operation in unserved(probe, claimed):
        missing.setdefault(kind, []).append(operation)
    for kind, unanswered in missing.items():
        message = f"{kind}: {_names(unanswered)} registered, but no script of the running server answers"
        yield Finding("error", _SUBJECT, message, "give it the script, or register again with the scripts it has")


def _starred(webhook: Mapping[str, Any]) -> Iterator[str]:
    for rule in webhook.get("rules") or ():
        for name in ("apiGroups", "apiVersions", "kinds", "operations"):
            if "*" in (rule.get(name) or ()):
                yield name


def _judge(registered: Registered, catalog: Catalog, proof: Proof) -> Iterator[Finding]:
    for name in dict.fromkeys(registered.starred):
        message = (
            f"a rule has {name}: *, so that Karmada calls also for what no script answers, and every such call fails"
        )
        yield Finding("error", _SUBJECT, message, _AGAIN)
    for kind, operations in sorted(registered.ours.items()):
        offered = dict(catalog.operations(kind))
        unserved = [operation for operation in operations if operation not in offered]
        if unserved:
            message = f"{kind}: {_names(unserved)} registered, but no script answers; Karmada's call fails"
            yield Finding("error", _SUBJECT, message, f"{_AGAIN}, or give the server's --scripts")
        if is_native(kind):
            message = f"{kind}: {_names(operations)} must not be registered: {NATIVE}"
            yield Finding("error", _SUBJECT, message, _AGAIN)
            continue
        asked = Asked(kind, {op: offered[op] for op in operations if op in offered}, _karmada(kind, registered))
        for reason, harmful in _harm(asked, proof).items():
            yield Finding("error", _SUBJECT, f"{kind}: {_names(harmful)} must not be registered: {reason}", _AGAIN)
        shadowed = [operation for operation in operations if operation in registered.customized.get(kind, ())]
        if shadowed:
            message = f"{kind}: a ResourceInterpreterCustomization answers {_names(shadowed)} before interp is asked"
            yield Finding("warning", _SUBJECT, message, "remove one of the two")
        first = registered.asked_first(kind)
        for name in dict.fromkeys(first[operation] for operation in operations if operation in first):
            answered = [operation for operation in operations if first.get(operation) == name]
            message = f"{kind}: Karmada asks the webhook of {name} for {_names(answered)} before interp, by its name"
            yield Finding("warning", _SUBJECT, message, "remove one of the two, or register with --name an earlier one")
    planned = plan_registration(catalog, proof, release=registered.release).tuples
    missing = {kind for kind, operations in planned.items() if not set(operations) <= registered.ours.get(kind, set())}
    if missing:
        shown = ", ".join(sorted({kind.kind for kind in missing})[:5]) + (", …" if len(missing) > 5 else "")
        message = f"{len(missing)} kinds could be registered with more operations than they are: {shown}"
        yield Finding("ok", _SUBJECT, message)


def _harm(asked: Asked, proof: Proof) -> dict[str, list[Operation]]:
    """The registered operations that the rules forbid, by the reason. Whether --divide or --count was asked for shows
    in the registration alone, so what either of them allows is allowed."""
    counted = [operation for operation in COUNTING if operation in asked.offered]
    verdicts = [dict(reasons_against(asked, wishes, proof)) for wishes in _possible_wishes(counted)]
    best = min(verdicts, key=len)
    reasons: dict[str, list[Operation]] = {}
    for operation, reason in best.items():
        reasons.setdefault(reason, []).append(operation)
    return reasons


def _possible_wishes(counted: Collection[Operation]) -> list[Wishes]:
    def every(kind: GroupVersionKind) -> bool:
        return True

    return [NO_WISHES, *([Wishes(divide=every), Wishes(count=every)] if len(counted) > 1 else [])]


def _karmada(kind: GroupVersionKind, registered: Registered) -> frozenset[Operation]:
    return answered_by_karmada(kind, registered.release)


def _names(operations: Collection[Operation]) -> str:
    return ", ".join(sorted(map(str, operations)))
