"""A connection to Postgres: its setup, and how it waits for results."""

import asyncio
import select
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic, perf_counter
from typing import Any, ClassVar

import orjson
import psycopg
from psycopg import AsyncConnection
from psycopg.abc import RV, PQGen
from psycopg.types.json import JsonbDumper, set_json_dumps, set_json_loads
from psycopg.waiting import Ready, Wait

from whence.store.halfvec import HalfVector, HalfVectorDumper

SEARCH_PATH = "kb, queue, public"
STATEMENT_TIMEOUT = "15s"
LOCK_TIMEOUT = "10s"  # shorter than the statement timeout, so that a lock timeout has its own error
EF_SEARCH = 100  # vectors that a search by index compares, unless it asks for another number
_PREPARED = 500  # more than there are statements
_MOMENT = 0.00025  # seconds of polling before an idle server sleeps
_CHECK = 5.0  # seconds for the answer to an empty statement
_SETUP = """
SELECT set_config('search_path', %s, false),
       set_config('random_page_cost', '1.1', false), -- SSDs: random reads cost little more than sequential ones
       set_config('statement_timeout', %s, false),
       set_config('lock_timeout', %s, false),
       -- The vector index scans on until enough rows pass the filter.
       set_config('hnsw.iterative_scan', 'relaxed_order', false),
       set_config('hnsw.ef_search', %s, false),
       set_config('timezone', 'UTC', false)
"""


class Connection(AsyncConnection[tuple[Any, ...]]):
    """Waits for Postgres with fewer rounds of the event loop (docs/decisions/0005-waiting-for-postgres.md).

    A result arrives in parts of 8 kB, and the next part is often there already, so it polls the socket before it
    returns to the loop.
    While nothing else waits for the database, it polls for a moment before it sleeps, because sleeping and waking up
    take as long as reading one chunk.
    """

    waiting: ClassVar[int] = 0
    """Number of statements that wait for the database, plus other work in progress (`busy`)."""

    opened_at: float = 0.0
    used_at: float = 0.0
    _input: "select.poll | None" = None

    async def wait(
        self,
        gen: PQGen[RV],
        interval: float = 0.1,
        timeout: float | None = None,  # noqa: ASYNC109 - as in the base class
    ) -> RV:
        Connection.waiting += 1
        try:
            alone = Connection.waiting == 1
            polled = _poll_first(gen, self.input, alone=alone)
            return await super().wait(polled, interval, timeout)
        finally:
            Connection.waiting -= 1

    @property
    def input(self) -> "select.poll":
        if self._input is None:
            self._input = select.poll()
            self._input.register(self.pgconn.socket, select.POLLIN)
        return self._input

    @property
    def is_quiet(self) -> bool:
        """False if an idle connection has data to read: most likely the server closed it."""
        return not self.input.poll(0)

    async def answers(self) -> bool:
        """Check that the server answers. Otherwise close the connection."""
        try:
            async with asyncio.timeout(_CHECK):
                await self.execute("")
        except (psycopg.Error, TimeoutError):
            await self.close()
            return False
        except BaseException:
            await self.close()
            raise
        return True


class _JsonDumper(JsonbDumper):
    _dumps = orjson.dumps


@contextmanager
def busy() -> Iterator[None]:
    """Mark other work in progress: connections then sleep instead of polling, to leave it the CPU."""
    Connection.waiting += 1
    try:
        yield
    finally:
        Connection.waiting -= 1


def _poll_first(gen: PQGen[RV], answered: "select.poll", *, alone: bool) -> PQGen[RV]:
    try:
        state = next(gen)
        if alone and state == Wait.R and _comes_soon(answered):
            state = gen.send(Ready.R)
        while True:
            while state == Wait.R and answered.poll(0):
                state = gen.send(Ready.R)
            state = gen.send((yield state))
    except StopIteration as done:
        result: RV = done.value
        return result


def _comes_soon(answered: "select.poll") -> bool:
    until = perf_counter() + _MOMENT
    while not answered.poll(0):
        if perf_counter() > until:
            return False
    return True


async def connect(dsn: str, name: str) -> Connection:
    conn = await Connection.connect(
        dsn,
        autocommit=True,
        connect_timeout=10,
        application_name=name,
        prepare_threshold=0,  # there are few statements, and each runs often
    )
    try:
        await configure(conn)
    except BaseException:
        await conn.close()
        raise
    conn.opened_at = conn.used_at = monotonic()
    return conn


async def configure(conn: Connection) -> None:
    set_json_dumps(orjson.dumps, conn)
    set_json_loads(orjson.loads, conn)
    conn.prepared_max = _PREPARED
    conn.adapters.register_dumper(HalfVector, HalfVectorDumper)
    conn.adapters.register_dumper(dict, _JsonDumper)
    await conn.execute(_SETUP, [SEARCH_PATH, STATEMENT_TIMEOUT, LOCK_TIMEOUT, str(EF_SEARCH)])
