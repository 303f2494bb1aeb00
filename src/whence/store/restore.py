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
import re
import shutil
import tarfile
import tempfile
from collections.abc import Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from dataclasses import replace as with_changes
from datetime import datetime
from pathlib import Path
from typing import IO, LiteralString
from uuid import UUID

import orjson
import psycopg

from whence.errors import BadInput, Conflict, SchemaMismatch, WhenceError
from whence.models import DEFAULT_PROJECT_ID, new_id, now
from whence.store.backup import (
    DUMP,
    FORMAT,
    MANIFEST,
    ORIGINALS,
    SCHEMAS,
    Manifest,
    run_program,
)
from whence.store.inventory import Inventory, StorageId, StoredOriginal
from whence.store.migrations import upgrade
from whence.store.migrations.run import KNOWN
from whence.store.originals import Originals
from whence.store.pool import Database, Params, Row, translated
from whence.store.references import REFERRED, Referred, differences
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
_PACKED: LiteralString = """
CREATE TEMP TABLE whence_packed (key text PRIMARY KEY, size bigint, sha256 bytea, excused boolean) ON COMMIT DROP;
COPY pg_temp.whence_packed FROM STDIN;
"""
_BEFORE: LiteralString = """
CREATE TEMP TABLE whence_before (project_id uuid, key text, noted_at timestamptz, state text, trashed_at timestamptz)
ON COMMIT DROP;
COPY pg_temp.whence_before FROM STDIN;
"""
_CHECK: LiteralString = f"""
DO $$
DECLARE wrong text[];
BEGIN
    SELECT array_agg(r.key ORDER BY r.key) INTO wrong
    FROM ({REFERRED}) r LEFT JOIN pg_temp.whence_packed p ON p.key = r.key
    WHERE NOT coalesce(p.excused, false)
      AND ((r.required AND p.key IS NULL) OR (p.size, p.sha256) <> (r.size, r.sha256));
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION '% of documents: %', cardinality(wrong), array_to_string(wrong[:20], ', ');
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
_MARKER: LiteralString = """
CREATE TEMP TABLE whence_marker (id uuid, created_at timestamptz) ON COMMIT DROP;
COPY pg_temp.whence_marker FROM STDIN;
"""
_NULL = "\\N"
_END_OF_ROWS = "\\.\n"

_HAS_ORIGINALS, _HAS_INVENTORY = "0002", "0011"
_KEY = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(/[0-9A-Za-z._-]+)+")
_CHECK_FILE = "check.sql"
_BUFFER = 1 << 20

Digests = dict[str, tuple[int, bytes]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    """The storage that a backup is restored into."""

    originals: Originals
    marker: StorageId | None
    bound_to: StorageId | None
    """The storage id of the restored database; None for the backup's own."""
    before: list[StoredOriginal]
    """The inventory before the restore. Originals that the restored database does not need become leftovers."""


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
            manifest = _manifest(tar, file)
            packed = _packed_originals(tar, file)
            await _require_room(dsn, replace=replace)
            target = await _target(dsn, originals, manifest)
            _extract_dump(tar, file, Path(folder) / DUMP)
            digests = await asyncio.to_thread(_digests, tar, packed)
            loading = _Loading(dsn, bin_dir, Path(folder), manifest, target, digests)
            there = {key async for key, _ in originals.keys()}  # noqa: SIM118 - not a dict
            await _replace_database(tar, packed, there, loading, allow_missing=allow_missing)
            await _unpack(tar, packed, packed.keys() & there, originals)
            await loading.finish()
    except tarfile.TarError as exc:
        raise _not_a_backup(file) from exc
    except OSError as exc:
        raise WhenceError(f"Cannot restore {file}: {exc.strerror or exc}") from exc
    return await _settle(dsn, target, manifest, digests)


async def _settle(dsn: str, target: _Target, manifest: Manifest, digests: Digests) -> Manifest:
    """Write the storage's marker, and remove restored originals from the trash."""
    wrong = differences(await _referred(dsn), digests)
    async with Database.open(dsn, size=1) as database:
        own = await Inventory(database).ensure_storage_id()
        await Inventory(database).note(sorted(digests))  # a backup of format 1 may hold leftovers
    if target.marker is None or target.marker.id != own.id:
        await write_marker(target.originals, own)
    for one in target.before:
        if one.trashed_at is not None and one.key in digests:
            await target.originals.delete(one.trash_key)
    return with_changes(manifest, missing=tuple(sorted(wrong)))


