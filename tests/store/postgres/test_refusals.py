"""Directories that cannot be used: a message that names the path and the way out, and nothing touched."""

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from whence.errors import PostgresError
from whence.store.postgres import EmbeddedPostgres

if TYPE_CHECKING:
    from tests.store.postgres.conftest import Launch


def state(top: Path) -> list[tuple[str, int, int, int, int]]:
    """Every path with its mode, owner, size and time of change."""
    found = []
    for path in [top, *top.rglob("*")]:
        info = path.lstat()
        found.append((str(path), info.st_mode, info.st_uid, info.st_size, info.st_ctime_ns))
    return sorted(found)


def refused(data_dir: Path) -> str:
    with pytest.raises(PostgresError) as error:
        EmbeddedPostgres.start(data_dir)
    return error.value.message


@pytest.fixture
def private_mounts() -> list[str]:
    """What to put before a command so that what it mounts is seen by nobody else."""
    under = ["unshare", "--mount"]
    probe = ["mount", "-t", "tmpfs", "none", "/mnt"]
    try:
        subprocess.run([*under, *probe], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("mounting is not permitted here")
    return under


def test_another_major_version(data_dir: Path) -> None:
    named = data_dir / "postgres" / "PG_VERSION"
    version = named.read_text()
    named.write_text("14\n")
    before = state(data_dir)
    message = refused(data_dir)
    assert f"{data_dir}/postgres was made by PostgreSQL 14" in message
    assert "WHENCE_POSTGRES_BIN" in message
    assert state(data_dir) == before
    named.write_text(version)


def test_something_else_in_the_place_of_the_cluster(tmp_path: Path) -> None:
    (tmp_path / "postgres").mkdir()
    (tmp_path / "postgres" / "notes.txt").write_text("mine")
    before = state(tmp_path)
    assert f"{tmp_path}/postgres is not a PostgreSQL data directory" in refused(tmp_path)
    assert state(tmp_path) == before


@pytest.mark.parametrize("below", ["", "data", "data/deeper"])
def test_a_file_in_the_place_of_a_directory(tmp_path: Path, below: str) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    message = refused(file / below)
    assert str(file) in message
    assert "WHENCE_DATA_DIR" in message
    assert file.read_text() == "mine"


def test_an_unwritable_directory(open_dir: Path, other_user: int, launch: "Launch") -> None:
    data_dir = open_dir / "data"
    data_dir.mkdir(mode=0o755)
    before = state(open_dir)
    message = launch(data_dir, "--uid", str(other_user)).answer()["error"]
    assert str(data_dir) in message
    assert "Permission denied" in message
    assert "WHENCE_DATA_DIR" in message
    assert state(open_dir) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root can write everywhere")
def test_an_own_directory_without_the_right_to_write(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    data_dir.mkdir()
    data_dir.chmod(0o555)
    before = state(data_dir)
    assert f"cannot use {data_dir}/postgres.lock: Permission denied" in refused(data_dir)
    assert state(data_dir) == before


def test_a_directory_that_cannot_be_made(open_dir: Path, other_user: int, launch: "Launch") -> None:
    message = launch(open_dir / "data", "--uid", str(other_user)).answer()["error"]
    assert "Permission denied" in message
    assert not list(open_dir.iterdir())


def test_another_users_cluster(open_dir: Path, other_user: int, launch: "Launch") -> None:
    cluster = open_dir / "postgres"
    cluster.mkdir()
    message = launch(open_dir, "--uid", str(other_user)).answer()["error"]
    assert f"{cluster} belongs to another user (uid 0)" in message


def test_a_read_only_disk(data_dir: Path, launch: "Launch", private_mounts: list[str]) -> None:
    before = state(data_dir)
    script = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
    under = [*private_mounts, "sh", "-c", script, str(data_dir)]
    message = launch(data_dir, under=under).answer()["error"]
    assert "Read-only file system" in message
    assert str(data_dir) in message
    assert state(data_dir) == before


def test_a_full_disk_at_the_first_start(tmp_path: Path, launch: "Launch", private_mounts: list[str]) -> None:
    # The listing after the process has ended shows that no part of a cluster is left.
    script = 'mount -t tmpfs -o size=8m none "$0" && "$@" && ls "$0" >"$0.listing"'
    disk = tmp_path / "disk"
    disk.mkdir()
    process = launch(disk, under=[*private_mounts, "sh", "-c", script, str(disk)])
    message = process.answer()["error"]
    assert message.startswith(f"The disk of {disk} is full.")
    process.process.wait()
    assert (tmp_path / "disk.listing").read_text().split() == ["postgres.lock"]


def test_a_full_disk_at_a_later_start(
    data_dir: Path, tmp_path: Path, launch: "Launch", private_mounts: list[str]
) -> None:
    # The disk is made as small as what lies on it, and what is left of it is filled.
    script = (
        'mount -t tmpfs none "$0" && cp -a "$1/postgres" "$0" && shift && '
        'mount -o "remount,size=$(du -sk "$0" | cut -f 1)k" "$0" && '
        '{ cat /dev/zero >"$0/filler" 2>/dev/null; exec "$@"; }'
    )
    disk = tmp_path / "disk"
    disk.mkdir()
    under = [*private_mounts, "sh", "-c", script, str(disk), str(data_dir)]
    message = launch(disk, under=under).answer()["error"]
    assert message.startswith(f"The disk of {disk} is full.")


def test_a_server_that_dies_at_once_says_why(data_dir: Path) -> None:
    file = data_dir / "postgres" / "postgresql.auto.conf"
    file.write_text("nonsense = 1\n")
    message = refused(data_dir)
    file.write_text("")
    assert "unrecognized configuration parameter" in message
    assert str(data_dir / "postgres.log") in message
