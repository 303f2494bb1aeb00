"""Writes a project to a bundle, from one snapshot of the database. A server may run at the same time.

Keys, endpoints and their secrets belong to the installation and are never in a bundle.
"""

import hashlib
import io
import tarfile
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import IO, LiteralString
from uuid import UUID

import psycopg

from whence import __version__
from whence.errors import NotFound, WhenceError
from whence.models import now
from whence.store.backup import pack_original, snapshot
from whence.store.bundle_rows import SELECT_PROJECT, TABLES, rows_of
from whence.store.inventory import REFERRED, Referred, differences
from whence.store.migrations import HEAD
from whence.store.originals import Originals
from whence.store.pool import Row
from whence.store.storage import name_some
from whence.transfer.bundle_file import MANIFEST, ORIGINALS, ROWS, BundleManifest, BundleMember

CONFIG = (
    "chunking",
    "citationStyle",
    "context",
    "extraction",
    "extractor",
    "footnotes",
    "grounding",
    "language",
    "media",
    "verify",
)
"""The fields of a project's config in a bundle. An explicit list never includes the key of an endpoint."""


async def write_bundle(
    file: Path, project_id: UUID, *, dsn: str, originals: Originals, allow_missing: bool = False
) -> BundleManifest:
    """Write to a temporary file first, so that `file` is complete or absent."""
    partial = file.with_name(file.name + ".partial")
    try:
        partial.unlink(missing_ok=True)
        partial.touch(mode=0o600)
        async with snapshot(dsn) as (conn, _):
            await conn.execute("SET LOCAL timezone = 'UTC'")
            with tarfile.open(partial, "w") as tar:
                manifest = await _pack(tar, conn, project_id, originals, allow_missing=allow_missing)
        partial.replace(file)
    except OSError as exc:
        raise WhenceError(f"Cannot write {file}: {exc.strerror or exc}") from exc
    finally:
        partial.unlink(missing_ok=True)
    return manifest


async def _pack(
    tar: tarfile.TarFile,
    conn: psycopg.AsyncConnection[Row],
    project_id: UUID,
    originals: Originals,
    *,
    allow_missing: bool,
) -> BundleManifest:
    manifest, space_id = await _describe(conn, project_id)
    members = {
        f"{ROWS}{table}.jsonl": await _pack_rows(tar, conn, table, project_id, space_id) for table in TABLES
    }
    packed, missing = await _pack_originals(tar, conn, project_id, originals)
    if missing and not allow_missing:
        wrong = name_some([f"{key} ({what})" for key, what in missing.items()])
        raise NotFound(
            f"Originals are missing from the storage, or not as the database describes them ({len(missing)}): {wrong}. "
            "Nothing was written. --allow-missing writes a bundle without them.",
            details={"missing": sorted(missing)},
        )
    manifest = replace(manifest, members={**members, **packed}, missing=sorted(missing))
    _add(tar, MANIFEST, io.BytesIO(manifest.as_json()))
    return manifest


async def _describe(
    conn: psycopg.AsyncConnection[Row], project_id: UUID
) -> tuple[BundleManifest, UUID | None]:
    row = await (await conn.execute(SELECT_PROJECT, {"project_id": project_id})).fetchone()
    assert row is not None, "the caller found it"
    ident, name, description, config, created_at, updated_at, space_id, *embedder = row
    project = {
        "id": ident,
        "name": name,
        "description": description,
        "config": {key: config[key] for key in CONFIG if config.get(key) is not None},
        "created_at": created_at,
        "updated_at": updated_at,
    }
    space = dict(zip(("provider", "model", "dimensions"), embedder, strict=True)) if space_id else None
    described = BundleManifest(
        whence=__version__, schema=HEAD, created_at=now(), project=project, embedder=space
    )
    return described, space_id


async def _pack_rows(
    tar: tarfile.TarFile,
    conn: psycopg.AsyncConnection[Row],
    table: LiteralString,
    project_id: UUID,
    space_id: UUID | None,
) -> BundleMember:
    digest, count = hashlib.sha256(), 0
    with tempfile.TemporaryFile() as spool:
        async for row in rows_of(conn, table, project_id, space_id):
            line = row.encode() + b"\n"
            digest.update(line)
            spool.write(line)
            count += 1
        size = _add(tar, f"{ROWS}{table}.jsonl", spool)
    return BundleMember(sha256=digest.hexdigest(), size=size, rows=count)


async def _pack_originals(
    tar: tarfile.TarFile, conn: psycopg.AsyncConnection[Row], project_id: UUID, originals: Originals
) -> tuple[dict[str, BundleMember], dict[str, str]]:
    """The members, and the faults of originals by key."""
    prefix = f"{project_id}/"
    rows = await (await conn.execute(REFERRED)).fetchall()
    referred = sorted(Referred(*row) for row in rows if row[0].startswith(prefix))
    members, found = {}, {}
    for one in {one.key: one for one in referred}.values():
        key = one.key.removeprefix(prefix)
        if kept := await pack_original(tar, one.key, originals, name=ORIGINALS + key):
            found[one.key] = kept
            members[ORIGINALS + key] = BundleMember(sha256=kept[1].hex(), size=kept[0])
    wrong = differences(referred, found)
    return members, {key.removeprefix(prefix): what for key, what in wrong.items()}


def _add(tar: tarfile.TarFile, name: str, spool: IO[bytes]) -> int:
    info = tarfile.TarInfo(name)
    info.size = spool.seek(0, io.SEEK_END)
    spool.seek(0)
    tar.addfile(info, spool)
    return info.size
