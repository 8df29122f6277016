"""Plugins: how answers merge, how a package offers one of its own, and what happens when one fails."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from estimator.fit.estimation import estimate_replicas, estimate_sets
from estimator.fit.explain import explain
from estimator.fit.framework import Plugin, find_plugins, merge_results, run_plugins
from estimator.fit.merge import merge_estimates
from estimator.fit.model import NO_LIMIT, AssumedWorkload, Code, PluginResult
from estimator.fit.plugins import default_plugins
from estimator.fit.state import ClusterState
from interpreters.core.requirements import Component, ReplicaRequirements
from tests.estimator.fit.worlds import cluster, component, node, requirements


class Fixed:
    """A plugin that always gives the same answer."""

    def __init__(self, code: Code, count: int = NO_LIMIT, name: str = "Fixed") -> None:
        self.name = name
        self.answer = PluginResult(name, code, count, binding="a rule of ours")

    def estimate(
        self, state: ClusterState, requirements: ReplicaRequirements, assumed: Sequence[AssumedWorkload] = ()
    ) -> PluginResult:
        return self.answer

    def estimate_components(
        self,
        state: ClusterState,
        components: Sequence[Component],
        namespace: str,
        assumed: Sequence[AssumedWorkload] = (),
    ) -> PluginResult:
        return self.answer


class Broken(Fixed):
    """A plugin with a bug."""

    def estimate_components(
        self,
        state: ClusterState,
        components: Sequence[Component],
        namespace: str,
        assumed: Sequence[AssumedWorkload] = (),
    ) -> PluginResult:
        raise KeyError("gpu-pool")


ERROR, FULL, GOOD, SILENT = Code.ERROR, Code.UNSCHEDULABLE, Code.SUCCESS, Code.NOOPERATION

MERGED = [
    # answers                                                   merged code, count
    ([], (SILENT, NO_LIMIT)),
    ([(SILENT, 3)], (SILENT, NO_LIMIT)),
    ([(SILENT, 3), (SILENT, 1)], (SILENT, NO_LIMIT)),
    ([(GOOD, 7)], (GOOD, 7)),
    ([(GOOD, 7), (GOOD, 3), (GOOD, 5)], (GOOD, 3)),
    ([(GOOD, 7), (SILENT, 1)], (GOOD, 7)),
    ([(GOOD, NO_LIMIT), (SILENT, 0)], (GOOD, NO_LIMIT)),
    ([(GOOD, 7), (FULL, 5)], (FULL, 0)),
    ([(FULL, 0), (GOOD, 7), (ERROR, 9)], (ERROR, 0)),
    ([(ERROR, 9), (SILENT, 1)], (ERROR, 0)),
    ([(GOOD, 0)], (FULL, 0)),
    ([(GOOD, -2)], (FULL, 0)),
    ([(GOOD, 2**40)], (GOOD, NO_LIMIT)),
]


@pytest.mark.parametrize(("answers", "expected"), MERGED)
def test_the_weightiest_code_and_the_smallest_number_win(
    answers: list[tuple[Code, int]], expected: tuple[Code, int]
) -> None:
    plugins = [Fixed(code, count, f"p{number}") for number, (code, count) in enumerate(answers)]
    estimate = estimate_sets(ClusterState(), [component("a", 1)], "default", plugins=plugins)
    assert (estimate.code, estimate.count) == expected


def test_the_answer_names_the_plugin_that_binds_it_and_keeps_each_plugins_own_number() -> None:
    state = cluster(node("a", cpu="4"))
    plugins = [*default_plugins(), Fixed(Code.SUCCESS, 1, "Ours")]
    estimate = estimate_sets(state, [component("main", 1, cpu="1")], "default", plugins=plugins)
    assert (estimate.count, estimate.binding) == (1, "Ours: a rule of ours")
    assert [(result.plugin, result.count) for result in estimate.plugins] == [
        ("NodeResources", 4),
        ("ResourceQuota", NO_LIMIT),
        ("Ours", 1),
    ]
    assert [match.matching for match in estimate.components] == [1]


def test_a_plugin_that_fails_is_an_error_and_the_others_are_still_asked() -> None:
    plugins = [Broken(Code.SUCCESS), Fixed(Code.SUCCESS, 4, "Other")]
    estimate = estimate_sets(ClusterState(), [component("a", 1)], "default", plugins=plugins)
    assert (estimate.code, estimate.count) == (Code.ERROR, 0)
    assert estimate.reasons == ["Fixed: KeyError: 'gpu-pool'"]
    assert [result.count for result in estimate.plugins] == [0, 4]


def test_no_plugins_have_no_opinion() -> None:
    assert merge_results([], "sets").code is Code.NOOPERATION


def installed(folder: Path, entry_points: str, module: str) -> None:
    """A package as pip would leave it behind."""
    (folder / "our_plugins.py").write_text(module)
    metadata = folder / "our_plugins-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: our-plugins\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[interp.estimator_plugins]\n{entry_points}\n")


OURS = """
from estimator.fit.model import Code, PluginResult

