"""The neighbours that interp meets nowhere else: etcd, three Kubernetes API servers and Karmada, as real processes.

`make live` builds them from the modules that go.mod names, or Karmada from the checkout that KARMADA_SRC names. One API
server is Karmada's, the others are those of two member clusters.
"""

from __future__ import annotations

import base64
import os
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from certs.folder import make_folder
from tests.live.api import TOKEN, Api, eventually, named

BUILT = Path(__file__).parents[2] / "build" / "live"
ESTIMATOR_PORT = 10352  # that the scheduler looks for in a Service; the Service says which port that really is
MEMBERS = ("member1", "member2")
# Karmada's programs come from its checkout if there is one, everything else from the published modules.
_CHECKOUT = os.environ.get("KARMADA_SRC", "")
_KARMADA = ("controller-manager", "scheduler", "webhook")
_SILENT = ("--metrics-bind-address=0", "--health-probe-bind-address=0", "--leader-elect=false")
_HASTE = ("--kube-api-qps=500", "--kube-api-burst=1000")  # many objects come at once, and no other tenant is near


@dataclass(frozen=True)
class ControlPlane:
    """Karmada with two member clusters."""

    karmada: Api
    members: tuple[Api, ...]
    pki: Path
    gates: str

    @property
    def member(self) -> Api:
        """The first of them, for what concerns only one."""
        return self.members[0]


@contextmanager
def control_plane(
    folder: Path, definitions: Sequence[dict[str, Any]], *, components: bool = True
) -> Iterator[ControlPlane]:
    """Everything but the scheduler, running until the end of the block; logs are in the folder.

    With `components` Karmada asks for those (the feature gate MultiplePodTemplatesScheduling, which is off by default).
    """
    pki = folder / "pki"
    make_folder(pki, ["localhost", "127.0.0.1"])
    (pki / "tokens.csv").write_text(f"{TOKEN},live,live,system:masters\n")
    # Without the second gate Karmada does not count what quotas have used.
    gates = f"--feature-gates=MultiplePodTemplatesScheduling={str(components).lower()},FederatedQuotaEnforcement=true"
    with ExitStack() as running:
        etcd = running.enter_context(_etcd(folder))
        karmada, *members = (
            running.enter_context(_api_server(folder, Api(name, free_port(), pki), etcd))
            for name in ("karmada", *MEMBERS)
        )
        _install(karmada, members, definitions)
        running.enter_context(_karmada_webhook(folder, karmada, gates))
        flags = ["--cluster-success-threshold=1s", "--cluster-status-update-frequency=1s", "--cluster-api-qps=500",
                 "--cluster-api-burst=1000", *_HASTE, *_SILENT, gates]  # fmt: skip
        running.enter_context(process(folder, "controller-manager", f"--kubeconfig={karmada.kubeconfig}", *flags))
        for member in members:
            _join(karmada, member)
        yield ControlPlane(karmada, tuple(members), pki, gates)


@contextmanager
def karmada_api(folder: Path, definitions: Sequence[dict[str, Any]]) -> Iterator[Api]:
    """Karmada's API server alone, with its kinds and nobody who acts on them."""
    pki = folder / "pki"
    make_folder(pki, ["localhost", "127.0.0.1"])
    (pki / "tokens.csv").write_text(f"{TOKEN},live,live,system:masters\n")
    with _etcd(folder) as etcd, _api_server(folder, Api("karmada", free_port(), pki), etcd) as karmada:
        _install(karmada, [], definitions)
        yield karmada


@contextmanager
def _etcd(folder: Path) -> Iterator[str]:
    """Where it is reached."""
    etcd, peer = f"http://127.0.0.1:{free_port()}", f"http://127.0.0.1:{free_port()}"
    flags = [f"--data-dir={folder / 'etcd'}", f"--listen-client-urls={etcd}", f"--advertise-client-urls={etcd}",
             f"--listen-peer-urls={peer}", "--unsafe-no-fsync"]  # fmt: skip
    with process(folder, "server", *flags):  # as the module of etcd calls it
        yield etcd


@contextmanager
def scheduler(folder: Path, plane: ControlPlane, *, estimators: bool = True) -> Iterator[None]:
    """Karmada's scheduler, which asks estimators or goes by its own summary of the clusters alone."""
    flags = [f"--kubeconfig={plane.karmada.kubeconfig}", *_HASTE, *_SILENT, plane.gates]
    if estimators:
        flags += ["--enable-scheduler-estimator", f"--scheduler-estimator-port={ESTIMATOR_PORT}"]
    with process(folder, "scheduler", *flags):
        yield


@contextmanager
def process(folder: Path, program: str, *flags: str) -> Iterator[Callable[[], None]]:
    """A program that was built, or another by its path. Yields a check that it still runs."""
    path = BUILT / ("checkout" if _CHECKOUT and program in _KARMADA else "bin") / program
    with (folder / f"{path.name}-{free_port()}.log").open("w") as log:
        running = subprocess.Popen([path, *flags], stdout=log, stderr=log, stdin=subprocess.DEVNULL)

        def check() -> None:
            assert running.poll() is None, f"{program} ended before its time; {log.name} says why"

        try:
            yield check
            check()
        finally:
            running.send_signal(signal.SIGTERM)
            try:
                running.wait(20)
            except subprocess.TimeoutExpired:
                running.kill()
                running.wait()


