"""What may be registered with Karmada. Breaking one of these rules scales somebody's workload to zero."""

from __future__ import annotations

import base64
import json
import re
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
from interpreters.core.division import Division
from interpreters.core.engine import Script
from interpreters.core.errors import InputError, ScriptSyntaxError
from interpreters.core.karmada.answers import is_native
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.operations import BY_NAME, OPERATIONS
from interpreters.division_proof import CaseProof, shares
from interpreters.headers import script_header
from interpreters.interpretation import load_functions
from interpreters.sandbox.runner import SandboxRunner
from interpreters.scan import Candidate, Origin, Source, scan
from webhook.registration.client import client_config
from webhook.registration.configuration import check_rules, configuration
from webhook.registration.plan import KindPlan, Plan, plan_registration
from webhook.registration.rules import Wishes

PEM = b"-----BEGIN CERTIFICATE-----\nMAo=\n-----END CERTIFICATE-----\n"
CRD = GroupVersionKind("stage.example.org", "v1", "Act")
COMPONENTS = "def GetComponents(obj):\n    return []\n"
REPLICAS = "def GetReplicas(obj):\n    return obj['spec']['replicas']\n"
HARMLESS = "def ReviseReplica(obj, replicas):\n    return obj\n"
SHARING = "def ReviseReplica(obj, replicas):\n    obj['spec']['replicas'] = replicas\n    return obj\n"
HALVING = "def ReviseReplica(obj, replicas):\n    obj['spec']['replicas'] = replicas // 2\n    return obj\n"
STAMPING = "def ReviseReplica(obj, replicas):\n    obj['spec'] = {'replicas': replicas, 'x': 1}\n    return obj\n"
GROWING = (
    "def ReviseReplica(obj, n):\n    obj['spec']['cpu'] = obj['spec']['replicas'] // n\n    return shared(obj, n)\n"
)
RENAMING = (
    "def ReviseReplica(obj, n):\n    obj['metadata']['name'] += '2' if n == 1 else ''\n    return shared(obj, n)\n"
)
SHARED = "def shared(obj, n):\n    obj['spec']['replicas'] = n\n    return obj\n"
SIZED = "def GetReplicas(obj):\n    return obj['spec']['replicas'], {'resourceRequest': {'cpu': obj['spec']['cpu']}}\n"
FAILING = "def ReviseReplica(obj, replicas):\n    fail('no')\n"
SAMPLE = {"apiVersion": "stage.example.org/v1", "kind": "Act", "metadata": {"name": "hamlet"}, "spec": {"replicas": 2}}
SINGLE = {**SAMPLE, "spec": {"replicas": 1}}
SIZED_SAMPLE = {**SAMPLE, "spec": {"replicas": 2, "cpu": 1}}
WHOLE, DIVIDES, KARMADA = ("# Division: whole\n", "# Division: divides\n", "# Division: karmada\n")
CLONESET = GroupVersionKind("apps.kruise.io", "v1alpha1", "CloneSet")  # Karmada counts and revises it
FLINK = GroupVersionKind("flink.apache.org", "v1beta1", "FlinkDeployment")  # Karmada counts it, nothing revises it
THREE = COMPONENTS + REPLICAS


@pytest.fixture(scope="module")
def runner() -> Iterator[SandboxRunner]:
    with SandboxRunner() as runner:
        yield runner


def catalog_of(runner: SandboxRunner, kind: GroupVersionKind, text: str) -> Catalog:
    script = Script("act.star", "starlark", text)
    found = [Candidate(kind, script, Source(Origin.FOLDER, 0, "here"), header=script_header(text))]
    return Catalog.build(found, load_functions(runner, found))


def planned(runner: SandboxRunner, kind: GroupVersionKind, text: str, samples: list[Any], **narrowed: Any) -> Plan:
    catalog = catalog_of(runner, kind, text)
    return plan_registration(catalog, CaseProof(runner, catalog, samples), **narrowed)


