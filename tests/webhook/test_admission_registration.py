"""`interp register --admission`: where /admit is, what it is asked about, and what happens while nobody answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from certs.folder import make_folder
from interp.verbs.register import command
from interpreters.core.kinds import GroupVersionKind
from tests.webhook.api_server import ApiServer, api_server
from tests.webhook.server import SCRIPTS
from webhook.registration.admission import (
    SYSTEM_NAMESPACES,
    Admission,
    admission_configuration,
    admits,
    namespace_of_host,
)

CRD = GroupVersionKind("stage.example.org", "v1", "Act")
JOB = GroupVersionKind("batch", "v1", "Job")
URL = ["--url", "https://localhost:8443"]
SERVICE = ["--service", "karmada-system/interp:8443"]


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Iterator[Path]:
    with api_server(tmp_path) as file:
        yield file


def register(folder: Path, *arguments: str) -> Result:
    if not (folder / "ca.crt").exists():
        make_folder(folder, ["localhost"])
    flags = ["--scripts", str(SCRIPTS / "stage.example.org"), "--bundled-language", "none", "--kinds", "Act",
             "--ca", str(folder / "ca.crt")]  # fmt: skip
    return CliRunner().invoke(command, [*flags, *arguments])


def webhooks(result: Result) -> dict[str, Any]:
    assert result.exit_code == 0, f"{result.output}{result.exception}"
    _, admission = yaml.safe_load_all(result.stdout)
    return {webhook["name"].partition(".")[0]: webhook for webhook in admission["webhooks"]}


PLACES = [  # clientConfig, port of the second listener, where /admit is
    ({"url": "https://interp.example.org:8443/interpret/s3cret"}, None, "https://interp.example.org:8443/admit"),
    ({"url": "https://interp.example.org:8443/interpret"}, 9443, "https://interp.example.org:9443/admit"),
    ({"url": "https://[::1]:8443/interpret"}, 9443, "https://[::1]:9443/admit"),
    ({"url": "https://interp.example.org/interpret"}, 9443, "https://interp.example.org:9443/admit"),
    ({"service": {"namespace": "n", "name": "s", "port": 443, "path": "/interpret"}}, 9443,
     {"namespace": "n", "name": "s", "port": 9443, "path": "/admit"}),
]  # fmt: skip


@pytest.mark.parametrize(("client", "port", "place"), PLACES)
def test_admission_is_registered_where_it_is_served(client: dict[str, Any], port: int | None, place: Any) -> None:
    made = admission_configuration(client, [CRD], Admission("a.b", 5, port))
    config = made["webhooks"][0]["clientConfig"]
    assert (config.get("url") or config["service"]) == place


POLICIES = [  # what is asked for, the policy of workloads and bindings, what is said of it
    ([], "Ignore", "failurePolicy Ignore: while interp does not answer, workloads and bindings pass uncharged"),
    (["--failure-policy", "Ignore"], "Ignore", "a reconcile charges them later, `interp audit` shows what is over"),
    (
        ["--failure-policy", "Fail"],
        "Fail",
        "while interp does not answer, nobody creates or changes workloads (1 kind)",
    ),
]


@pytest.mark.parametrize(("asked", "policy", "said"), POLICIES)
def test_the_failure_policy_is_chosen_and_its_consequence_said(
    tmp_path: Path, asked: list[str], policy: str, said: str
) -> None:
    result = register(tmp_path, *URL, "--admission", *asked)
    found = {name: webhook["failurePolicy"] for name, webhook in webhooks(result).items()}
    open_ended = {"deletions": "Ignore", "policies": "Ignore"}
    assert found == {"workloads": policy, "bindings": policy, "scales": policy, **open_ended}
    assert said in result.stderr


def test_no_more_is_asked_for_than_is_needed() -> None:
    made = admission_configuration({"url": "https://x/interpret"}, [JOB, CRD], Admission("a.b", 5), [CRD])
    asked = {webhook["name"].partition(".")[0]: webhook for webhook in made["webhooks"]}
    resources = {name: [(rule["resources"], rule["operations"]) for rule in webhook["rules"]]
                 for name, webhook in asked.items()}  # fmt: skip
    both, gone = ["CREATE", "UPDATE"], ["DELETE"]
    assert resources == {
        "workloads": [(["jobs"], both), (["*"], both)],
        "bindings": [(["resourcebindings"], both)],
        "scales": [(["acts/scale"], ["UPDATE"])],
        "deletions": [(["jobs"], gone), (["*"], gone), (["resourcebindings"], gone)],
        "policies": [(["propagationpolicies", "clusterpropagationpolicies"], both)],
    }
    conditions = {name: [one["name"] for one in webhook.get("matchConditions", ())] for name, webhook in asked.items()}
    outside = "not-an-execution-namespace"
    assert conditions == {
        "workloads": [outside, "a-kind-whose-pods-are-known", "not-on-its-way-out"],
        "bindings": [outside, "not-on-its-way-out", "spec-changes"],
        "scales": [outside, "more-replicas"],
        "deletions": [outside],
        "policies": [],
    }
    kinds = asked["workloads"]["matchConditions"][1]["expression"]
    assert kinds.endswith("in ['batch/Job', 'stage.example.org/Act']")
    assert not any("objectSelector" in webhook for webhook in asked.values()), "a label would walk around the quota"
    assert {webhook["matchPolicy"] for webhook in asked.values()} == {"Equivalent"}
    assert {webhook["sideEffects"] for webhook in asked.values()} == {"NoneOnDryRun"}


def test_without_a_known_kind_bindings_are_still_charged() -> None:
    made = admission_configuration({"url": "https://x/interpret"}, [], Admission("a.b", 5))
    assert [webhook["name"] for webhook in made["webhooks"]] == ["bindings.a.b", "deletions.a.b", "policies.a.b"]


HOSTS = [  # host, interp's own namespace
    ("interp-webhook.karmada-system.svc", "karmada-system"),
    ("interp.hooks.svc.cluster.local.", "hooks"),
    ("localhost", None),
    ("hooks.example.org", None),
    ("10.0.0.1", None),
]


@pytest.mark.parametrize(("host", "namespace"), HOSTS)
def test_interp_does_not_stand_in_its_own_way(host: str, namespace: str | None) -> None:
    assert namespace_of_host(host) == namespace


NAMESPACES = [  # labels wanted, labels there, whether the namespace is asked about
    ({}, {}, True),
    ({"quota": None}, {}, False),
    ({"quota": None}, {"quota": ""}, True),
    ({"quota": "hard"}, {"quota": "soft"}, False),
    ({"quota": "hard", "team": None}, {"quota": "hard", "team": "a"}, True),
]


@pytest.mark.parametrize(("wanted", "there", "asked"), NAMESPACES)
def test_namespaces_are_chosen_by_their_labels(
    wanted: dict[str, str | None], there: dict[str, str], asked: bool
) -> None:
    admission = Admission("a.b", 5, labels=wanted, exempt=["own"])
    assert admits(admission, "team-a", there) is asked
    assert not any(admits(admission, name, there) for name in (*SYSTEM_NAMESPACES, "own"))


def test_the_selector_says_the_same(tmp_path: Path) -> None:
    more = ["--namespace-label", "quota", "--namespace-label", "tier=gold", "--exempt-namespace", "databases"]
    result = register(tmp_path, *URL, "--admission", *more)
    names, *labels = webhooks(result)["workloads"]["namespaceSelector"]["matchExpressions"]
    assert names == {"key": "kubernetes.io/metadata.name", "operator": "NotIn",
                     "values": sorted([*SYSTEM_NAMESPACES, "databases"])}  # fmt: skip
    assert labels == [{"key": "quota", "operator": "Exists"},
                      {"key": "tier", "operator": "In", "values": ["gold"]}]  # fmt: skip
    assert "in namespaces labelled quota, tier=gold" in result.stderr


MISUSES = [  # arguments, what is said
    ([*URL, "--failure-policy", "Fail"], "--failure-policy goes with --admission"),
    ([*URL, "--namespace-label", "quota"], "--namespace-label goes with --admission"),
    ([*URL, "--exempt-namespace", "x"], "--exempt-namespace goes with --admission"),
    ([*URL, "--admission-port", "9443"], "--admission-port goes with --admission"),
    ([*URL, "--admission", "--failure-policy", "Open"], "'Open' is not one of 'Ignore', 'Fail'"),
    ([*URL, "--admission", "--namespace-label", "=x"], '"=x": expected a label of namespaces, KEY or KEY=VALUE'),
    ([*URL, "--admission", "--namespace-label", "a=b", "--namespace-label", "a=c"], '"a" is asked for with two values'),
    ([*URL, "--admission", "--exempt-namespace", ""], '"" is no name of a namespace'),
    ([*URL, "--admission", "--exempt-namespace", "Team_A"], '"Team_A" is no name of a namespace'),
    ([*SERVICE, "--admission"], "--url https://interp.karmada-system.svc:8443, or make a Service of type ExternalName"),
]


@pytest.mark.parametrize(("arguments", "said"), MISUSES)
def test_misuse_is_refused_with_what_to_do(tmp_path: Path, arguments: list[str], said: str) -> None:
    result = register(tmp_path, *arguments)
    assert result.exit_code != 0
    assert said in f"{result.output}{result.exception}"
    assert result.stdout == ""


SERVICES = [  # the Service that the API server has, what is said of it; nothing when it is found there
    (None, "has no such Service: Karmada's API server looks a Service up in its own store"),
    ({"clusterIP": "10.0.0.7"}, "it is of type ClusterIP, and no network leads to a Service of the Karmada API server"),
    ({"type": "ExternalName", "externalName": "hooks.example.org"}, ""),
]


@pytest.mark.parametrize(("spec", "said"), SERVICES)
def test_a_service_is_taken_only_where_the_api_server_resolves_it(
    kubeconfig: Path, spec: dict[str, Any] | None, said: str
) -> None:
    if spec is not None:
        ApiServer.held["/api/v1/namespaces/karmada-system/services/interp"] = {"spec": spec}
    result = register(kubeconfig.parent, *SERVICE, "--admission", "--apply", "--kubeconfig", str(kubeconfig))
    if said:
        assert said in str(result.exception)
        assert not ApiServer.received, "nothing was applied"
    else:
        assert result.exit_code == 0, result.output
        assert len(ApiServer.received) == 2


def test_quotas_that_nobody_would_enforce_are_named(kubeconfig: Path) -> None:
    places = {"team-a": {}, "team-b": {"quota": "on"}, "kube-system": {"quota": "on"}}
    quotas = [{"metadata": {"namespace": name, "name": "compute"}} for name in places]
    ApiServer.held["/apis/policy.karmada.io/v1alpha1/federatedresourcequotas"] = {"items": quotas}
    for name, labels in places.items():
        ApiServer.held[f"/api/v1/namespaces/{name}"] = {"metadata": {"name": name, "labels": labels}}
    more = ["--admission", "--namespace-label", "quota=on", "--apply", "--kubeconfig", str(kubeconfig)]
    result = register(kubeconfig.parent, *URL, *more)
    assert [line for line in result.stderr.splitlines() if "not enforced" in line] == [
        "warning: namespace kube-system has a quota (compute) that is not enforced: it is left out",
        "warning: namespace team-a has a quota (compute) that is not enforced: it lacks a label; "
        "`kubectl label namespace team-a quota=on`",
    ]
