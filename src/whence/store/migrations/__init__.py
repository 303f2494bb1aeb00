"""Migrates a database to the schema of this code. Processes that start at the same time migrate it once.

The SQL scripts in versions/ run in order."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from whence.background import cause
from whence.errors import DatabaseUnavailable, SchemaMismatch, SettingsError

_SCRIPTS = {path.name[:4]: path for path in sorted(Path(__file__).parent.glob("versions/*.sql"))}
KNOWN = tuple(_SCRIPTS)
"""Versions of the schema, oldest first."""

HEAD = KNOWN[-1]

Connection = psycopg.Connection[tuple[object, ...]]
State = Literal["empty", "behind", "current", "newer"]

# The table has the name and shape that alembic gave it in earlier versions.
_VERSION_TABLE = """
CREATE SCHEMA IF NOT EXISTS kb;
CREATE TABLE IF NOT EXISTS kb.alembic_version (
    version_num character varying(32) NOT NULL CONSTRAINT alembic_version_pkc PRIMARY KEY)
"""
_LOCK = 0x57_68_65_6E_63_65  # "Whence": the advisory lock of migrations
_MINIMUM_SERVER = 150_000
_MINIMUM_VECTOR = (0, 8)


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationStatus:
    current: str | None
    """The database's revision; None for an empty database."""
    head: str
    state: State
    server_version: str
    vector_version: str | None


async def status(dsn: str) -> MigrationStatus:
    return await asyncio.to_thread(_run_connected, dsn, _read_status)


async def upgrade(dsn: str) -> MigrationStatus:
    """Migrate to HEAD if needed. Refuses servers that are too old and schemas newer than this code."""
    return await asyncio.to_thread(_run_connected, dsn, _upgrade)


def _run_connected(dsn: str, work: Callable[[Connection], MigrationStatus]) -> MigrationStatus:
    _require_conninfo(dsn)
    try:
        with psycopg.connect(
            dsn, autocommit=True, connect_timeout=10, application_name="whence migrations"
        ) as conn:
            return work(conn)
    except (psycopg.OperationalError, psycopg.InterfaceError) as exc:
        raise DatabaseUnavailable(f"The database does not answer: {cause(exc)}") from exc


def _require_conninfo(dsn: str) -> None:
    """Raise our own error for an invalid URL, because libpq's message may quote the password."""
    try:
        ports = str(conninfo_to_dict(dsn).get("port") or "").split(",")
    except psycopg.ProgrammingError:
        ports = ["unreadable"]
    if not all(port.isdecimal() or not port for port in ports):
        raise SettingsError(
            "WHENCE_DATABASE_URL is not the URL of a database. Expected: postgresql://user:password@host:port/name. "
            "Characters such as / : @ % in a password are written as %2F %3A %40 %25.",
            details={"setting": "WHENCE_DATABASE_URL"},
        )


def _read_status(conn: Connection) -> MigrationStatus:
    current = _read_revision(conn)
    states: dict[str | None, State] = {None: "empty", **dict.fromkeys(KNOWN, "behind"), HEAD: "current"}
    return MigrationStatus(
        current=current,
        head=HEAD,
        state=states.get(current, "newer"),
        server_version=conn.info.parameter_status("server_version") or "",
        vector_version=_read_vector_version(conn, "installed_version"),
    )


def _upgrade(conn: Connection) -> MigrationStatus:
    found = _read_status(conn)
    if found.state != "current":
        _require_server(conn)
        conn.execute("SELECT pg_advisory_lock(%s)", [_LOCK])
        found = _read_status(conn)
        if found.state == "newer":
            raise SchemaMismatch(
                f"The database is at schema {found.current}, which is newer than this version of Whence knows "
                f"({HEAD}). Upgrade Whence, or restore a backup made with this version.",
                details={"database": found.current, "code": HEAD},
            )
        if found.state != "current":
            _require_vector(conn)
            _migrate(conn, found.current)
        found = _read_status(conn)
    return found


def _read_revision(conn: Connection) -> str | None:
    exists = conn.execute("SELECT to_regclass('kb.alembic_version')").fetchone()
    if not exists or exists[0] is None:
        return None
    row = conn.execute("SELECT version_num FROM kb.alembic_version").fetchone()
    return str(row[0]) if row else None


def _require_server(conn: Connection) -> None:
    require_server_version(conn.info.server_version)
    encoding = conn.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise SchemaMismatch(f"The database's encoding is {encoding}; Whence needs UTF8.")


def require_server_version(number: int) -> None:
    if number < _MINIMUM_SERVER:
        raise SchemaMismatch(
            f"The server is PostgreSQL {number // 10000}; Whence needs {_MINIMUM_SERVER // 10000} or newer.",
            details={"server_version": number // 10000, "needed": _MINIMUM_SERVER // 10000},
        )


def _require_vector(conn: Connection) -> None:
    installed = _read_vector_version(conn, "installed_version")
    require_vector_version(installed or _read_vector_version(conn, "default_version"))
    if installed is None:
        try:
            conn.execute("CREATE EXTENSION IF NOT EXISTS vector")
        except psycopg.errors.InsufficientPrivilege as exc:
            raise SchemaMismatch(
                "The extension pgvector is not in this database and this role may not create it. "
                "Let a superuser run: CREATE EXTENSION vector;"
            ) from exc


def require_vector_version(version: str | None) -> None:
    if version is None:
        raise SchemaMismatch(
            "The server has no extension pgvector; install pgvector 0.8 or newer on it "
            "(packages are called postgresql-NN-pgvector or similar)."
        )
    numbers = tuple(int(part) for part in version.split(".")[:2])
    if numbers < _MINIMUM_VECTOR:
        raise SchemaMismatch(
            f"pgvector is {version}; Whence needs 0.8 or newer. After installing it: ALTER EXTENSION vector UPDATE;",
            details={"vector_version": version, "needed": "0.8"},
        )


def _read_vector_version(
    conn: Connection, column: Literal["installed_version", "default_version"]
) -> str | None:
    query = sql.SQL("SELECT {} FROM pg_available_extensions WHERE name = 'vector'")
    row = conn.execute(query.format(sql.Identifier(column))).fetchone()
    return str(row[0]) if row and row[0] is not None else None


def _migrate(conn: Connection, current: str | None) -> None:
    """Run the scripts of all versions after `current`, in one transaction. The first also makes the queue's tables."""
    from procrastinate.schema import SchemaManager

    try:
        with conn.transaction():
            conn.execute(_VERSION_TABLE)
            if current is None:
                conn.execute(_SCRIPTS[KNOWN[0]].read_bytes())
                conn.execute("CREATE SCHEMA queue")
                conn.execute("SET LOCAL search_path TO queue, public")
                conn.execute(SchemaManager.get_schema().encode())
            for version in KNOWN[1:]:
                if current is None or version > current:
                    conn.execute(_SCRIPTS[version].read_bytes())
            conn.execute("DELETE FROM kb.alembic_version")
            conn.execute("INSERT INTO kb.alembic_version VALUES (%s)", [KNOWN[-1]])
    except psycopg.Error as exc:
        raise SchemaMismatch(
            f"The schema cannot be created or updated: {cause(exc)}. Nothing was changed."
        ) from exc
