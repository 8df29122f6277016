"""One server process: starts the service and its listeners, reloads, drains. Run by itself or under the supervisor."""

from __future__ import annotations

import asyncio
import gc
import os
import resource
import signal
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from functools import partial

import msgspec
import uvloop

from interpreters.background import end_tasks
from interpreters.core.errors import InterpError
from interpreters.files import Fingerprint
from webhook.endpoints.health import health_routes, inspection_routes
from webhook.endpoints.interpret import interpret_routes
from webhook.endpoints.service import Service
from webhook.endpoints.validate_policy import policy_routes
from webhook.server import logs
from webhook.server.handshakes import Refusals
from webhook.server.listener import Listener, Route, unconfigured
from webhook.server.logs import LOGGER
from webhook.server.metrics import DIRECTORY_VARIABLE
from webhook.server.settings import Settings
from webhook.server.shared_folder import joined_folder
from webhook.server.tls import ReloadableTls
from webhook.server.watching import Watcher, fingerprint_below

_OBSERVE_SECONDS = 1.0
_CERTIFICATE = "certificate"


class Running:
    """A service with its listeners, open for requests."""

    def __init__(self, service: Service, loaded: Mapping[str, tuple[list[str], Fingerprint]]) -> None:
        """`loaded` names what was read already: its paths, and their fingerprint from before."""
        self.service = service
        self.port = 0
        self.admin_port: int | None = None
        settings = service.settings
        files = [file for file in (settings.certificate, settings.key, settings.client_ca) if file]
        self._watched = {"certificates": (files, fingerprint_below(files)), **loaded}
        refusals = Refusals(lambda listener, reason: service.metrics.handshakes_failed.labels(listener, reason).inc())
        client_authorities = {"main": ""} | ({} if settings.admin_port is None else {"admin": settings.client_ca})
        self._tls = {
            name: ReloadableTls(settings.certificate, settings.key, bundle, refused=partial(refusals.note, name))
            for name, bundle in client_authorities.items()
        }
        service.reloads.add("certificates", self.load_certificates)
        self._listeners: list[Listener] = []
        self._tasks: list[asyncio.Task[None]] = []

    async def open(self, private: list[Route]) -> None:
        service, settings = self.service, self.service.settings
        share = settings.processes > 1
        public = [*interpret_routes(service), *health_routes(service)]
        service.routes = [*public, *private]
        if settings.admin_port is None:
            public += private
        else:
            self.admin_port = await self._listen(
                [*private, *health_routes(service)], settings.admin_host, settings.admin_port, "admin", share
            )
        self.port = await self._listen(public, settings.host, settings.port, "main", share)
        self._note_certificate()
        self._tasks.append(asyncio.create_task(self._observe()))
        if settings.watch != "off":
            poll = settings.watch_seconds if settings.watch == "poll" else None
            for name, (paths, seen) in self._watched.items():
                watcher = Watcher(paths, seen, partial(service.reloads.reload, [name]), poll=poll)
                self._tasks.append(asyncio.create_task(watcher.run()))

    async def load_certificates(self) -> str:
        for tls in self._tls.values():
            tls.reload()
        self._note_certificate()
        return " and ".join(self._tls)

    async def drain(self) -> None:
        """Say not ready, keep answering for a while, then accept no more and finish what is under way."""
        settings = self.service.settings
        self.service.draining = True
        for listener in self._listeners:
            listener.draining = True
        LOGGER.info("draining", extra={"underWay": self.service.load.requests})
        await asyncio.sleep(settings.drain_delay)
        await asyncio.gather(*(listener.stop(settings.drain_seconds) for listener in self._listeners))

    async def close(self) -> None:
        await end_tasks(self._tasks)
        await asyncio.gather(*(listener.stop(0) for listener in self._listeners))

    async def _listen(self, routes: list[Route], host: str, port: int, name: str, share: bool) -> int:
        settings = self.service.settings
        most, most_of_an_address = settings.max_connections, settings.max_connections_of_address
        listener = Listener(routes, self._count, most, most_of_an_address, self.service.load)
        self._listeners.append(listener)
        return await listener.start(host, port, self._tls[name].context, share=share)

    def _count(self, path: str, status: int) -> None:
        known = path if any(route.path == path and not route.hidden for route in self.service.routes) else "other"
        self.service.metrics.other_requests.labels(known, str(status)).inc()

    def _note_certificate(self) -> None:
        """When it ends, for the metrics; that it has ended or soon will, for the log, once, and for /readyz."""
        for name, tls in self._tls.items():
            self.service.metrics.certificate_expiry.labels(name).set(tls.expiry)
        untimely = self._tls["main"].untimely(datetime.now(UTC))  # both listeners serve the same one
        if untimely is None:
            self.service.warnings.pop(_CERTIFICATE, None)
        elif self.service.warnings.get(_CERTIFICATE) != untimely[1]:
            level, self.service.warnings[_CERTIFICATE] = untimely
            LOGGER.log(level, "the certificate must be renewed", extra={"reason": untimely[1]})

    async def _observe(self) -> None:
        while True:
            await asyncio.sleep(_OBSERVE_SECONDS)
            self.service.observe()
            self._note_certificate()