class GpuPool:
    name = "GpuPool"

    def estimate(self, state, requirements, assumed=()):
        return PluginResult(self.name, Code.SUCCESS, 2, ["two cards are left"], "cards")

    def estimate_components(self, state, components, namespace, assumed=()):
        return PluginResult(self.name, Code.SUCCESS, 1, ["two cards are left"], "cards")

def broken():
    raise RuntimeError("no such pool")

def leaving():
    raise SystemExit(3)

def nothing():
    return object()
"""


def test_a_package_offers_a_plugin_by_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path, "gpu-pool = our_plugins:GpuPool", OURS)
    monkeypatch.syspath_prepend(str(tmp_path))
    found = find_plugins()
    assert [plugin.name for plugin in found] == ["GpuPool"]
    assert isinstance(found[0], Plugin)
    state = cluster(node("a"))
    plugins = [*default_plugins(), *found]
    assert estimate_replicas(state, requirements(), plugins=plugins).count == 2
    assert estimate_sets(state, [component("a", 1)], "default", plugins=plugins).binding == "GpuPool: cards"


@pytest.mark.parametrize(
    ("maker", "problem"),
    [
        ("our_plugins:broken", "RuntimeError: no such pool"),
        ("our_plugins:leaving", "SystemExit: 3"),
        ("our_plugins:missing", "AttributeError: module 'our_plugins' has no attribute 'missing'"),
        ("our_plugins:nothing", "expected an object with name, estimate and estimate_components, got object"),
        ("no_such_module:Pool", "ModuleNotFoundError: No module named 'no_such_module'"),
    ],
)
def test_a_plugin_that_cannot_be_used_is_told_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, maker: str, problem: str
) -> None:
    installed(tmp_path, f"pool = {maker}\nzebra = our_plugins:GpuPool", OURS)
    monkeypatch.syspath_prepend(str(tmp_path))
    found = find_plugins()
    told = (
        f"cannot be used, so its limits do not count: {problem}; repair or remove the package that offers it ({maker})"
    )
    assert caplog.messages == [f"estimator plugin pool {told}"]
    assert [plugin.name for plugin in found] == ["pool", "GpuPool"]
    for estimate in (
        estimate_replicas(cluster(node("a")), requirements(), plugins=[*default_plugins(), *found]),
        estimate_sets(cluster(node("a")), [component("a", 1)], "default", plugins=[*default_plugins(), *found]),
    ):
        assert (estimate.code, estimate.binding) == (Code.SUCCESS, "GpuPool: cards")
        assert f"pool: {told}" in estimate.reasons
        assert "  pool is not heard" in explain(estimate).splitlines()


def test_a_plugins_answer_is_made_to_fit_the_wire() -> None:
    loose: Any = (2.5, "Success"), (-3, "Success"), (7, "Unschedulable"), (10**12, "Success")
    plugins = [Fixed(code, count) for count, code in loose]
    results = run_plugins(plugins, lambda plugin: plugin.estimate(cluster(), requirements()))
    assert all(type(result.count) is int and type(result.code) is Code for result in results)
    assert [(result.count, result.code) for result in results] == [
        (2, Code.SUCCESS),
        (0, Code.UNSCHEDULABLE),
        (0, Code.UNSCHEDULABLE),
        (NO_LIMIT, Code.SUCCESS),
    ]


MERGES: list[tuple[list[dict[str, int]], dict[str, int]]] = [
    # each estimator's answers                          merged for clusters a and b, a workload of 5 replicas
    ([], {"a": 5, "b": 5}),
    ([{"a": 3, "b": 9}], {"a": 3, "b": 9}),
    ([{"a": 3, "b": 9}, {"a": 7, "b": 2}], {"a": 3, "b": 2}),
    ([{"a": -1, "b": 9}, {"a": 7, "b": -1}], {"a": 7, "b": 9}),
    ([{"a": -1}, {"a": -1}], {"a": 5, "b": 5}),
    ([{"a": 0, "b": NO_LIMIT}], {"a": 0, "b": 5}),
    ([{"a": 1, "stranger": 0}], {"a": 1, "b": 5}),
]


@pytest.mark.parametrize(("answers", "expected"), MERGES)
def test_estimators_merge_as_the_scheduler_does(answers: list[dict[str, int]], expected: dict[str, int]) -> None:
    assert merge_estimates(["a", "b"], answers, replicas=5) == expected
