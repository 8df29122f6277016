"""Mistakes in scripts, found before Karmada finds them: in the text, in the names, in the cases and in the replies.

To add a rule, write a function that yields `Remark`s for a `Linted` script and mark it with `@rule`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pkgutil import resolve_name
from typing import Any, Final

import msgspec

from interpreters.cases import Result, case_request, run_case
from interpreters.components import declared_several
from interpreters.core.division import Division
from interpreters.core.engine import Script
from interpreters.core.errors import InputError, InterpError, ScriptError, ScriptSyntaxError
from interpreters.core.findings import Finding
from interpreters.core.languages import LANGUAGES
from interpreters.core.operations import BY_FUNCTION, BY_NAME, OPERATIONS, Answer, Argument, Operation, meant_function
from interpreters.core.quantity import NANO, Quantity
from interpreters.core.requirements import ComponentRequirements
from interpreters.core.wire import Reply
from interpreters.division_proof import Asked, against_division, against_wholeness, without_clock
from interpreters.headers import declaration, division_of
from interpreters.interpretation import Runner, interpret, request_for
from interpreters.retention import retains, second_retain
from interpreters.scan import Candidate, Origin, operations_of
from interpreters.suites import Suite, load_suite, lost_in

_MOST_CPU: Final = 10_000
_SMALLEST_MEMORY: Final = 1024  # bytes; less than that is a unit gone wrong


@dataclass(frozen=True, slots=True)
class Remark:
    """A finding and the file it is about."""

    file: str
    finding: Finding

    def __str__(self) -> str:
        found = self.finding
        return f"{self.file}:{found.line}:{found.column}: {found.rule}: {found.message}"


@dataclass(frozen=True)
class Linted:
    """A script that loads, with its functions and cases."""

    candidate: Candidate
    functions: frozenset[str]
    suite: Suite
    results: tuple[Result, ...]
    runner: Runner
    portable: bool

    def remark(self, rule: str, message: str, line: int = 1, column: int = 1) -> Remark:
        return Remark(self.candidate.script.name, Finding(line, column, rule, message))

    def line_of(self, function: str) -> int:
        """Where a function is defined, as far as the text shows it."""
        for number, line in enumerate(self.candidate.script.text.splitlines(), 1):
            if f"function {function}" in line or f"def {function}" in line or line.startswith(f"{function} ="):
                return number
        return 1


Rule = Callable[[Linted], Iterator[Remark]]
RULES: Final[list[Rule]] = []


def rule(check: Rule) -> Rule:
    """Mark a function as a rule; they are asked in the order in which they are written."""
    RULES.append(check)
    return check


def lint_script(runner: Runner, candidate: Candidate, *, portable: bool = False) -> list[Remark]:
    """All remarks on one script, in the order of its lines. A script that does not load has just that one."""
    script = candidate.script
    try:
        functions = runner.functions(script)
    except ScriptError as error:
        return _unloadable(runner, script, error)
    suite = load_suite(runner, script.name, [candidate])
    results = tuple(run_case(runner, suite.catalog, case) for case in suite.cases)
    linted = Linted(candidate, functions, suite, results, runner, portable)
    remarks = [_placed(remark, candidate) for check in RULES for remark in check(linted)]
    return sorted(dict.fromkeys(remarks), key=lambda remark: (remark.file != script.name, remark.file, remark.finding))


def _placed(remark: Remark, candidate: Candidate) -> Remark:
    """A remark on a line that a bundled script has from a snippet is about the snippet."""
    if candidate.source.origin is not Origin.BUNDLED:
        return remark
    from interpreters.snippets import position

    snippet, line = position(candidate.script.text, remark.finding.line)
    if snippet is None:
        return remark
    return Remark(f"bundled/{snippet}", replace(remark.finding, line=line))


def _findings(runner: Runner, script: Script, *, portable: bool) -> list[Finding]:
    """What the language has to say about a text."""

    def ask(function: str) -> bytes:
        return runner.call(script, function, (), reads_only=True).values[0]

    return list(resolve_name(LANGUAGES[script.language].findings)(script.text, ask, portable))


def _unloadable(runner: Runner, script: Script, error: ScriptError) -> list[Remark]:
    """Why a script does not load. Where a language resolves all names first, its findings say more than the error."""
    if isinstance(error, ScriptSyntaxError):
        found = [Remark(script.name, finding) for finding in _findings(runner, script, portable=False)]
        if found:
            return found
    return [Remark(script.name, Finding(error.line or 1, 1, error.kind, error.message))]


@rule
def _text(linted: Linted) -> Iterator[Remark]:
    script = linted.candidate.script
    for finding in _findings(linted.runner, script, portable=linted.portable):
        yield Remark(script.name, finding)
    # A bundled script in another language is an alternative to the Lua one, which is what goes to Karmada.
    if (
        linted.portable
        and not LANGUAGES[script.language].runs_in_karmada
        and linted.candidate.source.origin is not Origin.BUNDLED
    ):
        yield linted.remark("not-portable", f"Karmada runs Lua only, not {script.language}")


@rule
def _misnamed(linted: Linted) -> Iterator[Remark]:
    for function in sorted(linted.functions):
        if meant := meant_function(function):
            message = f"{function} is never called; did you mean {meant}?"
            yield linted.remark("misnamed-function", message, linted.line_of(function))
    if not operations_of(linted.functions):
        known = ", ".join(BY_FUNCTION)
        yield linted.remark("offers-nothing", f"no function that Karmada calls; it calls {known}")


@rule
def _twice(linted: Linted) -> Iterator[Remark]:
    for operation in BY_NAME.values():
        both = [function for function in operation.functions if function in linted.functions]
        if len(both) > 1:
            message = f"{' and '.join(both)} are two names of one operation; keep one"
            yield linted.remark("two-names", message, linted.line_of(both[1]))


@rule
def _cases(linted: Linted) -> Iterator[Remark]:
    for problem in linted.suite.problems:
        yield linted.remark("missing-cases", str(problem))
    if linted.suite.cases and linted.candidate.operations is None:
        tested = {case.operation for case in linted.suite.cases}
        for operation, function in operations_of(linted.functions).items():
            if operation not in tested:
                yield linted.remark("missing-cases", f"no case asks {function}", linted.line_of(function))


@rule
def _replies(linted: Linted) -> Iterator[Remark]:
    """Replies that are valid but look wrong: units gone astray."""
    for result in linted.results:
        if result.interpretation is None:
            continue
        line = linted.line_of(result.interpretation.offers[0].function)
        for where, replicas, needs in _needs(result.interpretation.reply):
            for message in _suspicious(needs):
                yield linted.remark("suspicious-reply", f"case {result.case.name!r}: {where}: {message}", line)
            if not replicas and needs.resource_request and result.case.expects_nothing:
                message = f"case {result.case.name!r}: {where}: requests resources for no replicas"
                yield linted.remark("suspicious-reply", message, line)


@rule
def _lost(linted: Linted) -> Iterator[Remark]:
    """Misspelt fields, which the contract drops without a word, and fractions of replicas."""
    for result, message in lost_in(linted.results):
        offers = result.interpretation.offers if result.interpretation else ()
        yield linted.remark("lost-value", message, linted.line_of(offers[0].function) if offers else 1)


def _needs(reply: Reply) -> Iterator[tuple[str, int, ComponentRequirements]]:
    if reply.replica_requirements is not None:
        yield "replicaRequirements", reply.replicas or 0, reply.replica_requirements
    for component in reply.components or ():
        if component.replica_requirements is not None:
            yield f"component {component.name}", component.replicas, component.replica_requirements


def _suspicious(needs: ComponentRequirements) -> Iterator[str]:
    for name, text in needs.resource_request.items():
        amount = Quantity.parse(text)
        if name == "cpu" and amount > Quantity.of(_MOST_CPU):
            yield f"cpu {text} is more than {_MOST_CPU} cores; a unit lost on the way?"
        elif name in ("memory", "ephemeral-storage") and (amount.nano % NANO or 0 < amount.value < _SMALLEST_MEMORY):
            yield f"{name} {text} is a fraction of a byte or next to nothing; in Kubernetes m is milli, Mi is mebi"


@rule
def _scaled_to_zero(linted: Linted) -> Iterator[Remark]:
    """Karmada asks ReviseReplica for 0 replicas of workloads with components; a script that obeys stops them."""
    offered = operations_of(linted.functions)
    components = next((op for op in offered if op.answer is Answer.COMPONENTS), None)
    revise = next((op for op in offered if Argument.REPLICAS in op.arguments), None)
    if components is None or revise is None:
        return
    for result in linted.results:
        found = result.interpretation
        if result.case.operation is not components or found is None or len(found.reply.components or ()) < 2:
            continue
        request = msgspec.structs.replace(case_request(result.case), operation=revise, replicas=0)
        try:
            scaled = interpret(linted.runner, linted.suite.catalog, request)
        except InterpError as error:
            message = f"case {result.case.name!r}: fails when asked for 0 replicas, as Karmada does: {error}"
            yield linted.remark("scaled-to-zero", message, linted.line_of(revise.function))
            continue
        if scaled.reply.patch:
            message = f"case {result.case.name!r}: changes the object when asked for 0 replicas, as Karmada does"
            yield linted.remark("scaled-to-zero", message, linted.line_of(revise.function))


@rule
def _retained_twice(linted: Linted) -> Iterator[Remark]:
    """Karmada calls Retain again and again; one whose second answer differs makes it write to the member each time."""
    for result in linted.results:
        case, first = result.case, result.interpretation
        if first is None or case.observed is None or not retains(case.operation):
            continue
        changes = list(second_retain(linted.runner, linted.suite.catalog, first, case.object, case.observed))
        if changes:
            line = linted.line_of(first.offers[0].function)
            yield linted.remark("retain-not-idempotent", f"case {case.name!r}: {changes[0]}", line)


@rule
def _division(linted: Linted) -> Iterator[Remark]:
    """Whether the kind may be divided is declared, and the revision keeps to it on every case object."""
    offered = operations_of(linted.functions)
    counting = [operation for operation in offered if operation in (*_COUNTING, _REVISE)]
    if not counting or linted.candidate.source.origin is Origin.DEFAULT:
        return
    line = linted.line_of(offered[counting[0]])
    try:
        division = division_of(linted.candidate.header)
    except InputError as error:
        yield linted.remark("division", str(error))
        return
    if division is None:
        script, annotated = linted.candidate.script, linted.candidate.operations is not None
        how = declaration(linted.candidate.header, script.text, script.language, annotated=annotated)
        yield linted.remark("division", f"{_UNDECLARED}; {how}", line)
        return
    samples = _case_objects(linted)
    if _REVISE not in offered or not samples:
        return
    wrong = None
    if division is Division.WHOLE:
        wrong = against_wholeness(_asking(linted), samples)
    elif division is Division.DIVIDES and _REPLICAS in offered:
        wrong = against_division(_asking(linted), samples)
    if wrong:
        yield linted.remark("division", f"declared {division}, but {wrong}", linted.line_of(offered[_REVISE]))


@rule
def _components(linted: Linted) -> Iterator[Remark]:
    """Whether the kind has several components is declared in a word that is known."""
    try:
        declared_several(linted.candidate.header)
    except InputError as error:
        yield linted.remark("components", str(error))


_COUNTING: Final = tuple(op for op in OPERATIONS if op.answer in (Answer.REPLICAS, Answer.COMPONENTS))
_REPLICAS: Final = next(operation for operation in OPERATIONS if operation.answer is Answer.REPLICAS)
_REVISE: Final = next(operation for operation in OPERATIONS if Argument.REPLICAS in operation.arguments)
_UNDECLARED: Final = "it does not say whether the kind may be divided, so Karmada cannot be told its pods"


def _case_objects(linted: Linted) -> list[tuple[str, dict[str, Any]]]:
    cases = (result.case for result in linted.results if result.case.want_error is None)
    return [(f"case {case.name!r}", case.object) for case in cases]


def _asking(linted: Linted) -> Asked:
    catalog = without_clock(linted.suite.catalog)

    def ask(operation: Operation, obj: dict[str, Any], replicas: int = 0) -> Reply:
        request = request_for(obj, operation, replicas=replicas)
        return interpret(linted.runner, catalog, request).reply

    return ask
