"""Which script answers: precedence per operation, what shadows what, and how broken scripts stay alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from interpreters.catalog import Catalog, Functions
from interpreters.core.errors import ScriptSyntaxError, UnknownTargetError
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.operations import find_operation
from interpreters.scan import Broken, Candidate, Found, Origin, scan, scan_place

THING = GroupVersionKind("example.io", "v1", "Thing")
REPLICAS, COMPONENTS, HEALTH = (find_operation(name) for name in ("GetReplicas", "GetComponents", "InterpretHealth"))
DEPENDENCIES = find_operation("GetDependencies")


def functions_of(found: list[Found]) -> Functions:
    """What a sandbox would report, read off the text; a text with `broken` does not load."""
    seen: dict[tuple[str, str, str], frozenset[str] | ScriptSyntaxError] = {}
    for entry in found:
        if isinstance(entry, Candidate):
            script = entry.script
            names = frozenset(re.findall(r"^(?:function|def) (\w+)", script.text, re.MULTILINE))
            is_broken = "broken" in script.text
            seen[script.content] = ScriptSyntaxError("no", script=script.name, line=1) if is_broken else names
    return seen


def catalog_of(found: list[Found], *, strict: bool = False) -> Catalog:
    return Catalog.build(found, functions_of(found), strict=strict)


def write(root: Path, name: str, text: str) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def customization(name: str, **rules: str) -> str:
    body = "".join(f"    {rule}: {{luaScript: '{script}'}}\n" for rule, script in rules.items())
    return (
        "apiVersion: config.karmada.io/v1alpha1\nkind: ResourceInterpreterCustomization\n"
        f"metadata: {{name: {name}}}\nspec:\n  target: {{apiVersion: example.io/v1, kind: Thing}}\n"
        f"  customizations:\n{body}"
    )


def test_precedence_is_per_operation(tmp_path: Path) -> None:
    first = write(tmp_path, "first/example.io/v1/Thing/interpreter.lua", "function GetReplicas(o) end")
    second = write(
        tmp_path, "second/example.io/v1/Thing/interpreter.star", "def GetReplicas(o): pass\ndef GetComponents(o): pass"
    )
    rules = write(
        tmp_path,
        "c.yaml",
        customization(
            "c", replicaResource="function GetReplicas(o) end", healthInterpretation="function InterpretHealth(o) end"
        ),
    )
    catalog = catalog_of(scan([tmp_path / "first", tmp_path / "second"], [rules], bundled=None))
    (replicas,), (components,), (health,) = (catalog.find(THING, op) for op in (REPLICAS, COMPONENTS, HEALTH))
    assert replicas.script.name == str(first)
    assert components.script.name == str(second)
    assert components.script.language == "starlark"
    assert health.source.origin is Origin.CUSTOMIZATION
    shadows = [offer.source.origin for offer in catalog.shadowing(THING, REPLICAS)]
    assert shadows == [Origin.FOLDER, Origin.FOLDER, Origin.CUSTOMIZATION]


def test_two_scripts_of_one_source_for_one_operation_are_both_refused(tmp_path: Path) -> None:
    write(
        tmp_path, "example.io/v1/Thing/interpreter.lua", "function GetReplicas(o) end\nfunction InterpretHealth(o) end"
    )
    write(tmp_path, "example.io/v1/Thing/interpreter.star", "def GetReplicas(o): pass")
    catalog = catalog_of(scan([tmp_path], bundled=None))
    assert [op.name for op, _ in catalog.operations(THING)] == ["InterpretHealth"]
    assert all("both answer InterpretReplica" in str(broken.error) for broken in catalog.broken)
    assert len(catalog.broken) == 2


def test_a_broken_script_never_takes_the_others_down(tmp_path: Path) -> None:
    write(tmp_path, "example.io/v1/Thing/interpreter.lua", "function GetReplicas(o) end")
    write(tmp_path, "example.io/v1/Bad/interpreter.lua", "broken")
    (tmp_path / "example.io/v1/Blob").mkdir()
    (tmp_path / "example.io/v1/Blob/interpreter.lua").write_bytes(b"\xff")
    write(tmp_path, "example.io/v1/Odd/customizations.yaml", "kind: ConfigMap")
    catalog = catalog_of(scan([tmp_path], bundled=None))
    assert catalog.kinds == [THING]
    assert sorted(Path(broken.name).parent.name for broken in catalog.broken) == ["Bad", "Blob", "Odd"]
    with pytest.raises(UnknownTargetError, match="the script for example.io/v1 Bad is broken"):
        catalog.find(GroupVersionKind("example.io", "v1", "Bad"), REPLICAS)


def test_customizations_merge_in_the_order_of_their_names_and_dependencies_all_run(tmp_path: Path) -> None:
    later = write(
        tmp_path,
        "a.yaml",
        customization(
            "zz",
            replicaResource="function GetReplicas(o) end -- zz",
            dependencyInterpretation="function GetDependencies(o) end",
        ),
    )
    earlier = write(
        tmp_path,
        "b.yaml",
        customization(
            "aa",
            replicaResource="function GetReplicas(o) end",
            dependencyInterpretation="function GetDependencies(o) end -- aa",
        ),
    )
    catalog = catalog_of(scan([], [later, earlier], bundled=None))
    assert [offer.script.name for offer in catalog.find(THING, REPLICAS)] == [f"{earlier}#aa/replicaResource"]
    assert [offer.script.name.rpartition("#")[2] for offer in catalog.find(THING, DEPENDENCIES)] == [
        "aa/dependencyInterpretation",
        "zz/dependencyInterpretation",
    ]


def test_a_rule_without_its_function_is_reported(tmp_path: Path) -> None:
    path = write(tmp_path, "c.yaml", customization("c", replicaResource="function GetReplica(o) end"))
    (broken,) = catalog_of(scan([], [path], bundled=None)).broken
    assert "expected a function GetReplicas for InterpretReplica, found GetReplica" in str(broken.error)


def test_unknown_kinds_and_operations_name_what_is_known(tmp_path: Path) -> None:
    write(tmp_path, "example.io/v1/Thing/interpreter.lua", "function GetReplicas(o) end")
    catalog = catalog_of(scan([tmp_path], bundled=None))
    with pytest.raises(
        UnknownTargetError, match="no script answers InterpretHealth for example.io/v1 Thing; offered are"
    ):
        catalog.find(THING, HEALTH)
    with pytest.raises(UnknownTargetError, match="did you mean example.io/v1 Thing"):
        catalog.find(GroupVersionKind("example.io", "v1", "Think"), REPLICAS)
    with pytest.raises(UnknownTargetError, match="known are example.io/v1 Thing"):
        catalog.find(GroupVersionKind("", "v1", "Pod"), REPLICAS)


def test_a_config_map_volume_is_read_once(tmp_path: Path) -> None:
    """Kubernetes mounts a ConfigMap as links into a hidden folder that it swaps."""
    write(tmp_path, "..2024_01/example.io/v1/Thing/interpreter.lua", "function GetReplicas(o) end")
    (tmp_path / "..data").symlink_to("..2024_01")
    (tmp_path / "example.io").symlink_to("..data/example.io")
    found = scan([tmp_path], bundled=None)
    assert [entry.kind for entry in found if isinstance(entry, Candidate)] == [THING]


PLACES = [
    ("interpreter.lua", None),
    ("example.io/v1/Thing", THING),
    ("example.io", THING),
    ("core/v1/Pod", GroupVersionKind("", "v1", "Pod")),
]


@pytest.mark.parametrize(("place", "kind"), PLACES)
def test_a_place_on_the_command_line_may_be_a_script_a_kind_or_a_tree(
    place: str, kind: GroupVersionKind | None, tmp_path: Path
) -> None:
    for name in ("interpreter.lua", "example.io/v1/Thing/interpreter.lua", "core/v1/Pod/interpreter.lua"):
        write(tmp_path, name, "function GetReplicas(o) end")
    (found,) = scan_place(tmp_path / place, Origin.SCRIPT)
    assert not isinstance(found, Broken)
    assert found.kind == kind


def test_a_strict_catalog_answers_for_a_broken_script_with_its_error(tmp_path: Path) -> None:
    mine, theirs = tmp_path / "mine", tmp_path / "theirs"
    write(mine, "example.io/v1/Thing/interpreter.lua", "broken")
    write(theirs, "example.io/v1/Thing/interpreter.lua", "function GetReplicas(o) end")
    found = scan([mine, theirs], bundled=None)
    lenient, strict = catalog_of(found), catalog_of(found, strict=True)
    assert lenient.find(THING, REPLICAS)[0].script.name.startswith(str(theirs))
    with pytest.raises(ScriptSyntaxError, match="mine/example.io/v1/Thing/interpreter.lua:1: no"):
        strict.find(THING, REPLICAS)
    behind = catalog_of(scan([theirs, mine], bundled=None), strict=True)
    assert behind.find(THING, REPLICAS)[0].script.name.startswith(str(theirs))


def test_an_unknown_kind_is_told_from_few_names_however_many_there_are(tmp_path: Path) -> None:
    for number in range(300):
        folder = tmp_path / f"g{number}.example.org/v1/Kind"
        folder.mkdir(parents=True)
        (folder / "interpreter.lua").write_text("function GetReplicas(obj) return 1 end\n")
    catalog = catalog_of(scan([tmp_path], bundled=None))
    with pytest.raises(UnknownTargetError, match=r"known are .* and 100 more$"):
        catalog.find(GroupVersionKind("g1.example.org", "v1", "Kond"), REPLICAS)
