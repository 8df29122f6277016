"""An estimate in words, for people: the number, each plugin's own, how components see the nodes, what is short."""

from __future__ import annotations

from collections.abc import Iterable

from estimator.fit.model import NO_LIMIT, Code, ComponentMatch, Estimate, NextSet, PluginResult, Shortfall
from estimator.fit.reasons import sentence


def explain(estimate: Estimate, cluster: str = "") -> str:
    """Several lines, without a newline at the end. The first one is the answer, the others say why."""
    head = f"{cluster}: {headline(estimate)}" if cluster else headline(estimate)
    return "\n".join([head, *(f"  {line}" for line in _details(estimate))])


def headline(estimate: Estimate) -> str:
    """`3 sets (9 replicas), bound by NodeResources: taskmanager: insufficient cpu`."""
    if estimate.code is Code.ERROR:
        return "no answer: " + "; ".join(estimate.reasons)
    text = _counted(estimate.count, estimate.unit)
    if estimate.unit == "sets" and estimate.replicas is not None:
        text += f" ({_counted(estimate.replicas, 'replicas')})"
    return f"{text}, bound by {estimate.binding}" if estimate.binding else text


def _details(estimate: Estimate) -> Iterable[str]:
    for result in estimate.plugins:
        yield _plugin(result)
    for match in estimate.components:
        yield _component(match)
    if estimate.next_set is not None:
        yield _next(estimate.next_set, estimate)
    where = f"on {estimate.next_set.node}, the closest node, " if estimate.next_set and estimate.next_set.node else ""
    for shortfall in estimate.shortfalls:
        yield f"{where}{_shortfall(shortfall)}"
    told = estimate.next_set is not None
    for result in estimate.plugins:
        for reason in result.reasons:
            if not (told and result.next_set is estimate.next_set):
                yield f"{result.plugin}: {reason}"


def _plugin(result: PluginResult) -> str:
    if result.code is Code.ERROR:
        return f"{result.plugin} failed"
    if result.code is Code.NOOPERATION and result.reasons:
        return f"{result.plugin} is not heard"
    if result.code is Code.NOOPERATION or result.count == NO_LIMIT:
        return f"{result.plugin} allows any number"
    return f"{result.plugin} allows {result.count}" + (f" ({result.binding})" if result.binding else "")


def _component(match: ComponentMatch) -> str:
    refused = ", ".join(f"{reason.nodes} {reason.reason}" for reason in match.reasons)
    text = f"{match.name} x {match.replicas}: {match.matching}/{match.nodes} nodes match"
    return f"{text}; {refused}" if refused else text


def _next(stop: NextSet, estimate: Estimate) -> str:
    if estimate.unit == "replicas":
        return f"the next pod: {sentence(stop)}"
    return f"set {estimate.count + 1}: no place for {stop.missing} of {stop.wanted} {stop.component}: {sentence(stop)}"


def _shortfall(shortfall: Shortfall) -> str:
    return f"{shortfall.resource}: wanted {shortfall.wanted}, free {shortfall.free}, lacking {shortfall.lacking}"


def _counted(number: int, unit: str) -> str:
    if number == NO_LIMIT:
        return f"any number of {unit}"
    return f"1 {unit.removesuffix('s')}" if number == 1 else f"{number} {unit}"
