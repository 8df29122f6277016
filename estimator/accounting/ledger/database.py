"""Where the ledger is kept: an SQLite file or PostgreSQL, and transactions that take their write lock first.

SQLite: WAL, `BEGIN IMMEDIATE`, full synchronisation. PostgreSQL: the namespace's row in `quota_scopes` is locked.
Either way a second writer of the same namespace waits until the first has committed, and then sees what it wrote.

Nothing waits for ever. PostgreSQL is told how long a statement, a lock and an idle transaction may last, and the
connection to one that does not answer at all is cut: a frozen server heeds no request to cancel.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from functools import partial
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from estimator.accounting.ledger.columns import AnyTexts, among
from estimator.accounting.ledger.migration import migrate, refuse_strangers
from estimator.accounting.ledger.schema import quota_scopes
from interpreters.core.errors import InputError, InterpError

MOST_SECONDS: Final = 30.0  # for one transaction; the API server waits no longer for an admission
_CONNECT_SECONDS: Final = 5.0
_BUSY_SECONDS: Final = 5.0
_MIGRATION_LOCK: Final = 0x1E06E8  # an arbitrary number that all our replicas agree on
_DRIVERS: Final = {"sqlite": "sqlite+aiosqlite", "postgresql": "postgresql+asyncpg", "postgres": "postgresql+asyncpg"}
_SERVER_SETTINGS: Final = {
    "statement_timeout": f"{MOST_SECONDS:.0f}s",
    "lock_timeout": f"{MOST_SECONDS:.0f}s",
    # Whoever was cut off from the database must not keep a namespace locked.
    "idle_in_transaction_session_timeout": f"{MOST_SECONDS:.0f}s",
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
}
_CLOCKS: Final = {
    True: sa.text("SELECT (julianday('now') - 2440587.5) * 86400.0"),
    False: sa.text("SELECT extract(epoch FROM clock_timestamp())::double precision"),
}


_DATA_EXCEPTION: Final = "22"  # the class of SQL's states for values out of range and the like


class LedgerError(InterpError):
    """The ledger cannot be reached or written. Nothing was charged, or asking again tells what was: that is safe."""

    code = 503

    def __init__(self, message: str, *, is_disconnected: bool = False) -> None:
        super().__init__(message)
        self.is_disconnected = is_disconnected


def database_url(text: str) -> sa.URL:
    """`sqlite:///ledger.db`, `postgresql://user@host/name`, or the path of an SQLite file."""
    try:
        url = sa.make_url(text if "://" in text else f"sqlite:///{text}")
    except (ArgumentError, ValueError):
        raise InputError(f'ledger: "{text}" is neither a file nor a URL such as postgresql://user@host/name') from None
    driver = _DRIVERS.get(url.get_backend_name())
    if driver is None:
        raise InputError(f"ledger: expected sqlite or postgresql, got {url.get_backend_name()}")
    if url.get_backend_name() == "sqlite" and url.database in (None, "", ":memory:"):
        raise InputError("ledger: a ledger in memory would be forgotten; name a file, such as sqlite:///ledger.db")
    return url.set(drivername=driver)


def shown_url(url: sa.URL) -> str:
    """The URL as messages and reports name it: without its password."""
    return url.set(drivername=url.get_backend_name()).render_as_string(hide_password=True)


def existing_ledger(text: str) -> str:
    """Refuse an SQLite file that is not there: reading it would make an empty one and hide the typing error."""
    url = database_url(text)
    if url.get_backend_name() == "sqlite" and not Path(url.database or "").is_file():
        raise InputError(f"ledger: there is no file {url.database}")
    return text


def _tables_in(file: Path) -> list[str] | None:
    """The tables of an SQLite file, which stays as it is; None when it cannot be read so, or is not there."""
    if not file.is_file():
        return None
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            return [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    except sqlite3.Error:
        return None  # whoever opens it for writing will say why


class Database:
    """Connections to the ledger's database. `open()` it once per process."""

    def __init__(self, url: str, *, connections: int = 8) -> None:
        self.url = database_url(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self.insert: Callable[[sa.Table], Any] = sqlite.insert if self.is_sqlite else postgresql.insert
        """Makes an insert that knows `on_conflict_do_update` in the database's dialect."""

        self._engine = _engine(self.url, self.is_sqlite, connections)
        # SQLite has one writer at a time anyway; waiting in line here is fair, its busy handler is not.
        self._writer = asyncio.Lock()

    @property
    def name(self) -> str:
        """The database as a message names it: without its password."""
        return shown_url(self.url)

    async def open(self, *, create: bool = True) -> None:
        """Bring the schema up to date. Safe for several processes at once. A large ledger may take its time.

        Raises `InputError` for a database without a ledger that is not to be made one, or that is somebody else's."""
        if self.is_sqlite:
            names = await asyncio.to_thread(_tables_in, Path(self.url.database or ""))
            if names is not None:  # before the first connection, which already changes how the file is written
                refuse_strangers(names, create=create, shared=False)
        async with self._writing(None) as connection:
            if not self.is_sqlite:
                await connection.execute(sa.text("SET LOCAL statement_timeout = 0"))
                await connection.execute(sa.text("SET LOCAL lock_timeout = 0"))
                await connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_MIGRATION_LOCK)))
            await connection.run_sync(partial(migrate, create=create))

    async def close(self) -> None:
        await self._engine.dispose()

    async def now(self, connection: AsyncConnection) -> float:
        """The time by the database's clock, which all servers share."""
        return float(await connection.scalar(_CLOCKS[self.is_sqlite]) or 0.0)

    @asynccontextmanager
    async def reading(self, seconds: float | None = None) -> AsyncIterator[AsyncConnection]:
        """A consistent view, without a lock."""
        async with self._named_errors(), self._engine.connect() as connection, self._bounded(connection, seconds):
            if not self.is_sqlite:
                await connection.execution_options(isolation_level="REPEATABLE READ")
            yield connection

    @asynccontextmanager
    async def charging(self, *namespaces: str, seconds: float | None = MOST_SECONDS) -> AsyncIterator[AsyncConnection]:
        """A write transaction that nobody else has for these namespaces. Commits unless an error leaves it."""
        async with self._writing(seconds) as connection:
            if not self.is_sqlite and namespaces:
                await self._lock(connection, sorted(set(namespaces)))
            yield connection

    async def _lock(self, connection: AsyncConnection, namespaces: list[str]) -> None:
        """Lock the namespaces' rows, in one order for everybody, so that two writers never wait for each other."""
        if len((await connection.execute(_LOCK, {"namespaces": namespaces})).all()) < len(namespaces):
            rows = [{"namespace": namespace} for namespace in namespaces]
            await connection.execute(self.insert(quota_scopes).on_conflict_do_nothing(), rows)
            await connection.execute(_LOCK, {"namespaces": namespaces})

    @asynccontextmanager
    async def _writing(self, seconds: float | None) -> AsyncIterator[AsyncConnection]:
        async with self._named_errors():
            if not self.is_sqlite:
                async with (
                    self._engine.connect() as connection,
                    self._bounded(connection, seconds),
                    connection.begin(),
                ):
                    yield connection
                return
            async with self._writer, self._engine.connect() as connection:
                await connection.execution_options(sqlite_begin="IMMEDIATE")
                async with connection.begin():
                    yield connection

    @asynccontextmanager
    async def _bounded(self, connection: AsyncConnection, seconds: float | None) -> AsyncIterator[None]:
        """Cut the connection after that long. SQLite waits for other writers only, and no longer than it was told."""
        if self.is_sqlite or seconds is None:
            yield
            return
        driver: Any = (await connection.get_raw_connection()).driver_connection
        cut = asyncio.get_running_loop().call_later(seconds, driver.terminate)
        try:
            yield
        finally:
            cut.cancel()

    @asynccontextmanager
    async def _named_errors(self) -> AsyncIterator[None]:
        try:
            yield
        except (OperationalError, InterfaceError, DBAPIError, PoolTimeoutError, OSError) as error:
            if isinstance(error, DBAPIError) and _is_of_its_values(error):
                raise
            cause = getattr(error, "orig", None) or error
            first_line = (str(cause).strip().splitlines() or [type(cause).__name__])[0]
            is_disconnected = isinstance(error, DBAPIError) and error.connection_invalidated
            raise LedgerError(f"ledger {self.name}: {first_line}", is_disconnected=is_disconnected) from error


