"""Paths in the data directory, and the directory of the server's socket."""

import errno
import hashlib
import os
import shutil
import stat
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from whence.errors import PostgresError
from whence.store.postgres.privileges import Account

PORT = 5432  # only part of the socket's name: the server does not listen on TCP
SOCKET = f".s.PGSQL.{PORT}"

# `sun_path` holds 103 bytes and a NUL on macOS and the BSDs, and four more on Linux.
_LONGEST_SOCKET = 103
_FULL = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    data_dir: Path

    @property
    def cluster(self) -> Path:
        return self.data_dir / "postgres"

    @property
    def lock(self) -> Path:
        return self.data_dir / "postgres.lock"

    @property
    def log(self) -> Path:
        return self.data_dir / "postgres.log"

    @property
    def socket_dir(self) -> Path:
        """`run` in the data directory, or a short private path if libpq cannot use that one."""
        beside = self.data_dir / "run"
        return beside if _usable(beside) else self._short_socket_dir()

    def _short_socket_dir(self) -> Path:
        real = os.fsencode(os.path.realpath(self.data_dir))
        name = "whence-" + hashlib.sha256(real).hexdigest()[:16]
        chosen = Path(tempfile.gettempdir(), name)
        return chosen if _usable(chosen) else Path("/tmp", name)  # noqa: S108 - mode 0700, owner checked

    def make_data_dir(self) -> bool:
        """Create the data directory. Returns False if it exists."""
        try:
            self.data_dir.mkdir(mode=0o700, parents=True)
        except FileExistsError:
            if not self.data_dir.is_dir():
                raise PostgresError(
                    f"{self.data_dir} is not a directory. Move it away, or choose another data directory "
                    "with WHENCE_DATA_DIR."
                ) from None
            return False
        return True


def make_socket_dir(directory: Path, account: Account) -> None:
    """Create the private directory of the socket. The caller holds the lock and no server runs.

    Trust authentication is safe only if no other user can create a socket there or reach ours.
    """
    owner = os.geteuid() if account.uid is None else account.uid
    if directory.is_dir() and not directory.is_symlink():
        clear_sockets(directory)
        found = directory.stat()
        if found.st_uid == owner and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return
        with suppress(OSError):  # an earlier start under another account made it: replace it if it is empty
            directory.rmdir()
    try:
        directory.mkdir(mode=0o700)
    except FileExistsError:
        raise _not_private(directory) from None
    account.give(directory)


def clear_sockets(directory: Path) -> None:
    """Remove a dead server's socket files: PostgreSQL refuses to start if any process has the pid in them."""
    for name in (SOCKET, SOCKET + ".lock"):
        try:
            (directory / name).unlink(missing_ok=True)
        except PermissionError:
            raise _not_private(directory) from None


def remove_socket_dir(layout: Layout) -> None:
    """Remove a socket directory outside the data directory; `run` stays."""
    directory = layout.socket_dir
    if directory.parent != layout.data_dir:
        with suppress(OSError):
            directory.rmdir()


def disk_full(directory: Path) -> bool:
    return shutil.disk_usage(directory).free < _FULL


def explain(exc: OSError, path: Path) -> PostgresError:
    """Turn a file system error into a message for the user."""
    where = Path(os.fsdecode(exc.filename)) if isinstance(exc.filename, str | bytes) else path
    match exc.errno:
        case errno.EACCES | errno.EPERM | errno.EROFS:
            message = (
                f"{where} cannot be read and written ({exc.strerror}). Give the user that runs Whence that right "
                f"in {path}, or choose another data directory with WHENCE_DATA_DIR."
            )
        case errno.ENOSPC | errno.EDQUOT:
            message = full_message(path)
        case errno.ENOTDIR | errno.EEXIST:
            message = (
                f"{where} cannot be a directory: there is a file in its place. Move it away, or choose another "
                "data directory with WHENCE_DATA_DIR."
            )
        case _:
            message = f"The embedded database cannot use {where}: {exc.strerror or exc}."
    return PostgresError(message)


def full_message(path: Path) -> str:
    return f"The disk of {path} is full. Free some space (100 MB at least) and start again."


def _usable(directory: Path) -> bool:
    path = str(directory / SOCKET)
    try:
        length = len(path.encode())
    except UnicodeEncodeError:  # a conninfo cannot hold bytes that are not UTF-8
        return False
    return length <= _LONGEST_SOCKET and "," not in path  # libpq reads a comma as a list of hosts


def _not_private(directory: Path) -> PostgresError:
    return PostgresError(
        f"{directory}, where the database's socket belongs, is not a private directory of the user that runs "
        "the database. Remove it and start again."
    )
