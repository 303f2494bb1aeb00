"""Queries on the pool and in transactions. All driver errors are translated here."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass
from time import monotonic
from typing import Any, Generic, LiteralString, TypeVar
from uuid import UUID

import orjson
import psycopg
from psycopg import AsyncTransaction, sql
from psycopg.errors import (
    DeadlockDetected,
    LockNotAvailable,
    QueryCanceled,
    ReadOnlySqlTransaction,
    SerializationFailure,
)

from whence.errors import BadInput, DatabaseBusy, DatabaseUnavailable, WhenceError
from whence.models import ChunkKey
from whence.store.connection import STATEMENT_TIMEOUT, Connection
from whence.store.connection_pool import ConnectionPool

T = TypeVar("T")
Row = tuple[Any, ...]
Params = Mapping[str, Any]
Statement = LiteralString | sql.Composed | bytes
"""Static SQL, or SQL that psycopg composed of static parts because a parameter would keep the planner from an index.
Composed SQL that runs often is encoded once, as `bytes`."""
BoundStatement = tuple[Statement, Params]

LOWEST = UUID(int=0)
"""Smaller than every id."""

_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 1.0


class Queries(ABC):
    """Runs SQL on a connection of the pool or of a transaction."""

    @abstractmethod
    def connection(self) -> AbstractAsyncContextManager[Connection]: ...

    @abstractmethod
    def transaction(self) -> AbstractAsyncContextManager["Queries"]:
        """Begin a transaction; inside another one, a savepoint, so that a failure undoes only this part."""

    @abstractmethod
    def joined(self) -> AbstractAsyncContextManager["Queries"]:
        """Begin a transaction; inside another one, continue it, so that a failure undoes all of it."""

    @abstractmethod
    async def all(self, query: Statement, params: Params | None = None) -> list[Row]: ...

    async def one(self, query: Statement, params: Params | None = None) -> Row | None:
        rows = await self.all(query, params)
        return rows[0] if rows else None

    async def value(self, query: Statement, params: Params | None = None) -> Any:
        """The first column of the first row; None if there is no row."""
        row = await self.one(query, params)
        return None if row is None else row[0]

    async def column(self, query: Statement, params: Params | None = None) -> list[Any]:
        """The first column of all rows."""
        return [row[0] for row in await self.all(query, params)]

    async def run(self, query: Statement, params: Params | None = None) -> int:
        """Execute a statement and return the number of affected rows."""
        async with self.connection() as conn:
            cursor = await conn.execute(query, params)
            return cursor.rowcount

    async def be_patient(self) -> None:
        """Raise the timeouts of this transaction to 10 minutes, for work on a whole document or project."""
        # Not SELECT set_config: a transaction that has run a query cannot change its isolation level any more.
        await self.run("SET LOCAL statement_timeout = '10min'")
        await self.run("SET LOCAL lock_timeout = 0")

    async def page(
        self, query: "PagedQuery[T]", params: Params, *, limit: int, offset: int, after: UUID | None = None
    ) -> tuple[list[T], int]:
        """One page, and the number of items on all pages. `after` is the id of the last item before the page."""
        select = query.select if after is None else query.select_after
        rows = await self.all(select, {**params, "limit": limit, "offset": offset, "after": after})
        return list(map(query.read, rows)), await self.value(query.count, params)

    async def together(self, asked: Sequence[BoundStatement]) -> list[list[Row]]:
        """Send several statements of a transaction in one pipeline and return the rows of each.

        They run in order, and each sees the effects of those before it.
        """
        if not asked:
            return []
        async with self.connection() as conn:
            async with conn.pipeline():
                cursors = [conn.cursor(binary=True) for _ in asked]
                for cursor, (query, params) in zip(cursors, asked, strict=True):
                    await cursor.execute(query, params)
            return [await cursor.fetchall() if cursor.description else [] for cursor in cursors]


@dataclass(frozen=True, slots=True)
class PagedQuery(Generic[T]):
    """A list that is read page by page."""

    read: Callable[[Row], T]
    columns: LiteralString
    source: LiteralString
    """From FROM to the end of WHERE."""
    order: LiteralString
    counted: LiteralString = ""
    """The source to count, if fewer tables give the same number."""
    is_after: LiteralString = ""
    """Condition for items behind the id `after`, for lists ordered by id."""
    ident: LiteralString = ""
    """Column with an item's id, for lists in another order: the position of `after` is counted."""

    @property
    def select(self) -> LiteralString:
        return f"SELECT {self.columns} {self.source} ORDER BY {self.order} LIMIT %(limit)s OFFSET %(offset)s"

    @property
    def select_after(self) -> LiteralString:
        if self.ident:
            # No item comes after an id that is not in the list.
            return f"""{self.select} + coalesce((
    SELECT numbered.place FROM (
        SELECT {self.ident} AS ident, row_number() OVER (ORDER BY {self.order}) AS place {self.source}) numbered
    WHERE numbered.ident = %(after)s), {2**62})"""
        return (
            f"SELECT {self.columns} {self.source} AND {self.is_after} ORDER BY {self.order} "
            "LIMIT %(limit)s OFFSET %(offset)s"
        )

    @property
    def count(self) -> LiteralString:
        return f"SELECT count(*) {self.counted or self.source}"


class Statements:
    """The SQL of one group of tables."""

    def __init__(self, queries: Queries) -> None:
        self._queries = queries


