"""Which quotas of its namespace a binding would exceed if it went to certain clusters, by Karmada's own rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from estimator.accounting.usage import binding_usage
from estimator.quotas.amounts import no_amounts, quantity
from estimator.quotas.objects import read_quotas
from interpreters.core.quantity import ZERO


class Excess(NamedTuple):
    """One key of one quota: what it allows, what is used beside the binding, what the binding would take."""

    quota: str
    key: str
    limit: str
    used: str
    wanted: str
    short: str


def exceeded(
    binding: Mapping[str, Any], clusters: Sequence[Mapping[str, Any]], quotas: Iterable[Mapping[str, Any]]
) -> list[Excess]:
    """Used (as the quota's status says) + (new - old usage) may not be above `overall` for any key that it names."""
    spec = binding.get("spec") or {}
    old = binding_usage(dict(binding))
    new = binding_usage({**binding, "spec": {**spec, "clusters": list(clusters)}})
    found = []
    for quota in read_quotas([dict(item) for item in quotas]):
        for key, limit in sorted(quota.limits.items()):
            wanted, had = new.get(key, ZERO), old.get(key, ZERO)
            used = (quota.reported or no_amounts()).get(key, 0) - had.nano
            if wanted > had and used + wanted.nano > limit:
                amounts = (quantity(key, limit), quantity(key, max(used, 0)), quantity(key, wanted.nano),
                           quantity(key, used + wanted.nano - limit))  # fmt: skip
                found.append(Excess(str(quota), key, *map(str, amounts)))
    return found
