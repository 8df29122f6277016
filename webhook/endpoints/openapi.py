"""The OpenAPI document of the service. Shapes come from the same structs and tables that decode and encode them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from interpreters.core.karmada.api import CONFIG_API
from interpreters.core.operations import OPERATIONS
from interpreters.core.requirements import Component, Dependency, ReplicaRequirements
from interpreters.core.wire import KIND
from webhook.server.listener import Route

_PROBLEM = {
    "type": "object",
    "required": ["code", "reason", "message"],
    "properties": {"code": {"type": "integer"}, "reason": {"type": "string"}, "message": {"type": "string"}},
}
_TIMEOUT = {
    "name": "timeout",
    "in": "query",
    "description": "The caller's budget as a Go duration. The reply comes a margin earlier.",
    "schema": {
        "type": "string",
        "pattern": r"^([0-9]+(\.[0-9]*)?(h|ms|m|s|us|ns))+$",
        "not": {"pattern": "^([0.]+[a-z]+)+$"},
        "example": "3s",
    },
}
_KIND = {"type": "object", "properties": {name: {"type": "string"} for name in ("group", "version", "kind")}}
_REQUEST = {
    "type": "object",
    "required": ["uid", "kind", "operation", "object"],
    "properties": {
        "uid": {"type": "string", "minLength": 1},
        "kind": _KIND,
        "name": {"type": "string"},
        "namespace": {"type": "string"},
        "operation": {"type": "string", "enum": [operation.name for operation in OPERATIONS]},
        "object": {"type": "object", "description": "The whole Kubernetes object."},
        "observedObject": {"type": "object", "description": "Retain: the object in the member cluster."},
        "replicas": {"type": "integer", "minimum": 0, "maximum": 2**31 - 1},
        "aggregatedStatus": {"type": "array", "items": {"type": "object"}, "description": "One item a cluster."},
    },
}
_RESPONSE = {
    "type": "object",
    "required": ["uid", "successful"],
    "properties": {
        "uid": {"type": "string"},
        "successful": {"type": "boolean"},
        "status": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {"code": {"type": "integer"}, "message": {"type": "string"}},
        },
        "replicas": {"type": "integer", "minimum": 0},
        "replicaRequirements": {"$ref": "#/components/schemas/ReplicaRequirements"},
        "components": {"type": "array", "items": {"$ref": "#/components/schemas/Component"}},
        "patch": {"type": "string", "contentEncoding": "base64", "description": "RFC 6902, against request.object."},
        "patchType": {"type": "string", "const": "JSONPatch"},
        "rawStatus": {"type": "object"},
        "healthy": {"type": "boolean"},
        "dependencies": {"type": "array", "items": {"$ref": "#/components/schemas/Dependency"}},
    },
}
_ANSWERS = {  # what every endpoint with a body may answer besides its own
    "400": "The body cannot be read: not JSON, not UTF-8, not the expected envelope.",
    "403": "The caller's address is not allowed.",
    "408": "The body did not arrive in time.",
    "413": "The body is too large, packed or unpacked.",
    "415": "The body is not JSON, or packed in an unknown way.",
    "429": "Too many requests are waiting.",
    "500": "An error of the server.",
}


def _review(field: str, properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    """An AdmissionReview of Kubernetes, in which `request` comes in and `response` goes out."""
    return {
        "type": "object",
        "required": ["apiVersion", "kind", field],
        "properties": {
            "apiVersion": {"type": "string", "const": "admission.k8s.io/v1"},
            "kind": {"type": "string", "const": "AdmissionReview"},
            field: {"type": "object", "required": required, "properties": properties},
        },
    }


REVIEW_REQUEST = _review(
    "request",
    {
        "uid": {"type": "string", "minLength": 1},
        "operation": {"type": "string", "enum": ["CREATE", "UPDATE", "DELETE", "CONNECT"]},
        "kind": {**_KIND, "required": ["version", "kind"]},
        "object": {"type": ["object", "null"]},
        "oldObject": {"type": ["object", "null"]},
    },
    ["uid", "operation", "kind"],
)
REVIEW_RESPONSE = _review("response", {"uid": {"type": "string"}, "allowed": {"type": "boolean"}}, ["uid", "allowed"])


def envelope(field: str, reference: str) -> dict[str, Any]:
    return {
        "type": "object",
        "required": ["apiVersion", "kind", field],
        "properties": {
            "apiVersion": {"type": "string", "const": CONFIG_API},
            "kind": {"type": "string", "const": KIND},
            field: {"$ref": f"#/components/schemas/{reference}"},
        },
    }


def _refusal(text: str) -> dict[str, Any]:
    return {
        "description": text,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }


def operation(summary: str, body: dict[str, Any], answer: dict[str, Any], **answers: str) -> dict[str, Any]:
    """A POST of JSON that answers JSON. `answers` are further HTTP codes, written `_404=…`."""
    refusals = _ANSWERS | {code.strip("_"): text for code, text in answers.items()}
    return {
        "summary": summary,
        "parameters": [_TIMEOUT],
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": {
            "200": {"description": "The answer.", "content": {"application/json": {"schema": answer}}},
            **{code: _refusal(text) for code, text in sorted(refusals.items())},
        },
    }


def look(summary: str, media: str = "application/json", **answers: str) -> dict[str, Any]:
    """A GET."""
    content = {media: {"schema": {"type": "object"} if media == "application/json" else {"type": "string"}}}
    refused = {code.strip("_"): {"description": text, "content": content} for code, text in answers.items()}
    return {"summary": summary, "responses": {"200": {"description": "The answer.", "content": content}, **refused}}


INTERPRET = operation(
    "Answer one operation on one object. Failures of a script or request are 200 with `successful: false`.",
    envelope("request", "Request"),
    envelope("response", "Response"),
)
HEALTHZ = look("The process is alive.")
READYZ = look("Scripts are loaded and workers are up.", _503="It is not ready; the body says why.")
READYZ_ADMIT = look(
    "The ledger can be written and the quotas are known, so that /admit decides.",
    _503="It does not; the body says why.",
)
METRICS = look("Prometheus metrics of all processes.", "text/plain")
VERSION = look("Version, operations and kinds.")
OPENAPI = look("This document.")


def document(version: str, routes: Iterable[Route], more_shapes: Iterable[Any] = ()) -> dict[str, Any]:
    """The description of these routes; one with a secret in its path is described without it."""
    shapes = (Component, ReplicaRequirements, Dependency, *more_shapes)
    _, schemas = msgspec.json.schema_components(shapes, ref_template="#/components/schemas/{name}")
    paths: dict[str, Any] = {}
    for route in routes:
        if route.description is None:
            continue
        path = route.path.rsplit("/", 1)[0] + "/{secret}" if route.hidden else route.path
        described = dict(route.description)
        if route.hidden:
            secret = {"name": "secret", "in": "path", "required": True, "schema": {"type": "string"}}
            described["parameters"] = [secret, *described.get("parameters", [])]
        paths.setdefault(path, {})[route.method.lower()] = described
    return {
        "openapi": "3.1.0",
        "info": {"title": "interp", "version": version, "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"}},
        "paths": paths,
        "components": {"schemas": {**schemas, "Request": _REQUEST, "Response": _RESPONSE, "Problem": _PROBLEM}},
    }
