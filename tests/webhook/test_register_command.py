"""`interp register` refuses or warns of what Karmada would take and then could not call."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from certs.bundle import judge_bundle
from certs.folder import make_folder
from interp.verbs.register import command
from interpreters.core.errors import InputError
from tests.webhook.server import SCRIPTS

SECRET = "at-least-sixteen-letters"
DEVELOPMENT = Path("certs/dev")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make_folder(DEVELOPMENT, ["localhost", "127.0.0.1", "::1"])
    Path("secret.yaml").write_text(f"pathSecret: {SECRET}\n")
    Path("pod.yaml").write_text("{apiVersion: v1, kind: Pod, metadata: {name: hamlet}}")
    Path("text-metadata.yaml").write_text("{apiVersion: stage.example.org/v1, kind: Act, metadata: hamlet}")
    scene = Path("own/stage.example.org/v1/Scene")
    scene.mkdir(parents=True)
    (scene / "interpreter.lua").write_text("function InterpretHealth(obj) return true end\n")


def register(*arguments: str) -> Result:
    scripts = ["--scripts", str(SCRIPTS / "stage.example.org"), "--bundled-language", "none"]
    return CliRunner().invoke(command, [*scripts, *arguments])


def said(result: Result) -> str:
    return f"{result.output}{result.exception}"


NAMES = [  # where the server is, name of the object, name of the webhook
    (["--url", "https://localhost:8443"], "interp", "interp.localhost"),
    (["--url", "https://127.0.0.1:8443"], "interp", "interp.127.0.0.1"),
    (["--url", "https://[::1]:8443"], "interp", "interp.ipv6-0000-0000-0000-0000-0000-0000-0000-0001"),
    (["--url", "https://Hooks.example.org", "--ca", "certs/dev/ca.crt"], "interp", "interp.hooks.example.org"),
    (["--url", "https://hooks.karmada-system.svc", "--ca", "certs/dev/ca.crt"], "interp",
     "interp.hooks.karmada-system.svc"),
    (["--url", "https://localhost:8443", "--name", "flink.example.org"], "flink", "flink.example.org"),
]  # fmt: skip


@pytest.mark.parametrize(("place", "name", "webhook"), NAMES)
def test_names_say_whose_the_webhook_is_and_where(place: list[str], name: str, webhook: str) -> None:
    result = register(*place, "--admission")
    assert result.exit_code == 0, said(result)
    interpreter, admission = yaml.safe_load_all(result.stdout)
    assert interpreter["metadata"]["name"] == name
    assert admission["metadata"]["name"] == f"{name}-admission"
    assert interpreter["webhooks"][0]["name"] == webhook
    assert [one["name"] for one in admission["webhooks"]] == [
        f"{part}.{webhook}" for part in ("workloads", "bindings", "scales", "deletions", "policies")
    ]


PLACES = [  # options, where Karmada is told to call
    (["--url", "https://localhost:8443"], "https://localhost:8443/interpret"),
    (["--url", "https://localhost:8443", "--config", "secret.yaml"], f"https://localhost:8443/interpret/{SECRET}"),
    (["--url", f"https://localhost/interpret/{SECRET}", "--config", "secret.yaml"],
     f"https://localhost/interpret/{SECRET}"),
    (["--url", "https://localhost", "--path", "/proxied"], "https://localhost/proxied"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "url"), PLACES)
def test_the_path_holds_the_secret_that_the_settings_tell(options: list[str], url: str) -> None:
    result = register(*options)
    assert result.exit_code == 0, said(result)
    assert "warning" not in result.stderr
    assert yaml.safe_load(result.stdout)["webhooks"][0]["clientConfig"]["url"] == url


REFUSED = [  # options, part of what is said
    (["--service", "karmada-system/interp:8443"], "localhost, 127.0.0.1, ::1, not for interp.karmada-system.svc"),
    (["--url", "https://hooks.example.org"], "not for hooks.example.org"),
    (["--url", "https://localhost/interpret", "--config", "secret.yaml"], "leave /interpret out"),
    (["--service", "a/b", "--path", "/interpret", "--config", "secret.yaml"], "leave /interpret out"),
    (["--url", "https://localhost/interpret", "--path", "/x"], "--url has a path already"),
    (["--url", "https://localhost", "--kinds", "Act,Nope"], '--kinds: no script knows "Nope"'),
    (["--url", "https://localhost", "--kinds", "Actt"], "did you mean Act?"),
    (["--url", "https://localhost", "--kinds", "ray.io/*/*"], '"ray.io/*/*"'),
    (["--url", "https://localhost", "--ca", "secret.yaml"], "secret.yaml: expected PEM certificates, got none"),
    (["--url", "https://localhost", "--apply"], "name one with --kubeconfig"),
    (["--url", "https://localhost", "--name", "-a.b"], "joined by dots"),
    (
        ["--url", "https://localhost", "--kinds", "Act", "--divide", "Scene", "--scripts", "own"],
        "--divide Scene: --kinds leaves",
    ),
    (["--url", "https://localhost", "--bundled-language", "lua", "--count", "Pod"], "--count Pod: Karmada's own"),
    (["--url", "https://localhost", "--sample", "text-metadata.yaml"], "metadata: expected an object, got 'hamlet'"),
]


@pytest.mark.parametrize(("options", "part"), REFUSED)
def test_what_could_not_work_is_refused(options: list[str], part: str) -> None:
    result = register(*options)
    assert result.exit_code != 0
    assert part in said(result)
    assert "--master" not in said(result)
    assert SECRET not in said(result)


WARNED = [  # options, part of what is said
    (["--url", "https://localhost/behind-a-proxy", "--config", "secret.yaml"], "does not end with"),
    (["--url", "https://localhost", "--ca", "certs/dev/tls.crt"], "CN=localhost is not an authority"),
    (["--url", "https://localhost", "--sample", "pod.yaml"], "--sample: v1 Pod is not among the kinds to register"),
]


@pytest.mark.parametrize(("options", "part"), WARNED)
def test_what_is_doubtful_is_warned_of(options: list[str], part: str) -> None:
    result = register(*options)
    assert result.exit_code == 0, said(result)
    assert part in result.stderr


def test_without_any_bundle_one_is_asked_for() -> None:
    (DEVELOPMENT / "ca.crt").unlink()
    assert "with --ca" in said(register("--url", "https://localhost"))


def test_a_bundle_that_has_expired_is_refused_and_one_that_holds_an_old_authority_is_remarked_on() -> None:
    authority, leaf = DEVELOPMENT / "ca.crt", DEVELOPMENT / "tls.crt"
    later = datetime.now(UTC) + timedelta(days=400)
    assert judge_bundle(authority, later) == []
    with pytest.raises(InputError, match="tls.crt: expired on"):
        judge_bundle(leaf, later)
    leaf.write_bytes(authority.read_bytes() + leaf.read_bytes())
    (remark,) = judge_bundle(leaf, later)
    assert "vouches for nobody" in remark
