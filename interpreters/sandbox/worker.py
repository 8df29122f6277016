"""The worker process: reads calls from its socket, runs them in an engine, writes the answers back.

Started by `process.start` as `python -I -S`; its only descriptors are the socket (3) and a pipe for what a crashing
runtime writes (2). Engines are imported by name when the first frame asks for them; after that the process is sealed.
"""

from __future__ import annotations

import _thread
import contextlib
import gc
import importlib
import os
import resource
import sys
from time import perf_counter
from typing import NoReturn

from interpreters.core.engine import Engine, Limits, Outcome, Script
from interpreters.core.errors import LimitError, ScriptError
from interpreters.sandbox import confinement
from interpreters.sandbox.messages import (
    LARGEST_FRAME,
    LONGEST_NAME,
    MOST_NAMES,
    Answer,
    Call,
    Failure,
    FrameBuffer,
    Load,
    Names,
    Ready,
    Reply,
    decode_request,
    encode,
    failure_of,
    shortened,
)

SOCKET = 3
_CHUNK = 256 * 1024
_for_ever = _thread.allocate_lock()


class Worker:
    """Engines by language, scripts by slot, and how much of this process's life is used up."""

    def __init__(self, load: Load, resident: int | None) -> None:
        self.limits = load.limits
        self.engines: dict[str, Engine] = {}
        self.missing: dict[str, str] = {}
        self.scripts: dict[int, Script] = {}
        self.recycle_resident = load.recycle_resident
        self._resident = resident
        for language, name in load.engines.items():
            try:
                self.engines[language] = _import_engine(name)
            except Exception as error:  # whatever is wrong with one language, the others still work
                self.missing[language] = shortened(f"{type(error).__name__}: {error}")
        self._peak_at_start = _peak_resident()

    def answer(self, call: Call) -> Reply:
        if call.script is not None:
            self.scripts[call.slot] = call.script
        script = self.scripts[call.slot]
        limits = call.limits or self.limits
        try:
            engine = self.engines.get(script.language)
            if engine is None:
                why = self.missing.get(script.language, "no such language")
                return self._internal(f"the {script.language} engine is not available: {why}")
            if not call.function:
                return Names(_function_names(engine, script, limits), self.heavy())
            started = perf_counter()
            outcome = engine.call(script, call.function, call.arguments, limits, reads_only=call.reads_only)
            seconds = perf_counter() - started
            if sum(map(len, outcome.values)) > limits.output:
                error = LimitError("output", f"the result is larger than {limits.output} bytes")
                return failure_of(error, heavy=self.heavy())
            memory = outcome.memory or max(0, _peak_resident() - self._peak_at_start)
            printed = outcome.printed[: limits.printed]
            return Answer(Outcome(outcome.values, printed, seconds, memory, outcome.cost), self.heavy())
        except ScriptError as failed:
            return failure_of(failed, printed=limits.printed, heavy=self.heavy())
        except MemoryError:
            return failure_of(LimitError("memory", "not enough memory"), heavy=True)
        except RecursionError:
            return failure_of(LimitError("stack", "nested too deeply"), heavy=self.heavy())
        except Exception as bug:  # an engine's bug must not look like a lost worker
            return self._internal(f"{type(bug).__name__}: {bug}")

    def heavy(self) -> bool:
        """Whether too much memory is held now, after the call. The peak is cheap to ask for and says that it is not."""
        if self._resident is None or _peak_resident() <= self.recycle_resident:
            return False
        pages = int(os.pread(self._resident, 100, 0).split()[1])
        return pages * resource.getpagesize() > self.recycle_resident

    def _internal(self, message: str) -> Failure:
        """A mistake of ours. Of several lines the others are a stack trace, which is nobody's business outside."""
        line = shortened(message.partition("\n")[0])
        return Failure("internal", line, "", None, None, [], "", "", self.heavy())


def _function_names(engine: Engine, script: Script, limits: Limits) -> frozenset[str]:
    functions = engine.functions(script, limits)
    if len(functions) > MOST_NAMES or any(len(name) > LONGEST_NAME for name in functions):
        raise ScriptError(
            f"expected at most {MOST_NAMES} functions with names of at most {LONGEST_NAME} characters, got more"
        )
    return functions


def _import_engine(name: str) -> Engine:
    module, _, attribute = name.partition(":")
    engine: Engine = getattr(importlib.import_module(module), attribute)()
    return engine


def _peak_resident() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1024 if confinement.LINUX else 1)


class Inbox:
    """The parent's frames in the order they came; several may have come at once."""

    def __init__(self) -> None:
        self._frames = FrameBuffer(limit=LARGEST_FRAME)

    def receive(self) -> Load | Call:
        payload = self._frames.take() if self._frames.pending else None
        while payload is None:
            chunk = os.read(SOCKET, _CHUNK)
            if not chunk:
                os._exit(0)  # the parent closed its end: nobody waits for an answer
            payload = self._frames.take(chunk)
        return decode_request(payload)


def send(reply: Reply) -> None:
    try:
        frame = encode(reply)
    except UnicodeEncodeError:
        problem = "the engine returned text that is not Unicode"
        frame = encode(Failure("internal", problem, "", None, None, [], "", "", heavy=False))
    sent = os.write(SOCKET, frame)
    while sent < len(frame):
        sent += os.write(SOCKET, memoryview(frame)[sent : sent + _CHUNK])


def main(parent: int, preload: list[str]) -> NoReturn:
    """Confine, load, seal, then serve until the parent hangs up or kills."""
    report = confinement.confine(parent)
    for module in preload:
        importlib.import_module(module)
    resident = None
    with contextlib.suppress(OSError):  # no /proc here: then only the number of calls ends a worker's life
        resident = os.open("/proc/self/statm", os.O_RDONLY)
    inbox = Inbox()
    load = inbox.receive()
    if not isinstance(load, Load):
        sys.exit("the first frame must say what to load")
    worker = Worker(load, resident)
    gc.collect()
    gc.freeze()
    send(Ready(worker.missing, report | confinement.seal(load.limits)))
    _thread.start_new_thread(_serve, (worker, inbox))
    while True:
        _for_ever.acquire()


def _serve(worker: Worker, inbox: Inbox) -> NoReturn:
    """Not in the main thread: there, entering Go makes the C library read a file under /proc, which is refused."""
    try:
        while True:
            call = inbox.receive()
            if isinstance(call, Call):
                send(worker.answer(call))
    finally:
        os._exit(1)
