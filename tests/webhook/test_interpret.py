"""Every operation and every kind of failure of /interpret, over real HTTPS and in both languages."""

from __future__ import annotations

import base64
import gzip
import json
import socket
import time
import zlib
from pathlib import Path
from typing import Any

import pytest

from interp.verbs.doctor.acceptance import problems_of
from tests.webhook.server import ENVELOPE, KINDS, SCRIPTS, Client, Server, raw_exchange, request

COMPONENTS = [{"name": "a", "replicas": 2}, {"name": "b", "replicas": 0}]
ITEMS = [{"clusterName": "member1"}, {"clusterName": "member2", "health": "Unknown"}]
OBSERVED = {"spec": {"kept": 7}}


def patch(*operations: dict[str, Any]) -> dict[str, Any]:
    return {"patch": list(operations), "patchType": "JSONPatch"}


OPERATIONS = [  # operation, spec, further request fields, the response beside uid and successful
    ("InterpretReplica", {"replicas": 3}, {},
     {"replicas": 3, "replicaRequirements": {"resourceRequest": {"cpu": "500m"}}}),
    ("InterpretComponent", {"components": COMPONENTS}, {}, {"components": COMPONENTS}),
    ("ReviseReplica", {"replicas": 3}, {"replicas": 5},
     patch({"op": "replace", "path": "/spec/replicas", "value": 5})),
    ("ReviseReplica", {"replicas": 3}, {"replicas": 0}, {}),
    ("Retain", {}, {"observedObject": OBSERVED}, patch({"op": "add", "path": "/spec/kept", "value": 7})),
    ("AggregateStatus", {}, {"aggregatedStatus": ITEMS},
     patch({"op": "add", "path": "/status", "value": {"clusters": ["member1", "member2"]}})),
    ("Prune", {}, {}, {}),
    ("InterpretStatus", {}, {}, {"rawStatus": {}}),
    ("InterpretHealth", {"healthy": False}, {}, {"healthy": False}),
    ("InterpretHealth", {}, {}, {"healthy": True}),
    ("InterpretDependency", {"needs": "props"}, {},
     {"dependencies": [{"apiVersion": "v1", "kind": "ConfigMap", "namespace": "default", "name": "props"}]}),
]  # fmt: skip


@pytest.mark.parametrize("language", KINDS)
@pytest.mark.parametrize(("operation", "spec", "more", "expected"), OPERATIONS)
def test_every_operation_is_answered_as_karmada_accepts_it(
    client: Client, language: str, operation: str, spec: dict[str, Any], more: dict[str, Any], expected: dict[str, Any]
) -> None:
    asked = request(language, operation, more=more, **spec)
    response = client.interpret(asked)
    assert problems_of(asked, 200, json.dumps({**ENVELOPE, "response": response}).encode()) == []
    if "patch" in response:
        response["patch"] = json.loads(base64.b64decode(response["patch"]))
    assert response == {"uid": "u-1", "successful": True, **expected}


FAILURES = [  # operation, spec,                               code, part of the message, outcome counted
    ("InterpretReplica", {"behaviour": "fail"}, 422, "cannot be played", "script"),
    ("InterpretReplica", {"behaviour": "loop"}, 422, "1 s|costs more", "script"),
    ("InterpretReplica", {"behaviour": "grow"}, 422, "", "script"),
    ("InterpretReplica", {"behaviour": "recurse"}, 422, "", "script"),
    ("InterpretReplica", {"replicas": "three"}, 422, "replicas: expected a number", "script"),
    ("InterpretReplica", {"replicas": -1}, 422, "replicas: expected 0 to", "script"),
    ("InterpretComponent", {"components": [{"name": "a", "replicas": 1}] * 2}, 422, "duplicate name", "script"),
    ("InterpretComponent", {"components": [{"name": "x" * 33, "replicas": 1}]}, 422, "1 to 32 characters", "script"),
]


@pytest.mark.parametrize("language", KINDS)
@pytest.mark.parametrize(("operation", "spec", "code", "message", "outcome"), FAILURES)
def test_a_scripts_fault_is_answered_in_the_envelope_and_counted_as_such(
    client: Client, language: str, operation: str, spec: dict[str, Any], code: int, message: str, outcome: str
) -> None:
    before = client.metric("interp_requests_total", outcome=outcome)
    response = client.interpret(request(language, operation, **spec))
    assert response["successful"] is False
    assert response["status"]["code"] == code
    assert any(words in response["status"]["message"] for words in message.split("|"))
    assert client.metric("interp_requests_total", outcome=outcome) == before + 1


