"""The table of what Karmada answers itself is what its sources hold."""

from __future__ import annotations

import os
from pathlib import Path

import yaml

from interpreters.core.karmada.answers import SHIPPED, answered_by_karmada, is_native
from interpreters.core.karmada.releases import RELEASES
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.operations import BY_NAME, BY_RULE, Operation

TREE = Path(__file__).parent / "karmada"
BELOW = "pkg/resourceinterpreter/default/thirdparty/resourcecustomizations"


def shipped_in(root: Path) -> dict[GroupVersionKind, frozenset[Operation]]:
    """What the customizations below a folder answer."""
    found = {}
    for file in root.rglob("customizations.yaml"):
        spec = yaml.safe_load(file.read_text())["spec"]
        kind = GroupVersionKind.parse(spec["target"]["apiVersion"], spec["target"]["kind"])
        found[kind] = frozenset(BY_RULE[rule] for rule in spec["customizations"])
    return found


def test_the_table_is_what_a_karmada_checkout_holds_if_there_is_one() -> None:
    """`make conformance KARMADA_SRC=<checkout>` sets the variable; without it a tree with every rule is read."""
    source = os.environ.get("KARMADA_SRC")
    if source:
        assert shipped_in(Path(source) / BELOW) in SHIPPED.values()
    assert set(*shipped_in(TREE).values()) == set(BY_RULE.values())


def test_every_release_has_its_table_without_native_kinds() -> None:
    assert set(SHIPPED) == set(RELEASES)
    assert not [kind for table in SHIPPED.values() for kind in table if is_native(kind)]


def test_the_status_of_any_kind_is_reflected() -> None:
    assert answered_by_karmada(GroupVersionKind("stage.example.org", "v1", "Act")) == {BY_NAME["InterpretStatus"]}
