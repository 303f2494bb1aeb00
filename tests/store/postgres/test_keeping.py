"""The embedded database of a server is started again, also when that fails at first."""

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from whence import background
from whence.background import BackgroundWork
from whence.store.postgres import KeptPostgres, supervisor

if TYPE_CHECKING:
    from tests.store.postgres.conftest import WaitFor


def test_a_restart_that_fails_is_tried_again(
    data_dir: Path, wait_for: "WaitFor", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "FIRST_PAUSE", 0.05)
    monkeypatch.setattr(supervisor, "_LOOK_SECONDS", 0.05)
    version, work = data_dir / "postgres" / "PG_VERSION", BackgroundWork()
    kept = KeptPostgres(data_dir, background=work)
    try:
        right = version.read_text()
        version.write_text("9\n")  # as if another version had made it
        assert kept._server._server is not None
        os.kill(kept._server._server.process.pid, signal.SIGQUIT)
        wait_for(lambda: bool(work.failing), "a restart that keeps failing")
        assert work.failing[0].name == supervisor.KEEPING
        assert "9" in work.failing[0].reason
        version.write_text(right)
        wait_for(lambda: not work.failing, "the database")
        psycopg.connect(kept.dsn).close()
    finally:
        kept.stop()
