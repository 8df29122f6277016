"""What is known of clusters at one moment, for a question asked once: from files, or from a look at API servers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from estimator.clusters.files import find_files, find_folders, read_files
from estimator.clusters.kubeconfig import Access
from estimator.fit.state import ClusterState


@dataclass(frozen=True, slots=True)
class KnownCluster:
    """A cluster by its nodes, by its Karmada Cluster object, by both; or not at all, and why."""

    name: str
    state: ClusterState | None = None
    summary: Mapping[str, Any] | None = None
    problem: str = ""
    staleness: float | None = None
    """Seconds for which this may have been wrong: the age of the newest file, 0 for a live cluster."""


def known_from_files(name: str, paths: Sequence[Path]) -> KnownCluster:
    """One cluster from the files that tell of it. Raises `InputError`."""
    told = read_files(paths)
    written = max(file.stat().st_mtime for path in paths for file in find_files(path))
    return KnownCluster(name, told.state, told.summary, staleness=max(0.0, time.time() - written))


def known_from_folder(path: Path, name: str = "") -> list[KnownCluster]:
    """The cluster in a file or folder, named after it; or one for each folder in it."""
    folders = [] if name else find_folders(path)
    if folders:
        return [known_from_files(folder.name, [folder]) for folder in folders]
    return [known_from_files(name or path.name.partition(".")[0] or str(path), [path])]


async def known_from_servers(accesses: Mapping[str, Access], seconds: float) -> list[KnownCluster]:
    """A look at each API server, all at once; one that cannot be read in time is known by its problem."""
    return list(await asyncio.gather(*(_look(name, access, seconds) for name, access in accesses.items())))


async def _look(name: str, access: Access, seconds: float) -> KnownCluster:
    # An HTTP client takes longer to load than a file to read.
    from estimator.clusters.apiserver import Throttle
    from estimator.clusters.cluster import LiveCluster

    cluster = LiveCluster(name, access, throttle=Throttle(rate=100, burst=200))
    running = asyncio.create_task(cluster.run())
    try:
        async with asyncio.timeout(seconds):
            await cluster.wait_synced()
    except TimeoutError:
        return KnownCluster(name, problem=cluster.problem or f"{access.server} was not read within {seconds:g} s")
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    return KnownCluster(name, cluster.mirror.state, staleness=0.0)
