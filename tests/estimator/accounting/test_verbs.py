"""`interp bind`, `audit` and `ledger` as a user runs them: exit codes, formats, schemas, a live Karmada."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from aiohttp import web

from estimator.accounting.sources.karmada_source import LiveQuotas
from estimator.clusters.apiserver import ApiError, ApiServer
from estimator.clusters.kubeconfig import read_kubeconfig
from estimator.quotas.amounts import texts
from tests.estimator.accounting.samples import binding, federated
from tests.interp.command import Ran, interp

ROOT = Path(__file__).parents[3]
SCHEMAS = ROOT / "docs" / "schemas"
EXAMPLES = ROOT / "docs" / "examples"
FLINK = EXAMPLES / "flink.yaml"
BINDINGS = EXAMPLES / "quota" / "bindings.yaml"
QUOTAS = EXAMPLES / "quota" / "quotas.yaml"
GATE = ("--feature-gates", "MultiplePodTemplatesScheduling=true")
PARTS = [{"name": "main", "replicas": 2, "replicaRequirements": {"resourceRequest": {"cpu": "1", "memory": "1Gi"}}}]


def validated(ran: Ran, schema: str) -> Any:
    value = json.loads(ran.out)
    jsonschema.validate(value, json.loads((SCHEMAS / schema).read_text()))
    return value


def test_bind_prints_the_binding_of_a_workload() -> None:
    off, on = interp("bind", FLINK), interp("bind", FLINK, "--clusters", "member1", *GATE, "--like", "karmada")
    assert (off.code, on.code) == (0, 0)
    assert "components" not in yaml.safe_load(off.out)["spec"]
    spec = yaml.safe_load(on.out)["spec"]
    assert {part["name"]: part["replicas"] for part in spec["components"]} == {"jobmanager": 1, "taskmanager": 2}
    assert spec["clusters"] == [{"name": "member1"}]


def test_what_bind_prints_is_what_audit_reads(tmp_path: Path) -> None:
    bound = tmp_path / "binding.yaml"
    bound.write_text(interp("bind", FLINK, "--clusters", "a,b", *GATE, "--like", "karmada").out)
    report = validated(interp("audit", "--bindings", bound, "-o", "json"), "audit-output.json")
    assert report["namespaces"][0]["used"]["cpu"] == "10", "two clusters, each 1 + 2 × 2"  # noqa: RUF001


def test_several_workloads_give_several_bindings_or_a_list(tmp_path: Path) -> None:
    web_app = tmp_path / "web.yaml"
    web_app.write_text("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: {}}}\n")
    assert len(list(yaml.safe_load_all(interp("bind", FLINK, web_app).out))) == 2
    assert json.loads(interp("bind", FLINK, web_app, "-o", "json").out)["kind"] == "List"


@pytest.mark.parametrize(
    "arguments",
    [("bind", FLINK, "--feature-gates", "MultiplePodTemplatesScheduling"), ("bind", FLINK, "--clusters", "a=x"),
     ("audit",), ("audit", "--bindings", "a", "--ledger", "b"), ("audit", "--bindings", BINDINGS, "--clusters", "2"),
     ("audit", "--bindings", "there-is-none.json"), ("ledger", "show", "there-is-none.db"),
     ("ledger", "reconcile", "x.db"), ("ledger", "show", "mysql://x/y")],
)  # fmt: skip
def test_misuse_ends_with_2_and_a_reason(arguments: tuple[str | Path, ...]) -> None:
    ran = interp(*arguments)
    assert ran.code == 2
    assert ran.err.strip()
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("cpus", "fail_on", "code"),
    [("100", "over", 0), ("1", "over", 1), ("1", "never", 0), ("100", "drift", 1), ("100", "warning", 1)],
)
def test_the_exit_code_follows_the_findings(tmp_path: Path, cpus: str, fail_on: str, code: int) -> None:
    quota = tmp_path / "quota.json"
    quota.write_text(json.dumps(federated({"cpu": cpus}, "streams") | {"status": {"overallUsed": {"cpu": "1"}}}))
    assert interp("audit", "--bindings", BINDINGS, "--quotas", quota, "--fail-on", fail_on).code == code


@pytest.mark.parametrize("output", ["text", "csv", "markdown", "html"])
def test_every_format_of_an_audit_is_printed(output: str) -> None:
    ran = interp("audit", "--bindings", BINDINGS, "--quotas", QUOTAS, "-o", output)
    assert "reported-wrong" in ran.out
    assert ran.code == 0, ran.err


def test_workloads_and_what_if_are_interpreted(tmp_path: Path) -> None:
    clicks = yaml.safe_load(FLINK.read_text())
    clicks["metadata"]["name"] = "clicks"
    (tmp_path / "workloads.json").write_text(
        json.dumps([clicks, {"apiVersion": "x.io/v1", "kind": "Mystery", "metadata": {"name": "m", "namespace": "n"}}])
    )
    (tmp_path / "new.yaml").write_text(FLINK.read_text().replace("wordcount", "new"))
    ran = interp("audit", "--bindings", BINDINGS, "--quotas", QUOTAS, "--workloads", tmp_path / "workloads.json",
                 "--with", tmp_path / "new.yaml", "--clusters", "2", "-o", "json")  # fmt: skip
    report = validated(ran, "audit-output.json")
    findings = {item["code"]: item for item in reversed(report["findings"])}
    assert findings["not-interpretable"]["object"] == "Mystery.x.io n/m"
    assert "cpu 6 instead of 5" in findings["legacy-maximum"]["evidence"]
    assert report["whatIf"]["changes"][0]["adds"]["cpu"] == "10"
    assert findings["over-limit"]["evidence"] == "cpu: used 21, limit 12, 9 too much"
    assert ran.code == 1


def test_standard_input_is_read_as_a_dump() -> None:
    dump = json.dumps({"kind": "List", "items": [binding(components=PARTS, clusters=("m1",))]}, indent=4)
    ran = interp("audit", "--bindings", "-", stdin=dump)
    assert "audited 1 binding in 1 namespace" in ran.out


def test_a_ledger_is_reconciled_shown_exported_and_audited(tmp_path: Path) -> None:
    url = str(tmp_path / "ledger.db")
    first = interp("ledger", "reconcile", url, "--bindings", BINDINGS)
    assert (first.code, first.out.count("added ")) == (1, 2)
    assert interp("ledger", "reconcile", url, "--bindings", BINDINGS, "--dry-run").code == 0
    statement = validated(interp("ledger", "show", url, "-o", "json"), "ledger-show-output.json")
    assert statement["namespaces"][0]["used"]["cpu"] == "11"
    assert "streams: charged" in interp("ledger", "show", url, "-n", "streams").out
    lines = interp("ledger", "export", url).out.splitlines()
    for what in ("charges", "decisions", "unadmitted"):
        for line in interp("ledger", "export", url, "--what", what).out.splitlines():
            jsonschema.validate(json.loads(line), json.loads((SCHEMAS / "ledger-export-line.json").read_text()))
    assert [json.loads(line)["state"] for line in lines] == ["confirmed", "confirmed"]
    assert len(interp("ledger", "export", url, "--what", "decisions", "-o", "csv").out.splitlines()) == 3
    audited = validated(interp("audit", "--ledger", url, "--quotas", QUOTAS, "-o", "json"), "audit-output.json")
    assert audited["namespaces"][0]["used"]["cpu"] == "11"


def test_a_progress_bar_is_shown_to_people_only() -> None:
    assert interp("audit", "--bindings", BINDINGS).err == ""
    pseudo_terminal, ours = os.openpty()
    done = subprocess.run([sys.executable, "-m", "interp", "audit", "--bindings", str(BINDINGS)], stderr=ours,
                          stdout=subprocess.PIPE, cwd=ROOT, check=False, timeout=60)  # fmt: skip
    os.close(ours)
    assert b"bytes" in os.read(pseudo_terminal, 100_000)
    os.close(pseudo_terminal)
    assert b"audited 2 bindings" in done.stdout


class Karmada:
    """An API server with bindings and quotas, in pages of two, as far as an audit asks."""

    def __init__(self) -> None:
        self.objects: dict[str, list[dict[str, Any]]] = {
            "resourcebindings": [binding(f"job-{i}", components=PARTS, clusters=("m1",)) for i in range(5)],
            "federatedresourcequotas": [federated({"cpu": "9"})],
        }

    async def answer(self, request: web.Request) -> web.Response:
        found = self.objects.get(request.path.rpartition("/")[2])
        if found is None:
            return web.json_response({"kind": "Status", "code": 404}, status=404)
        start = int(request.query.get("continue", 0))
        bare = [{name: value for name, value in item.items() if name not in ("kind", "apiVersion")} for item in found]
        more = {"continue": str(start + 2)} if start + 2 < len(found) else {}
        return web.json_response({"kind": "AList", "metadata": more, "items": bare[start : start + 2]})


@pytest.fixture
async def karmada() -> AsyncIterator[web.AppRunner]:
    app = web.Application()
    app.router.add_get("/{path:.*}", Karmada().answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield runner
    await runner.cleanup()


@pytest.fixture
def kubeconfig(tmp_path: Path, karmada: web.AppRunner) -> Path:
    path = tmp_path / "kubeconfig"
    path.write_text(
        yaml.safe_dump(
            {
                "current-context": "k",
                "clusters": [{"name": "k", "cluster": {"server": f"http://127.0.0.1:{karmada.addresses[0][1]}"}}],
                "users": [{"name": "u", "user": {}}],
                "contexts": [{"name": "k", "context": {"cluster": "k", "user": "u"}}],
            }
        )
    )
    return path


async def test_a_live_karmada_is_audited_and_reconciled_page_by_page(kubeconfig: Path, tmp_path: Path) -> None:
    ran = await asyncio.to_thread(interp, "audit", "--kubeconfig", kubeconfig, "-o", "json")
    report = validated(ran, "audit-output.json")
    assert (report["bindings"], report["counts"]) == (5, {"over-limit": 1})
    url = tmp_path / "ledger.db"
    reconciled = await asyncio.to_thread(interp, "ledger", "reconcile", url, "--kubeconfig", kubeconfig)
    assert reconciled.err.strip() == "5 charges corrected"


async def test_quotas_of_a_live_karmada_serve_admission_and_outlive_it(
    karmada: web.AppRunner, kubeconfig: Path
) -> None:
    async with ApiServer(read_kubeconfig(kubeconfig)) as server:
        told: list[str | None] = []
        source = LiveQuotas(server, seconds=0, told=told.append)
        assert [texts(found.limits) for found in await source.of_namespace("team-a")] == [{"cpu": "9"}]
        assert await source.of_namespace("team-b") == []
        await karmada.cleanup()
        assert [texts(found.limits) for found in await source.of_namespace("team-a")] == [{"cpu": "9"}]
        assert told[:2] == [None, None]
        assert "cannot be read" in (told[-1] or "")
        with pytest.raises(ApiError, match="cannot be read"):
            await LiveQuotas(server).of_namespace("team-a")


async def test_a_karmada_that_does_not_answer_is_named(karmada: web.AppRunner, kubeconfig: Path) -> None:
    await karmada.cleanup()
    ran = await asyncio.to_thread(interp, "audit", "--kubeconfig", kubeconfig)
    assert ran.code == 2, "nothing was found, for nothing could be looked at"
    assert "cannot be read" in ran.err
    assert "Traceback" not in ran.err


AS_OF = [  # when the files were exported, exit code, what is said
    ("2001-01-01T00:00:00Z", 0, "2 left alone: the ledger knows something newer"),
    ("2100-01-01T00:00:00Z", 1, "cpu 5 → 10"),
    ("some day", 2, "--as-of"),
]


@pytest.mark.parametrize(("moment", "code", "said"), AS_OF)
def test_a_reconcile_is_told_when_its_files_were_exported(moment: str, code: int, said: str, tmp_path: Path) -> None:
    """And does not ask the files, whose times change when they are copied."""
    ledger, later = tmp_path / "ledger.db", tmp_path / "later.yaml"
    assert interp("ledger", "reconcile", ledger, "--bindings", BINDINGS).code == 1
    later.write_text(Path(BINDINGS).read_text().replace("{name: member1}", "{name: member1}, {name: member9}"))
    ran = interp("ledger", "reconcile", ledger, "--bindings", later, "--as-of", moment)
    assert (ran.code, said in ran.out + ran.err) == (code, True), ran
