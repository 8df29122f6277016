"""`interp run`: questions by any name, answers for people and machines, exit codes that scripts can trust."""

from __future__ import annotations

import base64
import json
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
    aggregated = interp("run", "AggregateStatus", "o.yaml", "--status", "status.yaml", "-s", "s.lua", cwd=place)
    assert "+  clusters: 2" in aggregated.out


def test_trace_says_which_source_answered(place: Path) -> None:
    ran = interp("run", "GetReplicas", "o.yaml", "-s", "s.lua", "--trace", cwd=place)
    assert "trace: InterpretReplica: script s.lua, function GetReplicas (lua): " in ran.err
    assert " µs, " in ran.err
    assert "trace: InterpretReplica: shadows default default" in ran.err


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
    assert "no script knows example.io/v1 Thing" in interp("run", "GetComponents", "o.yaml", cwd=place).err


def test_the_help_fits_a_screen() -> None:
    assert len(interp("--help").out.splitlines()) <= 40
