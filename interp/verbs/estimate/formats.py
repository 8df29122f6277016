"""Estimates as a table, or as they are for machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import click

from interp.output.formats import Formats
from interp.output.json import print_json
from interp.output.yaml import print_yaml

if TYPE_CHECKING:
    from interp.estimates import EstimateReport


@dataclass(frozen=True, slots=True)
class Estimated:
    """The report; its text says the reasons only if they were asked for."""

    report: EstimateReport
    with_reasons: bool


def _print_text(estimated: Estimated) -> None:
    from interp.verbs.estimate.table import explanations, table

    for i, one in enumerate(estimated.report.workloads):
        headline, *rows = table(one)
        click.echo(("\n" if i else "") + click.style(headline, bold=True))
        click.echo("\n".join(rows))
        if estimated.with_reasons:
            click.echo("\n" + "\n".join(explanations(one)))


def _print_json(estimated: Estimated) -> None:
    print_json(estimated.report)


def _print_yaml(estimated: Estimated) -> None:
    print_yaml(estimated.report)


FORMATS: Final[Formats[Estimated]] = Formats(text=_print_text, json=_print_json, yaml=_print_yaml)
