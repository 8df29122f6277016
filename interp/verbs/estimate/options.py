"""`interp estimate`: how many replicas or sets of a workload fit into clusters, and what stops the next one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from interp.inputs import read_objects
from interp.output.formats import format_option
from interp.output.json import print_json
from interp.output.yaml import print_yaml
from interp.scripts.sources import Sources, open_scripts, script_options

if TYPE_CHECKING:
    from estimator.clusters.once import KnownCluster
    from interp.estimates import Workload, WorkloadAnswer

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
@format_option("text", "json", "yaml")
def command(
    workloads: tuple[str, ...],
    nodes: tuple[Path, ...],
    pods: tuple[Path, ...],
    quotas: tuple[Path, ...],
    clusters: tuple[str, ...],
    kubeconfig: Path | None,
    contexts: tuple[str, ...],
    timeout: float,
    method: str,
    size: str,
    node_order: str,
    replicas: bool,
    no_quotas: bool,
    no_models: bool,
    lenient: bool,
    with_reasons: bool,
    output: str,
    **options: Any,
) -> int:
    """How many sets of each WORKLOAD fit, and what stops the next one. Exit code 1 when one fits nowhere.

    Files are what `kubectl get nodes,pods,resourcequotas -A -o json` prints, also YAML, also gzip.

    \b
    interp estimate flink.yaml --cluster member1.json.gz --cluster member2/ --explain
    interp estimate web.yaml --kubeconfig ~/.kube/config --context east --context west --replicas
    """
    from estimator.fit.methods import Method
    from interp.estimates import Question, answer

    if contexts and kubeconfig is None:
        raise click.UsageError("--context names a context of --kubeconfig; give that too.")
    if (pods or quotas) and not nodes:
        raise click.UsageError("--pods and --quotas tell of the cluster whose nodes --nodes names; give that too.")
    asked = _workloads(workloads, Sources(**options))
    known = [*_from_parts((*nodes, *pods, *quotas)), *_named(clusters, kubeconfig, contexts, timeout)]
    if not known:
        raise click.UsageError("which cluster? Name one with --cluster, --nodes or --kubeconfig.")
    question = Question(Method(method, size, node_order), replicas, not no_quotas, not no_models, lenient)
    answers = [answer(workload, known, question) for workload in asked]
    _print(answers, output, with_reasons)
    return 0 if all(one.fits for one in answers) else 1


def _workloads(paths: tuple[str, ...], sources: Sources) -> list[Workload]:
    """What pods the objects stand for, as the scripts say."""
    from interp.estimates import Workload
    from interp.scripts.pods import interpreted
    from interpreters.core.errors import UnknownTargetError
    from interpreters.core.kinds import GroupVersionKind

    objects = read_objects(paths)
    found = []
    with open_scripts(sources, {GroupVersionKind.of(obj) for obj in objects}) as (runner, catalog):
        for obj in objects:
            kind, metadata = GroupVersionKind.of(obj), obj.get("metadata") or {}
            said = interpreted(runner, catalog, obj).as_components
            if not said:
                raise UnknownTargetError(
                    f"no script says what pods a {kind} stands for; name one with -s, or start one with: interp new"
                )
            namespace, name = metadata.get("namespace") or "default", metadata.get("name") or ""
            found.append(Workload(kind.api_version, kind.kind, namespace, name, list(said)))
    return found


def _from_parts(paths: tuple[Path, ...]) -> list[KnownCluster]:
    from estimator.clusters.once import known_from_files

    return [known_from_files("cluster", paths)] if paths else []


def _named(
    clusters: tuple[str, ...], kubeconfig: Path | None, contexts: tuple[str, ...], timeout: float
) -> list[KnownCluster]:
    """The clusters that `--cluster` and `--kubeconfig` name, in this order; live ones are looked at all at once."""
    from estimator.clusters.files import is_kubeconfig
    from estimator.clusters.kubeconfig import find_access
    from estimator.clusters.once import known_from_folder, known_from_servers

    known: list[KnownCluster] = []
    live = {context or "cluster": find_access(kubeconfig, context) for context in contexts or ("",) if kubeconfig}
    for text in clusters:
        name, separator, source = text.partition("=")
        name, path = (name, Path(source)) if separator and not Path(text).exists() else ("", Path(text))
        if is_kubeconfig(path):
            live[name or path.name.partition(".")[0] or path.name] = find_access(path)
        else:
            known += known_from_folder(path, name)
    if live:
        import asyncio
        import logging

        logging.getLogger("estimator").setLevel(logging.ERROR)  # what fails stands in the table
        known += asyncio.run(known_from_servers(live, timeout))
    names = [cluster.name for cluster in known]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise click.UsageError(f'two clusters are called "{twice}"; name them with --cluster NAME=F.')
    return known


def _print(answers: list[WorkloadAnswer], output: str, with_reasons: bool) -> None:
    if output != "text":
        from interp.estimates import EstimateReport

        report = EstimateReport(all(one.fits for one in answers), answers)
        print_json(report) if output == "json" else print_yaml(report)
        return
    from interp.verbs.estimate.table import explanations, table

    for i, one in enumerate(answers):
        headline, *rows = table(one)
        click.echo(("\n" if i else "") + click.style(headline, bold=True))
        click.echo("\n".join(rows))
        if with_reasons:
            click.echo("\n" + "\n".join(explanations(one)))
