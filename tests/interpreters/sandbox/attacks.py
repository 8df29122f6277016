"""Scripts that mean harm, and the error each must end in. A table per language; `ATTACKS` is all of them.

Each defines `GetReplicas` and is called with an empty object under a time limit of 0.3 s.
"""

from __future__ import annotations

from dataclasses import dataclass

from interpreters.core.errors import LimitError, ScriptError, ScriptSyntaxError


@dataclass(frozen=True, slots=True)
class Attack:
    """`limits`: which of a LimitError's limits are right; none if it need not be one. `says`: part of the message."""

    name: str
    language: str
    text: str
    error: type[ScriptError] = ScriptError
    limits: tuple[str, ...] = ()
    says: str = ""


def _lua(
    name: str, text: str, error: type[ScriptError] = ScriptError, limits: tuple[str, ...] = (), says: str = ""
) -> Attack:
    return Attack(name, "lua", text, error, limits, says)


def _in_call(body: str) -> str:
    return f"function GetReplicas(object)\n{body}\nend"


_TELL = "error('got a ' .. type(e) .. ': ' .. tostring(e), 0)"
_DEEP = "local t = {} for _ = 1, 300 do t = {t} end"
_TIME = ("time", "cost")
_MEMORY = ("memory",)

LUA_ATTACKS = (
    _lua("an endless loop while loading", "while true do end", LimitError, _TIME),
    _lua("an endless loop in a call", _in_call("while true do end"), LimitError, _TIME),
    _lua(
        "an endless loop in pcall",
        _in_call("while true do pcall(function() while true do end end) end"),
        LimitError,
        _TIME,
    ),
    _lua(
        "an endless loop in an error handler",
        _in_call("xpcall(function() error('x') end, function() while true do end end)"),
        LimitError,
        _TIME,
    ),
    _lua(
        "pcall around its own limit, again and again",
        _in_call("local function again() pcall(again) while true do end end again()"),
        LimitError,
        (*_TIME, "stack", "memory"),
    ),
    _lua("a repeat that never ends through goto", _in_call("::top:: goto top"), LimitError, _TIME),
    _lua(
        "a catastrophic pattern",
        _in_call("return string.find(('a'):rep(30000), '.-.-.-.-b$')"),
        LimitError,
        _TIME,
    ),
    _lua(
        "a catastrophic match",
        _in_call("return string.match(string.rep('a', 30000), '.*.*.*.*.*.*b')"),
        LimitError,
        _TIME,
    ),
    _lua(
        "a sort whose comparison never ends",
        _in_call("table.sort({3, 2, 1}, function() while true do end end)"),
        LimitError,
        _TIME,
    ),
    _lua("memory by doubling a string", _in_call("local s = 'x' while true do s = s .. s end"), ScriptError),
    _lua("memory by string.rep", _in_call("return #string.rep('x', 2^31)"), ScriptError),
    _lua(
        "memory by tables",
        _in_call("local t = {} while true do t[#t + 1] = {t, {}, {}} end"),
        LimitError,
        (*_MEMORY, *_TIME),
    ),
    _lua(
        "memory by closures",
        _in_call("local f = function() end while true do local g = f f = function() return g end end"),
        LimitError,
        (*_MEMORY, *_TIME),
    ),
    _lua(
        "memory by distinct strings",
        _in_call("local t = {} for i = 1, 1e9 do t[i] = 'key' .. i end"),
        LimitError,
        (*_MEMORY, *_TIME),
    ),
    _lua(
        "memory by table.concat",
        _in_call("local t = {} for i = 1, 1e5 do t[i] = ('x'):rep(1e5) end return table.concat(t)"),
        ScriptError,
    ),
    _lua("deep recursion", _in_call("local function f() return 1 + f() end return f()"), ScriptError),
    _lua(
        "deep recursion through pcall",
        _in_call("local function f() return pcall(f) and 1 or f() end return f()"),
        ScriptError,
    ),
    _lua(
        "a result nested 100 000 deep",
        _in_call("local t = {} for _ = 1, 100000 do t = {t} end return t"),
        ScriptError,
    ),
    _lua(
        "a result of 100 MB",
        _in_call("local t = {} local s = ('x'):rep(100000) for i = 1, 1000 do t[i] = s end return t"),
        LimitError,
        ("output", *_MEMORY, *_TIME),
    ),
    _lua("a result that contains itself", _in_call("local t = {} t.self = t return t"), ScriptError),
    _lua("two results that contain each other", _in_call("local a, b = {}, {} a.b = b b.a = a return a"), ScriptError),
    _lua("a result that is a function", _in_call("return print"), ScriptError),
    _lua("printing for ever", _in_call("while true do print('x') end"), LimitError, ("print", *_TIME, *_MEMORY)),
    _lua(
        "printing a lot", _in_call("while true do print(('x'):rep(1e5)) end"), LimitError, ("print", *_TIME, *_MEMORY)
    ),
    _lua("a format of huge width", _in_call("return string.format('%99999999d', 1)"), ScriptError),
    _lua("a format of many widths", _in_call("return string.format(('%99d'):rep(1e6), 1)"), ScriptError),
    _lua("bytecode through load", _in_call("return load('\\27LJ\\2\\2')()"), ScriptError),
    _lua("bytecode through loadstring", _in_call("return loadstring('\\27LJ\\2\\2')()"), ScriptError),
    _lua("bytecode as the script", "\x1bLJ\x02\x02\x00", ScriptSyntaxError),
    _lua("dumping a function", _in_call("return string.dump(GetReplicas)"), ScriptError),
    _lua("require of io", _in_call("return require('io')"), ScriptError),
    _lua("require of ffi", _in_call("return require('ffi').C"), ScriptError),
    _lua("require of jit", _in_call("return require('jit.util')"), ScriptError),
    _lua("running a program", _in_call("return os.execute('true')"), ScriptError),
    _lua("reading a file", _in_call("return io.open('/etc/passwd'):read('*a')"), ScriptError),
    _lua("reading the environment", _in_call("return os.getenv('PATH')"), ScriptError),
    _lua("ending the process", _in_call("os.exit(0)"), ScriptError),
    _lua("loading a file", _in_call("return dofile('/etc/passwd')"), ScriptError),
    _lua("reaching Python", _in_call("return python.eval('1')"), ScriptError),
    _lua("the debug library", _in_call("return debug.getregistry()"), ScriptError),
    _lua("a claim to be out of memory", _in_call("error('not enough memory', 0)"), says="not enough memory"),
    _lua("the same claim by assert", _in_call("assert(false, 'not enough memory')"), says="not enough memory"),
    _lua(
        "a claim to be out of memory that its own pcall keeps",
        _in_call("local _, e = pcall(error, 'not enough memory', 0) error('kept ' .. e, 0)"),
        says="kept not enough memory",
    ),
    _lua(
        "an exception of the host in its hands",
        _in_call(f"local _, e = pcall(require('kube').getResourceQuantity, ('9'):rep(400)) {_TELL}"),
        says="got a string: the number is too large",
    ),
    _lua(
        "a limit's own error in its hands",
        _in_call(f"{_DEEP} local _, e = pcall(require('kube').accuratePodRequirements, t) {_TELL}"),
        says="got a string: the value is beyond the depth limit",
    ),
    _lua(
        "a limit's own error in its handler's hands",
        _in_call(
            f"{_DEEP} xpcall(function() require('kube').accuratePodRequirements(t) end, function(x) e = x end) {_TELL}"
        ),
        says="got a string: the value is beyond the depth limit",
    ),
    _lua(
        "a limit's own error, edited and raised again",
        _in_call(f"{_DEEP} local _, e = pcall(require('kube').accuratePodRequirements, t) e.limit = 'memory' error(e)"),
        says="attempt to index local 'e' (a string value)",
    ),
    _lua("more results than can be unpacked", _in_call("return unpack({}, 1, 7900)"), says="returned 7900 values"),
    _lua(
        "an error inside the library",
        _in_call("return table.concat({1}, ',', 'a')"),
        says="in GetReplicas: 'for' initial value must be a number",
    ),
    *(
        _lua(f"a 64-bit number {how}", text, ScriptSyntaxError, says="malformed number near '1LL'")
        for how, text in {
            "in plain sight": _in_call("return 1LL"),
            "behind a comment that a carriage return ends": "-- x\r" + _in_call("return 1LL"),
            "behind an escaped line end of two bytes": _in_call("local s = '\\\r\n\"' return 1LL --\""),
            "behind skipped blanks": _in_call("local s = '\\z\n \" ' return 1LL --\""),
        }.items()
    ),
)

ATTACKS: tuple[Attack, ...] = (*LUA_ATTACKS,)

GOOD = {
    "lua": "function GetReplicas(object) return 3 end",
    "starlark": "def GetReplicas(object):\n    return 3\n",
}
"""A harmless script in each language, to be answered with 3 while the attacks go on."""
