"""Times and spans as options: `2026-01-31T12:00:00Z`, `30d`."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])
_SPAN: Final = re.compile(r"(\d{1,6})([mhdw])")
_SECONDS: Final = {"m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


def moment_option(flag: str, name: str, *, help: str) -> Callable[[F], F]:
    """A time as seconds since 1970, or None."""

    def parsed(context: click.Context, parameter: click.Parameter, text: str | None) -> int | None:
        return None if text is None else read_moment(text)

    return click.option(flag, name, metavar="TIME", callback=parsed, help=help)


def span_option(flag: str, name: str, *, default: str, help: str) -> Callable[[F], F]:
    """A span such as 30d in seconds."""

    def parsed(context: click.Context, parameter: click.Parameter, text: str) -> int:
        found = _SPAN.fullmatch(text)
        if found is None:
            raise click.BadParameter(f'expected a span such as 30d, 12h or 90m, got "{text}"')
        return int(found[1]) * _SECONDS[found[2]]

    return click.option(flag, name, metavar="SPAN", default=default, show_default=True, callback=parsed, help=help)


def read_moment(text: str) -> int:
    """Whole seconds since 1970; a time without a zone is UTC. Raises `click.BadParameter`."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(f'expected a time such as 2026-01-31T12:00:00Z, got "{text}"') from None
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
