"""`interp register` with samples and kubeconfigs that are not what they should be: it says so and does nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from certs.folder import make_folder
from interp.verbs.register import command
from interpreters.core.errors import InterpError
from tests.webhook.api_server import ApiServer, api_server
from tests.webhook.test_registration_check import ACT, SHARING


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Iterator[Path]:
    with api_server(tmp_path) as file:
        yield file


def register(folder: Path, sample: str, *more: str) -> Result:
    scripts = folder / "scripts/stage.example.org/v1/Act"
    scripts.mkdir(parents=True)
    (scripts / "interpreter.lua").write_text(SHARING)
    make_folder(folder, ["localhost"], force=True)
    (folder / "sample").write_text(sample)
    return CliRunner().invoke(
        command,
        ["--url", "https://localhost", "--ca", str(folder / "ca.crt"), "--scripts", str(folder / "scripts"),
         "--bundled-language", "none", "--sample", str(folder / "sample"), *more],
    )  # fmt: skip


def listed(kind: str, *items: Any) -> str:
    return json.dumps({"apiVersion": "v1" if kind == "List" else ACT["apiVersion"], "kind": kind, "items": list(items)})


def act(**fields: Any) -> dict[str, Any]:
    return {**ACT, **fields}


BARE = {name: value for name, value in ACT.items() if name not in ("apiVersion", "kind")}
PROVEN = "registered: stage.example.org/v1 Act (divides): InterpretReplica, ReviseReplica"
UNPROVEN = "no case shows it an object to prove that on; add one, or give --sample"
SAMPLES = [  # what the file holds, part of what is said
    (listed("List", act(), act(metadata={"name": "othello"})), PROVEN),
    (listed("ActList", BARE), PROVEN),  # items of a list do not say what they are
    (json.dumps(act(metadata=None)), PROVEN),
    (f"---\n# nothing\n---\n{json.dumps(ACT)}\n", PROVEN),
    ("", "no object in it"),
    ("# nothing\n---\n", "no object in it"),
    (listed("List"), "no object in it"),
    ("{}", 'object.apiVersion: expected a text such as "apps/v1", got nothing'),
    ("- a\n", "expected an object, got 'a'"),
    ("hello", "expected an object, got 'hello'"),
    ("a: b: c", "sample:1:5"),
    (json.dumps(act(apiVersion=3)), 'object.apiVersion: expected a text such as "apps/v1", got 3'),
    (json.dumps(act(apiVersion="stage.example.org/v2")), UNPROVEN),
    (json.dumps(act(apiVersion="v1", kind="ConfigMap")), "warning: --sample: v1 ConfigMap is not among the kinds to"),
    (json.dumps(act(metadata=[])), "metadata: expected an object, got []"),
    (f"{json.dumps(ACT)[:-1]}, metadata: {{name: a, namespace: no}}}}".replace('"metadata": {"name": "hamlet"}, ', ""),
     "metadata.namespace: expected a text, got false; YAML wants quotes around it"),
    (json.dumps(act(metadata={"name": 7})), "metadata.name: expected a text, got 7; YAML wants quotes around it"),
    (json.dumps(act(spec={})), "InterpretReplica failed on sample hamlet"),
    (json.dumps(act(spec={"replicas": 1})), "none has more than one replica"),
    (json.dumps(act(spec={"replicas": "many"})), "InterpretReplica failed on sample hamlet"),
    (json.dumps(act(spec={"replicas": -2})), "InterpretReplica failed on sample hamlet"),
]  # fmt: skip


@pytest.mark.parametrize(("sample", "said"), SAMPLES)
def test_a_sample_proves_or_is_said_not_to(tmp_path: Path, sample: str, said: str) -> None:
    result = register(tmp_path, sample)
    assert (result.exit_code == 0) is (said == PROVEN), result.output
    assert said in result.output + str(result.exception)
    assert result.exception is None or isinstance(result.exception, InterpError | SystemExit)


CONFIGS = [  # the file instead of the kubeconfig, part of what is said
    ("", "not a kubeconfig: the file: expected an object, got nothing"),
    ("a: b: c", "not YAML: mapping values are not allowed"),
    ("[]", "not a kubeconfig: the file: expected an object, got a list"),
    ("kind: Config", "no current-context, and none was named; it has: none"),
    ("current-context: x", 'no context "x"; it has: none'),
    ("current-context: x\ncontexts: [{name: x, context: {cluster: k}}]", 'names cluster "k", which is not there'),
    (
        "current-context: x\ncontexts: [{name: x, context: {cluster: k}}]\nclusters: [{name: k, cluster: {}}]",
        "the cluster has no server address",
    ),
    (
        "current-context: x\ncontexts: [{name: x, context: {cluster: k}}]\n"
        "clusters: [{name: k, cluster: {server: 'http://127.0.0.1:1'}}]",
        "cannot be read: Cannot connect to host 127.0.0.1:1",
    ),
]


@pytest.mark.parametrize("act_of", [("--apply",), ("--touch",), ("--remove",)])
@pytest.mark.parametrize(("config", "said"), CONFIGS)
def test_a_kubeconfig_that_leads_nowhere_is_said_to(
    tmp_path: Path, config: str, said: str, act_of: tuple[str, ...]
) -> None:
    file = tmp_path / "config"
    file.write_text(config)
    result = register(tmp_path, json.dumps(ACT), "--kubeconfig", str(file), *act_of)
    assert isinstance(result.exception, InterpError)
    assert said in str(result.exception)


def test_credentials_that_are_not_accepted_are_told_of(kubeconfig: Path) -> None:
    path = "/apis/config.karmada.io/v1alpha1/resourceinterpreterwebhookconfigurations/interp"
    ApiServer.answers["GET", path] = (401, {"kind": "Status", "message": "Unauthorized"})
    result = register(kubeconfig.parent, json.dumps(ACT), "--kubeconfig", str(kubeconfig), "--apply")
    assert str(result.exception).endswith("Unauthorized; the credentials of the kubeconfig are not accepted")
    assert ApiServer.received == []
