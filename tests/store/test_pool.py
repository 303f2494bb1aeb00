"""Connections: lent, returned, shared, and replaced when the database ends them."""

import asyncio
import select
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from time import monotonic

import psycopg
import pytest
from tests.outage import away, end_connections

from whence.errors import DatabaseBusy, DatabaseUnavailable, WhenceError
from whence.store import connection, connection_pool
from whence.store.binary_copy import copy, integer, packed
from whence.store.connection import busy
from whence.store.connection_pool import ConnectionPool, Unreachable
from whence.store.pool import BoundStatement, Database, Deadlocked, Queries

_PID = "SELECT pg_backend_pid()"
_DIE = "SELECT pg_terminate_backend(pg_backend_pid())"


@pytest.fixture
async def database(dsn: str) -> AsyncIterator[Database]:
    async with Database.open(dsn, size=4) as opened:
        await opened.run("CREATE TABLE things (name int)")
        yield opened


@contextmanager
def impatient() -> Iterator[None]:
    """Nobody waits long for a connection. Not for long enough to make one on a busy machine, either."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection_pool, "_PATIENCE", 0.2)
        patch.setattr(connection_pool, "_IMPATIENCE", 0.1)
        yield


async def backends(database: Database, number: int) -> set[int]:
    """The processes of so many connections, all lent at the same time."""
    together = asyncio.Barrier(number)

    async def one() -> int:
        async with database.connection() as conn:
            await together.wait()
            row = await (await conn.execute(_PID)).fetchone()
            assert row is not None
            return int(row[0])

    return set(await asyncio.gather(*(one() for _ in range(number))))


async def things(queries: Queries) -> int:
    row = await queries.one("SELECT count(*) FROM things")
    assert row is not None
    return int(row[0])


async def test_a_statement_that_waits_too_long_for_a_row_is_told_apart_from_a_slow_one(
    database: Database,
) -> None:
    """Waits for several rows may exceed the statement's timeout although none exceeds that of a lock."""
    await database.run("INSERT INTO things VALUES (1)")
    update = "UPDATE things SET name = 2"
    async with database.transaction() as holder, database.transaction() as waiting:
        await holder.run(update)
        await waiting.run("SET LOCAL statement_timeout = '50ms'")
        with pytest.raises(DatabaseBusy):
            await waiting.run(update)
    async with database.transaction() as slow:
        await slow.run("SET LOCAL statement_timeout = '50ms'")
        with pytest.raises(WhenceError, match="took longer") as error:
            await slow.run("SELECT pg_sleep(60)")
    assert not isinstance(error.value, DatabaseBusy)


async def test_everybody_gets_the_only_connection(dsn: str) -> None:
    async with Database.open(dsn, size=1) as database:

        async def change() -> None:
            async with database.transaction() as tx:
                await tx.all("SELECT pg_sleep(0.001)")

        reads = [database.one(_PID) for _ in range(50)]
        found = await asyncio.gather(*reads, *(change() for _ in range(50)))
    assert len(set(found[:50])) == 1


async def test_it_is_used_again(dsn: str) -> None:
    async with Database.open(dsn, size=3) as database:
        assert len({await database.one(_PID) for _ in range(5)}) == 1


async def test_one_that_a_failure_left_unfit_is_not_kept(dsn: str) -> None:
    async with Database.open(dsn, size=1) as database:
        first = await database.one(_PID)
        assert first is not None
        try:
            async with database.connection() as conn:
                await conn.execute("BEGIN")
                await conn.execute("SELECT 1 / 0")
        except psycopg.errors.DivisionByZero:
            pass
        async with database.connection() as conn:
            assert conn.pgconn.transaction_status == psycopg.pq.TransactionStatus.IDLE


async def test_it_goes_with_the_pool(dsn: str) -> None:
    async with Database.open(dsn, size=1, name="short-lived") as database:
        await database.one(_PID)
    with psycopg.connect(dsn, autocommit=True) as other:
        for _ in range(100):
            left = other.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'short-lived'"
            ).fetchone()
            if left == (0,):
                break
            await asyncio.sleep(0.02)
        assert left == (0,)


