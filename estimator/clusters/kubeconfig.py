"""Kubeconfig files and the service account of a pod, read into `Access`: where an API server is and how to enter."""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import msgspec

from estimator.clusters.credentials import (
    CertificateFiles,
    Credential,
    ExecPlugin,
    FixedCredential,
    Grant,
    TokenFile,
    basic,
    bearer,
)
from interpreters.core.decoder_errors import misfit
from interpreters.core.documents import load_values
from interpreters.core.errors import DocumentError, InputError

SERVICE_ACCOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")


@dataclass(frozen=True, slots=True)
class Access:
    """One API server: its address, whom to trust, and what to show."""

    server: str
    credential: Credential = field(default_factory=FixedCredential)
    authority: bytes = b""  # PEM; empty means the system's authorities
    authority_file: Path | None = None  # read at every connect, it is rotated in place
    skip_verify: bool = False
    server_name: str = ""
    proxy: str = ""
    headers: tuple[tuple[str, str], ...] = ()  # impersonation


class _Wire(msgspec.Struct, rename="kebab"):
    """Kubeconfig keys are written-like-this."""


class _Cluster(_Wire):
    server: str = ""
    certificate_authority: str = ""
    certificate_authority_data: str = ""
    insecure_skip_tls_verify: bool = False
    tls_server_name: str = ""
    proxy_url: str = ""


class _EnvironmentVariable(msgspec.Struct):
    name: str
    value: str = ""


class _Exec(msgspec.Struct, rename="camel"):
    command: str
    args: list[str] | None = None
    env: list[_EnvironmentVariable] | None = None
    api_version: str = "client.authentication.k8s.io/v1"
    install_hint: str = ""
    provide_cluster_info: bool = False


class _User(_Wire):
    client_certificate: str = ""
    client_certificate_data: str = ""
    client_key: str = ""
    client_key_data: str = ""
    token: str = ""
    token_file: str = msgspec.field(default="", name="tokenFile")
    username: str = ""
    password: str = ""
    exec: _Exec | None = None
    auth_provider: Any = None
    impersonate: str = msgspec.field(default="", name="as")
    impersonate_groups: list[str] | None = msgspec.field(default=None, name="as-groups")
    impersonate_uid: str = msgspec.field(default="", name="as-uid")


class _Context(_Wire):
    cluster: str = ""
    user: str = ""


class _NamedCluster(_Wire):
    name: str
    cluster: _Cluster


class _NamedUser(_Wire):
    name: str
    user: _User | None = None


class _NamedContext(_Wire):
    name: str
    context: _Context


class _Config(_Wire):
    clusters: list[_NamedCluster] | None = None
    users: list[_NamedUser] | None = None
    contexts: list[_NamedContext] | None = None
    current_context: str = ""


def find_access(kubeconfig: Path | None, context: str = "", master: str | None = None) -> Access:
    """The access that flags ask for: a kubeconfig, an address alone, or the pod's own service account.

    `master` overrides the address of the kubeconfig, as it does for every Kubernetes component. None: there is no such
    flag, and none is advised.
    """
    if kubeconfig is not None:
        access = read_kubeconfig(kubeconfig, context)
        return replace(access, server=master.rstrip("/")) if master else access
    if master:
        return Access(master.rstrip("/"))
    advice = "name one with --kubeconfig"
    return service_account_access(advice=advice if master is None else f"{advice}, or an address with --master")


def service_account_access(
    folder: Path = SERVICE_ACCOUNT,
    environment: Mapping[str, str] = os.environ,
    advice: str = "name one with --kubeconfig",
) -> Access:
    """The access that a pod has by its service account. `advice` is for those who are in none."""
    host, port = environment.get("KUBERNETES_SERVICE_HOST", ""), environment.get("KUBERNETES_SERVICE_PORT", "")
    if not (host and port):
        raise InputError(f"no kubeconfig given and this is not a pod (KUBERNETES_SERVICE_HOST is not set); {advice}")
    address = f"[{host}]" if ":" in host else host
    return Access(f"https://{address}:{port}", TokenFile(folder / "token"), authority_file=folder / "ca.crt")


