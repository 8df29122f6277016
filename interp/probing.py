"""Asking a running webhook as Karmada does: one keep-alive connection, its timeout, its trust, its acceptance rules."""

from __future__ import annotations

import http.client
import socket
import ssl
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import msgspec
from cryptography import x509

from certs.check import Finding, check_chain
from certs.folder import read_certificates
from interpreters.cases import Case, case_files, read_cases
from interpreters.core.errors import InputError
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.operations import Operation
from interpreters.core.wire import API_VERSION, KIND
from interpreters.scan import Candidate, Found, scan
from webhook.acceptance import problems_of

_LATENCIES = 20
_SLOW_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Probe:
    """A webhook's URL, the bundle its callers trust, and the timeout it is registered with."""

    url: str
    authorities: str | None
    timeout: int


def examine(probe: Probe, scripts: list[str], bundled: str, *, everything: bool) -> list[Finding]:
    """Every finding, in the order of the way that a request takes. Stops where going on makes no sense."""
    parts = urlsplit(probe.url)
    if parts.scheme != "https" or not parts.hostname:
        raise InputError(f'"{probe.url}": expected the https URL that Karmada is given, with /interpret')
    findings = [_resolve(parts.hostname, parts.port or 443)]
    if findings[-1].level == "error":
        return findings
    try:
        chain = _presented(parts.hostname, parts.port or 443, probe.timeout)
    except OSError as error:
        fix = "is the server up, and is this its TLS port?"
        return [
            *findings,
            Finding("error", "connection", f"{parts.hostname}:{parts.port or 443}: {_words(error)}", fix),
        ]
    trusted = read_certificates(Path(probe.authorities)) if probe.authorities else []
    findings += check_chain(chain, trusted, [parts.hostname]) if trusted else _without_bundle(chain, parts.hostname)
    connection = _connect(probe, parts.hostname, parts.port or 443)
    try:
        connection.connect()
    except OSError as error:
        fix = "give the ca.crt that was registered with --ca; `interp certs check` looks at the server's files"
        return [*findings, Finding("error", "handshake", _words(error), fix)]
    findings.append(Finding("ok", "handshake", f"{connection.sock.version()}"))
    findings += _ask_all(probe, connection, _cases(scripts, bundled, everything), parts.path or "/interpret")
    return findings


def _resolve(host: str, port: int) -> Finding:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        fix = "Karmada's controller manager resolves it too: check its DNS, or register with --service"
        return Finding("error", "name resolution", f"{host}: {_words(error)}", fix)
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


def _cases(scripts: list[str], bundled: str, everything: bool) -> list[Case]:
    """The objects to ask about: of each kind and operation the first case that expects an answer, or all of them."""
    found: list[Found] = scan([Path(place) for place in scripts], bundled=None if bundled == "none" else bundled)
    folders = dict.fromkeys(entry.folder for entry in found if isinstance(entry, Candidate) and entry.folder)
    cases = [case for folder in folders for file in case_files(folder) for case in read_cases(file)]
    wanted: dict[tuple[Any, ...], Case] = {}
    for case in cases:
        if case.want_error is None:
            key = (GroupVersionKind.of(case.object), case.operation, *([case.name] if everything else []))
            wanted.setdefault(key, case)
    return list(wanted.values())


def _ask_all(probe: Probe, connection: http.client.HTTPSConnection, cases: list[Case], path: str) -> Iterator[Finding]:
    if not cases:
        yield Finding("warning", "operations", "no case object to ask about", "name scripts with cases by --scripts")
        return
    failed = False
    for case in cases:
        finding = _ask(probe, connection, path, case)
        failed = failed or finding.level == "error"
        if finding.level == "error":
            yield finding
    if not failed:
        yield Finding("ok", "operations", f"{len(cases)} answers, and Karmada would accept them all")
        yield _latency(probe, connection, path, cases[0])


def _latency(probe: Probe, connection: http.client.HTTPSConnection, path: str, case: Case) -> Finding:
    taken = []
    for _ in range(_LATENCIES):
        start = time.perf_counter()
        _exchange(probe, connection, path, _request(case))
        taken.append(time.perf_counter() - start)
    middle = median(taken)
    message = f"median {middle * 1000:.1f} ms, slowest {max(taken) * 1000:.1f} ms of {_LATENCIES}"
    if middle > _SLOW_SECONDS:
        return Finding(
            "warning", "latency", message, "Karmada asks a dozen times per object: run it nearer, or add workers"
        )
    return Finding("ok", "latency", message)


def _ask(probe: Probe, connection: http.client.HTTPSConnection, path: str, case: Case) -> Finding:
    request = _request(case)
    subject = f"{GroupVersionKind.of(case.object)} {case.operation}"
    try:
        status, body = _exchange(probe, connection, path, request)
    except (OSError, http.client.HTTPException) as error:
        connection.close()
        fix = "the answer must come within the registered timeout"
        return Finding("error", subject, f"no answer: {_words(error)}", fix)
    problems = problems_of(request, status, body)
    if problems:
        return Finding("error", subject, "; ".join(problems), _fix(status, case.operation))
    return Finding("ok", subject, "accepted")


def _fix(status: int, operation: Operation) -> str:
    match status:
        case 404:
            return "the path is wrong: /interpret, followed by the path secret if one is set"
        case 403:
            return "add this address to allowFrom"
        case 200:
            return f"do not register {operation} for this kind, or mend the script: `interp test` shows more"
    return "see the server's log"


def _exchange(
    probe: Probe, connection: http.client.HTTPSConnection, path: str, request: dict[str, Any]
) -> tuple[int, bytes]:
    body = msgspec.json.encode({"apiVersion": API_VERSION, "kind": KIND, "request": request})
    headers = {"Content-Type": "application/json", "User-Agent": "interp-doctor"}
    connection.request("POST", f"{path}?timeout={probe.timeout}s", body, headers)
    response = connection.getresponse()
    return response.status, response.read()


def _request(case: Case) -> dict[str, Any]:
    kind = GroupVersionKind.of(case.object)
    metadata = case.object.get("metadata") or {}
    request: dict[str, Any] = {
        "uid": str(uuid4()),
        "kind": kind._asdict(),
        "name": metadata.get("name", ""),
        "namespace": metadata.get("namespace", ""),
        "operation": case.operation.name,
        "object": case.object,
        "replicas": case.replicas,
    }
    more = {"observedObject": case.observed, "aggregatedStatus": case.status}
    return request | {name: value for name, value in more.items() if value is not None}


def _words(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return error.verify_message
    if isinstance(error, TimeoutError):
        return "timed out"
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
