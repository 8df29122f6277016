"""A call stops at its limits, whatever the script does to keep going, and the next call is fine."""

# ruff: noqa: E501 - tables of cases read better with one case a line

from __future__ import annotations

import json
from typing import Any

import pytest

from interpreters.core.engine import MIB, Limits, Script
from interpreters.core.errors import LimitError
from interpreters.lua.engine import LuaEngine
from tests.interpreters.lua.scripts import failure, outcome, result

SHORT = Limits(seconds=0.05, memory=8 * MIB, output=10_000, depth=20, input=5_000, printed=100)

ENDLESS = [
    "while true do end",
    "repeat until false",
    "for i = 1, math.huge do end",
    "local function g() return g() end g()",
    "while true do pcall(function() while true do end end) end",
    "while true do pcall(error, 'x') end",
    "pcall(function() while true do end end) return 1",
    "xpcall(function() error('x') end, function() while true do end end) return 1",
    "xpcall(function() while true do end end, function() while true do end end) return 1",
    "while true do xpcall(function() while true do end end, function() return 1 end) end",
    "while true do local t = {} end",
    "while true do local s = 'a' .. 1 end",
    "while true do string.rep('a', 1000) end",
    "table.sort({3, 2, 1}, function() while true do end end)",
    "string.gsub('a', 'a', function() while true do end end)",
    "local t = {} while true do t[1] = 1 t[1] = nil end",
    "for k in function() return 1 end do end",
    "::again:: goto again",
    "while true do for k in pairs({a = 1}) do end end",
]


@pytest.mark.parametrize("body", ENDLESS)
def test_time_runs_out(body: str) -> None:
    error = failure(f"function f()\n{body}\nend", limits=SHORT)
    assert isinstance(error, LimitError)
    assert (error.limit, error.message) == ("time", "did not finish within 0.05 s")
    assert error.function is not None


def test_time_runs_out_while_a_script_loads() -> None:
    error = failure("while true do end", limits=SHORT)
    assert isinstance(error, LimitError)
    assert (error.limit, error.line) == ("time", 1)


GREEDY = [
    "local s = 'a' while true do s = s .. s end",
    "local t = {} for i = 1, 1e9 do t[i] = {} end",
    "local t = {} for i = 1, 1e9 do t[i] = function() return i end end",
    "local t = {} for i = 1, 1e9 do t['k' .. i] = i end",
    "local t = {} for i = 1, 1e9 do t[i] = ('x'):rep(100000) .. i end",
    "local s = ('a'):rep(100000) s = s:gsub('a', ('b'):rep(100000))",
    "local t = {} for i = 1, 1e6 do t[i] = ('x'):rep(1000) end return table.concat(t)",
    "local s = 'a' while true do pcall(function() while true do s = s .. s end end) end",
    "local s = 'a' pcall(function() while true do s = s .. s end end) return 1",
    "local s = 'a' xpcall(function() while true do s = s .. s end end, function() return 1 end) return 1",
    "return string.format(('%s'):rep(1000), unpack((function() local t = {} for i = 1, 1000 do t[i] = ('x'):rep(99999) end return t end)()))",
]


@pytest.mark.parametrize("body", GREEDY)
def test_memory_runs_out(body: str) -> None:
    limits = Limits(cost=10**12, seconds=5, memory=8 * MIB)
    error = failure(f"function f()\n{body}\nend", limits=limits)
    assert isinstance(error, LimitError)
    assert (error.limit, error.message) == ("memory", "stopped: it needs more than 8 MiB of memory")
    assert result("function f() return #('x'):rep(1000000) end") == 1000000


def test_memory_is_given_back_after_it_ran_out() -> None:
    engine = LuaEngine()
    script = Script("s.lua", "lua", "function f() local s = 'a' while true do s = s .. s end end function g() end")
    for _ in range(3):
        with pytest.raises(LimitError):
            engine.call(script, "f", [], Limits(seconds=5, memory=32 * MIB))
    assert engine.call(script, "g", [], Limits(memory=MIB)).memory < MIB
    assert engine._runtime._used() < 4 * MIB


def test_garbage_does_not_count_as_memory() -> None:
    body = "local n = 0 for i = 1, 300 do local t = {} for j = 1, 1000 do t[j] = {j} end n = n + #t end return n"
    assert (
        json.loads(outcome(f"function f() {body} end", limits=Limits(seconds=5, memory=8 * MIB)).values[0]) == 300_000
    )


RECURSIONS = [
    "local function g() return 1 + g() end return g()",
    "local function g(n) local t = {g(n + 1)} return t end return g(1)",
    "local function g() pcall(g) error('x') end g()",
    "local function g(s) return (s:gsub('a', g)) end return g('a')",
    "local function g() table.sort({1, 2}, g) return true end return g()",
    "local function g() pcall(table.sort, {1, 2}, g) error('x') end g()",
]


