"""Backups: everything comes back as it was, or nothing changes and it is said why."""

import asyncio
import hashlib
import io
import os
import tarfile
import tempfile
from collections.abc import AsyncIterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

import orjson
import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from whence.errors import BadInput, Conflict, NotFound, SchemaMismatch, StorageMismatch, WhenceError
from whence.models import DEFAULT_PROJECT_ID, Document, new_id
from whence.store import Store, backup, restore
from whence.store.backup import Manifest
from whence.store.migrations import upgrade
from whence.store.originals import Originals
from whence.store.postgres import binaries
from whence.store.storage import Storage, Trash

if TYPE_CHECKING:
    from tests.samples import AddSample

OF_THE_STORAGE = ("storage", "stored_originals")

Members = dict[str, bytes]
State = tuple[dict[str, list[str]], Members]


class Place:
    """A database and its originals."""

    def __init__(self, dsn: str, folder: Path) -> None:
        self.dsn = dsn
        self.originals = Originals.open(None, folder)

    async def write(self, file: Path, *, allow_missing: bool = False) -> Manifest:
        return await backup.write(
            file, dsn=self.dsn, originals=self.originals, bin_dir=None, allow_missing=allow_missing
        )

    async def read(self, file: Path, *, replace: bool = False, allow_missing: bool = False) -> Manifest:
        return await restore.read(
            file,
            dsn=self.dsn,
            originals=self.originals,
            bin_dir=None,
            replace=replace,
            allow_missing=allow_missing,
        )

    async def bind(self) -> UUID:
        """As the first start does."""
        async with Store.open(self.dsn, size=1) as store:
            await Storage(self.originals, store.inventory).ensure_bound()
            return (await store.inventory.ensure_storage_id()).id

    async def keep(self, document: Document, content: bytes) -> str:
        """Give a document its original."""
        key = f"{document.project_id}/{document.id}/{new_id()}"
        async with Store.open(self.dsn, size=1) as store:
            await store.inventory.note([key])
        await self.originals.put(key, content)
        with psycopg.connect(self.dsn) as conn:
            described = [key, len(content), hashlib.sha256(content).digest(), document.id]
            query = "UPDATE kb.documents SET original_key = %s, size = %s, sha256 = %s WHERE id = %s"
            conn.execute(query, described)
        return key

    async def state(self) -> State:
        kept = {}
        for key in await self.originals.keys():
            kept[key] = b"".join([part async for part in self.originals.get(key)])
        with psycopg.connect(self.dsn) as conn:
            names = conn.execute(
                "SELECT tablename FROM pg_tables WHERE schemaname = 'kb' ORDER BY 1"
            ).fetchall()
            query = sql.SQL("SELECT t::text FROM kb.{} t ORDER BY 1")
            tables = {
                name: [row[0] for row in conn.execute(query.format(sql.Identifier(name)))]
                for (name,) in names
            }
        return tables, kept


@pytest.fixture
async def full(store: Store, dsn: str, add_sample: "AddSample", tmp_path: Path) -> Place:
    """Projects, keys, documents, chunks, vectors and originals."""
    place = Place(dsn, tmp_path / "full")
    project = await store.projects.create(name="Ünïcödé 🙂", description="a\nb\\c")
    await store.keys.create(name="one", scope="read", project_id=project.id)
    await store.keys.create(name="all", scope="admin", project_id=None)
    await place.bind()
    for owner in (DEFAULT_PROJECT_ID, project.id):
        sample = await add_sample(project_id=owner, chunks=20)
        await place.keep(sample.document, bytes(range(256)) * 5000)
    sample = await add_sample(project_id=project.id, chunks=1, name="empty.txt")
    await place.keep(sample.document, b"")
    return place


