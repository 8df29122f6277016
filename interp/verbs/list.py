"""`interp list`: which script answers for which kind and operation, what shadows what, and what is broken."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import click
from msgspec import UNSET, Meta, UnsetType

from interp.output.formats import format_option
from interp.output.json import print_json
from interp.output.script_errors import error_text
from interp.scripts.sources import Sources, open_scripts, script_options
from interpreters.catalog import Catalog, Offer
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.operations import OPERATIONS, Operation
from interpreters.core.requirements import Wire
from interpreters.scan import Broken, Origin

Rows = list[tuple[Operation, Offer, tuple[Offer, ...]]]


class ListedOperation(Wire, frozen=True, omit_defaults=False):
    """Which function of which script answers, and the scripts that would without it."""

    operation: str
    function: str
    source: Annotated[str, Meta(extra_json_schema={"enum": [str(origin) for origin in Origin]})]
    language: str
    script: str
    shadows: list[str]


class ListedKind(Wire, frozen=True, omit_defaults=False):
    api_version: str
    kind: str
    operations: list[ListedOperation]


class ListedBroken(Wire, frozen=True, omit_defaults=False):
    """A script that does not load; without a kind where it cannot be told."""

    script: str
    error: str
    fails: Annotated[list[str], Meta(description="Operations of the kind that fail because of it.")]
    api_version: str | UnsetType = UNSET
    kind: str | UnsetType = UNSET


class ListReport(Wire, frozen=True, omit_defaults=False):
    """Everything that `-o json` prints."""

    kinds: list[ListedKind]
    broken: list[ListedBroken]


@click.command("list", short_help="which script answers for which kind and operation")
@click.argument("words", nargs=-1, metavar="[KIND]...")
@script_options
@click.option("--wide", is_flag=True, help="One line per operation, with source, language, script and what it shadows.")
@format_option("text", "json")
def command(words: tuple[str, ...], wide: bool, output: str, **options: Any) -> int:
    """Show which source answers for each kind and operation. KIND narrows it: any part of group, version or kind."""
    with open_scripts(Sources(**options)) as (_, catalog):
        named = {*catalog.kinds, *(broken.kind for broken in catalog.own_broken if broken.kind)}
        kinds = [kind for kind in sorted(named) if all(word.lower() in str(kind).lower() for word in words)]
        if words and not kinds and not catalog.broken:
            raise click.UsageError(f"no script is for a kind with {' and '.join(map(repr, words))} in it.")
        if output == "json":
            print_json(_report(catalog, kinds))
        else:
            _print(catalog, kinds, wide=wide)
    return 1 if catalog.broken else 0


def _offers(catalog: Catalog, kind: GroupVersionKind) -> Rows:
    """What answers for a kind by name (the default, which answers for every kind, is left out), and what it shadows."""
    found: Rows = []
    for operation, offer in catalog.operations(kind):
        if offer.kind is not None and not catalog.in_the_way(kind, operation):
            shadowed = [o for o in catalog.shadowing(kind, operation) if o not in catalog.find(kind, operation)]
            found.append((operation, offer, tuple(o for o in shadowed if o.kind is not None)))
    return found


def _failing(catalog: Catalog, kind: GroupVersionKind) -> dict[Broken, list[Operation]]:
    """The broken scripts of the user's own that stand in the way, each with the operations that fail because of it."""
    failing: dict[Broken, list[Operation]] = {}
    for operation in OPERATIONS:
        if broken := catalog.in_the_way(kind, operation):
            failing.setdefault(broken, []).append(operation)
    return failing


def _report(catalog: Catalog, kinds: list[GroupVersionKind]) -> ListReport:
    return ListReport(
        [ListedKind(kind.api_version, kind.kind, _operations(catalog, kind)) for kind in kinds],
        [_broken(catalog, broken) for broken in catalog.broken],
    )


def _operations(catalog: Catalog, kind: GroupVersionKind) -> list[ListedOperation]:
    return [
        ListedOperation(
            operation.name,
            offer.function,
            str(offer.source.origin),
            offer.script.language,
            offer.script.name,
            [shadow.script.name for shadow in shadowed],
        )
        for operation, offer, shadowed in _offers(catalog, kind)
    ]


def _broken(catalog: Catalog, broken: Broken) -> ListedBroken:
    if broken.kind is None:
        return ListedBroken(broken.name, str(broken.error), [])
    fails = [operation.name for operation in _failing(catalog, broken.kind).get(broken, [])]
    return ListedBroken(broken.name, str(broken.error), fails, broken.kind.api_version, broken.kind.kind)


def _print(catalog: Catalog, kinds: list[GroupVersionKind], *, wide: bool) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    if wide:
        for title in ("kind", "operation", "source", "language", "script", "shadows"):
            table.add_column(title, overflow="fold")
        for kind in kinds:
            for operation, offer, shadowed in _offers(catalog, kind):
                table.add_row(
                    str(kind),
                    operation.name,
                    str(offer.source.origin),
                    offer.script.language,
                    offer.script.name,
                    ", ".join(shadow.script.name for shadow in shadowed),
                )
            for broken, fails in _failing(catalog, kind).items():
                for operation in fails:
                    table.add_row(str(kind), operation.name, str(broken.source.origin), "broken", broken.name, "")
    else:
        for title in ("kind", "source", "language", "operations"):
            table.add_column(title, overflow="fold")
        for kind in kinds:
            rows: dict[tuple[str, str], list[str]] = {}
            for operation, offer, shadowed in _offers(catalog, kind):
                mark = "*" if shadowed else ""
                rows.setdefault((str(offer.source.origin), offer.script.language), []).append(_short(operation) + mark)
            for (origin, language), operations in rows.items():
                table.add_row(str(kind), origin, language, " ".join(operations))
            for broken, fails in _failing(catalog, kind).items():
                table.add_row(str(kind), str(broken.source.origin), "broken", " ".join(map(_short, fails)))
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 160)
    console.print(table)
    if not wide:
        shortened = ", ".join(f"{_short(op)} = {op}" for op in OPERATIONS if _short(op) != op.name)
        console.print(f"[dim]{shortened}; * shadows another[/dim]")
    for broken in catalog.broken:
        click.echo(error_text(broken.error), err=True)


def _short(operation: Operation) -> str:
    return operation.name.removeprefix("Interpret")
