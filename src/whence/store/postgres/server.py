"""One `postgres` process, as a direct child, and its watchdog."""

import contextlib
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import psycopg
from psycopg.conninfo import make_conninfo

from whence.errors import PostgresError
from whence.store.postgres.data_dir import PORT, ROLE, DataDirLayout, disk_full, full_message
from whence.store.postgres.ownership import read_pidfile
from whence.store.postgres.programs import ENVIRONMENT, Account

DATABASE = "whence"

_START_LIMIT = 600.0  # seconds; recovery on a laptop takes a few, so only a hang reaches this
_FAST_LIMIT = 60.0
_IMMEDIATE_LIMIT = 30.0
_LARGE_LOG = 8 * 1024 * 1024
_WORDS = 6
_USUAL = ("LOG:  starting PostgreSQL", "LOG:  listening on", "LOG:  database system")

# Modest settings for a laptop. Larger installations use their own server (WHENCE_DATABASE_URL).
_SETTINGS = {
    "listen_addresses": "",
    "port": str(PORT),
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "shared_buffers": "128MB",
    "huge_pages": "off",  # would allocate all shared buffers at once
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_logical_replication_workers": "0",
    "jit": "off",  # compiling takes longer than these queries
    "timezone": "UTC",
    "log_timezone": "UTC",
    "lc_messages": "C",
    # Clients get the errors of their statements; the log has only server messages and stays small.
    "log_min_messages": "log",
    "log_checkpoints": "off",
    "log_destination": "stderr",
    "logging_collector": "off",
}
_FIRST_WITH_IO_METHOD = 18

# The shell writes its pid to the watchdog's pipe, then becomes PostgreSQL, whose output goes to the log.
_LAUNCH = 'echo $$; exec "$@" >&2'

# The first line is the server's pid. The server's own process writes it before it becomes PostgreSQL, so the pid is known
# from the start. A second line means that the server has ended; the shell then ends, too. The shell signals the pid only
# if the process works in the cluster's directory or is named in its pidfile. Repeated interrupts do no harm, and reach a
# server that did not handle signals yet. The shell ignores the signals that a service manager sends to all processes of a
# service, because it must outlive the parent.
_SCRIPT = r"""
trap '' HUP INT TERM
cluster=$1
read -r pid || exit 0
read -r _ && exit 0
ours() {
  [ "/proc/$pid/cwd" -ef "$cluster" ] && return 0
  read -r first <"$cluster/postmaster.pid" && [ "$first" = "$pid" ]
}
second=0
while [ $second -lt 90 ] && kill -0 "$pid"; do
  if ours; then
    if [ $second -lt 60 ]; then kill -INT "$pid"; else kill -QUIT "$pid"; fi
  fi
  second=$((second + 1))
  sleep 1
done
"""
_PATIENCE = 5.0  # seconds for the watchdog to end


class StillInUse(Exception):
    """Backends of a server that was killed have not ended yet"""


class Watchdog:
    """Stops the server when its parent process dies, for whatever reason.

    A shell in its own session reads from a pipe whose other end only the parent holds. When the parent dies, the kernel closes
    that end and the shell sends the server a fast shutdown. (Linux can signal a child when its parent dies, but does so when
    the *thread* that started it ends, and macOS cannot.)
    """

    def __init__(self, cluster: Path) -> None:
        self._ending = threading.Lock()
        # The server's process writes its pid to the pipe. Both ends are close-on-exec.
        reading, self.pipe = os.pipe()
        try:
            self.process = subprocess.Popen(
                ["/bin/sh", "-c", _SCRIPT, "whence-watchdog", str(cluster)],
                stdin=reading,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env=ENVIRONMENT,
                start_new_session=True,
            )
        except BaseException:
            self.let_go()
            raise
        finally:
            os.close(reading)

    def dismiss(self) -> None:
        """End the watchdog after the server was reaped, because its pid may be reused."""
        with self._ending:
            if self.pipe < 0:
                return
            with contextlib.suppress(BrokenPipeError):
                # Two lines, in case the server ended before it wrote its pid.
                os.write(self.pipe, b"ended\nended\n")
            self.let_go()
            try:
                self.process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def let_go(self) -> None:
        """Close our end of the pipe. A forked child must do this, or it would keep the server alive."""
        pipe, self.pipe = self.pipe, -1
        if pipe >= 0:
            os.close(pipe)