@pytest.fixture
async def empty(empty_dsn: str, tmp_path: Path) -> Place:
    await upgrade(empty_dsn)
    return Place(empty_dsn, tmp_path / "empty")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "backups").mkdir()
    return tmp_path / "backups" / "whence.backup"


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Whatever is left in the temp directory is left by the test."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def changed(file: Path, changes: Mapping[str, bytes | None]) -> Path:
    """Another backup with other members; None leaves one out."""
    with tarfile.open(file) as tar:
        members = {info.name: content.read() for info in tar if (content := tar.extractfile(info))}
    other = file.with_name("changed.backup")
    with tarfile.open(other, "w") as tar:
        for name, packed in {**members, **changes}.items():
            if packed is not None:
                info = tarfile.TarInfo(name)
                info.size = len(packed)
                tar.addfile(info, io.BytesIO(packed))
    return other


async def test_everything_comes_back(full: Place, empty: Place, file: Path, temporary: Path) -> None:
    before = await full.state()
    manifest = await full.write(file)
    assert (manifest.projects, manifest.documents, manifest.chunks, manifest.originals) == (2, 3, 41, 3)
    assert [path.name for path in file.parent.iterdir()] == [file.name]
    assert await full.state() == before

    assert await empty.read(file) == manifest
    (tables, kept), (tables_before, kept_before) = await empty.state(), before
    # A copy has a storage of its own.
    assert tables.pop("storage") != tables_before.pop("storage")
    assert (tables, kept) == (tables_before, kept_before)
    assert [path.name for path in file.parent.iterdir()] == [file.name]
    assert not list(temporary.iterdir())
    # What was restored is a database like any other.
    async with Store.open(empty.dsn, size=1) as store:
        await store.projects.create(name="another")


async def test_only_its_owner_can_read_it(full: Place, file: Path) -> None:
    await full.write(file)
    assert file.stat().st_mode & 0o777 == 0o600


async def test_replacing(full: Place, empty: Place, file: Path, store: Store) -> None:
    await empty.write(file)
    with pytest.raises(Conflict, match="--force"):
        await full.read(file)
    assert len(await store.keys.all()) == 2

    expected, before = (await empty.state())[0], (await full.state())[0]
    await full.read(file, replace=True)
    after = (await full.state())[0]
    # The storage stays bound by its id, and the originals of the replaced database are leftovers now.
    assert [after.pop(name) for name in OF_THE_STORAGE] == [before[name] for name in OF_THE_STORAGE]
    assert after == {name: rows for name, rows in expected.items() if name not in OF_THE_STORAGE}


async def test_replacing_brings_changed_originals_back(full: Place, file: Path) -> None:
    before = await full.state()
    await full.write(file)
    key = min(key for key, content in before[1].items() if content)
    await full.originals.put(key, b"a newer version of the document")
    await full.read(file, replace=True)
    assert await full.state() == before


async def test_projects_alone_are_content_too(empty: Place, full: Place, file: Path) -> None:
    await full.write(file)
    async with Store.open(empty.dsn, size=1) as store:
        await store.projects.ensure_default()
        await store.projects.create(name="mine")
        before = await empty.state()
        with pytest.raises(Conflict, match="--force"):
            await empty.read(file)
    assert await empty.state() == before


async def test_the_worker_of_a_server_is_in_the_way(full: Place, file: Path) -> None:
    await full.write(file)
    before = await full.state()
    with (
        psycopg.connect(full.dsn, application_name="whence worker"),
        pytest.raises(Conflict, match="A server or worker is using the database"),
    ):
        await full.read(file, replace=True)
    assert await full.state() == before


async def test_not_a_backup(full: Place, file: Path, temporary: Path) -> None:
    before = await full.state()
    for content in (b"", b"hello", b"\x1f\x8b\x08\x00rubbish", b"\0" * 10240, b"BZh9rubbish"):
        file.write_bytes(content)
        with pytest.raises(BadInput, match="is not a backup made by Whence"):
            await full.read(file, replace=True)
    assert await full.state() == before
    assert not list(temporary.iterdir())


async def test_a_backup_without_a_part(full: Place, file: Path) -> None:
    await full.write(file)
    for missing in ("manifest.json", "database.dump"):
        with pytest.raises(BadInput, match=f"it has no {missing}"):
            await full.read(changed(file, {missing: None}), replace=True)


