"""`interp new`, `test`, `lint`, `list` and `completion`: an author's day."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import jsonschema
import pytest

from tests.interp.command import interp

THING = "object: {apiVersion: example.io/v1, kind: Thing}"
SCHEMAS = Path(__file__).parent.parent.parent / "docs" / "schemas"


def validate(text: str, schema: str) -> None:
    jsonschema.validate(json.loads(text), json.loads((SCHEMAS / schema).read_text()))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    assert interp("new", "example.io/v1/Thing", cwd=tmp_path).code == 0
    return tmp_path


@pytest.mark.parametrize("language", ["lua", "starlark"])
def test_a_new_script_passes_its_cases_and_has_no_findings(language: str, tmp_path: Path) -> None:
    made = interp("new", "example.io/v1/Thing", "--lang", language, cwd=tmp_path)
    assert "next: interp test example.io/v1/Thing" in made.out
    tested = interp("test", cwd=tmp_path)
    assert (tested.code, tested.out.splitlines()[-1]) == (0, "4 passed, 0 failed")
    linted = interp("lint", *(["--portable"] if language == "lua" else []), cwd=tmp_path)
    assert (linted.code, linted.out) == (0, "")
    again = interp("new", "example.io/v1/Thing", cwd=tmp_path)
    assert again.code == 2
    assert "exists; it is left as it is" in again.err


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


LINT = [
    ("function GetReplicas(o return 1 end", "syntax"),
    ("function GetReplicas(o) return 1 end", "1:1: division: it does not say whether the kind may be divided"),
    (
        "-- Division: halves\nfunction GetReplicas(o) return 1 end",
        "expected one of divides, whole, karmada",
    ),
    (
        "-- Division: whole\nfunction ReviseReplica(o, n) o.spec.n = n return o end",
        "2:1: division: declared whole, but asked for 0 it changed /spec/n",
    ),
    (
        "-- Division: divides\nfunction GetReplicas(o) return 2 end\nfunction ReviseReplica(o, n) return o end",
        "asked for 1 of 2 replicas, it made 2",
    ),
    ("function GetReplcas(o) return 1 end", "misnamed-function: GetReplcas is never called; did you mean GetReplicas?"),
    ("function InterpretReplica(o) return 1 end", "did you mean GetReplicas?"),
    ("function GetReplicas(o) return nothere end", "1:32: unknown-global: nothere is defined nowhere"),
    ("function GetReplicas(o) return setmetatable({}, {}) end", "setmetatable is refused, here and in Karmada"),
    ("function GetReplicas(o) n = 1 return n end", "1:25: global-assignment: n becomes a global; write local n"),
    ("function GetComponents(o) end function GetComponentReplicas(o) end", "two-names"),
    ("function GetReplicas(o) return 1 end", "missing-cases: no case asks GetReplicas"),
    (
        'function GetComponents(o) return {{name="a",replicas=1,replicaRequirements={resourceRequest={memory="2048m"}}}} end',  # noqa: E501
        "in Kubernetes m is milli, Mi is mebi",
    ),
    (
        'function GetComponents(o) return {{name="a",replicas=1,replicaRequirements={resourceRequest={cpu=20000}}}} end',  # noqa: E501
        "cpu 20k is more than 10000 cores",
    ),
    (
        'function GetComponents(o) return {{name="a",replicas=1},{name="b",replicas=1}} end\n'
        "function ReviseReplica(o, n) o.spec.replicas = n return o end",
        "scaled-to-zero: case 'two workers of one CPU each': changes the object when asked for 0 replicas",
    ),
]


@pytest.mark.parametrize(("text", "finding"), LINT)
def test_lint_finds(text: str, finding: str, tree: Path) -> None:
    (tree / "example.io/v1/Thing/interpreter.lua").write_text(text)
    ran = interp("lint", cwd=tree)
    assert ran.code == 1
    assert finding in ran.out
    assert ran.out.startswith("example.io/v1/Thing/interpreter.lua:")


PORTABLE = [
    ('function GetReplicas(o) return #string.rep("a", 3) end', "1:40: not-portable: Karmada refuses string.rep"),
    ('function GetReplicas(o) return #("a"):gsub("a", "b") end', "Karmada refuses string.gsub"),
    ("function GetReplicas(o) return rawget(o, 1) end", "Karmada refuses rawget"),
]


@pytest.mark.parametrize(("text", "finding"), PORTABLE)
def test_lint_portable_finds_what_karmada_refuses(text: str, finding: str, tree: Path) -> None:
    (tree / "example.io/v1/Thing/interpreter.lua").write_text(text)
    assert finding in interp("lint", "--portable", cwd=tree).out
    assert "not-portable" not in interp("lint", cwd=tree).out


@pytest.mark.parametrize("report", ["json", "github", "sarif"])
def test_lint_reports_for_machines(report: str, tree: Path) -> None:
    (tree / "example.io/v1/Thing/interpreter.lua").write_text("function GetReplicas(o) return nothere end")
    ran = interp("lint", "-o", report, cwd=tree)
    assert ran.code == 1
    if report == "github":
        assert "line=1,col=32,title=unknown-global::" in ran.out
    else:
        validate(ran.out, f"lint-{report}.json" if report == "json" else "lint-sarif.json")


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


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_a_script_for_the_shell(shell: str) -> None:
    ran = interp("completion", shell)
    assert ran.code == 0
    assert "_INTERP_COMPLETE" in ran.out


COMPLETED = [
    (("",), "run"),
    (("li",), "lint list"),
    (("run", "--wa"), "--watch"),
    (("run", "-o", ""), "text json yaml"),
    (("run", "getco"), "GetComponents GetComponentReplicas"),
    (("run", "some.yaml", "Get"), ""),
    (("test", "-o", "j"), "json junit"),
    (("new", "--lang", ""), "lua starlark"),
    (("completion", ""), "bash zsh fish"),
]


def test_bash_completes_verbs_options_operations_and_formats(tmp_path: Path) -> None:
    """The generated function, called as bash calls it; `compopt` only works inside a real key press."""
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    (bin_folder / "interp").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m interp "$@"\n')
    (bin_folder / "interp").chmod(0o755)
    asking = "".join(
        f"COMP_WORDS=({' '.join(map(shlex.quote, ('interp', *words)))}); COMP_CWORD={len(words)}; COMPREPLY=()\n"
        '_interp_completion interp; echo "${COMPREPLY[*]}"\n'
        for words, _ in COMPLETED
    )
    ran = subprocess.run(
        ["bash", "-c", f'compopt() {{ :; }}\neval "$(interp completion bash)"\n{asking}'],
        env={**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}", "PYTHONPATH": str(SCHEMAS.parent.parent)},
        capture_output=True,
        text=True,
        check=True,
    )
    offered = ran.stdout.splitlines()
    assert [
        line.split()[:1] if words == ("",) else line.split()
        for (words, _), line in zip(COMPLETED, offered, strict=True)
    ] == [wanted.split() for _, wanted in COMPLETED]


BAD_KINDS = [
    "Thing",
    "example.io/Thing",
    "example.io/v1/thing",
    "a/b/c/D",
    "/a/v1/D",
    "../v1/D",
    "a b/v1/D",
    "a/v1/D-e",
]


@pytest.mark.parametrize("kind", BAD_KINDS)
def test_new_refuses_what_is_no_kind(kind: str, tmp_path: Path) -> None:
    ran = interp("new", kind, cwd=tmp_path)
    assert ran.code == 2
    assert "apps/v1/Deployment" in ran.err


def test_a_folder_that_cannot_be_written_is_misuse(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ran = interp("new", "example.io/v1/Thing", "--dir", "file", cwd=tmp_path)
    assert (ran.code, ran.err) == (2, "error: file/example.io/v1/Thing: Not a directory\n")


@pytest.mark.parametrize("language", ["lua", "starlark"])
def test_a_copy_of_a_bundled_script_is_complete_and_passes(language: str, tmp_path: Path) -> None:
    made = interp("new", "--from", "RayCluster", "--lang", language, "--dir", tmp_path)
    assert made.code == 0, made.err
    tested = interp("test", tmp_path)
    assert tested.code == 0, tested.out
    assert interp("lint", tmp_path).code == 0


def test_a_bundled_script_copied_without_its_snippets_is_refused_with_the_way_out(tmp_path: Path) -> None:
    folder = tmp_path / "ray.io/v1/RayCluster"
    folder.mkdir(parents=True)
    script = Path(__file__).parents[2] / "interpreters/lua/scripts/ray.io/v1/RayCluster/interpreter.lua"
    (folder / "interpreter.lua").write_text(script.read_text())
    ran = interp("list", "--folder", tmp_path)
    assert "this is a bundled script without snippets/" in ran.out + ran.err
    assert "`interp new --from RayCluster` writes a complete copy" in ran.out + ran.err


NEW_MISTAKES = [  # arguments, part of the message
    ((), "name either a GROUP/VERSION/KIND or, with --from, a bundled kind"),
    (("example.io/v1/Thing", "--from", "RayJob"), "name either a GROUP/VERSION/KIND or"),
    (("--from", "MPIJob"), "--from MPIJob is one of kubeflow.org/v1/MPIJob, kubeflow.org/v2beta1/MPIJob"),
    (("--from", "RayJb"), "did you mean RayJob?"),
]


@pytest.mark.parametrize(("arguments", "message"), NEW_MISTAKES)
def test_mistakes_in_new_are_named(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    ran = interp("new", *arguments, "--dir", tmp_path)
    assert ran.code == 2
    assert message in ran.err
