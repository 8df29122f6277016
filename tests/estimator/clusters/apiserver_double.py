"""An API server for tests: lists in pages, chunked watches with bookmarks, and the ways in which a real one fails."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

Object = dict[str, Any]
COLLECTIONS = {
    "/api/v1/nodes": "Node",
    "/api/v1/pods": "Pod",
    "/api/v1/resourcequotas": "ResourceQuota",
}
NAMESPACED = {"deployments": "Deployment", "statefulsets": "StatefulSet", "replicasets": "ReplicaSet", "jobs": "Job"}


@dataclass
class Stream:
    """An open watch."""

    kind: str
    response: web.StreamResponse
    request: web.Request


@dataclass
class ApiServerDouble:
    """Holds objects, remembers every change, and streams them. Failures are armed by tests and fire once."""

    token: str = ""
    history_starts: int = 0
    version: int = 100
    objects: dict[str, dict[str, Object]] = field(default_factory=dict)
    history: list[tuple[int, str, str, Object]] = field(default_factory=list)
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    refusals: list[tuple[int, dict[str, str]]] = field(default_factory=list)  # (status, headers) for the next requests
    expire_continue: int = 0  # how many continue tokens are answered with 410
    list_delay: float = 0.0
    streams: list[Stream] = field(default_factory=list)
    _runner: web.AppRunner | None = None
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    port: int = 0
    scheme: str = "http"

    # -- life --------------------------------------------------------------------------------------------------------

    async def start(self, tls: ssl.SSLContext | None = None, port: int = 0) -> None:
        app = web.Application()
        app.router.add_get("/{path:.*}", self._answer)
        self._runner = web.AppRunner(app, shutdown_timeout=0.05)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", port, ssl_context=tls, reuse_address=True)
        await site.start()
        self.scheme = "https" if tls else "http"
        self.port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        self.drop_watches()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    @property
    def address(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    # -- what tests do -----------------------------------------------------------------------------------------------

    def put(self, item: Object) -> None:
        key = _key(item)
        known = self.objects.setdefault(item["kind"], {})
        self._record("MODIFIED" if key in known else "ADDED", item)
        known[key] = item

    def delete(self, kind: str, key: str) -> None:
        self._record("DELETED", self.objects[kind].pop(key))

    def forget_history(self) -> None:
        """From now on an older resource version is answered with 410."""
        self.history.clear()
        self.history_starts = self.version

    def drop_watches(self) -> None:
        """Cut every open watch, as a failing network does."""
        for stream in self.streams:
            if stream.request.transport is not None:
                stream.request.transport.abort()
        self.streams.clear()

    async def send(self, kind: str, event: Object) -> None:
        """Put a line of our own into the open watches of a kind."""
        for stream in self.streams:
            if stream.kind == kind:
                await stream.response.write(json.dumps(event).encode() + b"\n")

    def bookmark(self) -> None:
        """Tell every watch, after what it has still to be told, how far the server is."""
        self.version += 1
        for kind in COLLECTIONS.values():
            self.history.append((self.version, "BOOKMARK", kind, {"kind": kind, "metadata": self._metadata()}))
        self._wake()

    def counted(self) -> Counter[str]:
        """How often each collection was `list`ed (first pages) and `watch`ed."""
        return Counter(
            ("watch " if "watch" in query else "list ") + COLLECTIONS[path]
            for path, query in self.requests
            if path in COLLECTIONS and "continue" not in query
        )

    # -- answering ---------------------------------------------------------------------------------------------------

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.requests.append((request.path, dict(request.query)))
        self.headers.append(dict(request.headers))
        if self.token and request.headers.get("Authorization") != f"Bearer {self.token}":
            return _status(401, "Unauthorized")
        if self.refusals:
            status, headers = self.refusals.pop(0)
            return _status(status, "refused by the test", headers)
        if request.path not in COLLECTIONS:
            return self._workload(request)
        if request.query.get("watch"):
            return await self._watch(request, COLLECTIONS[request.path])
        await asyncio.sleep(self.list_delay)
        return self._list(request, COLLECTIONS[request.path])

    def _list(self, request: web.Request, kind: str) -> web.Response:
        items = [
            {key: value for key, value in item.items() if key not in ("kind", "apiVersion")}
            for item in self.objects.get(kind, {}).values()
            if _selected(item, request.query.get("fieldSelector", ""))
        ]
        start = 0
        if token := request.query.get("continue"):
            if self.expire_continue:
                self.expire_continue -= 1
                return _status(410, "The provided continue parameter is too old")
            start = int(token)
        end = start + int(request.query.get("limit", "0") or len(items))
        metadata = self._metadata()
        if end < len(items):
            metadata["continue"] = str(end)
        return web.json_response({"kind": f"{kind}List", "metadata": metadata, "items": items[start:end]})

    async def _watch(self, request: web.Request, kind: str) -> web.StreamResponse:
        since = int(request.query["resourceVersion"])
        if since < self.history_starts:
            return _status(410, f"too old resource version: {since} ({self.history_starts})")
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        response.enable_chunked_encoding()
        await response.prepare(request)
        stream = Stream(kind, response, request)
        self.streams.append(stream)
        while stream in self.streams:
            changed = self._changed
            pending = [entry for entry in self.history if entry[0] > since]
            for _, event, of_kind, item in pending:
                if of_kind == kind:
                    line = json.dumps({"type": event, "object": item}).encode() + b"\n"
                    # Real streams are cut anywhere, not between lines.
                    await response.write(line[:7])
                    await response.write(line[7:])
            since = pending[-1][0] if pending else since
            await changed.wait()
        return response

    def _workload(self, request: web.Request) -> web.Response:
        parts = request.path.split("/")  # /apis/apps/v1/namespaces/<namespace>/<plural>[/<name>]
        kind = NAMESPACED.get(parts[6] if len(parts) > 6 else "", "")
        of_namespace = {
            key: item for key, item in self.objects.get(kind, {}).items() if item["metadata"]["namespace"] == parts[5]
        }
        if len(parts) == 7:
            wanted = dict(pair.split("=") for pair in request.query.get("labelSelector", "").split(",") if pair)
            items = [
                item
                for item in of_namespace.values()
                if wanted.items() <= (item["metadata"].get("labels") or {}).items()
            ]
            return web.json_response({"kind": f"{kind}List", "metadata": self._metadata(), "items": items})
        found = of_namespace.get(f"{parts[5]}/{parts[-1]}") if len(parts) == 8 else None
        return web.json_response(found) if found else _status(404, "not found")

    # -- bookkeeping -------------------------------------------------------------------------------------------------

    def _metadata(self) -> dict[str, str]:
        return {"resourceVersion": str(self.version)}

    def _record(self, event: str, item: Object) -> None:
        self.version += 1
        item["metadata"]["resourceVersion"] = str(self.version)
        self.history.append((self.version, event, item["kind"], json.loads(json.dumps(item))))
        self._wake()

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()


def _key(item: Object) -> str:
    metadata = item["metadata"]
    return f"{metadata['namespace']}/{metadata['name']}" if metadata.get("namespace") else metadata["name"]


def _selected(item: Object, selector: str) -> bool:
    phase = item.get("status", {}).get("phase", "")
    return all(phase != part.partition("!=")[2] for part in selector.split(",") if part)


def _status(code: int, message: str, headers: dict[str, str] | None = None) -> web.Response:
    body = {"kind": "Status", "status": "Failure", "message": message, "code": code}
    return web.json_response(body, status=code, headers=headers)
