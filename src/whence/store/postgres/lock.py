"""Ensures one owner per data directory: a lock file that its process holds for life and that names the holder."""

import contextlib
import fcntl
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

_ENOUGH = 65536


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    owner: int
    """Pid of the Whence process that owns the server."""
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
            with contextlib.suppress(OSError):
                os.close(descriptor)

    def _write(self, content: bytes) -> None:
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, content, 0)