@contextmanager
def _api_server(folder: Path, api: Api, etcd: str) -> Iterator[Api]:
    api.write_kubeconfig()
    certificate, key = api.pki / "tls.crt", api.pki / "tls.key"
    flags = [
        f"--etcd-servers={etcd}", f"--etcd-prefix=/{api.name}", "--bind-address=127.0.0.1", f"--secure-port={api.port}",
        "--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none", "--service-cluster-ip-range=10.0.0.0/24",
        f"--tls-cert-file={certificate}", f"--tls-private-key-file={key}", "--authorization-mode=RBAC",
        f"--token-auth-file={api.pki / 'tokens.csv'}", "--anonymous-auth=false", "--service-account-issuer=https://live",
        f"--service-account-key-file={certificate}", f"--service-account-signing-key-file={key}",
        "--disable-admission-plugins=ServiceAccount",
    ]  # fmt: skip
    with process(folder, "kube-apiserver", *flags) as check:
        eventually(lambda: check() or api.is_ready(), f"the API server {api.name} is ready")
        yield api


@contextmanager
def _karmada_webhook(folder: Path, karmada: Api, gates: str) -> Iterator[None]:
    """Karmada's own admission, which completes policies and refuses registrations that it does not like."""
    port = free_port()
    flags = [f"--secure-port={port}", "--bind-address=127.0.0.1", f"--cert-dir={karmada.pki}",
             "--metrics-bind-address=0", "--health-probe-bind-address=127.0.0.1:0", gates]  # fmt: skip
    with process(folder, "webhook", f"--kubeconfig={karmada.kubeconfig}", *flags) as check:
        eventually(lambda: check() or _listens(port), "Karmada's webhook listens")
        text = (_sources() / "artifacts/deploy/webhook-configuration.yaml").read_text()
        text = text.replace("{{caBundle}}", base64.b64encode((karmada.pki / "ca.crt").read_bytes()).decode())
        text = text.replace("karmada-webhook.karmada-system.svc:443", f"127.0.0.1:{port}")
        karmada.create(*yaml.safe_load_all(text))
        yield


def _install(karmada: Api, members: Sequence[Api], definitions: Sequence[dict[str, Any]]) -> None:
    """The kinds of Karmada on one side, those of people on all."""
    bases = sorted((_sources() / "charts/karmada/_crds/bases").glob("*/*.yaml"))
    karmada.create(*(yaml.safe_load(base.read_text()) for base in bases))
    # Karmada serves Cluster from an API server of its own; its controllers do not see the difference.
    karmada.create(permissive("cluster.karmada.io", "v1alpha1", "Cluster", "Cluster"))
    for api in (karmada, *members):
        api.create(*definitions)
    for name in ("karmada-system", "karmada-cluster"):
        karmada.create(named("v1", "Namespace", name))
    awaited = [
        ("work.karmada.io/v1alpha2", "ResourceBinding"),
        ("policy.karmada.io/v1alpha1", "PropagationPolicy"),
        ("cluster.karmada.io/v1alpha1", "Cluster"),
    ]
    for definition in definitions:
        spec = definition["spec"]
        awaited.append((f"{spec['group']}/{spec['versions'][0]['name']}", spec["names"]["kind"]))
    for version, kind in awaited:
        eventually(lambda version=version, kind=kind: karmada.serves(version, kind), f"{kind} is served")  # type: ignore[misc]


def _join(karmada: Api, member: Api) -> None:
    """What `karmadactl join` leaves behind, as far as the controllers need it."""
    secret = named("v1", "Secret", member.name, "karmada-cluster")
    cluster = named("cluster.karmada.io/v1alpha1", "Cluster", member.name)
    access = {"token": TOKEN, "caBundle": (member.pki / "ca.crt").read_text()}
    spec = {"syncMode": "Push", "apiEndpoint": member.url, "secretRef": secret["metadata"]}
    karmada.create({**secret, "stringData": access}, {**cluster, "spec": spec})

    def is_ready() -> bool:
        conditions = karmada.find(cluster).get("status", {}).get("conditions", [])
        return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)

    eventually(is_ready, f"Karmada sees {member.name}")


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _listens(port: int) -> bool:
    with socket.socket() as caller:
        return caller.connect_ex(("127.0.0.1", port)) == 0


def karmada_version() -> str:
    """The version of the Karmada that was built, as its module says it; of a checkout nobody says it."""
    return "" if _CHECKOUT else _module("{{.Version}}").removeprefix("v")


def _sources() -> Path:
    """Where the Karmada lies that the peers were built from."""
    return Path(_CHECKOUT or _module("{{.Dir}}"))


def _module(told: str) -> str:
    listed = ["go", "list", "-mod=mod", "-m", "-f", told, "github.com/karmada-io/karmada"]
    return subprocess.run(listed, cwd=BUILT, check=True, capture_output=True, text=True).stdout.strip()


def permissive(group: str, version: str, kind: str, scope: str = "Namespaced") -> dict[str, Any]:
    """A definition of a kind that takes any fields."""
    plural = f"{kind.lower()}s"
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    served = {"name": version, "served": True, "storage": True, "schema": schema, "subresources": {"status": {}}}
    names = {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower()}
    definition = named("apiextensions.k8s.io/v1", "CustomResourceDefinition", f"{plural}.{group}")
    definition["metadata"]["annotations"] = {"api-approved.kubernetes.io": "unapproved"}  # asked for in *.k8s.io
    return {**definition, "spec": {"group": group, "scope": scope, "versions": [served], "names": names}}
