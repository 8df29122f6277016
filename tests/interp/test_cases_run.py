"""`interp test`: cases, reports, coverage and fuzzing."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
import yaml

from tests.interp.command import interp
from tests.interp.reports import validate

THING = "object: {apiVersion: example.io/v1, kind: Thing}"


def test_a_failing_case_shows_the_field(tree: Path) -> None:
    cases = tree / "example.io/v1/Thing/cases.yaml"
    cases.write_text(cases.read_text().replace("memory: 512Mi}\n\n", "memory: 1Gi}\n\n"))
    ran = interp("test", cwd=tree)
    assert ran.code == 1
    assert 'components[0](worker).replicaRequirements.resourceRequest.memory: want "1Gi", got "512Mi"' in ran.out
    assert ran.out.splitlines()[-1] == "3 passed, 1 failed"


def test_update_writes_the_answer_and_keeps_comments(tree: Path) -> None:
    cases = tree / "example.io/v1/Thing/cases.yaml"
    cases.write_text(cases.read_text().replace("memory: 512Mi}\n\n", "memory: 1Gi}\n\n"))
    assert "updated" in interp("test", "--update", cwd=tree).err
    assert cases.read_text().startswith("# What the functions beside this file must answer.")
    assert interp("test", cwd=tree).code == 0


def test_update_keeps_comments_anchors_and_texts_that_look_like_something_else(tree: Path) -> None:
    (tree / "example.io/v1/Thing/interpreter.lua").write_text(
        "function ReflectStatus(obj)\n"
        '  return { ["on"] = "y", ["010"] = "1e3", [" x"] = "a\\nb\\n", ["22:22"] = "22:22", ["<<"] = "~", n = "-" }\n'
        "end\n"
    )
    cases = tree / "example.io/v1/Thing/cases.yaml"
    cases.write_text(
        "# about all\n"
        "- name: first  # about the first\n"
        "  operation: ReflectStatus\n"
        "  object: &thing {apiVersion: example.io/v1, kind: Thing}\n"
        "  want: {}\n"
        "- name: second\n"
        "  operation: ReflectStatus\n"
        "  object: {<<: *thing, spec: {}}\n"
        "  wantError: nothing\n"
    )
    assert interp("test", "--update", cwd=tree).code == 0
    assert (interp("test", cwd=tree).code, interp("test", cwd=tree).out.splitlines()[-1]) == (0, "2 passed, 0 failed")
    text = cases.read_text()
    assert text.startswith("# about all\n- name: first  # about the first\n")
    assert "object: &thing {apiVersion" in text
    assert "object: {<<: *thing, spec: {}}" in text


def test_update_keeps_differences_and_corrects_those_whose_base_it_changes(tree: Path) -> None:
    (tree / "example.io/v1/Thing/interpreter.lua").write_text(
        "-- Division: whole\n"
        "function GetComponents(o) return {{name = 'a', replicas = o.spec.size + (o.spec.more or 0)}} end\n"
        "function ReviseReplica(o, n) o.spec.seen = true return o end\n"
    )
    cases = tree / "example.io/v1/Thing/cases.yaml"
    cases.write_text(
        "- name: base\n"
        "  operation: GetComponents\n"
        "  object: {apiVersion: example.io/v1, kind: Thing, spec: {size: 3}}\n"
        "  want: {components: [{name: a, replicas: 1}]}  # wrong\n"
        "- {name: right, operation: GetComponents, base: base, wantChanged: {components: {0: {replicas: 3}}}}\n"
        "- {name: wrong, operation: GetComponents, base: base, set: {spec: {more: 1}}, wantChanged: {}}\n"
        "- {name: fails, operation: GetComponents, base: base, set: {spec: null}, wantChanged: {}}\n"
        "- {name: revised, operation: ReviseReplica, base: base, replicas: 1, wantChanged: {}}\n"
    )
    assert interp("test", "--update", cwd=tree).code == 0
    assert interp("test", cwd=tree).out.splitlines()[-1] == "5 passed, 0 failed"
    written = {entry["name"]: entry for entry in yaml.safe_load(cases.read_text())}
    assert written["base"]["want"] == {"components": [{"name": "a", "replicas": 3}]}
    assert written["right"]["wantChanged"] == {}
    assert written["wrong"]["wantChanged"] == {"components": {"0": {"replicas": 4}}}
    assert (set(written["fails"]) & {"want", "wantChanged"}, "attempt to" in written["fails"]["wantError"]) == (
        set(),
        True,
    )
    assert written["revised"]["wantChanged"] == {"object": {"spec": {"seen": True}}}


def test_cases_can_be_chosen_and_stopped_at_the_first_failure(tree: Path) -> None:
    assert interp("test", "-k", "healthy", cwd=tree).out.splitlines()[-1] == "1 passed, 0 failed"
    nothing = interp("test", "-k", "no such case", cwd=tree)
    assert (nothing.code, "no case has" in nothing.err) == (2, True)
    script = tree / "example.io/v1/Thing/interpreter.lua"
    script.write_text(script.read_text().replace("replicas = spec.replicas or 1", "replicas = 7"))
    assert interp("test", "-x", cwd=tree).out.splitlines()[-1] == "0 passed, 1 failed"
    assert interp("test", "-j", "2", cwd=tree).out.splitlines()[-1] == "3 passed, 1 failed"


REPORTS = {
    "junit": lambda text: ElementTree.fromstring(text).find("testsuite").get("failures") == "1",  # type: ignore[union-attr]
    "tap": lambda text: text.startswith("TAP version 13\nnot ok 1 - ") and text.rstrip().endswith("1..4"),
    "github": lambda text: text.startswith("::error file="),
    "markdown": lambda text: "| 4 | 1 |" in text,
    "json": lambda text: json.loads(text)["totals"] == {"passed": 3, "failed": 1, "notCompared": 0, "problems": 0},
}


@pytest.mark.parametrize("report", REPORTS)
def test_every_report_tells_the_failure(report: str, tree: Path) -> None:
    script = tree / "example.io/v1/Thing/interpreter.lua"
    script.write_text(script.read_text().replace("replicas = spec.replicas or 1", "replicas = 7"))
    ran = interp("test", "-o", report, cwd=tree)
    assert ran.code == 1
    assert REPORTS[report](ran.out), ran.out
    if report == "json":
        validate(ran.out, "test-output.json")


def test_reports_stay_valid_whatever_a_case_is_called_and_a_script_says(tree: Path) -> None:
    script = tree / "example.io/v1/Thing/interpreter.lua"
    script.write_text('function GetComponents(o) error("two\\nlines, \\1 100%") end\n')
    cases = tree / "example.io/v1/Thing/cases.yaml"
    name = '"a # b: <c> \\x02 %, | ```"'
    cases.write_text(f"- {{name: {name}, operation: GetComponents, {THING}, want: {{}}}}\n")
    found = ElementTree.fromstring(interp("test", "-o", "junit", cwd=tree).out).find("testsuite/testcase")
    assert found is not None
    assert found.get("name") == "a # b: <c> \N{REPLACEMENT CHARACTER} %, | ```"
    tap = interp("test", "-o", "tap", cwd=tree).out.splitlines()
    assert tap[1].startswith("not ok 1 - example.io/v1/Thing: a \\# b: <c> ")
    assert [line[0] for line in tap[2:4]] == ["#", "#"]
    (annotation, _) = interp("test", "-o", "github", cwd=tree).out.splitlines()
    assert annotation.startswith("::error file=example.io/v1/Thing/cases.yaml,title=a # b%3A <c> \x02 %25%2C | ```::")
    assert annotation.endswith("two%0Alines, \x01 100%25")
    assert json.loads(interp("test", "-o", "json", cwd=tree).out)["totals"]["failed"] == 1


def test_a_script_without_cases_and_a_case_without_expectation_fail(tree: Path) -> None:
    cases = tree / "example.io/v1/Thing/cases.yaml"
    cases.write_text(
        "- {name: nothing wanted, operation: GetComponents, object: {apiVersion: example.io/v1, kind: Thing}}\n"
    )
    assert "neither want nor wantError in the case" in interp("test", cwd=tree).out
    cases.write_text("- {name: n, operation: GetComponents, object: {}, wnat: {}}\n")
    assert "'wnat' was unexpected" in interp("test", cwd=tree).out
    cases.unlink()
    ran = interp("test", cwd=tree)
    assert (ran.code, "no cases; a script needs a cases.yaml beside it" in ran.out) == (1, True)


def test_fuzz_takes_fields_away_until_a_script_stumbles(tree: Path) -> None:
    good = interp("test", "--fuzz", cwd=tree)
    assert (good.code, good.out.splitlines()[-1].endswith(" passed, 0 failed")) == (0, True)
    script = tree / "example.io/v1/Thing/interpreter.lua"
    script.write_text(script.read_text().replace("local spec = obj.spec or {}", "local spec = obj.spec"))
    bad = interp("test", "--fuzz", cwd=tree)
    assert bad.code == 1
    assert "two workers of one CPU each, without spec (InterpretComponent)" in bad.out
    assert "attempt to index local 'spec' (a nil value)" in bad.out


@pytest.mark.parametrize("language", ["lua", "starlark"])
def test_coverage_names_the_lines_that_no_case_runs(language: str, tmp_path: Path) -> None:
    interp("new", "example.io/v1/Thing", "--lang", language, cwd=tmp_path)
    assert "100.0 %" in interp("test", "--coverage", cwd=tmp_path).out
    partly = interp("test", "--coverage", "-k", "workers of", cwd=tmp_path)
    (row,) = [row for row in partly.out.splitlines() if "interpreter." in row and "not run:" in row]
    missed = row.rpartition("not run: ")[2]
    listing = interp("test", "--coverage=listing", "-k", "workers of", cwd=tmp_path)
    first = missed.partition(",")[0].partition("-")[0]
    assert f"\n- {first:>4} | " in listing.out
    assert "\x01" not in listing.out + listing.err


def test_coverage_is_shown_whatever_kinds_the_cases_are_of(tree: Path) -> None:
    cases = tree / "example.io/v1/Thing/cases.yaml"
    unknown = "- {name: x, operation: GetComponents, object: {apiVersion: example.io/v1, kind: Other}, want: {}}\n"
    cases.write_text(cases.read_text() + unknown)
    ran = interp("test", "--coverage", cwd=tree)
    assert (ran.code, ran.err) == (1, "")
    assert "no script knows the kind example.io/v1 Other; did you mean example.io/v1 Thing?" in ran.out
    assert "100.0 %" in ran.out


BAD_CASES = [
    ("just text", "cases.yaml: case 1: 'just text' is not of type 'object'"),
    ("- {name: x}", "cases.yaml: case 1: 'operation' is a required property"),
    ("a: [", "cases.yaml:2:1: did not find expected node content"),
    (f"- {{name: x, operation: Foo, {THING}, want: {{}}}}", 'case 1: operation: operation "Foo" is unknown'),
    (f"- {{name: x, operation: GetComponents, {THING}, want: {{}}}}", "components: want nothing, got [{"),
    (f"- {{name: x, operation: GetComponents, {THING}, want: {{}}}}", "components: want nothing, got ["),
    (f"- {{name: x, operation: GetComponents, {THING}, want: {{compnents: []}}}}", "'compnents' was unexpected"),
    (f"- {{name: x, operation: GetComponents, {THING}, wantError: no}}", "case 1: wantError: False is not of type"),
]


@pytest.mark.parametrize(("text", "problem"), BAD_CASES, ids=range(len(BAD_CASES)))
def test_a_bad_case_fails_and_says_why(text: str, problem: str, tree: Path) -> None:
    (tree / "example.io/v1/Thing/cases.yaml").write_text(text)
    ran = interp("test", cwd=tree)
    assert (ran.code, ran.err) == (1, "")
    assert problem in ran.out


def test_nothing_to_test_is_misuse(tmp_path: Path) -> None:
    ran = interp("test", cwd=tmp_path)
    assert (ran.code, "no script here" in ran.err) == (2, True)
