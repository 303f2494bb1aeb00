"""Connections to Postgres, and the one place where the driver's errors become ours."""

import select
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, nullcontext
from time import perf_counter
from typing import Any, ClassVar, LiteralString
from uuid import UUID

import orjson
import psycopg
from psycopg import AsyncConnection, sql
from psycopg.abc import RV, PQGen
from psycopg.errors import DeadlockDetected, SerializationFailure
from psycopg.pq import TransactionStatus
from psycopg.types.json import set_json_dumps, set_json_loads
from psycopg.waiting import Ready, Wait
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout

from whence.errors import BadInput, DatabaseUnavailable, WhenceError
from whence.store.halfvec import HalfVector, HalfVectorDumper
from whence.types import ChunkKey

Row = tuple[Any, ...]
Params = Mapping[str, Any]
Statement = LiteralString | sql.Composed | bytes
"""Static text; or, as `bytes` where it is used often, made of static parts by psycopg where a parameter would keep the
planner from an index."""
Asked = tuple[Statement, Params]

SEARCH_PATH = "kb, queue, public"
STATEMENT_TIMEOUT = "15s"
EF_SEARCH = "200"
_PREPARED = 500  # more than there are statements
_MOMENT = 0.00025  # the longest that an idle server looks instead of sleeping
_READY = {
    select.POLLIN: Ready.R,
    select.POLLOUT: Ready.W,
    select.POLLIN | select.POLLOUT: Ready.RW,
}
_REVIVALS = 3  # a database that ends does not end all of its connections at the same moment
_PATIENCE = 10.0  # for a connection, while all are in use
_IMPATIENCE = 2.0  # for one, after the last was found dead: a client is better told at once
_SETUP = """
SELECT set_config('search_path', %s, false),
       set_config('random_page_cost', '1.1', false), -- disks do not spin any more: an index is worth its while
       set_config('statement_timeout', %s, false),
       -- An index of vectors goes on until enough of what it finds passes the filter, and looks at enough to be right.
       set_config('hnsw.iterative_scan', 'relaxed_order', false),
       set_config('hnsw.ef_search', %s, false),
       set_config('timezone', 'UTC', false)
"""


class Connection(AsyncConnection[Row]):
    """Waits for Postgres with fewer rounds of the event loop (docs/decisions/0005-waiting-for-postgres.md).

    A result comes eight kilobytes at a time, and often the next are there already: look before going back to the loop.
    Likewise several statements that are sent at once go out one by one, and there is nearly always room for the next.
    And while nothing else waits for the database, look for a moment before sleeping at all: to be put to sleep and
    woken again takes as long as reading one chunk.
    """

    waiting: ClassVar[int] = 0
    """Statements that wait for the database, and other work that is under way."""

    async def wait(
        self,
        gen: PQGen[RV],
        interval: float = 0.1,
        timeout: float | None = None,  # noqa: ASYNC109 - as in the base class
    ) -> RV:
        Connection.waiting += 1
        try:
            alone = Connection.waiting == 1
            return await super().wait(_looking_first(gen, self.pgconn.socket, alone=alone), interval, timeout)
        finally:
            Connection.waiting -= 1


@contextmanager
def busy() -> Iterator[None]:
    """For as long as there is other work to do, nobody looks instead of sleeping: the moment is better spent on that."""
    Connection.waiting += 1
    try:
        yield
    finally:
        Connection.waiting -= 1


def _looking_first(gen: PQGen[RV], socket: int, *, alone: bool) -> PQGen[RV]:
    answered = select.poll()
    answered.register(socket, select.POLLIN)
    try:
        state = next(gen)
        if alone and state == Wait.R and _comes_soon(answered):
            state = gen.send(Ready.R)
        while True:
            while state == Wait.R and answered.poll(0):
                state = gen.send(Ready.R)
            while state == Wait.RW and (free := _free(socket)):
                state = gen.send(free)
            state = gen.send((yield state))
    except StopIteration as done:
        result: RV = done.value
        return result


