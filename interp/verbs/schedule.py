"""`interp schedule`: where a workload would go, group by group, and why not elsewhere."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from interp.inputs import read_objects, read_one_object
from interp.output import format_option, print_json, print_yaml
from interp.scripts import Sources, open_scripts, script_options

if TYPE_CHECKING:
    from estimator.placement.bindings import Interpreted
    from interp.schedules import ScheduleReport
    from interpreters.core.documents import Document


@click.command("schedule", short_help="where a workload would go, and why not elsewhere")
@click.argument("workload", metavar="WORKLOAD")
@click.option("--policy", "policy_file", required=True, metavar="F",
              help="The PropagationPolicy or ClusterPropagationPolicy.")  # fmt: skip
@click.option("--clusters", "cluster_files", required=True, multiple=True, metavar="F",
              help="The member clusters, as `kubectl get clusters -o json` prints them.")  # fmt: skip
@click.option(
    "--nodes", type=click.Path(exists=True, path_type=Path), metavar="DIR",
    help="A file or folder for each cluster with its nodes, pods and quotas, for accurate estimates.",
)  # fmt: skip
@click.option("--estimator", "estimators", multiple=True, metavar="CLUSTER=HOST:PORT",
              help="An estimator to ask about a cluster over gRPC, as karmada-scheduler would.")  # fmt: skip
@click.option("--binding", "binding_file", metavar="F",
              help="The ResourceBinding as it is now: where the workload runs, and its observed affinity.")  # fmt: skip
@click.option("--observed-affinity", metavar="NAME", help="The group it was scheduled with; the search starts there.")
@click.option("--reschedule", is_flag=True, help="Start at the first group, and share out replicas afresh.")
@click.option("--unavailable", multiple=True, metavar="CLUSTER",
              help="Let the cluster fail and decide again: in its group first, then in the next ones.")  # fmt: skip
@click.option("--rounding", type=click.Choice(["largest-remainder", "webster"]), default="largest-remainder",
              show_default=True, help="How shares become whole replicas; webster as Karmada 1.18 does.")  # fmt: skip
@click.option("--cluster-scoped", is_flag=True, help="The workload lives outside namespaces: a ClusterResourceBinding.")
@script_options
@format_option("text", "json", "yaml")
def command(
    workload: str,
    policy_file: str,
    cluster_files: tuple[str, ...],
    nodes: Path | None,
    estimators: tuple[str, ...],
    binding_file: str | None,
    observed_affinity: str | None,
    reschedule: bool,
    unavailable: tuple[str, ...],
    rounding: Any,
    cluster_scoped: bool,
    output: str,
    **options: Any,
) -> int:
    """Try the groups of a policy in order, and say of each cluster why it was excluded, filtered or chosen.

    Exit code 1 when no group takes the WORKLOAD. `-o yaml` prints the binding as it then stands.

    \b
    interp schedule flink.yaml --policy policy.yaml --clusters clusters.json
    interp schedule web.yaml --policy policy.yaml --clusters clusters.json --unavailable member1
    """
    from estimator.placement.checks import doubts, unselected
    from estimator.placement.decision import Demand
    from estimator.placement.scheduling import Question, decide, fail_over
    from interp.schedules import (
        ScheduleReport,
        bind,
        estimating,
        read_members,
        read_past,
        read_policy,
        unknown_group,
    )

    obj = read_one_object(workload)
    policy, placement = read_policy(read_objects((policy_file,)), policy_file)
    members = read_members(read_objects(cluster_files), ", ".join(cluster_files), nodes)
    names = [member.cluster.name for member in members]
    addresses = _addresses(estimators)
    _check_names("--unavailable", unavailable, names)
    _check_names("--estimator", addresses, names)
    said = _interpreted(obj, Sources(**options))
    asked = _workload(obj, said)
    demand = Demand.of(obj, said)
    clusters = [member.cluster for member in members]
    question = Question(placement, clusters, demand, estimating(asked, members, addresses), rounding)
    past = read_past(read_one_object(binding_file) if binding_file else None, observed_affinity, reschedule)
    before = None
    if unavailable and not binding_file:
        before = decide(question, past)
        decision = fail_over(question, before, unavailable)
    else:
        decision = decide(question, past.without(unavailable))
    binding = bind(obj, said, policy, decision, cluster_scoped=cluster_scoped)
    warnings = [*unselected(policy, obj), *unknown_group(past, placement)]
    warnings += doubts(placement, demand, clusters, decision)
    metadata = policy.get("metadata") or {}
    name = "/".join(part for part in (metadata.get("namespace"), metadata.get("name")) if part)
    report = ScheduleReport(
        asked, f"{policy['kind']} {name}", placement.strategy, demand.unit, list(unavailable), before, decision,
        binding["spec"].get("clusters") or [], warnings,
    )  # fmt: skip
    _print(report, binding, output)
    return 0 if decision.scheduled else 1


def _interpreted(obj: Document, sources: Sources) -> Interpreted:
    from interp.interpreted import interpreted
    from interpreters.core.kinds import GroupVersionKind

    with open_scripts(sources, {GroupVersionKind.of(obj)}) as (runner, catalog):
        return interpreted(runner, catalog, obj)


def _workload(obj: Document, said: Interpreted) -> Any:
    from interp.estimates import Workload
    from interpreters.core.kinds import GroupVersionKind

    kind, metadata = GroupVersionKind.of(obj), obj.get("metadata") or {}
    namespace, name = metadata.get("namespace") or "default", metadata.get("name") or ""
    return Workload(kind.api_version, kind.kind, namespace, name, list(said.as_components))


def _addresses(estimators: tuple[str, ...]) -> dict[str, str]:
    pairs = [text.partition("=") for text in estimators]
    for name, _, address in pairs:
        if not name or ":" not in address:
            raise click.UsageError(f"--estimator {name}: expected CLUSTER=HOST:PORT")
    return {name: address for name, _, address in pairs}


def _check_names(option: str, names: Iterable[str], known: list[str]) -> None:
    for name in names:
        if name not in known:
            some = ", ".join(known[:10]) + ("…" if len(known) > 10 else "")
            raise click.UsageError(f"{option} {name}: there is no such cluster; there are {some}")


def _print(report: ScheduleReport, binding: dict[str, Any], output: str) -> None:
    if output == "json":
        print_json(report)
        return
    if output == "yaml":
        print_yaml(binding)
    else:
        from rich.console import Console

        from interp.schedules import print_report

        width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else 160
        print_report(report, Console(highlight=False, width=width))
    for warning in report.warnings:
        click.echo(f"{click.style('warning:', fg='yellow', bold=True)} {warning}", err=True)
    if output == "yaml" and report.decision.failure is not None:
        click.echo(f"{click.style('error:', fg='red', bold=True)} {report.decision.failure.message}", err=True)
