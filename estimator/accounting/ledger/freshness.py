"""Which of two states is newer: by resourceVersion and creation time, and only where these do not tell by the clock."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from estimator.accounting.demand import Binding
from estimator.accounting.ledger.charges import BindingMark, Charge

_MOST_DIGITS: Final = 18  # what a database holds; etcd would count for centuries to get there


def moment_of(text: str | None) -> float | None:
    """A timestamp of Kubernetes as seconds since 1970; None when there is none that can be read."""
    try:
        return datetime.fromisoformat(text).timestamp() if text else None
    except ValueError:
        return None


def version_of(text: str) -> int | None:
    """A resourceVersion as a number, which the API servers of Kubernetes count up; None when it is none."""
    is_number = len(text) <= _MOST_DIGITS and text.isascii() and text.isdecimal()
    return int(text) if is_number else None


def mark_of(binding: Binding, version: int | None = None) -> BindingMark:
    """What to remember of a binding; `version` where the object itself cannot tell."""
    metadata = binding.metadata
    known = version_of(metadata.resource_version) if version is None else version
    return BindingMark(metadata.uid, moment_of(metadata.creation_timestamp), known)


def is_stale(charge: Charge, binding: Binding, as_of: float | None) -> bool:
    """Whether the charge knows something newer than a binding that was listed at `as_of`, or nobody knows when."""
    found, known = mark_of(binding), charge.binding
    if not charge.is_live:
        return False
    if known.uid and found.uid and known.uid != found.uid:  # deleted and made again: one of the two is gone
        if None not in (known.created, found.created) and known.created != found.created:
            return (found.created or 0.0) < (known.created or 0.0)
    elif known.version is not None and found.version is not None and known.version != found.version:
        return found.version < known.version
    if as_of is not None:
        return charge.updated_at > as_of
    # An export that does not say when it was made, of a binding that the ledger saw change: it may be from before.
    return known.version is not None and found.version is not None
