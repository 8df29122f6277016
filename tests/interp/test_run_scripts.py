"""`interp run`: which script is asked, and what a broken one, a customization or none at all leads to."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.interp.command import interp

CUSTOMIZATION = """
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: thing}
spec:
  target: {apiVersion: example.io/v1, kind: Thing}
  customizations:
    replicaResource: {luaScript: "function GetReplicas(o) return o.spec.replicas end"}
    replicaRevision: {luaScript: "function ReviseReplica(o, n) o.spec.replicas = n return o end"}
    healthInterpretation: {luaScript: "function InterpretHealth(o) return o.status.ready end"}
"""


def test_the_flags_of_karmadactl_interpret_work_as_they_do_there(place: Path) -> None:
    (place / "c.yaml").write_text(CUSTOMIZATION)
    checked = interp("run", "-f", "c.yaml", "--check", cwd=place)
    assert (checked.code, checked.out.count(": ok")) == (0, 3)
    replicas = interp("run", "-f", "c.yaml", "--operation", "InterpretReplica", "--desired-file", "o.yaml", cwd=place)
    assert (replicas.code, replicas.out) == (0, "replicas: 2\n")
    health = interp("run", "-f", "c.yaml", "--operation", "interpretHealth", "--observed-file", "o.yaml", cwd=place)
    assert (health.code, health.out) == (0, "healthy: true\n")
    revised = interp(
        "run",
        "-f",
        "c.yaml",
        "--operation",
        "ReviseReplica",
        "--desired-file",
        "o.yaml",
        "--desired-replica",
        "4",
        cwd=place,
    )
    assert "+  replicas: 4" in revised.out


def test_check_fails_where_karmadactl_would_accept_a_misnamed_function(place: Path) -> None:
    (place / "c.yaml").write_text(CUSTOMIZATION.replace("function GetReplicas", "function GetReplica"))
    ran = interp("run", "-f", "c.yaml", "--check", cwd=place)
    assert ran.code == 1
    assert "expected a function GetReplicas for InterpretReplica, found GetReplica" in ran.err


def test_an_object_with_a_pod_template_has_a_default_answer(place: Path) -> None:
    (place / "o.yaml").write_text(
        "apiVersion: example.io/v1\nkind: Thing\nmetadata: {name: t}\nspec: {replicas: 2, template: {spec: {containers: "  # noqa: E501
        "[{name: c, resources: {requests: {cpu: 100m}}}]}}}\n"
    )
    ran = interp("run", "GetComponents", "o.yaml", "-o", "json", cwd=place)
    assert json.loads(ran.out)["components"] == [
        {"name": "main", "replicas": 2, "replicaRequirements": {"resourceRequest": {"cpu": "100m"}}}
    ]
    (place / "o.yaml").write_text("apiVersion: example.io/v1\nkind: Thing\nmetadata: {name: t}\n")
    nothing = interp("run", "GetComponents", "o.yaml", cwd=place)
    assert nothing.err == (
        "error: no script knows example.io/v1 Thing, and it has no pod template in spec.template to fall back on\n"
    )
    (place / "o.yaml").write_text(
        "apiVersion: example.io/v1\nkind: Thing\n"
        "spec: {template: {spec: {containers: [{resources: {limits: {cpu: one}}}]}}}\n"
    )
    bad = interp("run", "GetComponents", "o.yaml", cwd=place)
    assert bad.err.startswith('error: default: spec.containers[0].resources.limits: "one" is not a quantity: ')
    assert len(bad.err.splitlines()) == 1


def broken_tree(place: Path, text: str = "function GetReplicas(") -> Path:
    script = place / "tree/apps/v1/Deployment/interpreter.lua"
    script.parent.mkdir(parents=True)
    script.write_text(text)
    (place / "d.yaml").write_text("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {replicas: 2}\n")
    return script


@pytest.mark.parametrize("question", [("d.yaml",), ("GetReplicas", "d.yaml"), ("InterpretHealth", "d.yaml")])
def test_a_broken_script_of_ones_own_is_an_error_and_no_other_answers(question: tuple[str, ...], place: Path) -> None:
    broken_tree(place)
    ran = interp("run", *question, "--folder", "tree", cwd=place)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("error: tree/apps/v1/Deployment/interpreter.lua:1: ")
    assert ran.err.count("error:") == 1
    assert interp("run", "GetReplicas", "o.yaml", "--folder", "tree", "-s", "s.lua", cwd=place).code == 0


def test_a_broken_rule_stops_its_own_operation_only(place: Path) -> None:
    (place / "c.yaml").write_text(CUSTOMIZATION.replace("function GetReplicas(o)", "function GetReplicas("))
    broken = interp("run", "GetReplicas", "o.yaml", "--customization", "c.yaml", cwd=place)
    assert (broken.code, broken.err.startswith("error: c.yaml#thing/replicaResource:1: ")) == (1, True)
    assert interp("run", "InterpretHealth", "o.yaml", "--customization", "c.yaml", cwd=place).out == "healthy: true\n"


def test_a_customization_file_that_cannot_be_read_is_left_out_with_a_warning(place: Path) -> None:
    (place / "c.yaml").write_text("a: [")
    ran = interp("run", "GetReplicas", "o.yaml", "--customization", "c.yaml", "--folder", ".", cwd=place)
    assert "warning: left out: c.yaml:2:1: " in ran.err


def test_a_named_script_is_the_only_one_asked(place: Path) -> None:
    broken_tree(place)
    (place / "s.lua").write_text("function GetReplicas(o) return 7 end")
    everything = interp("run", "d.yaml", "-s", "s.lua", "-o", "json", cwd=place)
    assert json.loads(everything.out) == {"InterpretReplica": {"replicas": 7}}
    other = interp("run", "InterpretHealth", "d.yaml", "-s", "s.lua", cwd=place)
    assert other.code == 1
    assert other.err == (
        "error: s.lua does not answer InterpretHealth for apps/v1 Deployment; it answers InterpretReplica\n"
    )
    (place / "s.lua").write_text("local function GetReplicas(o) return 7 end")
    nothing = interp("run", "d.yaml", "-s", "s.lua", cwd=place)
    assert (nothing.code, nothing.err) == (
        1,
        "error: s.lua answers nothing for apps/v1 Deployment; interp lint s.lua says more\n",
    )


MISNAMED = [  # the function, the question, the hint
    ("GetReplicaz", ("GetReplicas", "d.yaml"), "GetReplicaz is never called, did you mean GetReplicas?"),
    ("getReplicas", ("d.yaml",), "getReplicas is never called, did you mean GetReplicas?"),
    ("InterpretReplica", ("--check",), "InterpretReplica is never called, did you mean GetReplicas?"),
    ("GetReplicaz", ("InterpretHealth", "d.yaml"), "interp lint s.lua says more"),
    ("is_ready", ("d.yaml",), "interp lint s.lua says more"),
]


@pytest.mark.parametrize(("function", "question", "hint"), MISNAMED)
def test_a_misnamed_function_is_told_by_the_name_it_was_meant_to_have(
    function: str, question: tuple[str, ...], hint: str, place: Path
) -> None:
    (place / "d.yaml").write_text("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\n")
    (place / "s.lua").write_text(f"function {function}(o) return 7 end")
    ran = interp("run", *question, "-s", "s.lua", cwd=place)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.endswith(f"; {hint}\n")


UNREADABLE = [  # the script, what is shown of it
    ("function GetReplicas(o)\n  return 1 +\nend\n", "\n     2 |   return 1 +\n>    3 | end\n"),
    ("function GetReplicas(o)\n  if o then\n    return 1\nend\n", "\n     3 |     return 1\n     4 | end\n"),
]


@pytest.mark.parametrize("question", [("GetReplicas", "d.yaml"), ("--check",)])
@pytest.mark.parametrize(("text", "excerpt"), UNREADABLE, ids=["in the middle", "at the end"])
def test_a_syntax_error_shows_the_lines_around_it(
    text: str, excerpt: str, question: tuple[str, ...], place: Path
) -> None:
    broken_tree(place, text)
    assert excerpt in interp("run", *question, "-s", "tree/apps/v1/Deployment/interpreter.lua", cwd=place).err
    rule = json.dumps(text)
    (place / "c.yaml").write_text(
        CUSTOMIZATION.replace('"function GetReplicas(o) return o.spec.replicas end"', rule).replace(
            "example.io/v1, kind: Thing", "apps/v1, kind: Deployment"
        )
    )
    assert excerpt in interp("run", *question, "-s", "c.yaml", cwd=place).err


def test_an_error_in_a_bundled_script_names_the_snippet_and_its_line(place: Path) -> None:
    from interpreters.scan import Candidate, scan
    from interpreters.snippets import positions

    (place / "d.yaml").write_text(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\n"
        "spec: {replicas: 2, template: {spec: {containers: [{resources: {requests: {cpu: one}}}]}}}\n"
    )
    ran = interp("run", "GetReplicas", "d.yaml", cwd=place)
    assert ran.code == 1
    found = re.match(r"error: bundled/apps/v1/Deployment/interpreter.lua \((snippets/\w+.lua):(\d+)\): ", ran.err)
    assert found, ran.err
    (marked,) = [line for line in ran.err.splitlines() if line.startswith(">")]
    number, _, text = marked[1:].partition(" | ")
    assert number.split() == [found[2]]
    (script,) = [one.script for one in scan() if isinstance(one, Candidate) and one.script.name in ran.err]
    line = positions(script.text).index((found[1], int(found[2])))
    assert script.text.splitlines()[line] == text


def test_a_named_customization_with_one_broken_rule_answers_the_others(place: Path) -> None:
    (place / "c.yaml").write_text(CUSTOMIZATION.replace("function GetReplicas(o)", "function GetReplicas("))
    everything = interp("run", "o.yaml", "-s", "c.yaml", "--replicas", "3", cwd=place)
    assert everything.code == 1
    assert "error: c.yaml#thing/replicaResource:1: " in everything.err
    assert "healthy: true" in everything.out
    assert interp("run", "InterpretHealth", "o.yaml", "-s", "c.yaml", cwd=place).code == 0


BAD_CUSTOMIZATIONS = [
    ("kind: ConfigMap", "c.yaml: expected a ResourceInterpreterCustomization, got kind 'ConfigMap'"),
    ("kind: ResourceInterpreterCustomization", "c.yaml: spec: expected an object, got nothing"),
    (CUSTOMIZATION.replace("kind: Thing", ""), "c.yaml: spec.target.kind: expected text, got nothing"),
    (CUSTOMIZATION.replace("replicaRevision", "replicaRevison"), "spec.customizations.replicaRevison: unknown rule"),
    (CUSTOMIZATION.replace("luaScript", "luascript"), "replicaResource.luaScript: expected text, got nothing"),
]


@pytest.mark.parametrize(("text", "message"), BAD_CUSTOMIZATIONS, ids=range(len(BAD_CUSTOMIZATIONS)))
def test_a_customization_that_says_nothing_is_refused_with_the_field(text: str, message: str, place: Path) -> None:
    (place / "c.yaml").write_text(text)
    for arguments in (("run", "GetReplicas", "o.yaml", "-s", "c.yaml"), ("run", "--check", "-f", "c.yaml")):
        ran = interp(*arguments, cwd=place)
        assert (ran.code, ran.out) == (1, "")
        assert message in ran.err


def test_check_fails_on_a_script_that_offers_nothing(place: Path) -> None:
    (place / "s.lua").write_text("function Foo() end")
    ran = interp("run", "--check", "-f", "s.lua", cwd=place)
    assert (ran.code, ran.err) == (1, "error: s.lua: no function that Karmada calls; interp lint s.lua says more\n")
