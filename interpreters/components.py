"""Which kinds have several components: what scripts declare and Karmada answers, so that no list has to name kinds."""

from __future__ import annotations

from typing import Final

from interpreters.catalog import Catalog, Offer
from interpreters.core.division import Division
from interpreters.core.errors import InputError
from interpreters.core.karmada.answers import SHIPPED, is_native
from interpreters.core.karmada.releases import NEWEST
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.operations import OPERATIONS, Answer
from interpreters.headers import Header, division_of

COMPONENTS_KEY: Final = "components"
"""The key of the declaration in a script's header, and of a customization's annotation: `one` or `several`."""

_COMPONENTS: Final = next(operation for operation in OPERATIONS if operation.answer is Answer.COMPONENTS)


def kinds_with_several_components(catalog: Catalog) -> frozenset[tuple[str, str]]:
    """Group and kind, in whatever version."""
    kinds = {*catalog.kinds, *SHIPPED[NEWEST]}
    return frozenset((kind.group, kind.kind) for kind in kinds if has_several_components(catalog, kind))


def kinds_sent_whole(catalog: Catalog) -> frozenset[tuple[str, str]]:
    """Those with several components that Karmada cannot divide: a policy has to bind them to one cluster."""
    return kinds_with_several_components(catalog) - {
        (kind.group, kind.kind) for kind in catalog.kinds if _divides(catalog, kind)
    }


def has_several_components(catalog: Catalog, kind: GroupVersionKind) -> bool:
    """Whether objects of a kind usually have several pod templates.

    A script that answers InterpretComponent may say so (`Components: several`, `Components: one`). One that does not
    say it is taken by its Division: what goes whole, or does not tell, has several. Without a script it is what Karmada
    tells the components of by itself. Kubernetes' own kinds have one.
    """
    if is_native(kind):
        return False
    offers = catalog.offers.get((kind, _COMPONENTS), ())
    return _declares_several(offers[0]) if offers else _COMPONENTS in SHIPPED[NEWEST].get(kind, ())


def _divides(catalog: Catalog, kind: GroupVersionKind) -> bool:
    offers = catalog.offers.get((kind, _COMPONENTS), ())
    try:
        return bool(offers) and division_of(offers[0].candidate.header) is Division.DIVIDES
    except InputError:
        return False


def _declares_several(offer: Offer) -> bool:
    header = offer.candidate.header
    try:
        several = declared_several(header)
        return division_of(header) in (None, Division.WHOLE) if several is None else several
    except InputError:
        return True  # it declares two things or an unknown one, and lint says so


def declared_several(header: Header) -> bool | None:
    """What a header declares, None if nothing. Raises `InputError` for an unknown value.

    >>> declared_several(Header((("components", "Several"),)))
    True
    """
    declared = header.first(COMPONENTS_KEY)
    if declared is None:
        return None
    if declared.lower() not in ("one", "several"):
        raise InputError(f"Components: expected one or several, got {declared[:40]!r}")
    return declared.lower() == "several"
