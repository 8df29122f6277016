"""The ResourceInterpreterWebhookConfiguration itself, refused here where Karmada would refuse it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from interpreters.core.errors import InputError
from interpreters.core.karmada.api import WEBHOOK_CONFIGURATION
from interpreters.core.operations import OPERATIONS
from webhook.registration.ownership import LABELS
from webhook.registration.plan import Plan

_LABEL: Final = re.compile("[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")


def configuration(plan: Plan, client: Mapping[str, Any], *, name: str, timeout: int = 10) -> dict[str, Any]:
    """The object to apply. Raises `InputError` for what Karmada would refuse, or if there is nothing to register."""
    if "." not in name:
        raise InputError(f'"{name}": the webhook\'s name must be words joined by dots, at least two')
    object_name(name)
    if not 1 <= timeout <= 30:
        raise InputError(f"timeoutSeconds: expected 1 to 30, got {timeout}")
    rules = plan.rules()
    if not rules:
        raise InputError("nothing to register: no script offers an operation that may be registered")
    check_rules(rules)
    return {
        "apiVersion": WEBHOOK_CONFIGURATION.api_version,
        "kind": WEBHOOK_CONFIGURATION.kind,
        "metadata": {"name": object_name(name), "labels": dict(LABELS)},
        "webhooks": [
            {
                "name": name,
                "clientConfig": dict(client),
                "interpreterContextVersions": ["v1alpha1"],
                "timeoutSeconds": timeout,
                "rules": rules,
            }
        ],
    }


def object_name(webhook: str) -> str:
    """The name of the object by that of its webhook: the first word. Raises `InputError` for what is no name; as a part
    of a path it would mean something else than one object.

    >>> object_name("interp.example.org")
    'interp'
    """
    labels = webhook.split(".")
    if len(webhook) > 253 or not all(map(_LABEL.fullmatch, labels)):
        raise InputError(f'"{webhook}": the webhook\'s name must be lower-case words joined by dots')
    return labels[0]


def check_rules(rules: Iterable[Mapping[str, Any]]) -> None:
    """Refuse what Karmada refuses in any rule: a `*` in peers, an empty list, an operation it does not know."""
    known = {operation.name for operation in OPERATIONS if operation.registrable} | {"*"}
    for index, rule in enumerate(rules):
        for field in ("apiGroups", "apiVersions", "kinds", "operations"):
            values = rule.get(field) or []
            where = f"rules[{index}].{field}"
            if not values:
                raise InputError(f"{where}: must not be empty")
            if "*" in values and len(values) > 1:
                raise InputError(f"{where}: * excludes other values")
        unknown = [name for name in rule["operations"] if name not in known]
        if unknown:
            raise InputError(f"rules[{index}].operations: {unknown[0]} cannot be registered")
