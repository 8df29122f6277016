"""Karmada's releases: what each of them changed that interp has to know, and how to tell which one is meant.

The newest is the default. An API server's `/version` is Kubernetes' own, so a live Karmada is told by its schema of
ResourceBinding: from 1.19 on a target cluster in it has `components`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from interpreters.core.errors import InputError
from interpreters.core.karmada.api import BINDING

BINDING_CRD: Final = f"{BINDING.plural}.{BINDING.group}"
_SPELLED: Final = re.compile(r"v?(\d+)\.(\d+)(?:\.\d+)?(?:[-+].*)?")


@dataclass(frozen=True, slots=True, order=True)
class Release:
    """A minor release. Two releases compare by their numbers."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"

    @property
    def records_components(self) -> bool:
        """The scheduler writes `spec.clusters[].components` for several components that go to one cluster."""
        return self >= KARMADA_1_19

    @property
    def reschedules_from_first_group(self) -> bool:
        """A requested reschedule begins at `clusterAffinities[0]`; before, it shared out afresh in the group it had."""
        return self >= KARMADA_1_19

    @property
    def purge_modes(self) -> tuple[str, ...]:
        """What `purgeMode` may be in a policy's failover.application and in a binding's eviction task."""
        kept = ("Directly", "Gracefully", "Never")
        return kept if self >= KARMADA_1_19 else (*kept, *RENAMED_PURGE_MODES)

    @property
    def schedules_by_priority(self) -> bool:
        """The feature gate PriorityBasedScheduling is on unless switched off."""
        return self >= KARMADA_1_19


KARMADA_1_18: Final = Release(1, 18)
KARMADA_1_19: Final = Release(1, 19)
RELEASES: Final = (KARMADA_1_18, KARMADA_1_19)
NEWEST: Final = RELEASES[-1]
RENAMED_PURGE_MODES: Final = {"Immediately": "Directly", "Graciously": "Gracefully"}


def parse_release(text: str) -> Release:
    """`1.19`, `v1.19`, `1.19.2` or `v1.19.0-rc.1`. Raises `InputError` for anything that is no known release."""
    known = " and ".join(map(str, RELEASES))
    spelled = _SPELLED.fullmatch(text.strip())
    if spelled is None:
        raise InputError(f'"{text}" is no release of Karmada: expected one such as {NEWEST} or v{NEWEST}.0')
    release = Release(int(spelled[1]), int(spelled[2]))
    if release not in RELEASES:
        near = NEWEST if release > NEWEST else RELEASES[0]
        raise InputError(f"Karmada {release} is not known here: there are {known}; the nearest is {near}")
    return release


def release_of_crd(crd: Mapping[str, Any]) -> Release | None:
    """The release that a CustomResourceDefinition of ResourceBinding comes from; None when it does not say.

    A release newer than those known has all fields of the newest, and counts as that."""
    for version in _at(crd, "spec", "versions") or ():
        if version.get("name") == BINDING.version:
            target = _at(version, "schema", "openAPIV3Schema", "properties", "spec", "properties", "clusters", "items",
                         "properties")  # fmt: skip
            if target is not None:
                return KARMADA_1_19 if "components" in target else KARMADA_1_18
    return None


def _at(value: Any, *path: str) -> Any:
    for part in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(part)
    return value
