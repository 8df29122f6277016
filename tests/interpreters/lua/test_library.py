"""The library behaves as Lua 5.1's, with the bounds and the determinism that a server needs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.interpreters.lua.scripts import failure, value

EXPRESSIONS: list[tuple[str, Any]] = [
    ("string.format('%5.1f|%-4d|%s|%q|%%|%x', 3.14159, 7, {}, 'a\"b', 255)", '  3.1|7   |table|"a\\"b"|%|ff'),
    ("string.format('%s %s %s', 1e15, nil, true)", "1000000000000000 nil true"),
    ("string.format('%d', 3.7)", "3"),
    ("string.format('%5s|%.2s', 12, 'abc')", "   12|ab"),
    ("string.rep('ab', 3)", "ababab"),
    ("string.rep('a', 3, ',')", "a,a,a"),
    ("string.rep('a', -1)", ""),
    ("{string.gsub('hello', 'l', 'L')}", ["heLLo", 2]),
    ("{string.gsub('hello', 'l', 'L', 1)}", ["heLlo", 1]),
    ("(string.gsub('a b', '%a', function(c) return c == 'a' and 1e15 or nil end))", "1000000000000000 b"),
    ("(string.gsub('$x $y', '%$(%a)', {x = 1/3}))", "0.3333333333333333 $y"),
    ("{string.find('k=v', '=', 1, true)}", [2, 2]),
    ("{string.match('2048m', '^(%d+)(%a*)$')}", ["2048", "m"]),
    ("{string.byte('AB', 1, -1)}", [65, 66]),
    ("string.char(72, 105)", "Hi"),
    ("string.sub('abcdef', -3)", "def"),
    ("string.len(1e15)", 16),
    ("('%d'):format(3)", "3"),
    ("#'abc'", 3),
    ("table.concat({1, 'a', 1/3, 1e15}, '-')", "1-a-0.3333333333333333-1000000000000000"),
    ("table.concat({'x', 'y', 'z'}, ',', 2, 3)", "y,z"),
    ("table.concat({})", ""),
    ("table.getn({1, 2, 3})", 3),
    ("table.maxn({1, 2, [10] = 3})", 10),
    ("(function() local t = {1, 2} table.insert(t, 1, 0) table.insert(t, 9) return t end)()", [0, 1, 2, 9]),
    ("(function() local t = {1, 2, 3} return {table.remove(t), table.remove(t, 1), #t} end)()", [3, 1, 1]),
    ("(function() local t = {3, 1, 2} table.sort(t, function(a, b) return a > b end) return t end)()", [3, 2, 1]),
    ("math.max(1, 5, 3)", 5),
    ("math.ceil(2.1) + math.floor(-2.1)", 0),
    ("math.mod(7, 3) + math.fmod(7, 4)", 4),
    ("tonumber('0x10') + tonumber('z', 36)", 51),
    ("tonumber('12abc') == nil", True),
    ("select('#', 1, nil, nil)", 3),
    ("select(2, 'a', 'b')", "b"),
    ("{unpack({1, 2, 3}, 2)}", [2, 3]),
    ("{pcall(error, 'x', 0)}", [False, "x"]),
    ("{pcall(function(a) return a end, 7)}", [True, 7]),
    ("{xpcall(function() error('x', 0) end, function(m) return m .. '!' end)}", [False, "x!"]),
    ("{pcall(nil)}", [False, "attempt to call a nil value"]),
    ("rawget({a = 1}, 'a') + rawset({}, 'b', 2).b", 3),
    ("rawequal(o, o)", True),
    ("next({})", None),
    ("next({}) == nil", True),
    ("assert(5, 'no')", 5),
    ("'10' + 5", 15),
    ("'a' < 'b'", True),
    ("2^53", 9007199254740992),
    ("7 % 3 == 1 and -7 % 3 == 2", True),
    ("#o.list", 3),
    ("type(o.nothing)", "nil"),
]


@pytest.mark.parametrize(("expression", "expected"), EXPRESSIONS)
def test_the_library_gives(expression: str, expected: Any) -> None:
    assert value(expression, {"list": [1, 2, 3]}) == expected


REFUSED = [
    ("string.rep('a', 1000001)", "more than 1000000 bytes"),
    ("string.rep('ab', 1e9)", "more than 1000000 bytes"),
    ("string.upper(string.rep('a', 999999) .. 'bb')", "at most 1000000"),
    ("string.format('%p', {})", "invalid conversion"),
    ("string.format('%200d', 1)", "invalid"),
    ("string.format('%d', 'x')", "bad argument #2 to 'format' (number expected, got string)"),
    ("string.upper()", "bad argument #1 to 'upper' (string expected, got nil)"),
    ("string.find('a', '[')", "malformed pattern"),
    ("table.insert({}, -1e9, 1)", "below 1"),
    ("table.insert(nil, 1)", "bad argument #1 to 'insert' (table expected, got nil)"),
    ("table.concat({{}})", "invalid value (table) at index 1"),
    ("pairs(nil)", "bad argument #1 to 'pairs' (table expected, got nil)"),
    ("unpack({}, 1, 1e8)", "too many results to unpack"),
    ("os.time{year = 2024}", "field 'month' missing"),
    ("kube.resourceAdd('x')", '"x" is not a quantity'),
    ("kube.resourceAdd({})", "bad argument #1 to 'resourceAdd' (string expected, got table)"),
    ("kube.getResourceQuantity('1', '2')", "takes one quantity"),
    ("kube.getPodDependencies({}, 5)", "bad argument #2"),
    ("kube.accuratePodRequirements(5)", "bad argument #1 to 'accuratePodRequirements' (table expected, got number)"),
    ("kube.accuratePodRequirements({spec = {containers = {{resources = {requests = {cpu = 'abc'}}}}}})", "abc"),
    ("kube.accuratePodRequirements({spec = {x = print}})", "spec.x: a function"),
]


@pytest.mark.parametrize(("expression", "message"), REFUSED)
def test_the_library_refuses(expression: str, message: str) -> None:
    error = failure(f"local kube = require('kube')\nfunction f()\n local r = {expression} return r end")
    assert message in error.message
    assert (error.line, error.function) == (3, "f")


TEMPLATE = {
    "spec": {
        "containers": [{"name": "c", "resources": {"requests": {"cpu": "250m"}, "limits": {"memory": "64Mi"}}}],
        "nodeSelector": {"disk": "ssd"},
        "volumes": [{"name": "v", "configMap": {"name": "cm"}}],
    }
}
KUBE = [
    ("kube.resourceAdd('100m', nil, '1')", "1100m"),
    ("kube.resourceAdd(1, 2)", "3"),
    ("kube.resourceAdd(nil)", "0"),
    ("kube.getResourceQuantity('1Gi')", 1073741824),
    ("kube.getResourceQuantity(nil)", 0),
    ("kube.getResourceQuantity('100m')", 0.1),
    ("kube.accuratePodRequirements(nil)", None),
    ("kube.accuratePodRequirements(o)", {
        "resourceRequest": {"cpu": "250m", "memory": "64Mi"}, "nodeClaim": {"nodeSelector": {"disk": "ssd"}},
    }),
    ("kube.accuratePodRequirements({spec = {}})", None),
    ("kube.getPodDependencies(o, 'ns')", [{"apiVersion": "v1", "kind": "ConfigMap", "namespace": "ns", "name": "cm"}]),
    ("#kube.getPodDependencies({}, 'ns')", 0),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "expected"), KUBE)
def test_kube_answers(expression: str, expected: Any) -> None:
    assert value(expression, TEMPLATE) == expected
