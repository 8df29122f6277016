"""What the standard types and operators do not have, the same on both databases: any text, any whole number, and being
among several values that are one parameter."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec
from sqlalchemy import ARRAY, String
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import NullType, TypeDecorator

# PostgreSQL refuses NUL, both refuse half a surrogate pair, and a backslash marks what was escaped.
_ODD: Final = re.compile("[\\\\\x00\ud800-\udfff]")
_ESCAPED: Final = re.compile(r"\\u([0-9a-f]{4})")


def escaped(text: str) -> str:
    return text if not _ODD.search(text) else _ODD.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


class AnyText(TypeDecorator[str]):
    """Text of whatever characters, kept so that different texts stay different."""

    impl = String
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Any) -> str | None:
        return value if value is None else escaped(value)

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


class AnyTexts(TypeDecorator[list[str]]):
    """Several of them as one parameter: an array, or JSON where there are no arrays."""

    impl = String
    cache_ok = True

    def load_dialect_impl(self, dialect: Any) -> Any:
        return dialect.type_descriptor(ARRAY(String()) if dialect.name == "postgresql" else String())

    def process_bind_param(self, value: list[str] | None, dialect: Any) -> Any:
        texts = [escaped(text) for text in value or ()]
        return texts if dialect.name == "postgresql" else msgspec.json.encode(texts).decode()


class among(FunctionElement[Any]):
    """`among(column, AnyTexts parameter)`. The statement's text is the same for any number of values, so that neither
    side prepares it again; with a parameter for each value both do."""

    type = NullType()  # of Boolean SQLAlchemy would compare it with 1 on SQLite, which then uses no index
    name = "among"
    inherit_cache = True


@compiles(among)
def _among_array(element: Any, compiler: Any, **options: Any) -> str:
    column, values = (compiler.process(clause, **options) for clause in element.clauses)
    return f"{column} = ANY ({values})"


@compiles(among, "sqlite")
def _among_json(element: Any, compiler: Any, **options: Any) -> str:
    column, values = (compiler.process(clause, **options) for clause in element.clauses)
    return f"{column} IN (SELECT value FROM json_each({values}))"  # noqa: S608 - both are made by the compiler
