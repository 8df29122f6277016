"""`interp list`: which script answers for which kind and operation, what shadows what, and what is broken."""

from __future__ import annotations

from typing import Final

import click

from interp.output.formats import Formats
from interp.output.json import print_json
from interp.scripts.sources import Sources, open_scripts, script_options
from interp.verbs.list.listed import Listed
from interp.verbs.list.report import report_of
from interp.verbs.list.table import print_table


def _print_report(listed: Listed) -> None:
    print_json(report_of(listed))


FORMATS: Final[Formats[Listed]] = Formats(text=print_table, json=_print_report)


@click.command("list", short_help="which script answers for which kind and operation")
@click.argument("words", nargs=-1, metavar="[KIND]...")
@script_options
@click.option("--wide", is_flag=True, help="One line per operation, with source, language, script and what it shadows.")
@FORMATS.option
def command(words: tuple[str, ...], wide: bool, sources: Sources, output: str) -> int:
    """Show which source answers for each kind and operation. KIND narrows it: any part of group, version or kind."""
    with open_scripts(sources) as (_, catalog):
        named = {*catalog.kinds, *(broken.kind for broken in catalog.own_broken if broken.kind)}
        kinds = [kind for kind in sorted(named) if all(word.lower() in str(kind).lower() for word in words)]
        if words and not kinds and not catalog.broken:
            raise click.UsageError(f"no script is for a kind with {' and '.join(map(repr, words))} in it.")
        FORMATS.print(output, Listed(catalog, kinds, wide))
    return 1 if catalog.broken else 0
