"""What is said of a Starlark text without running it."""

from __future__ import annotations

import pytest

from interpreters.starlark.engine import StarlarkEngine
from interpreters.starlark.lint import LANGUAGE, Definition, defined_functions, findings
from tests.interpreters.starlark.calling import call

TEXT = '''"""Replicas of a thing."""
LIMIT = 3

def GetReplicas(obj):
    """def NotThis(obj):"""
    return min(LIMIT, obj["spec"]["replicas"]), accuratePodRequirements(obj["spec"]["template"])

def _inner(a, *rest, key = None, **more):
    def nested(b):
        return b
    return [nested(x) for x in rest]

Short = lambda obj: obj
'''


def test_global_functions_are_found_with_their_places() -> None:
    assert defined_functions(TEXT) == [
        Definition("GetReplicas", 4, 5, ("obj",)),
        Definition("_inner", 8, 5, ("a",)),
        Definition("Short", 13, 1, ("obj",)),
    ]
    assert defined_functions("def F(:") == []


def test_a_good_text_has_no_findings() -> None:
    assert list(findings(TEXT)) == []


# text                                            line  column  rule              message
FINDINGS = [
    ("def F(o):\n    return lenn(o)\n",          2, 12, "unknown-global", "lenn is defined nowhere; did you mean len?"),
    ("def F(o):\n    return json\n",              2, 12, "unknown-global", "json is defined nowhere"),
    ("def Go(o):\n    return Og(o)\n",            2, 12, "unknown-global", "Og is defined nowhere"),
    ("X = accuratePodRequirement({})",            1, 5, "unknown-global",
     "accuratePodRequirement is defined nowhere; did you mean accuratePodRequirements?"),
    ("def F(:",                                   1, 8, "syntax", "got ':', want ')'"),
    ("while True:\n    pass\n",                   1, 1, "syntax", "this Starlark dialect does not support while loops"),
    ("A = 1\nA = 2\n",                            2, 1, "syntax", "cannot reassign global A declared at <expr>:1:1"),
    ("A = " + "[" * 300 + "]" * 300,              1, 1, "syntax", "brackets are nested deeper than 200 levels"),
    ("A = '\0'",                                  1, 1, "syntax", "the text has a NUL character or a lone surrogate"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "column", "rule", "message"), FINDINGS)
def test_each_finding_has_its_place(text: str, line: int, column: int, rule: str, message: str) -> None:
    first = next(findings(text))
    assert (first.line, first.column, first.rule, first.message) == (line, column, rule, message)


def test_all_findings_come_in_the_order_of_the_text() -> None:
    text = "def F(o):\n    return lenn(o)\nX = zipp\n"
    assert [(found.line, found.rule) for found in findings(text)] == [(2, "unknown-global"), (3, "unknown-global")]


def test_linting_runs_nothing() -> None:
    assert list(findings("X = [0 for i in range(1 << 40)]\nfail('never')\n")) == []


def test_every_name_that_lint_knows_exists() -> None:
    names = sorted(LANGUAGE)
    assert call(f"def F():\n    return len([{', '.join(names)}])\n").values == (str(len(names)).encode(),)


def test_what_lint_finds_undefined_does_not_load() -> None:
    engine = StarlarkEngine()
    for name in ("json", "struct", "math", "load_file", "__show", "__bind", "__requirements"):
        text = f"def F():\n    return {name}\n"
        assert [finding.rule for finding in findings(text)] == ["unknown-global"]
        with pytest.raises(Exception, match=f"undefined: {name}"):
            call(text, engine=engine)
