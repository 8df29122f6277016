"""Health, readiness and metrics over plain HTTP, from a thread of their own with the standard library's server.

`/healthz` tells whether the event loop still turns, `/readyz` whether clusters were read; estimates do not delay them.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from estimator.service.settings import Address
from interpreters.core.errors import InputError

_MOST_AT_ONCE: Final = 64  # connections; Prometheus and kubelets need a few


@dataclass(frozen=True, slots=True)
class Verdict:
    """`problem` is empty when all is well."""

    problem: str = ""


@dataclass(frozen=True, slots=True)
class Probes:
    """What the HTTP paths answer."""

    healthy: Callable[[], Verdict]
    ready: Callable[[], Verdict]
    registry: CollectorRegistry

    def answer(self, path: str) -> tuple[int, str, bytes]:
        """Status, content type and body for a path."""
        if path == "/metrics":
            return 200, CONTENT_TYPE_LATEST, generate_latest(self.registry)
        asked = {"/healthz": self.healthy, "/livez": self.healthy, "/readyz": self.ready}.get(path)
        if asked is None:
            return 404, "text/plain", b"try /healthz, /readyz or /metrics\n"
        problem = asked().problem
        return (503, "text/plain", f"{problem}\n".encode()) if problem else (200, "text/plain", b"ok")


class ProbeServer:
    """An HTTP server in a daemon thread; `close` stops it."""

    def __init__(self, address: Address, probes: Probes) -> None:
        class Handler(BaseHTTPRequestHandler):
            timeout = 5

            def do_GET(self) -> None:
                status, content_type, body = probes.answer(self.path.partition("?")[0])
                self.send_response(status)
                self.send_header("Content-Type", content_type)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                """Probes come every few seconds; nobody wants to read of them."""

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            address_family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
            places = threading.BoundedSemaphore(_MOST_AT_ONCE)

            def process_request(self, request: Any, client_address: Any) -> None:
                """A thread for each, but not for any number: whoever is one too many is hung up on."""
                if self.places.acquire(blocking=False):
                    super().process_request(request, client_address)
                else:
                    self.shutdown_request(request)

            def process_request_thread(self, request: Any, client_address: Any) -> None:
                try:
                    super().process_request_thread(request, client_address)
                finally:
                    self.places.release()

        try:
            self._server = Server((address.host, address.port), Handler)
        except OSError as error:
            raise InputError(f"cannot listen on {address.host or '*'}:{address.port}: {error.strerror}") from None
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, name="probes", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=5)
