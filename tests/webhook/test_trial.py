"""POST /admit?dryRun with a List, and `interp admit`: what a whole folder would do, and nothing is written."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from tests.estimator.accounting.conftest import ledger_url, postgres
from tests.interp.command import Ran, interp
from tests.webhook.server import Client, Server
from tests.webhook.test_admit import QUOTA, decide, flags, review
from webhook.endpoints.admission.dry_run import MOST_MANIFESTS

__all__ = ["ledger_url", "postgres"]  # fixtures
SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "schemas" / "admit-output.json").read_text())


def act(name: str, cpu: str, namespace: str = "default", **metadata: Any) -> dict[str, Any]:
    obj: dict[str, Any] = review(name, cpu)["request"]["object"]
    return {**obj, "metadata": {"name": name, "namespace": namespace, **metadata}}


def quota(cpu: str, name: str = "compute", namespace: str = "default") -> dict[str, Any]:
    return {**QUOTA, "metadata": {"name": name, "namespace": namespace}, "spec": {"overall": {"cpu": cpu}}}


def binding(name: str, cpu: str, *clusters: str) -> dict[str, Any]:
    spec = {
        "resource": {"apiVersion": "stage.example.org/v1", "kind": "Act", "namespace": "default", "name": name},
        "components": [{"name": "main", "replicas": 1, "replicaRequirements": {"resourceRequest": {"cpu": cpu}}}],
        "clusters": [{"name": cluster} for cluster in clusters],
    }
    return {"apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding",
            "metadata": {"name": f"{name}-act", "namespace": "default"}, "spec": spec}  # fmt: skip


CONFIG = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}}
FAILING = {**act("bad", "1"), "spec": {"behaviour": "fail"}}


@pytest.fixture(scope="module")
def server(certs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Six of ten processors are charged, four of them bound to one cluster."""
    folder = tmp_path_factory.mktemp("trial")
    with Server(certs, *flags(folder)) as server:
        client = Client(server.port, certs / "ca.crt")
        assert decide(client, review("bound", "4"))["allowed"]
        bound = review("bound-act", "4", kind={"group": "work.karmada.io", "version": "v1", "kind": "ResourceBinding"})
        bound["request"]["object"] = binding("bound", "4", "m1")
        assert decide(client, bound)["allowed"]
        assert decide(client, review("waiting", "2"))["allowed"]
        client.close()
        yield server


def attempt(client: Client, items: list[Any], query: str = "?dryRun") -> dict[str, Any]:
    status, answer = client.post({"apiVersion": "v1", "kind": "List", "items": items}, f"/admit{query}")
    assert status == 200, answer
    jsonschema.validate(answer, SCHEMA)
    found: dict[str, Any] = answer
    return found


DECIDED = [  # what is tried, the query, what is decided, (used before, limit before, used, limit, verdict) of the quota
    ("fits", [act("a", "4")], "", ["allowed"], ("6", "10", "10", "10", "fits")),
    ("too much", [act("a", "5")], "", ["denied"], None),
    ("the second is one too many", [act("a", "4"), act("b", "1")], "", ["allowed", "denied"],
     ("6", "10", "10", "10", "fits")),
    ("what is denied leaves its room", [act("a", "5"), act("b", "4")], "", ["denied", "allowed"],
     ("6", "10", "10", "10", "fits")),
    ("a quota counts wherever it stands", [act("a", "5"), quota("20")], "", ["allowed", "quota"],
     ("6", "10", "11", "20", "fits")),
    ("of two quotas of a name the last", [quota("20"), act("a", "5"), quota("10")], "", ["quota", "denied", "quota"],
     None),
    ("a quota below what is used", [quota("5")], "", ["quota"], ("6", "10", "6", "5", "over")),
    ("a further quota", [quota("9", "more"), act("a", "4")], "", ["quota", "denied"], (None, None, "6", "9", "fits")),
    ("an update counts the larger until it is seen", [act("bound", "2"), act("a", "4")], "", ["allowed"] * 2,
     ("6", "10", "10", "10", "fits")),
    ("an update that grows", [act("bound", "9")], "", ["denied"], None),
    ("the same twice", [act("a", "4"), act("a", "4")], "", ["allowed", "allowed"], ("6", "10", "10", "10", "fits")),
    ("generated names are two objects", [{**act("", "2"), "metadata": {"generateName": "a-"}}] * 3, "",
     ["allowed", "allowed", "denied"], ("6", "10", "10", "10", "fits")),
    ("new ones in two clusters", [act("a", "2"), act("b", "1")], "&clusters=2", ["allowed", "denied"],
     ("6", "10", "10", "10", "fits")),
    ("what is bound stays where it is", [act("bound", "5")], "&clusters=9", ["allowed"],
     ("6", "10", "7", "10", "fits")),
    ("a binding", [binding("waiting", "2", "m1", "m2")], "", ["allowed"], ("6", "10", "8", "10", "fits")),
    ("a binding that grows too much", [binding("waiting", "2", "m1", "m2", "m3", "m4")], "", ["denied"], None),
    ("other kinds", [CONFIG], "", ["not counted"], None),
    ("another namespace", [act("a", "99", "free")], "", ["allowed"], None),
    ("a script that fails", [FAILING, act("a", "4")], "", ["denied", "allowed"], ("6", "10", "10", "10", "fits")),
    ("an exported object keeps no uid", [act("bound", "4", uid="other", creationTimestamp="2001-01-01T00:00:00Z",
                                              resourceVersion="1")], "", ["allowed"], None),
    ("one that is being deleted is applied anew", [act("a", "9", deletionTimestamp="2001-01-01T00:00:00Z")], "",
     ["denied"], None),
    ("nothing", [], "", [], None),
]  # fmt: skip


