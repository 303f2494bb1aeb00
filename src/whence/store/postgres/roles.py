"""The database's roles. The bootstrap role is a superuser; the server uses an ordinary role that owns its database.

A superuser could read the machine's files and run programs by SQL. Data directories of earlier versions, where the server was the
superuser, are converted at the next start.
"""

from typing import LiteralString

import psycopg
from psycopg import sql

from whence.errors import PostgresError
from whence.store.postgres.data_dir import ROLE
from whence.store.postgres.server import DATABASE

# The database belongs to the ordinary role, which may set its search path: the superuser must not run its functions.
_OPTIONS = "-c search_path=pg_catalog"
_HAS_ROLE: LiteralString = "SELECT FROM pg_roles WHERE rolname = %s"
_OWNER: LiteralString = "SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = %s"
_HAS_VECTOR: LiteralString = """
SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'vector')
    OR NOT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector')
"""
# Indexes and the sequences of columns follow their table; arrays and row types follow their type or table.
_FOREIGN: LiteralString = """
WITH ours AS (SELECT oid, nspname, nspowner FROM pg_namespace WHERE nspname IN ('kb', 'queue')),
     role AS (SELECT oid FROM pg_roles WHERE rolname = %(role)s)
SELECT format('ALTER SCHEMA %%I OWNER TO %%I', n.nspname, %(role)s::text)
FROM ours n, role WHERE n.nspowner <> role.oid
UNION ALL
SELECT format('ALTER TABLE %%s OWNER TO %%I', c.oid::regclass, %(role)s::text)
FROM pg_class c JOIN ours n ON n.oid = c.relnamespace, role
WHERE c.relowner <> role.oid AND (c.relkind IN ('r', 'p', 'v', 'm', 'f') OR (c.relkind = 'S' AND NOT EXISTS (
    SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype IN ('a', 'i'))))
UNION ALL
SELECT format('ALTER ROUTINE %%s OWNER TO %%I', p.oid::regprocedure, %(role)s::text)
FROM pg_proc p JOIN ours n ON n.oid = p.pronamespace, role WHERE p.proowner <> role.oid
UNION ALL
SELECT format('ALTER TYPE %%s OWNER TO %%I', t.oid::regtype, %(role)s::text)
FROM pg_type t JOIN ours n ON n.oid = t.typnamespace LEFT JOIN pg_class c ON c.oid = t.typrelid, role
WHERE t.typowner <> role.oid AND t.typtype IN ('e', 'd', 'r', 'c') AND (t.typrelid = 0 OR c.relkind = 'c')
"""


def prepare(bootstrap_dsn: str) -> None:
    """Make the role, the database and the extension if they are missing, and make the role their owner."""
    role, database = sql.Identifier(ROLE), sql.Identifier(DATABASE)
    try:
        with _connect(bootstrap_dsn, dbname="postgres", autocommit=True) as conn:
            if conn.execute(_HAS_ROLE, [ROLE]).fetchone() is None:
                conn.execute(sql.SQL("CREATE ROLE {} LOGIN").format(role))
            owner = conn.execute(_OWNER, [DATABASE]).fetchone()
            if owner is None:
                conn.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(database, role))
            elif owner[0] != ROLE:
                conn.execute(sql.SQL("ALTER DATABASE {} OWNER TO {}").format(database, role))
        with _connect(bootstrap_dsn) as conn:
            if conn.execute(_HAS_VECTOR).fetchone() == (False,):
                conn.execute("CREATE EXTENSION vector SCHEMA public")
            for (statement,) in conn.execute(_FOREIGN, {"role": ROLE}).fetchall():
                conn.execute(statement)
    except psycopg.Error as exc:
        raise PostgresError(f"The embedded database started, but does not serve Whence: {exc}") from exc


def _connect(dsn: str, *, dbname: str = DATABASE, autocommit: bool = False) -> psycopg.Connection:
    return psycopg.connect(dsn, dbname=dbname, autocommit=autocommit, options=_OPTIONS, connect_timeout=10)