async def _target(dsn: str, originals: Originals, manifest: Manifest) -> _Target:
    marker = await read_marker(originals)
    async with Database.open(dsn, size=1) as database:
        own = await Inventory(database).storage_id()
        is_own = marker is None or (own is not None and own.id == marker.id)
        if not is_own and marker is not None and str(marker.id) != manifest.storage_id:
            raise belongs_to_another(originals, None if own is None else own.id, marker)
        before = await Inventory(database).all() if is_own else []
    # A storage taken over from the backup's database gets a new id: that database may still exist, and with the same id
    # both would use the storage and delete each other's originals.
    bound_to = marker if is_own else StorageId(id=new_id(), created_at=now())
    return _Target(originals=originals, marker=marker, bound_to=bound_to, before=before)


@dataclass(frozen=True, slots=True)
class _Loading:
    """Loads the database of a backup."""

    dsn: str
    bin_dir: Path | None
    folder: Path
    manifest: Manifest
    target: _Target
    digests: Digests

    async def load(self, *, allow_missing: bool) -> None:
        """Replace the database in one transaction. `pg_restore --clean` cannot drop a table that a newer one references."""
        script = self.folder / "database.sql"
        dump = str(self.folder / DUMP)
        await run_program(self.bin_dir, "pg_restore", "--no-owner", f"--file={script}", dump)
        drop = f"SET client_min_messages = warning; DROP SCHEMA IF EXISTS {', '.join(SCHEMAS)} CASCADE;\n"
        is_checked = not allow_missing and self.manifest.schema >= _HAS_ORIGINALS
        await self._psql(
            self._write("first.sql", drop, self._packed()),
            script,
            self._write(_CHECK_FILE, _CHECK if is_checked else ""),
            self._write("carry.sql", self._carried() if self._has_inventory else ""),
        )

    async def finish(self) -> None:
        """Migrate an older database, and fill its inventory if the backup had none."""
        await upgrade(self.dsn)
        if not self._has_inventory:
            await self._psql(self._write("carry.sql", self._packed(), self._carried()))

    @property
    def _has_inventory(self) -> bool:
        return self.manifest.schema >= _HAS_INVENTORY

    async def _psql(self, *files: Path) -> None:
        options = ["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--single-transaction"]
        names = [f"--file={file}" for file in files]
        try:
            await run_program(self.bin_dir, "psql", *options, *names, dsn=self.dsn)
        except WhenceError as exc:
            place, _, wrong = exc.message.partition("ERROR:  ")
            if _CHECK_FILE not in place:
                raise
            raise BadInput(
                f"The backup lacks originals, or has them with other content: {wrong}. Nothing was changed. "
                "--allow-missing restores without them."
            ) from exc

    def _write(self, name: str, *statements: str) -> Path:
        file = self.folder / name
        file.write_text("".join(statements), encoding="utf-8")
        return file

    def _packed(self) -> str:
        excused = set(self.manifest.missing)
        rows = [
            f"{key}\t{size}\t\\\\x{sha256.hex()}\t{key in excused}\n"
            for key, (size, sha256) in self.digests.items()
        ]
        rows += [f"{key}\t{_NULL}\t{_NULL}\ttrue\n" for key in sorted(excused - self.digests.keys())]
        return "".join([_PACKED, *rows, _END_OF_ROWS])

    def _carried(self) -> str:
        rows = [
            f"{one.project_id}\t{one.key}\t{one.noted_at.isoformat()}\t{one.state}\t"
            f"{one.trashed_at.isoformat() if one.trashed_at else _NULL}\n"
            for one in self.target.before
        ]
        own = self.target.bound_to
        bound = [] if own is None else [f"{own.id}\t{own.created_at.isoformat()}\n"]
        return "".join([_BEFORE, *rows, _END_OF_ROWS, _CARRY, _MARKER, *bound, _END_OF_ROWS, _BIND])


