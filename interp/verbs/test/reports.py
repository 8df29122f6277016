"""Test results in the words of whoever reads them: people, JSON, JUnit, TAP, GitHub annotations and Markdown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Annotated, Final

import click
import msgspec
from msgspec import Meta

from interp.output.github import github_annotation
from interp.output.text import counted
from interpreters.cases import Result, Verdict
from interpreters.core.requirements import Wire
from interpreters.suites import Suite, lost_in

_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
Tested = tuple[Suite, list[Result]]


class Totals(Wire, frozen=True, omit_defaults=False):
    passed: int
    failed: int
    problems: int
    not_compared: int

    @classmethod
    def of(cls, tested: list[Tested]) -> Totals:
        count = Counter(result.verdict for _, results in tested for result in results)
        problems = sum(len(suite.problems) for suite, _ in tested)
        return cls(count[Verdict.PASSED], count[Verdict.FAILED], problems, count[Verdict.NOT_COMPARED])

    @property
    def is_good(self) -> bool:
        return not self.failed and not self.problems

    def __str__(self) -> str:
        parts = [f"{self.passed} passed", f"{self.failed} failed"]
        if self.not_compared:
            parts.append(f"{self.not_compared} not compared")
        if self.problems:
            parts.append(counted(self.problems, "problem"))
        return ", ".join(parts)


class ReportedCase(Wire, frozen=True, omit_defaults=False):
    name: str
    operation: str
    file: str
    verdict: Verdict
    cost: Annotated[int | None, Meta(description="What the call cost, counted; null where it failed.")]
    seconds: float
    reasons: list[str]
    warnings: Annotated[list[str], Meta(description="What the script returned and the reply does not hold.")]


class ReportedSuite(Wire, frozen=True, omit_defaults=False):
    name: str
    problems: list[str]
    cases: list[ReportedCase]


class SuitesReport(Wire, frozen=True, omit_defaults=False):
    """Everything that `interp test -o json` prints."""

    suites: list[ReportedSuite]
    totals: Totals


def verbose_text(tested: list[Tested]) -> Iterator[str]:
    """As `text`, with a line for every case and what it cost."""
    return text(tested, verbose=True)


def text(tested: list[Tested], *, verbose: bool = False) -> Iterator[str]:
    for suite, results in tested:
        failed = [result for result in results if result.verdict is Verdict.FAILED]
        good = not failed and not suite.problems
        mark = click.style("ok  ", fg="green") if good else click.style("FAIL", fg="red", bold=True)
        yield f"{mark} {suite.name}  {len(results) - len(failed)}/{len(results)}"
        for result in results if verbose else ():
            cost = "-" if result.cost is None else f"{result.cost:,}"
            yield f"     {cost:>12}  {result.case.operation}: {result.case.name}"
        for problem in suite.problems:
            yield f"     {problem}"
        for result in failed:
            yield f"     {click.style(result.case.name, bold=True)} ({result.case.operation})"
            yield from (f"       {line}" for reason in result.reasons for line in reason.splitlines())
            yield from (f"       print: {line}" for line in result.printed.splitlines())
        for _, lost in lost_in(results):
            yield f"     {click.style('warning:', fg='yellow', bold=True)} {lost}"
        for result in results:
            if result.verdict is Verdict.NOT_COMPARED:
                yield f"     {result.case.name}: run, but not compared: it has no output to compare with"
    totals = Totals.of(tested)
    yield click.style(str(totals), fg="green" if totals.is_good else "red", bold=True)


def as_json(tested: list[Tested]) -> Iterator[str]:
    suites = [
        ReportedSuite(suite.name, [str(problem) for problem in suite.problems], list(map(_reported_case, results)))
        for suite, results in tested
    ]
    report = SuitesReport(suites, Totals.of(tested))
    yield msgspec.json.format(msgspec.json.encode(report), indent=2).decode()


def _reported_case(result: Result) -> ReportedCase:
    return ReportedCase(
        result.case.name,
        result.case.operation.name,
        str(result.case.file),
        result.verdict,
        result.cost,
        round(result.seconds, 6),
        list(result.reasons),
        list(result.lost),
    )


def junit(tested: list[Tested]) -> Iterator[str]:
    from xml.etree.ElementTree import Element, SubElement, indent, tostring

    root = Element("testsuites")
    for suite, results in tested:
        failures = sum(result.verdict is Verdict.FAILED for result in results) + len(suite.problems)
        skipped = sum(result.verdict is Verdict.NOT_COMPARED for result in results)
        tests = len(results) + len(suite.problems)
        element = SubElement(
            root, "testsuite", name=suite.name, tests=str(tests), failures=str(failures), skipped=str(skipped)
        )
        for problem in suite.problems:
            case = SubElement(element, "testcase", name="load", classname=suite.name)
            SubElement(case, "failure").text = str(problem)
        for result in results:
            case = SubElement(
                element, "testcase", name=result.case.name, classname=suite.name, time=f"{result.seconds:.6f}"
            )
            if result.verdict is Verdict.FAILED:
                SubElement(case, "failure").text = "\n".join(result.reasons)
            elif result.verdict is Verdict.NOT_COMPARED:
                SubElement(case, "skipped", message="no output to compare with")
            if result.lost:
                SubElement(case, "system-out").text = "\n".join(f"warning: {lost}" for lost in result.lost)
    indent(root)
    yield _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", tostring(root, encoding="unicode", xml_declaration=True))


def tap(tested: list[Tested]) -> Iterator[str]:
    yield "TAP version 13"
    number = 0
    for suite, results in tested:
        for problem in suite.problems:
            number += 1
            yield f"not ok {number} - {_tap_name(f'{suite.name}: {problem}')}"
        for result in results:
            number += 1
            word = "not ok" if result.verdict is Verdict.FAILED else "ok"
            skip = " # SKIP no output to compare with" if result.verdict is Verdict.NOT_COMPARED else ""
            yield f"{word} {number} - {_tap_name(f'{suite.name}: {result.case.name}')}{skip}"
            yield from (f"# {line}" for reason in result.reasons for line in reason.splitlines())
            yield from (f"# warning: {lost}" for lost in result.lost)
    yield f"1..{number}"


def _tap_name(text: str) -> str:
    """One line, in which a # begins no directive."""
    return " ".join(text.split()).replace("\\", "\\\\").replace("#", "\\#")


