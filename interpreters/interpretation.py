"""The one path from a question to a checked reply, which command line, webhook, estimates and admission all take."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from interpreters.catalog import Catalog, Functions, Offer
from interpreters.core.engine import Outcome, Script
from interpreters.core.errors import ReplyError, RequestError, ScriptError, UnknownTargetError
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.lost_values import lost_values
from interpreters.core.operations import Operation
from interpreters.core.replies import build_reply
from interpreters.core.requirements import Dependency
from interpreters.core.wire import Reply, Request
from interpreters.scan import Candidate, Found, Origin


class Runner(Protocol):
    """Runs a script function and waits for it: the sandbox, as the command line uses it."""

    def call(self, script: Script, function: str, arguments: tuple[bytes, ...], *, reads_only: bool) -> Outcome: ...

    def functions(self, script: Script) -> frozenset[str]: ...


class AsyncRunner(Protocol):
    """The same for a server; `deadline` is a moment of the event loop's clock."""

    async def call(
        self,
        script: Script,
        function: str,
        arguments: tuple[bytes, ...],
        *,
        reads_only: bool,
        deadline: float | None = None,
    ) -> Outcome: ...

    async def functions(self, script: Script) -> frozenset[str]: ...


class Interpretation(Struct, frozen=True):
    """A reply, and how it came about: which scripts answered and what their calls used."""

    reply: Reply
    offers: tuple[Offer, ...]
    outcomes: tuple[Outcome, ...]

    @property
    def printed(self) -> str:
        return "".join(outcome.printed for outcome in self.outcomes)

    @property
    def lost(self) -> list[str]:
        """What the scripts returned and the reply does not hold, a sentence each."""
        answers = zip(self.offers, self.outcomes, strict=True)
        return [lost for offer, outcome in answers for lost in lost_values(offer.operation.answer, outcome.values)]


def request_for(obj: dict[str, Any], operation: Operation, **more: Any) -> Request:
    """A question about an object that did not come over the wire. `more` are further fields of `Request`."""
    metadata = obj.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        raise RequestError(f"object.metadata: expected an object, got {metadata!r:.40}")
    metadata = metadata or {}
    return Request(
        operation=operation,
        kind=GroupVersionKind.of(obj),
        object=msgspec.json.encode(obj),
        name=str(metadata.get("name") or ""),
        namespace=str(metadata.get("namespace") or ""),
        **more,
    )


def interpret(runner: Runner, catalog: Catalog, request: Request) -> Interpretation:
    """Answer one request, waiting for the script. Raises `InterpError`."""
    steps = _steps(catalog, request)
    try:
        offer = next(steps)
        while True:
            try:
                outcome = runner.call(
                    offer.script, offer.function, request.arguments(), reads_only=not request.operation.changes_object
                )
            except ScriptError as error:
                raise _placed(error, offer) from None
            offer = steps.send(outcome)
    except StopIteration as done:
        return _finished(done)


async def interpret_async(
    runner: AsyncRunner, catalog: Catalog, request: Request, deadline: float | None = None
) -> Interpretation:
    """Answer one request without blocking the event loop. Raises `InterpError`."""
    steps = _steps(catalog, request)
    try:
        offer = next(steps)
        while True:
            try:
                outcome = await runner.call(
                    offer.script,
                    offer.function,
                    request.arguments(),
                    reads_only=not request.operation.changes_object,
                    deadline=deadline,
                )
            except ScriptError as error:
                raise _placed(error, offer) from None
            offer = steps.send(outcome)
    except StopIteration as done:
        return _finished(done)


def _finished(done: StopIteration) -> Interpretation:
    interpretation: Interpretation = done.value
    return interpretation


def _steps(catalog: Catalog, request: Request) -> Generator[Offer, Outcome, Interpretation]:
    """Yields each offer to call, is sent what it returned, and returns the interpretation."""
    offers = catalog.find(request.kind, request.operation)
    if offers[0].source.origin is Origin.DEFAULT and not _has_pod_template(request.object):
        raise UnknownTargetError(
            f"no script knows {request.kind}, and it has no pod template in spec.template to fall back on"
        )
    outcomes, replies = [], []
    for offer in offers:
        outcome = yield offer
        outcomes.append(outcome)
        try:
            replies.append(build_reply(request, outcome.values))
        except ReplyError as error:
            error.script, error.function, error.printed = offer.script.name, offer.function, outcome.printed
            raise
    reply = replies[0] if len(replies) == 1 else Reply(dependencies=_united(replies))
    return Interpretation(reply, offers, tuple(outcomes))


def _placed(error: ScriptError, offer: Offer) -> ScriptError:
    """The same error; in a bundled script it names the snippet that the line comes from.

    The default script has no author: what goes wrong in it is wrong with the pod template that it was asked about.
    """
    if offer.source.origin is Origin.DEFAULT:
        error.line, error.function, error.frames = None, None, ()
    if offer.source.origin is Origin.BUNDLED and error.line is not None:
        from interpreters.lua.assemble import position

        snippet, line = position(offer.script.text, error.line)
        error.place = f"{error.script} ({snippet}:{line})" if snippet else ""
    return error


def _has_pod_template(obj: bytes) -> bool:
    spec = msgspec.json.decode(obj).get("spec")
    return isinstance(spec, dict) and isinstance(spec.get("template"), dict)


def _united(replies: Iterable[Reply]) -> list[Dependency]:
    """Several dependency scripts answer together: each dependency once, sorted, as Karmada unites them."""
    by_text = {msgspec.json.encode(one): one for reply in replies for one in reply.dependencies or ()}
    return [by_text[text] for text in sorted(by_text)]


def load_functions(runner: Runner, found: Iterable[Found]) -> Functions:
    """Ask the sandbox what each script defines. A script that does not load is noted, not raised."""
    functions: dict[tuple[str, str], frozenset[str] | ScriptError] = {}
    for entry in found:
        if isinstance(entry, Candidate) and entry.script.content not in functions:
            try:
                functions[entry.script.content] = runner.functions(entry.script)
            except ScriptError as error:
                functions[entry.script.content] = error
    return functions


async def load_functions_async(runner: AsyncRunner, found: Iterable[Found]) -> Functions:
    """The same for a server."""
    functions: dict[tuple[str, str], frozenset[str] | ScriptError] = {}
    for entry in found:
        if isinstance(entry, Candidate) and entry.script.content not in functions:
            try:
                functions[entry.script.content] = await runner.functions(entry.script)
            except ScriptError as error:
                functions[entry.script.content] = error
    return functions
