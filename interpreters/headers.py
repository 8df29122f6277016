"""What a script declares about itself in its header: `Key: value` lines of the comment block that it begins with.

A ResourceInterpreterCustomization declares the same by annotations: the line `-- Also serves: ray.io/v1alpha1` and the
annotation `interp.dev/also-serves: ray.io/v1alpha1` are one fact. Keys ignore case; a space in a header is a dash in an
annotation. Points of a section begin with `- ` and are prose, as are lines that continue one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from itertools import takewhile
from typing import Any, Final

from msgspec import Struct

from interpreters.core.division import DIVISION_KEY, Division, parse_division
from interpreters.core.errors import InputError
from interpreters.core.languages import LANGUAGES, any_comment

ANNOTATION_PREFIX: Final = "interp.dev/"
ALSO_SERVES: Final = "also-serves"
_FACT: Final = r" ([A-Za-z][A-Za-z -]*): +(\S.*?)\s*"


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


def declaration(header: Header, script: str, language: str, *, annotated: bool = False) -> str:
    """How to declare what a script does not declare, and where it tries to in vain. `annotated`: by its customization.

    >>> declaration(Header(), "local x = 1\\n-- Division: whole\\n", "lua")
    'add "-- Division: whole" (or divides) to the comment that it begins with; line 2 is too late for it'
    """
    near = get_close_matches(DIVISION_KEY, (key for key, _ in header.facts), n=1)
    late = next((number for number, line in enumerate(script.splitlines(), 1) if _declares(line)), None)
    if annotated:
        misspelt = f", not {ANNOTATION_PREFIX}{near[0]}" if near else ""
        instead = f", instead of line {late} of the script" if late else ""
        return f'add the annotation "{ANNOTATION_PREFIX}{DIVISION_KEY}: whole" (or divides){misspelt}{instead}'
    in_vain = f"; it says {near[0]}" if near else f"; line {late} is too late for it" if late else ""
    return (
        f'add "{LANGUAGES[language].comment} Division: whole" (or divides) to the comment that it begins with{in_vain}'
    )


def _declares(line: str) -> bool:
    fact = _fact(line.strip())
    return fact is not None and _key(fact[1]) == DIVISION_KEY


def script_header(text: str) -> Header:
    """The header of a script in any language.

    >>> script_header("-- Pods.\\n-- Also serves: ray.io/v1alpha1\\n-- Counted:\\n-- - `head`: 1\\n").facts
    (('also-serves', 'ray.io/v1alpha1'),)
    """
    return Header(tuple((_key(fact[1]), fact[2]) for line in _comments(text) if (fact := _fact(line))))


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


def _fact(line: str) -> re.Match[str] | None:
    return re.fullmatch(any_comment() + _FACT, line)


def _comments(text: str) -> Iterator[str]:
    signs = tuple(language.comment for language in LANGUAGES.values())
    return takewhile(lambda line: line.startswith(signs), text.lstrip().splitlines())


def _key(text: str) -> str:
    return text.strip().lower().replace(" ", "-")
