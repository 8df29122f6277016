"""What a script declares in its header, or a customization by annotations: one fact, read one way."""

from __future__ import annotations

from pathlib import Path

import pytest

from interpreters.core.kinds import GroupVersionKind
from interpreters.headers import Header, customization_header, division_of, script_header
from interpreters.scan import LANGUAGES, Broken, Candidate, Origin, empty_folders, scan_bundled, scan_place
from interpreters.snippets import assemble


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("-- Also serves: ray.io/v1alpha1\nfunction F() end\n", (("also-serves", "ray.io/v1alpha1"),)),
        ("# Also serves: ray.io/v1alpha1\ndef F(): pass\n", (("also-serves", "ray.io/v1alpha1"),)),
        ("\n-- ALSO SERVES:  a/v1 \r\n-- Also serves: a/v2\r\n", (("also-serves", "a/v1"), ("also-serves", "a/v2"))),
        ("-- include: snippets/ray.lua\n", (("include", "snippets/ray.lua"),)),
        ("-- Counted:\n-- - `head`: 1\n--   `tail`: 2\n", ()),
        ("--Also serves: a/v1\n--- Also serves: a/v1\n", ()),
        ("function F() end\n-- Also serves: a/v1\n", ()),
        ("", ()),
    ],
    ids=[
        "lua",
        "starlark",
        "case and spaces",
        "any key",
        "sections are prose",
        "one space",
        "only at the top",
        "empty",
    ],
)
def test_the_facts_of_a_script_stand_in_its_first_comment(text: str, facts: tuple[tuple[str, str], ...]) -> None:
    assert script_header(text).facts == facts


@pytest.mark.parametrize(
    ("document", "facts"),
    [
        ({"metadata": {"annotations": {"interp.dev/also-serves": " a/v1 ", "other": "b"}}}, (("also-serves", "a/v1"),)),
        ({"metadata": {"annotations": None}}, ()),
        ({"metadata": None}, ()),
        ({}, ()),
    ],
)
def test_the_facts_of_a_customization_are_annotations(document: dict[str, object], facts: object) -> None:
    assert customization_header(document).facts == facts


def test_a_list_is_separated_by_commas_and_lines_and_names_each_once() -> None:
    header = Header((("also-serves", "a/v1, a/v2,"), ("also-serves", "a/v2"), ("divides", "yes")))
    assert header.listed("also-serves") == ("a/v1", "a/v2")
    assert header.first("divides") == "yes"
    assert header.first("unknown") is None


def script(folder: Path, header: str) -> Path:
    place = folder / "example.io" / "v1" / "Thing"
    place.mkdir(parents=True)
    (place / "interpreter.lua").write_text(f"{header}\nfunction InterpretHealth(obj) return true end\n")
    return folder


def test_a_script_serves_the_versions_that_it_declares(tmp_path: Path) -> None:
    (found,) = scan_place(script(tmp_path, "-- Also serves: example.io/v1beta1, example.io/v1"), Origin.FOLDER)
    assert isinstance(found, Candidate)
    assert found.kinds == (
        GroupVersionKind("example.io", "v1", "Thing"),
        GroupVersionKind("example.io", "v1beta1", "Thing"),
    )


def test_a_version_of_another_group_is_refused_with_an_example(tmp_path: Path) -> None:
    (found,) = scan_place(script(tmp_path, "-- Also serves: v1beta1"), Origin.FOLDER)
    assert isinstance(found, Broken)
    assert str(found.error).endswith(
        "also-serves: expected further versions of the group, such as example.io/v1beta1, got 'v1beta1'"
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_complete_copy_of_a_bundled_script_declares_what_the_script_does(language: str) -> None:
    """What its snippets say in their own comments is no declaration."""
    found = [entry for entry in scan_bundled(language) if isinstance(entry, Candidate)]
    assert found
    for entry in found:
        assert script_header(entry.script.text).facts == entry.header.facts, entry.script.name
        assert division_of(entry.header) is not None, entry.script.name


def test_a_snippet_declares_nothing_for_the_script_that_includes_it() -> None:
    text = assemble("-- include: s.lua\nfunction F() end\n", lambda name: "-- Division: whole\nfunction g() end\n")
    assert division_of(script_header(text)) is None


def test_a_folder_without_a_script_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "act.yaml").write_text("kind: ResourceInterpreterCustomization\n")
    places = [script(tmp_path / "full", ""), tmp_path / "empty"]
    found = [one for order, place in enumerate(places) for one in scan_place(place, Origin.FOLDER, order)]
    (said,) = empty_folders(places, found)
    assert said.startswith(f"{tmp_path / 'empty'}: no script in it; expected <group>/<version>/<Kind>/interpreter.lua")
