"""What a script declares about itself in its header: `Key: value` lines of the comment block that it begins with.

A ResourceInterpreterCustomization declares the same by annotations: the line `-- Also serves: ray.io/v1alpha1` and the
annotation `interp.dev/also-serves: ray.io/v1alpha1` are one fact. Keys ignore case; a space in a header is a dash in an
annotation. Points of a section begin with `- ` and are prose, as are lines that continue one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import Any, Final

from msgspec import Struct

from interpreters.core.division import DIVISION_KEY, Division, parse_division
from interpreters.core.errors import InputError

ANNOTATION_PREFIX: Final = "interp.dev/"
ALSO_SERVES: Final = "also-serves"
COMMENT_SIGNS: Final = {"lua": "--", "starlark": "#"}
_SIGNS: Final = tuple(COMMENT_SIGNS.values())
_FACT: Final = re.compile(r"(?:--|#) ([A-Za-z][A-Za-z -]*): +(\S.*?)\s*")


class Header(Struct, frozen=True):
    """The facts in the order in which they stand; a key may stand several times."""

    facts: tuple[tuple[str, str], ...] = ()

    def all(self, key: str) -> tuple[str, ...]:
        """Every value of a key, written as in an annotation: `also-serves`."""
        return tuple(value for known, value in self.facts if known == key)

    def first(self, key: str) -> str | None:
        """The value of a key that is meant to stand once."""
        return next(iter(self.all(key)), None)

    def listed(self, key: str) -> tuple[str, ...]:
        """The words of a key that holds a list, separated by commas.

        >>> Header((("also-serves", "ray.io/v1alpha1, ray.io/v1beta1"),)).listed("also-serves")
        ('ray.io/v1alpha1', 'ray.io/v1beta1')
        """
        words = (word.strip() for value in self.all(key) for word in value.split(","))
        return tuple(dict.fromkeys(filter(None, words)))


def division_of(header: Header) -> Division | None:
    """What a header declares about dividing, None if nothing. Raises `InputError` for an unknown value, and for two
    that differ: nobody could tell which is meant.

    >>> division_of(Header((("division", "Whole"),)))
    <Division.WHOLE: 'whole'>
    """
    declared = dict.fromkeys(map(parse_division, header.all(DIVISION_KEY)))
    if len(declared) > 1:
        raise InputError(f"Division: declared as {' and as '.join(map(str, declared))}; keep one of these lines")
    return next(iter(declared), None)


def script_header(text: str) -> Header:
    """The header of a script in either language.

    >>> script_header("-- Pods.\\n-- Also serves: ray.io/v1alpha1\\n-- Counted:\\n-- - `head`: 1\\n").facts
    (('also-serves', 'ray.io/v1alpha1'),)
    """
    return Header(tuple((_key(fact[1]), fact[2]) for line in _comments(text) if (fact := _FACT.fullmatch(line))))


def customization_header(document: Mapping[str, Any]) -> Header:
    """The header of a ResourceInterpreterCustomization: its annotations of ours."""
    metadata = document.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, Mapping) else None
    if not isinstance(annotations, Mapping):
        return Header()
    return Header(
        tuple(
            (_key(str(name).removeprefix(ANNOTATION_PREFIX)), str(value).strip())
            for name, value in annotations.items()
            if str(name).startswith(ANNOTATION_PREFIX)
        )
    )


def _comments(text: str) -> Iterator[str]:
    return takewhile(lambda line: line.startswith(_SIGNS), text.lstrip().splitlines())


def _key(text: str) -> str:
    return text.strip().lower().replace(" ", "-")