def read_kubeconfig(path: Path, context: str = "") -> Access:
    """One context of a kubeconfig, the current one unless named. Raises `InputError`."""
    config = _parse(path)
    wanted = context or config.current_context
    contexts = {named.name: named.context for named in config.contexts or ()}
    if wanted not in contexts:
        asked = f'no context "{wanted}"' if wanted else "no current-context, and none was named"
        raise InputError(f"{path}: {asked}; it has: {', '.join(sorted(contexts)) or 'none'}")
    chosen = contexts[wanted]
    clusters = {named.name: named.cluster for named in config.clusters or ()}
    users = {named.name: named.user or _User() for named in config.users or ()}
    if chosen.cluster not in clusters:
        raise InputError(f'{path}: context "{wanted}" names cluster "{chosen.cluster}", which is not there')
    if chosen.user and chosen.user not in users:
        raise InputError(f'{path}: context "{wanted}" names user "{chosen.user}", which is not there')
    return _access(path, clusters[chosen.cluster], users.get(chosen.user, _User()))


def _parse(path: Path) -> _Config:
    try:
        content = next(iter(load_values(path.read_bytes(), str(path))), None)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except DocumentError as error:
        raise InputError(f"{path}: not YAML: {error.problem}") from None
    try:
        return msgspec.convert(content, _Config)
    except msgspec.ValidationError as error:
        raise InputError(f"{path}: not a kubeconfig: {misfit(error, whole='the file', by_hand=True)}") from None


def _access(path: Path, cluster: _Cluster, user: _User) -> Access:
    if not cluster.server:
        raise InputError(f"{path}: the cluster has no server address")
    in_file = cluster.certificate_authority and not cluster.certificate_authority_data
    return Access(
        server=cluster.server.rstrip("/"),
        credential=_credential(path, cluster, user),
        authority=_decode(path, "certificate-authority-data", cluster.certificate_authority_data),
        authority_file=path.parent / cluster.certificate_authority if in_file else None,
        skip_verify=cluster.insecure_skip_tls_verify,
        server_name=cluster.tls_server_name,
        proxy=cluster.proxy_url,
        headers=_impersonation(user),
    )


def _credential(path: Path, cluster: _Cluster, user: _User) -> Credential:
    """Precedence as in client-go: a certificate and a token may stand together, everything else excludes the rest."""
    if user.auth_provider is not None:
        raise InputError(f"{path}: auth-provider was removed from Kubernetes; use an exec plugin instead")
    if user.exec is not None:
        return _exec_plugin(path, cluster, user.exec)
    if user.token_file:
        return TokenFile(path.parent / user.token_file)
    headers = bearer(user.token) if user.token else {}
    if user.username:
        headers = basic(user.username, user.password)
    if user.client_certificate_data or user.client_key_data:
        certificate = _decode(path, "client-certificate-data", user.client_certificate_data)
        key = _decode(path, "client-key-data", user.client_key_data)
        return FixedCredential(Grant(headers, certificate, key))
    if user.client_certificate:
        return CertificateFiles(path.parent / user.client_certificate, path.parent / user.client_key)
    return FixedCredential(Grant(headers))


def _exec_plugin(path: Path, cluster: _Cluster, plugin: _Exec) -> ExecPlugin:
    # A command with a slash is relative to the kubeconfig, a bare name is looked up in PATH.
    command = str((path.parent / plugin.command).absolute()) if "/" in plugin.command else plugin.command
    info: dict[str, object] = {
        "server": cluster.server,
        "certificate-authority-data": cluster.certificate_authority_data,
        "insecure-skip-tls-verify": cluster.insecure_skip_tls_verify,
    }
    return ExecPlugin(
        command=command,
        arguments=tuple(plugin.args or ()),
        environment={variable.name: variable.value for variable in plugin.env or ()},
        api_version=plugin.api_version,
        cluster=info if plugin.provide_cluster_info else None,
        install_hint=plugin.install_hint,
    )


def _impersonation(user: _User) -> tuple[tuple[str, str], ...]:
    headers = [("Impersonate-User", user.impersonate), ("Impersonate-Uid", user.impersonate_uid)]
    headers += [("Impersonate-Group", group) for group in user.impersonate_groups or ()]
    return tuple((name, value) for name, value in headers if value)


def _decode(path: Path, field_name: str, text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise InputError(f"{path}: {field_name} is not base64") from None
