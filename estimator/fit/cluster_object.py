"""The parts of a Karmada Cluster object that estimates read, as its API defines them.

It comes from files that anybody may have written; an object of another shape is refused with the path of the mistake.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from interpreters.core.decoder_errors import misfit
from interpreters.core.errors import InputError

Texts = dict[str, str | int | float]
"""A resource list as the object spells it."""


class _Shape(msgspec.Struct, rename="camel"):
    """Unknown fields are passed over."""


class MetadataShape(_Shape):
    name: str = ""
    namespace: str = ""


class RangeShape(_Shape):
    name: str
    min: str | int | float = 0
    max: str | int | float | None = None


class ModelShape(_Shape):
    grade: int = 0
    ranges: list[RangeShape] | None = None


class ModelingShape(_Shape):
    grade: int = 0
    count: int = 0


class SummaryShape(_Shape):
    allocatable: Texts | None = None
    allocated: Texts | None = None
    allocating: Texts | None = None
    allocatable_modelings: list[ModelingShape] | None = None


class ClusterSpecShape(_Shape):
    resource_models: list[ModelShape] | None = None


class ClusterStatusShape(_Shape):
    resource_summary: SummaryShape | None = None


class ClusterShape(_Shape):
    metadata: MetadataShape | None = None
    spec: ClusterSpecShape | None = None
    status: ClusterStatusShape | None = None


S = TypeVar("S", bound=_Shape)


def shaped(obj: Mapping[str, Any], shape: type[S]) -> S:
    """The object as its API defines it. Raises `InputError` with the path of what is not."""
    try:
        return msgspec.convert(obj, shape)
    except msgspec.ValidationError as error:
        raise InputError(misfit(error, by_hand=True)) from None
