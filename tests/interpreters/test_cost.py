"""What a call costs is counted: the same in every process, whatever ran before, and it bounds what a script may do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from interpreters.core.engine import Limits, Script
from interpreters.core.errors import LimitError
from interpreters.sandbox.runner import SandboxRunner

PATIENT = Limits(seconds=30)


@pytest.fixture(scope="module")
def runner() -> Iterator[SandboxRunner]:
    with SandboxRunner(limits=PATIENT) as front:
        yield front


@pytest.mark.parametrize("language", ["lua", "starlark"])
def test_every_bundled_case_costs_the_same_in_any_process_and_order(language: str) -> None:
    """Once in the order of the files, once shuffled and each case twice; other processes, other hash seeds."""
    program = "from tests.interpreters.scripts.cost_of_cases import main; main()"

    def measured(seed: str) -> dict[str, list[int]]:
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        arguments = [sys.executable, "-c", program, language, seed]
        done = subprocess.run(arguments, capture_output=True, check=True, env=environment)
        found: dict[str, list[int]] = json.loads(done.stdout)
        return found

    first, second = measured("0"), measured("7")
    assert len(first) > 150
    assert {name: set(costs) for name, costs in first.items()} == {name: set(costs) for name, costs in second.items()}
    assert all(len(set(costs)) == 1 and min(costs) > 0 for costs in first.values())
    dearest = max(costs[0] for costs in first.values())
    assert dearest * 100 < Limits().cost, "the default must leave ample room"


LOOPS = {
    "lua": "function F(o) local n = 0 for i = 1, o.n do n = n + i end return n end",
    "starlark": "def F(o):\n    n = 0\n    for i in range(o['n']):\n        n += i\n    return n\n",
}
WORK = [
    ("lua", "function F(o) local t = {} for i = 1, o.n do t[i] = i end return #t end"),
    ("lua", "function F(o) return #('x'):rep(o.n) end"),
    ("lua", "function F(o) local k = require('kube') for i = 1, o.n do k.resourceAdd('1', i .. 'm') end end"),
    ("lua", "function F(o) local t = {} for i = 1, o.n do t['k' .. i] = i end for k in pairs(t) do t[k] = nil end end"),
    ("starlark", "def F(o):\n    return len([i for i in range(o['n'])])\n"),
    ("starlark", "def F(o):\n    for i in range(o['n']):\n        if i < 0:\n            pass\n"),
    ("starlark", "def F(o):\n    for i in range(o['n']):\n        for j in []:\n            pass\n"),
    ("starlark", "def G(i):\n    return i\ndef F(o):\n    return len({i: G(i) for i in range(o['n'])})\n"),
    ("starlark", "def F(o):\n    for i in range(o['n']):\n        resourceAdd('1', str(i) + 'm')\n"),
    ("starlark", "def F(o):\n    return len([c for c in ('x' * o['n']).elems()])\n"),
    ("starlark", "def F(o):\n    return len([c for c in ('x' * o['n']).codepoints()])\n"),
    ("starlark", "def F(o):\n    return len(sorted(range(o['n']), key = lambda i: -i))\n"),
    ("starlark", "def F(o):\n    for i in range(o['n']):\n        if i % 2:\n            continue\n        i += 1\n"),
    *LOOPS.items(),
]


@pytest.mark.parametrize(("language", "text"), WORK)
def test_twice_the_work_costs_about_twice_as_much(runner: SandboxRunner, language: str, text: str) -> None:
    script = Script("work", language, text)
    costs = [runner.call(script, "F", [b'{"n": %d}' % n]).cost for n in (20_000, 40_000, 20_000)]
    assert costs[0] == costs[2]
    assert 1.5 < costs[1] / costs[0] < 2.5


@pytest.mark.parametrize("language", LOOPS)
def test_the_limit_is_met_exactly(runner: SandboxRunner, language: str) -> None:
    script, argument = Script("loop", language, LOOPS[language]), b'{"n": 30000}'
    cost = runner.call(script, "F", [argument]).cost
    assert runner.call(script, "F", [argument], limits=Limits(cost=cost, seconds=30)).cost == cost
    with pytest.raises(LimitError) as caught:
        runner.call(script, "F", [argument], limits=Limits(cost=cost - 1, seconds=30))
    assert caught.value.limit == "cost"
    assert f"it costs more than {cost - 1} units" in str(caught.value)


ENDLESS = [
    ("lua", "function F() while true do end end"),
    ("lua", "function F() while true do pcall(function() while true do end end) end end"),
    ("lua", "function F() xpcall(function() while true do end end, function() return 1 end) return 1 end"),
    ("lua", "while true do end"),
    ("starlark", "def F():\n    for i in range(1 << 60):\n        pass\n"),
    ("starlark", "def F():\n    for i in range(1 << 60):\n        if i < 0:\n            return\n"),
    (
        "starlark",
        "f0 = lambda: 0\n"
        + "".join(f"f{n + 1} = lambda: f{n}() + f{n}()\n" for n in range(60))
        + "def F():\n    f60()\n",
    ),
    (
        "starlark",
        "def f0(): pass\n" + "".join(f"def f{n + 1}(): f{n}(); f{n}()\n" for n in range(60)) + "def F(): f60()\n",
    ),
]


@pytest.mark.parametrize(("language", "text"), ENDLESS)
def test_an_endless_call_ends_at_its_cost_and_costs_no_worker(runner: SandboxRunner, language: str, text: str) -> None:
    kills = dict(runner.stats().kills)
    with pytest.raises(LimitError) as caught:
        runner.call(Script("endless", language, text), "F", [], limits=Limits(cost=2_000_000, seconds=30))
    assert caught.value.limit == "cost"
    assert runner.stats().kills == kills


def test_an_error_of_the_script_is_no_cheaper_way_on(runner: SandboxRunner) -> None:
    text = "function F() for i = 1, 1e9 do pcall(error, 'x') end end"
    with pytest.raises(LimitError) as caught:
        runner.call(Script("catching", "lua", text), "F", [], limits=Limits(cost=1_000_000, seconds=30))
    assert caught.value.limit == "cost"


@pytest.mark.parametrize(
    "text", ["__count_tick = 1\ndef F():\n    return __count_tick\n", "def F():\n    return 1 # __count_\n"]
)
def test_a_script_that_uses_the_counters_names_gets_other_ones(runner: SandboxRunner, text: str) -> None:
    assert runner.call(Script("names", "starlark", text), "F", []).values == (b"1",)


def test_counting_changes_neither_texts_of_several_lines_nor_line_numbers(runner: SandboxRunner) -> None:
    text = (
        'T = """a\n  b\n\tc"""\n'
        'def F(o):\n    """Doc\n  string."""\n    x = (1 +\n  2)\n    if not x: return 1\n    return T[o]\n'
    )
    script = Script("lines", "starlark", text)
    assert json.loads(runner.call(script, "F", [b"4"]).values[0]) == "b"
    with pytest.raises(Exception, match="lines:10: in F: string index 99 out of range"):
        runner.call(script, "F", [b"99"])
