"""`interp lint`: find mistakes in scripts before they run, and in policies before Karmada follows them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from interp.options.dataclass import read_into
from interp.options.karmada_release import karmada_option
from interp.verbs.lint.formats import FORMATS
from interp.verbs.lint.options import Options

if TYPE_CHECKING:
    pass


@click.command("lint", short_help="find mistakes in scripts before they run")
@click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path), metavar="[PATH]...")
@click.option("--bundled", is_flag=True, help="Lint the bundled scripts.")
@click.option("--portable", is_flag=True, help="Also what works here but is refused by Karmada's own Lua.")
@click.option("--clusters", multiple=True, metavar="F", help="Policies: the member clusters their groups are made of.")
@karmada_option()
@FORMATS.option
@read_into(Options)
def command(options: Options) -> int:
    """Look for mistakes in the scripts at or below each PATH (here by default): syntax, misnamed functions, unknown
    globals, missing cases, replies that look wrong. One line each: `file:line:column: rule: message`.

    ResourceInterpreterCustomizations are checked like scripts. PropagationPolicies and ClusterPropagationPolicies are
    checked too: rules of placement, groups that no cluster matches (with --clusters), kinds with several components
    whose estimate Karmada would ignore, values that a release of Karmada does not know. Both are found in any YAML or
    JSON file below a folder; other files there are passed over.
    """
    from interp.verbs.lint.run import lint

    linted = lint(options)
    FORMATS.print(options.output, linted)
    return 1 if linted.remarks else 0
