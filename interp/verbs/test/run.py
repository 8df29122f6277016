"""Running the case tables that the options of `interp test` name, and printing the results."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import click

from interp import startup
from interp.output.terminal import erase_line
from interp.verbs.test.coverage_text import print_coverage
from interp.verbs.test.formats import FORMATS
from interp.verbs.test.options import Options
from interp.verbs.test.results import Results, Tested
from interpreters.cases import Case, Result, Verdict, within_cost
from interpreters.core.engine import Limits
from interpreters.core.languages import LANGUAGES
from interpreters.coverage import Watched, coverage_of, covering_engines, without_marks
from interpreters.sandbox.runner import SandboxRunner
from interpreters.suites import Suite, bundled_suites, find_suites, is_good, run_suite


def run(options: Options) -> int:
    """The exit code: 1 when a case failed."""
    tested: list[Tested] = []
    covered: list[tuple[Suite, list[Watched]]] = []
    results = Results(tested, options.verbose)
    with _sandbox(options) as runner:
        for suite in _suites(runner, options):
            ran = list(_until_failure(_running(runner, suite, options), options.exitfirst))
            if options.coverage:
                watched = [without_marks(result) for result in ran]
                ran = [result for result, _ in watched]
                covered.append((suite, watched))
            if options.update:
                ran = _updated(ran)
            tested.append((suite, ran))
            if sys.stderr.isatty():
                erase_line()
                click.echo(f"{results.totals}: {suite.name}", err=True, nl=False)
            if options.exitfirst and not is_good(ran, suite):
                break
    erase_line()
    FORMATS.print(options.output, results)
    if options.coverage:
        print_coverage(coverage_of(covered), listing=options.coverage == "listing", aside=options.output != "text")
    if options.keyword and not any(ran for _, ran in tested):
        raise click.UsageError(f"no case has {options.keyword!r} in its name or operation.")
    return 0 if results.totals.is_good else 1


def _suites(runner: SandboxRunner, options: Options) -> Iterator[Suite]:
    for language in LANGUAGES if options.bundled else ():
        yield from bundled_suites(runner, language)
    if options.paths or not options.bundled:
        yield from find_suites(runner, options.paths or [Path()])


def _running(runner: SandboxRunner, suite: Suite, options: Options) -> Iterator[Result]:
    run_cases = _fuzzed(runner, suite, options.keyword) if options.fuzz else _results(runner, suite, options)
    if options.max_cost is None:
        return run_cases
    most = options.max_cost
    return (within_cost(result, most) for result in run_cases)


def _sandbox(options: Options) -> SandboxRunner:
    if options.coverage is not None:
        return SandboxRunner(options.jobs, engines=covering_engines(), limits=Limits(seconds=10))
    return SandboxRunner(options.jobs, first=startup.worker())


def _is_wanted(case: Case, keyword: str) -> bool:
    return keyword.lower() in f"{case.name} {case.operation}".lower()


def _fuzzed(runner: SandboxRunner, suite: Suite, keyword: str) -> Iterator[Result]:
    from interpreters.fuzz import fuzz_cases

    return fuzz_cases(runner, suite.catalog, tuple(case for case in suite.cases if _is_wanted(case, keyword)))


def _results(runner: SandboxRunner, suite: Suite, options: Options) -> Iterator[Result]:
    def wanted(case: Case) -> bool:
        return _is_wanted(case, options.keyword)

    if options.jobs == 1:
        yield from run_suite(runner, suite, wanted=wanted)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(options.jobs) as threads:

        def run_all(run: Callable[[Case], Result], cases: Iterable[Case]) -> Iterable[Result]:
            return threads.map(run, cases)

        yield from run_suite(runner, suite, wanted=wanted, run_all=run_all)


def _until_failure(results: Iterator[Result], exitfirst: bool) -> Iterator[Result]:
    for result in results:
        yield result
        if exitfirst and result.verdict is Verdict.FAILED:
            return


def _updated(results: list[Result]) -> list[Result]:
    from interp.verbs.test.case_updates import update_cases

    failed = [result for result in results if result.verdict is Verdict.FAILED and not result.case.is_karmada]
    updated = update_cases(failed)
    for result in updated:
        click.echo(f"updated {result.case.file}: {result.case.name}", err=True)
    return [result for result in results if result not in updated]
