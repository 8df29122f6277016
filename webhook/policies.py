"""Judging propagation policies in admission: errors deny, warnings warn, what is merely worth knowing is not said."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from estimator.accounting.review import Verdict, decode_review, encode_review
from estimator.placement.checks import check_policy
from estimator.placement.matching import is_policy
from estimator.placement.policy import Cluster, read_cluster
from estimator.snapshot.apiserver import ApiServer
from estimator.snapshot.kubeconfig import find_access
from interpreters.core.errors import RequestError
from interpreters.core.karmada import RELEASES
from interpreters.files import read_documents
from webhook.settings import Settings
from webhook.watching import Fingerprint, fingerprint

_CLUSTERS_PATH = "/apis/cluster.karmada.io/v1alpha1/clusters"
_FRESH_SECONDS = 10.0


class PolicyJudge:
    """Knows the member clusters, if the settings say where they are, so that groups without any are noticed."""

    def __init__(self, settings: Settings) -> None:
        self._files = settings.member_clusters
        self._kubeconfig = settings.kubeconfig
        self._known: Sequence[Cluster] | None = None
        self._seen: Fingerprint = ()
        self._looked = float("-inf")
        self._looking = asyncio.Lock()

    async def review(self, body: bytes) -> bytes:
        """The answer to an AdmissionReview. Raises `RequestError` for what is none."""
        request = decode_review(body)
        if request.operation not in ("CREATE", "UPDATE"):
            return encode_review(request.uid, Verdict(True))
        if not request.object:
            raise RequestError("request.object: expected an object, got nothing")
        try:
            policy = msgspec.json.decode(request.object)
        except (msgspec.DecodeError, RecursionError) as error:
            raise RequestError(f"request.object: {error}") from None
        if not isinstance(policy, dict) or not is_policy(policy):
            return encode_review(request.uid, Verdict(True))
        # Which release asks is not known: what only a newer one refuses is warned of, for its own API server denies it.
        findings = check_policy(policy, await self._clusters(), release=RELEASES[0])
        errors = [str(finding) for finding in findings if finding.level == "error"]
        warnings = tuple(str(finding) for finding in findings if finding.level == "warning")
        return encode_review(request.uid, Verdict(not errors, "; ".join(errors), warnings))

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
        now = await asyncio.to_thread(fingerprint, self._files)
        if now == self._seen:
            return self._known
        documents = [document for file in self._files for document in await asyncio.to_thread(read_documents, file)]
        self._seen = now
        return [read_cluster(document) for document in documents]

    async def _from_karmada(self) -> Sequence[Cluster]:
        async with ApiServer(find_access(Path(self._kubeconfig))) as server:
            answer = msgspec.json.decode(await server.get(_CLUSTERS_PATH))
        return [read_cluster(item) for item in answer.get("items") or ()]
