"""Test results for people: a line for each suite, and what failed in it."""

from __future__ import annotations

from collections.abc import Iterator

import click

from interp.verbs.test.results import Results
from interpreters.cases import Verdict
from interpreters.suites import lost_in


def render(results: Results) -> Iterator[str]:
    for suite, ran in results.tested:
        failed = [result for result in ran if result.verdict is Verdict.FAILED]
        good = not failed and not suite.problems
        mark = click.style("ok  ", fg="green") if good else click.style("FAIL", fg="red", bold=True)
        yield f"{mark} {suite.name}  {len(ran) - len(failed)}/{len(ran)}"
        for result in ran if results.verbose else ():
            cost = "-" if result.cost is None else f"{result.cost:,}"
            yield f"     {cost:>12}  {result.case.operation}: {result.case.name}"
        for problem in suite.problems:
            yield f"     {problem}"
        for result in failed:
            yield f"     {click.style(result.case.name, bold=True)} ({result.case.operation})"
            yield from (f"       {line}" for reason in result.reasons for line in reason.splitlines())
            yield from (f"       print: {line}" for line in result.printed.splitlines())
        for _, lost in lost_in(ran):
            yield f"     {click.style('warning:', fg='yellow', bold=True)} {lost}"
        for result in ran:
            if result.verdict is Verdict.NOT_COMPARED:
                yield f"     {result.case.name}: run, but not compared: it has no output to compare with"
    totals = results.totals
    yield click.style(str(totals), fg="green" if totals.is_good else "red", bold=True)
