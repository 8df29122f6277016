"""Errors say which line of which function failed, what was nil, and nothing that differs from call to call."""

# ruff: noqa: E501 - tables of cases read better with one case a line

from __future__ import annotations

import pytest

from interpreters.core.errors import Frame, ReplyError, ScriptError, ScriptSyntaxError
from tests.interpreters.lua.scripts import failure, value

OBJECT = {"spec": {"list": [{"name": "a"}], "text": "t"}, "metadata": {"name": "n"}}

# the body of f(o), from line 2 on; the line and the message
MESSAGES = [
    ("local x = o.spec.template.spec return x", 2, "attempt to index field 'template' (a nil value): o.spec.template is nil"),
    ("local s = o.spec\nlocal x = s.template.spec return x", 3, "attempt to index field 'template' (a nil value): s.template is nil"),
    ("local x = o.spec.list[2].name return x", 2, "attempt to index a nil value: o.spec.list[2] is nil"),
    ("local i = 3 local x = o.spec.list[i].name return x", 2, "attempt to index a nil value: o.spec.list[3] is nil"),
    ("local x = o['a b'].c return x", 2, "attempt to index field 'a b' (a nil value): o[\"a b\"] is nil"),
    ("local x = nothing.here return x", 2, "attempt to index global 'nothing' (a nil value)"),
    ("local x = o.spec.text.a.b return x", 2, "attempt to index field 'a' (a nil value)"),
    ("local t local x = t.a return x", 2, "attempt to index local 't' (a nil value)"),
    ("o.status.x = 1", 2, "attempt to index field 'status' (a nil value): o.status is nil"),
    ("local x = o.spec.replicas + 1 return x", 2, "attempt to perform arithmetic on field 'replicas' (a nil value): o.spec.replicas is nil"),
    ("local x = 2 > o.spec.replicas return x", 2, "attempt to compare nil with number: o.spec.replicas is nil"),
    ("local x = #o.spec.items return x", 2, "attempt to get length of field 'items' (a nil value): o.spec.items is nil"),
    ("o.spec.run()", 2, "attempt to call field 'run' (a nil value): o.spec.run is nil"),
    ("missing(o)", 2, "attempt to call global 'missing' (a nil value)"),
    ("local x = o.metadata .. 'x' return x", 2, "attempt to concatenate a table value"),
    ("error('no replicas')", 2, "no replicas"),
    ("error('no replicas', 0)", 2, "no replicas"),
    ("\n\nerror('x', 2)", 4, "x"),
    ("error({code = 5, reason = 'full'})", 2, 'error object {"code":5,"reason":"full"}'),
    ("error({f = print})", 2, "error object (a table)"),
    ("error()", 2, "error was called without a message"),
    ("error(nil)", 2, "error was called without a message"),
    ("error(1/3)", 2, "0.3333333333333333"),
    ("error(true)", 2, "error object true"),
    ("error(print)", 2, "error object (a function)"),
    ("assert(o.spec.x, 'x is needed')", 2, "x is needed"),
    ("assert(false)", 2, "assertion failed!"),
    ("for i = 1, 'x' do end", 2, "'for' limit must be a number"),
    ("io.open('/etc/passwd')", 2, "attempt to index global 'io' (a nil value): io is not available to scripts"),
    ("loadstring('return 1')", 2, "attempt to call global 'loadstring' (a nil value): loadstring is not available to scripts"),
    ("setmetatable({}, {})", 2, "attempt to call global 'setmetatable' (a nil value): setmetatable is not available to scripts"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "line", "message"), MESSAGES)
def test_an_error_says_where_and_what(body: str, line: int, message: str) -> None:
    error = failure(f"function f(o)\n{body}\nend", OBJECT)
    assert (error.message, error.line, error.function, error.script) == (message, line, "f", "s.lua")
    assert str(error) == f"s.lua:{line}: in f: {message}"
    assert type(error) is ScriptError


NESTED = """local function inner(x)
  return x.a.b + 1
end
local helpers = {}
function helpers.outer(x)
  local y = inner(x)
  return y
end

function f(o)
  local z = helpers.outer(o)
  return z
end
"""


def test_a_traceback_holds_the_author_s_own_lines() -> None:
    error = failure(NESTED, {})
    assert error.frames == (Frame("inner", 2), Frame("outer", 6), Frame("f", 11))
    assert (error.line, error.function) == (2, "inner")
    assert "x.a is nil" in error.message


def test_behind_a_tail_call_the_function_is_still_named() -> None:
    error = failure("function f(o)\n\n  return string.rep(o, 1e9)\nend", "x")
    assert (error.line, error.function) == (1, "f")


SYNTAX = [
    ("function f(o return 1 end", 1, "')' expected near 'return'"),
    ("\n\nx = = 2", 3, "unexpected symbol near '='"),
    ("function f()\nif true then\nend", 3, "'end' expected (to close 'function' at line 1) near '<eof>'"),
    ("x = 'abc", 1, "unfinished string near '<eof>'"),
    ("x = [[abc", 1, "unfinished long string near '<eof>'"),
    ("goto nowhere", 1, "undefined label 'nowhere'"),
    ("x = 12x", 1, "malformed number near '12x'"),
    ("function f() return 1 .. 2 end end", 1, "'<eof>' expected near 'end'"),
]


@pytest.mark.parametrize(("text", "line", "message"), SYNTAX)
def test_a_text_that_does_not_compile_is_a_syntax_error(text: str, line: int, message: str) -> None:
    error = failure(text)
    assert isinstance(error, ScriptSyntaxError)
    assert (error.message, error.line) == (message, line)


def test_a_script_that_fails_while_it_loads_is_a_syntax_error_too() -> None:
    error = failure("local kube = require('kube')\nlocal x = kube.nothing.here\nfunction f() end")
    assert isinstance(error, ScriptSyntaxError)
    assert (error.line, error.function) == (2, "main chunk")
    assert "kube.nothing is nil" in error.message


MISSING = [
    ("function GetComponent() end", "GetComponents", "does not define GetComponents; it defines GetComponent; did you mean GetComponent?"),
    ("function getreplicas() end function X() end", "GetReplicas", "it defines X, getreplicas; did you mean getreplicas?"),
    ("local function Retain() end", "Retain", "it defines no global function at all"),
    ("GetReplicas = 5", "GetReplicas", "GetReplicas is a number, not a function"),
    ("", "print", "does not define print"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "function", "message"), MISSING)
def test_a_missing_function_is_named_with_those_that_exist(text: str, function: str, message: str) -> None:
    assert message in failure(text, function=function).message


def test_messages_that_pcall_gives_a_script_are_stable() -> None:
    assert (
        value("select(2, pcall(function() return o.a.b end))", {})
        == "script:1: attempt to index field 'a' (a nil value)"
    )
    assert value("select(2, pcall(error))") is None
    assert value("select(2, pcall(error, {1})) [1]") == 1


def test_what_was_printed_before_a_failure_comes_with_it() -> None:
    assert failure("function f() print('before') error('x') end").printed == "before\n"
    assert failure("function f() print('before') return {print} end").printed == "before\n"


def test_errors_of_a_reply_carry_script_and_function() -> None:
    error = failure("function f() return {a = {b = print}} end")
    assert isinstance(error, ReplyError)
    assert str(error) == "s.lua: in f: a.b: a function cannot be part of a reply"
