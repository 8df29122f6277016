"""Ready, reloading, draining, several processes, and clients that go away: against real processes and signals."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import socket
import ssl
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from certs.folder import make_folder, read_folder, renew_authority, renew_server, write_folder
from tests.webhook.server import ENVELOPE, SCRIPTS, Client, Server, eventually, request

HEALTH = request("starlark", "InterpretHealth")


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """Certificates and scripts that a test may change."""
    make_folder(tmp_path, ["localhost", "127.0.0.1"])
    shutil.copytree(SCRIPTS, tmp_path / "scripts")
    return tmp_path


def flags(own: Path, *more: str) -> list[str]:
    return ["--scripts", str(own / "scripts"), "--bundled-language", "none", *more]


def replies_with(own: Path, text: str) -> None:
    """Let the script answer every InterpretReplica with this."""
    file = own / "scripts/stage.example.org/v1/Act/interpreter.star"
    temporary = file.with_suffix(".tmp")
    temporary.write_text(f"def GetReplicas(obj):\n    return {text}\n")
    temporary.replace(file)


def replicas(client: Client) -> Any:
    return client.interpret(request("starlark", "InterpretReplica", replicas=3)).get("replicas")


def test_health_readiness_version_and_openapi_are_served(client: Client) -> None:
    assert client.get("/healthz") == (200, {"status": "ok"})
    status, ready = client.get("/readyz")
    assert (status, ready["ready"], set(ready["checks"].values())) == (200, True, {"ok"})
    kinds = client.get("/version")[1]["kinds"]
    assert "InterpretComponent" in kinds["stage.example.org/v1 Act"]
    assert "/interpret" in client.get("/openapi.json")[1]["paths"]


@pytest.mark.parametrize("watch", ["auto", "poll", "off"])
def test_a_changed_script_answers_soon_and_a_broken_one_leaves_the_old_in_place(own: Path, watch: str) -> None:
    with Server(own, *flags(own, "--watch", watch, "--watch-seconds", "0.1")) as server:
        client = Client(server.port, own / "ca.crt")

        def changed(text: str, count: int, message: str) -> None:
            replies_with(own, text)
            if watch == "off":
                server.signal(signal.SIGHUP)
            server.wait_for(message, count, what="scripts")

        assert replicas(client) == 3
        changed("11", 1, "reloaded")
        assert replicas(client) == 11

        changed("(", 1, "reload failed; the old ones go on serving")
        assert replicas(client) == 11
        status, ready = client.get("/readyz")
        assert (status, ready["ready"]) == (200, True)
        assert "interpreter.star" in ready["failedReloads"]["scripts"]
        assert client.metric("interp_reloads_total", what="scripts", outcome="failed") >= 1
        assert client.metric("interp_reload_failing", what="scripts") == 1

        changed("12", 2, "reloaded")
        assert replicas(client) == 12
        assert "failedReloads" not in client.get("/readyz")[1]
        assert client.metric("interp_reload_failing", what="scripts") == 0


def test_a_config_map_swap_is_noticed(own: Path) -> None:
    """A mounted ConfigMap shows files through a `..data` link that is replaced in one step."""
    mount = own / "mount"
    path = "stage.example.org/v1/Act"
    (mount / path).mkdir(parents=True)

    def publish(generation: str, answer: int) -> None:
        (mount / generation).mkdir()
        (mount / generation / "act.star").write_text(f"def GetReplicas(obj):\n    return {answer}\n")
        (mount / "..next").symlink_to(generation)
        (mount / "..next").rename(mount / "..data")

    publish("..one", 1)
    (mount / path / "interpreter.star").symlink_to(mount / "..data" / "act.star")
    with Server(own, "--scripts", str(mount), "--bundled-language", "none") as server:
        client = Client(server.port, own / "ca.crt")
        assert replicas(client) == 1
        publish("..two", 2)
        server.wait_for("reloaded", what="scripts")
        assert replicas(client) == 2


def serial(port: int, bundle: Path, name: str | None = "localhost") -> int:
    """The serial number of the certificate that a new connection is shown."""
    context = ssl.create_default_context(cafile=str(bundle))
    context.check_hostname = name is not None
    with (
        socket.create_connection(("localhost", port)) as plain,
        context.wrap_socket(plain, server_hostname=name) as tls,
    ):
        return int(str((tls.getpeercert() or {})["serialNumber"]), 16)


def test_rotated_certificates_are_served_to_new_connections_and_broken_ones_are_not(own: Path) -> None:
    with Server(own, *flags(own)) as server:
        client = Client(server.port, own / "ca.crt")
        old_bundle = own / "old.crt"
        shutil.copy(own / "ca.crt", old_bundle)
        first = serial(server.port, own / "ca.crt")
        write_folder(own, renew_authority(read_folder(own)))
        eventually(lambda: serial(server.port, own / "ca.crt") != first)
        second = serial(server.port, old_bundle)
        assert second == serial(server.port, own / "ca.crt", name=None), "also without a name in the handshake"
        assert client.get("/healthz")[0] == 200, "the old connection lives on"

        (own / "tls.key").write_text("not a key")
        server.wait_for("reload failed; the old ones go on serving", what="certificates")
        assert serial(server.port, own / "ca.crt") == second
        assert "certificates" in client.get("/readyz")[1]["failedReloads"]
        assert client.metric("interp_certificate_expiry_timestamp_seconds") > time.time()


class Load:
    """Threads that keep asking, and what went wrong for them."""

    def __init__(self, port: int, bundle: Path, threads: int = 4, ask: dict[str, Any] | None = None) -> None:
        self.failures: list[str] = []
        self.answers = 0
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, args=(port, bundle, ask or HEALTH)) for _ in range(threads)
        ]  # fmt: skip

    def _run(self, port: int, bundle: Path, ask: dict[str, Any]) -> None:
        client = Client(port, bundle)
        while not self._stop.is_set():
            try:
                response = client.interpret(ask)
                if not response["successful"]:
                    self.failures.append(json.dumps(response))
                self.answers += 1
                if self.answers % 50 == 0:
                    client.close()  # new handshakes must succeed too
                    client = Client(port, bundle)
            except Exception as error:
                self.failures.append(repr(error))
                client = Client(port, bundle)
        client.close()

    def __enter__(self) -> Load:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()


def test_twenty_reloads_of_scripts_and_certificates_under_load_lose_no_request(own: Path) -> None:
    bundle = own / "bundle.crt"
    shutil.copy(own / "ca.crt", bundle)
    scene = own / "scripts/stage.example.org/v1/Act/interpreter.star"
    text = scene.read_text()
    with Server(own, *flags(own, "--processes", "2", "--workers", "1")) as server, Load(server.port, bundle) as load:
        server.wait_for("listening", 2)
        for number in range(20):
            scene.with_suffix(".tmp").write_text(f"{text}\n# {number}\n")
            scene.with_suffix(".tmp").replace(scene)
            write_folder(own, renew_server(read_folder(own)))
            server.signal(signal.SIGHUP)
            server.wait_for("reloaded", 2 * (number + 1), what="scripts")
            server.wait_for("reloaded", 2 * (number + 1), what="certificates")
    assert load.failures == []
    assert load.answers > 100


def test_draining_finishes_what_is_under_way_and_says_it_is_not_ready(own: Path) -> None:
    server = Server(own, *flags(own, "--drain-delay", "1"))
    client, second, prober = (Client(server.port, own / "ca.crt") for _ in range(3))
    assert prober.get("/readyz")[0] == 200
    answers: list[Any] = []
    slow = request("starlark", "InterpretReplica", behaviour="loop")
    thread = threading.Thread(target=lambda: answers.append(client.interpret(slow)))
    thread.start()
    time.sleep(0.2)
    server.signal(signal.SIGTERM)
    server.wait_for("draining")
    status, ready = prober.get("/readyz")
    assert (status, ready["draining"]) == (503, True)
    assert second.interpret(HEALTH)["successful"], "until the delay is over, requests are served"
    assert second.headers["Connection"] == "close"
    thread.join()
    assert "did not finish" in answers[0]["status"]["message"]
    assert server.stop() == 0
    with pytest.raises(ConnectionError):
        socket.create_connection(("localhost", server.port)).close()


def children(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in found if b"webhook.process" in Path(f"/proc/{child}/cmdline").read_bytes()]


def test_several_processes_share_port_and_metrics_and_a_dead_one_is_replaced(own: Path) -> None:
    with Server(own, *flags(own, "--processes", "2", "--workers", "1")) as server:
        server.wait_for("listening", 2)
        for _ in range(20):
            client = Client(server.port, own / "ca.crt")
            client.interpret(HEALTH)
            client.close()
        client = Client(server.port, own / "ca.crt")
        eventually(lambda: client.metric("interp_requests_total", outcome="ok") == 20)  # any answers for all
        assert client.metric("interp_workers") == 2
        victim = children(server.process.pid)[0]
        os.kill(victim, signal.SIGKILL)
        server.wait_for("listening", 3)
        eventually(lambda: len(children(server.process.pid)) == 2)
        fresh = Client(server.port, own / "ca.crt")
        assert fresh.interpret(HEALTH)["successful"]
        assert fresh.metric("interp_requests_total", outcome="ok") == 21, "what the dead one counted is kept"
        left = children(server.process.pid)
    assert server.process.returncode == 0
    assert not any(Path(f"/proc/{pid}").exists() for pid in left)


def two_processes(own: Path) -> Server:
    """Their supervisor takes a folder of `own` for the temporary one."""
    (own / "tmp").mkdir(exist_ok=True)
    two = flags(own, "--processes", "2", "--workers", "1")
    server = Server(own, *two, environment={"TMPDIR": str(own / "tmp")})
    server.wait_for("listening", 2)
    return server


def test_server_processes_end_when_their_supervisor_is_killed(own: Path) -> None:
    temporary, server = own / "tmp", two_processes(own)
    left = children(server.process.pid)
    assert len(list(temporary.iterdir())) == 1
    server.process.kill()
    server.process.wait()
    eventually(lambda: not any(Path(f"/proc/{pid}").exists() for pid in left))
    assert list(temporary.iterdir()) == [], "the last of them removes the folder of their metrics"


def test_what_killed_processes_leave_behind_the_next_supervisor_removes(own: Path) -> None:
    temporary, killed = own / "tmp", two_processes(own)
    left = children(killed.process.pid)
    os.kill(killed.process.pid, signal.SIGSTOP)  # or it would start others in their place
    for pid in [*left, killed.process.pid]:
        os.kill(pid, signal.SIGKILL)
    killed.process.wait()
    eventually(lambda: not any(Path(f"/proc/{pid}").exists() for pid in left))
    abandoned = set(temporary.iterdir())
    assert len(abandoned) == 1
    with two_processes(own):
        kept = set(temporary.iterdir())
        assert (len(kept), kept & abandoned) == (1, set())
        with two_processes(own):
            assert len(set(temporary.iterdir())) == 2
            assert kept < set(temporary.iterdir()), "that of a running one is not touched"
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize(("file", "what"), [("tls.crt", "CERTIFICATE"), ("tls.key", "PRIVATE KEY")])
def test_a_file_that_is_no_pem_is_named(own: Path, file: str, what: str) -> None:
    (own / file).write_text("nonsense")
    with pytest.raises(AssertionError, match=f"{file}: expected PEM with a {what} in it"):
        Server(own, *flags(own))


def test_a_server_that_cannot_start_says_why_and_exits(own: Path) -> None:
    (own / "other").mkdir()
    make_folder(own / "other", ["localhost"])
    shutil.copy(own / "other/tls.key", own / "tls.key")
    for processes in ("1", "2"):
        with pytest.raises(AssertionError, match="cannot be used together"):
            Server(own, *flags(own, "--processes", processes))


def test_an_object_that_is_too_much_for_a_script_is_refused_alone_and_hinders_no_reload(own: Path) -> None:
    with Server(own, *flags(own, "--workers", "1", "--script-seconds", "0.2")) as server:
        client = Client(server.port, own / "ca.crt")
        good = request("lua", "InterpretReplica", replicas=3)
        assert client.interpret(good)["replicas"] == 3
        bad = request("lua", "InterpretReplica", behaviour="freeze")
        codes = [client.interpret(bad)["status"]["code"] for _ in range(4)]
        assert codes == [422, 422, 422, 503]
        assert client.interpret(good)["replicas"] == 3
        assert client.metric("interp_quarantined_calls") == 1
        assert client.metric("interp_quarantined_scripts") == 0
        server.signal(signal.SIGHUP)
        server.wait_for("reloaded", what="scripts")
        assert client.interpret(good)["replicas"] == 3
        assert client.interpret(bad)["status"]["code"] == 503


def test_a_client_that_goes_away_frees_its_worker(own: Path) -> None:
    with Server(own, *flags(own, "--workers", "1", "--script-seconds", "20")) as server:
        gone, prober = Client(server.port, own / "ca.crt"), Client(server.port, own / "ca.crt")
        slow = {**ENVELOPE, "request": request("starlark", "InterpretReplica", behaviour="loop")}
        headers = {"Content-Type": "application/json"}
        gone.connection.request("POST", "/interpret?timeout=20s", json.dumps(slow).encode(), headers)
        eventually(lambda: prober.metric("interp_in_flight") == 1)
        gone.close()
        started = time.monotonic()
        assert prober.interpret(HEALTH, "/interpret?timeout=15s")["successful"]
        assert time.monotonic() - started < 15
        assert prober.metric("interp_requests_total", outcome="gone") == 1


def test_more_requests_than_may_wait_are_told_to_come_back_while_health_answers(own: Path) -> None:
    with Server(own, *flags(own, "--workers", "1", "--waiting", "2")) as server:
        slow = request("starlark", "InterpretReplica", behaviour="loop")
        answers: list[Any] = []
        threads = [
            threading.Thread(target=lambda: answers.append(Client(server.port, own / "ca.crt").interpret(slow)))
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        prober = Client(server.port, own / "ca.crt")
        assert prober.get("/healthz")[0] == 200
        for thread in threads:
            thread.join()
        codes = [answer["status"]["code"] for answer in answers]
        assert 429 in codes
        assert set(codes) <= {422, 429, 503}
        assert prober.metric("interp_requests_total", outcome="busy") == codes.count(429)


def test_a_connection_that_says_nothing_is_closed(server: Server, certs: Path) -> None:
    context = ssl.create_default_context(cafile=str(certs / "ca.crt"))
    with socket.create_connection(("localhost", server.port)) as plain:
        plain.settimeout(30)
        with context.wrap_socket(plain, server_hostname="localhost") as tls:
            assert tls.recv(1) == b""


def test_more_connections_than_allowed_are_closed_and_the_others_live_on(own: Path) -> None:
    with Server(own, *flags(own, "--workers", "1", "--max-connections", "3")) as server:
        kept = [Client(server.port, own / "ca.crt") for _ in range(3)]
        for client in kept:
            assert client.get("/healthz")[0] == 200
        with pytest.raises((ConnectionError, http.client.HTTPException, ssl.SSLError)):
            Client(server.port, own / "ca.crt").get("/healthz")
        assert [client.get("/healthz")[0] for client in kept] == [200] * 3
        kept.pop().close()
        eventually(lambda: _answers(Client(server.port, own / "ca.crt")))


def _answers(client: Client) -> bool:
    try:
        return client.get("/healthz")[0] == 200
    except (OSError, http.client.HTTPException):
        return False
