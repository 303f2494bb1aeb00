"""Restores a backup into a database and its storage, completely or not at all.

    1  check that the storage belongs to the database, to the backup, or to no database
    2  write the originals that the storage lacks, each noted in the inventory first
    3  replace the database in one transaction, which fails if an original does not match the new rows
    4  rewrite the originals that the storage already has

A failure before the end of step 3 leaves the database as it was and removes the originals of step 2. After a kill, tidying
removes them.
"""

import asyncio
import hashlib
import io
import re
import shutil
import tarfile
import tempfile
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from dataclasses import replace as with_changes
from datetime import datetime
from pathlib import Path
from typing import IO, Any, LiteralString
from uuid import UUID

import orjson

from whence.errors import BadInput, Conflict, SchemaMismatch, WhenceError
from whence.models import DEFAULT_PROJECT_ID, new_id, now
from whence.store.backup import DUMP, FORMAT, MANIFEST, ORIGINALS, SCHEMAS, Manifest, run_program
from whence.store.inventory import REFERRED, Inventory, StorageId, StoredOriginal, differences
from whence.store.migrations import KNOWN, upgrade
from whence.store.originals import Originals
from whence.store.pool import Database, fields_of, records
from whence.store.storage import belongs_to_another, read_marker, write_marker

CONTENT: LiteralString = """
SELECT EXISTS (SELECT FROM kb.projects WHERE id <> %(default)s) OR EXISTS (SELECT FROM kb.api_keys)
    OR EXISTS (SELECT FROM kb.documents)
"""
OTHERS: LiteralString = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND application_name = 'whence worker'
"""
# psql runs these in the transaction that replaces the database.
_PACKED = "key text, size bigint, sha256 bytea, excused boolean"
_BEFORE = "project_id uuid, key text, noted_at timestamptz, state text, trashed_at timestamptz"
_MARKER = "id uuid, created_at timestamptz"
_CHECK: LiteralString = f"""
DO $$
DECLARE wrong text[];
BEGIN
    SELECT array_agg(r.key ORDER BY r.key) INTO wrong
    FROM ({REFERRED}) r LEFT JOIN pg_temp.whence_packed p ON p.key = r.key
    WHERE NOT coalesce(p.excused, false)
      AND ((r.required AND p.key IS NULL) OR (p.size, p.sha256) <> (r.size, r.sha256));
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION '%: %', cardinality(wrong), array_to_string(wrong[:20], ', ');
    END IF;
