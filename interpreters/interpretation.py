"""The one path from a question to a checked reply, which command line, webhook, estimates and admission all take."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, Final, Protocol

import msgspec
from msgspec import Raw, Struct

from interpreters.background import Background
from interpreters.catalog import Catalog, Functions, Offer
from interpreters.core.engine import Outcome, Script
from interpreters.core.errors import BusyError, ReplyError, RequestError, ScriptError, UnknownTargetError
from interpreters.core.json_values import decoded
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.lost_values import lost_values
from interpreters.core.operations import Operation
from interpreters.core.replies import build_reply
from interpreters.core.secrets import holds_secret, without_values
from interpreters.core.wire import Reply, Request
from interpreters.scan import Candidate, Found, Origin

LOADING_SECONDS: Final = 120.0
"""For all scripts of an author together: thousands take some seconds, unless they do more than define functions."""


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

    async def functions(self, script: Script, *, deadline: float | None = None) -> frozenset[str]: ...


class Interpretation(Struct, frozen=True):
    """A reply, and how it came about: which scripts answered to what and what their calls used."""

    request: Request
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
        lost = [one for offer, outcome in answers for one in lost_values(offer.operation.answer, outcome.values)]
        texts = self.request.arguments()
        return [without_values(one, *texts) for one in lost] if lost and holds_secret(*texts) else lost


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
    offers, outcomes, replies = catalog.find(request.kind, request.operation), [], []
    if offers[0].candidate.source.origin is Origin.DEFAULT:
        _check_pod_template(request)
    for offer in offers:
        arguments, reads_only = request.arguments(), not request.operation.changes_object
        try:
            outcome = runner.call(offer.candidate.script, offer.function, arguments, reads_only=reads_only)
        except ScriptError as error:
            raise _discreet(_placed(error, offer), request) from None
        replies.append(_checked_reply(request, offer, outcome))
        outcomes.append(outcome)
    return Interpretation(request, replies[0] if len(replies) == 1 else _united(replies), offers, tuple(outcomes))


async def interpret_async(
    runner: AsyncRunner, background: Background, catalog: Catalog, request: Request, deadline: float | None = None
) -> Interpretation:
    """Answer one request without blocking the event loop. Raises `InterpError`."""
    offers, outcomes, replies = catalog.find(request.kind, request.operation), [], []
    if offers[0].candidate.source.origin is Origin.DEFAULT:
        _check_pod_template(request)
    changes_object = request.operation.changes_object
    for offer in offers:
        script, arguments = offer.candidate.script, request.arguments()
        try:
            outcome = await runner.call(
                script, offer.function, arguments, reads_only=not changes_object, deadline=deadline
            )
        except ScriptError as error:
            raise _discreet(_placed(error, offer), request) from None
        size = sum(map(len, outcome.values)) + (len(request.object) if changes_object else 0)
        replies.append(await background.run(size, deadline, _checked_reply, request, offer, outcome))
        outcomes.append(outcome)
    return Interpretation(request, replies[0] if len(replies) == 1 else _united(replies), offers, tuple(outcomes))


def _checked_reply(request: Request, offer: Offer, outcome: Outcome) -> Reply:
    """What an offer answered. Raises `ReplyError` if that is no reply."""
    try:
        return build_reply(request, outcome.values)
    except ReplyError as error:
        error.script, error.function, error.printed = offer.script.name, offer.function, outcome.printed
        raise _discreet(error, request) from None


def _discreet(error: ScriptError, request: Request) -> ScriptError:
    """The same error without the values of a Secret."""
    texts = request.arguments()
    if holds_secret(*texts):
        error.message = without_values(error.message, *texts)
    return error


def _placed(error: ScriptError, offer: Offer) -> ScriptError:
    """The same error; in a bundled script it names the snippet that the line comes from.

    The default script has no author: what goes wrong in it is wrong with the pod template that it was asked about.
    """
    if offer.source.origin is Origin.DEFAULT:
        error.line, error.function, error.frames = None, None, ()
    if offer.source.origin is Origin.BUNDLED and error.line is not None:
        from interpreters.snippets import position

        snippet, line = position(offer.script.text, error.line)
        error.place = f"{error.script} ({snippet}:{line})" if snippet else ""
    return error


class _PodSpec(Struct):
    template: Raw = Raw()


class _Object(Struct):
    spec: Raw = Raw()


def _check_pod_template(request: Request) -> None:
    """Raise `UnknownTargetError` unless there is an object in `spec.template`. Nothing else is decoded: this runs on
    the event loop."""
    spec = bytes(decoded(request.object, _unreadable, _Object).spec)
    if spec[:1] != b"{" or bytes(decoded(spec, _unreadable, _PodSpec).template)[:1] != b"{":
        raise UnknownTargetError(
            f"no script knows {request.kind}, and it has no pod template in spec.template to fall back on"
        )


def _unreadable(why: str) -> RequestError:
    return RequestError(f"request.object: {why}")


def _united(replies: Iterable[Reply]) -> Reply:
    """Several dependency scripts answer together: each dependency once, sorted, as Karmada unites them."""
    by_text = {msgspec.json.encode(one): one for reply in replies for one in reply.dependencies or ()}
    return Reply(dependencies=[by_text[text] for text in sorted(by_text)])


def load_functions(runner: Runner, found: Iterable[Found]) -> Functions:
    """Ask the sandbox what each script defines. A script that does not load is noted, not raised."""
    functions: dict[tuple[str, str, str], frozenset[str] | ScriptError] = {}
    for entry in found:
        if isinstance(entry, Candidate) and entry.script.content not in functions:
            try:
                functions[entry.script.content] = runner.functions(entry.script)
            except ScriptError as error:
                functions[entry.script.content] = error
    return functions


async def load_functions_async(runner: AsyncRunner, found: Iterable[Found]) -> Functions:
    """The same for a server: of all authors at the same time, and of none for ever."""
    functions: dict[tuple[str, str, str], frozenset[str] | ScriptError] = {}
    deadline = asyncio.get_running_loop().time() + LOADING_SECONDS

    async def load(scripts: Iterable[Script]) -> None:
        for script in scripts:
            try:
                functions[script.content] = await runner.functions(script, deadline=deadline)
            except ScriptError as error:
                functions[script.content] = error
            except BusyError as error:
                functions[script.content] = ScriptError(f"not loaded: {error}", script=script.name)

    by_author: dict[str, dict[tuple[str, str, str], Script]] = defaultdict(dict)
    for entry in found:
        if isinstance(entry, Candidate):
            by_author[entry.script.author].setdefault(entry.script.content, entry.script)
    await asyncio.gather(*(load(scripts.values()) for scripts in by_author.values()))
    return functions
