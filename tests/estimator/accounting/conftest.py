"""Both databases for the ledger's tests, the real ones, and a clock that only moves when told."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from estimator.accounting.ledger.ledger import Ledger
from tests.postgres import PostgresServer


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    with PostgresServer() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def ledger_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'ledger.db'}"
    server: PostgresServer = request.getfixturevalue("postgres")
    return server.database()


@pytest.fixture
def postgres_url(postgres: PostgresServer) -> str:
    return postgres.database()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def ledger(ledger_url: str, clock: Clock) -> AsyncIterator[Ledger]:
    async with Ledger(ledger_url, clock=clock) as opened:
        yield opened