@pytest.mark.parametrize("body", RECURSIONS)
def test_recursion_ends(body: str) -> None:
    error = failure(f"function f() {body} end")
    if isinstance(error, LimitError):
        assert error.limit in ("stack", "memory", "time")


def test_an_overflow_names_the_line() -> None:
    error = failure("local function g(n)\n  return 1 + g(n + 1)\nend\nfunction f() return g(1) end")
    assert isinstance(error, LimitError)
    assert (error.limit, error.line) == ("stack", 2)


def nested(depth: int) -> bytes:
    return b'{"a":' * depth + b"1" + b"}" * depth


DEPTHS: list[tuple[str, bytes, str]] = [
    ("return 1", nested(21), "an argument is nested more than 20 levels deep"),
    ("return 1", b"[" * 21 + b"]" * 21, "an argument is nested more than 20 levels deep"),
    ("return 1", b"[" * 100_000 + b"]" * 100_000, "an argument is nested"),
    ("local t = {1} for i = 1, 20 do t = {t} end return t", b"1", "the reply is nested more than 20 levels deep"),
    ("local t = {1} for i = 1, 100000 do t = {t} end return t", b"1", "the reply is nested more than 20 levels deep"),
    ("return {o}", nested(20), "the reply is nested more than 20 levels deep"),
]


@pytest.mark.parametrize(("body", "argument", "message"), DEPTHS)
def test_depth_is_limited(body: str, argument: bytes, message: str) -> None:
    limits = Limits(depth=20, input=10**6)
    error = failure(f"function f(o) {body} end", argument, limits=limits)
    assert isinstance(error, LimitError)
    assert error.limit == "depth"
    assert error.message.startswith(message)


def test_the_deepest_allowed_passes() -> None:
    assert outcome("function f(o) return o end", nested(20), limits=SHORT).values[0] == nested(20)


OUTPUTS = [
    "return ('x'):rep(10001)",
    "return {('x'):rep(6000), ('y'):rep(6000)}",
    "local t = {} for i = 1, 20000 do t[i] = i end return t",
    "local t = {} for i = 1, 3000 do t['k' .. i] = 'abc' end return t",
    "local t = {1} for i = 1, 18 do t = {t, t} end return t",
    "local t = {} for i = 1, 1000 do t['k' .. i] = {} end local u = {} for i = 1, 1000 do u[i] = t end return u",
]


@pytest.mark.parametrize("body", OUTPUTS)
def test_output_is_limited(body: str) -> None:
    error = failure(f"function f() {body} end", limits=Limits(output=10_000, depth=20))
    assert isinstance(error, LimitError)
    assert (error.limit, error.message) == ("output", "the reply has more than 10000 bytes")


def test_a_reply_far_too_long_is_told_so_before_it_fills_the_memory() -> None:
    body = (
        "local o = {} for i = 1, 20 do o['k' .. i] = 'text' end local t = {} for i = 1, 100000 do t[i] = o end return t"
    )
    error = failure(f"function f() {body} end", limits=Limits(output=1_000_000, memory=12 << 20, seconds=10))
    assert isinstance(error, LimitError)
    assert (error.limit, error.message) == ("output", "the reply has more than 1000000 bytes")


def test_input_is_limited() -> None:
    error = failure("function f() end", b'"' + b"x" * 5000 + b'"', limits=SHORT)
    assert isinstance(error, LimitError)
    assert (error.limit, error.message) == ("input", "the arguments have 5002 bytes, at most 5000 are allowed")


PRINTING = [
    ("for i = 1, 1000 do print(i) end", "1\n2\n3\n"),
    ("print(('x'):rep(1000))", "x" * 99),
    ("print(('x'):rep(99)) print('more') print('more')", "x" * 99),
]


@pytest.mark.parametrize(("body", "begin"), PRINTING)
def test_printing_is_bounded_and_says_so(body: str, begin: str) -> None:
    printed = outcome(f"function f() {body} end", limits=Limits(printed=100)).printed
    assert printed.startswith(begin)
    assert printed.endswith("\n... (print stops here: at most 100 bytes are kept)\n")
    assert len(printed) < 200


def test_printing_for_ever_ends_with_the_time() -> None:
    error = failure("function f() while true do print('again and again') end end", limits=SHORT)
    assert isinstance(error, LimitError)
    assert error.limit == "time"
    assert len(error.printed) < 200


@pytest.mark.parametrize("text", ["while true do end", "local s = 'a' while true do s = s .. s end", "error({})"])
def test_after_any_failure_the_next_call_is_as_good_as_the_first(text: str) -> None:
    expected: Any = outcome("function f(o) return o end", b'{"a":[1]}').values
    failure(f"function f() {text} end", limits=SHORT)
    assert outcome("function f(o) return o end", b'{"a":[1]}').values == expected


def test_many_scripts_are_remembered_up_to_a_bound() -> None:
    for i in range(700):
        assert result(f"function f() return {i} end") == i
    assert result("function f() return 0 end") == 0