class Server:
    def __init__(
        self, layout: DataDirLayout, programs: Path, account: Account, *, version: int, socket_dir: Path
    ) -> None:
        self._layout = layout
        self._log = _open_log(layout.log, account)
        try:
            self._said = os.fstat(self._log).st_size
            self.watchdog = Watchdog(layout.cluster)
            self.process = self._launch(programs, account, version=version, socket_dir=socket_dir)
        finally:
            os.close(self._log)

    def _launch(
        self, programs: Path, account: Account, *, version: int, socket_dir: Path
    ) -> subprocess.Popen[bytes]:
        command = [*account.prefix, str(programs / "postgres"), "-D", str(self._layout.cluster)]
        for name, value in _make_settings(version, socket_dir).items():
            command += ["-c", f"{name}={value}"]
        try:
            return subprocess.Popen(
                ["/bin/sh", "-c", _LAUNCH, "whence-postgres", *command],
                stdin=subprocess.DEVNULL,
                stdout=self.watchdog.pipe,
                stderr=self._log,
                cwd=self._layout.cluster,
                env=ENVIRONMENT,
                start_new_session=True,  # keeps Ctrl-C in the terminal from the server
                user=account.uid,
                group=account.gid,
                extra_groups=account.groups,
            )
        except BaseException:
            self.watchdog.dismiss()
            raise

    def alive(self) -> bool:
        if self.process.poll() is None:
            return True
        self.watchdog.dismiss()
        return False

    def wait_until_ready(self) -> None:
        deadline = time.monotonic() + _START_LIMIT
        while not is_ready(self._layout.cluster, self.process.pid):
            if not self.alive():
                raise self._explain_failure()
            if time.monotonic() > deadline:
                raise PostgresError(
                    f"PostgreSQL on {self._layout.cluster} has not become ready in {_START_LIMIT:.0f} seconds. "
                    f"{self._layout.log} may say why."
                )
            time.sleep(0.01)

    def stop(self) -> None:
        steps = ((signal.SIGINT, _FAST_LIMIT), (signal.SIGQUIT, _IMMEDIATE_LIMIT), (signal.SIGKILL, None))
        for sign, limit in steps:
            self.process.send_signal(sign)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(limit)
                break
        self.watchdog.dismiss()

    def _explain_failure(self) -> Exception:
        words = _read_last_lines(self._layout.log, self._said)
        if "is still in use" in words:
            return StillInUse(words)
        if "No space left on device" in words or disk_full(self._layout.cluster):
            return PostgresError(full_message(self._layout.data_dir))
        return PostgresError(
            f"PostgreSQL could not start on {self._layout.cluster}: "
            f"{words or f'it ended with status {self.process.returncode}'} (more in {self._layout.log})"
        )


def conninfo(socket_dir: Path | str, role: str = ROLE) -> str:
    return make_conninfo(host=str(socket_dir), port=PORT, user=role, dbname=DATABASE)


def is_ready(cluster: Path, pid: int) -> bool:
    """Whether the server's pidfile says it is ready. Connecting instead would fill the log during recovery."""
    found = read_pidfile(cluster)
    return found is not None and found.pid == pid and found.status == "ready"


def answers(dsn: str) -> bool:
    try:
        psycopg.connect(dsn, connect_timeout=10).close()
    except psycopg.Error:
        return False
    return True


def _make_settings(version: int, socket_dir: Path) -> dict[str, str]:
    settings = dict(_SETTINGS)
    if version >= _FIRST_WITH_IO_METHOD:
        settings["io_method"] = "sync"  # no separate I/O worker processes
    # The setting is a list, so quote the path in case it has a space or a quote.
    settings["unix_socket_directories"] = '"' + str(socket_dir).replace('"', '""') + '"'
    return settings


def _open_log(path: Path, account: Account) -> int:
    with contextlib.suppress(FileNotFoundError):
        if path.stat().st_size > _LARGE_LOG:
            path.replace(path.with_name(path.name + ".1"))
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    account.give(path)
    return descriptor


def _read_last_lines(log: Path, start: int) -> str:
    """The last log lines since offset `start`, without the usual startup messages."""
    with log.open("rb") as file:
        file.seek(start)
        lines = file.read().decode(errors="replace").splitlines()
    telling = [
        line.partition("] ")[2] or line for line in lines if not any(usual in line for usual in _USUAL)
    ]
    return " ".join(telling[-_WORDS:])
