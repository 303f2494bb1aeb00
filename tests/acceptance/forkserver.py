"""Starts `whence` commands as forks of one process that has its modules loaded.

Loading the modules takes a second, the commands in most tests a tenth of that. A fork is a process of its own with its
own arguments, environment, standard streams and exit status. It ends as any Python process does, except that it does not
destroy its modules, which costs as much as a short command. Tests that are about starting a process run the executable
instead.
"""

import atexit
import contextlib
import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any, Protocol, TextIO

WHENCE = Path(sys.executable).with_name("whence")
LOADED = (
    "uvloop",
    "whence.app",
    "whence.extract.run",
    "whence.offline.extractor",
    "whence.providers.hashed",
    "whence.providers.minilm",
    "whence.providers.openai",
    "whence.providers.openai_chat",
    "whence.web.serve",
)
PACKAGES = ("whence.cli", "whence.web.routes")
"""Commands and applications load the modules of these packages when they need them."""
_STREAMS = 3
_LENGTH = 4


class Process(Protocol):
    """The part of `subprocess.Popen` that a fork has, too."""

    @property
    def pid(self) -> int: ...

    @property
    def returncode(self) -> int | Any: ...

    def poll(self) -> int | None: ...

    def wait(self, timeout: float | None = None) -> int: ...

    def send_signal(self, sig: int) -> None: ...

    def kill(self) -> None: ...


class Fork:
    """A command that was forked, with the methods of `subprocess.Popen`."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._answer = connection.makefile("r")
        self.pid = int(self._answer.readline())
        self.returncode: int | None = None

    def poll(self) -> int | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self._connection], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("whence", timeout or 0)
            self.returncode = os.waitstatus_to_exitcode(int(self._answer.readline()))
            self._answer.close()
            self._connection.close()
        return self.returncode

    def send_signal(self, sig: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, sig)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class PipedFork(Fork):
    """A command whose output the test reads."""

    def __init__(self, connection: socket.socket, stdout: IO[str], stderr: IO[str]) -> None:
        super().__init__(connection)
        self.stdout, self.stderr = stdout, stderr

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Wait for its end and return the rest of its output, which must fit into a pipe."""
        self.wait(timeout)
        with self.stdout, self.stderr:
            return self.stdout.read(), self.stderr.read()


class ForkServer:
    """The process with the modules. It ends with the process that started it."""

    def __init__(self) -> None:
        self._connection, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, str(Path(__file__)), str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )

    def start(
        self,
        arguments: Sequence[str],
        *,
        env: Mapping[str, str],
        stdin: IO[Any],
        stdout: IO[Any],
        stderr: IO[Any],
        new_session: bool = False,
    ) -> Fork:
        return Fork(self._ask(arguments, env, (stdin, stdout, stderr), new_session=new_session))

    def start_piped(self, arguments: Sequence[str], *, env: Mapping[str, str]) -> PipedFork:
        """Its input is empty."""
        (out, to_out), (err, to_err) = os.pipe(), os.pipe()
        with (
            Path(os.devnull).open("rb") as nothing,
            os.fdopen(to_out, "w") as stdout,
            os.fdopen(to_err, "w") as stderr,
        ):
            connection = self._ask(arguments, env, (nothing, stdout, stderr))
        return PipedFork(connection, os.fdopen(out, encoding="utf-8"), os.fdopen(err, encoding="utf-8"))

    def _ask(
        self,
        arguments: Sequence[str],
        env: Mapping[str, str],
        files: Sequence[IO[Any]],
        *,
        new_session: bool = False,
    ) -> socket.socket:
        ours, theirs = socket.socketpair()
        streams = [file.fileno() for file in files]
        with theirs:
            socket.send_fds(self._connection, [b"start"], [*streams, theirs.fileno()])
        wanted = {
            "arguments": [str(WHENCE), *arguments],
            "cwd": str(Path.cwd()),
            "env": dict(env),
            "new_session": new_session,
        }
        body = json.dumps(wanted).encode()
        ours.sendall(len(body).to_bytes(_LENGTH, "big") + body)
        return ours

    def stop(self) -> None:
        self._connection.close()
        self._process.wait()


def _serve(requests: socket.socket) -> None:
    """Returns in the process of a command; the first process ends in here."""
    for name in LOADED:
        importlib.import_module(name)
    for package in map(importlib.import_module, PACKAGES):
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the processes that wait for commands
    while True:
        message, descriptors, *_ = socket.recv_fds(requests, 16, _STREAMS + 1)
        if not message:
            sys.exit()
        if os.fork() == 0:
            requests.close()
            return _become_command(descriptors)
        for descriptor in descriptors:
            os.close(descriptor)


def _become_command(descriptors: Sequence[int]) -> None:
    """Forks once more: this process waits for the command and reports its exit status."""
    *streams, answer = descriptors
    connection = socket.socket(fileno=answer)
    reader = connection.makefile("rb")
    wanted = json.loads(reader.read(int.from_bytes(reader.read(_LENGTH), "big")))
    reader.close()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    pid = os.fork()
    if pid:
        for stream in streams:
            os.close(stream)
        with contextlib.suppress(BrokenPipeError):
            connection.sendall(f"{pid}\n".encode())
        _, status = os.waitpid(pid, 0)
        with contextlib.suppress(BrokenPipeError):
            connection.sendall(f"{status}\n".encode())
        os._exit(0)
    connection.close()
    _set_up(streams, wanted)


def _set_up(streams: Sequence[int], wanted: Mapping[str, Any]) -> None:
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    if wanted["new_session"]:
        os.setsid()
    os.chdir(wanted["cwd"])
    os.environ.clear()
    os.environ.update(wanted["env"])
    sys.argv = wanted["arguments"]
    sys.stdin = _reopen(0, "r", sys.stdin)
    sys.stdout = _reopen(1, "w", sys.stdout)
    sys.stderr = _reopen(2, "w", sys.stderr)


def _reopen(number: int, mode: str, before: TextIO) -> TextIO:
    return TextIOWrapper(
        os.fdopen(number, f"{mode}b", closefd=False),
        encoding=before.encoding,
        errors=before.errors,
        line_buffering=before is sys.__stderr__,
    )


_code: int | None = None


def _leave() -> None:
    """Leave the memory to the system. Python has joined the threads and run all later exit functions by then."""
    if _code is None:
        return
    with contextlib.suppress(OSError):  # nobody reads the output any more: Python reports that
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(_code)


if __name__ == "__main__":
    atexit.register(_leave)  # the first one registered runs last
    _serve(socket.socket(fileno=int(sys.argv[1])))
    from whence.cli import main

    try:
        main()
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            _code = end.code or 0
        raise
