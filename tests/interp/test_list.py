"""`interp list`: which script answers, and which it hides."""

from __future__ import annotations

import json
from pathlib import Path

from tests.interp.command import interp
from tests.interp.reports import validate


def test_list_shows_what_shadows_what(tree: Path) -> None:
    (tree / "other/example.io/v1/Thing").mkdir(parents=True)
    (tree / "other/example.io/v1/Thing/interpreter.star").write_text("def GetComponents(obj):\n    return []\n")
    folders = ("--folder", tree / "example.io", "--folder", tree / "other", "--no-bundled")
    wide = interp("list", "thing", *folders, "--wide")
    (row,) = [line for line in wide.out.splitlines() if "InterpretComponent" in line]
    assert row.split()[:5] == ["example.io/v1", "Thing", "InterpretComponent", "folder", "lua"]
    report = interp("list", *folders, "-o", "json")
    assert report.code == 0
    validate(report.out, "list-output.json")
    (kind,) = json.loads(report.out)["kinds"]
    (component,) = [one for one in kind["operations"] if one["operation"] == "InterpretComponent"]
    assert component["script"].endswith("interpreter.lua")
    assert [Path(shadow).name for shadow in component["shadows"]] == ["interpreter.star"]


def test_list_shows_a_broken_script_beside_the_good_ones(tree: Path) -> None:
    (tree / "example.io/v1/Bad").mkdir()
    (tree / "example.io/v1/Bad/interpreter.lua").write_text("function (")
    ran = interp("list", "--folder", tree / "example.io", "--no-bundled")
    assert ran.code == 1
    assert "example.io/v1 Thing" in ran.out
    assert "Bad/interpreter.lua:1: " in ran.err
