"""What a Starlark script is given, what it may return, and what stays from call to call (nothing)."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interpreters.core.engine import Limits
from interpreters.core.errors import ScriptError
from interpreters.starlark.engine import KEPT_SCRIPTS, StarlarkEngine
from tests.interpreters.starlark.calling import ENGINE, call, reply, script

IDENTITY = "def F(obj):\n    return obj\n"

# JSON text in                                    JSON text out, byte for byte but for blanks
UNCHANGED = [
    "null", "true", "false", "0", "-7", "9007199254740993", "-9007199254740993", "1" + "0" * 40, "2.0", "-0.0",
    "0.1", "1e-07", "1e+100", '""', '"h\u00e9llo \\"quoted\\"\\n"', "[]", "{}", '[{}, [], [{"a": []}, {"a": {}}]]',
    '{"z": 1, "a": {"y": null}, "m": [true, false]}', '{"": {" ": "\\\\"}}',
]  # fmt: skip


@pytest.mark.parametrize("text", UNCHANGED)
def test_a_value_that_passes_through_is_the_same_text(text: str) -> None:
    (value,) = ENGINE.call(script(IDENTITY), "F", [text.encode()], Limits()).values
    assert value.replace(b" ", b"") == text.replace(" ", "").encode()


# JSON text in                     what it means
ESCAPES = [
    (rb'"a\/b"', "a/b"),
    (rb'"\ud83d\ude00"', "\U0001f600"),
    (rb'"\uD83D\uDE00 \u003c"', "\U0001f600 <"),
    (rb'"\\ud83d"', "\\ud83d"),
    (rb'"\\\/"', "\\/"),
    (rb'"\u0000\u0007\u000b\u007f\u2028"', "\0\a\v\x7f\u2028"),
    ('"\U000e0001"'.encode(), "\U000e0001"),
    (b'"\xff"', "\ufffd"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "meaning"), ESCAPES)
def test_text_survives_whatever_its_escapes(text: bytes, meaning: str) -> None:
    (value,) = ENGINE.call(script(IDENTITY), "F", [text], Limits()).values
    assert json.loads(value) == meaning
    seen = "def F(text):\n    return len([c for c in text.codepoints()])\n"
    (length,) = ENGINE.call(script(seen), "F", [text], Limits()).values
    assert int(length) == len(meaning)


trees = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
    max_leaves=20,
)


@settings(max_examples=200)
@given(trees, st.booleans())
def test_any_tree_comes_back_equal_and_of_the_same_types(tree: Any, ascii_only: bool) -> None:
    text = json.dumps(tree, ensure_ascii=ascii_only).encode()
    (value,) = ENGINE.call(script(IDENTITY), "F", [text], Limits()).values
    assert repr(json.loads(value)) == repr(tree)


# expression                                       the values returned
REPLIES = [
    ("3",                                           [3]),
    ("3, None",                                     [3, None]),
    ("3, {'cpu': '1'}",                             [3, {"cpu": "1"}]),
    ("(3,)",                                        [3]),
    ("()",                                          []),
    ("None",                                        [None]),
    ("[(1, 2), ((), (True,))]",                     [[[1, 2], [[], [True]]]]),
    ("{'a': (1, None)}",                            [{"a": [1, None]}]),
    ("{}.keys()",                                   [[]]),
    ("1 / 2",                                       [0.5]),
    ("4 / 2",                                       [2.0]),
    ("7 // 2",                                      [3]),
    ("1 << 70",                                     [1 << 70]),
    ("[x for x in range(3)]",                       [[0, 1, 2]]),
    ("sorted(set([3, 1, 3]))",                      [[1, 3]]),
    ("'None (True) [...] <f> \\\\x00 \"'",          ["None (True) [...] <f> \\x00 \""]),
    ("{'a': 'set([1])', 'b': None}",                [{"a": "set([1])", "b": None}]),
    ("[[1] * 2] * 2",                               [[[1, 1], [1, 1]]]),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "values"), REPLIES)
def test_what_a_function_returns_is_json(expression: str, values: list[Any]) -> None:
    assert reply(expression) == values


def test_floats_stay_floats_and_whole_numbers_stay_whole() -> None:
    assert repr(reply("[2.0, 2, 4 / 2, 1e3, int(2.0)]")) == "[[2.0, 2, 2.0, 1000.0, 2]]"


def test_a_tuple_is_several_values_only_at_the_top() -> None:
    assert reply("[(1, 2)]") == [[[1, 2]]]
    assert reply("(1, 2)") == [1, 2]


def test_the_functions_of_a_script_are_its_own_global_ones() -> None:
    text = "A = 1\ndef F(): pass\ndef _g(): pass\nH = lambda: 1\nP = len\nQ = print\n"
    assert ENGINE.functions(script(text), Limits()) == {"F", "_g", "H", "Q"}


MODULE_VALUES = [
    ("L = []\ndef F():\n    L.append(1)\n    return L\n", b"[1]"),
    ("D = {}\ndef F():\n    D['a'] = len(D)\n    return D\n", b'{"a": 0}'),
    ("D = {'a': [1]}\ndef F():\n    D['a'].append(2)\n    return D\n", b'{"a": [1, 2]}'),
    ("def F(seen=[]):\n    seen.append(1)\n    return seen\n", b"[1]"),
]


@pytest.mark.parametrize(("text", "reply"), MODULE_VALUES)
def test_what_a_call_changes_of_its_module_the_next_one_does_not_see(text: str, reply: bytes) -> None:
    engine = StarlarkEngine()
    for _ in range(3):
        assert call(text, engine=engine).values == (reply,)


def test_an_object_is_fresh_for_every_call() -> None:
    text = "def F(obj):\n    obj['seen'].append(len(obj['seen']))\n    return obj\n"
    assert {call(text, {"seen": []}).values for _ in range(3)} == {(b'{"seen": [0]}',)}


def test_one_script_sees_nothing_of_another() -> None:
    call("SECRET = 1\ndef F(): return SECRET\n")
    with pytest.raises(ScriptError, match="undefined: SECRET"):
        call("def F(): return SECRET\n")


def test_the_names_that_carry_arguments_are_not_visible_to_scripts() -> None:
    for name in ("true", "false", "null"):
        with pytest.raises(ScriptError, match=f"undefined: {name}"):
            call(f"def F(): return {name}\n")
    assert reply("[a, b, c]", True, False, None) == [[True, False, None]]
    assert call("true = 5\ndef F(a): return [true, a]\n", True).values == (b"[5,true]",)


def test_a_script_dropped_from_memory_is_loaded_again() -> None:
    engine = StarlarkEngine()
    for i in range(KEPT_SCRIPTS + 3):
        assert call(f"def F(): return {i}\n", engine=engine).values == (str(i).encode(),)
    assert call("def F(): return 0\n", engine=engine).values == (b"0",)


def test_print_is_captured_with_what_module_code_printed() -> None:
    text = "print('loading')\ndef F(a):\n    print('got', a, [1, 'x'], sep=' - ')\n    print()\n    return 1\n"
    for _ in range(2):
        assert call(text, None).printed == 'loading\ngot - None - [1, "x"]\n\n'


def test_print_stops_at_its_limit_and_says_so() -> None:
    outcome = call("def F():\n    for i in range(100):\n        print('x' * 30)\n    return 1\n", printed=100)
    assert outcome.values == (b"1",)
    assert outcome.printed == ("x" * 30 + "\n") * 3 + "x" * 7 + "\n... (print stops here: the limit is 100 bytes)\n"


def test_print_shows_text_that_is_not_utf8_and_text_with_nul() -> None:
    assert call("def F(a):\n    print(a[:1], a)\n", "é\0").printed == "\ufffd é\0\n"


def test_what_was_printed_before_an_error_is_kept() -> None:
    with pytest.raises(ScriptError) as caught:
        call("def F():\n    print('so far')\n    fail('no')\n")
    assert caught.value.printed == "so far\n"


def test_calls_work_on_any_thread() -> None:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.extend(reply("a + 1", 1)))
    thread.start()
    thread.join()
    assert found == reply("a + 1", 1) == [2]


PROGRAM = """
def F(obj):
    template = obj["spec"].get("podTemplate", {"spec": {"containers": [{"name": "a", "tags": [[1], [2]]}]}})
    needs = accuratePodRequirements(template)
    names = [d["name"] for d in getPodDependencies(template, "ns")]
    if obj["metadata"]["name"] == "fails":
        fail("as asked", template)
    return [{"name": "main", "replicas": 1, "needs": needs, "names": names, "all": obj}]
"""


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def test_memory_stays_flat_over_many_calls_and_errors() -> None:
    template = {"spec": {"containers": [{"name": "a", "resources": {"requests": {"cpu": "1"}}}] * 5}}
    arguments = [
        json.dumps({"metadata": {"name": name}, "spec": {"podTemplate": template}}).encode() for name in ("ok", "fails")
    ]

    def rounds(count: int) -> None:
        for i in range(count):
            try:
                ENGINE.call(script(PROGRAM), "F", [arguments[i % 8 == 0]], Limits())
            except ScriptError as error:
                assert error.message.startswith("as asked")

    def measured() -> None:
        rounds(2000)
        before = resident()
        rounds(20_000)
        grown.append(resident() - before)

    grown: list[int] = []
    thread = threading.Thread(target=measured)
    thread.start()
    thread.join()
    assert grown[0] < 8 * 1024 * 1024
