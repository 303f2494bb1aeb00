"""Queries on the pool and in transactions, and the one place where the driver's errors become ours."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from time import monotonic
from typing import Any, LiteralString
from uuid import UUID

import orjson
import psycopg
from psycopg import AsyncTransaction, sql
from psycopg.errors import DeadlockDetected, QueryCanceled, ReadOnlySqlTransaction, SerializationFailure

from whence.errors import BadInput, DatabaseUnavailable, WhenceError
from whence.models import ChunkKey
from whence.store.connection import EF_SEARCH, STATEMENT_TIMEOUT, Connection, Row, busy, configure
from whence.store.connection_pool import ConnectionPool

__all__ = [
    "EF_SEARCH",
    "Asked",
    "Connection",
    "Database",
    "Deadlocked",
    "Params",
    "Queries",
    "Row",
    "Statement",
    "Transaction",
    "busy",
    "configure",
    "keys",
    "records",
    "translated",
    "uuids",
]

Params = Mapping[str, Any]
Statement = LiteralString | sql.Composed | bytes
"""Static text; or, as `bytes` where it is used often, made of static parts by psycopg where a parameter would keep the
planner from an index."""
Asked = tuple[Statement, Params]

_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 1.0


class Queries(ABC):
    """Runs SQL on a connection of the pool, or on that of a transaction."""

    @abstractmethod
    def connection(self) -> AbstractAsyncContextManager[Connection]: ...

    @abstractmethod
    def transaction(self) -> AbstractAsyncContextManager["Queries"]:
        """Inside another transaction this is a savepoint: a failure undoes only this part."""

    @abstractmethod
    def joined(self) -> AbstractAsyncContextManager["Queries"]:
        """Inside a transaction this is the transaction itself: a failure undoes all of it."""

    async def all(self, query: Statement, params: Params | None = None) -> list[Row]:
        # Binary results: uuids, times and integers arrive as bytes that need no parsing of text.
        async with self.connection() as conn, conn.cursor(binary=True) as cursor:
            await cursor.execute(query, params)
            return await cursor.fetchall()

    async def one(self, query: Statement, params: Params | None = None) -> Row | None:
        async with self.connection() as conn, conn.cursor(binary=True) as cursor:
            await cursor.execute(query, params)
            return await cursor.fetchone()

    async def run(self, query: Statement, params: Params | None = None) -> int:
        """Execute a statement that returns nothing; gives the number of rows it touched."""
        async with self.connection() as conn:
            cursor = await conn.execute(query, params)
            return cursor.rowcount

    async def together(self, asked: Sequence[Asked]) -> list[list[Row]]:
        """The rows of each of several statements of a transaction, sent at once: none may need another's result.

        They run one after the other, and each sees the effects of those before it.
        """
        if not asked:
            return []
        async with self.connection() as conn:
            async with conn.pipeline():
                cursors = [conn.cursor(binary=True) for _ in asked]
                for cursor, (query, params) in zip(cursors, asked, strict=True):
                    await cursor.execute(query, params)
            return [await cursor.fetchall() if cursor.description else [] for cursor in cursors]


class Database(Queries):
    """Connections in autocommit: a read is one round trip.

    A read whose connection breaks runs again on another connection, until the pool's time-out. A write whose
    connection breaks is `DatabaseUnavailable`: it may have happened or not.
    """

    def __init__(self, pool: ConnectionPool) -> None:
        self._pool = pool

    @classmethod
    @asynccontextmanager
    async def open(cls, dsn: str, *, size: int, name: str = "whence") -> AsyncIterator["Database"]:
        async with ConnectionPool.open(dsn, size=size, name=name) as pool:
            yield cls(pool)

    def connection(self) -> AbstractAsyncContextManager[Connection]:
        return self._lend(self._pool.deadline())

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator["Queries"]:
        stack, conn, begun = await self._begin()
        async with stack:
            yield Transaction(conn)
        if begun.status == AsyncTransaction.Status.FAILED:  # the driver does not raise when it cannot commit
            raise ConnectionLost

    def joined(self) -> AbstractAsyncContextManager["Queries"]:
        return self.transaction()

    async def all(self, query: Statement, params: Params | None = None) -> list[Row]:
        # Without context managers: they cost a sixth of a short read.
        conn = await self._pool.borrow(self._pool.deadline())
        try:
            cursor = conn.cursor(binary=True)
            await cursor.execute(query, params)
            rows = await cursor.fetchall()
        except BaseException as exc:
            await self._take_back(conn)
            error = translate(exc, conn)
            if error is None:
                raise
            if not isinstance(error, ConnectionLost):
                raise error from exc
        else:
            await self._pool.give_back(conn)
            return rows
        return await self._read_again(query, params, error)

    async def one(self, query: Statement, params: Params | None = None) -> Row | None:
        rows = await self.all(query, params)
        return rows[0] if rows else None

    async def _read_again(
        self, query: Statement, params: Params | None, error: "ConnectionLost"
    ) -> list[Row]:
        """Read-only, so that Postgres refuses a statement that writes: such a statement is not repeated."""
        until, pause = self._pool.deadline(), _FIRST_PAUSE
        while monotonic() < until:
            try:
                async with self.transaction() as tx:
                    await tx.run("SET TRANSACTION READ ONLY")
                    return await tx.all(query, params)
            except ReadOnlySqlTransaction:
                break
            except ConnectionLost:
                await asyncio.sleep(
                    pause
                )  # a statement that crashes the server is not repeated at full speed
                pause = min(pause * 2, _LONGEST_PAUSE)
        raise error

    async def _begin(self) -> tuple[AsyncExitStack, Connection, AsyncTransaction]:
        """A transaction whose connection has answered. Nothing was sent on a dead one, so another is taken."""
        until = self._pool.deadline()
        while True:
            async with AsyncExitStack() as stack:
                conn = await stack.enter_async_context(self._lend(until))
                try:
                    begun = await stack.enter_async_context(conn.transaction())
                except psycopg.Error:
                    if not conn.closed:
                        raise
                else:
                    return stack.pop_all(), conn, begun

    @asynccontextmanager
    async def _lend(self, until: float) -> AsyncIterator[Connection]:
        conn = await self._pool.borrow(until)
        try:
            with translated(conn):
                yield conn
        finally:
            await self._take_back(conn)

    async def _take_back(self, conn: Connection) -> None:
        if conn.closed:
            await self._pool.lose(conn)
        await self._pool.give_back(conn)


class Transaction(Queries):
    """One connection inside one transaction; it commits when the block that opened it ends without an error.

    All its statements share a cursor: making one takes a quarter of the time of a short statement.
    """

    def __init__(self, conn: Connection) -> None:
        self._conn = conn
        self._cursor = conn.cursor(binary=True)
        self._translated = translated(conn)

    async def all(self, query: Statement, params: Params | None = None) -> list[Row]:
        with self._translated:
            await self._cursor.execute(query, params)
            return await self._cursor.fetchall()

    async def one(self, query: Statement, params: Params | None = None) -> Row | None:
        with self._translated:
            await self._cursor.execute(query, params)
            return await self._cursor.fetchone()

    async def run(self, query: Statement, params: Params | None = None) -> int:
        with self._translated:
            await self._cursor.execute(query, params)
            return self._cursor.rowcount

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        with self._translated:
            yield self._conn

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator["Queries"]:
        with self._translated:
            async with self._conn.transaction():
                yield self

    def joined(self) -> AbstractAsyncContextManager["Queries"]:
        return nullcontext(self)


class Deadlocked(DatabaseUnavailable):
    """Somebody else was writing the same just now"""


class ConnectionLost(DatabaseUnavailable):
    """The connection to the database was lost"""


def translate(exc: BaseException | None, conn: Connection | None = None) -> WhenceError | None:
    """Our error for one of the driver's; None for all others."""
    if isinstance(exc, UnicodeEncodeError):  # bytes of a command line that are no text
        return BadInput("Text must be valid Unicode")
    if not isinstance(exc, psycopg.Error):
        return None
    if conn is not None and conn.closed:
        return ConnectionLost()
    if isinstance(exc, QueryCanceled):
        return WhenceError(f"The database took longer than {STATEMENT_TIMEOUT}")
    if isinstance(exc, DeadlockDetected | SerializationFailure):
        return Deadlocked()
    return DatabaseUnavailable() if isinstance(exc, psycopg.OperationalError) else None


class translated:  # noqa: N801 - reads as what it does: `with translated(conn):`
    """Raises our errors for the driver's. A class, because it is around every statement."""

    __slots__ = ("_conn",)

    def __init__(self, conn: Connection | None = None) -> None:
        self._conn = conn

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, exc: BaseException | None, _trace: object) -> None:
        if exc is not None and (error := translate(exc, self._conn)):
            raise error from exc


def uuids(ids: Iterable[UUID]) -> str:
    """Text for `::uuid[]`: many times faster than the driver's arrays, which look up the type of each element."""
    return "{" + ",".join([ident.hex for ident in ids]) + "}"


def keys(ids: Iterable[ChunkKey]) -> str:
    """The same for the keys of chunks."""
    return "{" + ",".join([ident.hex() for ident in ids]) + "}"


def records(rows: Sequence[Mapping[str, Any]]) -> str:
    """Text for `json_to_recordset`: rows of several columns without the driver's arrays."""
    return orjson.dumps(rows).decode()