def github(tested: list[Tested]) -> Iterator[str]:
    for suite, results in tested:
        yield from (github_annotation(str(problem), title=suite.name) for problem in suite.problems)
        for result in results:
            if result.verdict is Verdict.FAILED:
                yield github_annotation("\n".join(result.reasons), file=result.case.file, title=result.case.name)
        for result, lost in lost_in(results):
            yield github_annotation(lost, level="warning", file=result.case.file, title=suite.name)
    yield str(Totals.of(tested))


def markdown(tested: list[Tested]) -> Iterator[str]:
    yield "| scripts | cases | failed |"
    yield "|---|---:|---:|"
    for suite, results in tested:
        failed = sum(result.verdict is Verdict.FAILED for result in results) + len(suite.problems)
        yield f"| `{suite.name}` | {len(results)} | {failed} |"
    yield ""
    for suite, results in tested:
        yield from (f"- **{suite.name}**: {problem}" for problem in suite.problems)
        for result in results:
            if result.verdict is Verdict.FAILED:
                yield f"- **{suite.name}**, {result.case.name}:"
                yield from (f"  - `{reason}`" for reason in result.reasons)
        yield from (f"- **{suite.name}**, warning: {lost}" for _, lost in lost_in(results))
    yield f"**{Totals.of(tested)}**"


REPORTS: Final[dict[str, Callable[[list[Tested]], Iterator[str]]]] = {
    "text": text,
    "json": as_json,
    "junit": junit,
    "tap": tap,
    "github": github,
    "markdown": markdown,
}