_LOCK: Final = (
    sa.select(quota_scopes.c.namespace)
    .where(among(quota_scopes.c.namespace, sa.bindparam("namespaces", type_=AnyTexts)))
    .order_by(quota_scopes.c.namespace)
    .with_for_update()
)


def _is_of_its_values(error: DBAPIError) -> bool:
    """Whether the statement or a value in it is refused, and not the ledger out of order: nobody else's statement in
    the same transaction is to blame for that. asyncpg refuses some values itself, as interface errors."""
    if isinstance(error, sa.exc.IntegrityError | sa.exc.ProgrammingError | sa.exc.DataError):
        return True
    cause = getattr(error.orig, "__cause__", None) or error.orig
    return isinstance(cause, ValueError) or str(getattr(cause, "sqlstate", "") or "").startswith(_DATA_EXCEPTION)


def _engine(url: sa.URL, is_sqlite: bool, connections: int) -> AsyncEngine:
    pool: dict[str, Any] = {"pool_size": connections, "max_overflow": 0, "pool_timeout": _CONNECT_SECONDS}
    if not is_sqlite:
        arguments = {"timeout": _CONNECT_SECONDS, "server_settings": _SERVER_SETTINGS}
        return create_async_engine(url, connect_args=arguments, **pool)
    engine = create_async_engine(url, connect_args={"timeout": _BUSY_SECONDS}, **pool)
    sa.event.listen(engine.sync_engine, "connect", _set_up_sqlite)
    sa.event.listen(engine.sync_engine, "begin", _begin_sqlite)
    return engine


def _set_up_sqlite(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # the driver's own BEGIN comes too late: after the first read
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "synchronous=FULL", f"busy_timeout={_BUSY_SECONDS * 1000:.0f}"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_sqlite(connection: sa.Connection) -> None:
    connection.exec_driver_sql(f"BEGIN {connection.get_execution_options().get('sqlite_begin', 'DEFERRED')}")
