"""Starlark scripts that mean harm, in the real sandbox: each ends in its error in time while others are answered."""

from __future__ import annotations

import asyncio
import time

import pytest

from interpreters.core.engine import Limits, Script
from interpreters.core.errors import LimitError, ReplyError, ScriptError, ScriptSyntaxError
from interpreters.sandbox.pool import SandboxPool

SECONDS = 0.3
CLEARLY_IN_TIME = 30.0  # on a machine that has other things to do
GOOD = Script("good", "starlark", "def F(o):\n    return 3\n")

MODULE = "def F(o):\n    return 1\n"
TIME, MEMORY = ("time", "cost"), ("memory",)
EITHER = (*TIME, *MEMORY)  # whichever ends first on this machine

# name, body of F, error, which limits
IN_A_CALL = [
    ("nested loops", "for i in range(1 << 60):\n        [j for j in range(1 << 60) if j < 0]", LimitError, TIME),
    ("an endless comprehension", "return [0 for i in range(1 << 60) if i < 0]", LimitError, TIME),
    ("an endless list", "return [i for i in range(1 << 60)]", LimitError, EITHER),
    ("a range as a list", "return list(range(1 << 40))", LimitError, MEMORY),
    ("a range larger than memory", "return enumerate(range(1 << 50))", LimitError, MEMORY),
    ("list doubling", "x = [1]\n    for i in range(99):\n        x = x + x", LimitError, EITHER),
    ("list extending itself", "x = [1]\n    for i in range(99):\n        x.extend(list(x))", LimitError, EITHER),
    ("string doubling", "x = 'a'\n    for i in range(99):\n        x += x", LimitError, EITHER),
    ("string repeated", "return ['a' * (1 << 29) for i in range(9)]", LimitError, EITHER),
    ("a repeat beyond reason", "return 'a' * (1 << 40)", ScriptError, ()),
    ("an endless dict", "d = {}\n    for i in range(1 << 60):\n        d[i] = [i]", LimitError, EITHER),
    ("endless closures", "x = []\n    for i in range(1 << 60):\n        x.append(lambda: x)", LimitError, EITHER),
    ("a number squared for ever", "x = 3\n    for i in range(99):\n        x *= x", LimitError, TIME),
    ("a number shifted for ever", "x = 1\n    for i in range(1 << 60):\n        x = x << 500", LimitError, EITHER),
    ("a number of many digits", "return int('9' * 20000000)", LimitError, EITHER),
    ("long sorts", "x = list(range(1 << 20))\n    return [sorted(x, key = lambda v: -v) for i in x]",
     LimitError, EITHER),
    ("long counts", "x = 'a' * (1 << 24)\n    return [x.count('a' * 99 + 'b') for i in range(1 << 60)]",
     LimitError, EITHER),
    ("a catastrophic join", "return len(('x' * 1000000).join(['y'] * 1000000))", LimitError, EITHER),
    ("a catastrophic split", "return len(('x' * (1 << 28)).split('x'))", LimitError, EITHER),
    ("catastrophic replaces", "x = 'ab'\n    for i in range(99):\n        x = x.replace('a', 'aab')"
                                   ".replace('b', 'abb')", LimitError, EITHER),
    ("catastrophic formats", "x = 'x'\n    for i in range(99):\n        x = '%s%s' % (x, x)", LimitError, EITHER),
    ("a tuple hashed for ever", "x = ()\n    for i in range(99):\n        x = (x, x)\n    return {x: 1}",
     LimitError, TIME),
    ("a comparison of cycles", "x = []\n    x.append(x)\n    y = [x]\n    y[0] = y\n    return x == y",
     ScriptError, ()),
    ("recursion", "return F(o)", ScriptError, ()),
    ("recursion of a lambda", "f = lambda g: g(g)\n    return f(f)", ScriptError, ()),
    ("printing for ever", "for i in range(1 << 60):\n        print(i)", LimitError, TIME),
    ("printing a lot", "print('x' * (1 << 28))", LimitError, EITHER),
    ("failing with a lot", "fail('x' * (1 << 28))", LimitError, EITHER),
    ("a result of 100 MB", "return ['x' * 1000000 for i in range(100)]", LimitError, (*EITHER, "output")),
    ("a result of 5 MB", "return 'x' * 5000000", LimitError, ("output",)),
    ("a result that explodes", "x = []\n    for i in range(99):\n        x = [x, x]\n    return x", LimitError, EITHER),
    ("a result 1000 deep", "x = []\n    for i in range(1000):\n        x = [x]\n    return x", LimitError, ("depth",)),
    ("a result 100 000 deep", "x = []\n    for i in range(100000):\n        x = [x]\n    return x",
     LimitError, (*EITHER, "depth")),
    ("a result in a circle", "x = []\n    x.append(x)\n    return x", ReplyError, ()),
    ("a result that is a function", "return F", ReplyError, ()),
    ("half a character as error", "fail('é'[:1])", ScriptError, ()),
    ("half a character as reply", "return 'é'[:1]", ReplyError, ()),
    ("half a character printed", "print('é'[:1])\n    fail('got this far')", ScriptError, ()),
    ("a huge pod template", "return accuratePodRequirements({'spec': {'containers': [{'name': 'x'}] * (1 << 20)}})",
     LimitError, EITHER),
    ("a deep pod template", "x = []\n    for i in range(5000):\n        x = [x]\n"
                                   "    return accuratePodRequirements({'spec': x})", ScriptError, ()),
    ("a pod template in a circle", "x = {}\n    x['spec'] = x\n    return getPodDependencies(x, '')", ScriptError, ()),
    ("a huge quantity", "return resourceAdd('1e' + '9' * 30)", ScriptError, ()),
]  # fmt: skip

