"""`interp test --coverage`: which lines of the scripts ran."""

from __future__ import annotations

import click

from interpreters.core.coverage import Coverage


def print_coverage(files: list[Coverage], *, listing: bool, aside: bool) -> None:
    """`aside` keeps a report for machines clean."""
    for file in files:
        colour = "green" if file.percent >= 95 else "yellow"
        share = click.style(f"{file.percent:5.1f} %", fg=colour)
        missed = f"  not run: {file.missed_ranges}" if file.missed and not listing else ""
        click.echo(f"{share}  {len(file.code):4} lines  {file.name}{missed}", err=aside)
        for line in file.listing() if listing else ():
            click.echo(click.style(line, fg="red") if line.startswith("-") else line, err=aside)
    code, missed_lines = sum(len(file.code) for file in files), sum(len(file.missed) for file in files)
    if code:
        click.echo(f"{100 * (code - missed_lines) / code:5.1f} %  {code:4} lines  in all", err=aside)
