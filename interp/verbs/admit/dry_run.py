"""Asking a running server what its admission would say to manifests, without applying them."""

from __future__ import annotations

import http.client
import ssl
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from estimator.accounting.admission.dry_run import TrialReport
from estimator.accounting.sources.file_errors import kind_of, numbered
from estimator.accounting.sources.object_stream import files_in, stream_objects
from interp.connection_errors import connection_problem
from interpreters.core.errors import DocumentError, InputError, InterpError
from interpreters.files import name_of
from webhook.registration.client import check_url

_PATH: Final = "/admit"
_BY_NAME: Final = ("Secret", "ConfigMap")
"""Kinds of which only the name is sent: what they hold costs no quota, and is nobody's business."""


class TrialError(InterpError):
    """The server did not decide."""


@dataclass(frozen=True, slots=True)
class AdmissionServer:
    """A server's URL, how it is to be trusted, and what is shown to one that wants a certificate."""

    url: str
    authorities: str | None
    certificate: str | None
    key: str | None
    seconds: int

    def tried(self, manifests: Sequence[msgspec.Raw], clusters: int | None) -> TrialReport:
        """What the server would say. Raises `InterpError`."""
        body = msgspec.json.encode({"apiVersion": "v1", "kind": "List", "items": manifests})
        query = f"dryRun=All&timeout={self.seconds}s" + (f"&clusters={clusters}" if clusters else "")
        parts = check_url(self.url)
        path = parts.path if parts.path.strip("/") else _PATH
        try:
            status, answer = self._post(parts.hostname or "", parts.port or 443, f"{path}?{query}", body)
        except (OSError, http.client.HTTPException) as error:
            hint = "is the server up, and is --ca the bundle of its certificate?"
            raise TrialError(f"{self.url}: no answer: {connection_problem(error)}; {hint}") from None
        try:
            if status == http.HTTPStatus.OK:
                return msgspec.json.decode(answer, type=TrialReport)
            problem = msgspec.json.decode(answer, type=_Problem).message
        except msgspec.DecodeError:
            problem = "the answer is not interp's: is this the URL of /admit?"
        raise TrialError(f"{self.url}: HTTP {status}: {problem}")

    def _post(self, host: str, port: int, target: str, body: bytes) -> tuple[int, bytes]:
        context = ssl.create_default_context(cafile=self.authorities)
        if self.certificate:
            context.load_cert_chain(self.certificate, self.key)
        connection = http.client.HTTPSConnection(host, port, timeout=self.seconds + 5, context=context)
        try:
            connection.request("POST", target, body, {"Content-Type": "application/json", "User-Agent": "interp"})
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()


class _Problem(msgspec.Struct):
    message: str


def read_manifests(paths: Sequence[str]) -> list[msgspec.Raw]:
    """Every object in files and folders, in order; Secrets and ConfigMaps by their names alone. Raises `InputError`."""
    found = [manifest for file in files_in(paths) for manifest in _manifests(file)]
    if not found:
        raise DocumentError(", ".join(map(name_of, paths)), "no object in it")
    return found


def _manifests(file: str) -> Iterator[msgspec.Raw]:
    for place, text in numbered(name_of(file), stream_objects(file)):
        kind = kind_of(text)
        if not kind:
            raise DocumentError(place, "expected a manifest, got an object without a kind")
        yield msgspec.Raw(_named(text) if kind in _BY_NAME else text)


class _Names(msgspec.Struct, omit_defaults=True, rename="camel"):
    name: Any = None
    generate_name: Any = None
    namespace: Any = None


class _Named(msgspec.Struct, omit_defaults=True, rename="camel"):
    """An object without what it holds."""

    api_version: Any = None
    kind: Any = None
    metadata: _Names | None = None


def _named(text: bytes) -> bytes:
    try:
        return msgspec.json.encode(msgspec.json.decode(text, type=_Named))
    except msgspec.DecodeError:
        return b'{"apiVersion": "v1", "kind": "Secret"}'  # whatever it is, it stays here


def check_key(certificate: str | None, key: str | None) -> None:
    if key and not certificate:
        raise InputError("--client-key goes with --client-certificate")