def _free(socket: int) -> Ready:
    """What can be done at once by who sends several statements and takes what is answered meanwhile."""
    either = select.poll()
    either.register(socket, select.POLLIN | select.POLLOUT)
    found = either.poll(0)
    return _READY.get(found[0][1], Ready.NONE) if found else Ready.NONE


def _comes_soon(answered: "select.poll") -> bool:
    until = perf_counter() + _MOMENT
    while not answered.poll(0):
        if perf_counter() > until:
            return False
    return True


class Queries(ABC):
    """Runs SQL on whatever connection it has: one of the pool, or that of the transaction it is part of."""

    @abstractmethod
    def connection(self) -> AbstractAsyncContextManager[Connection]: ...

    @abstractmethod
    def transaction(self) -> AbstractAsyncContextManager["Queries"]:
        """Inside another one, what fails takes only this one with it."""

    @abstractmethod
    def joined(self) -> AbstractAsyncContextManager["Queries"]:
        """Inside a transaction that one itself: what fails takes all of it with it."""

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
        """The rows of each of several statements of a transaction, sent at once: none may need what another answers.

        They run one after the other, and each sees what those before it did.
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
    """A pool of connections in autocommit: a read is one round trip.

    One connection is kept at hand while nobody waits for one: to borrow from the pool and to return there takes a tenth
    of the time of a short read.
    """

    def __init__(self, pool: AsyncConnectionPool[Connection]) -> None:
        self._pool = pool
        self._at_hand: Connection | None = None
        self._waiting = 0
        self._answers = True

    @classmethod
    @asynccontextmanager
    async def open(cls, dsn: str, *, size: int, name: str = "whence") -> AsyncIterator["Database"]:
        pool = AsyncConnectionPool(
            dsn,
            min_size=1,
            max_size=size,
            reconnect_timeout=30,
            open=False,
            name=name,
            configure=configure,
            connection_class=Connection,
            kwargs={
                "autocommit": True,
                "connect_timeout": 10,
                "application_name": name,
                # There are few statements, and each of them comes again.
                "prepare_threshold": 0,
            },
        )
        try:
            await pool.open(wait=True, timeout=30)
        except PoolTimeout as exc:
            await pool.close()
            raise DatabaseUnavailable from exc
        database = cls(pool)
        try:
            yield database
        finally:
            if database._at_hand is not None:
                await pool.putconn(database._at_hand)
            await pool.close()

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        try:
            with translated():
                conn = await self._borrow()
                try:
                    yield conn
                finally:
                    await self._return(conn)
        except DatabaseUnavailable as exc:
            self._noticed(exc)
            raise
        self._answers = True

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator["Queries"]:
        async with self.connection() as conn, conn.transaction():
            yield Transaction(conn)

    def joined(self) -> AbstractAsyncContextManager["Queries"]:
        return self.transaction()

    async def all(self, query: Statement, params: Params | None = None) -> list[Row]:
        for _ in range(_REVIVALS):
            try:
                return await self._read(query, params)
            except DatabaseUnavailable as exc:
                await self._revive(exc)
        return await self._read(query, params)

    async def one(self, query: Statement, params: Params | None = None) -> Row | None:
        rows = await self.all(query, params)
        return rows[0] if rows else None

    async def _read(self, query: Statement, params: Params | None) -> list[Row]:
        """As `connection` does it, without the context managers: they cost a sixth of a short read."""
        try:
            with translated():
                conn = await self._borrow()
                try:
                    cursor = conn.cursor(binary=True)
                    await cursor.execute(query, params)
                    rows = await cursor.fetchall()
                finally:
                    await self._return(conn)
        except DatabaseUnavailable as exc:
            self._noticed(exc)
            raise
        self._answers = True
        return rows

    async def _borrow(self) -> Connection:
        if self._at_hand is not None:
            conn, self._at_hand = self._at_hand, None
            return conn
        self._waiting += 1
        try:
            return await self._pool.getconn(_PATIENCE if self._answers else _IMPATIENCE)
        finally:
            self._waiting -= 1

    async def _return(self, conn: Connection) -> None:
        is_sound = conn.pgconn.transaction_status == TransactionStatus.IDLE
        if is_sound and self._at_hand is None and not self._waiting:
            self._at_hand = conn
        else:
            await self._pool.putconn(conn)

    def _noticed(self, exc: DatabaseUnavailable) -> None:
        self._answers = self._answers and isinstance(exc.__cause__, PoolTimeout | DeadlockDetected)

    async def _revive(self, exc: DatabaseUnavailable) -> None:
        """After a restart of the database the pool's connections are dead until used once: a read may go again."""
        if isinstance(exc.__cause__, PoolTimeout | PoolClosed):
            raise exc
        await self._pool.check()


