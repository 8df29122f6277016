"""Tables for people: columns that fit the terminal, or a fixed width where the output goes elsewhere."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


def console(width: int = 160, *, for_pipes: bool = False) -> Console:
    """Where to print; `width` counts unless it is a terminal or COLUMNS says how wide it is.

    What is made `for_pipes` too, to be searched by other programs, is as wide there whatever COLUMNS says."""
    from rich.console import Console

    known = sys.stdout.isatty() or ("COLUMNS" in os.environ and not for_pipes)
    return Console(highlight=False, width=None if known else width)


def plain(text: str) -> str:
    """Text from files is printed as it is: brackets in it are not markup."""
    from rich.markup import escape

    return escape(text)


def dim_table() -> Table:
    """A table without lines below a dim headline."""
    from rich.table import Table

    return Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
