"""`interp schedule`: where workloads would go, group by group, and why not elsewhere; or why a live one is there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from interp.options.dataclass import read_into
from interp.options.feature_gates import gates_option
from interp.options.karmada_release import karmada_option
from interp.scripts.sources import script_options
from interp.verbs.schedule.formats import OF_FILES
from interp.verbs.schedule.options import Options

if TYPE_CHECKING:
    pass


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
@OF_FILES.option
@read_into(Options)
def command(options: Options) -> int:
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
    if options.workloads:
        from interp.verbs.schedule.run import schedule

        return schedule(options)
    from interp.verbs.schedule.live_binding import explain_live

    return explain_live(options)
