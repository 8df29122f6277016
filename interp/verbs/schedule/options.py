"""`interp schedule`: where workloads would go, group by group, and why not elsewhere; or why a live one is there."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from interp.inputs import read_objects
from interp.options.feature_gates import gates_option, read_gates
from interp.options.karmada_release import karmada_option
from interp.output.formats import format_option
from interp.output.json import print_json
from interp.output.messages import print_error, print_warning
from interp.output.yaml import print_yaml
from interp.scripts.sources import Sources, open_scripts, script_options
from interp.verbs.schedule.estimators import read_addresses

if TYPE_CHECKING:
    from interp.verbs.schedule.decisions import ScheduleReport
    from interp.verbs.schedule.queue import Job
    from interpreters.core.documents import Document
    from interpreters.core.karmada.releases import Release


@click.command("schedule", short_help="where a workload would go, and why not elsewhere")
@click.argument("workloads", nargs=-1, metavar="[WORKLOAD]...")
@click.option("--policy", "policy_files", multiple=True, metavar="F",
              help="The PropagationPolicy or ClusterPropagationPolicy; of several each workload has one.")  # fmt: skip
@click.option("--clusters", "cluster_files", multiple=True, metavar="F",
              help="The member clusters, as `kubectl get clusters -o json` prints them.")  # fmt: skip
@click.option(
    "--nodes", type=click.Path(exists=True, path_type=Path), metavar="DIR",
    help="A file or folder for each cluster with its nodes, pods and quotas, for accurate estimates.",
)  # fmt: skip
@click.option("--estimator", "estimators", multiple=True, metavar="CLUSTER=HOST:PORT",
              help="An estimator to ask about a cluster over gRPC, as karmada-scheduler would.")  # fmt: skip
@click.option(
    "--binding", "bindings", multiple=True, metavar="F | NAMESPACE/NAME",
    help="Bindings as they are now, also of other workloads, in a file; or without WORKLOAD a live one to explain.",
)  # fmt: skip
@click.option("--kubeconfig", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="F",
              help="Of the Karmada API server that has the live binding.")  # fmt: skip
@click.option("--context", default="", metavar="NAME", help="The context in the kubeconfig.")
@click.option("--observed-affinity", metavar="NAME", help="The group it was scheduled with; the search starts there.")
@click.option("--reschedule", is_flag=True, help="Decide as if a reschedule had been asked for: share out afresh.")
@click.option("--unavailable", multiple=True, metavar="CLUSTER",
              help="Let the cluster fail and decide again: in its group first, then in the next ones.")  # fmt: skip
@click.option("--rounding", type=click.Choice(["largest-remainder", "webster"]), default="largest-remainder",
              show_default=True, help="How shares become whole replicas; webster as Karmada does.")  # fmt: skip
@click.option("--priority-classes", multiple=True, metavar="F", help="PriorityClasses that policies name.")
@gates_option("WorkloadAffinity is off unless said otherwise.")
@karmada_option(live=True)
@click.option("--cluster-scoped", is_flag=True, help="The workload lives outside namespaces: a ClusterResourceBinding.")
@script_options
@format_option("text", "json", "yaml")
def command(workloads: tuple[str, ...], karmada: Release | None, output: str, **options: Any) -> int:
    """Try the groups of a policy in order, and say of each cluster why it was excluded, filtered or chosen.

    Several WORKLOADs are scheduled by priority, each with what those before it left. Exit code 1 when one of them goes
    nowhere. `-o yaml` prints the bindings as they then stand.

    Without WORKLOAD, `--binding NAMESPACE/NAME` (NAME alone for a ClusterResourceBinding) is read from a live Karmada
    with its policy, clusters, quotas and events: why it is where it is, or nowhere, and what would change that.

    \b
    interp schedule flink.yaml --policy policy.yaml --clusters clusters.json
    interp schedule web.yaml --policy policy.yaml --clusters clusters.json --unavailable member1
    interp schedule --binding shop/web-deployment --kubeconfig ~/.kube/karmada.config
    """
    if not workloads:
        from interp.verbs.schedule.live_binding import explain_live

        return explain_live(options, karmada, output)
    from interp.verbs.schedule.decisions import read_members
    from interp.verbs.schedule.queue import Circumstances, run
    from interpreters.core.karmada.releases import NEWEST

    release = karmada or NEWEST
    files = options["cluster_files"]
    if not options["policy_files"] or not files:
        raise click.UsageError("a WORKLOAD needs its --policy and the --clusters to choose from")
    sources = Sources(**{name: options[name] for name in ("scripts", "folders", "customizations", "no_bundled")})
    bindings = read_objects(options["bindings"]) if options["bindings"] else []
    jobs = _jobs(workloads, options, release, sources, bindings)
    members = read_members(read_objects(files), ", ".join(files), options["nodes"])
    names = [member.cluster.name for member in members]
    addresses = read_addresses(options["estimators"])
    _check_names("--unavailable", options["unavailable"], names)
    _check_names("--estimator", addresses, names)
    circumstances = Circumstances(
        members, addresses, release, read_gates(options["gates"], "WorkloadAffinity"), options["rounding"],
        options["observed_affinity"], options["reschedule"], options["unavailable"], options["cluster_scoped"],
        [one for one in bindings if not any(one is job.binding for job in jobs)],
    )  # fmt: skip
    done = list(run(jobs, circumstances))
    _print(done, output)
    return 0 if all(report.decision.scheduled for report, _ in done) else 1


def _jobs(
    workloads: tuple[str, ...], options: dict[str, Any], release: Release, sources: Sources, bindings: list[Document]
) -> list[Job]:
    from estimator.placement.priority import priority_of, read_classes
    from interp.scripts.pods import interpreted
    from interp.verbs.schedule.decisions import read_policies
    from interp.verbs.schedule.queue import Job
    from interpreters.core.kinds import GroupVersionKind

    objects = read_objects(workloads)
    policies = read_policies(read_objects(options["policy_files"]), ", ".join(options["policy_files"]))
    classes = read_classes(read_objects(options["priority_classes"]) if options["priority_classes"] else ())
    jobs = []
    with open_scripts(sources, {GroupVersionKind.of(obj) for obj in objects}) as (runner, catalog):
        for obj in objects:
            policy = _policy_for(obj, policies)
            said = interpreted(runner, catalog, obj)
            binding = _binding_for(obj, bindings, is_only=len(objects) == 1)
            jobs.append(Job(obj, said, policy, priority_of(policy, classes, release), binding))
    return jobs


def _policy_for(obj: Document, policies: Sequence[Document]) -> Document:
    from estimator.placement.matching import best_policy
    from interpreters.core.errors import InputError

    if len(policies) == 1:
        return policies[0]
    found = best_policy(policies, obj)
    if found is None:
        name = (obj.get("metadata") or {}).get("name")
        raise InputError(f"{obj.get('kind')} {name}: none of the {len(policies)} policies selects it")
    return dict(found)


def _binding_for(obj: Document, bindings: Sequence[Document], *, is_only: bool) -> Document | None:
    """The binding of the workload; the only binding of an only workload may have any name."""
    from interpreters.core.karmada.api import binding_name

    if is_only and len(bindings) == 1:
        return bindings[0]
    metadata = obj.get("metadata") or {}
    wanted = (metadata.get("namespace") or "default", binding_name(str(obj.get("kind")), str(metadata.get("name"))))
    named = {((one.get("metadata") or {}).get("namespace") or "default", (one.get("metadata") or {}).get("name")): one
             for one in bindings}  # fmt: skip
    return named.get(wanted)


def _check_names(option: str, names: Iterable[str], known: list[str]) -> None:
    for name in names:
        if name not in known:
            some = ", ".join(known[:10]) + ("…" if len(known) > 10 else "")
            raise click.UsageError(f"{option} {name}: there is no such cluster; there are {some}")


def _print(done: Sequence[tuple[ScheduleReport, dict[str, Any]]], output: str) -> None:
    reports = [report for report, _ in done]
    if output == "json":
        from interp.verbs.schedule.decisions import ScheduleReports

        print_json(reports[0] if len(reports) == 1 else ScheduleReports(reports))
        return
    if output == "yaml":
        print_yaml(*(binding for _, binding in done))
    else:
        from rich.console import Console

        from interp.verbs.schedule.decision_table import print_reports

        width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else 160
        print_reports(reports, Console(highlight=False, width=width))
    for warning in dict.fromkeys(warning for report in reports for warning in report.warnings):
        print_warning(warning)
    for report in reports if output == "yaml" else ():
        if report.decision.failure is not None:
            print_error(report.decision.failure.message)
