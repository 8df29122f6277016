"""The settings of the estimator server, under the names of karmada-scheduler-estimator's flags."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from interpreters.core.errors import InputError
from interpreters.core.karmada.api import QUOTA_ESTIMATE

_LAST_PORT: Final = 65535


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that flags can say. The defaults are upstream's, except that quotas count unless switched off."""

    cluster_name: str = ""
    kubeconfig: Path | None = None
    context: str = ""
    master: str = ""
    clusters: Sequence[str] = ()  # NAME=KUBECONFIG[#CONTEXT] or NAME=FILE or NAME=FOLDER
    bind_address: str = ""  # all addresses with TLS, the loopback without
    server_port: int = 10352
    reflection: bool = False
    cert_file: Path | None = None
    key_file: Path | None = None
    client_ca_file: Path | None = None
    skip_client_verify: bool = False
    metrics_address: str = ":8080"
    probe_address: str = ":10351"
    feature_gates: str = ""
    parallelism: int = 16
    kube_api_qps: float = 20.0
    kube_api_burst: int = 30
    lost_after: float = 60.0
    grace_seconds: float = 10.0

    def __post_init__(self) -> None:
        if self.parallelism < 1:
            raise InputError(f"--parallelism: expected 1 or more, got {self.parallelism}")
        if not 0 <= self.server_port <= _LAST_PORT:
            raise InputError(f"--server-port: expected 0 to {_LAST_PORT}, got {self.server_port}")
        for flag, seconds in (("--lost-after", self.lost_after), ("--grace", self.grace_seconds)):
            if not seconds >= 0:
                raise InputError(f"{flag}: expected seconds, 0 or more, got {seconds:g}")
        if (self.cert_file is None) != (self.key_file is None):
            raise InputError("--grpc-auth-cert-file and --grpc-auth-key-file belong together; give both or none")
        if self.client_ca_file is not None and self.cert_file is None:
            raise InputError(
                "--grpc-client-ca-file: needs --grpc-auth-cert-file; without it the port is plain text for everybody"
            )
        self.gate(QUOTA_ESTIMATE)

    def without_effect(self) -> Iterator[str]:
        """A sentence for each thing that was said and means nothing."""
        if not self.cluster_name:
            for flag, given in (
                ("--kubeconfig", self.kubeconfig),
                ("--context", self.context),
                ("--master", self.master),
            ):
                if given:
                    yield f"{flag} has no effect without --cluster-name; each --cluster names its own"
        if self.skip_client_verify and self.client_ca_file is None:
            yield "--insecure-skip-grpc-client-verify has no effect: without --grpc-client-ca-file nobody is verified"
        names = (part.partition("=")[0].strip() for part in self.feature_gates.split(","))
        for name in names:
            if name and name != QUOTA_ESTIMATE:
                yield f"--feature-gates: {name} has no effect here; {QUOTA_ESTIMATE} is the one that has"

    def gate(self, name: str, default: bool = True) -> bool:
        """Whether a feature is on. Gates that only other Karmada components read are accepted and ignored."""
        found = default
        for pair in filter(None, (part.strip() for part in self.feature_gates.split(","))):
            gate, separator, text = pair.partition("=")
            if not separator or text.lower() not in ("true", "false"):
                raise InputError(f'--feature-gates: expected Name=true or Name=false, got "{pair}"')
            if gate == name:
                found = text.lower() == "true"
        return found


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen, as the flags write it: `:8080`, `0.0.0.0:8080`, `[::1]:8080`; `0` is nowhere."""

    host: str
    port: int

    @staticmethod
    def parse(text: str, flag: str) -> Address | None:
        if text in ("0", ""):
            return None
        host, separator, port = text.rpartition(":")
        if not separator or not port.isdigit() or int(port) > _LAST_PORT:
            raise InputError(f'{flag}: expected host:port, :port or 0, got "{text}"')
        return Address(host.strip("[]"), int(port))
