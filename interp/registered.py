"""What is registered in a live Karmada: webhook configurations and customizations, and the operations they answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

import msgspec

from estimator.clusters.apiserver import ApiServer
from estimator.clusters.listing import list_objects
from interpreters.core.karmada.api import CUSTOMIZATION, WEBHOOK_CONFIGURATION
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.operations import BY_NAME, BY_RULE, Operation

CONFIGURATIONS: Final = WEBHOOK_CONFIGURATION.path()


def tuples_of(configuration: Mapping[str, Any]) -> dict[GroupVersionKind, set[Operation]]:
    """The tuples that the rules of a configuration mean; those with a star, never written by interp, are left out."""
    found: dict[GroupVersionKind, set[Operation]] = {}
    for webhook in configuration.get("webhooks") or ():
        for rule in webhook.get("rules") or ():
            operations = {BY_NAME[name] for name in rule.get("operations") or () if name in BY_NAME}
            for group in rule.get("apiGroups") or ():
                for version in rule.get("apiVersions") or ():
                    for kind in rule.get("kinds") or ():
                        if "*" in (group, version, kind) or not operations:
                            continue
                        found.setdefault(GroupVersionKind(group, version, kind), set()).update(operations)
    return found


async def configurations(server: ApiServer) -> AsyncIterator[dict[str, Any]]:
    """Every ResourceInterpreterWebhookConfiguration."""
    async for page in list_objects(server, CONFIGURATIONS):
        for item in page:
            yield msgspec.json.decode(item)


async def customized_tuples(server: ApiServer) -> dict[GroupVersionKind, set[Operation]]:
    """What ResourceInterpreterCustomizations answer, which Karmada asks before any webhook."""
    found: dict[GroupVersionKind, set[Operation]] = {}
    async for page in list_objects(server, CUSTOMIZATION.path()):
        for item in page:
            spec = msgspec.json.decode(item).get("spec") or {}
            target = spec.get("target") or {}
            kind = GroupVersionKind.parse(str(target.get("apiVersion", "")), str(target.get("kind", "")))
            rules = spec.get("customizations") or {}
            found.setdefault(kind, set()).update(BY_RULE[rule] for rule in rules if rule in BY_RULE)
    return found