async def test_a_manifest_that_is_none(full: Place, file: Path) -> None:
    await full.write(file)
    for manifest in (b"", b"{}", b"[]", b"null", b'"x"', b'{"format": "1"}', b'{"format": 1}', b"\xff"):
        with pytest.raises(BadInput, match="is not a backup made by Whence"):
            await full.read(changed(file, {"manifest.json": manifest}), replace=True)


async def test_a_truncated_backup(full: Place, file: Path, temporary: Path) -> None:
    await full.write(file)
    whole = file.read_bytes().rstrip(b"\0")
    before = await full.state()
    for part in (0.02, 0.5, 0.9, 0.99, 0.9999):
        file.write_bytes(whole[: int(len(whole) * part)])
        with pytest.raises(BadInput, match="is not a backup made by Whence"):
            await full.read(file, replace=True)
    assert await full.state() == before
    assert not list(temporary.iterdir())


async def test_a_backup_of_a_newer_version(full: Place, file: Path) -> None:
    manifest = asdict(await full.write(file))
    before = await full.state()
    for newer in ({"format": 3}, {"schema": "9999"}, {"format": 3, "more": "fields"}):
        content = orjson.dumps({**manifest, "whence": "7.0.0", **newer})
        with pytest.raises(SchemaMismatch, match=r"made by Whence 7\.0\.0, which is newer"):
            await full.read(changed(file, {"manifest.json": content}), replace=True)
    assert await full.state() == before


async def test_a_corrupt_dump_changes_nothing(full: Place, file: Path, temporary: Path) -> None:
    await full.write(file)
    with tarfile.open(file) as tar:
        content = tar.extractfile("database.dump")
        assert content is not None
        changes = {
            "database.dump": content.read()[:-2000],
            f"originals/{DEFAULT_PROJECT_ID}/new/one": b"of the backup",
        }
        changes |= dict.fromkeys((name for name in tar.getnames() if "/" in name), b"another document's")
    other = changed(file, changes)
    async with Store.open(full.dsn, size=1) as store:
        await store.projects.create(name="since the backup")
    before = await full.state()
    with pytest.raises(WhenceError, match=r"^pg_restore failed: ") as error:
        await full.read(other, replace=True)
    assert "\n" not in error.value.message
    assert await full.state() == before
    assert not list(temporary.iterdir())


async def test_a_dump_that_does_not_fit_changes_nothing(full: Place, empty: Place, file: Path) -> None:
    """The dump can be read, and the database refuses it at its very end."""
    with psycopg.connect(empty.dsn) as conn:
        conn.execute("CREATE SCHEMA elsewhere")
        conn.execute("CREATE TABLE elsewhere.t (id int PRIMARY KEY)")
        conn.execute("ALTER TABLE kb.projects ADD t int REFERENCES elsewhere.t")
    await empty.write(file)
    before = await full.state()
    with pytest.raises(WhenceError, match=r"^psql failed: .*elsewhere"):
        await full.read(file, replace=True)
    assert await full.state() == before


async def test_what_was_added_since_the_backup_goes(full: Place, file: Path) -> None:
    """A newer version has tables that refer to the old ones; a backup of an older one replaces them all."""
    before = await full.state()
    await full.write(file)
    with psycopg.connect(full.dsn) as conn:
        conn.execute("CREATE TABLE kb.newer (project_id uuid REFERENCES kb.projects)")
        conn.execute("CREATE VIEW kb.newest AS SELECT * FROM kb.chunks")
    await full.read(file, replace=True)
    assert await full.state() == before


async def test_a_name_that_leads_elsewhere(full: Place, empty: Place, file: Path, tmp_path: Path) -> None:
    await full.write(file)
    before = await empty.state()
    for key in ("../../evil", "/etc/evil", "a/../../../evil", "./evil", "a//evil"):
        with pytest.raises(BadInput, match="is not a backup made by Whence"):
            await empty.read(changed(file, {f"originals/{key}": b"evil"}))
    assert await empty.state() == before
    assert not list(tmp_path.rglob("evil"))
    assert not Path("/etc/evil").exists()


