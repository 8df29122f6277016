"""`interp audit`: what workloads really cost their quotas, from bindings in files, a live Karmada or a ledger."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import click

from interp.options.karmada_release import karmada_option, release_of
from interp.output.formats import format_option
from interp.output.json import print_json
from interp.scripts.sources import Sources, open_scripts, script_options

if TYPE_CHECKING:
    from estimator.accounting.audit.report import AuditReport, Origin
    from estimator.accounting.audit.totals import Tally
    from estimator.accounting.demand import Demand
    from estimator.accounting.history.rendering import QuotaHistory
    from estimator.accounting.sources.object_stream import Progress
    from estimator.quotas.objects import Quota
    from interp.scripts.object_demands import ObjectDemands
    from interpreters.core.karmada.releases import Release

_SEVERITIES: Final = {"never": (), "over": ("error",), "drift": ("error", "drift"),
                      "warning": ("error", "drift", "warning")}  # fmt: skip
_COMPLETE: Final = ("json", "csv")
"""Formats that list every finding; the others are for people, and list the first of each kind."""

_HISTORY: Final = 30 * 86400
# Groups whose kinds have one pod template each; in every other group a script means several.
_ONE_TEMPLATE: Final = ("", "apps", "batch", "apps.kruise.io")


@click.command("audit", short_help="what workloads really cost their quotas")
@click.option(
    "--bindings", multiple=True, metavar="F", help="Bindings: a file (JSON, NDJSON, YAML, gzip), a folder, or -."
)
@click.option("--quotas", multiple=True, metavar="F", help="FederatedResourceQuotas and ResourceQuotas.")
@click.option(
    "--workloads", multiple=True, metavar="F", help="The workloads themselves, to compare with their bindings."
)
@click.option("--kubeconfig", metavar="F", help="Read bindings and quotas from this Karmada instead of files.")
@click.option("--context", default="", metavar="NAME", help="The context in the kubeconfig.")
@click.option("--ledger", metavar="URL", help="Audit what a ledger charges: an SQLite file or postgresql://…")
@click.option("--with", "extra", multiple=True, metavar="F",
              help="What if these workloads, bindings and quotas were applied? A file or a folder.")  # fmt: skip
@click.option(
    "--clusters", type=click.IntRange(1, 10_000), metavar="N",
    help="With --with: in how many clusters new workloads would run; those that are bound stay where they are.",
)  # fmt: skip
@click.option(
    "--near", type=click.FloatRange(0, 1), default=0.9, show_default=True, help="From which share on a limit is near."
)
@click.option(
    "--top", type=click.IntRange(0, 100), default=5, show_default=True, help="How many of the heaviest to show."
)
@click.option("--fail-on", type=click.Choice(list(_SEVERITIES)), default="over", show_default=True,
              help="The lightest finding that makes the exit code 1.")  # fmt: skip
@karmada_option(live=True)
@script_options
@format_option("text", "json", "csv", "markdown", "html")
def command(
    bindings: tuple[str, ...],
    quotas: tuple[str, ...],
    workloads: tuple[str, ...],
    kubeconfig: str | None,
    context: str,
    ledger: str | None,
    extra: tuple[str, ...],
    clusters: int | None,
    near: float,
    top: int,
    fail_on: str,
    karmada: Release | None,
    output: str,
    **options: Any,
) -> int:
    """Add bindings up, compare with the quotas, and say what is wrong. Exit code 1 when there is something to find.

    \b
    kubectl get resourcebindings -A -o json | interp audit --bindings - --quotas quotas.yaml
    interp audit --kubeconfig ~/.kube/karmada.config -o html > audit.html
    interp audit --bindings dump.json.gz --quotas quotas/ --with manifests/ --clusters 2
    """
    if sum(bool(source) for source in (bindings, kubeconfig, ledger)) != 1:
        raise click.UsageError("say where the bindings are: one of --bindings, --kubeconfig and --ledger")
    if clusters is not None and not extra:
        raise click.UsageError("--clusters goes with --with: in how many clusters its workloads would run")
    from estimator.accounting.audit.assembly import build_report
    from estimator.accounting.audit.findings import Findings
    from estimator.accounting.audit.totals import Tally
    from estimator.accounting.sources.quota_files import load_quotas
    from interp.scripts.object_demands import object_demands
    from interp.verbs.audit.what_if import read_changes
    from interpreters.core.karmada.releases import NEWEST

    sources = Sources(**options)
    release = karmada or NEWEST
    findings = Findings(None) if output in _COMPLETE else Findings()
    tally = Tally(multi_template_kinds=_kinds_with_templates(sources), most=top, release=release, findings=findings)
    if workloads:
        _ask_scripts(sources, tally, workloads)
    limits = load_quotas(quotas) if quotas else []
    history: list[QuotaHistory] = []
    with object_demands(sources) as demands:
        tally.is_workload = demands.is_workload
        what_if = read_changes(extra, demands, clusters) if extra else None
        tally.replaced = what_if.names if what_if is not None else frozenset()
        if bindings:
            limits += _read_files(bindings, tally)
        elif kubeconfig:
            limits += _read_live(kubeconfig, context, tally, karmada, demands)
        elif ledger:
            history = _read_ledger(ledger, tally)
    for found in tally.families.findings():
        tally.findings.add(found)
    origin = _origin(bindings, quotas, kubeconfig, context, ledger, tally.release)
    report = build_report(tally, limits, what_if=what_if, near=near, origin=origin, history=history)
    _show(report, output)
    return 1 if report.has(*_SEVERITIES[fail_on]) else 0


def _origin(
    bindings: Sequence[str],
    quotas: Sequence[str],
    kubeconfig: str | None,
    context: str,
    ledger: str | None,
    release: Release,
) -> Origin:
    from datetime import UTC, datetime

    from estimator.accounting.audit.report import Origin
    from estimator.accounting.ledger.database import database_url, shown_url
    from interpreters import __version__

    source = "standard input" if tuple(bindings) == ("-",) else ", ".join(bindings)
    if kubeconfig:
        source = f"live Karmada of {kubeconfig}" + (f", context {context}" if context else "")
    elif ledger:
        source = f"ledger {shown_url(database_url(ledger))}"
    at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return Origin(at, source, str(release), ", ".join(quotas), __version__)


def _show(report: AuditReport, output: str) -> None:
    from estimator.accounting.audit.rendering import RENDERERS

    if output == "json":
        print_json(report)
    else:
        click.echo(RENDERERS[output](report), nl=False)


def _read_files(paths: Sequence[str], tally: Tally) -> list[Quota]:
    from estimator.accounting.audit.read_bindings import read_bindings, total_size
    from estimator.quotas.objects import in_order

    with _progress_bar(total_size(paths)) as progress:
        return in_order(read_bindings(paths, tally, progress=progress).quotas)


@contextmanager
def _progress_bar(total: int | None) -> Iterator[Progress | None]:
    """A bar on standard error, only where a person looks at it."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

    from interp.output.terminal import unguarded

    console = Console(file=unguarded(sys.stderr))
    if not console.is_terminal:
        yield None
        return
    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as shown:
        task = shown.add_task("reading", total=total)
        yield lambda step: shown.advance(task, step)


