"""An audit from its options to its report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from estimator.accounting.audit.assembly import build_report
from estimator.accounting.audit.findings import Findings, finding
from estimator.accounting.audit.owned_workloads import owners_of
from estimator.accounting.audit.report import AuditReport, Origin
from estimator.accounting.audit.totals import Tally
from estimator.accounting.demand import Demand, WorkloadKey, demand_of
from estimator.accounting.history.rendering import QuotaHistory
from estimator.accounting.podless_bindings import Untold
from estimator.accounting.sources.object_stream import files_in, stream_objects
from estimator.accounting.sources.quota_files import load_quotas
from estimator.placement.bindings import in_namespace
from interp.scripts.object_demands import object_demands
from interp.scripts.pods import interpreted
from interp.scripts.sources import Sources, open_scripts
from interp.verbs.audit.options import Options
from interp.verbs.audit.what_if import read_changes
from interpreters import __version__
from interpreters.core.errors import InputError, ScriptError
from interpreters.core.karmada.releases import NEWEST, Release


def audit(options: Options) -> AuditReport:
    """Add up the bindings that the options name, and compare with the quotas."""
    tally = Tally(
        most=options.top,
        release=options.karmada or NEWEST,
        findings=Findings(None) if options.wants_every_finding else Findings(),
    )
    if options.workloads:
        _ask_scripts(options.sources, tally, options.workloads)
    limits = load_quotas(options.quotas) if options.quotas else []
    history: list[QuotaHistory] = []
    with object_demands(options.sources) as demands:
        tally.is_workload = demands.is_workload
        tally.multi_template_kinds = demands.kinds_with_several_components()
        what_if = read_changes(options.extra, demands, options.clusters) if options.extra else None
        tally.replaced = what_if.names if what_if is not None else frozenset()
        if options.bindings:
            from interp.verbs.audit.from_files import read_files

            limits += read_files(options.bindings, tally)
        elif options.kubeconfig:
            from interp.verbs.audit.from_karmada import read_karmada

            limits += read_karmada(options.kubeconfig, options.context, tally, options.karmada, demands)
        elif options.ledger:
            from interp.verbs.audit.from_ledger import read_ledger

            history = read_ledger(options.ledger, tally)
    for found in tally.families.findings():
        tally.findings.add(found)
    origin = _origin(options, tally.release)
    return build_report(tally, limits, what_if=what_if, near=options.near, origin=origin, history=history)


def _origin(options: Options, release: Release) -> Origin:
    source = "standard input" if options.bindings == ("-",) else ", ".join(options.bindings)
    if options.kubeconfig:
        source = f"live Karmada of {options.kubeconfig}" + (f", context {options.context}" if options.context else "")
    elif options.ledger:
        from estimator.accounting.ledger.database import database_url, shown_url

        source = f"ledger {shown_url(database_url(options.ledger))}"
    at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return Origin(at, source, str(release), ", ".join(options.quotas), __version__)


def _ask_scripts(sources: Sources, tally: Tally, workloads: Sequence[str]) -> None:
    """Tell the tally what scripts say about the workloads."""
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
    for file in files_in(paths):
        for text in stream_objects(file):
            yield in_namespace(msgspec.json.decode(text, type=dict))
