"""A backup of somebody else may hold any SQL: the dump keeps each statement as text."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import sql
from tests.store.test_backup import Place, empty, full, temporary

from whence.errors import WhenceError
from whence.store import restore
from whence.store.migrations import upgrade
from whence.store.postgres import EmbeddedPostgres, binaries

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["empty", "full", "temporary"]  # fixtures

# Each would read a file, run a program, reach another server or give its role more rights. `{sign}` is a file to write.
REACHING_OUT = (
    "COPY kb.projects FROM PROGRAM 'touch {sign}'",
    "COPY kb.projects TO PROGRAM 'cat > {sign}'",
    "COPY kb.projects TO '{sign}'",
    "COPY kb.bait FROM '/etc/passwd'",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT pg_ls_dir('/')",
    "SELECT lo_import('/etc/passwd')",
    "SELECT lo_export(lo_from_bytea(0, 'x'), '{sign}')",
    "CREATE FUNCTION kb.c() RETURNS int LANGUAGE c AS '/lib/x86_64-linux-gnu/libc.so.6', 'system'",
    "CREATE FUNCTION kb.i() RETURNS int LANGUAGE internal AS 'pg_reload_conf'",
    "LOAD '/lib/x86_64-linux-gnu/libc.so.6'",
    "CREATE EXTENSION dblink SCHEMA kb",
    "CREATE EXTENSION postgres_fdw SCHEMA kb",
    "CREATE EXTENSION file_fdw SCHEMA kb",
    "CREATE EVENT TRIGGER e ON ddl_command_start EXECUTE FUNCTION kb.on_event()",
    "CREATE EVENT TRIGGER e ON login EXECUTE FUNCTION kb.on_event()",
    "CREATE SUBSCRIPTION s CONNECTION 'host=127.0.0.1' PUBLICATION p WITH (connect = false)",
    "ALTER DATABASE {database} SET session_preload_libraries = '{sign}'",
    "ALTER ROLE {role} SUPERUSER",
    "CREATE ROLE other SUPERUSER",
    "GRANT pg_execute_server_program TO {role}",
    "SET SESSION AUTHORIZATION {bootstrap}",
    "SET ROLE {bootstrap}",
    "ALTER FUNCTION kb.spring(text) OWNER TO {bootstrap}",
    "ALTER TABLE kb.bait OWNER TO {bootstrap}",
    "ALTER EXTENSION vector UPDATE TO 'x'",
    "UPDATE pg_authid SET rolsuper = true",
    "UPDATE pg_proc SET proowner = 10 WHERE proname = 'spring'",
)
NOT_ALLOWED = re.compile("permission denied|is not allowed|must be (owner|able to SET ROLE)")
# What an ordinary role may make: code that a superuser could be lured into running. It notes who runs it.
TRAPS = """
CREATE TABLE kb.bait (line text);
CREATE TABLE kb.tried (statement text, refusal text);
CREATE TABLE kb.run_as (name text, is_superuser text);
CREATE FUNCTION kb.on_event() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN NULL; END';
CREATE FUNCTION kb.note() RETURNS void LANGUAGE sql AS
    'INSERT INTO kb.run_as VALUES (current_user, current_setting(''is_superuser''))';
CREATE FUNCTION kb.spring(of text) RETURNS text LANGUAGE plpgsql IMMUTABLE
    AS 'BEGIN PERFORM kb.note(); RETURN of; END';
CREATE FUNCTION kb.elevated() RETURNS text LANGUAGE sql SECURITY DEFINER AS 'SELECT kb.spring(''x'')';
SELECT kb.elevated();
CREATE FUNCTION kb.format(a text, b name, c text) RETURNS text LANGUAGE sql AS 'SELECT kb.spring(a)';
CREATE FUNCTION kb.same(a name, b text) RETURNS boolean LANGUAGE sql AS 'SELECT kb.spring(b) IS NOT NULL';
CREATE OPERATOR kb.= (LEFTARG = name, RIGHTARG = text, FUNCTION = kb.same);
INSERT INTO kb.bait VALUES ('x');
CREATE INDEX ON kb.bait (kb.spring(line));
CREATE FUNCTION kb.row() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM kb.spring(''x''); RETURN NEW; END';
CREATE TRIGGER row BEFORE INSERT OR UPDATE ON kb.projects FOR EACH ROW EXECUTE FUNCTION kb.row();
ALTER DATABASE {database} SET search_path = kb, public, pg_catalog;
"""
TRY = """
DO $try$ DECLARE statement text; BEGIN
FOREACH statement IN ARRAY ARRAY[{statements}] LOOP
    BEGIN
        EXECUTE statement;
        INSERT INTO kb.tried VALUES (statement, NULL);
    EXCEPTION WHEN OTHERS THEN
        INSERT INTO kb.tried VALUES (statement, sqlerrm);
    END;
