"""Judging propagation policies in admission: errors deny, warnings warn, what is merely worth knowing is not said."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from estimator.accounting.admission.review import Verdict, decode_review, encode_review
from estimator.clusters.apiserver import ApiServer
from estimator.clusters.kubeconfig import find_access
from estimator.placement.checks import check_policy
from estimator.placement.findings import Level, PolicyFinding
from estimator.placement.matching import is_policy
from estimator.placement.policy import Cluster, read_cluster
from interpreters.background import Background
from interpreters.catalog import Catalog
from interpreters.components import kinds_sent_whole
from interpreters.core.errors import RequestError
from interpreters.core.json_values import decoded
from interpreters.core.karmada.api import CLUSTER
from interpreters.core.karmada.releases import RELEASES
from interpreters.files import Fingerprint, read_documents
from webhook.server.settings import Settings
from webhook.server.watching import fingerprint_below

_FRESH_SECONDS = 10.0
_MOST_VALUES = 50_000  # of a policy; the API server stores none with more than a megabyte
_MOST_TOLD = 20  # findings of a level: nobody reads more at a time
_LONGEST_FINDING = 500


class PolicyJudge:
    """Knows the member clusters, if the settings say where they are, so that groups without any are noticed."""

    def __init__(self, settings: Settings, background: Background, catalog: Callable[[], Catalog]) -> None:
        self._catalog = catalog
        self._background = background
        self._files = settings.member_clusters
        self._kubeconfig = settings.kubeconfig
        self._known: Sequence[Cluster] | None = None
        self._seen: Fingerprint = ()
        self._looked = float("-inf")
        self._looking = asyncio.Lock()

    async def review(self, body: bytes, deadline: float) -> bytes:
        """The answer to an AdmissionReview. Raises `RequestError` for what is none."""
        request = decode_review(body)
        if request.operation not in ("CREATE", "UPDATE"):
            return encode_review(request.uid, Verdict(True))
        if not request.object:
            raise RequestError("request.object: expected an object, got nothing")
        clusters = await self._clusters()
        several = kinds_sent_whole(self._catalog())
        # A rule may be asked for every group and every cluster: even a small policy is some work.
        size = len(request.object) * (1 + len(clusters or ()))
        verdict = await self._background.run(size, deadline, judge, bytes(request.object), clusters, several)
        return encode_review(request.uid, verdict)

    async def _clusters(self) -> Sequence[Cluster] | None:
        """The member clusters as of a few seconds ago; None if nobody said where to look."""
        if not self._files and not self._kubeconfig:
            return None
        async with self._looking:
            if time.monotonic() - self._looked >= _FRESH_SECONDS:
                self._known = await (self._from_files() if self._files else self._from_karmada())
                self._looked = time.monotonic()
        return self._known

    async def _from_files(self) -> Sequence[Cluster] | None:
        now = await asyncio.to_thread(fingerprint_below, self._files)
        if now == self._seen:
            return self._known
        documents = [document for file in self._files for document in await asyncio.to_thread(read_documents, file)]
        self._seen = now
        return [read_cluster(document) for document in documents]

    async def _from_karmada(self) -> Sequence[Cluster]:
        async with ApiServer(find_access(Path(self._kubeconfig))) as server:
            answer = msgspec.json.decode(await server.get(CLUSTER.path()))
        return [read_cluster(item) for item in answer.get("items") or ()]


def judge(text: bytes, clusters: Sequence[Cluster] | None, several: frozenset[tuple[str, str]]) -> Verdict:
    """What to answer about the JSON of a policy, or of anything else; `several` are the groups and kinds with several
    components. Raises `RequestError` if it is no JSON."""
    policy = decoded(text, lambda why: RequestError(f"request.object: {why}"), most=_MOST_VALUES)
    if not isinstance(policy, dict) or not is_policy(policy):
        return Verdict(True)
    # Which release asks is not known: what only a newer one refuses is warned of, for its own API server denies it.
    findings = check_policy(
        policy, clusters, several=lambda kind: (kind.group, kind.kind) in several, release=RELEASES[0]
    )
    errors = _worded(findings, "error")
    return Verdict(not errors, "; ".join(errors), _worded(findings, "warning"))


def _worded(findings: Sequence[PolicyFinding], level: Level) -> tuple[str, ...]:
    """The first findings of a level, and how many more there are."""
    found = [finding for finding in findings if finding.level == level]
    told = [f"{finding!s:.{_LONGEST_FINDING}}" for finding in found[:_MOST_TOLD]]
    return (*told, f"… and {len(found) - _MOST_TOLD} more") if len(found) > _MOST_TOLD else tuple(told)
