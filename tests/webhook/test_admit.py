"""POST /admit over real HTTPS: quotas are kept, of two rivals one passes, and questions charge nobody."""

from __future__ import annotations

import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.interp.command import interp
from tests.webhook.server import SCRIPTS, Client, Server, request

_NUMBERS = count(1)
QUOTA = {
    "apiVersion": "policy.karmada.io/v1alpha1",
    "kind": "FederatedResourceQuota",
    "metadata": {"name": "compute", "namespace": "default"},
    "spec": {"overall": {"cpu": "10"}},
}


def review(name: str, cpu: str, operation: str = "CREATE", **more: Any) -> dict[str, Any]:
    """An AdmissionReview of an Act with one component."""
    component = {"name": "main", "replicas": 1, "replicaRequirements": {"resourceRequest": {"cpu": cpu}}}
    obj = request("starlark", "InterpretComponent", components=[component])["object"]
    obj["metadata"]["name"] = name
    fields: dict[str, Any] = {"object": obj} if operation != "DELETE" else {"oldObject": obj}
    asked = {
        "uid": f"uid-{next(_NUMBERS)}",
        "kind": {"group": "stage.example.org", "version": "v1", "kind": "Act"},
        "resource": {"group": "stage.example.org", "version": "v1", "resource": "acts"},
        "name": name,
        "namespace": "default",
        "operation": operation,
        "userInfo": {"username": "anna"},
        **fields,
        **more,
    }
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": asked}


def flags(folder: Path, *more: str) -> list[str]:
    (folder / "quota.yaml").write_text(yaml.safe_dump(QUOTA))
    ledger = f"sqlite:///{folder / 'ledger.db'}"
    return ["--scripts", str(SCRIPTS), "--bundled-language", "none", "--workers", "1",
            "--quotas", str(folder / "quota.yaml"), "--ledger", ledger, *more]  # fmt: skip


@pytest.fixture
def admitting(certs: Path, tmp_path: Path) -> Iterator[Client]:
    with Server(certs, *flags(tmp_path)) as server:
        client = Client(server.port, certs / "ca.crt")
        yield client
        client.close()


def decide(client: Client, asked: dict[str, Any]) -> dict[str, Any]:
    status, answer = client.post(asked, "/admit?timeout=10s")
    assert status == 200, answer
    assert answer["response"]["uid"] == asked["request"]["uid"]
    response: dict[str, Any] = answer["response"]
    return response


STORY = [  # name, cpu, operation, further fields, allowed, part of the denial
    ("one", "6", "CREATE", {}, True, ""),
    ("two", "5", "CREATE", {}, False, "compute"),
    ("two", "4", "CREATE", {"dryRun": True}, True, ""),
    ("two", "4", "CREATE", {}, True, ""),
    ("three", "1", "CREATE", {}, False, "cpu"),
    ("one", "6", "DELETE", {}, True, ""),
    ("three", "6", "CREATE", {}, True, ""),
]


def test_a_namespace_never_gets_more_than_its_quota(admitting: Client) -> None:
    for name, cpu, operation, more, allowed, said in STORY:
        response = decide(admitting, review(name, cpu, operation, **more))
        assert response["allowed"] is allowed, (name, response)
        assert said in response.get("status", {}).get("message", "")
    assert admitting.metric("interp_admissions_total", decision="denied") == 2


def test_what_no_script_knows_is_allowed_untouched(admitting: Client) -> None:
    kind = {"group": "", "version": "v1", "kind": "ConfigMap"}
    assert decide(admitting, review("settings", "1", kind=kind))["allowed"]


def test_a_script_that_fails_denies_with_its_words(admitting: Client) -> None:
    asked = review("broken", "1")
    asked["request"]["object"]["spec"]["behaviour"] = "fail"
    response = decide(admitting, asked)
    assert not response["allowed"]
    assert "cannot be played" in response["status"]["message"]


def test_a_broken_object_can_be_mended(admitting: Client) -> None:
    """What was there before fails, too, and must not stop what mends it."""
    asked = review("broken", "1", "UPDATE")
    asked["request"]["oldObject"] = {**asked["request"]["object"], "spec": {"behaviour": "fail"}}
    assert decide(admitting, asked)["allowed"]


def test_an_object_of_very_many_values_is_counted_as_any_other(admitting: Client) -> None:
    """An HTTP error would let it pass where failurePolicy is Ignore."""
    for cpu, allowed in (("11", False), ("10", True)):
        asked = review("long", cpu)
        asked["request"]["object"]["spec"]["text"] = "," * 2_100_000
        assert decide(admitting, asked)["allowed"] is allowed


MALFORMED = [{}, {"apiVersion": "v1", "kind": "Pod"}, {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}]


@pytest.mark.parametrize("body", MALFORMED)
def test_what_is_no_review_is_refused(admitting: Client, body: dict[str, Any]) -> None:
    status, problem = admitting.post(body, "/admit")
    assert status == 400
    assert problem["message"]


def test_of_two_that_fit_alone_but_not_together_one_passes_whichever_process_they_reach(
    certs: Path, tmp_path: Path
) -> None:
    with Server(certs, *flags(tmp_path, "--processes", "2")) as server:
        server.wait_for("listening", 2)
        verdicts: list[bool] = []

        def ask(number: int) -> None:
            client = Client(server.port, certs / "ca.crt")
            verdicts.append(decide(client, review(f"rival-{number}", "6"))["allowed"])

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(64)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(verdicts) == [False] * 63 + [True]


def test_readiness_tells_of_the_ledger(admitting: Client) -> None:
    assert admitting.get("/readyz")[1]["checks"]["ledger"] == "ok"
    assert admitting.get("/readyz/admit") == (200, {"ready": True, "draining": False, "checks": {"ledger": "ok"}})


