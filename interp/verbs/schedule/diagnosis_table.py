"""A diagnosis as people read it: the state, the reasons, and a table of the clusters for each group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from estimator.placement.decision import Verdict
from estimator.placement.diagnosis import Diagnosis, GroupOutcome
from interp.output.table import dim_table, plain

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_COLOURS = {"chosen": "green", "filtered": "yellow", "excluded": "dim", "passedOver": "default"}


def print_diagnosis(found: Diagnosis, console: Console) -> None:
    console.print(f"[bold]{plain(found.binding)}[/]" + (f" of {plain(found.workload)}" if found.workload else ""))
    colour = "green" if found.scheduled else "red"
    console.print(f"[{colour} bold]{plain(_state(found))}[/]  [dim]Karmada {found.karmada}[/]\n")
    for reason in found.reasons:
        mark = "[red]✗[/]" if reason.weight == "blocks" and not found.scheduled else "[yellow]![/]"
        remedy = f"\n    [dim]→[/] {plain(reason.remedy)}" if reason.remedy else ""
        console.print(f"{mark} {plain(reason.about)}: {plain(reason.what)}{remedy}")
    if found.reasons:
        console.print()
    for number, group in enumerate(found.groups, 1):
        name = f"group {number}: {group.name}" if group.name else "clusters"
        failure = f" [red]— {plain(group.failure)}[/]" if group.failure else ""
        console.print(f"{'[red]✗[/]' if group.failure else '[green]✓[/]'} [bold]{plain(name)}[/]{failure}")
        console.print(_table(group))
        console.print()
    if found.decision is not None:
        console.print(plain(_outlook(found)))


def _state(found: Diagnosis) -> str:
    if not found.scheduled:
        return "not scheduled"
    places = [f"{one['name']} ({one['replicas']})" if one.get("replicas") else str(one["name"])
              for one in found.clusters]  # fmt: skip
    return f"scheduled to {', '.join(places)}" if places else "follows the bindings that require it"


def _outlook(found: Diagnosis) -> str:
    if found.looks_again:
        return f"Karmada decides again: {found.looks_again}."
    changes = "its placement or replicas change, a target cluster goes, or a reschedule is asked for"
    return f"Karmada leaves it as it is until {changes}."


def _table(group: GroupOutcome) -> Table:
    table = dim_table()
    for title in ("  CLUSTER", "NOW", "VERDICT"):
        table.add_column(title, no_wrap=True)
    table.add_column("AVAILABLE", justify="right", no_wrap=True)
    for title in ("BECAUSE", "WHAT WOULD CHANGE IT"):
        table.add_column(title, overflow="fold")
    for one in group.clusters:
        left_over = "not enough" if group.failure else "passed over"
        verdict = left_over if one.verdict is Verdict.PASSED_OVER else str(one.verdict)
        available = "" if one.available is None else str(one.available)
        table.add_row(f"  {plain(one.cluster)}", "there" if one.holds else "", f"[{_COLOURS[one.verdict]}]{verdict}[/]",
                      available, plain(one.because), plain(one.remedy))  # fmt: skip
    return table