DIVISION = [  # kind, script, objects to prove it on, operations registered, part of the reason for what is left out
    (CRD, WHOLE + COMPONENTS, [SAMPLE], ["InterpretComponent"], ""),
    (CRD, WHOLE + THREE + SHARING, [SAMPLE], ["InterpretComponent"], "a revision could only do harm"),
    (CRD, WHOLE + THREE + HARMLESS, [SAMPLE], ["InterpretComponent"], "a Divided policy would share it out"),
    (CRD, DIVIDES + THREE + SHARING, [SAMPLE], ["InterpretReplica", "ReviseReplica"], "send all of its pods to every"),
    (CRD, DIVIDES + REPLICAS + HARMLESS, [SAMPLE], [], "asked for 1 of 2 replicas, it made 2"),
    (CRD, DIVIDES + REPLICAS + HALVING, [SAMPLE], [], "asked for 1 of 2 replicas, it made 0"),
    (CRD, DIVIDES + REPLICAS + STAMPING, [SAMPLE], [], "asked for all 2 replicas of sample hamlet it changed /spec/x"),
    (CRD, DIVIDES + REPLICAS + FAILING, [SAMPLE], [], "no object could be divided"),
    (CRD, DIVIDES + REPLICAS + SHARING, [], [], "no case shows it an object"),
    (CRD, DIVIDES + REPLICAS + SHARING, [SINGLE], [], "none has more than one replica"),
    (
        CRD,
        DIVIDES + SIZED + SHARED + GROWING,
        [SIZED_SAMPLE],
        [],
        "asked for 1 of 2 replicas, it made pods that ask for more cpu",
    ),
    (
        CRD,
        DIVIDES + REPLICAS + SHARED + RENAMING,
        [SAMPLE],
        [],
        "it changed /metadata/name: Karmada would lose the object",
    ),
    (CRD, DIVIDES + WHOLE + THREE + SHARING, [SAMPLE], [], "Division: declared as divides and as whole"),
    (CRD, DIVIDES + DIVIDES + REPLICAS + SHARING, [SAMPLE], ["InterpretReplica", "ReviseReplica"], ""),
    (CRD, DIVIDES + REPLICAS, [SAMPLE], [], "no script answers ReviseReplica"),
    (CRD, DIVIDES + SHARING, [SAMPLE], [], "no script answers InterpretReplica"),
    (CRD, KARMADA + THREE + SHARING, [SAMPLE], [], "Karmada's own scripts count and divide it"),
    (CRD, THREE + SHARING, [SAMPLE], [], 'add "# Division: whole" (or divides)'),
    (CRD, "# Division: sometimes\n" + COMPONENTS, [SAMPLE], [], "expected one of divides, whole, karmada"),
    (CRD, "def Prune(obj):\n    return obj\n", [SAMPLE], [], "does not let it be registered"),
    (CLONESET, WHOLE + THREE + HARMLESS, [SAMPLE], ["InterpretComponent", "ReviseReplica"], "would share it out"),
    (CLONESET, WHOLE + THREE + SHARING, [SAMPLE], [], "asked for 0 it changed /spec/replicas of sample hamlet"),
    (CLONESET, WHOLE + COMPONENTS, [SAMPLE], [], "Karmada's own ReviseReplica would be asked, with replicas 0"),
    (FLINK, WHOLE + THREE + SHARING, [SAMPLE], ["InterpretReplica", "InterpretComponent"], "could only do harm"),
]


@pytest.mark.parametrize(("kind", "text", "samples", "registered", "reason"), DIVISION)
def test_what_a_script_declares_and_proves_decides_what_is_registered(
    runner: SandboxRunner, kind: GroupVersionKind, text: str, samples: list[Any], registered: list[str], reason: str
) -> None:
    of_kind = [{**sample, "apiVersion": kind.api_version, "kind": kind.kind} for sample in samples]
    plan = planned(runner, kind, text, of_kind)
    assert [operation.name for operation in plan.tuples.get(kind, ())] == registered
    assert any(reason in str(refusal) for refusal in plan.refusals) if reason else not plan.refusals