class Transaction(Queries):
    """One connection inside one transaction; it commits when the block that opened it ends well.

    All its statements share a cursor: to make one takes a quarter of the time of a short statement.
    """

    def __init__(self, conn: Connection) -> None:
        self._conn = conn
        self._cursor = conn.cursor(binary=True)

    async def all(self, query: Statement, params: Params | None = None) -> list[Row]:
        with translated():
            await self._cursor.execute(query, params)
            return await self._cursor.fetchall()

    async def one(self, query: Statement, params: Params | None = None) -> Row | None:
        with translated():
            await self._cursor.execute(query, params)
            return await self._cursor.fetchone()

    async def run(self, query: Statement, params: Params | None = None) -> int:
        with translated():
            await self._cursor.execute(query, params)
            return self._cursor.rowcount

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        with translated():
            yield self._conn

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator["Queries"]:
        with translated():
            async with self._conn.transaction():
                yield self

    def joined(self) -> AbstractAsyncContextManager["Queries"]:
        return nullcontext(self)


class Deadlocked(DatabaseUnavailable):
    """Somebody else was writing the same just now"""


class translated:  # noqa: N801 - reads as what it does: `with translated():`
    """The driver's errors as ours. A class, because this stands around every statement."""

    __slots__ = ()

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, exc: BaseException | None, _trace: object) -> None:
        if isinstance(exc, PoolTimeout | PoolClosed):
            raise DatabaseUnavailable from exc
        if isinstance(exc, UnicodeEncodeError):  # bytes of a command line that are no text
            raise BadInput("Text must be valid Unicode") from exc
        if isinstance(exc, psycopg.errors.QueryCanceled):
            raise WhenceError(f"The database took longer than {STATEMENT_TIMEOUT}") from exc
        if isinstance(exc, DeadlockDetected | SerializationFailure):
            raise Deadlocked from exc
        if isinstance(exc, psycopg.OperationalError):
            raise DatabaseUnavailable from exc


async def configure(conn: Connection) -> None:
    set_json_dumps(orjson.dumps, conn)
    set_json_loads(orjson.loads, conn)
    conn.prepared_max = _PREPARED
    conn.adapters.register_dumper(HalfVector, HalfVectorDumper)
    await conn.execute(_SETUP, [SEARCH_PATH, STATEMENT_TIMEOUT, EF_SEARCH])


def uuids(ids: Iterable[UUID]) -> str:
    """As `::uuid[]` reads them: many times faster than the driver's arrays, which ask each element for its type."""
    return "{" + ",".join([ident.hex for ident in ids]) + "}"


def keys(ids: Iterable[ChunkKey]) -> str:
    """Likewise."""
    return "{" + ",".join([ident.hex() for ident in ids]) + "}"


def records(rows: Sequence[Mapping[str, Any]]) -> str:
    """As `json_to_recordset` reads them: rows of several columns, likewise without the driver's arrays."""
    return orjson.dumps(rows).decode()
