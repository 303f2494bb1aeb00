"""Several Whence processes on one data directory: one owner, the others attach."""

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from whence.errors import PostgresError
from whence.store.postgres import EmbeddedPostgres, supervisor

if TYPE_CHECKING:
    from tests.store.postgres.conftest import Launch, ServersOn, WaitFor


def answers(connection: psycopg.Connection) -> bool:
    try:
        connection.execute("SELECT 1")
    except psycopg.OperationalError:
        return False
    return True


def test_a_second_process_attaches(data_dir: Path, launch: "Launch", servers_on: "ServersOn") -> None:
    with EmbeddedPostgres.start(data_dir) as server:
        running = servers_on(data_dir)
        second = launch(data_dir)
        answer = second.answer()
        assert not answer["owner"]
        assert answer["dsn"] == server.dsn
        second.finish()
        assert server.is_running()
        assert running[0] in servers_on(data_dir)
        with psycopg.connect(server.dsn) as connection:
            connection.execute("SELECT 1")


def test_three_starts_at_once_have_one_owner(
    tmp_path: Path, launch: "Launch", servers_on: "ServersOn"
) -> None:
    """On an empty directory, so that two of them have to wait for the first one's initdb."""
    processes = [launch(tmp_path / "data") for _ in range(3)]
    answers = [process.answer() for process in processes]
    assert sorted(answer["owner"] for answer in answers) == [False, False, True]
    assert len({answer["dsn"] for answer in answers}) == 1
    assert len({answer["postmaster"] for answer in answers}) == 1
    for process, answer in zip(processes, answers, strict=True):
        if not answer["owner"]:
            process.finish()
    assert servers_on(tmp_path / "data")


def test_the_owner_going_away_is_an_error_and_not_a_hang(
    data_dir: Path, launch: "Launch", wait_for: "WaitFor"
) -> None:
    owner = launch(data_dir)
    owner.answer()
    with EmbeddedPostgres.start(data_dir) as attached:
        assert not attached.owner
        with psycopg.connect(attached.dsn) as connection:
            owner.kill()
            wait_for(lambda: not answers(connection), "the connection to fail")
        with pytest.raises(psycopg.OperationalError):
            psycopg.connect(attached.dsn)


def test_an_owner_that_stops_is_succeeded(data_dir: Path, launch: "Launch") -> None:
    owner = launch(data_dir)
    owner.answer()
    with EmbeddedPostgres.start(data_dir) as attached:
        assert not attached.owner
        assert attached.is_running()
        owner.finish()
        assert not attached.is_running()
    with EmbeddedPostgres.start(data_dir) as server:
        assert server.owner


def test_an_owner_whose_server_died(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "_DEAD_LIMIT", 0.5)
    with EmbeddedPostgres.start(data_dir) as server:
        assert server._server is not None
        os.kill(server._server.process.pid, signal.SIGKILL)
        server._server.process.wait(10)
        assert not server.is_running()
        with pytest.raises(PostgresError, match=f"held by the Whence process {os.getpid()}.*has ended"):
            EmbeddedPostgres.start(data_dir)
