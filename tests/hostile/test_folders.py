"""What an author puts into his folder of scripts while the server runs: the server and the other authors go on."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from certs.folder import make_folder
from interpreters import folders
from interpreters.core.errors import DocumentError
from interpreters.files import read_bytes, read_found
from tests.hostile.neighbour import Neighbour, forget_peak, resident
from tests.hostile.rows import MIB
from tests.webhook.server import SCRIPTS, Client, Server, eventually

GOOD = "function GetReplicas(obj) return {} end\n"
OUTSIDE = "0123456789-a-path-secret"


@dataclass(frozen=True, slots=True)
class Deed:
    """`do` it in a folder; `says` is part of why the reload fails, nothing if it does not."""

    name: str
    do: Callable[[Path], Any]
    says: str = ""


def script(name: str, make: Callable[[Path], Any]) -> Callable[[Path], Any]:
    """Put something in a script's place."""

    def do(folder: Path) -> None:
        place = Path(os.fsdecode(os.fsencode(folder) + b"/hostile.example.org/v1/" + name.encode("latin-1")))
        place.mkdir(parents=True)
        make(place / "interpreter.lua")

    return do


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(3 * 1024 * MIB)


def packed(path: Path) -> None:
    path.write_bytes(gzip.compress(bytes(300 * MIB), 1))


def many_links(folder: Path) -> None:
    for name in "abcdef":
        (folder / name).symlink_to(".")


def links_between(folder: Path) -> None:
    places = [folder / name for name in "abcdefgh"]
    for place in places:
        place.mkdir()
    for place in places:
        for other in places:
            (place / f"to-{other.name}").symlink_to(other)
    (folder / "file").write_text("so that something changed")


DEEDS = (
    Deed("a pipe that nobody writes to", script("Pipe", os.mkfifo), "neither a file"),
    Deed("a device without end", script("Zero", lambda path: path.symlink_to("/dev/zero")), "neither a file"),
    Deed("a link to another's file", script("Stolen", lambda path: path.symlink_to("/etc/passwd")), "leads out"),
    Deed("a secret in the clothes of customizations",
         lambda folder: (folder / "customizations.yaml").symlink_to(folder.parent / "secret"), "leads out"),
    Deed("customizations of millions of empty lists",
         lambda folder: (folder / "customizations.yaml").write_text("a: [" + "[]," * 2_700_000 + "[]]"), "values"),
    Deed("a file of three gigabytes", script("Huge", sparse), "larger than"),
    Deed("a small file that unpacks to a large one", script("Packed", packed), "larger than"),
    Deed("a name that is not UTF-8", script("K\xff", lambda path: path.write_text(GOOD)), "not UTF-8"),
    Deed("a name with a terminal's commands", script("K\n\x1b[2J", lambda path: path.write_text(GOOD)), "\\x1b[2J"),
    Deed("links to the folder itself", many_links),
    Deed("folders that all link to each other", links_between, "more than"),
    Deed("a link to the whole machine", lambda folder: (folder / "all").symlink_to("/")),
    Deed("a link to nothing", script("Nothing", lambda path: path.symlink_to("nowhere"))),
)  # fmt: skip


@pytest.fixture(scope="module")
def certs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("folders")
    make_folder(folder, ["localhost"])
    yield folder


def publish(folder: Path, replicas: int) -> None:
    place = folder / "other.example.org/v1/Other"
    place.mkdir(parents=True, exist_ok=True)
    (place / "interpreter.next").write_text(GOOD.format(replicas))
    (place / "interpreter.next").rename(place / "interpreter.lua")


def answer(client: Client) -> Any:
    obj = {"apiVersion": "other.example.org/v1", "kind": "Other", "metadata": {"name": "x"}}
    kind = {"group": "other.example.org", "version": "v1", "kind": "Other"}
    asked = {"uid": "u", "operation": "InterpretReplica", "kind": kind, "name": "x", "object": obj}
    return client.interpret(asked).get("replicas")


@pytest.mark.parametrize("deed", DEEDS, ids=lambda deed: deed.name)
def test_a_hostile_folder_harms_its_author_alone(certs: Path, tmp_path: Path, deed: Deed) -> None:
    hostile, other = tmp_path / "hostile", tmp_path / "other"
    hostile.mkdir()
    (tmp_path / "secret").write_text(OUTSIDE)
    publish(other, 1)
    flags = ["--scripts", str(SCRIPTS), "--scripts", str(hostile), "--scripts", str(other), "--workers", "1",
             "--bundled-language", "none"]  # fmt: skip
    with Server(certs, *flags) as server:
        client = Client(server.port, certs / "ca.crt")
        assert answer(client) == 1
        forget_peak(server.process.pid)
        with Neighbour(server.port, certs / "ca.crt") as neighbour:
            deed.do(hostile)
            if deed.says:
                reason = eventually(lambda: client.get("/readyz")[1].get("failedReloads", {}).get("scripts", ""))
                assert deed.says in reason
            publish(other, 2)
            assert eventually(lambda: answer(client) == 2), "another author's change is not held up"
        assert neighbour.wrong == []
        assert resident(server.process.pid) < 400 * MIB
        told = str(client.get("/readyz")) + str(server.lines())
        assert OUTSIDE not in told
        assert "root:" not in told
        assert server.stop() == 0


def test_what_a_person_names_may_be_a_pipe_and_has_a_bound(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"kind: List\n")
    os.close(writing)
    assert read_bytes(f"/dev/fd/{reading}") == b"kind: List\n"
    os.close(reading)
    with pytest.raises(DocumentError, match="larger than 1000 bytes"):
        read_bytes("/dev/zero", 1000)


def test_links_that_stay_inside_are_followed(tmp_path: Path) -> None:
    (tmp_path / "..data").mkdir()
    (tmp_path / "..data" / "file").write_text("x")
    (tmp_path / "shown").symlink_to("..data/file")
    (tmp_path / "v1").mkdir()
    (tmp_path / "v2").symlink_to("v1")
    (tmp_path / "v1" / "also").symlink_to(tmp_path / "shown")
    assert read_found(tmp_path / "v2" / "also", tmp_path) == b"x"
    found = {str(path.relative_to(tmp_path)) for path in folders.files_below(tmp_path)}
    assert found == {"shown", "v1/also", "v2/also"}
