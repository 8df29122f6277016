"""Admissions per second, charged and recorded, on SQLite and on PostgreSQL: many namespaces, and very full ones."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from estimator.accounting.ledger.ledger import Ledger

Row = tuple[str, float, str, float | None]

CLIENTS = 16
REQUESTS = 3200
GOAL = 1000.0  # on PostgreSQL, over 16 namespaces
FULL = (1_000, 100_000)  # charges that are there before
CLUSTERS = ("member1", "member2", "member3")


def run() -> Iterable[Row]:
    """Rows of (what, value, unit, budget)."""
    from tests.postgres import PostgresServer

    with tempfile.TemporaryDirectory() as folder, PostgresServer() as postgres:
        for name, url in (
            ("SQLite", lambda: f"sqlite:///{folder}/{time.time_ns()}.db"),
            ("PostgreSQL", postgres.database),
        ):
            for namespaces in (1, 16):
                rate, _ = asyncio.run(admissions(url(), namespaces, REQUESTS))
                goal = GOAL if (name, namespaces) == ("PostgreSQL", 16) else None
                yield f"admissions on {name}, {CLIENTS} clients, {_number(namespaces)}", rate, "/s", goal
            for charges in FULL:
                rate, slowest = asyncio.run(admissions(url(), 1, 320, charges=charges))
                full = f"admissions on {name}, one namespace with {charges:,} charges and static assignments"
                yield full, rate, "/s", None
                yield f"{full}, the slowest", slowest * 1000, "ms", None


async def admissions(url: str, namespaces: int, requests: int, *, charges: int = 0) -> tuple[float, float]:
    """How many a second, and how long the slowest took, when `charges` are there already."""
    from estimator.accounting.admission.decide import Gate, Interpretation
    from estimator.accounting.ledger.ledger import Ledger
    from estimator.accounting.sources.quota_files import GivenQuotas
    from estimator.quotas.objects import read_quota
    from interpreters.core.interpreted import Interpreted
    from interpreters.core.requirements import Component, ComponentRequirements

    assigned = [{"clusterName": name, "hard": {"cpu": "1000000"}} for name in CLUSTERS] if charges else []
    quotas = [
        read_quota(
            {
                "kind": "FederatedResourceQuota",
                "metadata": {"namespace": f"team-{number}", "name": "compute"},
                "spec": {"overall": {"cpu": "10000000", "memory": "100Pi"}, "staticAssignments": assigned},
            }
        )
        for number in range(namespaces)
    ]
    needs = ComponentRequirements(resource_request={"cpu": "1", "memory": "2Gi"})
    said = Interpretation(Interpreted((Component("jobmanager", 1, needs), Component("taskmanager", 3, needs))))
    slowest = 0.0
    async with Ledger(url, connections=CLIENTS) as ledger:
        await _fill(ledger, "team-0", charges)
        gate = Gate(ledger, GivenQuotas(quotas))

        async def client(number: int) -> None:
            nonlocal slowest
            for turn in range(requests // CLIENTS):
                request = _request(f"job-{number}-{turn}", f"team-{number % namespaces}")
                begun = time.perf_counter()
                verdict = await gate.decide(request, said)
                slowest = max(slowest, time.perf_counter() - begun)
                if not verdict.allowed:
                    raise RuntimeError(verdict.message)

        if charges:  # the first to write has to wait until SQLite has moved what the filling left in its log
            await gate.decide(_request("first", "team-0"), said)
        started = time.perf_counter()
        await asyncio.gather(*(client(number) for number in range(CLIENTS)))
        return requests / (time.perf_counter() - started), slowest


async def _fill(ledger: Ledger, namespace: str, charges: int) -> None:
    """Charge many workloads that run in every cluster."""
    from estimator.accounting.demand import Demand, Part, PodRequest, Target, WorkloadKey
    from estimator.accounting.ledger.charges import Charge

    part = Part("main", 2, PodRequest({"cpu": "1", "memory": "2Gi"}))
    demand = Demand(components=[part], clusters=[Target(name) for name in CLUSTERS])
    for start in range(0, charges, 5000):
        async with ledger.page(namespace) as page:
            keys = (
                WorkloadKey("x.io", "Job", namespace, f"there-{n}") for n in range(start, min(start + 5000, charges))
            )
            await page.save(*(Charge(key, confirmed=demand) for key in keys))


def _request(name: str, namespace: str) -> Any:
    import msgspec

    from estimator.accounting.admission.review import decode_review

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