async def test_nobody_looks_for_an_answer_while_there_is_other_work(
    dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = 0
    comes_soon = connection._comes_soon

    def counted(answered: select.poll) -> bool:
        nonlocal looked
        looked += 1
        return comes_soon(answered)

    monkeypatch.setattr(connection, "_comes_soon", counted)
    async with Database.open(dsn, size=1) as database:
        looked = 0
        with busy():
            await database.one("SELECT 1")
        assert looked == 0
        await database.one("SELECT 1")
        assert looked == 1


async def test_statements_that_go_together_see_what_those_before_them_did(dsn: str) -> None:
    async with Database.open(dsn, size=1) as database, database.transaction() as tx:
        found = await tx.together(
            [
                ("CREATE TEMPORARY TABLE things (name text) ON COMMIT DROP", {}),
                ("INSERT INTO things VALUES (%(name)s)", {"name": "one"}),
                ("SELECT name FROM things", {}),
                ("INSERT INTO things VALUES (%(name)s) RETURNING name", {"name": "two"}),
                ("SELECT count(*) FROM things", {}),
            ]
        )
        assert found == [[], [], [("one",)], [("two",)], [(2,)]]
        assert await tx.together([]) == []


async def test_one_that_fails_ends_the_transaction_of_all(dsn: str) -> None:
    asked: list[BoundStatement] = [
        ("CREATE TABLE things (name text)", {}),
        ("SELECT 1 / %(zero)s", {"zero": 0}),
        ("SELECT 1", {}),
    ]
    async with Database.open(dsn, size=1) as database:
        with pytest.raises(psycopg.errors.DivisionByZero):
            async with database.transaction() as tx:
                await tx.together(asked)
        assert await database.one("SELECT to_regclass('things')") == (None,)


async def test_more_than_a_socket_holds_goes_together(dsn: str) -> None:
    long = "x" * 1_000_000
    async with Database.open(dsn, size=1) as database, database.transaction() as tx:
        found = await tx.together([("SELECT %(long)s::text", {"long": long})] * 8)
        assert found == [[(long,)]] * 8


async def test_reads_do_not_notice_that_every_idle_connection_was_ended(database: Database, dsn: str) -> None:
    before = await backends(database, 4)
    end_connections(dsn)
    found = await asyncio.gather(*(database.one(_PID) for _ in range(20)))
    assert before.isdisjoint(row[0] for row in found if row)


async def test_writes_do_not_notice_either(database: Database, dsn: str) -> None:
    """The pool sees that a connection is dead before anything is sent on it."""
    await backends(database, 4)
    end_connections(dsn)
    await database.run("INSERT INTO things VALUES (1)")
    await backends(database, 4)
    end_connections(dsn)
    async with database.transaction() as tx:
        await tx.run("INSERT INTO things VALUES (2)")
    await backends(database, 4)
    end_connections(dsn)
    await copy(database, "COPY things FROM STDIN (FORMAT binary)", [packed(integer(3))])
    assert await things(database) == 3


async def test_one_dead_connection_retires_all_that_are_older(database: Database) -> None:
    before = await backends(database, 4)
    with pytest.raises(DatabaseUnavailable):
        await database.run(_DIE)
    assert before.isdisjoint(await backends(database, 4))


async def test_a_connection_in_use_while_another_dies_is_not_lent_again(database: Database) -> None:
    async with database.connection() as conn:
        with pytest.raises(DatabaseUnavailable):
            await database.run(_DIE)
        row = await (await conn.execute(_PID)).fetchone()
    assert row is not None
    assert row[0] not in await backends(database, 4)


async def test_a_read_that_is_interrupted_runs_again(database: Database, dsn: str) -> None:
    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as other, other.transaction():
        await other.execute("LOCK TABLE kb.things IN ACCESS EXCLUSIVE MODE")
        reading = asyncio.create_task(things(database))
        await _end_waiting(dsn)
        await other.execute("INSERT INTO kb.things VALUES (1)")
    assert await reading == 1


async def _end_waiting(dsn: str) -> None:
    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as conn:
        found = None
        while found is None:
            rows = await conn.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND wait_event_type = 'Lock'"
            )
            found = await rows.fetchone()


async def test_a_read_that_ends_its_connection_each_time_fails_in_the_end(database: Database) -> None:
    with impatient(), pytest.raises(DatabaseUnavailable):
        await database.one(_DIE)
    assert await database.one("SELECT 1") == (1,)


async def test_a_write_is_not_repeated(database: Database) -> None:
    """A sequence counts on when its transaction is rolled back."""
    await database.run("CREATE SEQUENCE tries")
    with pytest.raises(DatabaseUnavailable):
        await database.one("SELECT nextval('tries'), pg_terminate_backend(pg_backend_pid())")
    with pytest.raises(DatabaseUnavailable):
        await database.all(
            "INSERT INTO things SELECT 1 FROM pg_terminate_backend(pg_backend_pid()) RETURNING 1"
        )
    assert await database.one("SELECT last_value FROM tries") == (1,)
    assert await things(database) == 0


async def test_a_transaction_that_loses_its_connection_is_unavailable(database: Database, dsn: str) -> None:
    async def before_its_commit() -> None:
        async with database.transaction() as tx:
            await tx.run("INSERT INTO things VALUES (1)")
            end_connections(dsn)

    async def in_a_part_of_it() -> None:
        async with database.transaction() as tx, tx.transaction() as inner:
            await inner.run("INSERT INTO things VALUES (1)")
            await inner.one(_DIE)

    async def unnoticed() -> None:
        """The driver does not say that it cannot commit."""
        async with database.transaction() as tx:
            await tx.run("INSERT INTO things VALUES (1)")
            await die(tx)

    for lose in (before_its_commit, in_a_part_of_it, unnoticed):
        with pytest.raises(DatabaseUnavailable):
            await lose()
    assert await things(database) == 0