WISHES = [  # script, wish, operations registered, or part of the refusal
    (WHOLE + THREE + HARMLESS, "count", ["InterpretReplica", "InterpretComponent", "ReviseReplica"]),
    (WHOLE + THREE + SHARING, "count", "--count Act: act.star must leave a whole object alone"),
    (DIVIDES + THREE + SHARING, "count", "--count is for kinds that go whole"),
    (KARMADA + THREE + SHARING, "divide", ["InterpretReplica", "ReviseReplica"]),
    (WHOLE + COMPONENTS, "count", "--count Act: no script answers InterpretReplica"),
    (DIVIDES + REPLICAS, "divide", "--divide Act: no script answers ReviseReplica"),
    (DIVIDES + THREE + SHARING, "divide count", "not both"),
    (WHOLE + THREE + HARMLESS, "divide", "--divide Act: of sample hamlet, asked for 1 of 2 replicas, it made 2"),
]


@pytest.mark.parametrize(("text", "wish", "registered"), WISHES)
def test_explicit_wishes_are_granted_where_they_hold_and_refused_loudly_where_not(
    runner: SandboxRunner, text: str, wish: str, registered: list[str] | str
) -> None:
    wishes = Wishes(**{flag: lambda kind: kind == CRD for flag in wish.split()})  # type: ignore[arg-type]
    if isinstance(registered, str):
        with pytest.raises(InputError, match=re.escape(registered)):
            planned(runner, CRD, text, [SAMPLE], wishes=wishes)
    else:
        plan = planned(runner, CRD, text, [SAMPLE], wishes=wishes)
        assert [operation.name for operation in plan.tuples[CRD]] == registered


def test_an_object_may_refuse_to_be_divided_where_another_can_be(runner: SandboxRunner) -> None:
    refusing = (
        "def ReviseReplica(obj, replicas):\n"
        "    if obj['spec'].get('fixed'):\n        fail('fixed')\n"
        "    obj['spec']['replicas'] = replicas\n    return obj\n"
    )
    fixed = {**SAMPLE, "spec": {"replicas": 2, "fixed": True}}
    plan = planned(runner, CRD, DIVIDES + REPLICAS + refusing, [fixed, SAMPLE])
    assert [operation.name for operation in plan.tuples[CRD]] == ["InterpretReplica", "ReviseReplica"]
    assert planned(runner, CRD, DIVIDES + REPLICAS + refusing, [fixed]).tuples == {}


NARROWED = [  # script, the only operation wanted: without its partner it would do harm
    (DIVIDES + REPLICAS + SHARING, "InterpretReplica"),
    (DIVIDES + REPLICAS + SHARING, "ReviseReplica"),
]


@pytest.mark.parametrize(("text", "only"), NARROWED)
def test_narrowing_to_half_of_a_division_leaves_it_out(runner: SandboxRunner, text: str, only: str) -> None:
    plan = planned(runner, CRD, text, [SAMPLE], wanted_operations=[BY_NAME[only]])
    assert plan.tuples == {}
    assert "--operations leaves it out" in str(plan.refusals[0])


@given(st.integers(0, 10**6))
def test_a_proof_tries_every_share_of_a_few_and_the_edges_of_many(total: int) -> None:
    tried = shares(total)
    assert tried == sorted(set(tried))
    assert len(tried) <= 48
    assert tried == list(range(1, total + 1)) if total <= 48 else {1, 2, total - 1, total} <= set(tried)


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
    assert (kind in planned(runner, kind, WHOLE + COMPONENTS, [sample]).tuples) is not native