def test_messages_are_the_same_for_the_same_cause(client: Client) -> None:
    asked = [request("starlark", "InterpretReplica", uid=uid, behaviour="fail") for uid in ("one", "two")]
    first, second = (client.interpret(one)["status"] for one in asked)
    assert first == second


UNKNOWN = [  # what is changed in the request,                        code, the message names
    ({"operation": "Dance"}, 404, "InterpretComponent"),
    ({"operation": ""}, 404, "InterpretComponent"),
    ({"kind": {"group": "stage.example.org", "version": "v1", "kind": "Akt"}}, 404, "stage.example.org/v1 Act"),
    ({"kind": {"group": "g" * 300, "version": "v1", "kind": "Act"}}, 400, "253 characters"),
    ({"object": [1]}, 400, "request.object"),
    ({"object": None}, 400, "request.object"),
    ({"replicas": "many"}, 400, "request.replicas"),
    ({"kind": "Act"}, 400, "request.kind"),
]


@pytest.mark.parametrize(("change", "code", "named"), UNKNOWN)
def test_a_request_that_is_wrong_in_a_sound_envelope_is_answered_in_it(
    client: Client, change: dict[str, Any], code: int, named: str
) -> None:
    before = client.metric("interp_requests_total", outcome="request")
    response = client.interpret(request("starlark", "InterpretReplica", replicas=1) | change)
    assert (response["successful"], response["status"]["code"]) == (False, code)
    assert named in response["status"]["message"]
    assert client.metric("interp_requests_total", outcome="request") == before + 1


GOOD = json.dumps({**ENVELOPE, "request": request("starlark", "InterpretHealth")}).encode()
BOMB = gzip.compress(bytes(64 * 1024 * 1024))

MALFORMED = [  # body, headers, HTTP status, part of the message
    (b"", {}, 400, "not JSON"),
    (b"{", {}, 400, "not JSON"),
    (b"[]", {}, 400, "expected an object, got a list"),
    (b'"\xff\xfe"', {}, 400, "not UTF-8"),
    (GOOD.replace(b"v1alpha1", b"v9"), {}, 400, "expected apiVersion"),
    (GOOD.replace(b"ResourceInterpreterContext", b"AdmissionReview"), {}, 400, "expected apiVersion"),
    (json.dumps(ENVELOPE).encode(), {}, 400, "request"),
    (json.dumps({**ENVELOPE, "request": {}}).encode(), {}, 400, "request.uid: expected a value, got nothing"),
    (GOOD.replace(b'"u-1"', b'""'), {}, 400, "uid"),
    (GOOD.replace(b'"u-1"', b"1"), {}, 400, "uid"),
    (b"[" * 100_000, {}, 400, ""),
    (GOOD, {"Content-Type": "text/plain"}, 415, "application/json"),
    (GOOD, {"Content-Type": "application/json; charset=latin-1"}, 415, "application/json"),
    (GOOD, {"Content-Encoding": "br"}, 415, "gzip"),
    (GOOD, {"Content-Encoding": "gzip"}, 400, "not valid gzip"),
    (gzip.compress(GOOD)[:-9], {"Content-Encoding": "gzip"}, 400, "ends too early"),
    (BOMB, {"Content-Encoding": "gzip"}, 413, "larger than"),
    (b" " * 10_000_000, {}, 413, "larger than"),
]


@pytest.mark.parametrize(("body", "headers", "status", "message"), MALFORMED)
def test_what_has_no_envelope_to_answer_in_gets_an_http_error_that_explains(
    client: Client, body: bytes, headers: dict[str, str], status: int, message: str
) -> None:
    got, problem = client.post(body, headers=headers)
    assert (got, problem["code"]) == (status, status)
    assert message in problem["message"]
    assert "Traceback" not in problem["message"]
    assert client.post(GOOD)[0] == 200, "the server goes on"


def test_gzip_bodies_are_understood(client: Client) -> None:
    assert client.post(gzip.compress(GOOD), headers={"Content-Encoding": "gzip"})[0] == 200


