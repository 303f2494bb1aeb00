"""Real servers in real processes. One cluster goes from test to test where its making is not the point."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from whence.store.postgres import EmbeddedPostgres, binaries

SCRIPT = Path(__file__).with_name("whence_process.py")
PATIENCE = 240.0


class WhenceProcess:
    """A process that runs `whence_process.py`."""

    def __init__(self, data_dir: Path, *options: str, under: Sequence[str] = ()) -> None:
        self.data_dir = data_dir
        self.process = subprocess.Popen(
            [*under, sys.executable, str(SCRIPT), str(data_dir), *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def answer(self) -> dict[str, Any]:
        """What it says once it has started or given up."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"it ended with status {self.process.wait()} and said nothing"
        answer: dict[str, Any] = json.loads(line)
        return answer

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def finish(self) -> None:
        """Let it end by itself."""
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write("\n")
            self.process.stdin.flush()
        assert self.process.wait(PATIENCE) == 0

    def clear(self) -> None:
        self.kill()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()


Launch = Callable[..., WhenceProcess]
ServersOn = Callable[[Path], list[int]]
WaitFor = Callable[[Callable[[], bool], str], None]


def _servers_on(data_dir: Path) -> list[int]:
    """Every postgres process that works in the cluster of `data_dir`."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if "postgres" in (process / "comm").read_text() and (process / "cwd").samefile(
                data_dir / "postgres"
            ):
                found.append(int(process.name))
    return found


def _wait_for(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"waited too long for {what}"
        time.sleep(0.02)


@pytest.fixture(autouse=True, scope="session")
def _needs_proc() -> None:
    if not Path("/proc/self/cwd").exists():
        pytest.skip("these tests look for processes in /proc")


@pytest.fixture(autouse=True)
def _tidy(tmp_path: Path) -> Iterator[None]:
    """A cluster takes 46 MB: none is kept after its test."""
    yield
    shutil.rmtree(tmp_path, ignore_errors=True)


@pytest.fixture
def servers_on() -> ServersOn:
    return _servers_on


@pytest.fixture
def wait_for() -> WaitFor:
    return _wait_for


@pytest.fixture
def launch() -> Iterator[Launch]:
    started: list[WhenceProcess] = []

    def start(data_dir: Path, *options: str, under: Sequence[str] = ()) -> WhenceProcess:
        started.append(WhenceProcess(data_dir, *options, under=under))
        return started[-1]

    yield start
    for process in started:
        process.clear()
    for process in started:
        _wait_for(lambda at=process.data_dir: not _servers_on(at), "the servers to end")  # type: ignore[misc]


@pytest.fixture(scope="session")
def _cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    directory = tmp_path_factory.mktemp("cluster") / "data"
    EmbeddedPostgres.start(directory).stop()
    yield directory
    shutil.rmtree(directory)


@pytest.fixture
def data_dir(_cluster: Path, tmp_path: Path) -> Iterator[Path]:
    """A data directory with a cluster in it, not running. Copying it would cost more than an initdb."""
    directory = _cluster.rename(tmp_path / "data")
    (directory / "postgres.log").write_text("")
    yield directory
    _wait_for(lambda: not _servers_on(directory), "the servers to end")
    directory.rename(_cluster)


@pytest.fixture
def open_dir() -> Iterator[Path]:
    """A directory that every user can reach. (pytest's own are private.)"""
    directory = Path(tempfile.mkdtemp(prefix="whence-test-", dir=os.environ.get("PYTEST_DEBUG_TEMPROOT")))
    directory.chmod(0o755)
    yield directory
    shutil.rmtree(directory)


@pytest.fixture
def other_user() -> int:
    """The uid of an ordinary user who can run PostgreSQL's programs here."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    nobody = 65534
    command = [str(binaries() / "postgres"), "--version"]
    try:
        subprocess.run(command, user=nobody, group=nobody, check=True, capture_output=True)
    except (OSError, subprocess.SubprocessError):
        pytest.skip("PostgreSQL's programs are in a directory that other users cannot enter")
    return nobody


@pytest.fixture
def foreigner() -> Iterator[subprocess.Popen[bytes]]:
    """A live process that has nothing to do with us."""
    with subprocess.Popen(["sleep", "300"]) as process:
        yield process
        process.send_signal(signal.SIGKILL)