@pytest.mark.parametrize(("items", "more", "decisions", "effect"), [row[1:] for row in DECIDED],
                         ids=[row[0] for row in DECIDED])  # fmt: skip
def test_manifests_are_decided_in_their_order(
    client: Client, items: list[Any], more: str, decisions: list[str], effect: tuple[Any, ...] | None
) -> None:
    answer = attempt(client, items, f"?dryRun{more}")
    assert [manifest["decision"] for manifest in answer["manifests"]] == decisions
    effects = [tuple(found.values())[2:] for found in answer["effects"]]
    assert effects == ([effect] if effect else [])
    assert attempt(client, items, f"?dryRun{more}") == answer, "and nothing was written"


def test_a_denial_says_why(client: Client) -> None:
    first, second = attempt(client, [act("a", "3"), act("b", "2")], "?dryRun&clusters=2")["manifests"]
    assert (first["object"], first["reason"]) == ("Act.stage.example.org default/a", "QuotaExceeded")
    assert first["message"] == (
        "bound to 2 clusters: FederatedResourceQuota default/compute: cpu: used 6, asked 6, limit 10, 2 too much; "
        "component main weighs most (6)"
    )
    assert second["decision"] == "allowed"
    assert second["adds"] == {"cpu": "4", "pods": "2", "count/acts.stage.example.org": "1"}


REFUSED = [  # body, query, status, part of the message
    ({"items": "x"}, "?dryRun", 400, "not a List"),
    ({"items": [1]}, "?dryRun", 400, "items[0]: expected an object, got a number"),
    ({"items": [CONFIG, {"kind": "Act"}]}, "?dryRun", 400, "items[1]: object.apiVersion: expected"),
    ({"items": [{"apiVersion": "v1", "kind": "List", "items": []}]}, "?dryRun", 400, "items[0]: a List inside"),
    ({"items": [quota("many")]}, "?dryRun", 400, 'items[0]: FederatedResourceQuota default/compute: spec.overall.cpu'),
    ({"items": [{**binding("a", "1"), "spec": []}]}, "?dryRun", 400, "items[0]: request.object: not a ResourceBinding"),
    ({"items": [CONFIG] * (MOST_MANIFESTS + 1)}, "?dryRun", 400, "items: expected at most 1000, got 1001"),
    ({"apiVersion": "v2", "items": []}, "?dryRun", 400, "expected a v1 List, got v2 List"),
    ({"items": []}, "", 400, "expected admission.k8s.io/v1 AdmissionReview, got v1 List; add ?dryRun"),
    ({"items": []}, "?dryRun&clusters=0", 400, "clusters: expected a number from 1 to 100"),
    ({"items": []}, "?dryRun&clusters=000000001999999999", 400, "clusters: expected a number from 1 to 100"),
    ({"items": []}, "?dryRun&clusters=٣", 400, "clusters: expected a number from 1 to 100"),
    (review("a", "1"), "?dryRun&clusters=2", 400, "clusters: goes with dryRun and a List"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "query", "status", "said"), REFUSED)
def test_what_cannot_be_tried_is_refused_with_its_place(
    client: Client, body: dict[str, Any], query: str, status: int, said: str
) -> None:
    given = body if "request" in body else {"apiVersion": "v1", "kind": "List", **body}
    query = query.replace("٣", "%D9%A3")
    found, problem = client.post(given, f"/admit{query}")
    assert (found, said in problem["message"]) == (status, True), problem


def test_a_trial_that_has_no_time_says_how_far_it_came(client: Client) -> None:
    items = [act(f"a{number}", "1") for number in range(300)]
    failures = client.metric("interp_admission_failures_total")
    status, problem = client.post({"apiVersion": "v1", "kind": "List", "items": items}, "/admit?dryRun&timeout=80ms")
    assert (status, problem["reason"] in ("timeout", "ledger")) == (503, True), problem
    assert client.metric("interp_admission_failures_total") == failures, "nobody's admission failed"


