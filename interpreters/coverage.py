"""Line coverage of scripts by their cases: engines that watch, and what their reports add up to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pkgutil import resolve_name

from interpreters.cases import Result
from interpreters.core.coverage import Coverage, split_lines
from interpreters.core.engine import Script
from interpreters.core.errors import ScriptError
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.languages import LANGUAGES
from interpreters.snippets import positions
from interpreters.suites import Suite


def covering_engines() -> dict[str, str]:
    return {language.name: language.covering_engine for language in LANGUAGES.values()}


Watched = tuple[Result, frozenset[int]]


def without_marks(result: Result) -> Watched:
    """A result as if nobody had watched, and the lines that ran."""
    printed, lines = split_lines(result.printed)
    if isinstance(result.error, ScriptError):
        result.error.printed = split_lines(result.error.printed)[0]
    return replace(result, printed=printed), lines


def coverage_of(suites: Iterable[tuple[Suite, list[Watched]]]) -> list[Coverage]:
    """One entry a script, and one for each snippet that bundled scripts share, by name."""
    files: dict[str, _File] = defaultdict(_File)
    for suite, watched in suites:
        ran: dict[Script, set[int]] = defaultdict(set)
        for result, lines in watched:
            if not lines:
                continue  # no script was asked: a case of a kind that none knows, or a script that does not load
            for offer in suite.catalog.find(GroupVersionKind.of(result.case.object), result.case.operation):
                ran[offer.script] |= lines
        for script in {offer.script for offers in suite.catalog.offers.values() for offer in offers}:
            code = resolve_name(LANGUAGES[script.language].code_lines)(script.text)
            lines_of_text = script.text.splitlines()
            for number, (snippet, at) in enumerate(positions(script.text), 1):
                file = files[snippet or script.name]
                file.text[at] = lines_of_text[number - 1]
                if number in code:
                    file.code.add(at)
                if number in ran[script]:
                    file.ran.add(at)
    return [file.coverage(name) for name, file in sorted(files.items())]


@dataclass
class _File:
    text: dict[int, str] = field(default_factory=dict)
    code: set[int] = field(default_factory=set)
    ran: set[int] = field(default_factory=set)

    def coverage(self, name: str) -> Coverage:
        text = "\n".join(self.text.get(number, "") for number in range(1, max(self.text) + 1))
        return Coverage(name, text, frozenset(self.code), frozenset(self.ran))
