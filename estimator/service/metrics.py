"""What Prometheus is told: requests under karmada-scheduler-estimator's names, and the state of each cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from estimator.clusters.cluster import Cluster, LiveCluster

_SUBSYSTEM: Final = "karmada_scheduler_estimator"


class ClusterCollector(Collector):
    """Reads the clusters when it is scraped."""

    def __init__(self, clusters: Sequence[Cluster]) -> None:
        self._clusters = clusters

    def collect(self) -> Iterable[Metric]:
        labels = ["cluster"]
        synced = GaugeMetricFamily("interp_estimator_cluster_synced", "1 once the first sync is done", labels=labels)
        trusted = GaugeMetricFamily("interp_estimator_cluster_trusted", "1 while estimates are given", labels=labels)
        stale = GaugeMetricFamily(
            "interp_estimator_staleness_seconds", "For how long the mirror may have been wrong", labels=labels
        )
        nodes = GaugeMetricFamily("interp_estimator_nodes", "Nodes known", labels=labels)
        pods = GaugeMetricFamily("interp_estimator_pods", "Pods that take room on a node", labels=labels)
        for cluster in self._clusters:
            state = cluster.state()
            synced.add_metric([cluster.name], float(cluster.synced))
            trusted.add_metric([cluster.name], float(state is not None))
            if cluster.synced:
                stale.add_metric([cluster.name], cluster.staleness())
            if state is not None:
                nodes.add_metric([cluster.name], state.node_count)
                pods.add_metric([cluster.name], state.pod_count)
        yield from (synced, trusted, stale, nodes, pods, self._lists())

    def _lists(self) -> Metric:
        family = CounterMetricFamily("interp_estimator_lists", "Lists begun", labels=["cluster", "resource"])
        for cluster, resource, count in self._counted():
            family.add_metric([cluster, resource], count)
        return family

    def _counted(self) -> Iterator[tuple[str, str, int]]:
        for cluster in self._clusters:
            if isinstance(cluster, LiveCluster):
                for reflector in cluster.reflectors:
                    yield cluster.name, reflector.resource.path.rpartition("/")[2], reflector.relists


class Metrics:
    """The counters of one server, in a registry of its own."""

    def __init__(self, clusters: Sequence[Cluster]) -> None:
        self.registry = CollectorRegistry()
        self.registry.register(ClusterCollector(clusters))
        self.requests = Counter(
            "estimating_request",
            "Number of scheduler estimator requests",
            ["result", "type"],
            subsystem=_SUBSYSTEM,
            registry=self.registry,
        )
        self.latency = Histogram(
            "estimating_algorithm_duration_seconds",
            "Estimating algorithm latency in seconds for each step",
            ["result", "type", "step"],
            subsystem=_SUBSYSTEM,
            buckets=[0.001 * 2**i for i in range(10)],
            registry=self.registry,
        )
        self.no_opinion = Counter(
            "interp_estimator_no_opinion",
            "Requests answered with -1",
            ["cluster", "type"],
            registry=self.registry,
        )

    def record(self, kind: str, seconds: float, *, good: bool) -> None:
        result = "success" if good else "error"
        self.requests.labels(result, kind).inc()
        self.latency.labels(result, kind, "Total").observe(seconds)
