"""A pool of connections that survives a restart of the database.

psycopg_pool reconnects in the background, with pauses of up to half a minute, and hands out dead connections one by
one. Here the caller that needs a connection opens it, and the first dead connection retires all older ones.
"""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import monotonic

import psycopg
from psycopg.pq import TransactionStatus

from whence.errors import DatabaseUnavailable
from whence.store.connection import Connection, connect

_PATIENCE = 10.0  # seconds to wait for a connection
_IMPATIENCE = 2.0  # the same after a failed attempt to connect, so that clients get the error sooner
_START = 30.0  # seconds to wait for the first connection
_OLD = 30.0  # seconds without use after which a connection is checked before it is used
_UNUSED = 600.0  # seconds after which an idle connection is closed
_LIFETIME = 3600.0  # seconds after which a connection is replaced
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 1.0


class Unreachable(DatabaseUnavailable):
    """The database does not answer"""


class Exhausted(DatabaseUnavailable):
    """Every connection to the database is in use"""


class ConnectionPool:
    """A pool of at most `size` connections. The one returned last is lent first."""

    def __init__(self, dsn: str, *, size: int, name: str) -> None:
        self._dsn, self._name = dsn, name
        self._free = asyncio.Semaphore(size)
        self._idle: list[Connection] = []
        self._lost_at = 0.0
        """Connections opened before this moment are not used again."""
        self._reachable = True
        self._closed = False

    @classmethod
    @asynccontextmanager
    async def open(cls, dsn: str, *, size: int, name: str) -> AsyncIterator["ConnectionPool"]:
        pool = cls(dsn, size=size, name=name)
        await pool.give_back(await pool.borrow(monotonic() + _START))
        try:
            yield pool
        finally:
            pool._closed = True
            await pool._close_idle()

    def deadline(self) -> float:
        return monotonic() + (_PATIENCE if self._reachable else _IMPATIENCE)

    async def borrow(self, until: float) -> Connection:
        if self._free.locked():
            await self._wait_for_turn(until)
        else:
            await self._free.acquire()
        try:
            while self._idle:
                conn = self._idle.pop()
                if (conn.is_quiet and monotonic() - conn.used_at < _OLD) or await conn.answers():
                    return conn
                await self._retire(conn)
            return await self._connect(until)
        except BaseException:
            self._free.release()
            raise

    async def give_back(self, conn: Connection) -> None:
        """Keep the connection for the next caller, unless it is broken, too old or inside a transaction."""
        try:
            if conn.closed:
                await self._retire(conn)
            moment = monotonic()
            kept = not self._closed and self._lost_at < conn.opened_at and moment < conn.opened_at + _LIFETIME
            if kept and conn.pgconn.transaction_status == TransactionStatus.IDLE:
                conn.used_at = moment
                self._idle.append(conn)
                self._reachable = True
            else:
                await conn.close()
            if self._idle and self._idle[0].used_at < moment - _UNUSED:
                await self._idle.pop(0).close()
        finally:
            self._free.release()

    async def _retire(self, conn: Connection) -> None:
        """Retire all open connections after one broke, because the database may have restarted."""
        if self._lost_at < conn.opened_at:
            self._lost_at = monotonic()
            await self._close_idle()

    async def _close_idle(self) -> None:
        while self._idle:
            await self._idle.pop().close()

    async def _wait_for_turn(self, until: float) -> None:
        try:
            async with asyncio.timeout(until - monotonic()):
                await self._free.acquire()
        except TimeoutError as exc:
            raise (Exhausted if self._reachable else Unreachable) from exc

    async def _connect(self, until: float) -> Connection:
        pause = _FIRST_PAUSE
        while not self._closed:
            try:
                async with asyncio.timeout(until - monotonic()):
                    conn = await connect(self._dsn, self._name)
            except (psycopg.Error, TimeoutError) as exc:
                self._reachable = False
                if monotonic() + pause > until:
                    raise Unreachable from exc
                await asyncio.sleep(pause * random.uniform(0.5, 1))
                pause = min(pause * 2, _LONGEST_PAUSE)
            else:
                self._reachable = True
                return conn
        raise Unreachable
