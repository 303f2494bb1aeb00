"""The real command line in real processes, each test in a data directory or on a database of its own."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any
from urllib.parse import urlencode

import httpx
import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from tests.acceptance.forkserver import WHENCE, ForkServer, PipedFork, Process
from tests.client import http
from tests.conftest import make_once

PATIENCE = 240.0


@dataclass
class Serving:
    """A running `whence serve`."""

    process: Process
    log: Path

    @property
    def url(self) -> str:
        found: list[str] = []

        def said() -> bool:
            found.extend(re.findall(r"serves (http://\S+)", self.said))
            assert found or self.process.poll() is None, f"it ended: {self.said}"
            return bool(found)

        wait_for(said, "the server's address")
        return found[0].replace("0.0.0.0", "127.0.0.1")  # noqa: S104 - the address to ask it by

    @property
    def said(self) -> str:
        return self.log.read_text()

    def get(self, path: str, **headers: str) -> httpx.Response:
        return http().get(self.url + path, headers=headers, timeout=PATIENCE)

    def ready(self) -> "Serving":
        def answers() -> bool:
            with contextlib.suppress(httpx.TransportError):
                return self.get("/readyz").status_code == 200
            return False

        wait_for(answers, f"a server that is ready; see {self.log}")
        return self

    def end(self, sign: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(sign)
        return self.process.wait(PATIENCE)


@dataclass
class Installation:
    """Whence with its settings, as somebody has it on a machine."""

    folder: Path
    env: dict[str, str]
    forks: ForkServer | None = None
    """Starts commands; without it each is the executable, which takes a second longer."""
    serving: list[Serving] = field(default_factory=list)

    @property
    def data_dir(self) -> Path:
        return self.folder / "data"

    def environment(self, more: Mapping[str, str]) -> dict[str, str]:
        inherited = {name: text for name, text in os.environ.items() if not name.startswith("WHENCE_")}
        own = {"WHENCE_DATA_DIR": str(self.data_dir), "HOME": str(self.folder)}
        return {**inherited, **own, **self.env, **more}

    def run(
        self, *arguments: str, code: int = 0, stdin: str = "", env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """The command, run to its end, which must be with exit code `code` and without a stack trace."""
        done = self._run_forked(arguments, stdin, env or {}) or subprocess.run(
            [WHENCE, *arguments],
            env=self.environment(env or {}),
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
        assert "Traceback" not in done.stderr, done.stderr
        assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
        assert "\x1b" not in done.stdout + done.stderr, "colours, and this is no terminal"
        return done

    def _run_forked(
        self, arguments: Sequence[str], stdin: str, env: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str] | None:
        if self.forks is None or not _for_whence(env):
            return None
        with TemporaryFile("w+") as given, TemporaryFile("w+") as out, TemporaryFile("w+") as err:
            given.write(stdin)
            given.seek(0)
            process = self.forks.start(
                arguments, env=self.environment(env), stdin=given, stdout=out, stderr=err
            )
            try:
                code = process.wait(PATIENCE)
            finally:
                process.kill()
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess(arguments, code, out.read(), err.read())

    def json(self, *arguments: str, env: Mapping[str, str] | None = None) -> Any:
        return json.loads(self.run(*arguments, "--json", env=env).stdout)

    def refused(self, *arguments: str, code: int = 3, env: Mapping[str, str] | None = None) -> str:
        """What it says in its one line when it does not do it."""
        lines = self.run(*arguments, code=code, env=env).stderr.strip().splitlines()
        assert lines[-1].startswith("whence: "), lines
        return lines[-1].removeprefix("whence: ")

    def embed_by(self, url: str, **settings: str) -> None:
        """Vectors come from an endpoint (tests/endpoint.py), which tells afterwards what it was asked."""
        self.env |= {
            "WHENCE_EMBEDDER": "openai",
            "WHENCE_EMBEDDING_BASE_URL": url,
            "WHENCE_EMBEDDING_MODEL": "test",
            "WHENCE_EMBEDDING_DIMENSIONS": "64",
            **settings,
        }

    def start(self, *arguments: str) -> PipedFork:
        """The command, under way; the caller sees to its end."""
        assert self.forks is not None
        return self.forks.start_piped(arguments, env=self.environment({}))

    def serve(
        self,
        *options: str,
        port: int = 0,
        env: Mapping[str, str] | None = None,
        within: Sequence[str | Path] = (),
    ) -> Serving:
        """`within` is a command that becomes the server, such as `nice`."""
        log = self.folder / f"serve-{len(self.serving)}.log"
        arguments = ["serve", f"--port={port}", *options]
        environment = self.environment(env or {})
        process: Process
        with log.open("wb") as out, Path(os.devnull).open("rb") as nothing:
            if self.forks is not None and not within and _for_whence(env or {}):
                process = self.forks.start(
                    arguments, env=environment, stdin=nothing, stdout=out, stderr=out, new_session=True
                )
            else:
                process = subprocess.Popen(
                    [*within, WHENCE, *arguments],
                    env=environment,
                    stdin=nothing,
                    stdout=out,
                    stderr=out,
                    start_new_session=True,
                )
        self.serving.append(Serving(process=process, log=log))
        return self.serving[-1]

    def clear(self) -> None:
        for serving in self.serving:
            serving.process.kill()
            serving.process.wait()
        wait_for(lambda: not postgres_on(self.data_dir), "the databases to end")


def _for_whence(env: Mapping[str, str]) -> bool:
    """Whether only Whence reads these variables. Python and its libraries read others when they are loaded."""
    return all(name.startswith("WHENCE_") for name in env)


def wait_for(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"waited too long for {what}"
        time.sleep(0.03)


def read_until(stream: IO[str] | None, words: str) -> str:
    """What a command says, up to and with the line that has these words in it."""
    assert stream is not None
    said = ""
    for line in stream:
        said += line
        if words in line:
            return said
    raise AssertionError(f"it never said {words!r}: {said}")


def postgres_on(data_dir: Path) -> list[int]:
    """Every postgres process that works in the cluster of `data_dir`."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if "postgres" in (process / "comm").read_text() and (process / "cwd").samefile(
                data_dir / "postgres"
            ):
                found.append(int(process.name))
    return found


