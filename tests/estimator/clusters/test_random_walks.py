"""Whatever happens on the way, the mirror ends up equal to what the API server holds."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

from estimator.clusters.cluster import LiveCluster
from estimator.clusters.kubeconfig import Access
from estimator.clusters.reflector import Patience
from estimator.fit.state import ClusterState
from tests.estimator.clusters.apiserver_double import ApiServerDouble
from tests.estimator.clusters.objects import node, pod, quota


def told(state: ClusterState) -> dict[str, Any]:
    """Everything an estimate could read, whatever the order of nodes."""
    view = state.view()
    free = {
        name: {resource: int(view.free(resource)[i]) for resource in ("cpu", "memory", "pods")}
        for name, i in view.node_index.index.items()
    }
    nodes = {each.name: each for each in state.nodes()}
    return {"nodes": nodes, "free": free, "pods": state.pod_count, "quotas": state.quotas("default")}


def change(server: ApiServerDouble, chance: random.Random) -> None:
    """Something comes, changes or goes."""
    name, where = str(chance.randrange(12)), f"n{chance.randrange(6)}"
    kind, key, made = chance.choice(
        [
            ("Node", f"n{name}", node(f"n{name}", cpu=str(chance.randint(1, 64)), unschedulable=chance.random() < 0.2)),
            ("Pod", f"default/p{name}", pod(f"p{name}", on=where, cpu=f"{chance.randint(1, 3000)}m")),
            ("Pod", f"default/p{name}", pod(f"p{name}", on=where, phase=chance.choice(["Pending", "Succeeded"]))),
            ("Pod", f"default/p{name}", pod(f"p{name}", phase="Pending")),
            ("ResourceQuota", f"default/q{name}", quota(f"q{name}", {"cpu": name}, {"cpu": "0"})),
        ]
    )
    if chance.random() < 0.3 and key in server.objects.get(kind, {}):
        server.delete(kind, key)
    else:
        server.put(made)


@pytest.mark.parametrize("seed", range(12))
async def test_the_picture_ends_up_equal_to_the_server(seed: int) -> None:
    chance = random.Random(seed)
    server = ApiServerDouble()
    for _ in range(40):
        change(server, chance)
    await server.start()
    cluster = LiveCluster("member1", Access(server.address), Patience(0.005, 0.02, idle=chance.choice([0.05, 5.0])))
    running = asyncio.create_task(cluster.run())
    try:
        for _ in range(60):
            change(server, chance)
            accident = chance.randrange(12)
            if accident == 0:
                server.drop_watches()
            elif accident == 1:
                server.forget_history()
                server.drop_watches()
            elif accident == 2:
                server.refusals += [(chance.choice([410, 429, 500, 503]), {})] * chance.randint(1, 3)
            elif accident == 3:
                server.bookmark()
            elif accident == 4:
                await asyncio.sleep(0.02)
            await asyncio.sleep(0)
        expected = told(ClusterState(item for kind in server.objects.values() for item in kind.values()))
        async with asyncio.timeout(30):
            while not cluster.synced or told(cluster.mirror.state) != expected:
                await asyncio.sleep(0.01)
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await server.stop()
