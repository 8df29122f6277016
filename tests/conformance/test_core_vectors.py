"""Quantities and pod templates give the answers that the real Go code gave."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from interpreters.core.errors import QuantityError
from interpreters.core.pod_dependencies import pod_dependencies
from interpreters.core.pods import pod_requests, pod_requirements
from interpreters.core.quantity import Quantity
from tests.conformance.vectors import cases

INT64 = range(-(2**63), 2**63)


@pytest.mark.parametrize("case", cases("quantity"))
def test_quantities_read_print_and_calculate_as_in_kubernetes(case: dict[str, Any]) -> None:
    if case.get("error"):
        with pytest.raises(QuantityError):
            Quantity.parse(case["in"])
        return
    quantity, plus = Quantity.parse(case["in"]), Quantity.parse(case["plus"])
    # Go keeps the spelling that came in (`+3G`, `1500E6`), so that text is compared by value.
    assert as_go_prints(quantity) == as_go_prints(Quantity.parse(case["canonical"]))
    assert as_go_prints(quantity + plus) == case["sum"]
    assert as_go_prints(quantity * case["times"]) == case["product"]
    assert float(quantity) == pytest.approx(case["approx"], rel=1e-9)
    for ours, recorded, unit in (
        (quantity.value, case["value"], 10**9),
        (quantity.milli_value, case["milliValue"], 10**6),
    ):
        assert abs(ours) == -(-abs(quantity.nano) // unit)  # rounded away from zero, sign kept
        assert ours * quantity.nano >= 0
        if ours in INT64 and ours >= 0:  # Go's int64 overflows beyond, and loses the sign of some negative amounts
            assert ours == recorded


def as_go_prints(quantity: Quantity) -> str:
    """Go has no decimal suffix above E and prints 33000E as 33; ours is the text that can be read back."""
    return str(quantity).removesuffix("000E")


@pytest.mark.parametrize("case", cases("pod-requirements"))
def test_pod_templates_need_what_karmada_says(case: dict[str, Any]) -> None:
    got = pod_requirements(case["podTemplate"])
    assert (msgspec.to_builtins(got) if got else None) == (case["replicaRequirements"] or None)


@pytest.mark.parametrize("case", cases("kubernetes-pod-requests"))
def test_pods_are_charged_what_kubernetes_charges(case: dict[str, Any]) -> None:
    want = {name: Quantity.parse(text) for name, text in case["requests"].items()}
    got = pod_requests(case["podSpec"])
    assert {name: amount for name, amount in got.items() if amount} == {name: a for name, a in want.items() if a}


@pytest.mark.parametrize("case", cases("pod-dependencies"))
def test_pod_templates_depend_on_what_karmada_says(case: dict[str, Any]) -> None:
    got = [msgspec.to_builtins(dependency) for dependency in pod_dependencies(case["podTemplate"], case["namespace"])]
    assert sorted(got, key=str) == sorted(case["dependencies"] or [], key=str)