BUNDLED = {  # what each bundled kind registers by default; nothing where Karmada's own answers are good
    "argoproj.io/v1alpha1/Workflow": "AggregateStatus",
    "batch.volcano.sh/v1alpha1/Job": "InterpretComponent InterpretDependency",
    "flink.apache.org/v1beta1/FlinkDeployment": "InterpretReplica InterpretComponent InterpretDependency",
    "kubeflow.org/v1/PyTorchJob": "InterpretComponent",
    "kubeflow.org/v1/TFJob": "InterpretComponent",
    "kubeflow.org/v2beta1/MPIJob": "InterpretComponent InterpretDependency",
    "ray.io/v1/RayCluster": "InterpretComponent Retain InterpretDependency",
    "ray.io/v1/RayJob": "InterpretComponent",
    "sparkoperator.k8s.io/v1beta2/SparkApplication": "InterpretComponent InterpretDependency",
} | dict.fromkeys(
    [
        "jobset.x-k8s.io/v1alpha2/JobSet", "kubeflow.org/v1/JAXJob", "kubeflow.org/v1/MPIJob", "kubeflow.org/v1/MXJob",
        "kubeflow.org/v1/PaddleJob", "kubeflow.org/v1/XGBoostJob", "leaderworkerset.x-k8s.io/v1/LeaderWorkerSet",
        "sparkoperator.k8s.io/v1beta2/ScheduledSparkApplication", "trainer.kubeflow.org/v1alpha1/TrainJob",
    ],
    "InterpretComponent AggregateStatus InterpretHealth InterpretDependency",
)  # fmt: skip


@pytest.mark.parametrize("language", ["lua", "starlark"])
def test_of_the_bundled_scripts_only_what_karmada_lacks_or_answers_wrongly_is_registered(
    runner: SandboxRunner, language: str
) -> None:
    plan = bundled_plan(runner, language)
    registered = {kind.folder: " ".join(map(str, operations)) for kind, operations in plan.tuples.items()}
    assert {folder: registered[folder] for folder in BUNDLED} == BUNDLED
    revised = {one.division for one in plan.kinds if BY_NAME["ReviseReplica"] in one.operations}
    assert revised <= {Division.DIVIDES}
    check_rules(plan.rules())


def bundled_plan(runner: SandboxRunner, language: str = "lua", **wishes: Any) -> Plan:
    found = scan(bundled=language)
    catalog = Catalog.build(found, load_functions(runner, found))
    return plan_registration(catalog, CaseProof(runner, catalog), wishes=Wishes(**wishes))


def test_with_everything_registered_kinds_divide_or_go_whole_but_never_both(runner: SandboxRunner) -> None:
    plan = bundled_plan(runner, everything=True)
    for one in plan.kinds:
        names = {operation.name for operation in one.operations}
        assert not is_native(one.kind)
        assert "Prune" not in names
        assert one.division is not None, f"{one.kind} declares no Division"
        assert ("ReviseReplica" in names) is (one.division is Division.DIVIDES), one.kind
        assert ("InterpretComponent" in names) is (one.division is Division.WHOLE), one.kind


