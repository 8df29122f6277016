"""`interp doctor` against real servers, healthy and ill: what it finds, what it advises, how it exits."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner, Result

from certs.folder import make_folder
from interp.verbs.doctor import command
from tests.webhook.server import SCRIPTS, Server

ACTS = SCRIPTS / "stage.example.org/v1/Act"
SCHEMAS = Path(__file__).parents[2] / "docs/schemas"


def doctor(*arguments: str) -> Result:
    return CliRunner().invoke(command, [*arguments, "--scripts", str(ACTS), "--bundled-language", "none"])


def test_a_healthy_webhook_is_found_healthy_for_every_operation(server: Server, certs: Path) -> None:
    result = doctor(f"https://localhost:{server.port}/interpret", "--ca", str(certs / "ca.crt"), "--all")
    assert result.exit_code == 0, result.output
    for line in (
        "ok      name resolution",
        "ok      trust",
        "ok      name:",
        "ok      operations: 8",
        "ok      latency",
    ):
        assert line in result.output


def test_its_json_keeps_its_schema(server: Server, certs: Path) -> None:
    result = doctor(f"https://localhost:{server.port}/interpret", "--ca", str(certs / "ca.crt"), "-o", "json")
    schema = json.loads((SCHEMAS / "findings.json").read_text())
    jsonschema.validate(json.loads(result.output), schema)


def test_a_stranger_authority_is_named(server: Server, tmp_path: Path) -> None:
    make_folder(tmp_path, ["localhost"])
    result = doctor(f"https://localhost:{server.port}/interpret", "--ca", str(tmp_path / "ca.crt"))
    assert result.exit_code == 1
    assert "no trusted authority issued" in result.output
    assert "→ give the ca.crt" in result.output


ILLNESSES = [  # URL with the server's port, part of the finding, part of the advice
    ("https://nowhere.invalid:{port}/interpret", "name resolution: nowhere.invalid", "check its DNS"),
    ("https://localhost:1/interpret", "connection: localhost:1", "is the server up"),
    ("https://127.0.0.2:{port}/interpret", "127.0.0.2", ""),
    ("https://localhost:{port}/wrong", "HTTP status 404", "the path is wrong"),
]


@pytest.mark.parametrize(("url", "finding", "advice"), ILLNESSES)
def test_each_illness_is_named_with_what_to_do(
    server: Server, certs: Path, url: str, finding: str, advice: str
) -> None:
    result = doctor(url.format(port=server.port), "--ca", str(certs / "ca.crt"))
    assert result.exit_code == 1, result.output
    assert finding in result.output
    assert advice in result.output


def test_an_operation_that_nobody_answers_is_found(certs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "stage.example.org/v1/Act"
    folder.mkdir(parents=True)
    (folder / "interpreter.star").write_text("def InterpretHealth(obj):\n    return True\n")
    with Server(certs, "--scripts", str(tmp_path), "--bundled-language", "none", "--workers", "1") as poor:
        result = doctor(f"https://localhost:{poor.port}/interpret", "--ca", str(certs / "ca.crt"))
    assert result.exit_code == 1
    assert "stage.example.org/v1 Act InterpretComponent" in result.output
    assert "do not register InterpretComponent" in result.output
    assert "InterpretHealth" not in result.output.replace("offered are InterpretHealth", "")


@pytest.mark.parametrize("url", ["http://localhost/interpret", "localhost:8443", "https:///x"])
def test_a_url_that_karmada_would_refuse_is_misuse(url: str) -> None:
    result = doctor(url)
    assert "expected the https URL" in str(result.exception)
