"""As whom the server runs: an ordinary user, root in a namespace, root that hands over to another uid."""

import contextlib
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from whence.errors import PostgresError
from whence.store.postgres import EmbeddedPostgres, binaries, programs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.store.postgres.conftest import Launch, ServersOn

STRANGER = 47_110_815  # a uid without a name


def owner_and_mode(path: Path) -> tuple[int, int, int]:
    info = path.stat()
    return info.st_uid, info.st_gid, info.st_mode


def uids_of(pids: "Iterable[int]") -> set[int]:
    """As whom these processes run, those that have ended meanwhile left out."""
    uids = set()
    for pid in pids:
        with contextlib.suppress(FileNotFoundError):
            uids.add(Path(f"/proc/{pid}").stat().st_uid)
    return uids


def works(server: EmbeddedPostgres) -> bool:
    with psycopg.connect(server.dsn) as connection:
        return connection.execute("SELECT 1").fetchone() == (1,)


@pytest.fixture
def no_namespaces(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container that does not permit them."""
    monkeypatch.setattr(programs, "namespace", lambda: None)


def needs_namespaces() -> None:
    inside = programs.namespace()
    if inside is None or programs._obstacle(inside, Path("/"), binaries()) is not None:
        pytest.skip("user namespaces are not permitted here")


def test_an_ordinary_user(open_dir: Path, other_user: int, launch: "Launch", servers_on: "ServersOn") -> None:
    os.chown(open_dir, other_user, other_user)
    process = launch(open_dir / "data", "--uid", str(other_user))
    answer = process.answer()
    assert answer["owner"], answer
    assert uids_of(servers_on(open_dir / "data")) == {other_user}
    process.finish()
    assert not servers_on(open_dir / "data")
    # Root on the user's directory leaves it the user's.
    with EmbeddedPostgres.start(open_dir / "data") as server:
        assert works(server)
        assert uids_of(servers_on(open_dir / "data")) == {other_user}
    assert {path.stat().st_uid for path in open_dir.rglob("*")} == {other_user}
    assert launch(open_dir / "data", "--uid", str(other_user)).answer()["owner"]


@pytest.mark.usefixtures("other_user")
def test_an_ordinary_user_without_a_name(open_dir: Path, launch: "Launch") -> None:
    needs_namespaces()
    os.chown(open_dir, STRANGER, STRANGER)
    answer = launch(open_dir / "data", "--uid", str(STRANGER)).answer()
    assert answer.get("owner"), answer


def test_directories_that_were_there_keep_owner_and_mode(tmp_path: Path, data_dir: Path) -> None:
    parent = tmp_path / "parent"
    parent.mkdir()
    moved = data_dir.rename(parent / "data")
    (moved / "originals").mkdir(mode=0o750)
    watched = [tmp_path, parent, moved, moved / "originals"]
    for mode in (0o755, 0o777, 0o2770, 0o700):
        parent.chmod(mode)
        moved.chmod(mode)
        before = [owner_and_mode(path) for path in watched]
        with EmbeddedPostgres.start(moved) as server:
            assert works(server)
        assert [owner_and_mode(path) for path in watched] == before
    (moved / "originals").rmdir()
    moved.rename(data_dir)


def test_root_in_another_users_private_directory(
    open_dir: Path, other_user: int, servers_on: "ServersOn"
) -> None:
    """The namespace cannot enter it, so the server runs as the directory's owner."""
    data_dir = open_dir / "data"
    data_dir.mkdir(mode=0o700)
    os.chown(data_dir, other_user, other_user)
    before = [owner_and_mode(open_dir), owner_and_mode(data_dir)]
    with EmbeddedPostgres.start(data_dir) as server:
        assert works(server)
        assert uids_of(servers_on(data_dir)) == {other_user}
    assert [owner_and_mode(open_dir), owner_and_mode(data_dir)] == before
    assert {path.stat().st_uid for path in data_dir.rglob("*")} == {other_user}


@pytest.mark.usefixtures("other_user")
def test_root_in_the_directory_of_a_user_without_a_name(open_dir: Path, servers_on: "ServersOn") -> None:
    data_dir = open_dir / "data"
    data_dir.mkdir(mode=0o700)
    os.chown(data_dir, STRANGER, STRANGER)
    with EmbeddedPostgres.start(data_dir) as server:
        assert works(server)
        assert uids_of(servers_on(data_dir)) == {STRANGER}
    assert {path.stat().st_uid for path in data_dir.rglob("*")} == {STRANGER}


@pytest.mark.usefixtures("no_namespaces")
def test_root_where_namespaces_are_not_permitted(
    open_dir: Path, other_user: int, servers_on: "ServersOn"
) -> None:
    before = owner_and_mode(open_dir)
    for _ in range(2):
        with EmbeddedPostgres.start(open_dir / "data") as server:
            assert works(server)
            assert uids_of(servers_on(open_dir / "data")) == {other_user}
    assert owner_and_mode(open_dir) == before


def test_a_namespace_only_where_no_other_uid_reaches_the_directory(
    open_dir: Path, other_user: int, servers_on: "ServersOn"
) -> None:
    data_dir = open_dir / "data"
    data_dir.mkdir(mode=0o700)
    needs_namespaces()
    with EmbeddedPostgres.start(data_dir):
        assert uids_of(servers_on(data_dir)) == {0}
    data_dir.chmod(0o755)
    before = owner_and_mode(data_dir)
    with EmbeddedPostgres.start(data_dir) as server:
        assert works(server)
        assert uids_of(servers_on(data_dir)) == {other_user}
    assert owner_and_mode(data_dir) == before


@pytest.mark.usefixtures("no_namespaces")
def test_root_where_nobody_else_can_reach_the_directory(open_dir: Path, other_user: int) -> None:
    private = open_dir / "private"
    private.mkdir(mode=0o700)
    (private / "data").mkdir()
    with pytest.raises(PostgresError, match=rf"cannot run as uid {other_user}.*ordinary user"):
        EmbeddedPostgres.start(private / "data")
    assert owner_and_mode(private)[2] & 0o777 == 0o700
    assert not (private / "data" / "postgres").exists()


def test_root_that_can_be_nobody_else(tmp_path: Path, launch: "Launch") -> None:
    """A root that has no other uid and no namespaces, as in a strict container."""
    needs_namespaces()
    script = 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"'
    under = ["unshare", "--user", "--map-root-user", "sh", "-c", script, "sh"]
    message = launch(tmp_path / "data", under=under).answer()["error"]
    assert "PostgreSQL does not run as root, and it cannot run as uid" in message
    assert "Run Whence as an ordinary user" in message
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["postgres.lock"]


def test_client_programs_run_as_root(data_dir: Path) -> None:
    with EmbeddedPostgres.start(data_dir) as server:
        dump = [str(binaries() / "pg_dump"), "--dbname", server.dsn]
        assert b"PostgreSQL database dump" in subprocess.run(dump, check=True, capture_output=True).stdout
