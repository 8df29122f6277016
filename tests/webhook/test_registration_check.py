"""`interp doctor --kubeconfig`: what Karmada has registered, against what is served and what the rules allow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interp.verbs.doctor.connection import Probe
from interp.verbs.doctor.registration import check_registration
from tests.webhook.api_server import ApiServer, api_server

CONFIGURATIONS = "/apis/config.karmada.io/v1alpha1/resourceinterpreterwebhookconfigurations"
CUSTOMIZATIONS = "/apis/config.karmada.io/v1alpha1/resourceinterpretercustomizations"
URL = "https://interp.example:8443/interpret"
PROBE = Probe(URL, None, 1)  # nobody answers there


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Iterator[Path]:
    with api_server(tmp_path) as file:
        yield file


def registered(kind: str, *operations: str, url: str = URL) -> dict[str, Any]:
    group, version, name = kind.split("/")
    rule = {"apiGroups": [group], "apiVersions": [version], "kinds": [name], "operations": list(operations)}
    return {"items": [{"webhooks": [{"clientConfig": {"url": url}, "rules": [rule]}]}]}


CLONESET, TFJOB = "apps.kruise.io/v1alpha1/CloneSet", "kubeflow.org/v1/TFJob"
FOUND = [  # what is registered, the level and part of the first finding
    (registered(TFJOB, "InterpretComponent"), "ok", "1 operations of 1 kinds, all served and none against the rules"),
    (registered(CLONESET, "InterpretReplica", "ReviseReplica"), "ok", "2 operations of 1 kinds"),
    (
        registered(CLONESET, "InterpretComponent"),
        "error",
        "CloneSet: InterpretComponent must not be registered: the kind",
    ),
    (registered(TFJOB, "InterpretReplica", "ReviseReplica"), "ok", "2 operations"),  # as --count registers it
    (registered(TFJOB, "InterpretReplica"), "error", "a Divided policy would share it out"),
    (registered("stage.example.org/v1/Act", "InterpretHealth"), "error", "no script answers; Karmada's call fails"),
    (registered(TFJOB, "Retain"), "error", "Retain registered, but no script answers"),
    (registered("apps/v1/Deployment", "InterpretReplica"), "error", "Karmada's own code answers for it"),
    (registered("*/*/*", "InterpretReplica"), "error", "a rule has apiGroups: *, so that Karmada calls also for what"),
    (registered(TFJOB, "*"), "error", "a rule has operations: *"),
    (registered(TFJOB, "InterpretComponent", url="https://other:1"), "error", "does not call interp.example:8443; reg"),
    ({"items": []}, "error", "Karmada does not call interp.example:8443"),
]


@pytest.mark.parametrize(("configurations", "level", "said"), FOUND)
def test_what_is_registered_is_judged(kubeconfig: Path, configurations: Any, level: str, said: str) -> None:
    ApiServer.held[CONFIGURATIONS] = configurations
    first = check_registration(PROBE, kubeconfig, "", [], "lua")[0]
    assert first.level == level
    assert said in first.message
    assert bool(first.fix) is (level == "error")


def test_a_customization_that_answers_first_is_named(kubeconfig: Path) -> None:
    ApiServer.held[CONFIGURATIONS] = registered(TFJOB, "InterpretComponent")
    target = {"apiVersion": "kubeflow.org/v1", "kind": "TFJob"}
    rules = {"componentResource": {"luaScript": "x"}}
    ApiServer.held[CUSTOMIZATIONS] = {"items": [{"spec": {"target": target, "customizations": rules}}]}
    messages = [one.message for one in check_registration(PROBE, kubeconfig, "", [], "lua") if one.level == "warning"]
    assert len(messages) == 1
    assert "a ResourceInterpreterCustomization answers InterpretComponent before interp is asked" in messages[0]


OTHERS = [  # the name of the other's configuration, what is said
    ("another", "Karmada asks the webhook of another for InterpretComponent before interp, by its name"),
    ("later", ""),
]


@pytest.mark.parametrize(("name", "said"), OTHERS)
def test_another_webhook_that_answers_first_is_named(kubeconfig: Path, name: str, said: str) -> None:
    configurations = [(registered(TFJOB, "InterpretComponent"), "interp"),
                      (registered("kubeflow.org/v1/*", "*", url="https://other:1"), name)]  # fmt: skip
    items = [{**one["items"][0], "metadata": {"name": of}} for one, of in configurations]
    ApiServer.held[CONFIGURATIONS] = {"items": items}
    messages = [one.message for one in check_registration(PROBE, kubeconfig, "", [], "lua") if one.level == "warning"]
    assert [message.partition(": ")[2] for message in messages] == ([said] if said else [])


def test_an_api_server_that_cannot_be_read_is_a_finding(kubeconfig: Path) -> None:
    kubeconfig.write_text(kubeconfig.read_text().replace("127.0.0.1:", "127.0.0.1:1"))
    [finding] = check_registration(PROBE, kubeconfig, "", [], "lua")
    assert finding.level == "error"


SHARING = """\
-- Division: divides
function GetReplicas(obj) return obj.spec.replicas end
function ReviseReplica(obj, replicas)
  obj.spec.replicas = replicas
  return obj
end
"""
ACT = {"apiVersion": "stage.example.org/v1", "kind": "Act", "metadata": {"name": "hamlet"}, "spec": {"replicas": 2}}
PROVEN = [([ACT], "ok", "2 operations of 1 kinds"), ([], "error", "no case shows it an object")]


@pytest.mark.parametrize(("samples", "level", "said"), PROVEN)
def test_what_was_registered_by_a_sample_is_judged_by_one(
    kubeconfig: Path, samples: list[Any], level: str, said: str
) -> None:
    folder = kubeconfig.parent / "own/stage.example.org/v1/Act"
    folder.mkdir(parents=True)
    (folder / "interpreter.lua").write_text(SHARING)
    ApiServer.held[CONFIGURATIONS] = registered("stage.example.org/v1/Act", "InterpretReplica", "ReviseReplica")
    first = check_registration(PROBE, kubeconfig, "", [str(kubeconfig.parent / "own")], "none", samples)[0]
    assert first.level == level
    assert said in first.message