async def test_links_are_not_followed(full: Place, empty: Place, file: Path, tmp_path: Path) -> None:
    await full.write(file)
    with tarfile.open(file, "a") as tar:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE):
            info = tarfile.TarInfo(f"originals/link-{kind.decode()}")
            info.type, info.linkname = kind, "/etc/passwd"
            tar.addfile(info)
    await empty.read(file)
    assert not list(tmp_path.rglob("link-*"))


async def test_a_folder_that_is_not_there(full: Place, tmp_path: Path) -> None:
    with pytest.raises(WhenceError, match=r"Cannot write .*: No such file or directory"):
        await full.write(tmp_path / "nowhere" / "whence.backup")


async def test_a_failing_dump_leaves_the_old_backup(full: Place, file: Path) -> None:
    file.write_bytes(b"the old one")
    gone = Place(make_conninfo(full.dsn, dbname="nowhere"), file.parent / "other")
    with pytest.raises(WhenceError):
        await gone.write(file)
    assert file.read_bytes() == b"the old one"
    assert not list(file.parent.glob("*.partial"))


async def test_the_password_is_on_no_command_line(full: Place, file: Path, tmp_path: Path) -> None:
    """`ps` shows command lines to everyone."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for path in binaries().glob("*"):
        spy = programs / path.name
        spy.write_text(
            f'#!/bin/sh\nprintf "%s\\n" "$PGPASSWORD" "$@" >>"{tmp_path}/{path.name}.log"\nexec "{path}" "$@"\n'
        )
        spy.chmod(0o755)
    dsn = make_conninfo(full.dsn, password="hunter2")  # noqa: S106 - the one to look for
    await backup.write(file, dsn=dsn, originals=full.originals, bin_dir=programs)
    await restore.read(file, dsn=dsn, originals=full.originals, bin_dir=programs, replace=True)
    for name in ("pg_dump", "psql"):
        password, *arguments = (tmp_path / f"{name}.log").read_text().splitlines()
        assert password == "hunter2"  # noqa: S105 - by the environment
        assert len(arguments) > 3
        assert "hunter2" not in " ".join(arguments)


def programs_with_psql(folder: Path, script: str) -> Path:
    """PostgreSQL's programs, and a shell script in the place of psql; `$psql` is the real one."""
    folder.mkdir()
    for path in binaries().glob("*"):
        (folder / path.name).symlink_to(path)
    (folder / "psql").unlink()
    (folder / "psql").write_text(f'#!/bin/sh\npsql="{binaries() / "psql"}"\n{script}\n')
    (folder / "psql").chmod(0o755)
    return folder