async def _replace_database(
    tar: tarfile.TarFile,
    packed: Mapping[str, tarfile.TarInfo],
    there: Collection[str],
    loading: _Loading,
    *,
    allow_missing: bool,
) -> None:
    """Write the missing originals, then load the database, so that every original exists when its row appears."""
    target = loading.target
    added = packed.keys() - there
    noted = added - {one.key for one in target.before}
    async with Database.open(loading.dsn, size=1) as database:
        await Inventory(database).note(sorted(noted))
    try:
        await _unpack(tar, packed, added, target.originals)
        await loading.load(allow_missing=allow_missing)
    except BaseException:
        await _take_back(loading.dsn, target.originals, added, noted)
        raise


async def _take_back(
    dsn: str, originals: Originals, added: AbstractSet[str], noted: AbstractSet[str]
) -> None:
    """Remove the added originals that the database does not reference: psql may have committed before it failed."""
    needed = {one.key for one in await _referred(dsn)}
    for key in added - needed:
        await originals.delete(key)
    async with Database.open(dsn, size=1) as database:
        for key in noted - needed:
            await Inventory(database).forget(UUID(key.partition("/")[0]), [key])


def _manifest(tar: tarfile.TarFile, file: Path) -> Manifest:
    try:
        found = orjson.loads(_member(tar, MANIFEST, file).read())
        if found["format"] > FORMAT or found["schema"] not in KNOWN:
            raise SchemaMismatch(
                f"{file} was made by Whence {found['whence']}, which is newer than this version. "
                "Upgrade Whence first."
            )
        missing = tuple(found.get("missing", ()))
        if not all(map(_KEY.fullmatch, missing)):
            raise _not_a_backup(file)
        created = datetime.fromisoformat(found["created_at"])
        return Manifest(**{**found, "created_at": created, "missing": missing})
    except (TypeError, KeyError, ValueError, AttributeError) as exc:
        raise _not_a_backup(file) from exc


async def _require_room(dsn: str, *, replace: bool) -> None:
    if (await _ask(dsn, OTHERS))[0][0]:
        raise Conflict("A server or worker is using the database. Stop it, then restore.")
    if not replace and (await _ask(dsn, CONTENT, {"default": DEFAULT_PROJECT_ID}))[0][0]:
        raise Conflict(
            "The database holds projects, keys or documents already. --force replaces everything in it."
        )


async def _referred(dsn: str) -> list[Referred]:
    return [Referred(*row) for row in await _ask(dsn, REFERRED)]


async def _ask(dsn: str, query: LiteralString, params: Params | None = None) -> list[Row]:
    with translated():
        async with await psycopg.AsyncConnection.connect(dsn) as conn:
            return await (await conn.execute(query, params)).fetchall()


def _packed_originals(tar: tarfile.TarFile, file: Path) -> dict[str, tarfile.TarInfo]:
    """Originals by key. Other objects, which format 1 may hold, are left out."""
    packed = {
        info.name.removeprefix(ORIGINALS): info
        for info in tar
        if info.isfile() and info.name.startswith(ORIGINALS)
    }
    if any(part in ("", ".", "..") for key in packed for part in key.split("/")):
        raise _not_a_backup(file)
    return {key: info for key, info in packed.items() if _KEY.fullmatch(key)}


def _extract_dump(tar: tarfile.TarFile, file: Path, dump: Path) -> None:
    with dump.open("wb") as out:
        shutil.copyfileobj(_member(tar, DUMP, file), out)


def _digests(tar: tarfile.TarFile, packed: Mapping[str, tarfile.TarInfo]) -> Digests:
    return {key: _digest(tar, info) for key, info in packed.items()}


def _digest(tar: tarfile.TarFile, info: tarfile.TarInfo) -> tuple[int, bytes]:
    digest, size = hashlib.sha256(), 0
    content = tar.extractfile(info)
    while content is not None and (part := content.read(_BUFFER)):
        digest.update(part)
        size += len(part)
    return size, digest.digest()


async def _unpack(
    tar: tarfile.TarFile, packed: Mapping[str, tarfile.TarInfo], keys: Iterable[str], originals: Originals
) -> None:
    for key in keys:
        content = tar.extractfile(packed[key])
        if content is not None:
            await originals.put(key, content)


def _not_a_backup(file: Path) -> BadInput:
    return BadInput(f"{file} is not a backup made by Whence")


def _member(tar: tarfile.TarFile, name: str, file: Path) -> IO[bytes]:
    try:
        member = tar.extractfile(name)
    except KeyError:
        member = None
    if member is None:
        raise BadInput(f"{file} is not a backup made by Whence: it has no {name}")
    return member
