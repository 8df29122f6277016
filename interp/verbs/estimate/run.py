"""From the options of `interp estimate` to its answers."""

from __future__ import annotations

import logging
from pathlib import Path

import click

from estimator.clusters.files import is_kubeconfig
from estimator.clusters.kubeconfig import find_access
from estimator.clusters.once import KnownCluster, known_from_files, known_from_folder, known_from_servers
from estimator.fit.methods import Method
from interp.estimates import EstimateReport, Question, Workload, answer
from interp.inputs import read_objects
from interp.scripts.pods import interpreted
from interp.scripts.sources import open_scripts
from interp.verbs.estimate.options import Options
from interpreters.core.errors import UnknownTargetError
from interpreters.core.kinds import GroupVersionKind


def estimate(options: Options) -> EstimateReport:
    """The answer about each workload."""
    asked = _workloads(options)
    known = [*_from_parts((*options.nodes, *options.pods, *options.quotas)), *_named(options)]
    if not known:
        raise click.UsageError("which cluster? Name one with --cluster, --nodes or --kubeconfig.")
    method = Method(options.method, options.size, options.node_order)
    question = Question(method, options.replicas, not options.no_quotas, not options.no_models, options.lenient)
    answers = [answer(workload, known, question) for workload in asked]
    return EstimateReport(all(one.fits for one in answers), answers)


def _workloads(options: Options) -> list[Workload]:
    """What pods the objects stand for, as the scripts say."""
    objects = read_objects(options.workloads)
    found = []
    with open_scripts(options.sources, {GroupVersionKind.of(obj) for obj in objects}) as (runner, catalog):
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
    return [known_from_files("cluster", paths)] if paths else []


def _named(options: Options) -> list[KnownCluster]:
    """The clusters that `--cluster` and `--kubeconfig` name, in this order; live ones are looked at all at once."""
    known: list[KnownCluster] = []
    kubeconfig, contexts = options.kubeconfig, options.contexts or ("",)
    live = {context or "cluster": find_access(kubeconfig, context) for context in contexts if kubeconfig}
    for text in options.clusters:
        name, separator, source = text.partition("=")
        name, path = (name, Path(source)) if separator and not Path(text).exists() else ("", Path(text))
        if is_kubeconfig(path):
            live[name or path.name.partition(".")[0] or path.name] = find_access(path)
        else:
            known += known_from_folder(path, name)
    if live:
        import asyncio

        logging.getLogger("estimator").setLevel(logging.ERROR)  # the table says what fails
        known += asyncio.run(known_from_servers(live, options.timeout))
    names = [cluster.name for cluster in known]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise click.UsageError(f'two clusters are called "{twice}"; name them with --cluster NAME=F.')
    return known