def test_whoever_asks_about_workloads_charges_nobody_and_auditors_see_it(admitting: Client, tmp_path: Path) -> None:
    """/interpret takes anybody's word, so only what was admitted costs a quota."""
    components = [{"name": "main", "replicas": 2, "replicaRequirements": {"resourceRequest": {"cpu": "3"}}}]
    for name, uid in (("tried", ""), ("made-up", "some uid"), ("one", "its uid")):
        asked = request("starlark", "InterpretComponent", components=components)
        asked["object"]["metadata"] = {"name": name, "namespace": "default", "uid": uid}
        assert admitting.interpret({**asked, "name": name})["successful"]
    end = time.monotonic() + 20
    while admitting.metric("interp_sightings_total", outcome="unadmitted") < 2:
        assert time.monotonic() < end
        time.sleep(0.05)
    assert decide(admitting, review("one", "10"))["allowed"], "what was only asked about takes nothing of the 10"
    assert not decide(admitting, review("two", "1"))["allowed"]
    shown = interp("ledger", "show", tmp_path / "ledger.db", "--decisions", "0").out
    assert "default: charged cpu 10, pods 1" in shown
    assert "Act.stage.example.org default/made-up: cpu 6, pods 2 (not admitted, charged nothing)" in shown
    assert "tried" not in shown, "an object that no API server gave a uid leaves no trace"


def test_the_doctor_leaves_no_trace_in_the_ledger(admitting: Client, certs: Path, tmp_path: Path) -> None:
    scripts = tmp_path / "scripts"
    shutil.copytree(SCRIPTS, scripts)
    table = scripts / "stage.example.org/v1/Act/cases.yaml"
    table.write_text(table.read_text().replace("{name: hamlet,", "{name: hamlet, uid: taken-from-a-cluster,"))
    ran = interp("doctor", f"https://localhost:{admitting.port}/interpret", "--ca", certs / "ca.crt",
                 "--scripts", scripts, "--bundled-language", "none")  # fmt: skip
    assert (ran.code, "Karmada would accept them all" in ran.out) == (0, True), ran
    assert interp("ledger", "show", tmp_path / "ledger.db").out == "nothing is charged\n"
    assert admitting.metric("interp_sightings_total") == 0


def test_a_ledger_that_cannot_be_written_is_an_http_error_so_that_the_failure_policy_decides(
    certs: Path, tmp_path: Path
) -> None:
    with Server(certs, *flags(tmp_path)) as server:
        client = Client(server.port, certs / "ca.crt")
        assert decide(client, review("one", "1"))["allowed"]
        with sqlite3.connect(tmp_path / "ledger.db") as database:
            database.execute("DROP TABLE charges")
        status, problem = client.post(review("two", "1"), "/admit")
        assert status in (500, 503), problem
        ready = client.get("/readyz")
        assert ready[0] == 200, "interpretation goes on"
        assert ready[1]["checks"]["ledger"].startswith("degraded: ")
        assert client.get("/readyz/admit")[0] == 503
        assert client.metric("interp_admission_failures_total", cause="ledger") == 1
        assert server.wait_for("an admission was not decided")


UNDECIDED = [  # body, query, content type, HTTP status, cause
    (b"{", "", "application/json", 400, "request"),
    (b"{}", "", "application/json", 400, "request"),
    (b"{}", "?timeout=never", "application/json", 400, "request"),
    (b"{}", "?dryRun=maybe", "application/json", 400, "request"),
    (b"{}", "", "text/plain", 415, "request"),
    (b" " * (9 << 20), "", "application/json", 413, "request"),
    (b"[" * 5000, "", "application/json", 400, "request"),
]


@pytest.mark.parametrize(("body", "query", "content_type", "status", "cause"), UNDECIDED)
def test_whatever_is_not_decided_is_counted_and_logged(
    certs: Path, tmp_path: Path, body: bytes, query: str, content_type: str, status: int, cause: str
) -> None:
    with Server(certs, *flags(tmp_path)) as server:
        client = Client(server.port, certs / "ca.crt")
        found, problem = client.post(body, f"/admit{query}", {"Content-Type": content_type})
        assert (found, bool(problem["message"])) == (status, True)
        assert Client(server.port, certs / "ca.crt").metric("interp_admission_failures_total", cause=cause) == 1
        assert server.wait_for("an admission was not decided", cause=cause)["reason"] == problem["message"]
        ready = Client(server.port, certs / "ca.crt").get("/readyz/admit")
        assert ready[0] == 200, "the ledger is well"


@pytest.mark.parametrize("query", ["?dryRun", "?dryRun=true", "?timeout=5s&dryRun=All"])
def test_a_dry_run_by_the_query_decides_and_writes_nothing(certs: Path, tmp_path: Path, query: str) -> None:
    with Server(certs, *flags(tmp_path)) as server:
        client = Client(server.port, certs / "ca.crt")
        for cpu, allowed in (("6", True), ("6", True), ("60", False)):
            status, answer = client.post(review(f"job-{cpu}", cpu), f"/admit{query}")
            assert (status, answer["response"]["allowed"]) == (200, allowed), (
                "the second six would not fit beside the first"
            )
        assert client.post(review("one", "1"), "/admit?dryRun=maybe")[0] == 400
        shown = interp("ledger", "show", f"sqlite:///{tmp_path / 'ledger.db'}").out
        assert shown == "nothing is charged\n"
        client.close()


def test_without_a_ledger_the_answer_says_what_to_set(client: Client) -> None:
    status, problem = client.post(review("one", "1"), "/admit")
    assert (status, "ledger" in problem["message"]) == (404, True)
