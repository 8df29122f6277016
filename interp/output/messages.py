"""Errors and warnings in one line on standard error."""

from __future__ import annotations

import click


def print_error(message: str) -> None:
    click.echo(f"{click.style('error:', fg='red', bold=True)} {message}", err=True)


def print_warning(message: str) -> None:
    click.echo(f"{click.style('warning:', fg='yellow', bold=True)} {message}", err=True)
