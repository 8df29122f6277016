"""Settings come from flags, variables and a file, in that order, and a wrong one is named as it was spelled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from interp.verbs.serve import command
from interpreters.core.errors import InputError
from webhook.server.metrics import Metrics
from webhook.server.settings import Settings, schema, shown
from webhook.server.settings_sources import flag, load_settings, stray_variables, variable

PAIR = {"certificate": "c", "key": "k"}
SECRET = "at-least-sixteen-letters"


def settings(flags: dict[str, Any] | None = None, environment: dict[str, str] | None = None, file: str | None = None):  # type: ignore[no-untyped-def]
    return load_settings({**PAIR, **(flags or {})}, environment or {}, file)


def test_flags_win_over_variables_and_variables_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "interp.yaml"
    file.write_text("port: 1\nworkers: 1\nwaiting: 1\nscripts: [a, b]\nadmissionModes: {team: warn}\n")
    found = settings({"port": 3}, {"INTERP_PORT": "2", "INTERP_WORKERS": "2"}, str(file))
    assert (found.port, found.workers, found.waiting, found.scripts) == (3, 2, 1, ["a", "b"])
    assert found.admission_modes == {"team": "warn"}
    assert settings({}, {"INTERP_CONFIG": str(file)}).port == 1


VARIABLES = [  # variable, text, attribute, value
    ("INTERP_MAX_BODY", "2048", "max_body", 2048),
    ("INTERP_TIMEOUT_SECONDS", "1.5", "timeout_seconds", 1.5),
    ("INTERP_LOG_OBJECTS", "true", "log_objects", True),
    ("INTERP_LOG_OBJECTS", "0", "log_objects", False),
    ("INTERP_ALLOW_FROM", "10.0.0.0/8, ::1/128", "allow_from", ["10.0.0.0/8", "::1/128"]),
    ("INTERP_SCRIPTS", "/a:/b", "scripts", ["/a", "/b"]),
    ("INTERP_ADMIN_PORT", "9443", "admin_port", 9443),
    ("INTERP_ADMISSION_MODES", "a=warn,b=record", "admission_modes", {"a": "warn", "b": "record"}),
]


@pytest.mark.parametrize(("name", "text", "attribute", "value"), VARIABLES)
def test_variables_are_read_by_the_type_of_their_setting(name: str, text: str, attribute: str, value: Any) -> None:
    assert getattr(settings({}, {name: text}), attribute) == value


MISTAKES = [  # flags, variables, file, part of the message
    ({"port": 70000}, {}, "", "--port: 70000 is greater than"),
    ({}, {"INTERP_PORT": "many"}, "", "INTERP_PORT: 'many' is not of type 'integer'"),
    ({}, {"INTERP_LOG_LEVEL": "loud"}, "", "INTERP_LOG_LEVEL"),
    ({}, {"INTERP_PORT": "tcp://10.0.0.1:443"}, "", "INTERP_PORT: 'tcp://10.0.0.1:443' is not of type 'integer'; it "),
    ({}, {"INTERP_ADMIN_PORT": "tcp://10.0.0.1:443"}, "", "enableServiceLinks: false"),
    ({}, {}, "maxBoddy: 5", 'maxBoddy: is not a setting; did you mean "maxBody"?'),
    ({}, {}, "zzz: 5", "zzz: is not a setting; `interp serve --help` lists them all"),
    ({}, {}, "admissionModes: {team: maybe}", "admissionModes.team"),
    ({}, {}, "scripts: here", "scripts: 'here' is not of type 'array'"),
    ({}, {}, "- 1", "expected"),
    ({"pathSecret": "a/b"}, {}, "", "--path-secret"),
    ({"pathSecret": "fifteen-letters"}, {}, "", "--path-secret: expected at least 16 letters"),
    ({}, {}, "pathSecret: 12345678901234567890", "pathSecret: expected text; put it in quotes"),
    ({"pathSecret": SECRET, "pathSecretFile": "b"}, {}, "", "one of the two"),
    ({"ledger": "foo://x"}, {}, "", "ledger: expected sqlite or postgresql, got foo"),
    ({"ledger": "sqlite://"}, {}, "", "ledger: a ledger in memory"),
    ({"clientCa": "x"}, {}, "", "clientCa: needs adminPort"),
    ({"allowFrom": ["10.0.0.1/8"]}, {}, "", "allowFrom: expected a network"),
    ({"certificate": ""}, {}, "", "certificate: is required"),
    ({"pathSecretFile": "/nowhere"}, {}, "", "pathSecretFile: /nowhere"),
]


@pytest.mark.parametrize(("flags", "variables", "text", "message"), MISTAKES)
def test_a_wrong_setting_is_named_as_it_was_spelled(
    tmp_path: Path, flags: dict[str, Any], variables: dict[str, str], text: str, message: str
) -> None:
    file = tmp_path / "interp.yaml"
    file.write_text(text)
    with pytest.raises(InputError) as error:
        settings(flags, variables, str(file))
    assert message in str(error.value)


def test_every_mistake_of_every_source_is_named_at_once(tmp_path: Path) -> None:
    file = tmp_path / "interp.yaml"
    file.write_text("prot: 1\nworkers: ten\nlogLevel: loud\nwatsh: off\n")
    with pytest.raises(InputError) as error:
        settings({"port": 70000}, {"INTERP_WAITING": "-1"}, str(file))
    said = str(error.value).splitlines()
    assert said[0] == "6 settings are wrong:"
    assert said[1] == f'  {file}: prot: is not a setting; did you mean "port"?'
    for part in ("watsh", "workers", "logLevel", "INTERP_WAITING", "--port"):
        assert any(part in line for line in said[1:]), part
    with pytest.raises(InputError) as error:
        load_settings({"clientCa": "x", "allowFrom": ["10.0.0.1/8"]}, {})
    for part in ("certificate", "key", "clientCa", "allowFrom"):
        assert f"  {part}: " in str(error.value)


@pytest.mark.parametrize("secret", ["short", "sl/ash-and-sixteen-letters", "twenty letters and blanks"])
def test_a_refused_secret_is_not_repeated(tmp_path: Path, secret: str) -> None:
    (tmp_path / "secret").write_text(secret)
    for given in ({"pathSecret": secret}, {"pathSecretFile": str(tmp_path / "secret")}):
        with pytest.raises(InputError, match="at least 16 letters") as error:
            settings(given)
        assert secret not in str(error.value)


STRAYS = [  # variable, its value, what is said
    ("INTERP_PROT", "1", 'INTERP_PROT: is set, but is no setting; did you mean "INTERP_PORT"?'),
    ("INTERP_ZZZ", "1", "INTERP_ZZZ: is set, but is no setting; `interp serve --help` lists"),
    ("INTERP_PORT", "1", None),
    ("INTERP_CONFIG", "x", None),
    ("INTERP_DEBUG", "1", None),
    ("INTERPRETER", "1", None),
    ("INTERP_SERVICE_HOST", "10.0.0.1", None),  # this and the following by Kubernetes, for a Service
    ("INTERP_SERVICE_PORT", "8443", None),
    ("INTERP_SERVICE_PORT_HTTPS", "8443", None),
    ("INTERP_PORT_8443_TCP", "tcp://10.0.0.1:8443", None),
    ("INTERP_PORT_8443_TCP_PROTO", "tcp", None),
    ("INTERP_PORT_8443_TCP_PORT", "8443", None),
    ("INTERP_PORT_8443_TCP_ADDR", "10.0.0.1", None),
    ("INTERP_WEBHOOK_PORT", "tcp://10.0.0.1:443", None),
    ("INTERP_WEBHOOK_SERVICE_HOST", "10.0.0.1", None),
    ("INTERP_WEBHOOK_PORT_443_TCP_ADDR", "10.0.0.1", None),
]


@pytest.mark.parametrize(("name", "value", "said"), STRAYS)
def test_a_variable_that_is_no_setting_is_remarked_on_unless_kubernetes_set_it(
    name: str, value: str, said: str | None
) -> None:
    remarks = stray_variables({name: value, "PATH": "/bin"})
    assert [remark.startswith(said or "") for remark in remarks] == ([True] if said else [])


def test_printing_the_settings_needs_no_certificate_and_warns_of_strays() -> None:
    result = CliRunner().invoke(command, ["--print-config"], env={"INTERP_PROT": "1"})
    assert result.exit_code == 0, result.output
    assert yaml.safe_load(result.stdout)["certificate"] == ""
    assert "warning: INTERP_PROT" in result.stderr


def test_the_path_secret_may_come_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(f"{SECRET}\n")
    assert settings({"pathSecretFile": str(tmp_path / "secret")}).path_secret == SECRET


def test_printed_settings_hide_secrets_and_can_be_read_back(tmp_path: Path) -> None:
    arguments = ["--certificate", "c", "--key", "k", "--path-secret", SECRET, "--ledger", "postgresql://u:hush@db/x"]
    result = CliRunner().invoke(command, [*arguments, "--scripts", "a", "--scripts", "b", "--print-config"])
    assert result.exit_code == 0, result.output
    assert "hush" not in result.output
    assert SECRET not in result.output
    printed = yaml.safe_load(result.output)
    assert (printed["scripts"], printed["ledger"]) == (["a", "b"], "postgresql://u:***@db/x")
    printed.pop("pathSecret")
    file = tmp_path / "again.yaml"
    file.write_text(yaml.safe_dump(printed))
    assert shown(load_settings({}, {}, str(file))) == printed | {"pathSecret": ""}


def test_every_setting_has_a_flag_a_variable_and_a_description() -> None:
    result = CliRunner().invoke(command, ["--help"])
    for key, field in schema()["properties"].items():
        assert flag(key) in result.output
        assert variable(key) in result.output
        assert field["description"].endswith((".", "…"))
    assert set(schema()["properties"]) == set(Settings.__struct_encode_fields__)


def test_the_manual_names_every_metric() -> None:
    manual = (Path(__file__).parents[2] / "docs/metrics.md").read_text()
    for metric in Metrics().registry.collect():
        if metric.name.startswith("interp_"):
            assert f"`{metric.name}" in manual, metric.name