def _read_live(
    kubeconfig: str, context: str, tally: Tally, karmada: Release | None, demands: ObjectDemands
) -> list[Quota]:
    import asyncio
    from pathlib import Path

    from estimator.accounting.audit.read_bindings import Intake
    from estimator.accounting.podless_bindings import says_no_pods
    from estimator.accounting.sources.karmada_source import LiveObjects, live_bindings, live_quotas
    from estimator.clusters.apiserver import ApiServer
    from estimator.clusters.kubeconfig import read_kubeconfig

    given = tally.known

    async def read() -> list[Quota]:
        intake = Intake(tally)
        async with ApiServer(read_kubeconfig(Path(kubeconfig), context)) as server:
            tally.release = await release_of(server, karmada)
            objects = LiveObjects(server)
            async for page in live_bindings(server):
                found = list(intake.bindings(page, kubeconfig))
                told = await demands.of_bindings([one for one in found if says_no_pods(one.spec)], objects)
                tally.known = {**{str(workload): said for workload, said in told.items()}, **given}
                for binding in found:
                    tally.add(binding)
            return await live_quotas(server)

    return asyncio.run(read())


def _read_ledger(url: str, tally: Tally) -> list[QuotaHistory]:
    import asyncio

    from estimator.accounting.audit.binding_checks import not_admitted
    from estimator.accounting.audit.charged import add_charge
    from estimator.accounting.audit.owned_workloads import OwnedWorkloads
    from estimator.accounting.history.rendering import history_of
    from estimator.accounting.history.store import read_steps
    from estimator.accounting.ledger.database import existing_ledger
    from estimator.accounting.ledger.ledger import Ledger

    tally.unscheduled_sets = 1  # as the ledger charges it
    owners: dict[str, str] = {}
    counted: set[str] = set()

    async def read() -> list[QuotaHistory]:
        async with Ledger(existing_ledger(url), create=False) as ledger:
            for namespace in await ledger.namespaces():
                async with ledger.page(namespace, read_only=True) as page:
                    for charge in await page.charged():
                        add_charge(tally, charge)
                        counted.add(str(charge.workload))
                        if charge.owner is not None:
                            owners[str(charge.workload)] = str(charge.owner)
                    for stranger in await page.unadmitted():
                        tally.findings.add(not_admitted(stranger))
            return [history_of(series) for series in await read_steps(ledger, _HISTORY)]

    history = asyncio.run(read())
    tally.families = OwnedWorkloads(owners, counted)
    return history


