"""Looking at a running webhook as Karmada does: its name, its certificate, one connection with Karmada's trust."""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
from cryptography import x509

from certs.check import Finding, check_chain
from certs.folder import read_certificates
from interp.connection_errors import connection_problem
from interp.verbs.doctor.operations import Caller, bare_request, cases_of, question
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.operations import Operation
from webhook.registration.client import DEFAULT_PATH, check_url


class _Readiness(msgspec.Struct):
    hardening: dict[str, str] = {}
    warnings: dict[str, str] = {}


class _Status(msgspec.Struct):
    code: int = 200


class _Response(msgspec.Struct):
    status: _Status = msgspec.field(default_factory=_Status)


class _Envelope(msgspec.Struct):
    response: _Response = msgspec.field(default_factory=_Response)


_UNKNOWN = 404  # in a proper envelope: no script answers for this kind and operation


@dataclass(frozen=True, slots=True)
class Probe:
    """A webhook's URL, the bundle its callers trust, and the timeout it is registered with."""

    url: str
    authorities: str | None
    timeout: int


def examine(probe: Probe, scripts: list[str], bundled: str, *, everything: bool) -> list[Finding]:
    """Every finding, in the order of the way that a request takes. Stops where going on makes no sense."""
    parts = check_url(probe.url)
    host, port = parts.hostname or "", parts.port or 443
    findings = [_resolve(host, port)]
    if findings[-1].level == "error":
        return findings
    try:
        chain = _presented(host, port, probe.timeout)
    except OSError as error:
        fix = "is the server up, and is this its TLS port?"
        return [*findings, Finding("error", "connection", f"{host}:{port}: {connection_problem(error)}", fix)]
    trusted = read_certificates(Path(probe.authorities)) if probe.authorities else []
    findings += check_chain(chain, trusted, [host]) if trusted else _without_bundle(chain, host)
    connection = _connect(probe, host, port)
    try:
        connection.connect()
    except OSError as error:
        return [*findings, _failed_handshake(error, findings)]
    findings.append(Finding("ok", "handshake", f"{connection.sock.version()}"))
    caller = Caller(connection, parts.path or DEFAULT_PATH, probe.timeout)
    findings += question(caller, cases_of(scripts, bundled, everything=everything))
    return [*findings, *_readiness(connection)]


def unserved(
    probe: Probe, asked: Iterable[tuple[GroupVersionKind, Operation]]
) -> list[tuple[GroupVersionKind, Operation]]:
    """Of these, what no script of the running server answers. An object without content is enough to be told that.

    Nothing if the server cannot be asked: `examine` says why."""
    parts = check_url(probe.url)
    connection = _connect(probe, parts.hostname or "", parts.port or 443)
    caller = Caller(connection, parts.path or DEFAULT_PATH, probe.timeout)
    found = []
    try:
        for kind, operation in asked:
            _, body = caller.exchange(bare_request(kind, operation))
            if msgspec.json.decode(body, type=_Envelope).response.status.code == _UNKNOWN:
                found.append((kind, operation))
    except (OSError, http.client.HTTPException, msgspec.DecodeError):
        return []
    finally:
        connection.close()
    return found


def _readiness(connection: http.client.HTTPSConnection) -> Iterator[Finding]:
    """What /readyz says of its scripts and of what confines the sandbox workers; nothing if it says nothing."""
    try:
        connection.request("GET", "/readyz")
        detail = msgspec.json.decode(connection.getresponse().read(), type=_Readiness)
    except (OSError, http.client.HTTPException, msgspec.DecodeError):
        return
    if lost := detail.warnings.get("scripts"):
        yield Finding("warning", "scripts", lost, "`interp register --apply` with the scripts it has, or put them back")
    if not detail.hardening:
        return
    gap = detail.warnings.get("hardening")
    if gap is None:
        yield Finding("ok", "hardening", f"{', '.join(detail.hardening)}: the workers are fully confined")
        return
    fix = "docs/security.md says what each wall needs; requireHardening refuses to start without"
    yield Finding("warning", "hardening", gap, fix)


def _failed_handshake(error: OSError, findings: list[Finding]) -> Finding:
    """With advice only if none of the findings explains it already."""
    explained = any(finding.level == "error" for finding in findings)
    fix = "give the ca.crt that was registered with --ca; `interp certs check` looks at the server's files"
    return Finding("error", "handshake", connection_problem(error), "" if explained else fix)


def _resolve(host: str, port: int) -> Finding:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        fix = "Karmada's controller manager resolves it too: check its DNS, or register with --service"
        return Finding("error", "name resolution", f"{host}: {connection_problem(error)}", fix)
    return Finding("ok", "name resolution", f"{host} is {', '.join(sorted({str(entry[4][0]) for entry in found}))}")


def _presented(host: str, port: int, timeout: float) -> list[x509.Certificate]:
    """The server's certificate, trusted or not; whether it is to be trusted is judged apart, with better words."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with (
        socket.create_connection((host, port), timeout) as plain,
        context.wrap_socket(plain, server_hostname=host) as tls,
    ):
        unverified = getattr(tls, "get_unverified_chain", None)  # the whole chain, from Python 3.13 on
        presented = list(unverified()) if unverified else [tls.getpeercert(binary_form=True) or b""]
    return [x509.load_der_x509_certificate(one) for one in presented]


def _without_bundle(chain: list[x509.Certificate], host: str) -> list[Finding]:
    findings = [finding for finding in check_chain(chain, [], [host]) if finding.subject != "trust"]
    fix = "give the registered bundle with --ca to check the chain too"
    return [*findings, Finding("warning", "trust", "checked against this system's authorities only", fix)]


def _connect(probe: Probe, host: str, port: int) -> http.client.HTTPSConnection:
    context = ssl.create_default_context(cafile=probe.authorities)
    return http.client.HTTPSConnection(host, port, timeout=probe.timeout, context=context)
