"""Owners, servers and both killed at every moment: no orphan, no lost row, no foreign process harmed."""

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from whence.errors import PostgresError
from whence.store.postgres import EmbeddedPostgres, binaries, programs, supervisor
from whence.store.postgres import server as server_module

if TYPE_CHECKING:
    from tests.store.postgres.conftest import Launch, ServersOn, WaitFor


def write_rows(dsn: str, count: int) -> None:
    with psycopg.connect(dsn) as connection:
        connection.execute("DROP TABLE IF EXISTS kept")
        connection.execute("CREATE TABLE kept (n int)")
        connection.execute("INSERT INTO kept SELECT generate_series(1, %s)", [count])


def rows(dsn: str) -> int:
    with psycopg.connect(dsn) as connection:
        row = connection.execute("SELECT count(*) FROM kept").fetchone()
    assert row is not None
    return int(row[0])


def works(dsn: str, backend: int) -> bool:
    with psycopg.connect(dsn) as connection:
        query = "SELECT state = 'active' FROM pg_stat_activity WHERE pid = %s"
        return connection.execute(query, [backend]).fetchone() == (True,)


def gone(pid: int) -> bool:
    try:
        return "State:\tZ" in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return True


def test_an_owner_killed_takes_its_server_along(
    data_dir: Path, launch: "Launch", servers_on: "ServersOn", wait_for: "WaitFor"
) -> None:
    owner = launch(data_dir)
    answer = owner.answer()
    assert answer["owner"]
    assert answer["postmaster"] in servers_on(data_dir)
    write_rows(answer["dsn"], 1000)
    os.kill(answer["watchdog"], signal.SIGTERM)  # as a service manager does, to every process of a service
    owner.kill()
    wait_for(lambda: not servers_on(data_dir), "the server to end")
    wait_for(lambda: gone(answer["watchdog"]), "the watchdog to end")
    assert "database system is shut down" in (data_dir / "postgres.log").read_text().splitlines()[-1]
    with EmbeddedPostgres.start(data_dir) as server:
        assert server.owner
        assert rows(server.dsn) == 1000


@pytest.mark.parametrize("delay", [0.3, 0.5, 0.8])
def test_an_owner_killed_while_it_starts(
    tmp_path: Path, launch: "Launch", servers_on: "ServersOn", wait_for: "WaitFor", delay: float
) -> None:
    """At some of these moments initdb runs, at some the server is coming up."""
    data_dir = tmp_path / "data"
    owner = launch(data_dir)
    time.sleep(delay)
    owner.kill()
    with EmbeddedPostgres.start(data_dir) as server:
        assert server.owner
        write_rows(server.dsn, 10)
        assert rows(server.dsn) == 10
    wait_for(lambda: not servers_on(data_dir), "the server to end")


def test_initdb_killed_midway(tmp_path: Path, launch: "Launch", wait_for: "WaitFor") -> None:
    data_dir = tmp_path / "data"
    owner = launch(data_dir)

    def begun() -> bool:
        return any((left / "base").exists() for left in data_dir.glob("postgres.new-*"))

    wait_for(begun, "initdb to begin")
    owner.kill()
    assert not (data_dir / "postgres").exists()
    assert list(data_dir.glob("postgres.new-*"))
    with EmbeddedPostgres.start(data_dir) as server:
        write_rows(server.dsn, 10)
    EmbeddedPostgres.start(data_dir).stop()  # what an initdb in its last moment wrote is gone by now
    assert not list(data_dir.glob("postgres.new-*"))


def test_a_forked_child_does_not_keep_the_server_alive(
    data_dir: Path, launch: "Launch", servers_on: "ServersOn", wait_for: "WaitFor"
) -> None:
    owner = launch(data_dir, "--fork")
    child = owner.answer()["child"]
    try:
        owner.kill()
        wait_for(lambda: not servers_on(data_dir), "the server to end")
        with EmbeddedPostgres.start(data_dir) as server:
            assert server.owner
        assert not gone(child)
    finally:
        os.kill(child, signal.SIGKILL)


def test_everything_killed_loses_no_committed_row(
    data_dir: Path, launch: "Launch", servers_on: "ServersOn"
) -> None:
    owner = launch(data_dir)
    dsn = owner.answer()["dsn"]
    write_rows(dsn, 0)
    connection = psycopg.connect(dsn)
    for n in range(100):
        connection.execute("INSERT INTO kept VALUES (%s)", [n])
        connection.commit()
    connection.execute("INSERT INTO kept SELECT generate_series(1, 5000)")  # never committed
    # The owner dies last: the server shuts down cleanly once its owner is gone. A stopped owner does not restart the server.
    owner.process.send_signal(signal.SIGSTOP)
    for pid in [*servers_on(data_dir), owner.process.pid]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    connection.close()
    with EmbeddedPostgres.start(data_dir) as server:
        assert server.owner
        assert rows(server.dsn) == 100
        assert "automatic recovery" in (data_dir / "postgres.log").read_text()


