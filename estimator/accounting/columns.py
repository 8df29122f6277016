"""Column types that hold what the standard ones do not, the same on both databases: any text, and any whole number."""

from __future__ import annotations

import re
from typing import Any, Final

from sqlalchemy import String
from sqlalchemy.types import TypeDecorator

# PostgreSQL refuses NUL, both refuse half a surrogate pair, and a backslash marks what was escaped.
_ODD: Final = re.compile("[\\\\\x00\ud800-\udfff]")
_ESCAPED: Final = re.compile(r"\\u([0-9a-f]{4})")


class AnyText(TypeDecorator[str]):
    """Text of whatever characters, kept so that different texts stay different."""

    impl = String
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Any) -> str | None:
        if value is None or not _ODD.search(value):
            return value
        return _ODD.sub(lambda found: f"\\u{ord(found[0]):04x}", value)

    def process_result_value(self, value: str | None, dialect: Any) -> str | None:
        if value is None or "\\" not in value:
            return value
        return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), value)


class Exact(TypeDecorator[int]):
    """A whole number of any size, as its decimal digits: nano-units of a large sum do not fit in 64 bits."""

    impl = String
    cache_ok = True

    def process_bind_param(self, value: int | None, dialect: Any) -> str | None:
        return None if value is None else str(value)

    def process_result_value(self, value: str | None, dialect: Any) -> int | None:
        return None if value is None else int(value)
