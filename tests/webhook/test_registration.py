"""What may be registered with Karmada. Breaking one of these rules scales somebody's workload to zero."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from certs.folder import make_folder
from interp.verbs.register import command
from interpreters.catalog import Catalog
from interpreters.core.engine import Script
from interpreters.core.errors import InputError, ScriptSyntaxError
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.operations import BY_NAME, OPERATIONS
from interpreters.interpretation import load_functions
from interpreters.sandbox.runner import SandboxRunner
from interpreters.scan import Candidate, Origin, Source, scan
from webhook.admission_registration import admission_configuration
from webhook.registration import Plan, check_rules, client_config, configuration, is_native, plan_registration
from webhook.zero_proof import zero_proof

PEM = b"-----BEGIN CERTIFICATE-----\nMAo=\n-----END CERTIFICATE-----\n"
CRD = GroupVersionKind("stage.example.org", "v1", "Act")
COMPONENTS = "def GetComponents(obj):\n    return []\n"
HARMLESS = "def ReviseReplica(obj, replicas):\n    return obj\n"
OBEYING = "def ReviseReplica(obj, replicas):\n    obj['spec']['replicas'] = replicas\n    return obj\n"
FAILING = "def ReviseReplica(obj, replicas):\n    fail('no')\n"
SAMPLE = {"apiVersion": "stage.example.org/v1", "kind": "Act", "metadata": {"name": "hamlet"}, "spec": {"replicas": 2}}


@pytest.fixture(scope="module")
def runner() -> Iterator[SandboxRunner]:
    with SandboxRunner() as runner:
        yield runner


def catalog_of(runner: SandboxRunner, kind: GroupVersionKind, text: str) -> Catalog:
    found = [Candidate(kind, Script("act.star", "starlark", text), Source(Origin.FOLDER, 0, "here"))]
    return Catalog.build(found, load_functions(runner, found))


def planned(runner: SandboxRunner, kind: GroupVersionKind, text: str, samples: list[Any], **narrowed: Any) -> Plan:
    catalog = catalog_of(runner, kind, text)
    return plan_registration(catalog, zero_proof(runner, catalog, samples), **narrowed)


ZERO = [  # the script, objects to prove it on, operations registered, part of the reason for what is left out
    (COMPONENTS + HARMLESS, [SAMPLE], ["InterpretComponent", "ReviseReplica"], ""),
    (COMPONENTS + OBEYING, [SAMPLE], [], "it changed /spec/replicas of sample hamlet"),
    (COMPONENTS + FAILING, [SAMPLE], [], "it failed on sample hamlet"),
    (COMPONENTS + HARMLESS, [], [], "no case shows it an object"),
    (COMPONENTS, [SAMPLE], [], "no script answers ReviseReplica"),
    (OBEYING, [SAMPLE], ["ReviseReplica"], ""),  # one template only: 0 means 0
    ("def Prune(obj):\n    return obj\n" + HARMLESS, [SAMPLE], ["ReviseReplica"], "does not let it be registered"),
]


@pytest.mark.parametrize(("text", "samples", "registered", "reason"), ZERO)
def test_components_are_registered_only_with_a_revision_seen_to_do_nothing_at_zero(
    runner: SandboxRunner, text: str, samples: list[Any], registered: list[str], reason: str
) -> None:
    plan = planned(runner, CRD, text, samples)
    assert [operation.name for operation in plan.tuples.get(CRD, ())] == registered
    assert any(reason in str(refusal) for refusal in plan.refusals) if reason else not plan.refusals


def test_narrowing_to_components_without_their_revision_leaves_them_out(runner: SandboxRunner) -> None:
    plan = planned(runner, CRD, COMPONENTS + HARMLESS, [SAMPLE], wanted_operations=[BY_NAME["InterpretComponent"]])
    assert plan.tuples == {}
    assert "without ReviseReplica registered too" in str(plan.refusals[0])


NATIVE = [  # group, is it Kubernetes' own
    ("", True), ("apps", True), ("batch", True), ("autoscaling", True), ("networking.k8s.io", True),
    ("rbac.authorization.k8s.io", True), ("flink.apache.org", False), ("sparkoperator.k8s.io", False),
    ("jobset.x-k8s.io", False), ("ray.io", False),
]  # fmt: skip


@pytest.mark.parametrize(("group", "native"), NATIVE)
def test_native_kinds_are_never_registered_whatever_their_scripts_offer(
    runner: SandboxRunner, group: str, native: bool
) -> None:
    kind = GroupVersionKind(group, "v1", "Thing")
    sample = {**SAMPLE, "apiVersion": kind.api_version, "kind": "Thing"}
    assert is_native(kind) is native
    assert (kind in planned(runner, kind, COMPONENTS + HARMLESS, [sample]).tuples) is not native


def test_every_bundled_script_keeps_the_rules(runner: SandboxRunner) -> None:
    found = scan(bundled="lua")
    catalog = Catalog.build(found, load_functions(runner, found))
    plan = plan_registration(catalog, zero_proof(runner, catalog))
    assert len(plan.tuples) > 10
    for kind, operations in plan.tuples.items():
        names = {operation.name for operation in operations}
        assert not is_native(kind)
        assert "Prune" not in names
        assert "InterpretComponent" not in names or "ReviseReplica" in names
    check_rules(plan.rules())


names = st.sampled_from(["a", "b", "c"])
tuples = st.dictionaries(
    st.builds(GroupVersionKind, names, names, names),
    st.lists(st.sampled_from([one for one in OPERATIONS if one.registrable]), min_size=1, unique=True).map(tuple),
    min_size=1,
)


@given(tuples)
def test_grouped_rules_mean_exactly_the_tuples_and_no_other_combination(wanted: dict[Any, Any]) -> None:
    meant = {
        combination
        for rule in Plan(wanted, ()).rules()
        for combination in product(rule["apiGroups"], rule["apiVersions"], rule["kinds"], rule["operations"])
    }
    assert meant == {(*kind, operation.name) for kind, operations in wanted.items() for operation in operations}


PLAN = Plan({CRD: (BY_NAME["InterpretHealth"],)}, ())
REFUSED = [  # what is asked for, part of the reason
    (lambda: client_config(PEM, url="http://example.org/interpret"), "https"),
    (lambda: client_config(PEM, url="https://example.org/interpret?x=1"), "a query"),
    (lambda: client_config(PEM, url="https://example.org/interpret?"), "a query"),
    (lambda: client_config(PEM, url="https://example.org/interpret#x"), "a fragment"),
    (lambda: client_config(PEM, url="https://me@example.org/interpret"), "a user"),
    (lambda: client_config(PEM, url="https:///interpret"), "a host"),
    (lambda: client_config(PEM), "either --url or --service"),
    (lambda: client_config(PEM, url="https://x", service="a/b"), "either --url or --service"),
    (lambda: client_config(PEM, service="interp"), "namespace/name"),
    (lambda: client_config(PEM, service="a/b:0"), "namespace/name"),
    (lambda: client_config(PEM, service="a/b", path="interpret"), "a path"),
    (lambda: client_config(b"", url="https://x"), "PEM"),
    (lambda: configuration(PLAN, {}, name="interp"), "joined by dots"),
    (lambda: configuration(PLAN, {}, name="interp."), "joined by dots"),
    (lambda: configuration(PLAN, {}, name="Interp.Webhook"), "lower-case"),
    (lambda: configuration(PLAN, {}, name="a.b", timeout=0), "1 to 30"),
    (lambda: configuration(PLAN, {}, name="a.b", timeout=31), "1 to 30"),
    (lambda: configuration(Plan({}, ()), {}, name="a.b"), "nothing to register"),
    (lambda: check_rules([{"apiGroups": ["*", "a"], "apiVersions": ["v1"], "kinds": ["K"], "operations": ["Retain"]}]),
     "* stands alone"),
    (lambda: check_rules([{"apiGroups": ["a"], "apiVersions": ["v1"], "kinds": [], "operations": ["Retain"]}]),
     "must not be empty"),
    (lambda: check_rules([{"apiGroups": ["a"], "apiVersions": ["v1"], "kinds": ["K"], "operations": ["Prune"]}]),
     "cannot be registered"),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "reason"), REFUSED)
def test_what_karmada_would_refuse_is_refused_first(asked: Any, reason: str) -> None:
    with pytest.raises(InputError) as error:
        asked()
    assert reason in str(error.value)


def test_a_broken_script_is_not_registered_around_unless_it_is_not_wanted(tmp_path: Path) -> None:
    make_folder(tmp_path, ["localhost"])
    for kind, text in (("Act", COMPONENTS + HARMLESS), ("Scene", "def GetComponents(obj:\n")):
        folder = tmp_path / "scripts/stage.example.org/v1" / kind
        folder.mkdir(parents=True)
        (folder / "interpreter.star").write_text(text)
    arguments = ["--service", "karmada-system/interp:8443", "--ca", str(tmp_path / "ca.crt"),
                 "--scripts", str(tmp_path / "scripts")]  # fmt: skip
    refused = CliRunner().invoke(command, arguments)
    assert isinstance(refused.exception, ScriptSyntaxError)
    assert "Scene" in str(refused.exception)
    assert refused.stdout == ""
    narrowed = CliRunner().invoke(command, [*arguments, "--kinds", "FlinkDeployment"])
    assert narrowed.exit_code == 0, narrowed.output


def test_the_command_prints_what_karmada_takes(tmp_path: Path) -> None:
    make_folder(tmp_path, ["localhost"])
    folder = tmp_path / "scripts/stage.example.org/v1/Act"
    folder.mkdir(parents=True)
    (folder / "interpreter.star").write_text(COMPONENTS + HARMLESS + "def Prune(obj):\n    return obj\n")
    sample = tmp_path / "sample.yaml"
    sample.write_text(yaml.safe_dump(SAMPLE))
    arguments = ["--service", "karmada-system/interp:8443", "--ca", str(tmp_path / "ca.crt"),
                 "--bundled-language", "none", "--scripts", str(tmp_path / "scripts"),
                 "--sample", str(sample), "--admission"]  # fmt: skip
    result = CliRunner().invoke(command, arguments)
    assert result.exit_code == 0, result.output
    assert "left out: stage.example.org/v1 Act Prune" in result.stderr
    interpreter, admission = yaml.safe_load_all(result.stdout)
    (webhook,) = interpreter["webhooks"]
    assert webhook["rules"] == [
        {"apiGroups": ["stage.example.org"], "apiVersions": ["v1"], "kinds": ["Act"],
         "operations": ["InterpretComponent", "ReviseReplica"]}
    ]  # fmt: skip
    service = {"namespace": "karmada-system", "name": "interp", "port": 8443, "path": "/interpret"}
    assert webhook["clientConfig"]["service"] == service
    assert base64.b64decode(webhook["clientConfig"]["caBundle"]) == (tmp_path / "ca.crt").read_bytes()
    assert webhook["timeoutSeconds"] == 10
    quota, policy = admission["webhooks"]
    assert quota["clientConfig"]["service"]["path"] == "/admit"
    assert [rule["resources"] for rule in quota["rules"]] == [["*"], ["resourcebindings"]]
    assert {webhook["sideEffects"] for webhook in (quota, policy)} == {"NoneOnDryRun"}
    assert "karmada-system" in quota["namespaceSelector"]["matchExpressions"][0]["values"]
    narrowed = CliRunner().invoke(command, [*arguments[:-1], "--operations", "InterpretHealth"])
    assert "nothing to register" in str(narrowed.exception)
    as_json = CliRunner().invoke(command, [*arguments[:-1], "-o", "json"])
    assert json.loads(as_json.stdout)["kind"] == "ResourceInterpreterWebhookConfiguration"


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
    made = admission_configuration(client, [CRD], name="a.b", timeout=5, port=port)
    config = made["webhooks"][0]["clientConfig"]
    assert (config.get("url") or config["service"]) == place