LINES = [  # kind, wishes, how its line begins after the kind, how it ends
    ("apps.kruise.io/v1alpha1/CloneSet", {},
     "(divides): Karmada answers InterpretReplica, ReviseReplica, ",
     "--all adds Retain. How Karmada counts and divides it does not change."),
    ("apps.kruise.io/v1alpha1/CloneSet", {"everything": True},
     "(divides): InterpretReplica, ReviseReplica, ",
     ". A Divided policy shares its replicas out over clusters, with the feature gate on or off."),
    ("apps.kruise.io/v1beta1/CloneSet", {},
     "(divides): InterpretReplica, ReviseReplica, ",
     " Karmada alone cannot divide it, and sends all of them to every cluster."),
    ("argoproj.io/v1alpha1/Workflow", {}, "(karmada): AggregateStatus; ",
     "How Karmada counts and divides it does not change."),
    ("argoproj.io/v1alpha1/Workflow", {"divide": lambda kind: kind.kind == "Workflow"},
     "(karmada): InterpretReplica, ReviseReplica, AggregateStatus; ",
     " They are what interp counts, no longer what Karmada counts."),
    ("kubeflow.org/v1/TFJob", {},
     "(whole): InterpretComponent; Karmada's own InterpretComponent knows roles in exact case only; Karmada answers ",
     " Divided with a cluster spread of 1..1 chooses one that has room for all of it, or none."),
    ("kubeflow.org/v1/TFJob", {"count": lambda kind: kind.kind == "TFJob"},
     "(whole): InterpretReplica, InterpretComponent, ReviseReplica; ",
     " clusters without a share get nothing; no share is written into the object."),
    ("flink.apache.org/v1beta1/FlinkDeployment", {},
     "(whole): InterpretReplica, InterpretComponent, InterpretDependency; Karmada's own InterpretReplica reads 2048m",
     " With the gate off its pods are counted, and nothing is written into it."),
]  # fmt: skip


@pytest.mark.parametrize(("folder", "wishes", "beginning", "end"), LINES)
def test_a_line_for_each_kind_names_what_follows(
    runner: SandboxRunner, folder: str, wishes: dict[str, Any], beginning: str, end: str
) -> None:
    (line,) = (str(one) for one in bundled_plan(runner, **wishes).kinds if one.kind.folder == folder)
    _, _, told = line.partition(" (")
    assert f"({told}".startswith(beginning)
    assert line.endswith(end)
    assert "\n" not in line


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
        for rule in Plan(tuple(KindPlan(kind, None, operations) for kind, operations in wanted.items())).rules()
        for combination in product(rule["apiGroups"], rule["apiVersions"], rule["kinds"], rule["operations"])
    }
    assert meant == {(*kind, operation.name) for kind, operations in wanted.items() for operation in operations}


PLAN = Plan((KindPlan(CRD, None, (BY_NAME["InterpretHealth"],)),))
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
    (lambda: configuration(Plan(()), {}, name="a.b"), "nothing to register"),
    (lambda: check_rules([{"apiGroups": ["*", "a"], "apiVersions": ["v1"], "kinds": ["K"], "operations": ["Retain"]}]),
     "* excludes other values"),
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
    (folder / "interpreter.star").write_text(WHOLE + COMPONENTS + "def Prune(obj):\n    return obj\n")
    sample = tmp_path / "sample.yaml"
    sample.write_text(yaml.safe_dump(SAMPLE))
    arguments = ["--service", "karmada-system/interp:8443", "--ca", str(tmp_path / "ca.crt"),
                 "--bundled-language", "none", "--scripts", str(tmp_path / "scripts"),
                 "--sample", str(sample)]  # fmt: skip
    result = CliRunner().invoke(command, arguments)
    assert result.exit_code == 0, result.output
    assert "left out: stage.example.org/v1 Act Prune" in result.stderr
    (interpreter,) = yaml.safe_load_all(result.stdout)
    (webhook,) = interpreter["webhooks"]
    assert webhook["rules"] == [
        {"apiGroups": ["stage.example.org"], "apiVersions": ["v1"], "kinds": ["Act"],
         "operations": ["InterpretComponent"]}
    ]  # fmt: skip
    service = {"namespace": "karmada-system", "name": "interp", "port": 8443, "path": "/interpret"}
    assert webhook["clientConfig"]["service"] == service
    assert base64.b64decode(webhook["clientConfig"]["caBundle"]) == (tmp_path / "ca.crt").read_bytes()
    assert webhook["timeoutSeconds"] == 10
    narrowed = CliRunner().invoke(command, [*arguments, "--operations", "InterpretHealth"])
    assert "nothing to register" in str(narrowed.exception)
    as_json = CliRunner().invoke(command, [*arguments, "-o", "json"])
    assert json.loads(as_json.stdout)["kind"] == "ResourceInterpreterWebhookConfiguration"