END $$;
"""
_CARRY: LiteralString = """
INSERT INTO kb.stored_originals AS o (project_id, key, noted_at, state, trashed_at)
SELECT project_id, key, noted_at, state, trashed_at FROM pg_temp.whence_before
ON CONFLICT (project_id, key) DO UPDATE
SET noted_at = excluded.noted_at, state = excluded.state, trashed_at = excluded.trashed_at
WHERE o.key NOT IN (SELECT key FROM pg_temp.whence_packed WHERE size IS NOT NULL);
"""
_BIND: LiteralString = """
INSERT INTO kb.storage (only_row, id, created_at) SELECT true, id, created_at FROM pg_temp.whence_marker
ON CONFLICT (only_row) DO UPDATE SET id = excluded.id, created_at = excluded.created_at;
"""
_KEY = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(/[0-9A-Za-z_-][0-9A-Za-z._-]*)+")
_CHECK_FILE = "check.sql"
# The first line of a patched pg_restore, which forbids psql's commands such as `\\!`. Text of the dump comes later.
_SCRIPT_HEAD = b"--\n-- PostgreSQL database dump\n--\n\n\\restrict "

Digests = dict[str, tuple[int, bytes]]


async def read(
    file: Path,
    *,
    dsn: str,
    originals: Originals,
    bin_dir: Path | None,
    replace: bool,
    allow_missing: bool = False,
) -> Manifest:
    """Restore as described above. With `allow_missing`, originals may be missing or differ; the manifest names them."""
    try:
        with tarfile.open(file, "r:") as tar, tempfile.TemporaryDirectory(prefix="whence-restore-") as folder:
            async with Database.open(dsn, size=1) as database:
                manifest = _read_manifest(tar, file)
                packed = _list_originals(tar, file)
                await _require_room(database, replace=replace)
                with (Path(folder) / DUMP).open("wb") as dump:
                    shutil.copyfileobj(_open_member(tar, DUMP, file), dump)
                digests = {
                    key: await asyncio.to_thread(_hash_member, tar, info) for key, info in packed.items()
                }
                inventory = Inventory(database)
                bond = await read_marker(originals), await inventory.storage_id()
                source = Path(folder), tar, packed, manifest, digests
                restore = _Restore(dsn, bin_dir, *source, inventory, originals, *bond)
                restore.require_storage()
                return await restore.run(allow_missing=allow_missing)
    except tarfile.TarError as exc:
        raise _not_a_backup(file) from exc
    except OSError as exc:
        raise WhenceError(f"Cannot restore {file}: {exc.strerror or exc}") from exc


async def _require_room(database: Database, *, replace: bool) -> None:
    if await database.value(OTHERS):
        raise Conflict("A server or worker is using the database. Stop it, then restore.")
    if not replace and await database.value(CONTENT, {"default": DEFAULT_PROJECT_ID}):
        raise Conflict(
            "The database holds projects, keys or documents already. --force replaces everything in it."
        )


@dataclass(frozen=True, slots=True)
class _Restore:
    dsn: str
    bin_dir: Path | None
    folder: Path
    tar: tarfile.TarFile
    packed: Mapping[str, tarfile.TarInfo]
    manifest: Manifest
    digests: Digests
    inventory: Inventory
    originals: Originals
    marker: StorageId | None
    own: StorageId | None
    """The storage id of the database before the restore."""

    @property
    def _is_own(self) -> bool:
        """Whether the storage has no marker or that of the database before the restore."""
        return self.marker is None or (self.own is not None and self.own.id == self.marker.id)

    def require_storage(self) -> None:
        if not self._is_own and self.marker and str(self.marker.id) != self.manifest.storage_id:
            raise belongs_to_another(self.originals, self.own, self.marker)

    async def run(self, *, allow_missing: bool) -> Manifest:
        # Originals of the replaced database that the restored one does not need become leftovers.
        before = await self.inventory.all() if self._is_own else []
        there = set(await self.originals.keys())
        await self._replace_database(self.packed.keys() - there, before, allow_missing=allow_missing)
        await self._unpack(self.packed.keys() & there)
        await upgrade(self.dsn)
        return await self._settle(before)

    async def _settle(self, before: list[StoredOriginal]) -> Manifest:
        """Write the storage's marker, and remove restored originals from the trash."""
        wrong = differences(await self.inventory.referred(), self.digests)
        own = await self.inventory.ensure_storage_id()
        if self.marker is None or self.marker.id != own.id:
            await write_marker(self.originals, own)
        for one in before:
            if one.trashed_at is not None and one.key in self.digests:
                await self.originals.delete(one.trash_key)
        return with_changes(self.manifest, missing=tuple(sorted(wrong)))

    async def _replace_database(
        self, added: AbstractSet[str], before: list[StoredOriginal], *, allow_missing: bool
    ) -> None:
        """Write the added originals, then load the database, so that every original exists when its row appears."""
        noted = added - {one.key for one in before}
        await self.inventory.note(sorted(noted))
        try:
            await self._unpack(added)
            await self._load(before, allow_missing=allow_missing)
        except BaseException:
            # Keeps originals that the database references: psql may have committed before it failed.
            needed = {one.key for one in await self.inventory.referred()}
            for key in added - needed:
                await self.originals.delete(key)
            for key in noted - needed:
                await self.inventory.forget(UUID(key.partition("/")[0]), [key])
            raise

    async def _unpack(self, keys: Iterable[str]) -> None:
        for key in keys:
            await self.originals.put(key, _open_content(self.tar, self.packed[key]))

    async def _load(self, before: list[StoredOriginal], *, allow_missing: bool) -> None:
        """Replace the database in one transaction. `pg_restore --clean` cannot drop a table that a newer one references."""
        script = self.folder / "database.sql"
        dump = str(self.folder / DUMP)
        await run_program(self.bin_dir, "pg_restore", "--no-owner", f"--file={script}", dump)
        with script.open("rb") as lines:
            if lines.read(len(_SCRIPT_HEAD)) != _SCRIPT_HEAD:
                raise WhenceError(
                    "This pg_restore is too old to restore safely: a hostile backup could run commands. "
                    "Use PostgreSQL 18, or 15.14, 16.10, 17.6 or newer (WHENCE_POSTGRES_BIN)."
                )
        drop = f"SET client_min_messages = warning; DROP SCHEMA IF EXISTS {', '.join(SCHEMAS)} CASCADE;\n"
        await self._run_psql(
            self._write("first.sql", drop, self._describe_packed()),
            script,
            self._write(_CHECK_FILE, "" if allow_missing else _CHECK),
            self._write("carry.sql", self._rebind_storage(before)),
        )

    async def _run_psql(self, *files: Path) -> None:
        options = ["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--single-transaction"]
        names = [f"--file={file}" for file in files]
        try:
            await run_program(self.bin_dir, "psql", *options, *names, dsn=self.dsn)
        except WhenceError as exc:
            place, _, wrong = exc.message.partition("ERROR:  ")
            if _CHECK_FILE not in place:
                raise
            raise BadInput(
                f"Originals are missing from the backup, or have other content: {wrong}. Nothing was changed. "
                "--allow-missing restores without them."
            ) from exc

    def _write(self, name: str, *statements: str) -> Path:
        file = self.folder / name
        file.write_text("".join(statements), encoding="utf-8")
        return file

    def _describe_packed(self) -> str:
        excused = set(self.manifest.missing)
        found: list[dict[str, Any]] = [
            {"key": key, "size": size, "sha256": f"\\x{sha256.hex()}", "excused": key in excused}
            for key, (size, sha256) in self.digests.items()
        ]
        absent = [{"key": key, "excused": True} for key in sorted(excused - self.digests.keys())]
        return _make_table("whence_packed", _PACKED, found + absent)

    def _rebind_storage(self, before: list[StoredOriginal]) -> str:
        # A new id, unless the storage is that of the replaced database: the database of the backup may still exist, and
        # with the same id both could use one storage and delete each other's originals.
        kept = self.marker if self._is_own else None
        bound_to = kept or StorageId(id=new_id(), created_at=now())
        marker = _make_table("whence_marker", _MARKER, [fields_of(bound_to)])
        carried = _make_table("whence_before", _BEFORE, [one._asdict() for one in before])
        return f"{carried}{_CARRY}{marker}{_BIND}"


