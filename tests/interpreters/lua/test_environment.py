"""What a script can reach: the library that Karmada's scripts know, made anew for every call, and nothing else."""

# ruff: noqa: E501 - tables of cases read better with one case a line

from __future__ import annotations

from typing import Any

import pytest

from interpreters.core.engine import Script
from tests.interpreters.lua.scripts import ENGINE, LIMITS, failure, outcome, result, value

WALK = """
local seen, found = {}, {}
local function walk(value, path)
  local kind = type(value)
  if kind == "table" then
    if seen[value] then return end
    seen[value] = true
    for k, v in pairs(value) do walk(v, path .. "." .. tostring(k)) walk(k, path .. ".key") end
  elseif kind == "function" then
    found[#found + 1] = path
  elseif kind ~= "string" and kind ~= "number" and kind ~= "boolean" then
    found[#found + 1] = path .. " is " .. kind
  end
end
function f() walk(_G, "_G") walk(require("kube"), "kube") return found end
"""
BASE = "assert error f ipairs next pairs pcall print rawequal rawget rawset require select tonumber tostring type unpack xpcall"
STRING = "byte char find format gmatch gsub len lower match rep reverse sub upper"
TABLE = "concat getn insert maxn remove sort"
MATH = (
    "abs acos asin atan atan2 ceil cos cosh deg exp floor fmod frexp ldexp log log10 max min mod modf pow rad random "
    "randomseed sin sinh sqrt tan tanh"
)
KUBE = "accuratePodRequirements getPodDependencies getResourceQuantity resourceAdd"
ALLOWED = {
    *(f"_G.{name}" for name in BASE.split()),
    *(f"_G.string.{name}" for name in STRING.split()),
    *(f"_G.table.{name}" for name in TABLE.split()),
    *(f"_G.math.{name}" for name in MATH.split()),
    *(f"_G.os.{name}" for name in ("date", "time")),
    *(f"kube.{name}" for name in KUBE.split()),
}


def test_a_walk_from_the_globals_meets_only_plain_values_and_the_allowed_functions() -> None:
    assert set(result(WALK)) == ALLOWED


ABSENT = """
io debug package ffi jit coroutine load loadstring loadfile dofile collectgarbage getfenv setfenv newproxy module gcinfo
getmetatable setmetatable python lua bit string.dump os.execute os.getenv os.exit os.remove os.clock table.foreach
table.move table.unpack string.buffer math.__index
""".split()


@pytest.mark.parametrize("name", ABSENT)
def test_dangerous_and_needless_names_are_nil(name: str) -> None:
    assert value(f"{name} == nil") is True


@pytest.mark.parametrize("module", ["io", "ffi", "jit", "string.buffer", "os", "string", "table.new", "", "kube.lua"])
def test_only_kube_can_be_required(module: str) -> None:
    assert 'only "kube" is' in failure(f"local m = require('{module}') function f() end").message


def test_strings_have_methods_but_no_way_to_their_metatable() -> None:
    assert value('("x"):upper() .. ("a-b"):find("-", 1, true)') == "X2"
    assert value('pcall(function() return ("x").__index end)') is True
    assert value('("x").__index == nil and ("x").__metatable == nil') is True


@pytest.mark.parametrize("text", ["return 42LL", "return 1ULL", "return 3i", "return 0x10LL", "return 2.5I"])
def test_numbers_that_only_luajit_reads_are_refused(text: str) -> None:
    assert "malformed number" in failure(f"function f() {text} end").message


def test_bytecode_is_refused() -> None:
    assert "bytecode" in failure("\x1bLJ\x02...").message


LEAKS = [
    ("counter = (counter or 0) + 1 function f() return counter end", 1),
    ("local n = string.n string.n = 5 function f() return n == nil end", True),
    ("local was = table.insert table.insert = 1 function f() return type(was) end", "function"),
    ("local kube = require('kube') local was = kube.extra kube.extra = 1 function f() return was == nil end", True),
    ("local was = math.pi math.pi = 3 function f() return was > 3 end", True),
    ("function f() local a = math.random(1000) return a == math.random(1000) end", False),
    ("local was = _G.x _G.x = 1 function f() return was == nil and _G.x == x end", True),
    ("string.upper = function() return 'mine' end function f() return ('a'):upper() end", "mine"),
    ("function f() return ('a'):upper() end", "A"),
]


@pytest.mark.parametrize(("text", "expected"), LEAKS)
def test_nothing_survives_a_call(text: str, expected: Any) -> None:
    assert [result(text) for _ in range(3)] == [expected] * 3


def test_the_hidden_joining_value_is_out_of_reach() -> None:
    assert result("local a, n = ..., select('#', ...) function f() return {a == nil, n} end") == [True, 0]


def test_a_text_cannot_close_the_function_it_is_compiled_in() -> None:
    assert failure("end leak = ... do").line == 1
    assert "leak" not in str(failure("function f() return leak end end x = ... do"))


def test_functions_are_those_that_the_script_defines_as_globals() -> None:
    text = "local function hidden() end\nfunction A() end\nB = function() end\nC = 5\nlocal t = {} function t.x() end"
    assert ENGINE.functions(Script("s.lua", "lua", text), LIMITS) == {"A", "B"}
    assert ENGINE.functions(Script("s.lua", "lua", ""), LIMITS) == set()


PRINTS = [
    ("print('a', 1, nil, true, 1/3)", "a\t1\tnil\ttrue\t0.3333333333333333\n"),
    ("print()", "\n"),
    ("print({}, print)", "table\tfunction\n"),
    ("", ""),
]


@pytest.mark.parametrize(("statement", "printed"), PRINTS)
def test_print_is_captured(statement: str, printed: str) -> None:
    assert outcome(f"function f() {statement} end").printed == printed


DATES = [
    ("os.time{year=1970, month=1, day=1, hour=0}", 0),
    ("os.time{year=2026, month=11, day=16}", 1794830400),
    ("os.time{year=2024, month=14, day=1, hour=0, min=1, sec=2}", 1738368062),
    ("os.date('%Y-%m-%d %H:%M:%S', 1794830400)", "2026-11-16 12:00:00"),
    ("os.date('!*t', 86399).hour", 23),
    ("type(os.time()) .. type(os.date())", "numberstring"),
]


@pytest.mark.parametrize(("expression", "expected"), DATES)
def test_dates_are_utc(expression: str, expected: Any) -> None:
    assert value(expression) == expected
