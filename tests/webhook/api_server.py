"""An API server in a thread for tests that register: holds what it was given, takes every change and remembers it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import yaml


class ApiServer(BaseHTTPRequestHandler):
    """Holds what it was given in `held`, takes every PATCH and DELETE and remembers it; refuses when told to: all
    changes by `status`, or a method and path by `answers`, where 0 hangs up without a word."""

    received: list[tuple[str, str, Any]] = []
    held: dict[str, Any] = {}
    status = 201
    answers: dict[tuple[str, str], tuple[int, Any]] = {}

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        self.answer(200 if path in self.held else 404, self.held.get(path, {"message": "not found"}))

    def do_PATCH(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.received.append((self.path, self.headers["Content-Type"], json.loads(body)))
        self.answer(self.status, {"message": "no"})

    def do_DELETE(self) -> None:
        self.received.append((self.path, "DELETE", None))
        self.answer(200 if self.path in self.held else 404, {})

    def answer(self, status: int, body: Any) -> None:
        status, body = self.answers.get((self.command, self.path.partition("?")[0]), (status, body))
        if status == 0:
            self.close_connection = True
            return
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def api_server(folder: Path) -> Iterator[Path]:
    """Run it, empty, and give a kubeconfig for it."""
    ApiServer.received, ApiServer.held, ApiServer.status, ApiServer.answers = [], {}, 201, {}
    server = ThreadingHTTPServer(("127.0.0.1", 0), ApiServer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "karmada",
        "contexts": [{"name": "karmada", "context": {"cluster": "karmada", "user": "me"}}],
        "clusters": [{"name": "karmada", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}],
        "users": [{"name": "me", "user": {"token": "t"}}],
    }
    file = folder / "kubeconfig"
    file.write_text(yaml.safe_dump(config))
    yield file
    server.shutdown()
    server.server_close()
