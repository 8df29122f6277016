"""Which clusters a server follows, from its settings."""

from __future__ import annotations

from pathlib import Path

from estimator.clusters.apiserver import Throttle
from estimator.clusters.cluster import Cluster, LiveCluster
from estimator.clusters.files import FileCluster, is_kubeconfig
from estimator.clusters.kubeconfig import find_access
from estimator.service.precedence import Precedence
from estimator.service.settings import Settings
from interpreters.core.errors import InputError
from interpreters.core.karmada.api import QUOTA_ESTIMATE


def find_clusters(settings: Settings, precedence: Precedence) -> dict[str, Cluster]:
    """The clusters by name. Raises `InputError` when there is none, or for a duplicate name."""
    found: dict[str, Cluster] = {}
    if settings.cluster_name:
        access = (settings.kubeconfig, settings.context, settings.master)
        found[settings.cluster_name] = _live(settings.cluster_name, access, settings, precedence)
    for text in settings.clusters:
        name, separator, source = text.partition("=")
        if not (separator and name and source):
            raise InputError(f'--cluster: expected NAME=KUBECONFIG or NAME=FOLDER, got "{text}"')
        if name in found:
            raise InputError(f'--cluster: the name "{name}" is given twice')
        path, _, context = source.partition("#")
        if is_kubeconfig(Path(path)):
            found[name] = _live(name, (Path(path), context, ""), settings, precedence)
        else:
            found[name] = FileCluster(name, [Path(source)])
    if not found:
        raise InputError("no cluster to serve; name one with --cluster-name or --cluster NAME=KUBECONFIG|FOLDER")
    return found


def _live(name: str, access: tuple[Path | None, str, str], settings: Settings, precedence: Precedence) -> LiveCluster:
    return LiveCluster(
        name,
        find_access(*access),
        throttle=Throttle(settings.kube_api_qps, settings.kube_api_burst),
        give_way=precedence.give_way,
        lost_after=settings.lost_after,
        quotas=settings.gate(QUOTA_ESTIMATE),
    )
