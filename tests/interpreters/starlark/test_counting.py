"""A text that counts what it does answers as the text alone, whichever way a run of statements is left."""

from __future__ import annotations

import json
from collections.abc import Iterator
from textwrap import dedent

import pytest

from interpreters.core.engine import Limits, Script
from interpreters.sandbox.runner import SandboxRunner


@pytest.fixture(scope="module")
def runner() -> Iterator[SandboxRunner]:
    with SandboxRunner(limits=Limits(seconds=30)) as front:
        yield front


# name, text, what F answers for 0, 1, 2, 3
SHAPES = [
    ("branches", """
        def F(o):
            if o == 1: return "a"
            elif o == 2:
                return "b"
            else:
                if o: return "c"
            return "d"
     """, ["d", "a", "b", "c"]),
    ("a loop with continue and break", """
        def F(o):
          n = 0
          for i in range(9):
            if i == o: continue
            if i > 5: break
            n += i
          return n
     """, [15, 14, 13, 12]),
    ("loops in tabs, left from within", """
        def F(o):
        \tfor i in range(9):
        \t\tfor j in range(9):
        \t\t\tif i * j == o and j: return [i, j]
        \treturn None
     """, [[0, 1], [1, 1], [1, 2], [1, 3]]),
    ("a body on the line of its def", """
        def F(o): x = [i for i in range(4) if i != o]; return (lambda a, b = 5: a[0] + b)(x)
     """, [6, 5, 5, 5]),
    ("expressions over several lines", """
        def F(o):
            x = {str(k): [j for j in range(k)] for k in range(
          o)}
            return (
         x)  # {1: 2}
     """, [{}, {"0": []}, {"0": [], "1": [0]}, {"0": [], "1": [0], "2": [0, 1]}]),
    ("functions in functions", """
        def G(f, *a, **k):
            'doc'
            def H(x):
                if x: return f(x, *a, **k)
                return "none"
            return H
        A, (B, C) = 1, (2, 3)
        def F(o): return G(lambda x, y, z: x + y + z, B, z = C)(o)
     """, ["none", 6, 7, 8]),
    ("a break inside of two conditions", """
        def F(o):
            for _ in range(3):
                if o > 1:
                    if o > 2:
                        break
                    o -= 1
                else:
                    pass
                o += 0
            return o
     """, [0, 1, 1, 3]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "answers"), SHAPES, ids=[shape[0] for shape in SHAPES])
def test_a_text_that_counts_answers_as_the_text_alone(
    runner: SandboxRunner, name: str, text: str, answers: list[object]
) -> None:
    script = Script(name, "starlark", dedent(text))
    outcomes = [runner.call(script, "F", [b"%d" % number]) for number in range(4)]
    assert [json.loads(outcome.values[0]) for outcome in outcomes] == answers
    assert all(outcome.cost > 3 for outcome in outcomes)


def test_what_is_not_run_is_not_paid_for(runner: SandboxRunner) -> None:
    script = Script(
        "early", "starlark", "def F(o):\n    if o: return 1\n" + "    o = [o, o, o]\n" * 50 + "    return 1\n"
    )
    early, late = (runner.call(script, "F", [argument]).cost for argument in (b"1", b"0"))
    assert late > early + 200
