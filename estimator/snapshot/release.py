"""Which release of Karmada an API server belongs to, told by its schema of ResourceBinding."""

from __future__ import annotations

from typing import Final

import msgspec

from estimator.snapshot.apiserver import ApiError, ApiServer
from interpreters.core.karmada import BINDING_CRD, Release, release_of_crd

_CRDS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_UNSAID: Final = (401, 403, 404)


async def live_release(server: ApiServer) -> Release | None:
    """The release, or None when the server has no such definition or does not let us read it."""
    try:
        crd = msgspec.json.decode(await server.get(f"{_CRDS}/{BINDING_CRD}"), type=dict)
    except ApiError as error:
        if error.status in _UNSAID:
            return None
        raise
    return release_of_crd(crd)
