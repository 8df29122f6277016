"""What the endpoints share: settings, scripts, sandbox workers, metrics, and how scripts are loaded."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interpreters.background import Background
from interpreters.catalog import Catalog
from interpreters.core.engine import Limits
from interpreters.core.errors import InputError
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.operations import Operation
from interpreters.core.wire import Reply, Request
from interpreters.interpretation import load_functions_async
from interpreters.sandbox.hardening import Hardening, hardening_report
from interpreters.sandbox.pool import SandboxPool
from interpreters.scan import Found, authors, empty_folders, scan
from webhook.endpoints.request_metrics import RequestMetrics
from webhook.server.listener import Route
from webhook.server.load import Load
from webhook.server.logs import LOGGER, WRITER, RequestLog
from webhook.server.metrics import Metrics
from webhook.server.reloading import Reloads
from webhook.server.settings import Settings
from webhook.server.tracing import Tracing

if TYPE_CHECKING:
    from webhook.endpoints.clusters import Clusters

Check = Callable[[], Awaitable[str | None]]
"""A readiness check: None when all is well, otherwise what is wrong."""


class Service:
    """One server process, without its listeners."""

    def __init__(self, settings: Settings) -> None:
        limits = Limits(
            cost=settings.script_cost,
            seconds=settings.script_seconds,
            memory=settings.script_memory,
            input=settings.max_body,
        )
        self.settings = settings
        self.metrics = Metrics()
        self.requests = RequestLog(settings.log_level)
        self.request_metrics = RequestMetrics(self.metrics, self.requests, self.label)
        self.tracing = Tracing(settings.tracing)
        self.pool = SandboxPool(
            settings.workers,
            limits=limits,
            max_waiting=settings.waiting,
            authors=authors(len(settings.scripts), bundled=settings.bundled_language != "none"),
            isolated=settings.isolation == "author",
        )
        self.background = Background()
        self.load = Load(settings.max_bytes, settings.workers + max(1, settings.waiting // 2))
        self._broken_kinds: set[str] = set()
        self._answered: set[tuple[GroupVersionKind, Operation]] = set()
        self._install(Catalog({}))
        self.reloads = Reloads({"scripts": self.load_scripts}, self.metrics)
        self.checks: dict[str, Check] = {"scripts": self._scripts_loaded, "workers": self._workers_up}
        self.admission_checks: dict[str, Check] = {}  # what concerns /admit alone
        self.routes: list[Route] = []
        self.clusters: Clusters | None = None
        self.shapes: tuple[Any, ...] = ()  # further structs of the OpenAPI document
        self.observers: list[Callable[[], None]] = []
        self.seen: Callable[[Request, Reply], None] | None = None
        self.warnings: dict[str, str] = {}  # what /readyz tells beside its checks
        self.hardening = Hardening({}, {}, ())
        self.draining = False
        self._killed: dict[str, int] = {}
        self._dropped = 0

    async def start(self) -> None:
        """Workers first, since scripts are loaded in them. A broken script is reported; what it would answer fails.

        Raises `InputError` for one whose kind cannot be told: any answer could be the wrong script's."""
        await self.pool.start()
        self._note_hardening()
        found = await self._scan()
        catalog = await self._catalog(found)
        for broken in catalog.own_broken:
            if broken.kind is None:
                raise InputError(f"scripts: {broken.error}")
        self._install(catalog, found)
        for broken in catalog.broken:
            LOGGER.error(
                "a script is broken; what it would answer fails",
                extra={"script": broken.name, "kind": str(broken.kind), "reason": str(broken.error)},
            )
        self.observe()

    def _note_hardening(self) -> None:
        """Say what confines the workers. What does not is a warning that stays, or a reason not to start."""
        report = hardening_report(self.pool.hardening())
        self.hardening = report
        for wall, holds in report.walls.items():
            self.metrics.hardening.labels(wall).set(holds)
        if report.gaps and self.settings.require_hardening:
            raise InputError(f"requireHardening: {'; '.join(report.gaps)}")
        if report.gaps:
            self.warnings["hardening"] = "; ".join(report.gaps)
            LOGGER.warning("workers are not fully confined", extra={"reason": self.warnings["hardening"]})
        LOGGER.info("hardening", extra=report.words)

    async def close(self) -> None:
        await self.pool.close()
        self.background.close()
        self.request_metrics.flush()

    async def load_scripts(self) -> str:
        """Swap in what the files hold now. An author with a broken script keeps all that he had, the others do not wait
        for him. Raises `InputError` if there is one."""
        found = await self._scan()
        catalog = await self._catalog(found)
        broken = catalog.own_broken
        if broken:
            late = {entry.source.author for entry in broken}
            found = [entry for entry in found if entry.source.author not in late]
            found += [entry for entry in self._found if entry.source.author in late]
            catalog = await self._catalog(found)
        self._install(catalog, found)
        self._note_lost()
        self.observe()
        if broken:
            raise InputError(str(broken[0].error))
        kinds = len(catalog.kinds)
        return f"{kinds} kind{'' if kinds == 1 else 's'}"

    def label(self, kind: GroupVersionKind) -> str:
        """A kind's name in metrics. Only kinds with a script are named: labels chosen by callers would grow without
        end."""
        return str(kind) if kind in self.known_kinds else "other"

    def observe(self) -> None:
        """Bring the metrics up to date."""
        self.request_metrics.flush()
        stats = self.pool.stats()
        metrics = self.metrics
        metrics.in_flight.set(self.load.requests)
        metrics.waiting.set(stats.waiting)
        metrics.workers.set(stats.ready)
        whole = sum(quarantine.whole for quarantine in stats.quarantined)
        metrics.quarantined.set(whole)
        metrics.quarantined_calls.set(len(stats.quarantined) - whole)
        metrics.scripts.set(len(self.catalog.kinds))
        for reason, total in stats.kills.items():
            metrics.workers_killed.labels(reason).inc(total - self._killed.get(reason, 0))
        self._killed = dict(stats.kills)
        dropped = WRITER.dropped
        metrics.log_dropped.inc(dropped - self._dropped)
        self._dropped = dropped
        for observer in self.observers:
            observer()

    def _install(self, catalog: Catalog, found: Sequence[Found] = ()) -> None:
        self.catalog = catalog
        self._found = found
        self.known_kinds = frozenset(catalog.kinds)
        self._answered |= _answered(catalog)
        broken = Counter(str(entry.kind) for entry in catalog.own_broken)
        self._broken_kinds |= broken.keys()
        for kind in self._broken_kinds:  # those that are well again say 0
            self.metrics.broken_scripts.labels(kind).set(broken[kind])

    def _note_lost(self) -> None:
        """What was answered since the start and no longer is: Karmada does not hear of it, and its calls fail."""
        lost: dict[str, list[str]] = {}
        for kind, operation in sorted(self._answered - _answered(self.catalog), key=str):
            lost.setdefault(str(kind), []).append(operation.name)
        self.warnings.pop("scripts", None)
        if lost:
            words = "; ".join(f"{kind}: {', '.join(sorted(operations))}" for kind, operations in sorted(lost.items()))
            self.warnings["scripts"] = f"no longer answered: {words}; what Karmada has registered of it fails"
            LOGGER.warning("operations are no longer answered; register again", extra={"lost": words})

    async def _scan(self) -> list[Found]:
        bundled = None if self.settings.bundled_language == "none" else self.settings.bundled_language
        places = [Path(place) for place in self.settings.scripts]
        found = await asyncio.to_thread(scan, places, bundled=bundled)
        for empty in empty_folders(places, found):
            LOGGER.warning("a folder holds no script", extra={"reason": empty})
        return found

    async def _catalog(self, found: Sequence[Found]) -> Catalog:
        functions = await load_functions_async(self.pool, found)
        return await asyncio.to_thread(partial(Catalog.build, found, functions, strict=True))

    async def _scripts_loaded(self) -> str | None:
        return None if self.catalog.offers else "no script is loaded"

    async def _workers_up(self) -> str | None:
        """Unready is who can answer nobody: an author who loses his workers takes nobody else's server away."""
        return None if self.pool.stats().ready else "no sandbox worker is up"


def digest_of(catalog: Catalog) -> str:
    """Tells whether two servers answer with the same scripts."""
    texts = sorted({offer.script.digest for offers in catalog.offers.values() for offer in offers})
    return hashlib.sha256("".join(texts).encode()).hexdigest()[:16]


def _answered(catalog: Catalog) -> set[tuple[GroupVersionKind, Operation]]:
    return {(kind, operation) for kind in catalog.kinds for operation, _ in catalog.operations(kind)}
