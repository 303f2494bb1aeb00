"""Empties a database between the tests that share it."""

from collections.abc import Set as AbstractSet

import psycopg
from psycopg.conninfo import make_conninfo

TABLES = """
SELECT format('%I.%I', nspname, relname) FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
WHERE relkind = 'r' AND nspname IN ('kb', 'queue')
"""
WITHOUT_TRIGGERS = "-c session_replication_role=replica"
"""Rows go in any order, and no foreign key is followed."""
DELETE_ROWS = "SELECT pg_temp.delete_rows()"


async def open_cleaner(dsn: str, kept: AbstractSet[str]) -> psycopg.AsyncConnection:
    """A connection that executes `DELETE_ROWS`; the rows of the kept tables stay."""
    dsn = make_conninfo(dsn, options=WITHOUT_TRIGGERS)
    conn = await psycopg.AsyncConnection.connect(dsn, autocommit=True)
    await _define_deletion(conn, kept)
    return conn


async def _define_deletion(conn: psycopg.AsyncConnection, kept: AbstractSet[str]) -> None:
    """A function keeps the plans of its statements: to plan forty deletions takes longer than to run them."""
    rows = await (await conn.execute(TABLES)).fetchall()
    names = sorted({row[0] for row in rows} - kept)
    deletions = "; ".join(f"DELETE FROM {name}" for name in names)
    await conn.execute(
        f"CREATE FUNCTION pg_temp.delete_rows() RETURNS void LANGUAGE plpgsql AS $$ BEGIN {deletions}; END $$"
    )
