"""JSON schemas of the replies, and the words for what does not fit them.

The hot path checks replies with typed decoders; only when one refuses is the schema asked for a readable reason. The
same schemas are published in docs/schemas.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from interpreters.core.errors import ReplyError
from interpreters.core.operations import Answer
from interpreters.core.requirements import MOST_REPLICAS

_TEXT: Final = {"type": ["string", "null"]}
_TEXTS: Final = {"type": ["object", "null"], "additionalProperties": {"type": "string"}}
_REPLICAS: Final = {"type": "integer", "minimum": 0, "maximum": MOST_REPLICAS}
_QUANTITY: Final = {"type": ["string", "number"]}


def _object(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(required), "properties": properties}


def _optional(schema: dict[str, Any]) -> dict[str, Any]:
    return {**schema, "type": [schema["type"], "null"]}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": ["array", "null"], "items": items}


_REQUIREMENT: Final = _object(
    ("key", "operator"), key={"type": "string"}, operator={"type": "string"}, values=_list({"type": "string"})
)
_TERM: Final = _object(matchExpressions=_list(_REQUIREMENT), matchFields=_list(_REQUIREMENT))
_TOLERATION: Final = _object(
    key=_TEXT, operator=_TEXT, value=_TEXT, effect=_TEXT, tolerationSeconds={"type": ["integer", "null"]}
)
_CLAIM: Final = _object(
    hardNodeAffinity=_optional(_object(nodeSelectorTerms=_list(_TERM))),
    nodeSelector=_TEXTS,
    tolerations=_list(_TOLERATION),
)
_NEEDS: Final[dict[str, Any]] = {
    "nodeClaim": _optional(_CLAIM),
    "resourceRequest": {"type": ["object", "null"], "additionalProperties": _QUANTITY},
    "priorityClassName": _TEXT,
}
_COMPONENT: Final = _object(
    ("name", "replicas"),
    name={"type": "string", "minLength": 1, "maxLength": 32},
    replicas=_REPLICAS,
    replicaRequirements=_optional(_object(**_NEEDS)),
)
_LABELS: Final = _object(matchLabels=_TEXTS, matchExpressions=_list(_REQUIREMENT))
_DEPENDENCY: Final = {
    **_object(
        ("apiVersion", "kind"),
        apiVersion={"type": "string", "minLength": 1},
        kind={"type": "string", "minLength": 1},
        namespace=_TEXT,
        name=_TEXT,
        labelSelector=_optional(_LABELS),
    ),
    "anyOf": [{"required": ["name"]}, {"required": ["labelSelector"]}],
}
_PATCH: Final[dict[str, Any]] = {
    "patch": {"type": "string", "contentEncoding": "base64", "description": "a JSON Patch (RFC 6902)"},
    "patchType": {"const": "JSONPatch"},
}

REPLY_SCHEMAS: Final[dict[Answer, dict[str, Any]]] = {
    Answer.REPLICAS: _object(
        ("replicas",), replicas=_REPLICAS, replicaRequirements=_optional(_object(**_NEEDS, namespace=_TEXT))
    ),
    Answer.COMPONENTS: _object(("components",), components={"type": "array", "items": _COMPONENT}),
    Answer.OBJECT: {**_object(**_PATCH), "dependentRequired": {"patch": ["patchType"], "patchType": ["patch"]}},
    Answer.STATUS: _object(("rawStatus",), rawStatus={"type": "object"}),
    Answer.HEALTH: _object(("healthy",), healthy={"type": "boolean"}),
    Answer.DEPENDENCIES: _object(("dependencies",), dependencies={"type": "array", "items": _DEPENDENCY}),
}


def explain(answer: Answer, root: str, value: Any, otherwise: str) -> ReplyError:
    """Why `value`, the response field `root`, is no valid reply; `otherwise` if the schema finds nothing wrong."""
    from jsonschema.exceptions import best_match

    found = best_match(_validator(answer).evolve(schema=REPLY_SCHEMAS[answer]["properties"][root]).iter_errors(value))
    if found is None:
        return ReplyError(root, otherwise)
    path = root + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in found.absolute_path)
    if found.validator == "required":
        missing = next(name for name in found.validator_value if name not in found.instance)
        return ReplyError(f"{path}.{missing}", f"is missing; a {_NOUNS[answer]} needs it")
    return ReplyError(path, f"expected {_expected(found)}, got {described(found.instance)}")


_NOUNS: Final = {Answer.COMPONENTS: "component", Answer.DEPENDENCIES: "dependency", Answer.REPLICAS: "requirement"}


@lru_cache
def _validator(answer: Answer) -> Any:
    # Imported late: it takes longer than everything else in this package and is needed only to word an error.
    from jsonschema import Draft202012Validator

    return Draft202012Validator(REPLY_SCHEMAS[answer])


_WORDS: Final = {"string": "text", "array": "a list", "integer": "a whole number", "object": "an object"}


def _expected(error: Any) -> str:
    wanted = error.validator_value
    if error.validator == "type":
        kinds = [kind for kind in ([wanted] if isinstance(wanted, str) else wanted) if kind != "null"]
        return " or ".join(_WORDS.get(k, f"a {k}") for k in kinds)
    return f"{error.validator} {wanted}"


def described(value: Any) -> str:
    """A value that does not fit, as a message names it."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, bool):
        return "true" if value else "false"
    return "nothing" if value is None else f"{value!r:.60}"
