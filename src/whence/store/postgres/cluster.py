"""The cluster: PostgreSQL's data directory, created completely or not at all."""

import os
import shutil
import tempfile
from pathlib import Path

from whence.errors import PostgresError
from whence.store.postgres.layout import disk_full, full_message
from whence.store.postgres.privileges import Account, account_for_initdb

ROLE = "whence"

_UNFINISHED = "postgres.new-"
_FIRST_WITH_BUILTIN_LOCALES = 17
# Text search classifies letters by the C library's locale; not every system has C.UTF-8.
_LOCALES = ("C.UTF-8", "C")


def check(cluster: Path, version: int) -> None:
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
        _initdb(new, programs, maker, version=version)
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


def _initdb(new: Path, programs: Path, account: Account, *, version: int) -> None:
    options = [
        f"--pgdata={new}",
        f"--username={ROLE}",
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
