"""Hostile objects in sound envelopes, asked of scripts that mean no harm."""

from __future__ import annotations

import json
from typing import Any

from tests.hostile.rows import Row, post, question, scene

PASSWORD = "aHVudGVyMjJodW50ZXIyMg=="


def unknown(spec: bytes) -> bytes:
    """An object that no script knows, so that the script for every pod template is asked."""
    return b'{"apiVersion":"nobody.io/v1","kind":"Thing","metadata":{"name":"x"},"spec":' + spec + b"}"


def asked_of_nobody(spec: bytes) -> bytes:
    return question(unknown(spec)).replace(b"stage.example.org", b"nobody.io", 1).replace(b'"Scene"', b'"Thing"', 1)


def secret(**fields: Any) -> bytes:
    """A Secret in the clothes of an object that a script knows."""
    return json.dumps({"template": {"kind": "Secret", "data": {"password": PASSWORD}}, **fields}).encode()


OBJECTS = (
    Row("a number beyond any float", post(question(scene(b'{"replicas":1e400}'))), 200, code=(400, 422), says="number"),
    Row("a number beyond any float for nobody", post(asked_of_nobody(b'{"replicas":1e400}')), 200, code=404),
    Row(
        "a number beyond any float in a pod template",
        post(asked_of_nobody(b'{"replicas":1e400,"template":{"spec":{}}}')),
        200,
        code=(400, 404),
    ),
    Row("half of a surrogate pair", post(question(scene(b'{"replicas":"\\ud800"}'))), 400),
    Row(
        "half of a surrogate pair in a patch",
        post(question(scene(b'{"x":"\\ud800"}'), "ReviseReplica", replicas=3)),
        400,
    ),
    Row(
        "an object nested 900 deep",
        post(question(scene(b"[" * 900 + b"]" * 900), "ReviseReplica", replicas=2)),
        200,
        code=(400, 422),
        says="deep",
    ),
    Row("a million numbers", post(lambda: question(scene(b'{"replicas":1,"x":[' + b"1," * 900_000 + b"1]}"))), 200),
    Row(
        "a Secret's value where a number should be",
        post(question(scene(secret(replicas=PASSWORD)))),
        200,
        code=422,
        says="not shown",
        secret=PASSWORD[:6],
    ),
    Row(
        "a Secret's value where a component's name should be",
        post(question(scene(secret(components=[{"name": PASSWORD * 3, "replicas": 1}])), "InterpretComponent")),
        200,
        code=422,
        secret=PASSWORD[:6],
    ),
    Row(
        "a Secret's value where a quantity should be",
        post(
            question(
                scene(
                    secret(
                        components=[
                            {"name": "a", "replicas": 1, "replicaRequirements": {"resourceRequest": {"cpu": PASSWORD}}}
                        ]
                    )
                ),
                "InterpretComponent",
            )
        ),
        200,
        code=422,
        says="quantity",
        secret=PASSWORD[:6],
    ),
    Row(
        "a Secret in escaped letters",
        post(question(scene(secret(replicas=PASSWORD).replace(b"Secret", b"\\u0053ecret")))),
        200,
        code=422,
        secret=PASSWORD[:6],
    ),
)
