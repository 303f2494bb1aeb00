"""The data directory: its paths, the directory of the server's socket, and the cluster (PostgreSQL's own directory)."""

import errno
import hashlib
import os
import shutil
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from whence.errors import PostgresError
from whence.store.postgres.programs import Account, account_for_initdb

BOOTSTRAP_ROLE = "whence"
"""The superuser that initdb creates. It only creates the database, the extension and the server's role."""
ROLE = "whence_server"
"""The server's role: an ordinary one that owns its database."""
PORT = 5432  # only part of the socket's name: the server does not listen on TCP
SOCKET = f".s.PGSQL.{PORT}"

# `sun_path` holds 103 bytes and a NUL on macOS and the BSDs, and four more on Linux.
_LONGEST_SOCKET = 103
_FULL = 16 * 1024 * 1024
_UNFINISHED = "postgres.new-"
_FIRST_WITH_BUILTIN_LOCALES = 17
# Text search classifies letters by the C library's locale; not every system has C.UTF-8.
_LOCALES = ("C.UTF-8", "C")


class DataDirLayout:
    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.cluster = data_dir / "postgres"
        self.lock = data_dir / "postgres.lock"
        self.log = data_dir / "postgres.log"

    @property
    def socket_dir(self) -> Path:
        """`run` in the data directory, or a short private path if libpq cannot use that one."""
        beside = self.data_dir / "run"
        return beside if _is_usable(beside) else self._choose_socket_dir()

    def _choose_socket_dir(self) -> Path:
        real = os.fsencode(os.path.realpath(self.data_dir))
        name = "whence-" + hashlib.sha256(real).hexdigest()[:16]
        chosen = Path(tempfile.gettempdir(), name)
        return chosen if _is_usable(chosen) else Path("/tmp", name)  # noqa: S108 - mode 0700, owner checked

    def make_data_dir(self) -> bool:
        """Creates the directory. Returns whether its owner may be changed: it is new, or left empty by a start that was killed."""
        try:
            self.data_dir.mkdir(mode=0o700, parents=True)
        except FileExistsError:
            if not self.data_dir.is_dir():
                raise PostgresError(
                    f"{self.data_dir} is not a directory. Move it away, or choose another data directory "
                    "with WHENCE_DATA_DIR."
                ) from None
            found = self.data_dir.stat()
            is_private = (found.st_uid, stat.S_IMODE(found.st_mode)) == (os.geteuid(), 0o700)
            return is_private and list(self.data_dir.iterdir()) == [self.lock]
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
        with suppress(
            OSError
        ):  # created by an earlier start under another account: replace it if it is empty
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


def remove_socket_dir(layout: DataDirLayout) -> None:
    """Remove a socket directory outside the data directory; `run` stays."""
    directory = layout.socket_dir
    if directory.parent != layout.data_dir:
        with suppress(OSError):
            directory.rmdir()


def disk_full(directory: Path) -> bool:
    return shutil.disk_usage(directory).free < _FULL


def explain(exc: OSError, path: Path) -> PostgresError:
    if exc.errno in (errno.ENOSPC, errno.EDQUOT):
        return PostgresError(full_message(path))
    where = Path(os.fsdecode(exc.filename)) if isinstance(exc.filename, str | bytes) else path
    return PostgresError(
        f"The embedded database cannot use {where}: {exc.strerror or exc}. Give the user that runs Whence the right to "
        f"read and write {path}, or choose another data directory with WHENCE_DATA_DIR."
    )


def full_message(path: Path) -> str:
    return f"The disk of {path} is full. Free some space (100 MB at least) and start again."


def _is_usable(directory: Path) -> bool:
    path = str(directory / SOCKET)
    try:
        length = len(path.encode())
    except UnicodeEncodeError:  # a conninfo cannot hold bytes that are not UTF-8
        return False
    return length <= _LONGEST_SOCKET and "," not in path  # libpq reads a comma as a list of hosts


def _not_private(directory: Path) -> PostgresError:
    return PostgresError(
        f"{directory}, which holds the database's socket, is not a private directory of the user that runs "
        "the database. Remove it and start again."
    )


def check_cluster(cluster: Path, version: int) -> None:
    """Raise unless `cluster` is absent or this version can run it. Changes nothing."""
    try:
        found = (cluster / "PG_VERSION").read_text(errors="replace").strip()
    except (FileNotFoundError, NotADirectoryError):
        if cluster.exists() or cluster.is_symlink():
            raise PostgresError(
                f"{cluster} is not a PostgreSQL data directory. Move it away, or choose another data directory "
                "with WHENCE_DATA_DIR."
            ) from None
        return
    if found != str(version):
        raise PostgresError(
            f"{cluster} was made by PostgreSQL {found}, and this is PostgreSQL {version}. Either run it with the "
            f"programs of PostgreSQL {found} (WHENCE_POSTGRES_BIN), for example to make a backup, or choose "
            "another data directory with WHENCE_DATA_DIR. Nothing was changed."
        )


def initialise(cluster: Path, programs: Path, account: Account, *, version: int) -> None:
    """Run initdb in a temporary directory, then rename it, so that a kill leaves no half-made cluster."""
    clear_unfinished(cluster)
    new = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=cluster.parent))
    try:
        maker = account_for_initdb(account, new.parent, programs)
        maker.give(new)
        _run_initdb(new, programs, maker, version=version)
        if maker != account:
            account.give_tree(new)
        new.rename(cluster)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    _sync(cluster.parent)


def clear_unfinished(cluster: Path) -> None:
    for left in cluster.parent.glob(_UNFINISHED + "*"):
        # The initdb of a killed process may still be writing; the next start removes the rest.
        shutil.rmtree(left, ignore_errors=True)


def _run_initdb(new: Path, programs: Path, account: Account, *, version: int) -> None:
    options = [
        f"--pgdata={new}",
        f"--username={BOOTSTRAP_ROLE}",
        "--encoding=UTF8",
        "--lc-messages=C",
        "--text-search-config=english",
        "--data-checksums",
        "--auth-local=trust",
        "--auth-host=reject",
        "--no-instructions",
    ]
    if version >= _FIRST_WITH_BUILTIN_LOCALES:  # same collation and case folding on every machine
        options += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    for locale in _LOCALES:
        made = account.run([str(programs / "initdb"), f"--locale={locale}", *options], cwd=new)
        if made.returncode == 0:
            return
        if "locale" not in made.stderr:
            break
    if "No space left on device" in made.stderr or disk_full(new):
        raise PostgresError(full_message(new.parent))
    words = " ".join(made.stderr.split()) or f"it ended with status {made.returncode}"
    raise PostgresError(f"initdb could not make a database in {new.parent}: {words}")


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
