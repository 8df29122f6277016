"""Admissions per second, charged and recorded, on SQLite and on PostgreSQL: one namespace, and sixteen of them."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Iterable
from typing import Any

Row = tuple[str, float, str, float | None]

CLIENTS = 16
REQUESTS = 1600


def run() -> Iterable[Row]:
    """Rows of (what, value, unit, budget)."""
    from tests.postgres import PostgresServer

    with tempfile.TemporaryDirectory() as folder, PostgresServer() as postgres:
        for name, url in (
            ("SQLite", lambda: f"sqlite:///{folder}/{time.time_ns()}.db"),
            ("PostgreSQL", postgres.database),
        ):
            for namespaces in (1, 16):
                rate = asyncio.run(admissions(url(), namespaces))
                yield f"admissions on {name}, {CLIENTS} clients, {_number(namespaces)}", rate, "/s", None


async def admissions(url: str, namespaces: int) -> float:
    from estimator.accounting.admission import Gate, Interpretation
    from estimator.accounting.allowances import read_allowance
    from estimator.accounting.ledger import Ledger
    from estimator.accounting.sources import GivenAllowances
    from estimator.placement.bindings import Interpreted
    from interpreters.core.requirements import Component, ComponentRequirements

    quotas = [
        read_allowance(
            {
                "kind": "FederatedResourceQuota",
                "metadata": {"namespace": f"team-{number}", "name": "compute"},
                "spec": {"overall": {"cpu": "1000000", "memory": "1Pi"}},
            }
        )
        for number in range(namespaces)
    ]
    needs = ComponentRequirements(resource_request={"cpu": "1", "memory": "2Gi"})
    said = Interpretation(Interpreted((Component("jobmanager", 1, needs), Component("taskmanager", 3, needs))))
    async with Ledger(url, connections=CLIENTS) as ledger:
        gate = Gate(ledger, GivenAllowances(quotas))

        async def client(number: int) -> None:
            for turn in range(REQUESTS // CLIENTS):
                request = _request(f"job-{number}-{turn}", f"team-{number % namespaces}")
                verdict = await gate.decide(request, said)
                if not verdict.allowed:
                    raise RuntimeError(verdict.message)

        started = time.perf_counter()
        await asyncio.gather(*(client(number) for number in range(CLIENTS)))
        return REQUESTS / (time.perf_counter() - started)


def _request(name: str, namespace: str) -> Any:
    import msgspec

    from estimator.accounting.review import decode_review

    return decode_review(
        msgspec.json.encode(
            {
                "apiVersion": "admission.k8s.io/v1",
                "kind": "AdmissionReview",
                "request": {
                    "uid": f"{namespace}/{name}",
                    "operation": "CREATE",
                    "kind": {"group": "flink.apache.org", "version": "v1beta1", "kind": "FlinkDeployment"},
                    "namespace": namespace,
                    "object": {"metadata": {"name": name, "namespace": namespace}},
                },
            }
        )
    )


def _number(namespaces: int) -> str:
    return "one namespace" if namespaces == 1 else f"{namespaces} namespaces"