PostgresOn = Callable[[Path], list[int]]
ReadUntil = Callable[[IO[str] | None, str], str]
WaitFor = Callable[[Callable[[], bool], str], None]


@pytest.fixture(name="postgres_on")
def _postgres_on() -> PostgresOn:
    return postgres_on


@pytest.fixture(name="read_until")
def _read_until() -> ReadUntil:
    return read_until


@pytest.fixture(name="wait_for")
def _wait_for() -> WaitFor:
    return wait_for


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory, forks: ForkServer) -> Path:
    """A data directory with an embedded database that has the schema, not running."""

    def upgrade(folder: Path) -> None:
        Installation(folder=folder, env={}, forks=forks).run("db", "upgrade")

    return make_once(tmp_path_factory, "made-once", upgrade) / "data"


@pytest.fixture(scope="session")
def forks() -> Iterator[ForkServer]:
    """Starts commands in a tenth of the time. A test about starting processes has none: `installation.forks = None`."""
    server = ForkServer()
    yield server
    server.stop()


@pytest.fixture
def fresh(tmp_path: Path, forks: ForkServer) -> Iterator[Installation]:
    """Nothing there yet."""
    installation = Installation(folder=tmp_path, env={}, forks=forks)
    yield installation
    installation.clear()


@pytest.fixture
def embedded(fresh: Installation, made_once: Path) -> Installation:
    """On an embedded database of its own."""
    shutil.copytree(made_once, fresh.data_dir)
    return fresh


@pytest.fixture
def hosted(tmp_path: Path, dsn: str, forks: ForkServer) -> Iterator[Installation]:
    """On a server of somebody else's: WHENCE_DATABASE_URL."""
    installation = Installation(folder=tmp_path, env={"WHENCE_DATABASE_URL": as_url(dsn)}, forks=forks)
    yield installation
    installation.clear()


@pytest.fixture
def database(dsn: str) -> Iterator[psycopg.Connection]:
    """The database from behind, to look and to hold things up."""
    with psycopg.connect(dsn, autocommit=True) as opened:
        yield opened


def as_url(dsn: str) -> str:
    parts = {name: str(value) for name, value in conninfo_to_dict(dsn).items() if value is not None}
    database = parts.pop("dbname")
    return f"postgresql:///{database}?{urlencode(parts)}"