def test_backends_that_outlive_their_postmaster_are_waited_for(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch, wait_for: "WaitFor"
) -> None:
    server = EmbeddedPostgres.start(data_dir)
    assert server._server is not None
    write_rows(server.dsn, 10)
    busy = psycopg.connect(server.dsn)
    backend = busy.info.backend_pid
    busy.pgconn.send_query(b"SELECT sum(sqrt(n)) FROM generate_series(1, 12000000) n")
    wait_for(lambda: works(server.dsn, backend), "the backend to be busy")
    os.kill(backend, signal.SIGSTOP)
    os.kill(server._server.process.pid, signal.SIGKILL)
    assert server._server.process.wait(10) == -signal.SIGKILL
    assert not server.is_running()
    server.stop()
    with monkeypatch.context() as impatient:
        impatient.setattr(supervisor, "_BACKENDS_LIMIT", 0.0)
        with pytest.raises(PostgresError, match=f"was killed still work on {data_dir}/postgres. End them"):
            EmbeddedPostgres.start(data_dir)
    os.kill(backend, signal.SIGCONT)
    with EmbeddedPostgres.start(data_dir) as again:
        assert rows(again.dsn) == 10
    busy.close()
    assert "is still in use" in (data_dir / "postgres.log").read_text()


def test_a_server_that_does_not_react_is_killed(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch, servers_on: "ServersOn", wait_for: "WaitFor"
) -> None:
    server = EmbeddedPostgres.start(data_dir)
    assert server._server is not None
    write_rows(server.dsn, 10)
    monkeypatch.setattr(server_module, "_FAST_LIMIT", 0.2)
    monkeypatch.setattr(server_module, "_IMMEDIATE_LIMIT", 0.2)
    os.kill(server._server.process.pid, signal.SIGSTOP)
    server.stop()
    wait_for(lambda: not servers_on(data_dir), "the backends to end")
    with EmbeddedPostgres.start(data_dir) as again:
        assert rows(again.dsn) == 10


def test_a_stale_pidfile_that_names_a_foreign_process(
    data_dir: Path, foreigner: subprocess.Popen[bytes]
) -> None:
    server = EmbeddedPostgres.start(data_dir)
    assert server._server is not None
    write_rows(server.dsn, 10)
    stale = (data_dir / "postgres" / "postmaster.pid").read_text().splitlines(keepends=True)
    socket_lock = (data_dir / "run" / ".s.PGSQL.5432.lock").read_text().splitlines(keepends=True)
    server.stop()
    for path, lines in (
        (data_dir / "postgres" / "postmaster.pid", stale),
        (data_dir / "run" / ".s.PGSQL.5432.lock", socket_lock),
    ):
        path.write_text(f"{foreigner.pid}\n" + "".join(lines[1:]))
    with EmbeddedPostgres.start(data_dir) as again:
        assert again.owner
        assert rows(again.dsn) == 10
    assert foreigner.poll() is None


def test_a_pidfile_that_was_cut_off(data_dir: Path) -> None:
    (data_dir / "postgres" / "postmaster.pid").touch()
    with EmbeddedPostgres.start(data_dir) as server:
        assert server.owner


def test_a_start_while_the_previous_server_shuts_down(data_dir: Path, launch: "Launch") -> None:
    owner = launch(data_dir)
    write_rows(owner.answer()["dsn"], 200_000)  # something to write out
    owner.kill()
    with EmbeddedPostgres.start(data_dir) as server:
        assert server.owner
        assert rows(server.dsn) == 200_000


def test_a_server_that_lost_its_owner_and_its_watchdog(
    data_dir: Path, launch: "Launch", servers_on: "ServersOn", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "_GRACE", 0.3)
    owner = launch(data_dir)
    answer = owner.answer()
    os.kill(answer["watchdog"], signal.SIGKILL)
    owner.kill()
    time.sleep(0.3)
    assert answer["postmaster"] in servers_on(data_dir)
    with EmbeddedPostgres.start(data_dir) as server:
        assert server.owner
        assert answer["postmaster"] not in servers_on(data_dir)


def test_a_server_that_somebody_else_runs_is_left_alone(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch, servers_on: "ServersOn"
) -> None:
    monkeypatch.setattr(supervisor, "_GRACE", 0.3)
    inside = programs.namespace()
    under = inside.prefix if inside and os.geteuid() == 0 else ()
    control = [*under, str(binaries() / "pg_ctl"), "-D", str(data_dir / "postgres"), "-s", "-w"]
    options = "-c listen_addresses= -c unix_socket_directories=../run"
    try:
        subprocess.run([*control, "-o", options, "-l", "/dev/null", "start"], check=True)
    except subprocess.CalledProcessError:
        pytest.skip("root cannot start a server by hand without a user namespace")
    try:
        running = servers_on(data_dir)
        with pytest.raises(PostgresError, match=r"Another PostgreSQL \(pid \d+\) runs on .*Stop it"):
            EmbeddedPostgres.start(data_dir)
        assert set(running) <= set(servers_on(data_dir))
    finally:
        subprocess.run([*control, "-m", "fast", "stop"], check=True)
