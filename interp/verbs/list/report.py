"""The list as JSON."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from interp.verbs.list.listed import Listed
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.requirements import Wire
from interpreters.scan import Broken, Origin


class ListedOperation(Wire, frozen=True, omit_defaults=False):
    """Which function of which script answers, and the scripts that would without it."""

    operation: str
    function: str
    source: Annotated[str, Meta(extra_json_schema={"enum": [str(origin) for origin in Origin]})]
    language: str
    script: str
    shadows: list[str]


class ListedKind(Wire, frozen=True, omit_defaults=False):
    api_version: str
    kind: str
    operations: list[ListedOperation]


class ListedBroken(Wire, frozen=True, omit_defaults=False):
    """A script that does not load; without a kind where it cannot be told."""

    script: str
    error: str
    fails: Annotated[list[str], Meta(description="Operations of the kind that fail because of it.")]
    api_version: str | UnsetType = UNSET
    kind: str | UnsetType = UNSET


class ListReport(Wire, frozen=True, omit_defaults=False):
    """Everything that `-o json` prints."""

    kinds: list[ListedKind]
    broken: list[ListedBroken]


def report_of(listed: Listed) -> ListReport:
    return ListReport(
        [ListedKind(kind.api_version, kind.kind, _operations(listed, kind)) for kind in listed.kinds],
        [_broken(listed, broken) for broken in listed.catalog.broken],
    )


def _operations(listed: Listed, kind: GroupVersionKind) -> list[ListedOperation]:
    return [
        ListedOperation(
            operation.name,
            offer.function,
            str(offer.source.origin),
            offer.script.language,
            offer.script.name,
            [shadow.script.name for shadow in shadowed],
        )
        for operation, offer, shadowed in listed.offers(kind)
    ]


def _broken(listed: Listed, broken: Broken) -> ListedBroken:
    if broken.kind is None:
        return ListedBroken(broken.name, str(broken.error), [])
    fails = [operation.name for operation in listed.failing(broken.kind).get(broken, [])]
    return ListedBroken(broken.name, str(broken.error), fails, broken.kind.api_version, broken.kind.kind)
