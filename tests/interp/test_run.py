"""`interp run`: questions by any name, answers for people and machines, exit codes that scripts can trust."""

from __future__ import annotations

import base64
import gzip
import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
import yaml

from tests.interp.command import interp

SCRIPT = """
local kube = require("kube")
function GetReplicas(obj)
  print("asked for", obj.metadata.name)
  return obj.spec.replicas, kube.accuratePodRequirements(obj.spec.template)
end
function ReviseReplica(obj, n) obj.spec.replicas = n return obj end
function Retain(desired, observed) desired.spec.kept = observed.spec.kept return desired end
function AggregateStatus(obj, items)
  obj.status = { clusters = #items }
  return obj
end
function InterpretHealth(obj) return obj.status.ready end
"""
OBJECT = """
apiVersion: example.io/v1
kind: Thing
metadata: {name: one, namespace: lab}
spec: {big: 9007199254740993, replicas: 2}
status: {ready: true}
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "s.lua").write_text(SCRIPT)
    (tmp_path / "o.yaml").write_text(OBJECT)
    (tmp_path / "two.yaml").write_text(
        OBJECT + "---" + OBJECT.replace("one", "two").replace("replicas: 2", "replicas: 5")
    )
    (tmp_path / "observed.yaml").write_text(OBJECT.replace("replicas: 2", "replicas: 2, kept: yes"))
    (tmp_path / "status.yaml").write_text("- {clusterName: a, applied: true}\n- {clusterName: b, applied: true}\n")
    return tmp_path


@pytest.mark.parametrize("name", ["InterpretReplica", "GetReplicas", "getreplicas", "INTERPRETREPLICA"])
def test_an_operation_goes_by_either_name_in_any_case(name: str, place: Path) -> None:
    ran = interp("run", name, "o.yaml", "-s", "s.lua", cwd=place)
    assert (ran.code, ran.out) == (0, "replicas: 2\n")
    assert ran.err == "print: asked for\tone\n"


def test_without_an_operation_all_that_the_script_offers_is_asked(place: Path) -> None:
    ran = interp("run", "o.yaml", "-s", "s.lua", "--no-bundled", cwd=place)
    assert ran.code == 0
    assert [line.split()[0] for line in ran.out.splitlines() if "Thing lab/one" in line] == [
        "InterpretReplica",
        "InterpretHealth",
    ]
    assert "ReviseReplica: left out, it needs --replicas" in ran.err
    assert "Retain: left out, it needs --observed" in ran.err


def test_standard_input_and_json_make_a_pipe(place: Path) -> None:
    ran = interp("run", "GetReplicas", "-", "-s", place / "s.lua", "-o", "json", stdin=OBJECT)
    assert (ran.code, json.loads(ran.out)) == (0, {"replicas": 2})
    schema = Path(__file__).parent.parent.parent / "docs" / "schemas" / "reply-InterpretReplica.json"
    jsonschema.validate(json.loads(ran.out), json.loads(schema.read_text()))


def test_without_an_operation_json_has_a_field_for_each(place: Path) -> None:
    from referencing import Registry, Resource

    folder = Path(__file__).parent.parent.parent / "docs" / "schemas"
    schemas = {path.name: json.loads(path.read_text()) for path in folder.glob("r*.json")}
    registry: Registry = Registry().with_resources((name, Resource.from_contents(one)) for name, one in schemas.items())
    (place / "s.lua").write_text(SCRIPT.replace("return obj.status.ready", "return nil"))
    ran = interp("run", "o.yaml", "-s", "s.lua", "--replicas", "3", "-o", "json", cwd=place)
    assert ran.code == 1
    answer = json.loads(ran.out)
    assert list(answer) == ["InterpretReplica", "ReviseReplica", "InterpretHealth"]
    assert "expected true or false" in answer["InterpretHealth"]["error"]["message"]
    jsonschema.Draft202012Validator(schemas["run-output.json"], registry=registry).validate(answer)


def test_several_documents_are_a_list_in_json_and_documents_in_yaml(place: Path) -> None:
    as_json = interp("run", "GetReplicas", "two.yaml", "-s", "s.lua", "-o", "json", cwd=place)
    as_yaml = interp("run", "GetReplicas", "two.yaml", "-s", "s.lua", "-o", "yaml", cwd=place)
    assert json.loads(as_json.out) == list(yaml.safe_load_all(as_yaml.out)) == [{"replicas": 2}, {"replicas": 5}]


def test_a_change_is_shown_as_a_diff_and_sent_as_a_patch(place: Path) -> None:
    shown = interp("run", "ReviseReplica", "o.yaml", "-s", "s.lua", "--replicas", "3", cwd=place)
    assert "-  replicas: 2\n+  replicas: 3\n" in shown.out
    assert "9007199254740992" not in shown.out
    coloured = interp("run", "ReviseReplica", "o.yaml", "-s", "s.lua", "--replicas", "3", cwd=place, colour=True)
    assert "\x1b[32m+  replicas: 3" in coloured.out
    sent = json.loads(
        interp("run", "ReviseReplica", "o.yaml", "-s", "s.lua", "--replicas", "3", "-o", "json", cwd=place).out
    )
    assert json.loads(base64.b64decode(sent["patch"])) == [{"op": "replace", "path": "/spec/replicas", "value": 3}]


def test_no_change_is_said_and_leaves_the_patch_out(place: Path) -> None:
    assert interp("run", "ReviseReplica", "o.yaml", "-s", "s.lua", "--replicas", "2", cwd=place).out == "no change\n"
    assert (
        json.loads(
            interp("run", "ReviseReplica", "o.yaml", "-s", "s.lua", "--replicas", "2", "-o", "json", cwd=place).out
        )
        == {}
    )


def test_retain_and_aggregate_status_take_their_second_argument_from_files(place: Path) -> None:
    retained = interp("run", "Retain", "o.yaml", "--observed", "observed.yaml", "-s", "s.lua", cwd=place)
    assert "+  kept: true" in retained.out
    same = interp("run", "Retain", "o.yaml", "--observed", "o.yaml", "-s", "s.lua", cwd=place)
    assert (same.code, same.out) == (0, "no change\n")
    aggregated = interp("run", "AggregateStatus", "o.yaml", "--status", "status.yaml", "-s", "s.lua", cwd=place)
    assert "+  clusters: 2" in aggregated.out


def test_trace_says_which_source_answered(place: Path) -> None:
    ran = interp("run", "GetReplicas", "o.yaml", "-s", "s.lua", "--trace", cwd=place)
    assert "trace: InterpretReplica: script s.lua, function GetReplicas (lua): " in ran.err
    assert " µs, " in ran.err
    (place / "d.yaml").write_text(OBJECT.replace("example.io/v1", "apps/v1").replace("Thing", "Deployment"))
    (place / "tree/apps/v1/Deployment").mkdir(parents=True)
    (place / "tree/apps/v1/Deployment/interpreter.lua").write_text(SCRIPT)
    shadowing = interp("run", "GetReplicas", "d.yaml", "--folder", "tree", "--trace", cwd=place)
    assert "trace: InterpretReplica: folder tree/apps/v1/Deployment/interpreter.lua, function " in shadowing.err
    assert "trace: InterpretReplica: shadows bundled bundled/apps/v1/Deployment/interpreter.lua\n" in shadowing.err


FAILURES = [
    ("function GetReplicas(o) return o.spec.a.b end", "s.lua:1: in GetReplicas: ", 1),
    ("function GetReplicas(o) return -1 end", "replicas: expected 0 to 2147483647, got -1", 1),
    ("function GetReplicas(o", "s.lua:1: ", 1),
    ("function GetReplicas(o) while true do end end", "stopped after 1 s", 1),
]


@pytest.mark.parametrize(("text", "message", "code"), FAILURES)
def test_a_script_that_fails_exits_with_1_and_says_where(text: str, message: str, code: int, place: Path) -> None:
    (place / "s.lua").write_text(text)
    ran = interp("run", "GetReplicas", "o.yaml", "-s", "s.lua", cwd=place)
    assert ran.code == code
    assert message in ran.err
    assert "Traceback" not in ran.err


MISUSE = [
    (("run",), "which object?"),
    (("run", "nothing.yaml"), "nothing.yaml: no such file"),
    (("run", "Explode", "o.yaml"), 'operation "Explode" is unknown; known are InterpretReplica'),
    (("run", "ReviseReplica", "o.yaml", "-s", "s.lua"), "ReviseReplica needs --replicas"),
    (("run", "ReviseReplica", "o.yaml", "-s", "s.lua", "--replicas", "-1"), "-1 is not in the range 0<=x<=2147483647"),
    (("run", "GetReplicas", "s.lua"), "s.lua"),
    (("run", "GetReplicas", "status.yaml"), "object.apiVersion: expected a text"),
    (("rnu",), 'there is no verb "rnu"; did you mean run?'),
]


@pytest.mark.parametrize(("arguments", "message"), MISUSE)
def test_misuse_exits_with_2_and_says_what_to_do(arguments: tuple[str, ...], message: str, place: Path) -> None:
    ran = interp(*arguments, cwd=place)
    assert ran.code == 2
    assert message in ran.err
    assert "Traceback" not in ran.err


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


def test_the_help_fits_a_screen() -> None:
    assert len(interp("--help").out.splitlines()) <= 40


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


def test_an_error_in_a_bundled_script_names_the_snippet_and_its_line(place: Path) -> None:
    from interpreters.lua.assemble import positions
    from interpreters.scan import Candidate, scan

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


ODD_FILES = [
    (b"", "f.yaml: no object in it"),
    (b"# nothing\n---\n", "f.yaml: no object in it"),
    (b"\x1f\x8b\x08cut", "f.yaml: not a complete gzip file"),
    (b"\x00\xff", "f.yaml: not UTF-8 at byte 1"),
    (b"a:\n\t- b", "f.yaml:2:1: a tab; YAML is indented with blanks"),
    (b"kind: Thing", 'f.yaml: object.apiVersion: expected a text such as "apps/v1", got nothing'),
    (OBJECT.encode() + b"---\napiVersion: v1\nkind: 5", "f.yaml: object 2: object.kind: expected a text"),
    (b"apiVersion: v1\nkind: List\nitems: [5]", "f.yaml: expected an object, got 5"),
]


@pytest.mark.parametrize(("content", "message"), ODD_FILES, ids=range(len(ODD_FILES)))
def test_a_file_that_holds_no_object_is_misuse_and_named(content: bytes, message: str, place: Path) -> None:
    (place / "f.yaml").write_bytes(content)
    ran = interp("run", "GetReplicas", "f.yaml", "-s", "s.lua", cwd=place)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"error: {message}")


def test_gzip_crlf_and_byte_order_marks_are_read(place: Path) -> None:
    odd = b"\xef\xbb\xbf" + OBJECT.replace("\n", "\r\n").encode()
    (place / "o.gz").write_bytes(gzip.compress(odd))
    (place / "s.lua").write_bytes(b"\xef\xbb\xbf" + SCRIPT.replace("\n", "\r\n").encode())
    assert interp("run", "GetReplicas", "o.gz", "-s", "s.lua", cwd=place).out == "replicas: 2\n"
    piped = subprocess.run(
        [sys.executable, "-m", "interp", "run", "GetReplicas", "-", "-s", place / "s.lua"],
        input=gzip.compress(odd),
        capture_output=True,
        check=False,
    )
    assert (piped.returncode, piped.stdout) == (0, b"replicas: 2\n")


def test_watch_runs_again_when_a_file_changes(place: Path) -> None:
    watching = subprocess.Popen(
        [sys.executable, "-m", "interp", "run", "GetReplicas", "o.yaml", "-s", "s.lua", "--watch"],
        cwd=place,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert watching.stdout
    try:
        assert watching.stdout.readline() == "replicas: 2\n"
        (place / "o.yaml").write_text(OBJECT.replace("replicas: 2", "replicas: 11"))
        assert watching.stdout.readline() == "replicas: 11\n"
        (place / "o.yaml").write_text("a: [")  # a mistake is told, and watching goes on
        (place / "s.lua").write_text("function GetReplicas(o) return 12 end")
        (place / "o.yaml").write_text(OBJECT)
        assert watching.stdout.readline() == "replicas: 12\n"
    finally:
        watching.send_signal(signal.SIGINT)
        assert watching.wait(30) == 130
        watching.stdout.close()


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