def _kinds_with_templates(sources: Sources) -> frozenset[tuple[str, str]]:
    kinds = {kind for found in sources.scan() for kind in found.kinds if kind is not None}
    return frozenset((kind.group, kind.kind) for kind in kinds if kind.group not in _ONE_TEMPLATE)


def _ask_scripts(sources: Sources, tally: Tally, workloads: Sequence[str]) -> None:
    """Tell the tally what scripts say about the workloads."""
    from estimator.accounting.audit.findings import finding
    from estimator.accounting.audit.owned_workloads import owners_of
    from estimator.accounting.demand import WorkloadKey, demand_of
    from estimator.accounting.podless_bindings import Untold
    from interp.scripts.pods import interpreted
    from interpreters.core.errors import InputError, ScriptError

    known: dict[str, Demand | Untold] = {}
    objects = list(_objects(workloads))
    tally.known, tally.families = known, owners_of(objects)
    with open_scripts(sources) as (runner, catalog):

        def ask(obj: dict[str, Any]) -> Demand:
            said = interpreted(runner, catalog, obj)
            if said.components is None and said.replicas is None:
                raise InputError(f"no script says what pods {WorkloadKey.of(obj)} stands for")
            return demand_of(list(said.as_components))

        for obj in objects:
            about = str(WorkloadKey.of(obj))
            try:
                known[about] = ask(obj)
            except (ScriptError, InputError) as error:
                known[about] = Untold("no script can tell what it costs")
                tally.findings.add(finding("not-interpretable", about, str(error)))


def _objects(paths: Sequence[str]) -> Iterator[dict[str, Any]]:
    import msgspec

    from estimator.accounting.sources.object_stream import files_in, stream_objects
    from estimator.placement.bindings import in_namespace

    for file in files_in(paths):
        for text in stream_objects(file):
            yield in_namespace(msgspec.json.decode(text, type=dict))
