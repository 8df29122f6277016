"""A server samples its quotas: into metrics of bounded number, and into the ledger's history."""

from __future__ import annotations

import json
from pathlib import Path

import yaml

from estimator.accounting.history.series import Reading, Subject
from estimator.accounting.history.store import Retention
from estimator.accounting.ledger.ledger import Ledger
from interpreters.core.quantity import NANO
from tests.interp.command import interp
from tests.webhook.server import SCRIPTS, Client, Server, eventually
from tests.webhook.test_admit import QUOTA, decide, review
from webhook.endpoints.admission.ledger_state import LedgerState
from webhook.endpoints.admission.sampling import MOST_KEYS, Sampler
from webhook.server.metrics import Metrics

LABELS = {"kind": "FederatedResourceQuota", "namespace": "default", "quota": "compute", "cluster": "", "key": "cpu"}


def test_a_server_shows_and_keeps_what_its_quotas_use(certs: Path, tmp_path: Path) -> None:
    (tmp_path / "quota.yaml").write_text(yaml.safe_dump(QUOTA))
    url = f"sqlite:///{tmp_path / 'ledger.db'}"
    flags = ["--scripts", str(SCRIPTS), "--bundled-language", "none", "--quotas", str(tmp_path / "quota.yaml"),
             "--ledger", url, "--history-seconds", "1"]  # fmt: skip
    with Server(certs, *flags) as server:
        client = Client(server.port, certs / "ca.crt")
        assert decide(client, review("one", "1"))["allowed"]
        used = eventually(lambda: client.metric("interp_quota_used", **LABELS))
        assert used == client.metric("interp_quota_provisional", **LABELS)
        assert used <= client.metric("interp_quota_limit", **LABELS)
        assert client.metric("interp_admission_seconds_count", outcome="allowed") == 1
        assert client.metric("interp_ledger_lag_seconds") == 0
        (kept,) = eventually(lambda: json.loads(interp("ledger", "history", url, "-o", "json").out))
        assert (kept["name"], kept["points"][-1]["limit"]) == ("compute", "10")
        client.close()


def test_a_quota_that_is_gone_has_no_series_in_any_process(certs: Path, tmp_path: Path) -> None:
    (tmp_path / "quota.yaml").write_text(yaml.safe_dump(QUOTA))
    other = tmp_path / "other.yaml"
    other.write_text(yaml.safe_dump({**QUOTA, "metadata": {"name": "other", "namespace": "default"}}))
    flags = ["--scripts", str(SCRIPTS), "--bundled-language", "none", "--quotas", str(tmp_path), "--workers", "1",
             "--ledger", f"sqlite:///{tmp_path / 'ledger.db'}", "--history-seconds", "1",
             "--processes", "2"]  # fmt: skip
    with Server(certs, *flags) as server:
        client = Client(server.port, certs / "ca.crt")
        eventually(lambda: 'quota="other"' in client.get("/metrics")[1])
        other.unlink()
        eventually(lambda: 'quota="other"' not in client.get("/metrics")[1])
        assert client.metric("interp_quota_limit", **LABELS) == 10
        client.close()


def reading(number: int) -> Reading:
    return Reading(Subject("ResourceQuota", "team", f"quota-{number:04}", "", "cpu"), 1000 * NANO, number * NANO, 0)


def shown(metrics: Metrics) -> int:
    return sum(line.startswith(b"interp_quota_used{") for line in metrics.exposition().splitlines())


def test_only_the_fullest_keys_have_metrics_and_those_that_go_disappear(tmp_path: Path) -> None:
    ledger, metrics = Ledger(str(tmp_path / "ledger.db")), Metrics()

    async def none() -> list[object]:
        return []

    sampler = Sampler(ledger, LedgerState(ledger), none, metrics, 1, Retention())  # type: ignore[arg-type]
    sampler._show([reading(number) for number in range(MOST_KEYS + 20)])
    text = metrics.exposition()
    assert shown(metrics) == MOST_KEYS
    assert b'quota="quota-0019"' not in text
    assert b"interp_quota_keys_left_out 20.0" in text
    sampler._show([reading(7)])
    assert shown(metrics) == 1
