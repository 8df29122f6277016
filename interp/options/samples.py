"""`--sample`: objects of one's own on which a script's Division is proven, beside those of its cases."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def sample_option(command: F) -> F:
    """The option as the argument `samples`."""
    return click.option(
        "--sample",
        "samples",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        multiple=True,
        help="Objects to prove scripts harmless with.",
    )(command)
