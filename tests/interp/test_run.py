"""`interp run`: questions by any name, answers for people and machines, exit codes that scripts can trust."""

from __future__ import annotations

import base64
import gzip
import json
import signal
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
import yaml

from tests.interp.command import interp
from tests.interp.conftest import OBJECT, SCRIPT


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


def test_a_diff_shows_what_changed_and_nothing_that_only_moved(place: Path) -> None:
    (place / "o.yaml").write_text(OBJECT.replace("{big", "{zone: z, image: i, gone: null, big"))
    (place / "s.star").write_text("def ReviseReplica(obj, n):\n    obj['spec']['replicas'] = n\n    return obj\n")
    for script in ("s.lua", "s.star"):
        shown = interp("run", "ReviseReplica", "o.yaml", "-s", script, "--replicas", "3", cwd=place)
        changed = [line for line in shown.out.splitlines() if line[0] in "+-"]
        assert changed == ["-  replicas: 2", "+  replicas: 3"], script


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
    ("function GetReplicas(o) while true do end end", "it costs more than 50000000 units", 1),
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


def test_the_help_fits_a_screen() -> None:
    assert len(interp("--help").out.splitlines()) <= 40


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
    # A shell's background jobs ignore Ctrl-C, and so do their children, unless they say otherwise.
    heeding = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    program = f"{heeding}; from interp.__main__ import main; main()"
    watching = subprocess.Popen(
        [sys.executable, "-c", program, "run", "GetReplicas", "o.yaml", "-s", "s.lua", "--watch"],
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
