"""A scheduling decision as a table: the groups in order, and in each the verdict on every cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from estimator.placement.decision import Decision, FailureReason, GroupReport, Verdict
from interp.output.table import dim_table, plain
from interp.verbs.schedule.decisions import ScheduleReport

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_EXCLUDED_SHOWN = 12  # rows of a group for clusters that it does not even select; the rest is counted


def print_reports(reports: Sequence[ScheduleReport], console: Console) -> None:
    for number, report in enumerate(reports, 1):
        if len(reports) > 1:
            console.print(f"{chr(10) if number > 1 else ''}[bold]{number}. priority {report.priority}[/]")
        print_report(report, console)


def print_report(report: ScheduleReport, console: Console) -> None:
    console.print(f"[bold]{plain(str(report.workload))}[/]")
    console.print(f"[dim]{plain(report.policy)}: {report.strategy}[/]\n")
    if report.before is not None:
        lost = ", ".join(report.unavailable)
        console.print(f"before: {outcome(report.before, report.unit)}\nafter losing [red]{plain(lost)}[/]:\n")
    for group in report.decision.groups:
        for part in _group(group, report):
            console.print(part)
        console.print()
    if report.decision.untried:
        console.print(f"[dim]not tried: {plain(', '.join(report.decision.untried))}[/]\n")
    colour = "green" if report.decision.scheduled else "red"
    console.print(f"[{colour} bold]{outcome(report.decision, report.unit)}[/]")


def _group(group: GroupReport, report: ScheduleReport) -> Iterator[RenderableType]:
    mark = "[red]✗[/]" if group.failure else "[green]✓[/]"
    name = f"group {group.position + 1}: {group.name}" if group.name else "clusters"
    failure = f" [red]— {plain(group.failure.message)}[/]" if group.failure else ""
    yield f"{mark} [bold]{plain(name)}[/]{failure}"
    rows = [one for one in group.clusters if one.verdict is not Verdict.EXCLUDED]
    excluded = [one for one in group.clusters if one.verdict is Verdict.EXCLUDED]
    table = dim_table()
    for title, side in (("  CLUSTER", "left"), ("VERDICT", "left"), ("AVAILABLE", "right"), ("GETS", "right")):
        table.add_column(title, justify=side, no_wrap=True)  # type: ignore[arg-type]
    table.add_column("BECAUSE", overflow="fold")
    colours = {"chosen": "green", "filtered": "yellow", "excluded": "dim", "passedOver": "default"}
    for one in [*rows, *excluded[:_EXCLUDED_SHOWN]]:
        left_over = "not enough" if group.failure else "passed over"
        verdict = left_over if one.verdict is Verdict.PASSED_OVER else str(one.verdict)
        gets = "" if one.verdict is not Verdict.CHOSEN else "all" if one.replicas is None else str(one.replicas)
        because = one.detail or (f"next one stopped by {one.bound_by}" if one.bound_by else "")
        available = "" if one.available is None else str(one.available)
        overflow = f" (overflow {one.overflow})" if one.overflow else ""
        table.add_row(f"  {plain(one.cluster)}", f"[{colours[one.verdict]}]{verdict}{overflow}[/]", available, gets,
                      plain(because))  # fmt: skip
    yield table
    if len(excluded) > _EXCLUDED_SHOWN:
        yield f"  [dim]and {len(excluded) - _EXCLUDED_SHOWN} more excluded[/]"


def outcome(decision: Decision, unit: str) -> str:
    recorded = decision.recorded_affinity_name
    if decision.failure is not None:
        empties = decision.failure.reason is FailureReason.NO_CLUSTER_FIT
        kept = "spec.clusters is emptied" if empties else "spec.clusters stays as it is"
        name = f"the recorded group stays {recorded!r}" if recorded else "no group is recorded"
        return plain(f"{decision.failure.reason}: {decision.failure.message}; {name}, {kept}")
    places = ", ".join(f"{one.name}{'' if one.replicas is None else f' ({one.replicas})'}" for one in decision.clusters)
    whole = "all of it to " if unit == "sets" else "goes to "
    return plain(f"{whole}{places or 'no cluster'}" + (f"; recorded group: {recorded}" if recorded else ""))
