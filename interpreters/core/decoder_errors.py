"""What msgspec says about a value that does not fit, in words for whoever wrote it: field, expected, got.

The only place that knows how msgspec words its errors; every reader of objects, files and requests asks here.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

UNREADABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""Everything that msgspec raises for a text that is not what was expected."""

NO_SUCH_FIELD: Final = "there is no such field"
_UNQUOTED: Final = "; in YAML, y, yes, on and 12 are text only in quotes"
_PLACE: Final = re.compile(r"(?P<said>.*?)(?: - at (?P<key>`key` in )?`\$\.?(?P<path>.*)`)?", re.DOTALL)
_MISFIT: Final = re.compile(r"Expected `(?P<wanted>[^`]+)`(?P<bound>.*?)(?:, got `(?P<got>[^`]+)`)?", re.DOTALL)
_MISSING: Final = re.compile(r"Object missing required field `(?P<field>[^`]+)`")
_UNKNOWN: Final = re.compile(r"Object contains unknown field `(?P<field>[^`]+)`")
_RANGE: Final = re.compile("(?:Integer value|Number) out of range")
_WORDS: Final = {
    "str": "text", "int": "a whole number", "float": "a number", "bool": "true or false", "array": "a list",
    "object": "an object", "null": "nothing",
}  # fmt: skip
_GOT: Final = {"float": "a number with a point"}


def misfit(error: Exception, root: str = "", *, whole: str = "", by_hand: bool = False) -> str:
    """One of `UNREADABLE`: `spec.replicas: expected a whole number, got text`.

    `root` is put before the path, and what is written `by_hand` may be YAML with quotes left out. Of the whole value
    no place is said, unless `whole` names it.
    """
    if not isinstance(error, msgspec.ValidationError):
        return _no_json(error)
    place = _PLACE.fullmatch(str(error))
    said, path = (place["said"], place["path"] or "") if place else (str(error), "")
    where = ".".join(filter(None, (root, path))) if not path.startswith("[") else f"{root}{path}"
    if field := _MISSING.fullmatch(said) or _UNKNOWN.fullmatch(said):
        got = "expected a value, got nothing" if said.startswith("Object missing") else NO_SUCH_FIELD
        return f"{where}.{field['field']}: {got}" if where else f"{field['field']}: {got}"
    where = where or whole
    if place and place["key"]:
        where = f"a key of {where}" if where else "a key"
    where = where and f"{where}: "
    if found := _MISFIT.fullmatch(said):
        wanted = _worded(found["wanted"]) + found["bound"]
        hint = _UNQUOTED if by_hand and found["wanted"] == "str" and found["got"] in ("bool", "int", "float") else ""
        return f"{where}expected {wanted}" + (
            f", got {_GOT.get(found['got']) or _worded(found['got'])}{hint}" if found["got"] else ""
        )
    said = _RANGE.sub("a number too large for any reader of JSON", said)
    return f"{where}{said[:1].lower()}{said[1:]}"


def _no_json(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "nested too deep"
    if isinstance(error, UnicodeDecodeError):
        return f"not UTF-8 at byte {error.start}"
    return f"not JSON: {_RANGE.sub('a number too large for any reader of JSON', str(error))}"


def _worded(types: str) -> str:
    """`int | null` as a person says it: what may be left out need not be said."""
    named = [word for word in types.split(" | ") if word != "null" or types == "null"]
    return " or ".join(_WORDS.get(word, word) for word in named)
