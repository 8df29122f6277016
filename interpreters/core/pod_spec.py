"""The parts of a pod template that decide what a pod needs, typed. Absent and null are the same, as in Kubernetes."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from interpreters.core.decoder_errors import misfit
from interpreters.core.errors import RequestError
from interpreters.core.requirements import NodeSelector, Toleration, Wire

Amount = str | int | float
T = TypeVar("T")


class Resources(Wire, frozen=True):
    requests: dict[str, Amount] | None = None
    limits: dict[str, Amount] | None = None


class NamedReference(Wire, frozen=True):
    name: str | None = None


class EnvFrom(Wire, frozen=True):
    config_map_ref: NamedReference | None = None
    secret_ref: NamedReference | None = None


class ValueFrom(Wire, frozen=True):
    config_map_key_ref: NamedReference | None = None
    secret_key_ref: NamedReference | None = None


class EnvVar(Wire, frozen=True):
    value_from: ValueFrom | None = None


class Container(Wire, frozen=True):
    resources: Resources | None = None
    restart_policy: str | None = None
    env_from: list[EnvFrom] | None = None
    env: list[EnvVar] | None = None

    @property
    def is_sidecar(self) -> bool:
        """Only meaningful for an init container: it keeps running beside the others."""
        return self.restart_policy == "Always"


class SecretName(Wire, frozen=True):
    secret_name: str | None = None


class SecretReferrer(Wire, frozen=True):
    secret_ref: NamedReference | None = None


class NodePublish(Wire, frozen=True):
    node_publish_secret_ref: NamedReference | None = None


class Claim(Wire, frozen=True):
    claim_name: str | None = None


class Projection(Wire, frozen=True):
    config_map: NamedReference | None = None
    secret: NamedReference | None = None


class Projected(Wire, frozen=True):
    sources: list[Projection] | None = None


class Volume(Wire, frozen=True):
    config_map: NamedReference | None = None
    secret: SecretName | None = None
    projected: Projected | None = None
    persistent_volume_claim: Claim | None = None
    azure_file: SecretName | None = None
    cephfs: SecretReferrer | None = None
    cinder: SecretReferrer | None = None
    flex_volume: SecretReferrer | None = None
    rbd: SecretReferrer | None = None
    scale_io: SecretReferrer | None = msgspec.field(default=None, name="scaleIO")
    iscsi: SecretReferrer | None = None
    storageos: SecretReferrer | None = None
    csi: NodePublish | None = None


class NodeAffinity(Wire, frozen=True):
    required: NodeSelector | None = msgspec.field(default=None, name="requiredDuringSchedulingIgnoredDuringExecution")


class Affinity(Wire, frozen=True):
    node_affinity: NodeAffinity | None = None


class PodSpec(Wire, frozen=True):
    containers: list[Container] | None = None
    init_containers: list[Container] | None = None
    resources: Resources | None = None
    overhead: dict[str, Amount] | None = None
    node_selector: dict[str, str] | None = None
    affinity: Affinity | None = None
    tolerations: list[Toleration] | None = None
    volumes: list[Volume] | None = None
    image_pull_secrets: list[NamedReference] | None = None
    service_account_name: str | None = None


class PodTemplate(Wire, frozen=True):
    spec: PodSpec | None = None


def read_pod_spec(spec: Any) -> PodSpec:
    """Check a pod spec's types. Raises `RequestError` with the field path."""
    return _convert(spec, PodSpec, "podSpec")


def read_pod_template(template: Any) -> PodSpec:
    """The checked spec of a pod template; an absent one is an empty one."""
    return _convert(template, PodTemplate, "podTemplate").spec or PodSpec()


def _convert(value: Any, into: type[T], root: str) -> T:
    try:
        return msgspec.convert(value, into)
    except msgspec.ValidationError as error:
        raise RequestError(misfit(error, root)) from None