class Database(Queries):
    """Connections in autocommit, so that a read is one round trip.

    A read whose connection breaks runs again on another connection, until the pool's timeout. A write whose connection
    breaks raises `DatabaseUnavailable`: it may have taken effect or not.
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
        if begun.status == AsyncTransaction.Status.FAILED:  # the driver does not raise if the commit fails
            raise ConnectionLost

    def joined(self) -> AbstractAsyncContextManager["Queries"]:
        return self.transaction()

    async def all(self, query: Statement, params: Params | None = None) -> list[Row]:
        # No context managers: they would take a sixth of the time of a short read.
        conn = await self._pool.borrow(self._pool.deadline())
        try:
            cursor = conn.cursor(binary=True)
            await cursor.execute(query, params)
            rows = await cursor.fetchall()
        except BaseException as exc:
            await self._pool.give_back(conn)
            error = translate(exc, conn)
            if error is None:
                raise
            if not isinstance(error, ConnectionLost):
                raise error from exc
        else:
            await self._pool.give_back(conn)
            return rows
        return await self._read_again(query, params, error)

    async def _read_again(
        self, query: Statement, params: Params | None, error: "ConnectionLost"
    ) -> list[Row]:
        """Repeat a read in a read-only transaction, where Postgres refuses writes, so that no write is repeated."""
        until, pause = self._pool.deadline(), _FIRST_PAUSE
        while monotonic() < until:
            try:
                async with self.transaction() as tx:
                    await tx.run("SET TRANSACTION READ ONLY")
                    return await tx.all(query, params)
            except ReadOnlySqlTransaction:
                break
            except ConnectionLost:
                # A statement may have crashed the server: do not repeat it at full speed.
                await asyncio.sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE)
        raise error

    async def _begin(self) -> tuple[AsyncExitStack, Connection, AsyncTransaction]:
        """Begin a transaction. If BEGIN fails because the connection is dead, another connection is used."""
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
            await self._pool.give_back(conn)


class Transaction(Queries):
    """One connection in one transaction, which commits when its block ends without an error.

    All statements share a cursor: creating one takes a quarter of the time of a short statement.
    """

    def __init__(self, conn: Connection) -> None:
        self._conn = conn
        self._cursor = conn.cursor(binary=True)
        self._translated = translated(conn)

    async def all(self, query: Statement, params: Params | None = None) -> list[Row]:
        with self._translated:
            await self._cursor.execute(query, params)
            return await self._cursor.fetchall()

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
    """Another request was writing the same rows; try again"""


class ConnectionLost(DatabaseUnavailable):
    """The connection to the database was lost"""


_TRANSLATIONS: tuple[tuple[tuple[type[psycopg.Error], ...], type[WhenceError]], ...] = (
    ((DeadlockDetected, SerializationFailure), Deadlocked),
    ((LockNotAvailable,), DatabaseBusy),
    ((psycopg.OperationalError,), DatabaseUnavailable),
)


def translate(exc: BaseException | None, conn: Connection | None = None) -> WhenceError | None:
    """Our error for a driver's error; None if we have none."""
    if isinstance(exc, UnicodeEncodeError):  # command-line bytes that are not text
        return BadInput("Text must be valid Unicode")
    if not isinstance(exc, psycopg.Error):
        return None
    if conn is not None and conn.closed:
        return ConnectionLost()
    if isinstance(exc, QueryCanceled) and exc.diag.context:
        # Only waits for rows have a context here: "while locking tuple …", or the check of a foreign key.
        return DatabaseBusy()
    if isinstance(exc, QueryCanceled):
        return WhenceError(f"The database took longer than {STATEMENT_TIMEOUT}")
    return next((error() for kinds, error in _TRANSLATIONS if isinstance(exc, kinds)), None)


class translated:  # noqa: N801 - used like a function: `with translated(conn):`
    """Raises our errors for the driver's. A class is faster than a generator, and this wraps every statement."""

    __slots__ = ("_conn",)

    def __init__(self, conn: Connection | None = None) -> None:
        self._conn = conn

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, exc: BaseException | None, _trace: object) -> None:
        if exc is not None and (error := translate(exc, self._conn)):
            raise error from exc


def reader(kind: Callable[..., T], columns: LiteralString = "") -> Callable[[Row], T]:
    """Make a function that reads rows of these columns into `kind`, whose fields have the same names.

    The default are all fields of a dataclass with slots, in their order. A row may have further columns after these.
    """
    named = [column.strip().rpartition(".")[2] for column in columns.split(",")]
    names = named if columns else vars(kind)["__slots__"]
    return lambda row: kind(**dict(zip(names, row, strict=False)))


def fields_of(record: Any) -> dict[str, Any]:
    """The fields of a dataclass with slots as parameters. A dict becomes JSON."""
    return {name: getattr(record, name) for name in record.__slots__}


def part_of(
    items: Sequence[T], ident: Callable[[T], UUID], *, limit: int, offset: int, after: UUID | None
) -> list[T]:
    """One page of a list in memory."""
    if after is not None:
        places = (place for place, one in enumerate(items, 1) if ident(one) == after)
        offset += next(places, len(items))
    return list(items[offset : offset + limit])


def uuids(ids: Iterable[UUID]) -> str:
    """Text for `::uuid[]`, much faster than the driver's arrays, which look up the type of each element."""
    return "{" + ",".join([ident.hex for ident in ids]) + "}"


def keys(ids: Iterable[ChunkKey]) -> str:
    return "{" + ",".join([ident.hex() for ident in ids]) + "}"


def records(rows: Sequence[Mapping[str, Any]]) -> str:
    """Text for `json_to_recordset`, to pass rows of several columns without the driver's arrays."""
    return orjson.dumps(rows).decode()
