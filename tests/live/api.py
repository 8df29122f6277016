"""A Kubernetes API server as its users see it: objects are created, found, changed and deleted, or refused."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import yaml

from tests.webhook.server import Client

TOKEN = "live"  # of the one user, who may do everything
_PATIENCE = 90.0
_LATER = 429
_Answer = TypeVar("_Answer")


def eventually(question: Callable[[], _Answer], about: str) -> _Answer:
    """The first answer that is true. Controllers take their time; how long is nothing that is judged here."""
    end = time.monotonic() + _PATIENCE
    while not (answer := question()):
        assert time.monotonic() < end, f"never came true: {about}; last answer: {answer!r}"
        time.sleep(0.2)
    return answer


class Refused(AssertionError):
    """An API server said no."""


@dataclass(frozen=True)
class Answer:
    status: int
    body: Any
    warnings: list[str]


@dataclass(frozen=True)
class Api:
    """One API server, with certificates of this folder."""

    name: str
    port: int
    pki: Path

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    @property
    def kubeconfig(self) -> Path:
        return self.pki / f"{self.name}.kubeconfig"

    def write_kubeconfig(self) -> None:
        cluster = {"server": self.url, "certificate-authority": str(self.pki / "ca.crt")}
        content = {
            "apiVersion": "v1", "kind": "Config", "current-context": self.name,
            "clusters": [{"name": self.name, "cluster": cluster}],
            "users": [{"name": "live", "user": {"token": TOKEN}}],
            "contexts": [{"name": self.name, "context": {"cluster": self.name, "user": "live"}}],
        }  # fmt: skip
        self.kubeconfig.write_text(yaml.safe_dump(content))

    def send(self, method: str, path: str, body: Any = None, content: str = "application/json") -> Answer:
        client = Client(self.port, self.pki / "ca.crt")
        try:
            headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": content}
            status, answer = client.send(method, path, json.dumps(body).encode() if body is not None else None, headers)
            return Answer(status, answer, client.headers.get_all("Warning", []))
        finally:
            client.close()

    def ask(self, method: str, path: str, body: Any = None, content: str = "application/json") -> Answer:
        """The answer, also of a server that asks for patience: it does while it makes ready to store a new kind."""
        end = time.monotonic() + _PATIENCE
        while (answer := self.send(method, path, body, content)).status == _LATER and time.monotonic() < end:
            time.sleep(0.2)
        if answer.status >= 300:
            said = answer.body["message"] if isinstance(answer.body, dict) else answer.body
            raise Refused(f"{method} {path}: {answer.status}: {said}")
        return answer

    def create(self, *objects: Mapping[str, Any]) -> None:
        for obj in objects:
            self.ask("POST", collection(obj), obj)

    def rehearse(self, obj: Mapping[str, Any]) -> list[str]:
        """What the server warns of when the object is created, which it is not."""
        return self.ask("POST", collection(obj) + "?dryRun=All", obj).warnings

    def find(self, obj: Mapping[str, Any]) -> dict[str, Any]:
        """The object as it is now; nothing in it if there is none."""
        answer = self.send("GET", item(obj))
        return answer.body if answer.status == 200 else {}

    def change(self, obj: Mapping[str, Any], changes: Mapping[str, Any], part: str = "") -> None:
        self.ask("PATCH", item(obj) + part, changes, "application/merge-patch+json")

    def delete(self, obj: Mapping[str, Any]) -> None:
        self.ask("DELETE", item(obj), {"gracePeriodSeconds": 0})  # nobody is there to wind a pod down

    def is_ready(self) -> bool:
        try:
            return self.send("GET", "/readyz").status == 200
        except OSError:
            return False

    def serves(self, version: str, kind: str) -> bool:
        return self.send("GET", collection({"apiVersion": version, "kind": kind, "metadata": {}})).status == 200


def collection(obj: Mapping[str, Any]) -> str:
    """Where objects like this one are kept."""
    version, kind, namespace = obj["apiVersion"], obj["kind"].lower(), obj["metadata"].get("namespace")
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    plural = kind[:-1] + "ies" if kind.endswith("y") else kind + "s"
    return f"{root}/namespaces/{namespace}/{plural}" if namespace else f"{root}/{plural}"


def item(obj: Mapping[str, Any]) -> str:
    return f"{collection(obj)}/{obj['metadata']['name']}"


def named(version: str, kind: str, name: str, namespace: str = "") -> dict[str, Any]:
    """An object with a name and nothing else."""
    metadata = {"name": name, "namespace": namespace} if namespace else {"name": name}
    return {"apiVersion": version, "kind": kind, "metadata": metadata}