def _make_table(name: str, columns: str, rows: list[dict[str, Any]]) -> str:
    """A statement that creates a temporary table. No value contains the delimiter: keys are checked, and Whence makes all other values."""
    return (
        f"CREATE TEMP TABLE {name} ON COMMIT DROP AS\n"
        f"SELECT * FROM json_to_recordset($rows${records(rows)}$rows$) AS r ({columns});\n"
    )


def _read_manifest(tar: tarfile.TarFile, file: Path) -> Manifest:
    try:
        found = orjson.loads(_open_member(tar, MANIFEST, file).read())
        if found["format"] > FORMAT or found["schema"] not in KNOWN:
            raise SchemaMismatch(
                f"{file} was made by Whence {found['whence']}, which is newer than this version. "
                "Upgrade Whence first."
            )
        missing = tuple(found["missing"])
        if found["format"] < FORMAT or not all(map(_KEY.fullmatch, missing)):
            raise _not_a_backup(file)
        created = datetime.fromisoformat(found["created_at"])
        return Manifest(**{**found, "created_at": created, "missing": missing})
    except (TypeError, KeyError, ValueError, AttributeError) as exc:
        raise _not_a_backup(file) from exc


def _list_originals(tar: tarfile.TarFile, file: Path) -> dict[str, tarfile.TarInfo]:
    packed = {
        info.name.removeprefix(ORIGINALS): info
        for info in tar
        if info.isfile() and info.name.startswith(ORIGINALS)
    }
    if not all(map(_KEY.fullmatch, packed)):
        raise _not_a_backup(file)
    return packed


def _hash_member(tar: tarfile.TarFile, info: tarfile.TarInfo) -> tuple[int, bytes]:
    with _open_content(tar, info) as content:
        return info.size, hashlib.file_digest(content, "sha256").digest()


def _open_content(tar: tarfile.TarFile, info: tarfile.TarInfo) -> io.BufferedReader:
    content = tar.extractfile(info)
    assert isinstance(content, io.BufferedReader), "it is a file"
    return content


def _not_a_backup(file: Path) -> BadInput:
    return BadInput(f"{file} is not a backup made by Whence")


def _open_member(tar: tarfile.TarFile, name: str, file: Path) -> IO[bytes]:
    try:
        member = tar.extractfile(name)
    except KeyError:
        member = None
    if member is None:
        raise BadInput(f"{file} is not a backup made by Whence: it has no {name}")
    return member
