"""`interp estimate`: how many replicas or sets of a workload fit into clusters, and what stops the next one."""

from __future__ import annotations

from pathlib import Path

import click

from interp.options.dataclass import read_into
from interp.scripts.sources import script_options
from interp.verbs.estimate.formats import FORMATS, Estimated
from interp.verbs.estimate.options import Options

_File = click.Path(exists=True, path_type=Path)


@click.command("estimate", short_help="how many replicas or sets fit, and what stops the next one")
@click.argument("workloads", nargs=-1, required=True, metavar="WORKLOAD...")
@click.option("--nodes", multiple=True, type=_File, metavar="F", help="Files with the nodes of a cluster.")
@click.option("--pods", multiple=True, type=_File, metavar="F", help="Files with its pods.")
@click.option("--quotas", multiple=True, type=_File, metavar="F", help="Files with its ResourceQuotas.")
@click.option(
    "--cluster", "clusters", multiple=True, metavar="[NAME=]F",
    help="A file or folder with everything of a cluster, also a Karmada Cluster object, also a kubeconfig; "
    "a folder of folders is a cluster each. Several stand side by side.",
)  # fmt: skip
@click.option("--kubeconfig", type=_File, metavar="F", help="Look at a live cluster.")
@click.option("--context", "contexts", multiple=True, metavar="C", help="Contexts of the kubeconfig, a cluster each.")
@click.option("--timeout", default=60.0, show_default=True, metavar="S", help="How long to look at a live cluster.")
@click.option(
    "--method", type=click.Choice(["whole-sets", "first-fit-decreasing", "sum-and-verify"]), default="whole-sets",
    show_default=True, help="How sets are counted.",
)  # fmt: skip
@click.option("--size", type=click.Choice(["cpu", "memory", "product"]), default="cpu", show_default=True,
              help="What the decreasing methods sort replicas by.")  # fmt: skip
@click.option("--node-order", type=click.Choice(["given", "most-free", "least-free"]), default="given",
              show_default=True, help="In which order the decreasing methods try nodes.")  # fmt: skip
@click.option("--replicas", is_flag=True, help="Answer in replicas instead of sets.")
@click.option("--no-quotas", is_flag=True, help="Leave ResourceQuotas aside.")
@click.option("--no-models", is_flag=True, help="Leave resource models of a Cluster object aside.")
@click.option("--lenient", is_flag=True, help="A model node takes one pod inside its grade's range (an older rule).")
@click.option("--explain", "with_reasons", is_flag=True, help="Say for each cluster why.")
@script_options
@FORMATS.option
@read_into(Options)
def command(options: Options) -> int:
    """How many sets of each WORKLOAD fit, and what stops the next one. Exit code 1 when one fits nowhere.

    Files are what `kubectl get nodes,pods,resourcequotas -A -o json` prints, also YAML, also gzip.

    \b
    interp estimate flink.yaml --cluster member1.json.gz --cluster member2/ --explain
    interp estimate web.yaml --kubeconfig ~/.kube/config --context east --context west --replicas
    """
    if options.contexts and options.kubeconfig is None:
        raise click.UsageError("--context names a context of --kubeconfig; give that too.")
    if (options.pods or options.quotas) and not options.nodes:
        raise click.UsageError("--pods and --quotas tell of the cluster whose nodes --nodes names; give that too.")
    from interp.verbs.estimate.run import estimate

    report = estimate(options)
    FORMATS.print(options.output, Estimated(report, options.with_reasons))
    return 0 if report.fits else 1
