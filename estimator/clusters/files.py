"""Mirrors from files: what `kubectl get nodes,pods,resourcequotas -A -o json` prints, also YAML, gzip, folders of it.

Other kinds in the files are passed over, except a Karmada Cluster object, which carries a resource summary of its own.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec

from estimator.clusters.mirror import Mirror, NodeCopy, PodCopy, QuotaCopy
from estimator.clusters.records import NodeRecord, PodRecord
from estimator.clusters.workloads import WorkloadReference, owned_by_name
from estimator.fit.state import ClusterState
from estimator.fit.summary import Summary
from interpreters.core.decoder_errors import misfit
from interpreters.core.documents import load_documents
from interpreters.core.errors import DocumentError, InputError
from interpreters.core.karmada.api import CLUSTER
from interpreters.files import Fingerprint, fingerprint, newest, read_bytes

log = logging.getLogger(__name__)

_SUFFIXES: Final = (".json", ".yaml", ".yml", ".json.gz", ".yaml.gz", ".yml.gz")
_KUBECONFIG: Final = re.compile(
    rb"""^kind: *['"]?Config['"]? *\r?$|^current-context:|["{ ]kind"?: *"?Config"?[,}]""", re.MULTILINE
)
_LOOK_BYTES: Final = 65536


class _Kinded(msgspec.Struct, rename="camel"):
    kind: str = ""
    api_version: str = ""


class _Listed(_Kinded):
    items: list[msgspec.Raw] | None = None


@dataclass(slots=True)
class FileMirror:
    """What files tell of one cluster."""

    mirror: Mirror = field(default_factory=Mirror)
    summary: dict[str, Any] | None = None
    """The Karmada Cluster object, when one is among the files."""

    nodes: int = 0
    pods: int = 0
    quotas: int = 0
    others: int = 0
    """Objects of kinds that tell nothing of a cluster's room."""

    blank: bool = True
    """Whether there was not a word in any of the files."""

    @property
    def state(self) -> ClusterState | None:
        """What its nodes tell; None when only a Karmada Cluster object tells of it."""
        return self.mirror.state if self.nodes or self.summary is None else None


def is_kubeconfig(path: Path) -> bool:
    """Whether a path is a kubeconfig rather than a mirror of a cluster. Raises `InputError` when nothing is there."""
    if path.is_dir():
        return False
    try:
        with path.open("rb") as file:
            beginning = file.read(_LOOK_BYTES)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    return _KUBECONFIG.search(beginning) is not None


def find_files(path: Path) -> list[Path]:
    """The file itself, or the JSON and YAML files of a folder, by name. Raises `InputError` when there are none."""
    if not path.is_dir():
        return [path]
    found = sorted(each for each in path.iterdir() if each.is_file() and each.name.endswith(_SUFFIXES))
    if not found:
        raise InputError(f"{path}: no {', '.join(_SUFFIXES)} file in this folder")
    return found


def find_folders(path: Path) -> list[Path]:
    """The folders of a folder that holds one per cluster; empty when `path` is one cluster itself."""
    if not path.is_dir() or any(each.is_file() and each.name.endswith(_SUFFIXES) for each in path.iterdir()):
        return []
    return sorted(each for each in path.iterdir() if each.is_dir() and not each.name.startswith("."))


def read_files(paths: Sequence[Path]) -> FileMirror:
    """Everything that the files and folders tell of one cluster. Raises `InputError` with the file's name.

    A list without a node is an empty cluster, and that is a fact. Nothing at all, other objects, or pods on nodes that
    no file names are a file forgotten, mistaken or half written, and no mirror to answer from.
    """
    told = FileMirror()
    nodes, pods, quotas = NodeCopy(told.mirror), PodCopy(told.mirror), QuotaCopy(told.mirror)
    for file in [file for path in paths for file in find_files(path)]:
        content = read_bytes(file)
        told.blank &= not content.strip()
        for kind, raw in _objects(content, str(file)):
            try:
                if kind == "Node":
                    nodes.put(msgspec.json.decode(raw, type=NodeRecord))
                    told.nodes += 1
                elif kind == "Pod":
                    pods.put(msgspec.json.decode(raw, type=PodRecord))
                    told.pods += 1
                elif kind == "ResourceQuota":
                    quotas.put(msgspec.json.decode(raw))
                    told.quotas += 1
                elif kind == "Cluster":
                    told.summary = _karmada_cluster(msgspec.json.decode(raw))
                else:
                    told.others += 1
            except msgspec.ValidationError as error:
                raise DocumentError(str(file), f"not a {kind}: {misfit(error, by_hand=True)}") from None
            except InputError as error:
                raise DocumentError(str(file), str(error)) from None
    elsewhere = told.blank or told.others or told.mirror.state.pod_count
    if not told.nodes and told.summary is None and elsewhere:
        where = ", ".join(map(str, paths))
        raise InputError(f"{where}: neither a Node nor a Karmada Cluster object in it; print it with: "
                         "kubectl get nodes,pods,resourcequotas -A -o json")  # fmt: skip
    return told