@pytest.mark.parametrize("seed", range(3))
def test_a_trial_says_what_admission_then_says(certs: Path, tmp_path: Path, ledger_url: str, seed: int) -> None:
    """The same objects tried together, and then sent one by one."""
    rng = random.Random(seed)
    items = [
        binding(name, str(rng.randint(1, 3)), *rng.sample(["m1", "m2", "m3"], rng.randint(0, 3)))
        if rng.random() < 0.4
        else act(name, str(rng.randint(1, 4)))
        for name in rng.choices("abcdef", k=25)
    ]
    with Server(certs, *flags(tmp_path, "--ledger", ledger_url)) as server:
        client = Client(server.port, certs / "ca.crt")
        tried = [found["decision"] == "allowed" for found in attempt(client, items)["manifests"]]
        said = []
        for item in items:
            group, _, version = item["apiVersion"].rpartition("/")
            asked = review(
                item["metadata"]["name"], "1", kind={"group": group, "version": version, "kind": item["kind"]}
            )
            asked["request"]["object"] = item
            said.append(decide(client, asked)["allowed"])
        client.close()
    assert tried == said
    assert {True, False} <= {*said}, "both happened"


def admit(server: Server, certs: Path, *arguments: object) -> Ran:
    return interp("admit", f"https://localhost:{server.port}", "--ca", certs / "ca.crt", *map(str, arguments))


def test_the_command_tries_a_folder_and_shows_it(server: Server, certs: Path, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(yaml.safe_dump_all([act("a", "3"), act("b", "2"), CONFIG]))
    (tmp_path / "b.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [quota("10", "more")]}))
    ran = admit(server, certs, tmp_path)
    assert ran.code == 1, ran
    assert ran.out.splitlines() == [
        "allowed      Act.stage.example.org default/a: it adds cpu 3, pods 1",
        "denied       Act.stage.example.org default/b",
        "             FederatedResourceQuota default/compute: cpu: used 9, asked 2, limit 10, 1 too much; component "
        "main weighs most (2); FederatedResourceQuota default/more: cpu: used 9, asked 2, limit 10, 1 too much; "
        "component main weighs most (2)",
        "not counted  ConfigMap default/settings",
        "quota        FederatedResourceQuota default/more",
        "",
        "2 manifests of 4 would be counted, 1 denied",
        "FederatedResourceQuota default/compute cpu: 6 of 10 → 9 of 10, fits",
        "FederatedResourceQuota default/more cpu: no quota → 9 of 10, fits",
    ]
    told = admit(server, certs, tmp_path / "b.json", "-o", "json")
    assert (told.code, json.loads(told.out)["manifests"][0]["decision"]) == (0, "quota")


SECRETS = [
    {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys", "annotations": {"last-applied": "hunter2"}},
     "stringData": {"password": "hunter2"}},
    {"apiVersion": "v1", "kind": "Secret", "metadata": "hunter2"},
    {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "keys"}, "data": {"password": "hunter2"}},
]  # fmt: skip


@pytest.mark.parametrize("secret", SECRETS)
def test_what_a_secret_holds_stays_with_the_caller(secret: dict[str, Any], tmp_path: Path) -> None:
    from interp.verbs.admit.dry_run import read_manifests

    (tmp_path / "secret.json").write_text(json.dumps(secret))
    (sent,) = read_manifests([str(tmp_path)])
    assert b"hunter2" not in bytes(sent)
    assert json.loads(bytes(sent))["kind"] in ("Secret", "ConfigMap")


MISUSED = [  # file, further arguments, part of the message
    ("", [], "no object in it"),
    ("a: 1", [], "object 1: expected a manifest, got an object without a kind"),
    ("{", [], "it.yaml"),
    (json.dumps(CONFIG), ["--client-key", "it.yaml"], "--client-key goes with --client-certificate"),
    (json.dumps(CONFIG), ["--clusters", "0"], "--clusters"),
    (json.dumps(CONFIG), ["--ca", "it.yaml"], "no answer: "),
]


@pytest.mark.parametrize(("text", "more", "said"), MISUSED)
def test_misuse_of_the_command_is_told(
    server: Server, certs: Path, tmp_path: Path, text: str, more: list[str], said: str
) -> None:
    (tmp_path / "it.yaml").write_text(text)
    given = [str(tmp_path / word) if word == "it.yaml" else word for word in more]
    ran = admit(server, certs, tmp_path / "it.yaml", *given)
    assert (ran.code, said in ran.err) == (2, True), ran
    elsewhere = interp("admit", f"https://localhost:{server.port}/readyz", "--ca", certs / "ca.crt", "-",
                       stdin=json.dumps(CONFIG))  # fmt: skip
    assert (elsewhere.code, "HTTP 405" in elsewhere.err) == (2, True), elsewhere
