"""Which release of Karmada an API server belongs to, told by its schema of ResourceBinding."""

from __future__ import annotations

from typing import Final

from estimator.clusters.apiserver import ApiError, ApiServer
from estimator.clusters.listing import get_object
from interpreters.core.karmada.releases import BINDING_CRD, Release, release_of_crd

_CRDS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_NOT_ALLOWED: Final = (401, 403)


async def live_release(server: ApiServer) -> Release | None:
    """The release, or None when the server has no such definition or does not let us read it."""
    try:
        crd = await get_object(server, f"{_CRDS}/{BINDING_CRD}")
    except ApiError as error:
        if error.status in _NOT_ALLOWED:
            return None
        raise
    return None if crd is None else release_of_crd(crd)
