"""The options that say which scripts to use, and opening them: a sandbox to run them in and the catalog they make."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click
from msgspec import Struct

from interp import startup
from interpreters.catalog import Catalog
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.languages import LUA
from interpreters.interpretation import load_functions
from interpreters.sandbox.runner import SandboxRunner
from interpreters.scan import Found, Origin, scan, scan_place

Result = TypeVar("Result")
ScriptPath = click.Path(exists=True, path_type=Path)


def script_options(command: Callable[..., Result]) -> Callable[..., Result]:
    """`--script`, `--folder`, `--customization` and `--no-bundled` as the argument `sources`, a `Sources`."""

    @wraps(command)
    def called(
        *arguments: Any,
        scripts: tuple[Path, ...],
        folders: tuple[Path, ...],
        customizations: tuple[Path, ...],
        no_bundled: bool,
        **options: Any,
    ) -> Result:
        sources = Sources(scripts, folders, customizations, no_bundled)
        return command(*arguments, sources=sources, **options)

    for option in (
        click.option("--no-bundled", is_flag=True, help="Leave the bundled scripts out."),
        click.option(
            "--customization",
            "customizations",
            multiple=True,
            type=ScriptPath,
            metavar="F",
            help="ResourceInterpreterCustomizations, as Karmada has them.",
        ),
        click.option(
            "--folder",
            "folders",
            multiple=True,
            type=ScriptPath,
            metavar="DIR",
            envvar="INTERP_SCRIPTS",
            help="A tree of <group>/<version>/<Kind>/interpreter.lua; answers before the bundled ones.",
        ),
        click.option(
            "-s",
            "--script",
            "scripts",
            multiple=True,
            type=ScriptPath,
            metavar="PATH",
            help="The script, kind folder or customization to ask, before all others.",
        ),
    ):
        called = option(called)
    return called


class Sources(Struct, frozen=True):
    """What the options said."""

    scripts: Sequence[Path] = ()
    folders: Sequence[Path] = ()
    customizations: Sequence[Path] = ()
    no_bundled: bool = False
    no_others: bool = False  # nothing but `scripts`: no folders, no bundled ones, no default

    def scan(self, kinds: Collection[GroupVersionKind] | None = None) -> list[Found]:
        """Everything they name, in order of precedence, the default last; of all kinds or of these."""
        named = [found for i, place in enumerate(self.scripts) for found in scan_place(place, Origin.SCRIPT, i)]
        if self.no_others:
            return named
        bundled = None if self.no_bundled else LUA
        found = named + scan(self.folders, self.customizations, bundled=bundled, default=True, kinds=kinds)
        return [entry for entry in found if kinds is None or not {None, *kinds}.isdisjoint(entry.kinds)]


@contextmanager
def open_scripts(
    sources: Sources, kinds: Collection[GroupVersionKind] | None = None
) -> Iterator[tuple[SandboxRunner, Catalog]]:
    """A sandbox and the catalog. `kinds` spares loading scripts of kinds that nobody will ask about.

    The catalog is strict: whoever works on a script wants to know that it is broken, not what another one answers.
    """
    with SandboxRunner(first=startup.worker()) as runner:
        found = sources.scan(kinds)
        yield runner, Catalog.build(found, load_functions(runner, found), strict=True)