END LOOP; END $try$;
"""


async def with_sql(place: Place, file: Path, statements: str) -> Path:
    """A backup whose dump runs these statements when everything else is restored."""
    ours = f"';\n{statements}\n--"
    room = "x" * len(ours)
    with psycopg.connect(place.dsn) as conn:
        conn.execute(sql.SQL("COMMENT ON INDEX kb.projects_pkey IS {}").format(sql.Literal(room)))
    await place.write(file)
    content = file.read_bytes()
    assert content.count(room.encode()) == 1
    file.write_bytes(content.replace(room.encode(), ours.encode()))
    return file


@pytest.fixture
def victim(tmp_path: Path) -> "Iterator[EmbeddedPostgres]":
    with EmbeddedPostgres.start(tmp_path / "victim") as server:
        yield server


async def test_what_a_backup_brings_has_the_rights_of_the_ordinary_role(
    full: Place, victim: EmbeddedPostgres, tmp_path: Path
) -> None:
    sign = tmp_path / "sign"
    with psycopg.connect(victim.bootstrap_dsn) as conn:
        names = {"bootstrap": conn.info.user, "database": conn.info.dbname, "sign": sign}
    names["role"] = psycopg.conninfo.conninfo_to_dict(victim.dsn)["user"]
    tried = [statement.format(**names) for statement in REACHING_OUT]
    quoted = ",\n".join(f"$q${statement}$q$" for statement in tried)
    file = await with_sql(full, tmp_path / "hostile", TRAPS.format(**names) + TRY.format(statements=quoted))
    await upgrade(victim.dsn)
    await Place(victim.dsn, tmp_path / "victims").read(file, replace=True)
    with psycopg.connect(victim.dsn) as conn:
        refusals: dict[str, str | None] = dict(
            conn.execute("SELECT statement, refusal FROM kb.tried").fetchall()
        )
    assert refusals.keys() == set(tried)
    assert [one for one in refusals.items() if not one[1] or not NOT_ALLOWED.search(one[1])] == []
    assert not sign.exists()
    # The next start, where the bootstrap role looks after the database
    victim.stop()
    with EmbeddedPostgres.start(tmp_path / "victim") as again, psycopg.connect(again.dsn) as conn:
        ran = conn.execute("SELECT DISTINCT name, is_superuser FROM kb.run_as").fetchall()
        assert ran == [(names["role"], "off")]


async def test_no_rights_outside_a_transaction_either(
    full: Place, postgres: EmbeddedPostgres, tmp_path: Path
) -> None:
    """A dump can end the transaction of the restore, as SECURITY.md says."""
    statements = "COMMIT;\nALTER SYSTEM SET archive_mode = on;"
    file = await with_sql(full, tmp_path / "hostile", statements)
    await upgrade(postgres.dsn)
    with pytest.raises(WhenceError, match="permission denied to set parameter"):
        await Place(postgres.dsn, tmp_path / "victims").read(file, replace=True)


async def test_psql_commands_are_switched_off(full: Place, empty: Place, tmp_path: Path) -> None:
    sign = tmp_path / "sign"
    file = await with_sql(full, tmp_path / "hostile", f"\\! touch {sign}")
    with pytest.raises(WhenceError, match="psql failed"):
        await empty.read(file)
    assert not sign.exists()


async def test_a_dump_cannot_pretend_that_they_are(full: Place, empty: Place, tmp_path: Path) -> None:
    """An old pg_restore does not switch them off, and writes the dump's own words at the head of its script."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for program in binaries().iterdir():
        (programs / program.name).symlink_to(program)
    (programs / "pg_restore").unlink()
    old = programs / "pg_restore"
    old.write_text(
        "#!/bin/sh\n"
        'for option; do case "$option" in --file=*) file=${option#--file=};; esac; done\n'
        "printf -- '--\\n-- PostgreSQL database dump\\n--\\n\\n-- Dumped from database version 1\\n\\\\restrict a\\n' > \"$file\"\n"
    )
    old.chmod(0o755)
    await full.write(tmp_path / "backup")
    with pytest.raises(WhenceError, match="too old to restore safely"):
        await restore.read(
            tmp_path / "backup", dsn=empty.dsn, originals=empty.originals, bin_dir=programs, replace=True
        )
