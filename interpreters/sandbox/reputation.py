"""What each script has done to its workers so far, and what it may therefore use: a fast one is pipelined, a suspect
one shares half of the workers, one in quarantine is not run. Pure: is told the time.

A script is known by its digest, so a changed text starts afresh.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from functools import lru_cache
from hashlib import blake2b
from math import inf
from typing import Protocol, TypeVar

from msgspec import Struct

from interpreters.core.engine import BUNDLED, Script
from interpreters.core.errors import BusyError, QuarantinedError
from interpreters.sandbox.calls import Task

K = TypeVar("K")
V = TypeVar("V")

FAST_SECONDS = 0.002
"""Seconds within which a fast script answers."""

FAST_ANSWERS = 32
"""Answers in a row, each within that time, after which a script counts as fast."""

RESPAWNS = 20
"""Workers that one script may cost in a burst, on whatever objects."""

RESPAWN_SECONDS = 3.0
"""After so long it may cost one more: starting workers for it then takes a twentieth of a core at most."""

MUCH_SMALLER = 2
"""So many times smaller than the smallest call that cost a worker is a call that need not wait for the budget."""

_Subject = str | tuple[str, bytes]
"""A script's digest, alone or with the digest of a call."""

REMEMBERED = 10_000
"""Entries kept in each table; the oldest is removed first."""


@lru_cache(maxsize=1024)
def digest_of(script: Script) -> str:
    """The digest of an author's script, without hashing its text on every call."""
    return f"{script.author}\0{script.digest}"


class Reputation(Struct, eq=False):
    """How one script has answered so far, and until when it is suspect: it used up its time, or lost a worker."""

    has_replied: bool = False  # in time, with an answer or an error
    has_answered: bool = False
    fast_answers: int = 0  # in a row, up to now
    suspect_until: float = -inf

    def note_reply(self, seconds: float | None = None) -> None:
        """It replied in time; with an answer if it took `seconds`."""
        self.has_replied = True
        if seconds is None or seconds > FAST_SECONDS:
            self.fast_answers = 0
        else:
            self.fast_answers += 1
        if seconds is not None:
            self.has_answered = True

    def is_fast(self, now: float) -> bool:
        """It has answered fast many times in a row, and is not suspect."""
        return self.fast_answers >= FAST_ANSWERS and self.suspect_until < now


class _Budget(Struct, frozen=True):
    """How many workers a script may still cost, since when, and the size of the smallest call that cost one."""

    left: float
    since: float
    smallest: int


class Quarantine(Struct, frozen=True):
    """What is not run for a while, and what it lost its workers to, most frequent reason first."""

    script: str
    whole: bool  # the script, or only its calls with the same arguments
    losses: int
    reasons: tuple[tuple[str, int], ...]
    until: float
    seconds: float

    def __str__(self) -> str:
        reasons = ", ".join(f"{count} by {reason}" for reason, count in self.reasons)
        lost = f"lost {self.losses} workers ({reasons}) and is tried again"
        if self.whole:
            return f"in quarantine: it {lost} when its text changes, or after {self.seconds:g} s"
        return f"in quarantine: on this object it {lost} when either changes, or after {self.seconds:g} s"


