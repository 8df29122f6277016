"""`interp test`: run the case tables of scripts."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import click

from interp import startup
from interp.output.formats import format_option
from interp.output.terminal import erase_line
from interp.verbs.test.reports import REPORTS, Tested, Totals, verbose_text
from interpreters.cases import Case, Result, Verdict, within_cost
from interpreters.core.coverage import Coverage
from interpreters.core.engine import Limits
from interpreters.core.languages import LANGUAGES
from interpreters.coverage import Watched, coverage_of, covering_engines, without_marks
from interpreters.sandbox.runner import SandboxRunner
from interpreters.suites import Suite, bundled_suites, find_suites, is_good, run_suite


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
@format_option(*REPORTS)
def command(
    paths: tuple[Path, ...],
    bundled: bool,
    keyword: str,
    exitfirst: bool,
    jobs: int,
    update: bool,
    fuzz: bool,
    verbose: bool,
    max_cost: int | None,
    coverage: str | None,
    output: str,
) -> int:
    """Run the case tables below each PATH (here by default): `cases.yaml` beside an interpreter, and Karmada's
    `testdata/*-test.yaml` (or, up to 1.16, `customizations_tests.yaml`) beside a `customizations.yaml`.

    \b
    interp test scripts/
    interp test scripts/flink.apache.org -k suspended -x
    interp test --bundled -j 2 -o junit > report.xml
    """
    tested: list[Tested] = []
    covered: list[tuple[Suite, list[Watched]]] = []
    with _sandbox(jobs, covering=coverage is not None) as runner:
        suites: list[Iterator[Suite]] = [bundled_suites(runner, language) for language in LANGUAGES] if bundled else []
        if paths or not bundled:
            suites.append(find_suites(runner, paths or [Path()]))
        for suite in (suite for found in suites for suite in found):
            running = _fuzzed(runner, suite, keyword) if fuzz else _results(runner, suite, keyword, jobs)
            if max_cost is not None:
                running = (within_cost(result, max_cost) for result in running)
            results = list(_until_failure(running, exitfirst))
            if coverage:
                watched = [without_marks(result) for result in results]
                results = [result for result, _ in watched]
                covered.append((suite, watched))
            if update:
                results = _updated(runner, suite, results)
            tested.append((suite, results))
            if sys.stderr.isatty():
                erase_line()
                click.echo(f"{Totals.of(tested)}: {suite.name}", err=True, nl=False)
            if exitfirst and not is_good(results, suite):
                break
    erase_line()
    for line in verbose_text(tested) if verbose and output == "text" else REPORTS[output](tested):
        click.echo(line)
    if coverage:
        _print_coverage(coverage_of(covered), listing=coverage == "listing", aside=output != "text")
    if keyword and not any(results for _, results in tested):
        raise click.UsageError(f"no case has {keyword!r} in its name or operation.")
    return 0 if Totals.of(tested).is_good else 1


def _sandbox(jobs: int, *, covering: bool) -> SandboxRunner:
    if covering:
        return SandboxRunner(jobs, engines=covering_engines(), limits=Limits(seconds=10))
    return SandboxRunner(jobs, first=startup.worker())


def _print_coverage(files: list[Coverage], *, listing: bool, aside: bool) -> None:
    """`aside` keeps a report for machines clean."""
    for file in files:
        colour = "green" if file.percent >= 95 else "yellow"
        share = click.style(f"{file.percent:5.1f} %", fg=colour)
        missed = f"  not run: {file.missed_ranges}" if file.missed and not listing else ""
        click.echo(f"{share}  {len(file.code):4} lines  {file.name}{missed}", err=aside)
        for line in file.listing() if listing else ():
            click.echo(click.style(line, fg="red") if line.startswith("-") else line, err=aside)
    code, missed_lines = sum(len(file.code) for file in files), sum(len(file.missed) for file in files)
    if code:
        click.echo(f"{100 * (code - missed_lines) / code:5.1f} %  {code:4} lines  in all", err=aside)


def _is_wanted(case: Case, keyword: str) -> bool:
    return keyword.lower() in f"{case.name} {case.operation}".lower()


def _fuzzed(runner: SandboxRunner, suite: Suite, keyword: str) -> Iterator[Result]:
    from interpreters.fuzz import fuzz_cases

    return fuzz_cases(runner, suite.catalog, tuple(case for case in suite.cases if _is_wanted(case, keyword)))


def _results(runner: SandboxRunner, suite: Suite, keyword: str, jobs: int) -> Iterator[Result]:
    def wanted(case: Case) -> bool:
        return _is_wanted(case, keyword)

    if jobs == 1:
        yield from run_suite(runner, suite, wanted=wanted)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(jobs) as threads:

        def run_all(run: Callable[[Case], Result], cases: Iterable[Case]) -> Iterable[Result]:
            return threads.map(run, cases)

        yield from run_suite(runner, suite, wanted=wanted, run_all=run_all)


def _until_failure(results: Iterator[Result], exitfirst: bool) -> Iterator[Result]:
    for result in results:
        yield result
        if exitfirst and result.verdict is Verdict.FAILED:
            return


def _updated(runner: SandboxRunner, suite: Suite, results: list[Result]) -> list[Result]:
    from interp.verbs.test.case_updates import update_cases

    failed = [result for result in results if result.verdict is Verdict.FAILED and not result.case.is_karmada]
    updated = update_cases(failed)
    for result in updated:
        click.echo(f"updated {result.case.file}: {result.case.name}", err=True)
    return [result for result in results if result not in updated]