# name, text, error, which limits
AS_A_TEXT = [
    ("an endless module", "X = [0 for i in range(1 << 60) if i < 0]\n" + MODULE, LimitError, TIME),
    ("a module of all memory", "X = [[i] for i in range(1 << 60)]\n" + MODULE, LimitError, EITHER),
    ("a module that prints", "X = [print(i) for i in range(1 << 60)]\n" + MODULE, LimitError, EITHER),
    ("a text nested very deep", "X = " + "[" * 1000000 + "]" * 1000000 + "\n" + MODULE, LimitError, EITHER),
    ("a very long sum", "X = " + "1+" * 1000000 + "1\n" + MODULE, LimitError, EITHER),
    ("another file", "load('/etc/passwd', 'root')\n" + MODULE, ScriptSyntaxError, ()),
    ("the binding's own names", "X = __show\n" + MODULE, ScriptSyntaxError, ()),
    ("Python's import", "X = __import__('os')\n" + MODULE, ScriptSyntaxError, ()),
    ("opening a file", "X = open('/etc/passwd')\n" + MODULE, ScriptSyntaxError, ()),
    ("NUL in the text", "X = 1\0\n" + MODULE, ScriptSyntaxError, ()),
]  # fmt: skip

ATTACKS = [(name, f"def F(o):\n    {body}\n", error, limits) for name, body, error, limits in IN_A_CALL] + AS_A_TEXT


async def test_every_attack_ends_in_its_error_while_others_are_answered() -> None:
    async with SandboxPool(2, limits=Limits(seconds=SECONDS)) as pool:
        await pool.call(GOOD, "F", [b"{}"])
        for name, text, error, limits in ATTACKS:
            started = time.monotonic()
            evil = asyncio.ensure_future(pool.call(Script(name, "starlark", text), "F", [b"{}"]))
            while not evil.done():
                assert (await pool.call(GOOD, "F", [b"{}"])).values == (b"3",)
                await asyncio.sleep(0.01)
            with pytest.raises(ScriptError) as caught:
                await evil
            assert time.monotonic() - started < CLEARLY_IN_TIME, name
            check(name, caught.value, error, limits)


def check(name: str, caught: ScriptError, error: type[ScriptError], limits: tuple[str, ...]) -> None:
    assert isinstance(caught, error), f"{name}: {caught!r}"
    if limits:
        assert isinstance(caught, LimitError)
        assert caught.limit in limits, f"{name}: {caught!r}"
    assert caught.script == name
    assert "\n" not in str(caught), f"{name}: the dump of a dying runtime must not get through"
    assert len(str(caught)) < 1000
