"""`interp register --apply` sends the configuration to an API server by server-side apply."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from certs.folder import make_folder
from interp.verbs.register import command
from tests.webhook.api_server import ApiServer, api_server
from tests.webhook.server import SCRIPTS


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Iterator[Path]:
    with api_server(tmp_path) as file:
        yield file


def apply(kubeconfig: Path, *more: str) -> Any:
    make_folder(kubeconfig.parent, ["localhost"], force=True)
    arguments = ["--url", "https://localhost:8443/interpret", "--ca", str(kubeconfig.parent / "ca.crt"),
                 "--scripts", str(SCRIPTS / "stage.example.org"), "--bundled-language", "none", "--kinds", "Act",
                 "--apply", "--kubeconfig", str(kubeconfig), *more]  # fmt: skip
    return CliRunner().invoke(command, arguments)


def test_both_configurations_are_applied_where_they_belong(kubeconfig: Path) -> None:
    result = apply(kubeconfig, "--admission")
    assert result.exit_code == 0, result.output
    (first, kind, body), (second, _, _) = ApiServer.received
    name = "resourceinterpreterwebhookconfigurations/interp"
    assert first == f"/apis/config.karmada.io/v1alpha1/{name}?fieldManager=interp&force=true"
    assert second.startswith("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/interp-admission?")
    assert kind == "application/apply-patch+yaml"
    (rule,) = body["webhooks"][0]["rules"]
    assert rule["kinds"] == ["Act"]
    assert "InterpretComponent" in rule["operations"]
    assert f"{name} applied" in result.output


def test_a_refusal_is_passed_on(kubeconfig: Path) -> None:
    ApiServer.status = 403
    assert "403" in str(apply(kubeconfig).exception)


CONFIGURATION = "/apis/config.karmada.io/v1alpha1/resourceinterpreterwebhookconfigurations/interp"
ACTS = "/apis/stage.example.org/v1/acts"
ACT = {"metadata": {"namespace": "globe", "name": "hamlet"}, "spec": {"replicas": 6, "components": []}}
ACT["spec"]["components"] = [{"name": "cast", "replicas": 6}]
CAST = {"components": [{"name": "cast", "replicas": 6}]}
DIVIDED = {"replicas": 6, "clusters": [{"name": "east", "replicas": 4}, {"name": "west", "replicas": 2}]}
RULE = {"apiGroups": ["stage.example.org"], "apiVersions": ["v1"], "kinds": ["Act"]}
OWN_RULES = [  # what is registered now, what the binding holds, the gate, what is said of the binding
    (["InterpretReplica"], DIVIDED, "true", "it is divided now (east 4, west 2) and would go whole"),
    (["InterpretReplica"], {"replicas": 6}, "false", "replicas 6 → nothing"),
    (["InterpretComponent"], CAST, "true", ""),
    (
        ["InterpretComponent"],
        {"components": [{"name": "cast", "replicas": 5}]},
        "true",
        "components[0](cast).replicas 5 → 6",
    ),
    ([], {}, "true", "it stays whole and where it is, and its pods are told; components nothing → "),
    ([], {}, "false", ""),
    ([], CAST, "", ""),  # that it has components shows that the gate is on
]


def hold(spec: dict[str, Any], registered: list[str]) -> None:
    resource = {"apiVersion": "stage.example.org/v1", "kind": "Act", "namespace": "globe", "name": "hamlet"}
    binding = {"metadata": {"name": "hamlet-act"}, "spec": {"resource": resource, **spec}}
    ApiServer.held = {
        "/apis/work.karmada.io/v1alpha2/resourcebindings": {"items": [binding]},
        "/apis/stage.example.org/v1": {"resources": [{"name": "acts", "kind": "Act"}]},
        ACTS: {"items": [ACT]},
    }
    if registered:
        ApiServer.held[CONFIGURATION] = registration({**RULE, "operations": registered})


def registration(*rules: dict[str, Any], url: str = "https://localhost:8443/interpret") -> dict[str, Any]:
    """A configuration as interp writes it."""
    webhook = {"name": "interp.localhost", "clientConfig": {"url": url}, "rules": list(rules)}
    return {"metadata": {"name": "interp", "resourceVersion": "7"}, "webhooks": [webhook]}


@pytest.mark.parametrize(("registered", "spec", "gate", "said"), OWN_RULES)
def test_bindings_that_would_change_are_named_and_nothing_is_applied_without_yes(
    kubeconfig: Path, registered: list[str], spec: dict[str, Any], gate: str, said: str
) -> None:
    hold(spec, registered)
    gates = ["--feature-gates", f"MultiplePodTemplatesScheduling={gate}"] if gate else []
    result = apply(kubeconfig, *gates)
    if not said:
        assert result.exit_code == 0, result.output
        assert ApiServer.received
        return
    assert result.exit_code == 1
    assert f"Act globe/hamlet: {said}" in result.output
    assert "nothing was applied; --yes applies it all the same" in result.output
    assert not ApiServer.received
    assert apply(kubeconfig, *gates, "--yes").exit_code == 0
    assert len(ApiServer.received) == 1


CLONESET = {"apiVersion": "apps.kruise.io/v1alpha1", "kind": "CloneSet", "spec": {"replicas": 6}}
CARELESS = """\
-- Division: whole
function GetComponents(object) return { { name = "main", replicas = object.spec.replicas } } end
function ReviseReplica(object, replicas) return object end
"""  # of a kind that Karmada divides by itself
DIVIDED_ONE = "CloneSet shop/cart: it is divided now (east 4, west 2) and would go whole"
GATES = [  # as it is given, what is said of a CloneSet that is divided
    ("true", DIVIDED_ONE),
    ("", f"if MultiplePodTemplatesScheduling is on, which --feature-gates would say, the next change of its object "
         f"changes:\n  {DIVIDED_ONE}"),
    ("false", ""),
]  # fmt: skip


@pytest.mark.parametrize(("gate", "said"), GATES)
def test_a_division_that_would_be_lost_if_the_gate_is_on_is_named_unless_it_is_said_to_be_off(
    kubeconfig: Path, gate: str, said: str
) -> None:
    folder = kubeconfig.parent / "scripts/apps.kruise.io/v1alpha1/CloneSet"
    folder.mkdir(parents=True)
    (folder / "interpreter.lua").write_text(CARELESS)
    sample = kubeconfig.parent / "sample.json"
    cart = {**CLONESET, "metadata": {"namespace": "shop", "name": "cart"}}
    sample.write_text(json.dumps(cart))
    resource = {"apiVersion": "apps.kruise.io/v1alpha1", "kind": "CloneSet", "namespace": "shop", "name": "cart"}
    ApiServer.held = {
        "/apis/work.karmada.io/v1alpha2/resourcebindings": {"items": [{"spec": {"resource": resource, **DIVIDED}}]},
        "/apis/apps.kruise.io/v1alpha1": {"resources": [{"name": "clonesets", "kind": "CloneSet"}]},
        "/apis/apps.kruise.io/v1alpha1/clonesets": {"items": [cart]},
    }
    gates = ["--feature-gates", f"MultiplePodTemplatesScheduling={gate}"] if gate else []
    scripts = ["--scripts", str(kubeconfig.parent / "scripts"), "--kinds", "CloneSet", "--sample", str(sample)]
    result = apply(kubeconfig, *scripts, *gates)
    assert (result.exit_code, bool(ApiServer.received)) == ((1, False) if said else (0, True)), result.output
    assert said in result.output


def test_a_kind_that_goes_whole_now_and_would_be_divided_is_named(kubeconfig: Path) -> None:
    """Karmada alone does not know this version, so it sends all pods to each cluster."""
    cart = {**CLONESET, "apiVersion": "apps.kruise.io/v1beta1", "metadata": {"namespace": "shop", "name": "cart"}}
    resource = {"apiVersion": "apps.kruise.io/v1beta1", "kind": "CloneSet", "namespace": "shop", "name": "cart"}
    spec = {"resource": resource, "clusters": [{"name": "east"}, {"name": "west"}],
            "placement": {"replicaScheduling": {"replicaSchedulingType": "Divided"}}}  # fmt: skip
    ApiServer.held = {
        "/apis/work.karmada.io/v1alpha2/resourcebindings": {"items": [{"spec": spec}]},
        "/apis/apps.kruise.io/v1beta1": {"resources": [{"name": "clonesets", "kind": "CloneSet"}]},
        "/apis/apps.kruise.io/v1beta1/clonesets": {"items": [cart]},
    }
    result = apply(kubeconfig, "--bundled-language", "lua", "--kinds", "apps.kruise.io/v1beta1/CloneSet")
    assert result.exit_code == 1
    assert "CloneSet shop/cart: it goes whole to east, west now and its replicas would be divided" in result.output
    assert "Karmada alone cannot divide it, and sends all of them to every cluster." in result.output
    assert not ApiServer.received


def test_an_object_that_the_script_fails_on_is_named(kubeconfig: Path) -> None:
    hold({}, [])
    failing = {**ACT, "spec": {**ACT["spec"], "behaviour": "fail"}}
    ApiServer.held[ACTS] = {"items": [failing]}
    result = apply(kubeconfig, "--feature-gates", "MultiplePodTemplatesScheduling=true")
    assert result.exit_code == 1
    assert "the script fails on its object, so Karmada would not propagate it" in result.output


def test_a_customization_comes_before_the_webhook_so_that_nothing_changes(kubeconfig: Path) -> None:
    hold(DIVIDED, [])
    target = {"apiVersion": "stage.example.org/v1", "kind": "Act"}
    rules = {"replicaResource": {"luaScript": "x"}, "componentResource": {"luaScript": "x"}}
    ApiServer.held["/apis/config.karmada.io/v1alpha1/resourceinterpretercustomizations"] = {
        "items": [{"spec": {"target": target, "customizations": rules}}]
    }
    assert apply(kubeconfig, "--feature-gates", "MultiplePodTemplatesScheduling=true").exit_code == 0


def test_what_was_applied_is_taken_back_cleanly(kubeconfig: Path) -> None:
    ApiServer.held[CONFIGURATION] = registration()
    result = CliRunner().invoke(command, ["--remove", "--kubeconfig", str(kubeconfig)])
    assert result.exit_code == 0, result.output
    assert "resourceinterpreterwebhookconfigurations/interp removed" in result.output
    assert "validatingwebhookconfigurations/interp-admission is not there" in result.output
    assert [(path, method) for path, method, _ in ApiServer.received] == [(CONFIGURATION, "DELETE")]


def test_touching_an_object_leaves_no_trace(kubeconfig: Path) -> None:
    hold(CAST, ["InterpretComponent"])
    result = apply(kubeconfig, "--touch")
    assert "Karmada is asking again about 1 object" in result.output
    _, (path, kind, set_), (_, _, unset) = ApiServer.received
    assert path == "/apis/stage.example.org/v1/namespaces/globe/acts/hamlet"
    assert kind == "application/merge-patch+json"
    assert list(set_["metadata"]["annotations"]) == ["interp.dev/touched"]
    assert unset == {"metadata": {"annotations": {"interp.dev/touched": None}}}


CONFIGURATIONS = CONFIGURATION.rpartition("/")[0]
COUNTED = {**RULE, "operations": ["InterpretReplica"]}
EVERYTHING = {"apiGroups": ["*"], "apiVersions": ["*"], "kinds": ["*"], "operations": ["*"]}
INSTEAD = "Karmada asks the webhook of {} for "
OTHERS = [  # the other configuration, its rule, the only operation of ours if not all, the gate, part of what is said
    ("another", COUNTED, "", "false", ""),  # it counts now and goes on counting
    ("another", EVERYTHING, "", "false", INSTEAD.format("another")),
    ("interp-old", EVERYTHING, "", "true", INSTEAD.format("interp-old")),
    ("later", COUNTED, "", "true", "it is divided now (east 4, west 2) and would go whole"),
    ("later", EVERYTHING, "InterpretHealth", "false", ""),
]


@pytest.mark.parametrize(("name", "rule", "only", "gate", "said"), OTHERS)
def test_what_another_webhook_answers_is_neither_lost_nor_ours(
    kubeconfig: Path, name: str, rule: dict[str, Any], only: str, gate: str, said: str
) -> None:
    hold(DIVIDED, [])
    ApiServer.held[CONFIGURATIONS] = {"items": [{"metadata": {"name": name}, "webhooks": [{"rules": [rule]}]}]}
    operations = ["--operations", only] if only else []
    result = apply(kubeconfig, "--feature-gates", f"MultiplePodTemplatesScheduling={gate}", *operations)
    assert said in result.output
    assert (result.exit_code == 1) is ("would go whole" in said), result.output


REMOVED = [  # what is registered, the options, the exit code, what is said
    (["InterpretReplica"], [], 1, "Act globe/hamlet: it is divided now (east 4, west 2) and would go whole"),
    (["InterpretReplica"], ["--yes"], 0, "interp removed"),
    (["InterpretHealth"], [], 0, "interp removed"),
    (["InterpretReplica"], ["--apply"], 2, "leave --apply out"),
]


@pytest.mark.parametrize(("registered", "options", "code", "said"), REMOVED)
def test_a_division_that_is_lost_by_removing_is_named(
    kubeconfig: Path, registered: list[str], options: list[str], code: int, said: str
) -> None:
    hold(DIVIDED if registered == ["InterpretReplica"] else CAST, registered)
    result = CliRunner().invoke(command, ["--remove", "--kubeconfig", str(kubeconfig), *options])
    assert result.exit_code == code, result.output
    assert said in result.output
    assert bool(ApiServer.received) is (code == 0)


def test_yes_without_anything_to_say_yes_to_is_misuse() -> None:
    result = CliRunner().invoke(command, ["--yes"])
    assert (result.exit_code, "give one of them" in result.output) == (2, True), result.output