async def die(queries: Queries) -> None:
    with suppress(DatabaseUnavailable):
        await queries.one(_DIE)


async def test_every_way_to_use_a_connection_tells_of_its_loss_alike(database: Database) -> None:
    async def together() -> None:
        async with database.transaction() as tx:
            await tx.together([("SELECT 1", {}), (_DIE, {}), ("SELECT 2", {})])

    async def together_afterwards() -> None:
        async with database.transaction() as tx:
            await die(tx)
            await tx.together([("SELECT 1", {})])

    async def a_copy() -> None:
        async with database.transaction() as tx:
            await die(tx)
            await copy(tx, "COPY things FROM STDIN (FORMAT binary)", [packed(integer(3))])

    async def a_connection() -> None:
        async with database.connection() as conn:
            with suppress(psycopg.Error):
                await conn.execute(_DIE)
            await conn.execute("SELECT 1")  # an InterfaceError of the driver

    for lose in (together, together_afterwards, a_copy, a_connection):
        with pytest.raises(DatabaseUnavailable):
            await lose()
    assert await things(database) == 0


async def test_two_who_wait_for_each_other_are_told_so(database: Database) -> None:
    await database.run("INSERT INTO things VALUES (1), (2)")
    both = asyncio.Barrier(2)

    async def change(first: int, second: int) -> None:
        async with database.transaction() as tx:
            await tx.run("SELECT FROM things WHERE name = %(name)s FOR UPDATE", {"name": first})
            await both.wait()
            await tx.run("SELECT FROM things WHERE name = %(name)s FOR UPDATE", {"name": second})

    before = await database.one("SELECT 1")
    ended = await asyncio.gather(change(1, 2), change(2, 1), return_exceptions=True)
    assert [type(one) for one in ended if one is not None] == [Deadlocked]
    assert before == await database.one("SELECT 1")


async def test_a_database_that_was_away_is_used_as_soon_as_it_is_back(database: Database, dsn: str) -> None:
    with away(dsn), impatient():
        for _ in range(2):
            with pytest.raises(DatabaseUnavailable):
                await database.one("SELECT 1")
        with pytest.raises(DatabaseUnavailable):
            await database.run("INSERT INTO things VALUES (1)")
    assert await things(database) == 0


async def test_when_all_connections_are_in_use_callers_wait_and_give_up(dsn: str) -> None:
    async with Database.open(dsn, size=1) as database:
        async with database.connection():
            with impatient(), pytest.raises(DatabaseUnavailable, match="in use"):
                await database.one("SELECT 1")
        assert await database.one("SELECT 1") == (1,)


async def test_a_caller_that_gives_up_waiting_takes_no_connection_along(dsn: str) -> None:
    async with Database.open(dsn, size=1) as database:
        async with database.connection():
            waiting = [asyncio.create_task(database.one("SELECT 1")) for _ in range(3)]
            await asyncio.sleep(0)
            waiting[0].cancel()
        waiting[1].cancel()
        assert await waiting[2] == (1,)
        reading = asyncio.create_task(database.one("SELECT pg_sleep(60)"))
        await asyncio.sleep(0.05)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        assert await database.one("SELECT 1") == (1,)


async def test_a_connection_that_was_idle_for_long_is_checked(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked = 0
    answers = connection.Connection.answers

    async def counted(self: connection.Connection) -> bool:
        nonlocal checked
        checked += 1
        return await answers(self)

    monkeypatch.setattr(connection.Connection, "answers", counted)
    await database.one("SELECT 1")
    assert checked == 0
    monkeypatch.setattr(connection_pool, "_OLD", 0.0)
    assert await database.one("SELECT 1") == (1,)
    assert checked == 1


async def test_connections_that_nobody_needs_are_closed(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = await backends(database, 4)
    monkeypatch.setattr(connection_pool, "_UNUSED", 0.0)
    for _ in range(8):
        await database.one("SELECT 1")
    monkeypatch.undo()
    assert len(before & await backends(database, 4)) <= 1
    monkeypatch.setattr(connection_pool, "_LIFETIME", 0.0)
    assert await database.one(_PID) != await database.one(_PID)


async def test_a_caller_without_time_left_does_not_make_the_others_impatient(dsn: str) -> None:
    """It cannot connect in no time. The database is no less reachable for the next."""
    async with ConnectionPool.open(dsn, size=2, name="test") as pool:
        conn = await pool.borrow(pool.deadline())
        with pytest.raises(Unreachable):
            await pool.borrow(monotonic())
        await pool.give_back(conn)
        assert pool.deadline() - monotonic() > connection_pool._IMPATIENCE