@asynccontextmanager
async def private_routes(service: Service) -> AsyncIterator[list[Route]]:
    """Everything that may be moved to the second listener, one file per endpoint, and what these need opened.

    What is not configured is not imported: estimates bring numpy and the ledger a database, a second of start-up.
    """
    settings = service.settings
    routes = [*inspection_routes(service), *policy_routes(service)]
    async with AsyncExitStack() as stack:
        if settings.clusters:
            from webhook.endpoints.clusters import following
            from webhook.endpoints.estimate import SHAPES, estimate_routes

            service.clusters = await stack.enter_async_context(following(settings.clusters))
            service.checks["clusters"] = service.clusters.unsynced
            service.shapes += SHAPES
            routes += estimate_routes(service, service.clusters)
        else:
            routes.append(unconfigured("/estimate", "clusters, to NAME=FOLDER or NAME=KUBECONFIG"))
        if settings.ledger:
            from webhook.endpoints.admission.accounting import accounting
            from webhook.endpoints.admission.admit import SHAPES as ADMIT_SHAPES
            from webhook.endpoints.admission.admit import admit_routes

            books = await stack.enter_async_context(accounting(service))
            service.seen = books.see
            service.observers.append(partial(books.observe, service.metrics))
            service.shapes += ADMIT_SHAPES
            routes += admit_routes(service, books)
        else:
            routes.append(unconfigured("/admit", "ledger, to sqlite:///file or postgresql://user@host/name"))
        yield routes


@asynccontextmanager
async def serving(settings: Settings) -> AsyncIterator[Running]:
    """A running server for as long as the block lasts."""
    service = Service(settings)
    paths = {"scripts": settings.scripts, "quotas": settings.quotas}
    # From before they are read: what changes meanwhile is noticed later.
    loaded = {name: (places, fingerprint_below(places)) for name, places in paths.items() if places}
    try:
        await service.start()
        async with private_routes(service) as private:
            running = Running(service, loaded)
            try:
                await running.open(private)
                yield running
            finally:
                await running.close()
    finally:
        await service.close()


async def serve(settings: Settings, ready: Callable[[Running], None], *, parent: int | None = None) -> None:
    """Serve until SIGTERM or SIGINT, or until the pipe `parent` ends; SIGHUP reloads everything."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    reloads: set[asyncio.Task[None]] = set()
    async with serving(settings) as running:
        loop.add_signal_handler(
            signal.SIGHUP, lambda: reloads.add(asyncio.create_task(running.service.reloads.reload()))
        )
        if parent is not None:
            loop.add_reader(parent, _stop_at_end, parent, stop)
        gc.collect()
        gc.freeze()  # what is loaded now stays: later collections need not walk it
        where = {"url": f"https://{settings.host}:{running.port}"}
        if running.admin_port is not None:
            where["adminUrl"] = f"https://{settings.admin_host}:{running.admin_port}"
        LOGGER.info("listening", extra=where)
        ready(running)
        await stop.wait()
        if parent is not None:
            loop.remove_reader(parent)
        await running.drain()
    LOGGER.info("stopped")


def _stop_at_end(pipe: int, stop: asyncio.Event) -> None:
    if not os.read(pipe, 1):
        stop.set()


def run(settings: Settings, ready: Callable[[Running], None] = lambda _: None, *, parent: int | None = None) -> int:
    """Serve in this process; the exit code."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # until there is something to reload
    logs.configure(settings.log_level)
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))  # a thousand, the usual soft limit, is soon reached
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(serve(settings, ready, parent=parent))
    except (InterpError, OSError) as error:
        LOGGER.error("cannot serve", extra={"reason": str(error)})
        return 2
    finally:
        logs.WRITER.close()
    return 0


def main() -> int:
    """Under the supervisor: settings come by standard input, whose end means that the supervisor is gone."""
    settings = msgspec.json.decode(sys.stdin.buffer.readline(), type=Settings)
    with joined_folder(os.environ[DIRECTORY_VARIABLE]):
        return run(settings, lambda running: print("ready", running.port, flush=True), parent=sys.stdin.fileno())


if __name__ == "__main__":
    sys.exit(main())
