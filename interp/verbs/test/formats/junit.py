"""Test results as JUnit XML, which most CI services show."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from interp.verbs.test.results import Results
from interpreters.cases import Verdict

_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(results: Results) -> Iterator[str]:
    from xml.etree.ElementTree import Element, SubElement, indent, tostring

    root = Element("testsuites")
    for suite, ran in results.tested:
        failures = sum(result.verdict is Verdict.FAILED for result in ran) + len(suite.problems)
        skipped = sum(result.verdict is Verdict.NOT_COMPARED for result in ran)
        tests = len(ran) + len(suite.problems)
        element = SubElement(
            root, "testsuite", name=suite.name, tests=str(tests), failures=str(failures), skipped=str(skipped)
        )
        for problem in suite.problems:
            case = SubElement(element, "testcase", name="load", classname=suite.name)
            SubElement(case, "failure").text = str(problem)
        for result in ran:
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
