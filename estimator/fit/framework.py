"""Plugins, how one is found, and how their answers merge into one estimate.

A plugin answers two questions about a cluster: how many pods of one template fit (`estimate`), and how many whole sets
of components (`estimate_components`). The smallest answer wins. A package offers plugins of its own under the entry
point group `interp.estimator_plugins`; each entry point names a class, or a function without arguments, that makes one.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Final, Protocol, runtime_checkable

import msgspec

from estimator.fit.model import NO_LIMIT, AssumedWorkload, Code, Estimate, PluginResult
from estimator.fit.state import ClusterState
from interpreters.core.errors import InterpError
from interpreters.core.requirements import Component, ReplicaRequirements

log = logging.getLogger(__name__)

ENTRY_POINT_GROUP: Final = "interp.estimator_plugins"

_WEIGHT: Final = {code: weight for weight, code in enumerate(Code)}


@runtime_checkable
class Plugin(Protocol):
    """One constraint of a cluster. Answers are pure: the same state and question give the same answer."""

    @property
    def name(self) -> str: ...

    def estimate(
        self, state: ClusterState, requirements: ReplicaRequirements, assumed: Sequence[AssumedWorkload] = ()
    ) -> PluginResult:
        """How many pods like this the constraint allows."""

    def estimate_components(
        self,
        state: ClusterState,
        components: Sequence[Component],
        namespace: str,
        assumed: Sequence[AssumedWorkload] = (),
    ) -> PluginResult:
        """How many whole sets of these components the constraint allows."""


@dataclass(frozen=True, slots=True)
class UnusablePlugin:
    """Stands in for a plugin that an installed package offers but that cannot be used: says so, and limits nothing.

    A broken package must not take the answers of all other plugins away, nor may its own constraint vanish unsaid.
    """

    name: str
    problem: str

    def estimate(
        self, state: ClusterState, requirements: ReplicaRequirements, assumed: Sequence[AssumedWorkload] = ()
    ) -> PluginResult:
        return PluginResult(self.name, Code.NOOPERATION, reasons=[self.problem])

    def estimate_components(
        self,
        state: ClusterState,
        components: Sequence[Component],
        namespace: str,
        assumed: Sequence[AssumedWorkload] = (),
    ) -> PluginResult:
        return PluginResult(self.name, Code.NOOPERATION, reasons=[self.problem])


def find_plugins() -> list[Plugin]:
    """The plugins that installed packages offer, in the order of their entry points' names; warns of unusable ones."""
    return [_made(point) for point in sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda point: point.name)]


def _made(entry_point: EntryPoint) -> Plugin:
    try:
        plugin = entry_point.load()()
        if isinstance(plugin, Plugin):
            return plugin
        problem = f"expected an object with name, estimate and estimate_components, got {type(plugin).__name__}"
    except (Exception, SystemExit) as error:  # a package of somebody else's may fail in any way
        problem = f"{type(error).__name__}: {error}"
    unusable = UnusablePlugin(
        entry_point.name,
        f"cannot be used, so its limits do not count: {problem}; repair or remove the package that offers it "
        f"({entry_point.value})",
    )
    log.warning("estimator plugin %s %s", unusable.name, unusable.problem)
    return unusable


def run_plugins(plugins: Iterable[Plugin], ask: Callable[[Plugin], PluginResult]) -> list[PluginResult]:
    """Ask each plugin; one that raises answers Error, and the others are still asked."""
    results = []
    for plugin in plugins:
        try:
            results.append(_in_bounds(ask(plugin)))
        except InterpError as error:
            results.append(PluginResult(plugin.name, Code.ERROR, 0, [str(error)]))
        except Exception as error:  # a user's plugin may fail in any way; the estimate says so instead of vanishing
            results.append(PluginResult(plugin.name, Code.ERROR, 0, [f"{type(error).__name__}: {error}"]))
    return results


def merge_results(results: Sequence[PluginResult], unit: str, *, method: str = "") -> Estimate:
    """One answer: the smallest number, the weightiest code. No plugins, or none with a word to say: no limit."""
    if not results:
        return Estimate(unit, NO_LIMIT, Code.NOOPERATION, ["no plugin was asked"], method=method)
    code = min((result.code for result in results), key=_WEIGHT.__getitem__)
    heard = [result for result in results if result.code in (Code.SUCCESS, Code.UNSCHEDULABLE)]
    tightest = min(heard, key=lambda result: result.count, default=None)
    most = tightest.count if tightest else NO_LIMIT
    count = 0 if code in (Code.ERROR, Code.UNSCHEDULABLE) else most
    limited = tightest is not None and tightest.count < NO_LIMIT
    seen_by_nodes = next((result for result in results if result.components), None)
    return Estimate(
        unit=unit,
        count=count,
        code=code,
        reasons=[f"{result.plugin}: {reason}" for result in results for reason in result.reasons],
        binding=": ".join(filter(None, (tightest.plugin, tightest.binding))) if tightest and limited else "",
        plugins=list(results),
        components=seen_by_nodes.components if seen_by_nodes else [],
        next_set=tightest.next_set if tightest and limited else None,
        shortfalls=tightest.shortfalls if tightest and limited else [],
        method=method,
    )


def _in_bounds(result: PluginResult) -> PluginResult:
    """A plugin's number as the wire can carry it: 0 to 2147483647, and 0 exactly when it says Unschedulable."""
    code = Code(result.code)
    count = 0 if code is Code.UNSCHEDULABLE else max(0, min(int(result.count), NO_LIMIT))
    code = Code.UNSCHEDULABLE if code is Code.SUCCESS and count == 0 else code
    return msgspec.structs.replace(result, count=count, code=code)
