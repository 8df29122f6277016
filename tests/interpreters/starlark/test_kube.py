"""The kube functions, as Starlark scripts call them."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from interpreters.core.pod_dependencies import pod_dependencies
from interpreters.core.pods import pod_requirements
from tests.conformance.vectors import FOLDER
from tests.interpreters.starlark.calling import call, reply

# call                                          answer
QUANTITIES = [
    ("resourceAdd('100m', '1')",                "1100m"),
    ("resourceAdd('1Gi', '1Gi', '512Mi')",      "2560Mi"),
    ("resourceAdd(None, None)",                 "0"),
    ("resourceAdd(1, 0.5)",                     "1500m"),
    ("resourceAdd('9223372036854775807', 1)",   "9223372036854775808"),
    ("getResourceQuantity('250m')",             0.25),
    ("getResourceQuantity('1Ei')",              1152921504606846976),
    ("getResourceQuantity(3)",                  3),
    ("getResourceQuantity(None)",               0),
    ("type(getResourceQuantity('2'))",          "int"),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "answer"), QUANTITIES)
def test_quantities_are_added_and_read_exactly(expression: str, answer: Any) -> None:
    assert reply(expression) == [answer]


def templates(name: str) -> list[dict[str, Any]]:
    return [case["podTemplate"] for case in json.loads((FOLDER / f"{name}.json").read_text())]


def test_requirements_are_those_of_the_core_for_every_recorded_template() -> None:
    for template in templates("pod-requirements"):
        expected = msgspec.json.decode(msgspec.json.encode(pod_requirements(template)))
        assert reply("accuratePodRequirements(a)", template) == [expected]


def test_dependencies_are_those_of_the_core_for_every_recorded_template() -> None:
    for template in templates("pod-dependencies"):
        expected = msgspec.json.decode(msgspec.json.encode(pod_dependencies(template, "ns")))
        assert reply("getPodDependencies(a, b)", template, "ns") == [expected]


def test_answers_belong_to_the_script() -> None:
    template = {"spec": {"nodeSelector": {"a": "b"}, "containers": []}}
    text = (
        "def F(t):\n    needs = accuratePodRequirements(t)\n    needs['nodeClaim']['nodeSelector']['c'] = 'd'\n"
        "    return needs, accuratePodRequirements(t), t\n"
    )
    changed, again, given = (json.loads(value) for value in call(text, template).values)
    assert changed == {"nodeClaim": {"nodeSelector": {"a": "b", "c": "d"}}}
    assert again == {"nodeClaim": {"nodeSelector": {"a": "b"}}}
    assert given == template


def test_functions_can_be_named_passed_on_and_shadowed() -> None:
    assert reply("[f('1', '2') for f in (resourceAdd,)]") == [["3"]]
    assert call("def resourceAdd(*q):\n    return 'mine'\ndef F():\n    return resourceAdd()\n").values == (b'"mine"',)
