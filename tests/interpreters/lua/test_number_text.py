"""Numbers turned into text print as Go prints them, by whichever way they become text; `..` keeps its grammar."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.interpreters.lua.scripts import failure, result, value

NUMBERS = [
    ("1/3", "0.3333333333333333"),
    ("1e14", "100000000000000"),
    ("1e15", "1000000000000000"),
    ("2^53", "9007199254740992"),
    ("-2^63", "-9223372036854775808"),
    ("2^63", "9.223372036854776e+18"),
    ("1e21", "1e+21"),
    ("0.1", "0.1"),
    ("100", "100"),
    ("-3.5", "-3.5"),
    ("0.00001234", "1.234e-05"),
    ("0.0001", "0.0001"),
    ("123456.75", "123456.75"),
    ("1234567.5", "1.2345675e+06"),
    ("-0", "0"),
    ("0/0", "NaN"),
    ("1/0", "+Inf"),
    ("-1/0", "-Inf"),
]
WAYS = [
    "tostring({})",
    "'' .. {}",
    "{} .. ''",
    "string.format('%s', {})",
    "table.concat({{ {} }})",
    "('%s'):format({})",
]


@pytest.mark.parametrize(("number", "text"), NUMBERS)
def test_every_way_to_text_prints_the_same(number: str, text: str) -> None:
    for way in WAYS:
        assert value(way.replace("{}", f"({number})").replace("{{", "{").replace("}}", "}")) == text, way


def as_go_prints(number: float) -> str:
    """Go's %v of a float64 that is not whole, from Python's shortest digits."""
    sign, digits, exponent = Decimal(repr(number)).as_tuple()
    digits_text = "".join(map(str, digits)).rstrip("0")
    point = len(digits) + int(exponent)
    prefix = "-" if sign else ""
    if -4 <= point - 1 < 6:
        text = f"{abs(number):.{max(len(digits_text) - point, 1)}f}"
        return prefix + text
    mantissa = digits_text[0] + ("." + digits_text[1:] if len(digits_text) > 1 else "")
    return f"{prefix}{mantissa}e{'-' if point < 1 else '+'}{abs(point - 1):02d}"


@settings(max_examples=300, deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False).filter(lambda number: number != int(number)))
def test_fractions_print_their_shortest_digits(number: float) -> None:
    assert result("function f(n) return tostring(n) end", number) == as_go_prints(number)


@settings(max_examples=200, deadline=None)
@given(st.integers(-(2**63), 2**63 - 1025).map(float))
def test_whole_numbers_print_all_digits(number: float) -> None:
    assert result("function f(n) return n .. '' end", int(number)) == str(int(number))


JOINS: list[tuple[str, Any]] = [
    ("'a' .. 1 .. 'b' .. 1/3", "a1b0.3333333333333333"),
    ("1 .. 2", "12"),
    ("1 + 2 .. 3 * 4", "312"),
    ("'a' .. 'b' == 'ab'", True),
    ("#('ab' .. 'cd')", 4),
    ("not ('a' .. 'b')", False),
    ("2 ^ 2 .. ''", "4"),
    ("-1 .. ''", "-1"),
    ("('a' .. 'b'):upper() .. 'c'", "ABc"),
    ("(function(...) return select('#', ...) .. '' end)(1, 2)", "2"),
    ("'x..y' .. [[..]] .. [==[ ]].. ]==]", "x..y.. ]].. "),
    ("'a' --[[ .. ]] .. 'b' -- .. c\n", "ab"),
    ("'quo\\'te' .. \"..\\\"\"", "quo'te..\""),
    ("({a = 'x' .. 1, ['k' .. 2] = 1}).a", "x1"),
    ("'' .. tostring(nil) .. tostring(true)", "niltrue"),
    (" .. ".join(f"'{i}'" for i in range(60)), "".join(map(str, range(60)))),
    (" .. ".join(f"'{i}'" for i in range(180)), "".join(map(str, range(180)))),
]


@pytest.mark.parametrize(("expression", "expected"), JOINS)
def test_joining_keeps_lua_s_grammar(expression: str, expected: Any) -> None:
    assert value(expression) == expected


@pytest.mark.parametrize(
    "expression", ["'a' .. nil", "nil .. 'a'", "'a' .. {}", "{} .. {}", "'a' .. o.x.y", "true .. ''"]
)
def test_what_cannot_be_joined_is_an_error_at_its_line(expression: str) -> None:
    error = failure(f"function f(o)\n\n local s = {expression}\n return s end", {"x": {}})
    assert "attempt to concatenate a" in error.message
    assert error.line == 3


def test_an_error_of_joining_names_the_path_that_was_nil() -> None:
    error = failure("function f(o) local s = 'n: ' .. o.metadata.name return s end", {"metadata": {}})
    assert error.message == "attempt to concatenate a nil value: o.metadata.name is nil"


def test_lines_stay_where_they_are() -> None:
    text = "local s = 'a' ..\n 'b' .. --[[\n\n]] 'c'\nfunction f()\n error(s)\nend"
    error = failure(text)
    assert (error.message, error.line) == ("abc", 6)
