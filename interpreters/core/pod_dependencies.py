"""The ConfigMaps, Secrets, ServiceAccount and claims that a pod template needs beside it in the cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from interpreters.core.pod_spec import Container, NamedReference, PodSpec, Volume, read_pod_template
from interpreters.core.requirements import Dependency


def pod_dependencies(template: Mapping[str, Any] | None, namespace: str) -> list[Dependency]:
    """Each once: ConfigMaps, Secrets, the ServiceAccount unless it is `default`, then PersistentVolumeClaims."""
    spec = read_pod_template(template or {})
    account = spec.service_account_name
    claims = (volume.persistent_volume_claim for volume in spec.volumes or ())
    found: list[tuple[str, Iterable[str | None]]] = [
        ("ConfigMap", _config_maps(spec)),
        ("Secret", _secrets(spec)),
        ("ServiceAccount", [account if account != "default" else None]),
        ("PersistentVolumeClaim", (claim.claim_name for claim in claims if claim)),
    ]
    return [
        Dependency(api_version="v1", kind=kind, namespace=namespace, name=name)
        for kind, names in found
        for name in dict.fromkeys(name for name in names if name)
    ]


def _containers(spec: PodSpec) -> Iterator[Container]:
    return chain(spec.init_containers or (), spec.containers or ())


def _name(reference: NamedReference | None) -> str | None:
    return reference.name if reference else None


def _config_maps(spec: PodSpec) -> Iterator[str | None]:
    for container in _containers(spec):
        for source in container.env_from or ():
            yield _name(source.config_map_ref)
        for variable in container.env or ():
            yield _name(variable.value_from.config_map_key_ref) if variable.value_from else None
    for volume in spec.volumes or ():
        yield _name(volume.config_map)
        for projection in (volume.projected.sources if volume.projected else None) or ():
            yield _name(projection.config_map)


def _secrets(spec: PodSpec) -> Iterator[str | None]:
    for pull_secret in spec.image_pull_secrets or ():
        yield pull_secret.name
    for container in _containers(spec):
        for source in container.env_from or ():
            yield _name(source.secret_ref)
        for variable in container.env or ():
            yield _name(variable.value_from.secret_key_ref) if variable.value_from else None
    for volume in spec.volumes or ():
        yield from _volume_secrets(volume)


def _volume_secrets(volume: Volume) -> Iterator[str | None]:
    for holder in (volume.azure_file, volume.secret):
        yield holder.secret_name if holder else None
    for referrer in (
        volume.cephfs,
        volume.cinder,
        volume.flex_volume,
        volume.rbd,
        volume.scale_io,
        volume.iscsi,
        volume.storageos,
    ):
        yield _name(referrer.secret_ref) if referrer else None
    yield _name(volume.csi.node_publish_secret_ref) if volume.csi else None
    for projection in (volume.projected.sources if volume.projected else None) or ():
        yield _name(projection.secret)