class Reputations:
    """The tables. `losses` workers lost within `window` seconds mean quarantine for as long; 0 switches that off.

    A script that has answered somebody is not to blame as a whole for an object that is too much for it: otherwise
    whoever may create objects of a kind could stop the kind for everybody. Only the same call is refused then. Nor is a
    bundled script, which has answered in its tests. What many objects together may cost is bounded by a budget of
    workers; a script that has used it up waits until it has earned the next one. Calls that are much smaller than those
    which used it up go on: work grows with size, and large objects of one must not stop the others' usual ones.
    """

    def __init__(self, losses: int = 3, window: float = 300.0) -> None:
        self.losses = losses
        self.window = window
        self._quarantines: OrderedDict[_Subject, Quarantine] = OrderedDict()
        self._with_quarantined_calls: set[str] = set()
        self._lost: OrderedDict[_Subject, list[tuple[float, str]]] = OrderedDict()
        self._of_scripts: OrderedDict[str, Reputation] = OrderedDict()
        self._budgets: OrderedDict[str, _Budget] = OrderedDict()

    def quarantines(self, now: float) -> tuple[Quarantine, ...]:
        """Everything in quarantine."""
        for subject in [one for one, quarantine in self._quarantines.items() if quarantine.until <= now]:
            del self._quarantines[subject]
        self._with_quarantined_calls = {subject[0] for subject in self._quarantines if isinstance(subject, tuple)}
        return tuple(self._quarantines.values())

    def of(self, digest: str) -> Reputation:
        reputation = self._of_scripts.get(digest)
        if reputation is None:
            reputation = Reputation()
            _store(self._of_scripts, digest, reputation)
        return reputation

    def check(self, task: Task, now: float) -> Reputation:
        """The script's reputation, if this call may run. Raises `QuarantinedError`, or `BusyError` while the budget of
        workers is used up. The names of a script's functions may always be asked for."""
        digest = digest_of(task.script)
        reputation = self._of_scripts.get(digest) or self.of(digest)
        if not (self._quarantines or self._budgets) or not task.function:
            return reputation
        budget = self._budget(digest, now)
        if self.losses and budget and budget.left < 1 and _size(task) * MUCH_SMALLER >= budget.smallest:
            wait = (1 - budget.left) * RESPAWN_SECONDS
            raise BusyError(
                f"{task.script.name} has cost {RESPAWNS} workers within a short time; it is asked again in {wait:.1f} s"
            )
        quarantine = self._quarantines.get(digest)
        if quarantine is None and digest in self._with_quarantined_calls:
            quarantine = self._quarantines.get(_call_of(task))
        if quarantine is not None and quarantine.until > now:
            raise QuarantinedError(str(quarantine), script=task.script.name, function=task.function)
        return reputation

    def make_suspect(self, reputation: Reputation, now: float) -> None:
        """It used all of its time, or all of its memory."""
        reputation.fast_answers = 0
        reputation.suspect_until = now + self.window

    def charge_worker(self, task: Task, now: float) -> None:
        """A worker had to be replaced because of this call."""
        digest = digest_of(task.script)
        budget = self._budget(digest, now) or _Budget(float(RESPAWNS), now, _size(task))
        _store(self._budgets, digest, _Budget(budget.left - 1, now, min(budget.smallest, _size(task))))

    def _budget(self, digest: str, now: float) -> _Budget | None:
        """None for one that is full."""
        budget = self._budgets.get(digest)
        if budget is None:
            return None
        left = budget.left + (now - budget.since) / RESPAWN_SECONDS
        if left >= RESPAWNS:
            del self._budgets[digest]
            return None
        return _Budget(left, now, budget.smallest)

    def note_loss(self, task: Task, reason: str, now: float) -> None:
        """This call lost a worker."""
        digest = digest_of(task.script)
        reputation = self.of(digest)
        self.make_suspect(reputation, now)
        self.charge_worker(task, now)
        has_answered = reputation.has_answered or task.script.author == BUNDLED
        subject: _Subject = _call_of(task) if has_answered else digest
        recent = [entry for entry in self._lost.get(subject, ()) if entry[0] > now - self.window]
        recent.append((now, reason))
        _store(self._lost, subject, recent)
        if self.losses and len(recent) >= self.losses:
            reasons = tuple(Counter(name for _, name in recent).most_common())
            until = now + self.window
            quarantine = Quarantine(task.script.name, not has_answered, len(recent), reasons, until, self.window)
            _store(self._quarantines, subject, quarantine)
            if has_answered:
                self._with_quarantined_calls.add(digest)


class Running(Protocol):
    """A call as the limit knows it."""

    digest: str
    reputation: Reputation
    suspect: bool


class ConcurrencyLimit:
    """Counts the running calls and says which script may run one more. Suspect scripts share half of the workers; a
    script that has not replied yet may use half by itself."""

    def __init__(self, size: int) -> None:
        self._half = max(1, size // 2)
        self._running: Counter[str] = Counter()
        self._suspects = 0

    def admits(self, job: Running, now: float) -> bool:
        if job.reputation.suspect_until >= now:
            return self._suspects < self._half
        return job.reputation.has_replied or self._running[job.digest] < self._half

    def begin(self, job: Running, now: float) -> None:
        self._running[job.digest] += 1
        job.suspect = job.reputation.suspect_until >= now
        self._suspects += job.suspect

    def end(self, job: Running) -> None:
        self._running[job.digest] -= 1
        if not self._running[job.digest]:
            del self._running[job.digest]
        self._suspects -= job.suspect


def _size(task: Task) -> int:
    return sum(map(len, task.arguments))


def _call_of(task: Task) -> tuple[str, bytes]:
    content = blake2b(task.function.encode(errors="replace"), digest_size=16)
    for argument in task.arguments:
        content.update(b"%d:" % len(argument))
        content.update(argument)
    return digest_of(task.script), content.digest()


def _store(table: OrderedDict[K, V], key: K, entry: V) -> None:
    table[key] = entry
    table.move_to_end(key)
    if len(table) > REMEMBERED:
        table.popitem(last=False)
