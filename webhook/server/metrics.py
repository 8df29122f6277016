"""What Prometheus may scrape. With several server processes any of them answers for all.

`prometheus_client` keeps the values of all processes in files of one directory when PROMETHEUS_MULTIPROC_DIR is set
before it is imported; the supervisor sets it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import isnan

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Metric, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

DIRECTORY_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
_SECONDS = (0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)

_COSTS = tuple(float(mantissa * 10**power) for power in range(3, 8) for mantissa in (1, 2, 5))


class Metrics:
    """The metrics of one server process."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self.requests = Counter(
            "interp_requests",
            "Requests to /interpret by outcome: ok, or whose fault the failure was; kinds without a script are other.",
            ["operation", "kind", "outcome"], registry=registry,
        )  # fmt: skip
        self.seconds = Histogram(
            "interp_request_seconds", "From the request's head to its reply.", ["operation"],
            buckets=_SECONDS, registry=registry,
        )  # fmt: skip
        self.script_seconds = Histogram(
            "interp_script_seconds", "A script's call, as its sandbox worker measured it.", ["operation", "language"],
            buckets=_SECONDS, registry=registry,
        )  # fmt: skip
        self.script_cost = Histogram(
            "interp_script_cost", "What a script's call cost, counted: the same anywhere.", ["operation", "language"],
            buckets=_COSTS, registry=registry,
        )  # fmt: skip
        self.other_requests = Counter(
            "interp_http_requests",
            "Requests refused with an HTTP status, on any path; good answers are not counted here.",
            ["path", "status"],
            registry=registry,
        )
        self.admissions = Counter("interp_admissions", "Decisions of /admit.", ["decision"], registry=registry)
        self.admission_failures = Counter(
            "interp_admission_failures",
            "Requests to /admit that got no decision, so that the registered failurePolicy decided: ledger, timeout, "
            "busy (429), request (cannot be read, or too large), other.",
            ["cause"],
            registry=registry,
        )
        self.admission_seconds = Histogram(
            "interp_admission_seconds", "From a request to /admit to its decision: allowed, denied or failed.",
            ["outcome"], buckets=_SECONDS, registry=registry,
        )  # fmt: skip
        quota = ("kind", "namespace", "quota", "cluster", "key")
        newest = "livemostrecent"
        self.quota_used = self._gauge(
            "interp_quota_used", "What the quota is charged for: cores, bytes or a count.", newest, *quota
        )
        self.quota_provisional = self._gauge(
            "interp_quota_provisional",
            "The part of what it is charged for that was admitted and not seen yet.",
            newest,
            *quota,
        )
        self.quota_limit = self._gauge("interp_quota_limit", "What the quota allows.", newest, *quota)
        self.quota_keys_left_out = self._gauge(
            "interp_quota_keys_left_out", "Keys of quotas that have no metrics, because fuller ones fill them.", newest
        )
        self.reconciled_at = self._gauge(
            "interp_ledger_reconciled_timestamp_seconds",
            "When the ledger was last compared with the bindings of Karmada, by any server.",
            newest,
        )
        self.ledger_lag = self._gauge(
            "interp_ledger_lag_seconds", "How long the oldest of Karmada's questions waits to be recorded.", "livemax"
        )
        self.sightings = Counter(
            "interp_sightings",
            "Workloads that Karmada asked about: recorded (of these unadmitted: not charged as they were seen), shed, "
            "failed, warned.",
            ["outcome"],
            registry=registry,
        )
        self.in_flight = self._gauge("interp_in_flight", "Requests being worked on.")
        self.waiting = self._gauge("interp_waiting", "Calls waiting for a worker.")
        self.workers = self._gauge("interp_workers", "Sandbox workers that are up.")
        self.hardening = self._gauge(
            "interp_hardening",
            "1 for each confinement of the workers that is in force, 0 for one that is not: seccomp, landlock, "
            "noNewPrivileges, limits, notRoot.",
            "livemin",
            "wall",
        )
        self.workers_killed = Counter(
            "interp_workers_killed",
            "Sandbox workers lost, by time, memory, threads, crash, lost (killed from outside), protocol, cancelled, "
            "start.",
            ["reason"],
            registry=registry,
        )
        self.quarantined = self._gauge(
            "interp_quarantined_scripts", "Scripts not run for a while, because they kept losing workers.", "livemax"
        )
        self.quarantined_calls = self._gauge(
            "interp_quarantined_calls", "Objects not given to their script for a while, for the same reason.", "livemax"
        )
        self.scripts = self._gauge("interp_scripts", "Kinds that a script answers for.", "livemax")
        self.broken_scripts = self._gauge(
            "interp_broken_scripts",
            "Scripts of the operator's own that do not load; what they would answer fails.",
            "livemax",
            "kind",
        )
        self.reloads = Counter(
            "interp_reloads", "Reloads of scripts, certificates and quotas.", ["what", "outcome"], registry=registry
        )
        self.reload_failing = self._gauge(
            "interp_reload_failing",
            "1 while the newest files could not be loaded and older ones serve.",
            "livemax",
            "what",
        )
        self.certificate_expiry = self._gauge(
            "interp_certificate_expiry_timestamp_seconds", "When the served certificate ends.", "livemin", "listener"
        )
        self.handshakes_failed = Counter(
            "interp_handshakes_failed",
            "TLS handshakes that failed: missing (no client certificate), refused (not one that clientCa accepts), "
            "distrusted (the caller does not trust us), protocol.",
            ["listener", "reason"],
            registry=registry,
        )
        self.log_dropped = Counter(
            "interp_log_lines_dropped", "Log lines dropped because nobody read them in time.", registry=registry
        )
        if DIRECTORY_VARIABLE not in os.environ:
            ProcessCollector(registry=registry)
        self.count = lru_cache(4096)(self.requests.labels)  # looking a label set up costs more than counting it
        self.time_request = lru_cache(64)(self.seconds.labels)
        self.time_script = lru_cache(256)(self.script_seconds.labels)
        self.weigh_script = lru_cache(256)(self.script_cost.labels)

    def _gauge(self, name: str, text: str, mode: str = "livesum", *labels: str) -> Gauge:
        return Gauge(name, text, labels, multiprocess_mode=mode, registry=self.registry)  # type: ignore[arg-type]

    def show_quota(self, subject: Sequence[str], limit: float, used: float, provisional: float) -> None:
        self.quota_limit.labels(*subject).set(limit)
        self.quota_used.labels(*subject).set(used)
        self.quota_provisional.labels(*subject).set(provisional)

    def forget_quota(self, subject: Sequence[str]) -> None:
        """Several processes share files from which no series can be taken back; there it becomes no number, which
        `exposition` leaves out."""
        for gauge in (self.quota_limit, self.quota_used, self.quota_provisional):
            if DIRECTORY_VARIABLE in os.environ:
                gauge.labels(*subject).set(float("nan"))
            else:
                gauge.remove(*subject)

    def exposition(self) -> bytes:
        """The text format; of every process if there are several."""
        if DIRECTORY_VARIABLE not in os.environ:
            return generate_latest(self.registry)
        together = CollectorRegistry()
        together.register(_Together())
        return generate_latest(together)


class _Together(Collector):
    """The metrics of all processes, without the series that were forgotten."""

    def collect(self) -> Iterator[Metric]:
        for metric in MultiProcessCollector(None).collect():  # type: ignore[no-untyped-call]
            metric.samples = [sample for sample in metric.samples if not isnan(sample.value)]
            yield metric
