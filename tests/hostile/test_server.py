"""Every hostile row against one real server: it is answered as it should be, and nobody else notices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from certs.folder import make_folder
from tests.hostile.neighbour import Neighbour, forget_peak, resident
from tests.hostile.objects import OBJECTS
from tests.hostile.requests import REQUESTS
from tests.hostile.rows import Row, Target, allowed
from tests.hostile.scripts import script_rows, write_scripts
from tests.webhook.server import SCRIPTS, Client, Server, request

ROWS = [*REQUESTS, *OBJECTS, *script_rows()]
LONGEST_LINE = 32 * 1024
CLUSTERS = Path(__file__).parents[2] / "docs" / "examples" / "clusters"


@dataclass
class Besieged:
    """The server that all rows are sent to."""

    server: Server
    target: Target
    log: Path
    read: int = 0

    def new_lines(self) -> str:
        """What was logged since last asked. Lines are written in turn, so this one comes last."""
        uid = f"last-{self.read}"
        client = Client(self.server.port, self.target.bundle)
        client.interpret(request("lua", "InterpretReplica", uid=uid, behaviour="fail"))
        client.close()
        self.server.line_of(uid)
        text = self.log.read_text()
        fresh, self.read = text[self.read :], len(text)
        return fresh


@pytest.fixture(scope="module")
def besieged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Besieged]:
    folder = tmp_path_factory.mktemp("besieged")
    make_folder(folder, ["localhost"])
    write_scripts(folder / "hostile")
    flags = ["--scripts", str(SCRIPTS), "--scripts", str(folder / "hostile"), "--bundled-language", "none",
             "--clusters", f"west={CLUSTERS / 'west'}", "--ledger", f"sqlite:///{folder}/ledger.db",
             "--log-objects"]  # fmt: skip
    with Server(folder, *flags) as server:
        yield Besieged(server, Target(server.port, folder / "ca.crt"), next(folder.glob("server-*.log")))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_hostile_request_gets_its_answer_and_nobody_else_notices(besieged: Besieged, row: Row) -> None:
    server = besieged.server
    besieged.new_lines()
    forget_peak(server.process.pid)
    with Neighbour(server.port, besieged.target.bundle) as neighbour:
        answer = row.attack(besieged.target)
    shown = answer.body[:2000].decode(errors="replace")
    assert answer.status in allowed(row.status), shown
    assert row.code is None or answer.code in allowed(row.code), shown
    assert row.says in answer.body.decode(errors="replace"), shown
    assert len(answer.body) <= row.longest
    assert neighbour.wrong == []
    assert neighbour.answered > 0
    assert resident(server.process.pid) < row.memory
    ready, detail = Client(server.port, besieged.target.bundle).get("/readyz")
    assert ready == 200, detail
    logged = besieged.new_lines()
    assert max(map(len, logged.splitlines()), default=0) <= LONGEST_LINE
    assert "Traceback" not in logged
    assert '"code":500' not in logged
    assert not row.secret or row.secret not in logged + answer.body.decode(errors="replace")
