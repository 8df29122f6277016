"""TLS and mutual TLS of the gRPC port, with real handshakes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import grpc
import pytest

from estimator.service.pb import service_pb2_grpc
from estimator.service.server import EstimatorServer
from interpreters.core.errors import InputError
from tests.estimator.clusters.objects import node
from tests.estimator.service.authority import Authority
from tests.estimator.service.messages import replicas_request
from tests.estimator.service.serving import mirror, serving

FOUR = [node("a", cpu="4")]


async def ask(server: EstimatorServer, trusted: Authority, pair: tuple[bytes, bytes] | None = None) -> int:
    certificate, key = pair or (None, None)
    credentials = grpc.ssl_channel_credentials(trusted.pem, key, certificate)
    async with grpc.aio.secure_channel(f"127.0.0.1:{server.port}", credentials) as channel:
        stub = service_pb2_grpc.EstimatorStub(channel)
        answer = await stub.MaxAvailableReplicas(replicas_request("member1", {"cpu": "1"}), timeout=10)
    return int(answer.maxReplicas)


async def refused(server: EstimatorServer, trusted: Authority, pair: tuple[bytes, bytes] | None = None) -> bool:
    try:
        await ask(server, trusted, pair)
    except grpc.aio.AioRpcError as error:
        return error.code() is grpc.StatusCode.UNAVAILABLE
    return False


def files(folder: Path, authority: Authority, **more: Any) -> dict[str, Any]:
    certificate, key = authority.write(folder, "server")
    return {"cert_file": certificate, "key_file": key, **more}


async def test_tls_serves_those_who_trust_the_authority(tmp_path: Path) -> None:
    ours, theirs = Authority(), Authority("another authority")
    async with serving(mirror(tmp_path, "member1", FOUR), **files(tmp_path, ours)) as server:
        assert await ask(server, ours) == 4
        assert await refused(server, theirs)


@pytest.mark.parametrize("skip_verify", [False, True])
async def test_mutual_tls_asks_for_a_certificate_unless_verification_is_skipped(
    tmp_path: Path, skip_verify: bool
) -> None:
    servers, clients, strangers = Authority("servers"), Authority("clients"), Authority("strangers")
    settings = files(
        tmp_path, servers, client_ca_file=clients.write_authority(tmp_path), skip_client_verify=skip_verify
    )
    async with serving(mirror(tmp_path, "member1", FOUR), **settings) as server:
        assert await ask(server, servers, clients.issue("karmada-scheduler")) == 4
        assert await refused(server, servers) is not skip_verify
        assert await refused(server, servers, strangers.issue("karmada-scheduler")) is not skip_verify


async def test_a_rotated_certificate_is_picked_up_without_a_restart(tmp_path: Path) -> None:
    first, second = Authority("first"), Authority("second")
    settings = files(tmp_path, first)
    async with serving(mirror(tmp_path, "member1", FOUR), **settings) as server:
        assert await ask(server, first) == 4
        for path in second.write(tmp_path, "server"):
            os.utime(path, (1, 1))  # older than before: what counts is that it is another file
        assert await ask(server, second) == 4
        assert await refused(server, first)
        settings["key_file"].unlink()
        assert await ask(server, second) == 4, "half of a rotation is not taken up"


async def test_half_a_rotation_leaves_the_old_certificate_in_place(tmp_path: Path) -> None:
    first, second = Authority("first"), Authority("second")
    settings = files(tmp_path, first)
    certificate, _ = second.issue("server")
    async with serving(mirror(tmp_path, "member1", FOUR), **settings) as server:
        settings["cert_file"].write_bytes(certificate)
        assert await ask(server, first) == 4


async def test_files_that_hold_no_certificate_are_named(tmp_path: Path) -> None:
    settings = files(tmp_path, Authority())
    (tmp_path / "notes").write_text("no certificate")
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"cert_file": tmp_path / "notes"}, f"{tmp_path / 'notes'} and {settings['key_file']}: not a certificate and"),
        ({"key_file": tmp_path / "notes"}, f"{settings['cert_file']} and {tmp_path / 'notes'}: not a certificate and"),
        ({"client_ca_file": tmp_path / "notes"}, f"{tmp_path / 'notes'}: not certificates of an authority"),
        ({"client_ca_file": tmp_path / "gone"}, f"{tmp_path / 'gone'}: cannot be read"),
    ]
    cluster = mirror(tmp_path, "member1", FOUR)
    for more, problem in wrong:
        with pytest.raises(InputError) as refusal:
            async with serving(cluster, **{**settings, **more}):
                pass
        assert str(refusal.value).startswith(problem)