def _objects(content: bytes, where: str) -> Iterator[tuple[str, msgspec.Raw | bytes]]:
    """The kind of each object in a file and its JSON; a Karmada Cluster is told from the clusters of other groups."""
    try:
        if content.lstrip()[:1] == b"{" and _is_json(content):
            yield from _taken_apart(content)
            return
        for document in load_documents(content, where):
            yield from _taken_apart(msgspec.json.encode(document))
    except msgspec.ValidationError as error:
        raise DocumentError(where, f"not a Kubernetes object or list: {misfit(error, by_hand=True)}") from None


def _is_json(content: bytes) -> bool:
    """YAML's flow style starts alike."""
    try:
        msgspec.json.decode(content, type=msgspec.Raw)
    except msgspec.DecodeError:
        return False
    return True


def _karmada_cluster(cluster: dict[str, Any]) -> dict[str, Any]:
    """The object, once its summary proved readable: here the file can still be named."""
    try:
        Summary.of(cluster)
    except InputError as error:
        raise InputError(f"Cluster: {error}") from None
    return cluster


def _taken_apart(whole: bytes) -> Iterator[tuple[str, msgspec.Raw | bytes]]:
    listed = msgspec.json.decode(whole, type=_Listed)
    if listed.items is None:
        yield _kind(listed), whole
        return
    of_all = listed.kind.removesuffix("List")  # PodList: its items do not say what they are
    for item in listed.items:
        yield _kind(msgspec.json.decode(item, type=_Kinded)) or of_all, item


def _kind(item: _Kinded) -> str:
    if item.kind == CLUSTER.kind and not item.api_version.startswith(f"{CLUSTER.group}/"):
        return "other"
    return item.kind


@dataclass(slots=True)
class FileCluster:
    """A cluster whose mirror is in files; they are read again when they change."""

    name: str
    paths: Sequence[Path]
    look_seconds: float = 10.0
    problem: str = ""
    told: FileMirror | None = None
    _seen: Fingerprint = ()
    _written: float = 0.0

    @property
    def synced(self) -> bool:
        return self.told is not None

    def staleness(self) -> float:
        """The age of the newest file."""
        return max(0.0, time.time() - self._written)

    def state(self) -> ClusterState | None:
        return self.told.state if self.told else None

    def summary(self) -> Mapping[str, Any] | None:
        return self.told.summary if self.told else None

    async def unschedulable(self, workload: WorkloadReference, seconds: float) -> int | None:
        owned = owned_by_name(workload)
        return self.told.mirror.waiting_pods(owned, time.time() - max(seconds, 0.0)) if self.told else None

    async def run(self) -> None:
        while True:
            await self.look()
            await asyncio.sleep(self.look_seconds)

    async def look(self) -> None:
        """Read the files if they changed; a mirror that cannot be read leaves the last one standing."""
        try:
            files = [file for path in self.paths for file in find_files(path)]
            seen = fingerprint(files)
            if seen != self._seen:
                self.told = await asyncio.to_thread(read_files, files)
                self._seen, self._written = seen, newest(seen)
            self.problem = "" if self.state() else "its files hold a Karmada Cluster object, but no nodes"
        except (InputError, OSError) as error:
            self.problem = str(error)
            log.warning("cluster %s: %s", self.name, self.problem)