def test_a_chunked_body_is_understood_and_bounded(client: Client, server: Server) -> None:
    client.connection.request(
        "POST", "/interpret", iter([GOOD[:100], GOOD[100:]]), {"Content-Type": "application/json"}
    )
    assert json.loads(client.connection.getresponse().read())["response"]["healthy"] is True
    client.close()
    head = (
        b"POST /interpret HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    flood = head + b"100000\r\n" + b" " * 0x100000 + b"\r\n" + (b"100000\r\n" + b" " * 0x100000 + b"\r\n") * 12
    answer = raw_exchange(server.port, flood, client.context)
    assert not answer or b"413" in answer.splitlines()[0]


PATHS = [  # method, path, status, part of the message
    ("GET", "/interpret", 405, "POST"),
    ("PUT", "/interpret", 405, "POST"),
    ("POST", "/healthz", 405, "GET"),
    ("GET", "/", 404, "/interpret"),
    ("GET", "/interpret/../../etc/passwd", 404, "/interpret"),
]


@pytest.mark.parametrize(("method", "path", "status", "message"), PATHS)
def test_wrong_paths_and_methods_are_told_what_is_right(
    client: Client, method: str, path: str, status: int, message: str
) -> None:
    got, problem = client.send(method, path)
    assert got == status
    assert message in problem["message"]


TIMEOUTS = [("abc", 400), ("-1s", 400), ("0s", 400), ("3", 400), ("3s", 200), ("1m30s", 200), ("500ms", 200)]


@pytest.mark.parametrize(("timeout", "status"), TIMEOUTS)
def test_the_timeout_is_a_go_duration(client: Client, timeout: str, status: int) -> None:
    assert client.post(GOOD, f"/interpret?timeout={timeout}")[0] == status


def test_the_caller_gets_our_words_before_its_own_timeout(client: Client) -> None:
    started = time.monotonic()
    response = client.interpret(request("starlark", "InterpretReplica", behaviour="loop"), "/interpret?timeout=600ms")
    assert time.monotonic() - started < 0.6
    said = response["status"]["message"]
    assert "before the caller's deadline" in said or "costs more" in said


@pytest.mark.parametrize("language", KINDS)
@pytest.mark.parametrize(("timeout", "words"), [("600ms", "before the caller's deadline"), ("5s", "within 1 s")])
def test_a_call_that_never_ends_has_one_text_however_often_it_is_asked(
    certs: Path, language: str, timeout: str, words: str
) -> None:
    flags = ["--scripts", str(SCRIPTS), "--bundled-language", "none", "--workers", "1", "--script-cost", str(10**15)]
    asked = request(language, "InterpretReplica", behaviour="loop")
    with Server(certs, *flags) as server:
        client = Client(server.port, certs / "ca.crt")
        client.interpret(request(language, "InterpretReplica", replicas=1))  # loads the script, which takes time too
        answers = [client.interpret(asked, f"/interpret?timeout={timeout}") for _ in range(3)]
    texts = {answer["status"]["message"] for answer in answers}
    (text,) = texts
    assert text.endswith(f": in GetReplicas: did not finish {words}")


def test_a_body_that_never_comes_is_given_up_after_the_callers_timeout(client: Client, server: Server) -> None:
    head = b"POST /interpret?timeout=1s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    head += b"Content-Length: 500\r\n\r\n{"
    answer = raw_exchange(server.port, head, client.context)
    assert b"408" in answer.splitlines()[0]


@pytest.mark.parametrize(
    "text", [b"\x00\x01\x02\r\n\r\n", b"POST /interpret HTTP/9.9\r\n\r\n", b"GET / HTTP/1.1\r\nA" * 9]
)
def test_what_is_not_http_gets_an_answer_or_a_closed_connection_and_no_traceback(
    client: Client, server: Server, text: bytes
) -> None:
    answer = raw_exchange(server.port, text, client.context)
    assert b"Traceback" not in answer
    assert client.post(GOOD)[0] == 200
    assert client.headers["Server"] == "interp"
    assert not any("exception" in line for line in server.lines())


def test_a_failure_is_logged_with_its_uid_and_without_the_object(client: Client, server: Server) -> None:
    client.interpret(request("starlark", "InterpretReplica", uid="find-me", behaviour="fail", secret="top"))
    line = server.line_of("find-me")
    assert (line["level"], line["fault"], line["operation"]) == ("warning", "script", "InterpretReplica")
    assert "top" not in json.dumps(line)


def test_zlib_is_not_mistaken_for_gzip(client: Client) -> None:
    assert client.post(zlib.compress(GOOD), headers={"Content-Encoding": "gzip"})[0] == 400


def test_a_client_that_waits_for_100_continue_gets_it(client: Client, server: Server) -> None:
    with socket.create_connection(("localhost", server.port), 20) as plain:
        tls = client.context.wrap_socket(plain, server_hostname="localhost")
        head = "POST /interpret HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n"
        tls.sendall(f"{head}Content-Length: {len(GOOD)}\r\n\r\n".encode())
        assert tls.recv(100).startswith(b"HTTP/1.1 100 Continue")
        tls.sendall(GOOD)
        assert tls.recv(65536).startswith(b"HTTP/1.1 200 OK")


def test_head_is_answered_like_get(client: Client) -> None:
    assert client.send("HEAD", "/healthz")[0] == 200
