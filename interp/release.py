"""`--karmada`: which release of Karmada a verb follows; without it the live one's, or else the newest."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from interpreters.core.errors import InputError
from interpreters.core.karmada import NEWEST, RELEASES, Release, parse_release

if TYPE_CHECKING:
    from estimator.snapshot.apiserver import ApiServer

F = TypeVar("F", bound=Callable[..., Any])


class ReleaseType(click.ParamType[Release]):
    """`1.18`, `v1.19.2`: a release that is known."""

    name = "|".join(map(str, RELEASES))

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Release:
        if isinstance(value, Release):
            return value
        try:
            return parse_release(str(value))
        except InputError as error:
            self.fail(str(error), param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(str(one)) for one in RELEASES if str(one).startswith(incomplete)]


def karmada_option(*, live: bool = False) -> Callable[[F], F]:
    """The option as the argument `karmada`: a `Release`, or None where a verb can ask a live Karmada (`live`)."""
    read = " or the one of --kubeconfig" if live else ""
    return click.option(
        "--karmada", "karmada", type=ReleaseType(), default=None if live else str(NEWEST),
        help=f"The release of Karmada to follow; the newest that is known, {NEWEST},{read} by default.",
    )  # fmt: skip


async def release_of(server: ApiServer, asked: Release | None) -> Release:
    """The release asked for, or else the live server's, or else the newest, said on standard error."""
    from estimator.snapshot.release import live_release

    found = asked or await live_release(server)
    if found is None:
        click.echo(f"note: {server.address} does not show which Karmada it is; {NEWEST} is assumed, --karmada says "
                   "otherwise", err=True)  # fmt: skip
    return found or NEWEST
