"""Decisions from files and the diagnosis of a live binding: tables for people, and as they are for machines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from interp.output.formats import Formats
from interp.output.json import print_json
from interp.output.messages import print_error, print_warning
from interp.output.yaml import print_yaml

if TYPE_CHECKING:
    from estimator.placement.diagnosis import Diagnosis
    from interp.verbs.schedule.decisions import ScheduleReport

    Scheduled = Sequence[tuple[ScheduleReport, dict[str, Any]]]  # each workload with its binding afterwards


def _print_tables(scheduled: Scheduled) -> None:
    from interp.output.table import console
    from interp.verbs.schedule.decision_table import print_reports

    print_reports([report for report, _ in scheduled], console())
    _print_warnings(scheduled)


def _print_reports(scheduled: Scheduled) -> None:
    from interp.verbs.schedule.decisions import ScheduleReports

    reports = [report for report, _ in scheduled]
    print_json(reports[0] if len(reports) == 1 else ScheduleReports(reports))


def _print_bindings(scheduled: Scheduled) -> None:
    print_yaml(*(binding for _, binding in scheduled))
    _print_warnings(scheduled)
    for report, _ in scheduled:
        if report.decision.failure is not None:
            print_error(report.decision.failure.message)


def _print_warnings(scheduled: Scheduled) -> None:
    for warning in dict.fromkeys(warning for report, _ in scheduled for warning in report.warnings):
        print_warning(warning)


def _print_diagnosis(found: Diagnosis) -> None:
    from interp.output.table import console
    from interp.verbs.schedule.diagnosis_table import print_diagnosis

    print_diagnosis(found, console(200))


OF_FILES: Final[Formats[Scheduled]] = Formats(text=_print_tables, json=_print_reports, yaml=_print_bindings)
OF_LIVE_BINDING: Final[Formats[Diagnosis]] = Formats(text=_print_diagnosis, json=print_json, yaml=print_yaml)
