"""A database that goes away: connections are ended, and none can be made for as long as the block lasts."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo


@contextmanager
def away(dsn: str) -> Iterator[None]:
    name = sql.Identifier(str(conninfo_to_dict(dsn)["dbname"]))
    with psycopg.connect(make_conninfo(dsn, dbname="postgres"), autocommit=True) as conn:
        conn.execute(sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS false").format(name))
        _end_connections(conn, dsn)
        try:
            yield
        finally:
            conn.execute(sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS true").format(name))


def end_connections(dsn: str) -> None:
    """As a restart does it."""
    with psycopg.connect(make_conninfo(dsn, dbname="postgres"), autocommit=True) as conn:
        _end_connections(conn, dsn)


def _end_connections(conn: psycopg.Connection, dsn: str) -> None:
    """Returns when they have ended: a backend takes a moment to notice."""
    name = conninfo_to_dict(dsn)["dbname"]
    while conn.execute(
        "SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity WHERE datname = %s", [name]
    ).fetchone() != (0,):
        continue
