"""What an API server says when it refuses, in words for whoever asked: its Status is JSON and says much besides."""

from __future__ import annotations

import re
from typing import Final

import msgspec

_FORBIDDEN: Final = re.compile(
    r'[^:]*is forbidden: User "(?P<user>[^"]*)" cannot (?P<verb>\S+) (?P<what>resource|path) "(?P<resource>[^"]*)"'
    r'(?: in API group "(?P<group>[^"]*)")?(?: in the namespace "(?P<namespace>[^"]*)")?'
)
_LONGEST_TEXT: Final = 300


class _Status(msgspec.Struct):
    kind: str = ""
    message: str = ""


def refusal(method: str, path: str, status: int, body: bytes) -> str:
    """What was asked, the HTTP code, and the reason; for a right that is missing also what would grant it."""
    why = _reason(status, body)
    return f"{method} {path}: HTTP {status}{f': {why}' if why else ''}"


def _reason(status: int, body: bytes) -> str:
    if 300 <= status < 400:
        return "it sends us elsewhere, which no API server does; is the address of the kubeconfig right?"
    message = _message(body)
    if status == 401:
        return f"{message or 'no reason given'}; the credentials of the kubeconfig are not accepted"
    found = _FORBIDDEN.match(message) if status == 403 else None
    return _missing_right(found) if found else message


def _message(body: bytes) -> str:
    try:
        said = msgspec.json.decode(body, type=_Status)
    except (msgspec.DecodeError, UnicodeDecodeError):
        text = body.decode(errors="replace").strip()
    else:
        text = said.message
    return next(iter(text.splitlines()), "")[:_LONGEST_TEXT] if text else ""


def _missing_right(found: re.Match[str]) -> str:
    """RBAC's own sentence taken apart: who lacks which verb on what, and the rule that has it."""
    user, verb, resource, group = found["user"], found["verb"], found["resource"], found["group"] or ""
    if found["what"] == "path":
        return (
            f'user "{user}" may not {verb} {resource}; a ClusterRole with nonResourceURLs [{resource}] would allow it'
        )
    namespace = found["namespace"]
    where = f'in namespace "{namespace}"' if namespace else "in the whole cluster"
    role = "Role there" if namespace else "ClusterRole"
    rule = f'apiGroups ["{group}"], resources ["{resource}"], verbs ["{verb}"]'
    of_group = f"{resource}.{group}" if group else resource
    return f'user "{user}" may not {verb} {of_group} {where}; a {role} with {rule}, bound to that user, would allow it'
