"""`pairs` walks what a script collected in the order it came, as Karmada's own Lua does."""

from __future__ import annotations

import json

import pytest

from interpreters.core.engine import Limits, Script
from interpreters.lua.engine import LuaEngine
from interpreters.lua.insertion_order import noting_keys

WALKS = [
    ("for _, k in ipairs(o) do t[k] = true end", ["zebra", "ant", "mole"]),
    ("t.b = 1 t.a = 1 for _, k in ipairs(o) do t[k] = true end", ["a", "b", "zebra", "ant", "mole"]),
    ("t.in_ = {} for _, k in ipairs(o) do t.in_[k] = true end t = t.in_", ["zebra", "ant", "mole"]),
    ("local l = {{}} for _, k in ipairs(o) do l[1][k] = true end t = l[1]", ["zebra", "ant", "mole"]),
    ("for _, k in ipairs(o) do t[k] = true end t.zebra = nil t[o[1]] = true", ["zebra", "ant", "mole"]),
    ("for i = #o, 1, -1 do t[o[i]] = true end", ["mole", "ant", "zebra"]),
    ("for i = 1, #o do t[string.upper(o[i])] = i end", ["ZEBRA", "ANT", "MOLE"]),
    ("t[#t + 1] = 1 t['z'] = 1 t['y'] = 1", [1, "z", "y"]),
    ("t[#o .. 'z'] = 1 t[#o .. 'a'] = 1 t[#o and 'k'] = 1", ["3z", "3a", "k"]),
    ("t = {zebra = 1, ant = 2, mole = 3}", ["ant", "mole", "zebra"]),
    ("t[ [[long]] ] = 1 t['short'] = 2 -- t[x] = y in a comment", ["long", "short"]),
    ("local function f() return t end f()[o[1]] = 1 f()[o[2]] = 1", ["ant", "zebra"]),
    ("t.a, t.b = 1, 2 t[o[1]], t[o[2]] = 1, 2", ["a", "b", "zebra", "ant"]),
]


@pytest.mark.parametrize(("fill", "order"), WALKS)
def test_keys_come_in_this_order(fill: str, order: list[object]) -> None:
    walk = "local keys = {} for k in pairs(t) do keys[#keys + 1] = k end return keys"
    text = f"function f(o) local t = {{}} {fill}\n{walk} end"
    outcome = LuaEngine().call(Script("s.lua", "lua", text), "f", [b'["zebra","ant","mole"]'], Limits())
    assert json.loads(outcome.values[0]) == order


def test_next_walks_in_the_same_order() -> None:
    text = "function f(o) local t = {} for _, k in ipairs(o) do t[k] = 1 end return next(t), next(t, next(t)) end"
    outcome = LuaEngine().call(Script("s.lua", "lua", text), "f", [b'["zebra","ant","mole"]'], Limits())
    assert outcome.values[0] == b'"zebra"'


def test_nothing_is_remembered_from_one_call_to_the_next() -> None:
    engine = LuaEngine()
    script = Script("s.lua", "lua", "t = {} function f(o) for _, k in ipairs(o) do t[k] = 1 end return (next(t)) end")
    for names in (["b", "a"], ["c", "a"]):
        assert json.loads(engine.call(script, "f", [json.dumps(names).encode()], Limits()).values[0]) == names[0]


UNTOUCHED = [
    b"t[1] = pairs",
    b"t[#t + 1] = pairs",
    b"t[#a.b[k]] = pairs",
    b"t[k] == pairs",
    b"f(t[k]) pairs()",
    b"{ ['a'] = pairs }",
    b"a = pairs or [==[ t[k] = v ]==]",
    b"-- t[k] = pairs",
]
NOTED_AS_KEYS = [
    (b"local t = { [k] = pairs }", b"local t = { [\x82(k)] = pairs }"),
    (b"f(x)[k] = pairs", b"f(x)[\x82(k)] = pairs"),
    (b"f(x).t[k] = pairs", b"f(x).t[\x82(k)] = pairs"),
    (b"f(x) . t[k] = pairs", b"f(x) . t[\x82(k)] = pairs"),
    (b"x" * 300 + b"[k] = pairs", b"x" * 300 + b"[\x82(k)] = pairs"),
    (b"t[function() return 1 end] = pairs", b"t[\x82(function() return 1 end)] = pairs"),
    (b"a[i], b.c = pairs, 1", b"a[\x82(i)], b.c = pairs, 1"),
]


@pytest.mark.parametrize("source", UNTOUCHED)
def test_what_cannot_be_noted_is_left_as_it_is(source: bytes) -> None:
    assert noting_keys(source) == source


@pytest.mark.parametrize(("source", "noted"), NOTED_AS_KEYS)
def test_where_the_table_has_no_plain_name_only_the_key_is_noted(source: bytes, noted: bytes) -> None:
    assert noting_keys(source) == noted


def test_lines_keep_their_numbers() -> None:
    source = b"for k in pairs(t) do\n  u[k] = v\n  a.b[\n k] = v\nend"
    assert noting_keys(source).count(b"\n") == source.count(b"\n")
    assert noting_keys(source) == b"for k in pairs(t) do\n  u[\x81(u,k)] = v\n  a.b[\x81(a.b,\n k)] = v\nend"
