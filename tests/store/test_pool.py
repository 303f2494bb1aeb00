"""Borrowing connections: one is kept at hand, and still nobody waits in vain."""

import asyncio
import select

import psycopg
import pytest

from whence.store import connection
from whence.store.pool import Asked, Database, busy

_PID = "SELECT pg_backend_pid()"


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
        with psycopg.connect(dsn, autocommit=True) as other:
            last = await database.one(_PID)
            assert last is not None
            other.execute("SELECT pg_terminate_backend(%s)", last)
        assert await database.one(_PID) not in (None, last)


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
    asked: list[Asked] = [
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
