"""The same call gives the same bytes: iteration order, random numbers and texts do not depend on the process."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.interpreters.lua.scripts import raw, result, value

WALKS = """
local function by_pairs(t) local keys = {} for k in pairs(t) do keys[#keys + 1] = tostring(k) end return keys end
local function by_next(t)
  local keys, k = {}, next(t)
  while k ~= nil do keys[#keys + 1] = tostring(k) k = next(t, k) end
  return keys
end
"""
ORDERS = [
    ("{b = 1, a = 1, ['10'] = 1, B = 1}", ["10", "B", "a", "b"]),
    ("{'x', 'y', b = 1, a = 1}", ["1", "2", "a", "b"]),
    ("{[3] = 1, [1] = 1, [-1] = 1, [2.5] = 1}", ["-1", "1", "2.5", "3"]),
    ("{[true] = 1, [false] = 1, z = 1, [5] = 1}", ["5", "z", "false", "true"]),
    ("{}", []),
    ("{['é'] = 1, z = 1}", ["z", "é"]),
]


@pytest.mark.parametrize(("table", "keys"), ORDERS)
def test_pairs_and_next_walk_numbers_then_texts_then_booleans(table: str, keys: list[str]) -> None:
    got = result(WALKS + f"function f() return {{by_pairs({table}), by_next({table})}} end")
    assert got == ([keys, keys] if keys else [{}, {}])


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.text(max_size=6), st.integers(0, 9), max_size=30))
def test_objects_are_walked_bytewise(obj: dict[str, int]) -> None:
    text = "function f(o) local keys = {} for k, v in pairs(o) do keys[#keys + 1] = k .. '=' .. v end return keys end"
    expected = [f"{key}={obj[key]}" for key in sorted(obj, key=lambda key: key.encode())]
    assert result(text, obj) == (expected or {})


CHANGES = [
    ("for k in pairs(t) do t[k] = nil end return next(t) == nil", True),
    ("for k, v in pairs(t) do t[k] = v + 1 end return t.a + t.b", 5),
    ("for k in pairs(t) do t.a = nil t.b = nil return k end", "a"),
    ("local n = 0 for k in pairs(t) do t.b = nil n = n + 1 end return n", 1),
    ("local k = next(t) t.new = 1 return next(t, k)", "b"),
    ("local n = 0 for k in pairs(t) do for l in pairs(t) do n = n + 1 end end return n", 4),
    ("for k, v in next, t do return k end", "a"),
    ("local n = 0 for k in next, t do t[k] = nil n = n + 1 end return n", 2),
    ("t.b = nil local f, s = pairs(t) t.c = 1 t.A = 1 return (f(s))", "A"),
    ("t.b = nil local n = 0 for k in pairs(t) do t.c = 1 n = n + 1 end return n", 1),
    ("t = {1, 2} local n = 0 for _, v in pairs(t) do t[#t + 1] = v n = n + 1 end return n", 2),
    ("t = {1, 2, 3} local n = 0 for k in pairs(t) do t[2] = nil n = n + 1 end return n", 2),
]


@pytest.mark.parametrize(("body", "expected"), CHANGES)
def test_a_table_may_change_while_it_is_walked(body: str, expected: Any) -> None:
    assert result(f"function f() local t = {{a = 1, b = 2}} {body} end") == expected


def test_replies_have_sorted_keys() -> None:
    assert value("{b = 1, a = {d = 1, c = 1}}") == {"a": {"c": 1, "d": 1}, "b": 1}
    assert raw("function f() return {b = 1, a = {d = 1, c = 1}, aa = 2} end") == '{"a":{"c":1,"d":1},"aa":2,"b":1}'


TEXTS = [("tostring({})", "table"), ("tostring(print)", "function"), ("tostring(f)", "function")]


@pytest.mark.parametrize(("expression", "text"), TEXTS)
def test_texts_hold_no_addresses(expression: str, text: str) -> None:
    assert value(expression) == text


SCATTERED = """
local function keys_by_identity()
  local key, at, seen = {}, {}, {}
  for i = 1, 9 do key[i] = i % 2 == 0 and {} or function() return i end end
  for i = 9, 1, -1 do at[key[i]] = i end
  local built = { [key[3]] = "three", [key[7]] = "seven", [key[2]] = "two" }
  rawset(built, key[8], "eight")
  key.many, built[key[1]], (function() return built end)()[key[9]] = 1, "one", "nine"
  for _, t in ipairs({ at, built }) do for _, v in pairs(t) do seen[#seen + 1] = tostring(v) end end
  for _, v in next, built do seen[#seen + 1] = v end
  return table.concat(seen, " ")
end
function f()
  local seen = {}
  for k in pairs({alpha = 1, beta = 2, gamma = 3, delta = 4, epsilon = 5, [7] = 1, [true] = 1}) do
    seen[#seen + 1] = tostring(k)
  end
  return {seen, math.random(), math.random(1, 1000), tostring({}), tostring(0.1 + 0.2), keys_by_identity()}
end
"""


def test_every_process_gives_the_same_bytes() -> None:
    program = f"from tests.interpreters.lua.scripts import raw; print(raw({SCATTERED!r}))"
    texts = {subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout for _ in range(3)}
    assert len(texts) == 1
    text = texts.pop()
    assert b'["7","alpha","beta","delta","epsilon","gamma","true"]' in text
    as_used_as_keys = b"nine eight seven three two one"
    assert b'"9 8 7 6 5 4 3 2 1 %b %b"' % (as_used_as_keys, as_used_as_keys) in text
