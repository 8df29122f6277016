"""A live cluster against an API server that speaks real HTTP and fails in every way a real one does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from estimator.clusters.cluster import LiveCluster, follow
from estimator.clusters.kubeconfig import Access
from estimator.clusters.reflector import Patience
from estimator.clusters.workloads import WorkloadReference
from interpreters.core.errors import RequestError
from tests.estimator.clusters.apiserver_double import ApiServerDouble
from tests.estimator.clusters.objects import node, pod, quota, waiting_pod, workload

IMPATIENT = Patience(first_delay=0.01, longest_delay=0.05, idle=5.0)


@pytest.fixture
async def server() -> AsyncIterator[ApiServerDouble]:
    double = ApiServerDouble()
    double.put(node("a"))
    double.put(node("b"))
    double.put(pod("one", on="a"))
    double.put(quota("compute", {"cpu": "10"}, {"cpu": "4"}))
    await double.start()
    yield double
    await double.stop()


@asynccontextmanager
async def following(server: ApiServerDouble, **options: object) -> AsyncIterator[LiveCluster]:
    settings = {"patience": IMPATIENT, **options}
    cluster = LiveCluster("member1", Access(server.address), **settings)  # type: ignore[arg-type]
    running = asyncio.create_task(cluster.run())
    try:
        yield cluster
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def eventually(happened: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not happened():
            await asyncio.sleep(0.005)


async def settled(server: ApiServerDouble, cluster: LiveCluster) -> None:
    await eventually(lambda: cluster.synced and all(each.watching for each in cluster.reflectors))


def pods_of(cluster: LiveCluster) -> int:
    return cluster.mirror.state.pod_count


async def test_there_is_no_opinion_before_the_first_sync_and_one_after(server: ApiServerDouble) -> None:
    server.list_delay = 0.05
    async with following(server) as cluster:
        assert cluster.state() is None and not cluster.synced
        await cluster.wait_synced()
        state = cluster.state()
        assert state is not None
        assert (state.node_count, state.pod_count, len(state.quotas("default"))) == (2, 1, 1)


async def test_lists_come_in_pages_and_terminated_pods_are_not_even_asked_for(server: ApiServerDouble) -> None:
    for i in range(1203):
        server.put(pod(f"p{i}", on="b"))
    server.put(pod("done", on="a", phase="Succeeded"))
    async with following(server) as cluster:
        await cluster.wait_synced()
        assert pods_of(cluster) == 1204
    pages = [query for path, query in server.requests if path == "/api/v1/pods" and "watch" not in query]
    assert [query.get("continue") for query in pages] == [None, "500", "1000"]
    assert {query["limit"] for query in pages} == {"500"}
    assert {query["fieldSelector"] for query in pages} == {"status.phase!=Succeeded,status.phase!=Failed"}


async def test_reading_a_list_gives_way_again_and_again(server: ApiServerDouble) -> None:
    for i in range(1000):
        server.put(pod(f"p{i}", on="b"))
    pauses = 0

    async def give_way() -> None:
        nonlocal pauses
        pauses += 1

    async with following(server, give_way=give_way) as cluster:
        await cluster.wait_synced()
    assert pauses >= 1000 / 50


async def test_changes_arrive_by_watch(server: ApiServerDouble) -> None:
    async with following(server) as cluster:
        await settled(server, cluster)
        server.put(node("c"))
        server.put(pod("two", on="c"))
        server.put(pod("assigned", on="b", phase="Pending"))
        server.put(quota("second", {"cpu": "1"}, {}))
        await eventually(lambda: pods_of(cluster) == 3 and len(cluster.mirror.state.quotas("default")) == 2)
        server.put(pod("two", on="c", phase="Succeeded"))
        server.delete("Pod", "default/one")
        server.delete("Node", "a")
        server.delete("ResourceQuota", "default/compute")
        await eventually(
            lambda: (
                pods_of(cluster) == 1
                and cluster.mirror.state.node_count == 2
                and len(cluster.mirror.state.quotas("default")) == 1
            )
        )
        assert server.counted()["list Pod"] == 1


async def test_a_dropped_watch_resumes_where_it_was_without_a_new_list(server: ApiServerDouble) -> None:
    async with following(server) as cluster:
        await settled(server, cluster)
        server.put(pod("two", on="a"))
        await eventually(lambda: pods_of(cluster) == 2)
        server.drop_watches()
        server.put(pod("three", on="a"))
        await eventually(lambda: pods_of(cluster) == 3)
        assert server.counted()["list Pod"] == 1
        assert server.counted()["watch Pod"] >= 2


async def test_a_bookmark_moves_the_place_to_resume_from(server: ApiServerDouble) -> None:
    async with following(server) as cluster:
        await settled(server, cluster)
        for i in range(20):
            server.put(node(f"n{i}"))
        await eventually(lambda: cluster.mirror.state.node_count == 22)
        server.bookmark()
        bookmarked = str(server.version)
        await eventually(lambda: all(each._version == bookmarked for each in cluster.reflectors))
        server.forget_history()
        server.drop_watches()
        await settled(server, cluster)
        assert server.counted()["list Pod"] == 1, "the bookmark's version is still known to the server"


async def test_an_expired_version_means_a_new_list_and_what_vanished_meanwhile_is_dropped(
    server: ApiServerDouble,
) -> None:
    for i in range(10):
        server.put(pod(f"p{i}", on="b"))
    async with following(server) as cluster:
        await settled(server, cluster)
        await server.stop()
        for i in range(5):
            server.delete("Pod", f"default/p{i}")
        server.delete("Node", "a")
        server.delete("ResourceQuota", "default/compute")
        server.put(pod("new", on="b"))
        server.forget_history()
        await server.start(port=server.port)
        await eventually(lambda: pods_of(cluster) == 7)
        await eventually(lambda: cluster.mirror.state.node_count == 1)
        await eventually(lambda: cluster.mirror.state.quotas("default") == ())
        assert server.counted()["list Pod"] >= 2


async def test_an_error_event_410_in_the_stream_means_a_new_list(server: ApiServerDouble) -> None:
    async with following(server) as cluster:
        await settled(server, cluster)
        await server.send("Pod", {"type": "ERROR", "object": {"kind": "Status", "code": 410, "message": "too old"}})
        await eventually(lambda: server.counted()["list Pod"] == 2)
        await settled(server, cluster)
        assert pods_of(cluster) == 1


async def test_an_expired_continue_token_restarts_the_list(server: ApiServerDouble) -> None:
    for i in range(600):
        server.put(pod(f"p{i}", on="b"))
    server.expire_continue = 1
    async with following(server) as cluster:
        await cluster.wait_synced()
        assert pods_of(cluster) == 601
        assert server.counted()["list Pod"] == 2


@pytest.mark.parametrize(
    "refusals",
    [
        [(500, {})] * 3,
        [(429, {"Retry-After": "0"})] * 3,
        [(403, {})] * 3,
        [(401, {})] * 3,
        [(503, {}), (410, {}), (504, {})],
    ],
)
async def test_refusals_are_outlived(server: ApiServerDouble, refusals: list[tuple[int, dict[str, str]]]) -> None:
    server.refusals = list(refusals)
    async with following(server) as cluster:
        await cluster.wait_synced()
        assert pods_of(cluster) == 1


async def test_garbage_in_a_stream_is_outlived(server: ApiServerDouble) -> None:
    async with following(server) as cluster:
        await settled(server, cluster)
        for stream in server.streams:
            await stream.response.write(b'{"type": "ADDED", "object": {"metadata"\n')
        server.put(pod("two", on="a"))
        await eventually(lambda: pods_of(cluster) == 2)


async def test_an_object_that_cannot_be_read_does_not_hold_up_the_others(server: ApiServerDouble) -> None:
    server.put(node("broken", cpu="four"))
    server.put({"kind": "Pod", "metadata": {"name": "broken", "namespace": "default"}, "spec": 5})
    async with following(server) as cluster:
        await cluster.wait_synced()
        assert (cluster.mirror.state.node_count, pods_of(cluster)) == (2, 1)


async def test_a_silent_stream_is_not_trusted_for_ever(server: ApiServerDouble) -> None:
    async with following(server, patience=Patience(0.01, 0.05, idle=0.1)) as cluster:
        await eventually(lambda: server.counted()["watch Node"] >= 3)
        assert server.counted()["list Node"] == 1
        assert cluster.state() is not None


async def test_a_server_that_forgot_our_version_in_its_own_way_is_listed_again(server: ApiServerDouble) -> None:
    async with following(server) as cluster:
        await settled(server, cluster)
        server.refusals = [(504, {})] * 20  # Too large resource version, as after a restore from backup
        server.drop_watches()
        await eventually(lambda: server.counted()["list Pod"] >= 2)
        await settled(server, cluster)


async def test_quotas_are_not_even_asked_for_when_they_do_not_count(server: ApiServerDouble) -> None:
    async with following(server, quotas=False) as cluster:
        await settled(server, cluster)
        assert {path for path, _ in server.requests} == {"/api/v1/nodes", "/api/v1/pods"}
        assert cluster.state() is not None


async def test_a_lost_cluster_has_no_opinion_and_gets_one_back(server: ApiServerDouble) -> None:
    async with following(server, lost_after=0.1) as cluster:
        await settled(server, cluster)
        assert cluster.staleness() == 0.0
        port = server.port
        await server.stop()
        await eventually(lambda: cluster.state() is None)
        assert cluster.staleness() > 0.1
        assert cluster.problem
        await server.start(port=port)
        await eventually(lambda: cluster.state() is not None)
        await settled(server, cluster)
        assert cluster.problem == ""


async def test_what_is_wrong_is_told_with_the_cluster_and_in_the_same_words_each_time(
    caplog: pytest.LogCaptureFixture,
) -> None:
    cluster = LiveCluster("member1", Access("https://127.0.0.1:1"), patience=IMPATIENT)
    running = asyncio.create_task(cluster.run())
    try:
        await eventually(lambda: len(caplog.messages) > 6)
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    problem = "Cannot connect to host 127.0.0.1:1 [Connect call failed ('127.0.0.1', 1)]"
    assert cluster.problem == problem
    paths = ("nodes", "pods", "resourcequotas")
    assert set(caplog.messages) == {f"cluster member1: /api/v1/{path}: {problem}" for path in paths}


async def test_a_failure_that_nobody_foresaw_does_not_end_the_following(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("estimator.clusters.cluster._RESTART_SECONDS", 0.0)
    runs = 0

    class Fragile(LiveCluster):
        async def run(self) -> None:
            nonlocal runs
            runs += 1
            raise ZeroDivisionError

    following = asyncio.create_task(follow(Fragile("member1", Access("http://127.0.0.1:1"))))
    await eventually(lambda: runs >= 3)
    following.cancel()


SINCE = "2026-01-01T00:00:00Z"


async def test_unschedulable_pods_of_a_deployment_are_those_of_its_current_template(server: ApiServerDouble) -> None:
    deployment = workload("Deployment", "web", image="two")
    old = workload("ReplicaSet", "web-old", image="one", owner=deployment, **{"pod-template-hash": "old"})
    new = workload("ReplicaSet", "web-new", image="two", owner=deployment, **{"pod-template-hash": "new"})
    for item in (deployment, old, new):
        server.put(item)
    server.put(waiting_pod("o1", old, SINCE))
    server.put(waiting_pod("n1", new, SINCE))
    server.put(waiting_pod("n2", new, SINCE))
    server.put(waiting_pod("n3", new, "2999-01-01T00:00:00Z"))
    server.put(waiting_pod("n4", new, SINCE, reason="SchedulingGated"))
    reference = WorkloadReference("apps/v1", "Deployment", "default", "web")
    async with following(server) as cluster:
        assert await cluster.unschedulable(reference, 60.0) is None
        await cluster.wait_synced()
        assert await cluster.unschedulable(reference, 60.0) == 2
        assert await cluster.unschedulable(reference, -5.0) == 2
        server.put(pod("n1", on="a"))
        await eventually(lambda: len(cluster.mirror.waiting) == 3)
        assert await cluster.unschedulable(reference, 60.0) == 1


@pytest.mark.parametrize(
    ("kind", "api_version"), [("StatefulSet", "apps/v1"), ("ReplicaSet", "apps/v1"), ("Job", "batch/v1")]
)
async def test_unschedulable_pods_of_workloads_that_own_pods_directly(
    server: ApiServerDouble, kind: str, api_version: str
) -> None:
    mine, other = workload(kind, "mine"), workload(kind, "other")
    for item in (mine, other, waiting_pod("m1", mine, SINCE), waiting_pod("o1", other, SINCE)):
        server.put(item)
    async with following(server) as cluster:
        await cluster.wait_synced()
        assert await cluster.unschedulable(WorkloadReference(api_version, kind, "default", "mine"), 0.0) == 1


async def test_other_kinds_of_workload_are_refused(server: ApiServerDouble) -> None:
    async with following(server) as cluster:
        with pytest.raises(RequestError, match=r"kind\(DaemonSet\) of workload\(default/agent\) is not supported"):
            await cluster.unschedulable(WorkloadReference("apps/v1", "DaemonSet", "default", "agent"), 0.0)
