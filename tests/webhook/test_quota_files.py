"""Quotas of /admit over real HTTPS: wrong ones keep the server from starting, and never switch off those it has."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.webhook.server import SCRIPTS, Client, Server
from tests.webhook.test_admit import QUOTA, decide, review

ROOT = Path(__file__).parents[2]
TEN = {**QUOTA, "spec": {"overall": {"cpu": "ten"}}}
FLINK = (ROOT / "docs/examples/flink.yaml").read_text()


def flags(folder: Path) -> list[str]:
    return ["--scripts", str(SCRIPTS), "--bundled-language", "none", "--workers", "1",
            "--quotas", str(folder / "quota.yaml"), "--ledger", f"sqlite:///{folder / 'ledger.db'}"]  # fmt: skip


WRONG = [  # what the file holds, part of the reason
    (None, "{file}: No such file or directory"),
    ("kind: [", "{file}:"),
    (
        yaml.safe_dump(TEN),
        '{file}, object 1: FederatedResourceQuota default/compute: spec.overall.cpu: \\"ten\\" is not',
    ),
    (FLINK, "{file}: no quotas in it; found 1 FlinkDeployment"),
    ("", "{file}: no quotas in it; found nothing"),
]


def refused(certs: Path, *flags: str) -> str:
    """What a server says that must not start."""
    ran = subprocess.run(
        [sys.executable, "-m", "interp", "serve", "--port", "0", "--certificate", str(certs / "tls.crt"),
         "--key", str(certs / "tls.key"), *flags],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert ran.returncode == 2, ran.stderr
    return ran.stderr


@pytest.mark.parametrize(("text", "reason"), WRONG)
def test_quotas_that_cannot_be_read_keep_the_server_from_starting(
    text: str | None, reason: str, certs: Path, tmp_path: Path
) -> None:
    if text is not None:
        (tmp_path / "quota.yaml").write_text(text)
    assert reason.format(file=tmp_path / "quota.yaml") in refused(certs, *flags(tmp_path))


def test_quotas_without_a_ledger_to_keep_them_are_refused(certs: Path, tmp_path: Path) -> None:
    assert "quotas: needs ledger" in refused(certs, "--quotas", str(tmp_path))


def test_a_control_plane_that_does_not_answer_stops_admission_and_nothing_else(certs: Path, tmp_path: Path) -> None:
    with socket.socket() as unheard:
        unheard.bind(("127.0.0.1", 0))  # and never listens
        entry = {"name": "it", "cluster": {"server": f"http://127.0.0.1:{unheard.getsockname()[1]}"}}
        user = {"name": "it", "user": {}}
        context = {"name": "it", "context": {"cluster": "it", "user": "it"}}
        kubeconfig = {"clusters": [entry], "users": [user], "contexts": [context], "current-context": "it"}
        (tmp_path / "kubeconfig").write_text(yaml.safe_dump(kubeconfig))
        live = ["--kubeconfig", str(tmp_path / "kubeconfig"), "--ledger", f"sqlite:///{tmp_path / 'ledger.db'}"]
        with Server(certs, "--scripts", str(SCRIPTS), "--bundled-language", "none", *live) as server:
            client = Client(server.port, certs / "ca.crt")
            status, ready = client.get("/readyz")
            assert (status, ready["checks"]["quotas"].startswith("degraded: ")) == (200, True)
            status, problem = client.post(review("one", "1"), "/admit")
            assert (status, problem["reason"]) == (503, "ledger")
            assert "has not been compared" in problem["message"] or "cannot be read" in problem["message"]
            assert any("quotas cannot be read yet" in line["message"] for line in server.lines())
            assert client.get("/readyz/admit")[0] == 503


def test_changed_quotas_are_taken_up_and_broken_ones_leave_the_last_good_in_force(certs: Path, tmp_path: Path) -> None:
    file = tmp_path / "quota.yaml"
    file.write_text(yaml.safe_dump(QUOTA))
    with Server(certs, *flags(tmp_path)) as server:
        client = Client(server.port, certs / "ca.crt")
        assert not decide(client, review("one", "11"))["allowed"]

        file.write_text(yaml.safe_dump({**QUOTA, "spec": {"overall": {"cpu": "20"}}}))
        server.wait_for("reloaded", what="quotas")
        assert decide(client, review("one", "11"))["allowed"]

        file.write_text(yaml.safe_dump(TEN))
        said = server.wait_for("reload failed; the old ones go on serving", what="quotas")["reason"]
        assert "FederatedResourceQuota default/compute: spec.overall.cpu" in said
        assert not decide(client, review("two", "10"))["allowed"], "the last good quota counts"
        status, ready = client.get("/readyz")
        assert (status, ready["failedReloads"]) == (200, {"quotas": said})
        assert client.metric("interp_reload_failing", what="quotas") == 1

        file.unlink()
        server.wait_for("reload failed; the old ones go on serving", 2, what="quotas")
        assert not decide(client, review("two", "10"))["allowed"]

        file.write_text(yaml.safe_dump({**QUOTA, "spec": {"overall": {"cpu": "30"}}}))
        server.wait_for("reloaded", 2, what="quotas")
        assert decide(client, review("two", "10"))["allowed"]
        assert "failedReloads" not in client.get("/readyz")[1]
        assert client.metric("interp_reload_failing", what="quotas") == 0
