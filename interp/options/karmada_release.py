"""`--karmada`: which release of Karmada a verb follows; without it the live one's, or else the newest."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from interp.options.completions import one_of
from interpreters.core.errors import InputError
from interpreters.core.karmada.releases import NEWEST, RELEASES, Release, parse_release

if TYPE_CHECKING:
    from estimator.clusters.apiserver import ApiServer

F = TypeVar("F", bound=Callable[..., Any])


def karmada_option(*, live: bool = False) -> Callable[[F], F]:
    """The option as the argument `karmada`: a `Release`, or None where a verb can ask a live Karmada (`live`)."""
    known = [str(release) for release in RELEASES]
    default = f"that of the live Karmada, else the newest known, {NEWEST}" if live else f"the newest known, {NEWEST}"
    return click.option(
        "--karmada", "karmada", metavar="|".join(known), callback=_parsed, default=None if live else str(NEWEST),
        shell_complete=one_of(known), help=f"The release to follow; by default {default}.",
    )  # fmt: skip


def _parsed(context: click.Context, parameter: click.Parameter, value: str | None) -> Release | None:
    try:
        return None if value is None else parse_release(value)
    except InputError as error:
        raise click.BadParameter(str(error), context, parameter) from None


async def release_of(server: ApiServer, asked: Release | None) -> Release:
    """The release asked for, or else the live server's, or else the newest, said on standard error."""
    from estimator.clusters.release import live_release

    found = asked or await live_release(server)
    if found is None:
        click.echo(f"note: {server.address} does not show which Karmada it is; {NEWEST} is assumed, --karmada says "
                   "otherwise", err=True)  # fmt: skip
    return found or NEWEST
