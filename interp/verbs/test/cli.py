"""`interp test`: run the case tables of scripts."""

from __future__ import annotations

from pathlib import Path

import click

from interp.options.dataclass import read_into
from interp.verbs.test.formats import FORMATS
from interp.verbs.test.options import Options


@click.command("test", short_help="run the case tables of scripts")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATH]...")
@click.option("--bundled", is_flag=True, help="Test the bundled scripts, in both languages.")
@click.option("-k", "keyword", default="", metavar="TEXT", help="Only cases with this text in their name or operation.")
@click.option("-x", "--exitfirst", is_flag=True, help="Stop at the first failure.")
@click.option("-j", "--jobs", type=click.IntRange(1, 64), default=1, show_default=True, help="Cases run at once.")
@click.option("--update", is_flag=True, help="Write what the scripts answer into the cases that fail.")
@click.option("--fuzz", is_flag=True, help="Take every optional field away in turn: no script may stumble over it.")
@click.option("-v", "--verbose", is_flag=True, help="A line for every case, with what it cost.")
@click.option("--max-cost", type=click.IntRange(1), metavar="N", help="Fail cases whose script costs more than that.")
@click.option(
    "--coverage",
    type=click.Choice(["table", "listing"]),
    is_flag=False,
    flag_value="table",
    help="Which lines of the scripts ran: a table, or with =listing the scripts with each line marked.",
)
@FORMATS.option
@read_into(Options)
def command(options: Options) -> int:
    """Run the case tables below each PATH (here by default): `cases.yaml` beside an interpreter, and Karmada's
    `testdata/*-test.yaml` (or, up to 1.16, `customizations_tests.yaml`) beside a `customizations.yaml`.

    \b
    interp test scripts/
    interp test scripts/flink.apache.org -k suspended -x
    interp test --bundled -j 2 -o junit > report.xml
    """
    from interp.verbs.test.run import run

    return run(options)
