"""A third language, for a test: a line `Function = json` is a function that answers that JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec

from interpreters.core.coverage import with_lines
from interpreters.core.engine import Limits, Outcome, Script
from interpreters.core.errors import ScriptSyntaxError
from interpreters.core.findings import Finding
from interpreters.core.languages import Language

TOY = Language(
    name="toy",
    suffix=".toy",
    comment=";;",
    engine=f"{__name__}:ToyEngine",
    covering_engine=f"{__name__}:CoveringToyEngine",
    code_lines=f"{__name__}:code_lines",
    findings=f"{__name__}:findings",
)


def functions(text: str) -> Iterator[tuple[int, str, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        if line and not line.startswith(TOY.comment):
            name, _, answer = line.partition(" = ")
            yield number, name, answer


class ToyEngine:
    def functions(self, script: Script, limits: Limits) -> frozenset[str]:
        for number, name, answer in functions(script.text):
            try:
                msgspec.json.decode(answer)
            except msgspec.DecodeError:
                raise ScriptSyntaxError(f"{name} answers no JSON", script=script.name, line=number) from None
        return frozenset(name for _, name, _ in functions(script.text))

    def call(
        self, script: Script, function: str, arguments: Sequence[bytes], limits: Limits, *, reads_only: bool = False
    ) -> Outcome:
        (answer,) = (answer for _, name, answer in functions(script.text) if name == function)
        return Outcome((answer.encode(),), cost=1)


class CoveringToyEngine(ToyEngine):
    def call(
        self, script: Script, function: str, arguments: Sequence[bytes], limits: Limits, *, reads_only: bool = False
    ) -> Outcome:
        outcome = super().call(script, function, arguments, limits, reads_only=reads_only)
        ran = [number for number, name, _ in functions(script.text) if name == function]
        return msgspec.structs.replace(outcome, printed=with_lines(outcome.printed, ran))


def code_lines(text: str) -> frozenset[int]:
    return frozenset(number for number, _, _ in functions(text))


def findings(text: str, ask: Callable[[str], bytes], portable: bool) -> Iterator[Finding]:
    for number, name, answer in functions(text):
        if answer == "null":
            yield Finding(number, 1, "toy", f"{name} answers nothing")
