"""What the author of a Starlark script is told: which line, which function, Starlark's own words, which field."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from interpreters.core.engine import Limits
from interpreters.core.errors import LimitError, ReplyError, ScriptError, ScriptSyntaxError
from tests.interpreters.starlark.calling import ENGINE, call, script

# text                                                             line  function  message
RUNNING = [
    ("def F(o):\n    return o['a']\n",                             2, "F", 'key "a" not in dict'),
    ("def F(o):\n    return o.get('a')['b']\n",                    2, "F", "unhandled index operation NoneType["),
    ("def F(o):\n    return o.spec\n",                             2, "F", "dict has no .spec field or method"),
    ("def F(o):\n    return 1 + 'a'\n",                            2, "F", "unknown binary op: int + string"),
    ("def F(o):\n    return 1 // 0\n",                             2, "F", "floored division by zero"),
    ("def F(o):\n    return [1][3]\n",                             2, "F", "list index 3 out of range [-1:0]"),
    ("def F(o):\n    return int('x')\n",                           2, "F", "int: invalid literal with base 10: x"),
    ("def F(o):\n    fail('no 100% luck:', 3)\n",                  2, "F", "no 100% luck: 3"),
    ("def F(o):\n    return G(o)\n\ndef G(o):\n    fail('x')\n",   5, "G", "x"),
    ("def F(o):\n    return F(o)\n",                               2, "F", "function F called recursively"),
    ("def F(o, p):\n    return 1\n",                               2, "F", "function F missing 1 argument (p)"),
    ("def F():\n    return 1\n",                                   2, "F", "function F accepts no arguments (1 given)"),
    ("def F(o):\n    return (lambda x: x.y)(1)\n",                 2, "lambda", "int has no .y field or method"),
    ("def F(o):\n    return resourceAdd('1', 'zwei')\n",           2, "F", 'resourceAdd: "zwei" is not a quantity: '),
    ("def F(o):\n    return getResourceQuantity([1])\n",           2, "F", "getResourceQuantity: "),
    ("def F(o):\n    return accuratePodRequirements(7)\n",         2, "F", "accuratePodRequirements: podTemplate: "),
    ("def F(o):\n    return accuratePodRequirements({'a': len})",  2, "F", "accuratePodRequirements: argument a: "),
    ("def F(o):\n    return getPodDependencies({})\n",             2, "F", "function getPodDependencies missing"),
    ("def F(o):\n    fail(o['u'][:1])\n",                          None, None, "failed with a message that is not"),
    ("def G(o):\n    return 1\n",                                  None, None, "the script does not define F"),
    ("F = 1\n",                                                    None, None, "the script does not define F"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "function", "message"), RUNNING)
def test_a_failing_call_says_where_and_why(text: str, line: int | None, function: str | None, message: str) -> None:
    with pytest.raises(ScriptError) as caught:
        call(text, {"u": "é"})
    error = caught.value
    assert (error.kind, error.script, error.line, error.function) == ("error", "thing.star", line, function)
    assert error.message.startswith(message)


def test_the_frames_are_the_authors_own_innermost_first() -> None:
    text = "def F(o):\n    return G(o)\n\ndef G(o):\n    return accuratePodRequirements(1)\n"
    with pytest.raises(ScriptError) as caught:
        call(text, None)
    assert [(frame.function, frame.line) for frame in caught.value.frames] == [("G", 5), ("F", 2)]
    assert str(caught.value).startswith("thing.star:5: in G: accuratePodRequirements: ")


# text                                          line  message
LOADING = [
    ("def F(:\n    pass\n",                     1, "got ':', want ')'"),
    ("def F(o):\n  return 1\n return 2\n",      3, "unindent does not match any outer indentation level"),
    ("def F(o):\n    return thing\n",           2, "undefined: thing"),
    ("A = b\nC = d\n",                          1, "undefined: b (and 1 more)"),
    ("while True:\n    pass\n",                 1, "this Starlark dialect does not support while loops (and 1 more)"),
    ("for i in [1]:\n    pass\n",               1, "for loop not within a function"),
    ("A = 1\nA = 2\n",                          2, "cannot reassign global A declared at thing.star:1:1"),
    ("A = {}['x']\n",                           1, 'key "x" not in dict'),
    ("fail('not today')\n",                     1, "not today"),
    ("load('other.star', 'x')\n",               1, "load is not offered: a script is one text"),
    ("import os\n",                             1, "got illegal token, want primary expression"),
    ("A = 1\0\n",                               None, "the text has a NUL character or a lone surrogate"),
    ("A = '\ud800'\n",                          None, "the text has a NUL character or a lone surrogate"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "message"), LOADING)
def test_a_script_that_does_not_load_says_where_and_why_every_time(text: str, line: int | None, message: str) -> None:
    for _ in range(2):
        with pytest.raises(ScriptSyntaxError) as caught:
            call(text, None)
        assert (caught.value.script, caught.value.line) == ("thing.star", line)
        assert caught.value.message.startswith(message)


PLAIN = "expected None, a boolean, number, string, list, tuple or dict, got "
# function, body, path, problem
REPLIES = [
    ("F", "return {'a': {'b': [1, set([1])]}}", "a.b[1]", PLAIN + "a set"),
    ("F", "return [len]", "[0]", PLAIN + "built-in function len"),
    ("F", "return {'f': F}", "f", PLAIN + "function F"),
    ("F", "return [range(3)]", "[0]", PLAIN + "a range"),
    ("F", "return {'a': {'b.c/d': len}}", 'a["b.c/d"]', PLAIN + "built-in function len"),
    ("F", "return {'t': b'x'}", "t", PLAIN + "bytes"),
    ("F", "return 'ab'.elems()", "", PLAIN + '"ab".elems()'),
    ("F", "return [float('nan')]", "[0]", "nan is not a number"),
    ("F", "return {'x': -float('inf')}", "x", "-inf is not a number"),
    ("F", "return {'a': [{1: 2}]}", "a[0]", "the key 1 is not a string"),
    ("F", "return {(1, 2): 2}", "", "the key a tuple is not a string"),
    ("F", "return {None: 2}", "", "the key None is not a string"),
    ("F", "return {'a': 'é'[:1]}", "a", 'the string "\\xc3" is not valid'),
    ("F", "x = {'l': []}\n    x['l'].append(x)\n    return x", "l[0]", "contains itself"),
    ("F", "x = []\n    x.append(x)\n    return {'a': x}", "a[0]", "contains itself"),
    ("GetComponents", "return [{'name': 'a', 'replicas': set()}]", "components[0].replicas", PLAIN),
    ("GetReplicas", "return 1, {'resourceRequest': {'cpu': len}}", "replicaRequirements.resourceRequest.cpu", PLAIN),
    ("GetReplicas", "return len, {}", "replicas", PLAIN),
    ("GetDependencies", "return [None, {'name': len}]", "dependencies[1].name", PLAIN),
    ("ReflectStatus", "return {'a': len}", "status.a", PLAIN),
    ("Retain", "return {'spec': {'a': len}}", "spec.a", PLAIN),
]  # fmt: skip


@pytest.mark.parametrize(("function", "body", "path", "problem"), REPLIES)
def test_a_reply_that_json_cannot_say_names_the_path(function: str, body: str, path: str, problem: str) -> None:
    with pytest.raises(ReplyError) as caught:
        call(f"def {function}():\n    {body}\n", function=function)
    assert (caught.value.path, caught.value.function) == (path, function)
    assert caught.value.problem.startswith(problem)


NESTED = "def F(n):\n    x = []\n    for i in range(n):\n        x = [x] if i % 2 else {'\"]}': x}\n    return x\n"
# text, argument                                                  limits              which limit
LIMITS: list[tuple[str, Any, dict[str, Any], str]] = [
    ("def F(o):\n    return 'x' * 101\n", None,                    {"output": 100},    "output"),
    (NESTED, 200,                                                  {},                 "depth"),
    (NESTED, 3_000,                                              {},                 "depth"),
    ("def F(o):\n    return 1\n", "x" * 100,                       {"input": 100},     "input"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "argument", "limits", "limit"), LIMITS)
def test_a_limit_that_the_engine_can_see_is_named(text: str, argument: Any, limits: dict[str, Any], limit: str) -> None:
    with pytest.raises(LimitError) as caught:
        call(text, argument, **limits)
    assert caught.value.limit == limit
    assert caught.value.kind == "limit"


def test_a_result_just_within_the_depth_is_fine() -> None:
    assert call(NESTED, 199).values[0].count(b"[") >= 100


def test_an_argument_cannot_be_a_program() -> None:
    with pytest.raises(msgspec.DecodeError, match="malformed"):
        ENGINE.call(script("def F(o):\n    return o\n"), "F", [b"1), F(2"], Limits())
