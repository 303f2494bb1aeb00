"""The owner of a data directory: a lock file that names the owning process, and the server's own postmaster.pid."""

import fcntl
import json
import os
import subprocess
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from whence.store.postgres.programs import ENVIRONMENT

_ENOUGH = 65536
_NAME = "postmaster.pid"
_NAMES_OF_POSTGRES = ("postgres", "postmaster")
_STATUS_LINE = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    owner: int
    postmaster: int | None
    """The server's pid; None before it starts."""
    socket_dir: str


class DataDirLock:
    """A file lock, which the kernel releases when the process dies. The file itself is never removed."""

    def __init__(self, path: Path) -> None:
        # Close-on-exec, so that no child process keeps the lock.
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def acquire(self) -> bool:
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def record(self, holder: Holder) -> None:
        self._write(json.dumps(asdict(holder)).encode())

    def clear(self) -> None:
        self._write(b"")

    def holder(self) -> Holder | None:
        """The current or last holder; None if it is not completely written."""
        try:
            return Holder(**json.loads(os.pread(self._descriptor, _ENOUGH, 0)))
        except (ValueError, TypeError):
            return None

    def close(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            with suppress(OSError):
                os.close(descriptor)

    def _write(self, content: bytes) -> None:
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, content, 0)


class Pidfile(NamedTuple):
    pid: int
    status: str
    """`starting`, `ready`, `stopping` or `standby`; empty until the server writes it."""


def read_pidfile(cluster: Path) -> Pidfile | None:
    try:
        lines = (cluster / _NAME).read_text(errors="replace").splitlines()
        pid = abs(int(lines[0]))  # a server in single-user mode writes it with a minus
    except (OSError, ValueError, IndexError):
        return None
    status = lines[_STATUS_LINE].strip() if len(lines) > _STATUS_LINE else ""
    return Pidfile(pid, status)


def running_postmaster(cluster: Path) -> int | None:
    found = read_pidfile(cluster)
    return found.pid if found is not None and is_postgres_on(found.pid, cluster) else None


def disarm_pidfile(cluster: Path) -> None:
    """Keep a dead server's pidfile from blocking the next start.

    The caller holds the lock and has checked that no server runs here. PostgreSQL refuses to start while *any*
    process has the pid in the file, except its own parent. It then checks whether backends of the dead server still
    use its shared memory. Writing our pid, instead of removing the file, keeps that second check.
    """
    path = cluster / _NAME
    found = read_pidfile(cluster)
    if found is None:
        path.unlink(missing_ok=True)  # incompletely written
        return
    if not _exists(found.pid):
        return
    old = path.stat()
    new = path.with_suffix(".new")
    rest = path.read_bytes().partition(b"\n")[2]
    new.write_bytes(b"%d\n" % os.getpid() + rest)
    new.chmod(0o600)
    os.chown(new, old.st_uid, old.st_gid)
    new.replace(path)


def is_postgres_on(pid: int, cluster: Path) -> bool:
    if Path("/proc/self/comm").exists():
        return _check_proc(Path("/proc", str(pid)), cluster)
    return _check_ps(pid, cluster)


def _check_proc(process: Path, cluster: Path) -> bool:
    try:
        if not (process / "comm").read_text(errors="replace").startswith(_NAMES_OF_POSTGRES):
            return False
        return (process / "cwd").samefile(cluster)
    except PermissionError:  # a process of another uid that we may not trace, but its arguments are public
        with suppress(OSError):
            return os.fsencode(cluster) in (process / "cmdline").read_bytes().split(b"\0")
    except OSError:
        pass
    return False


def _check_ps(pid: int, cluster: Path) -> bool:
    command = ["/bin/ps", "-ww", "-o", "command=", "-p", str(pid)]
    said = subprocess.run(command, env=ENVIRONMENT, capture_output=True, check=False).stdout
    if not any(name.encode() in said for name in _NAMES_OF_POSTGRES):
        return False
    # ps may escape non-ASCII letters; then any postgres counts, to be safe.
    return os.fsencode(cluster) in said or not str(cluster).isascii()


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
