"""The neighbours that interp meets nowhere else: etcd, two Kubernetes API servers and Karmada, as real processes.

`make live` builds them from the modules that go.mod names. One API server is Karmada's, the other a member cluster's.
"""

from __future__ import annotations

import base64
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from certs.folder import make_folder
from tests.live.api import TOKEN, Api, eventually, named

BUILT = Path(__file__).parents[2] / "build" / "live"
ESTIMATOR_PORT = 10352  # that the scheduler looks for in a Service; the Service says which port that really is
# Without the first gate Karmada asks for no components, without the second it does not count what quotas have used.
_GATES = "--feature-gates=MultiplePodTemplatesScheduling=true,FederatedQuotaEnforcement=true"
_SILENT = ("--metrics-bind-address=0", "--health-probe-bind-address=0", "--leader-elect=false")


@dataclass(frozen=True)
class ControlPlane:
    """Karmada with one member cluster."""

    karmada: Api
    member: Api
    pki: Path


@contextmanager
def control_plane(folder: Path) -> Iterator[ControlPlane]:
    """Everything but the scheduler, running until the end of the block; logs are in the folder."""
    pki = folder / "pki"
    make_folder(pki, ["localhost", "127.0.0.1"])
    (pki / "tokens.csv").write_text(f"{TOKEN},live,live,system:masters\n")
    with ExitStack() as running:
        etcd, peer = f"http://127.0.0.1:{free_port()}", f"http://127.0.0.1:{free_port()}"
        flags = [f"--data-dir={folder / 'etcd'}", f"--listen-client-urls={etcd}", f"--advertise-client-urls={etcd}",
                 f"--listen-peer-urls={peer}", "--unsafe-no-fsync"]  # fmt: skip
        running.enter_context(process(folder, "server", *flags))  # as the module of etcd calls it
        karmada = running.enter_context(_api_server(folder, Api("karmada", free_port(), pki), etcd))
        member = running.enter_context(_api_server(folder, Api("member", free_port(), pki), etcd))
        _install(karmada, member)
        running.enter_context(_karmada_webhook(folder, karmada))
        flags = ["--cluster-success-threshold=1s", "--cluster-status-update-frequency=1s", *_SILENT, _GATES]
        running.enter_context(process(folder, "controller-manager", f"--kubeconfig={karmada.kubeconfig}", *flags))
        _join(karmada, member)
        yield ControlPlane(karmada, member, pki)


@contextmanager
def scheduler(folder: Path, karmada: Api) -> Iterator[None]:
    """Karmada's scheduler, which asks estimators."""
    flags = ["--enable-scheduler-estimator", f"--scheduler-estimator-port={ESTIMATOR_PORT}", *_SILENT, _GATES]
    with process(folder, "scheduler", f"--kubeconfig={karmada.kubeconfig}", *flags):
        yield


@contextmanager
def process(folder: Path, program: str, *flags: str) -> Iterator[Callable[[], None]]:
    """A program that was built, or another by its path. Yields a check that it still runs."""
    path = BUILT / "bin" / program
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
def _karmada_webhook(folder: Path, karmada: Api) -> Iterator[None]:
    """Karmada's own admission, which completes policies and refuses registrations that it does not like."""
    port = free_port()
    flags = [f"--secure-port={port}", "--bind-address=127.0.0.1", f"--cert-dir={karmada.pki}",
             "--metrics-bind-address=0", "--health-probe-bind-address=127.0.0.1:0", _GATES]  # fmt: skip
    with process(folder, "webhook", f"--kubeconfig={karmada.kubeconfig}", *flags) as check:
        eventually(lambda: check() or _listens(port), "Karmada's webhook listens")
        text = (_sources() / "artifacts/deploy/webhook-configuration.yaml").read_text()
        text = text.replace("{{caBundle}}", base64.b64encode((karmada.pki / "ca.crt").read_bytes()).decode())
        text = text.replace("karmada-webhook.karmada-system.svc:443", f"127.0.0.1:{port}")
        karmada.create(*yaml.safe_load_all(text))
        yield


def _install(karmada: Api, member: Api) -> None:
    """The kinds of Karmada on one side, those of people on both."""
    bases = sorted((_sources() / "charts/karmada/_crds/bases").glob("*/*.yaml"))
    karmada.create(*(yaml.safe_load(base.read_text()) for base in bases))
    # Karmada serves Cluster from an API server of its own; its controllers do not see the difference.
    karmada.create(_permissive("cluster.karmada.io", "v1alpha1", "Cluster", "Cluster"))
    for api in (karmada, member):
        api.create(_permissive("flink.apache.org", "v1beta1", "FlinkDeployment", "Namespaced"))
    for name in ("karmada-system", "karmada-cluster", "streams", "spare"):
        karmada.create(named("v1", "Namespace", name))
    for version, kind in [
        ("work.karmada.io/v1alpha2", "ResourceBinding"),
        ("policy.karmada.io/v1alpha1", "PropagationPolicy"),
        ("cluster.karmada.io/v1alpha1", "Cluster"),
        ("flink.apache.org/v1beta1", "FlinkDeployment"),
    ]:
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

    eventually(is_ready, "Karmada sees the member cluster")


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _listens(port: int) -> bool:
    with socket.socket() as caller:
        return caller.connect_ex(("127.0.0.1", port)) == 0


def _sources() -> Path:
    """Where Go keeps the Karmada that the peers were built from."""
    listed = ["go", "list", "-mod=mod", "-m", "-f", "{{.Dir}}", "github.com/karmada-io/karmada"]
    return Path(subprocess.run(listed, cwd=BUILT, check=True, capture_output=True, text=True).stdout.strip())


def _permissive(group: str, version: str, kind: str, scope: str) -> dict[str, Any]:
    """A definition of a kind that takes any fields."""
    plural = f"{kind.lower()}s"
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    served = {"name": version, "served": True, "storage": True, "schema": schema, "subresources": {"status": {}}}
    names = {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower()}
    definition = named("apiextensions.k8s.io/v1", "CustomResourceDefinition", f"{plural}.{group}")
    return {**definition, "spec": {"group": group, "scope": scope, "versions": [served], "names": names}}