async def test_a_restore_that_is_stopped_stops_psql_first(
    full: Place, empty: Place, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise psql may replace the database while the originals that it needs are removed again."""
    await full.write(file)
    before, started = await empty.state(), tmp_path / "started"
    script = f'echo $$ >"{started}.new" && mv "{started}.new" "{started}"\nwhile :; do sleep 1; done'
    programs = programs_with_psql(tmp_path / "bin", script)
    reading = asyncio.create_task(
        restore.read(file, dsn=empty.dsn, originals=empty.originals, bin_dir=programs, replace=False)
    )
    while not started.exists():  # noqa: ASYNC110 - nothing tells of it
        await asyncio.sleep(0.02)
    deleted, delete = [], empty.originals.delete

    async def watched(key: str) -> None:
        with pytest.raises(ProcessLookupError):
            os.kill(int(started.read_text()), 0)
        await delete(key)
        deleted.append(key)

    monkeypatch.setattr(empty.originals, "delete", watched)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert sorted(deleted) == keys_of(full.dsn)
    assert await empty.state() == before


async def test_psql_that_fails_after_it_has_committed(
    full: Place, empty: Place, file: Path, tmp_path: Path
) -> None:
    """It loses its connection before it learns of the commit: what the database refers to stays."""
    await full.write(file)
    programs = programs_with_psql(tmp_path / "bin", '"$psql" "$@"\necho lost >&2\nexit 2')
    with pytest.raises(WhenceError, match="psql failed: lost"):
        await restore.read(file, dsn=empty.dsn, originals=empty.originals, bin_dir=programs, replace=False)
    assert (await empty.state())[1].keys() == set(keys_of(empty.dsn)) == set(keys_of(full.dsn))


def keys_of(dsn: str) -> list[str]:
    with psycopg.connect(dsn) as conn:
        rows = conn.execute("SELECT original_key FROM kb.documents ORDER BY 1").fetchall()
    return [row[0] for row in rows]


async def test_a_backup_that_lacks_an_original_fails_and_names_it(full: Place, file: Path) -> None:
    first, second, _ = keys_of(full.dsn)
    await full.originals.delete(first)
    await full.originals.put(second, b"something else")
    with pytest.raises(NotFound) as error:
        await full.write(file)
    said = error.value.message
    assert "or differ from what the database describes (2): " in said
    assert f"{first} (missing)" in said
    assert f"{second} (14 bytes instead of " in said
    assert "--allow-missing" in said
    assert not list(file.parent.iterdir())


async def test_many_missing_originals_are_counted(full: Place, file: Path, add_sample: "AddSample") -> None:
    for number in range(25):
        sample = await add_sample(chunks=1, name=f"{number}.txt")
        await full.originals.delete(await full.keep(sample.document, b"%d" % number))
    with pytest.raises(
        NotFound, match=r"Originals are missing from the storage.*\(25\): .* and 5 more"
    ) as error:
        await full.write(file)
    assert len(error.value.details["missing"]) == 25


async def test_missing_originals_can_be_allowed_and_are_named(full: Place, empty: Place, file: Path) -> None:
    gone, changed, kept = keys_of(full.dsn)
    await full.originals.delete(gone)
    await full.originals.put(changed, b"something else")
    manifest = await full.write(file, allow_missing=True)
    assert (manifest.originals, manifest.missing) == (2, tuple(sorted((gone, changed))))
    restored = await empty.read(file)
    assert restored.missing == manifest.missing
    assert (await empty.state())[1].keys() == {changed, kept}


async def test_only_what_documents_refer_to_is_in_it(full: Place, file: Path) -> None:
    """Neither the trash, nor leftovers, nor objects of somebody else."""
    await full.originals.put("trash/2026-11-17/old", b"thrown away")
    await full.originals.put("somebody/elses", b"not ours")
    assert (await full.write(file)).originals == 3
    with tarfile.open(file) as tar:
        names = {name for name in tar.getnames() if name.startswith("originals/")}
    assert names == {f"originals/{key}" for key in keys_of(full.dsn)}


@pytest.mark.parametrize("other", [None, b"other bytes"], ids=["missing", "changed"])
async def test_restore_checks_every_original(
    full: Place, empty: Place, file: Path, other: bytes | None
) -> None:
    key = next(key for key, content in (await full.state())[1].items() if content)
    await full.write(file)
    before = await empty.state()
    damaged = changed(file, {f"originals/{key}": other})
    with pytest.raises(BadInput, match=f"missing from the backup, or have other content: 1: {key}"):
        await empty.read(damaged)
    assert await empty.state() == before
    restored = await empty.read(damaged, allow_missing=True)
    assert restored.missing == (key,)


async def test_marker_and_row_agree_after_a_restore(full: Place, empty: Place, file: Path) -> None:
    """A new storage gets an id of its own: with that of the first, either database could use the storage of the other."""
    manifest = await full.write(file)
    await empty.read(file)
    assert str(await full.bind()) == manifest.storage_id
    own = await empty.bind()
    assert str(own) != manifest.storage_id
    await empty.read(file, replace=True)
    assert await empty.bind() == own


async def test_a_lost_database_comes_back_to_its_storage(
    full: Place, empty: Place, file: Path, tmp_path: Path
) -> None:
    """A fresh database may not use the storage; the backup of the old one may."""
    before = await full.state()
    await full.write(file)
    fresh = Place(empty.dsn, tmp_path / "fresh")
    fresh.originals = full.originals
    with pytest.raises(StorageMismatch, match="belongs to another database"):
        await fresh.bind()
    await fresh.read(file)
    await fresh.bind()
    (tables, kept), (tables_before, kept_before) = await fresh.state(), before
    assert tables.pop("storage") != tables_before.pop("storage")
    assert (tables, kept) == (tables_before, kept_before)


async def test_the_database_that_a_storage_was_restored_from_may_not_use_it_any_more(
    full: Place, empty: Place, file: Path, tmp_path: Path
) -> None:
    """It was not lost after all: what one of the two deletes, the other would lose."""
    await full.write(file)
    fresh = Place(empty.dsn, tmp_path / "fresh")
    fresh.originals = full.originals
    await fresh.read(file)
    with pytest.raises(StorageMismatch, match="belongs to another database"):
        await full.bind()
    with psycopg.connect(fresh.dsn) as conn:  # as after a kill before the marker was written
        conn.execute("UPDATE kb.storage SET id = %s", [new_id()])
    with pytest.raises(StorageMismatch):
        await fresh.bind()
    async with Store.open(full.dsn, size=1) as store:
        await Storage(full.originals, store.inventory).adopt()
    await fresh.read(file, replace=True)
    await fresh.bind()


async def test_a_storage_of_another_database_is_refused(
    full: Place, empty: Place, file: Path, tmp_path: Path
) -> None:
    await empty.write(file)  # before its first start: it carries no id
    fresh = Place(empty.dsn, tmp_path / "fresh")
    fresh.originals = full.originals
    before = await full.state()
    with pytest.raises(StorageMismatch, match="whence storage adopt"):
        await fresh.read(file, replace=True)
    assert await full.state() == before


async def test_what_a_restore_replaced_goes_to_the_trash(full: Place, empty: Place, file: Path) -> None:
    """Its originals are in the inventory of the restored database, and no document refers to them."""
    await empty.write(file)
    old = keys_of(full.dsn)
    await full.read(file, replace=True)
    with psycopg.connect(full.dsn) as conn:
        conn.execute("UPDATE kb.stored_originals SET noted_at = noted_at - interval '2 days'")
    async with Store.open(full.dsn, size=2) as store:
        trash = Trash(Storage(full.originals, store.inventory))
        assert (await trash.tidy()).trashed == len(old)
        assert [one.key for one in await trash.storage.inventory.trash()] == old
    await full.bind()


async def test_an_original_replaced_while_a_backup_runs_is_in_it(
    full: Place, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server goes on beside it; what it would remove stays until the backup is done."""
    get, (key, *_) = Originals.get, keys_of(full.dsn)

    async def replaced_meanwhile(self: Originals, wanted: str) -> AsyncIterator[bytes]:
        if wanted == key:
            async with Store.open(full.dsn, size=2) as store:
                storage = Storage(full.originals, store.inventory)
                await storage.discard(UUID(key.split("/")[0]), [key])
                with psycopg.connect(full.dsn) as conn:
                    conn.execute("UPDATE kb.stored_originals SET noted_at = noted_at - interval '2 days'")
                    conn.execute("UPDATE kb.documents SET original_key = NULL WHERE original_key = %s", [key])
                assert (await Trash(storage).tidy()).trashed == 0
        async for part in get(self, wanted):
            yield part

    with monkeypatch.context() as patch:
        patch.setattr(Originals, "get", replaced_meanwhile)
        assert (await full.write(file)).originals == 3
    async with Store.open(full.dsn, size=2) as store:
        assert (await Trash(Storage(full.originals, store.inventory)).tidy()).trashed == 1
