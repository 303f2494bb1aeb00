"""Writes a backup: one tar file with a manifest, a pg_dump of the database, and the originals of its documents.

The list of originals and the dump come from one snapshot. While a backup runs, no process removes originals
(`BACKUP_LOCK`), so a server may run at the same time.
"""

import asyncio
import hashlib
import io
import os
import tarfile
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import LiteralString

import orjson
import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from whence import __version__
from whence.errors import NotFound, WhenceError
from whence.models import now
from whence.store.inventory import BACKUP_LOCK, REFERRED, SELECT_STORAGE, Referred, differences
from whence.store.migrations import HEAD
from whence.store.originals import Originals
from whence.store.pool import Row, translated
from whence.store.postgres import binaries
from whence.store.storage import name_some

FORMAT = 2

MANIFEST = "manifest.json"
DUMP = "database.dump"
ORIGINALS = "originals/"
SCHEMAS = ("kb", "queue")

COUNTS: LiteralString = """
SELECT (SELECT count(*) FROM kb.projects), (SELECT count(*) FROM kb.documents), (SELECT count(*) FROM kb.chunks)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    format: int
    whence: str
    schema: str
    created_at: datetime
    projects: int
    documents: int
    chunks: int
    originals: int
    storage_id: str | None = None
    """The id of the database's storage; None before the first start."""
    missing: tuple[str, ...] = ()
    """Keys of originals that are missing from the backup or differ from the database's description."""


async def write(
    file: Path, *, dsn: str, originals: Originals, bin_dir: Path | None, allow_missing: bool = False
) -> Manifest:
    """Write to a temporary file first, so that `file` is complete or absent."""
    partial, dump = (file.with_name(file.name + suffix) for suffix in (".partial", ".dump.partial"))
    try:
        for path in (partial, dump):  # 0600: documents, and the hashes of keys
            path.unlink(missing_ok=True)
            path.touch(mode=0o600)
        async with snapshot(dsn) as (conn, name):
            schemas = [f"--schema={name}" for name in SCHEMAS]
            options = ["--format=custom", "--no-owner", f"--snapshot={name}", *schemas, f"--file={dump}"]
            await run_program(bin_dir, "pg_dump", *options, dsn=dsn)
            manifest = await _write_tar(partial, dump, conn, originals, allow_missing=allow_missing)
        await asyncio.to_thread(partial.replace, file)
    except OSError as exc:
        raise WhenceError(f"Cannot write {file}: {exc.strerror or exc}") from exc
    finally:
        for path in (partial, dump):
            path.unlink(missing_ok=True)
    return manifest


@asynccontextmanager
async def snapshot(dsn: str) -> AsyncIterator[tuple[psycopg.AsyncConnection[Row], str]]:
    """Takes the lock before the snapshot, so that no original in the snapshot can be removed."""
    with translated():
        async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as conn:
            await conn.execute("SET idle_in_transaction_session_timeout = 0")
            await conn.execute("SELECT pg_advisory_lock_shared(%s)", [BACKUP_LOCK])
            await conn.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            row = await (await conn.execute("SELECT pg_export_snapshot()")).fetchone()
            assert row is not None, "a function gives one row"
            yield conn, row[0]
            await conn.execute("ROLLBACK")  # fails if the connection, and with it the lock, was lost


async def _write_tar(
    partial: Path,
    dump: Path,
    conn: psycopg.AsyncConnection[Row],
    originals: Originals,
    *,
    allow_missing: bool,
) -> Manifest:
    counts = await (await conn.execute(COUNTS)).fetchone()
    storage = await (await conn.execute(SELECT_STORAGE)).fetchone()
    referred = [Referred(*row) for row in await (await conn.execute(REFERRED)).fetchall()]
    assert counts is not None, "it counts"
    with tarfile.open(partial, "w") as tar:
        tar.add(dump, DUMP)
        packed = {one.key: await pack_original(tar, one.key, originals) for one in referred}
        missing = differences(referred, {key: found for key, found in packed.items() if found})
        if missing and not allow_missing:
            wrong = name_some([f"{key} ({what})" for key, what in missing.items()])
            raise NotFound(
                f"Originals are missing from the storage, or differ from what the database describes ({len(missing)}): "
                f"{wrong}. Nothing was written. --allow-missing writes a backup without them; "
                "`whence doctor --deep` says more.",
                details={"missing": sorted(missing)},
            )
        manifest = Manifest(
            format=FORMAT,
            whence=__version__,
            schema=HEAD,
            created_at=now(),
            projects=counts[0],
            documents=counts[1],
            chunks=counts[2],
            originals=sum(found is not None for found in packed.values()),
            storage_id=None if storage is None else str(storage[0]),
            missing=tuple(sorted(missing)),
        )
        content = orjson.dumps(asdict(manifest), option=orjson.OPT_UTC_Z | orjson.OPT_INDENT_2)
        info = tarfile.TarInfo(MANIFEST)
        info.size = len(content)
        tar.addfile(info, io.BytesIO(content))
    return manifest


async def pack_original(
    tar: tarfile.TarFile, key: str, originals: Originals, *, name: str | None = None
) -> tuple[int, bytes] | None:
    """Return size and hash of the packed original; None if the object does not exist."""
    digest = hashlib.sha256()
    with tempfile.TemporaryFile() as spool:
        try:
            async for part in originals.get(key):
                digest.update(part)
                spool.write(part)
        except NotFound:
            return None
        info = tarfile.TarInfo(name or ORIGINALS + key)
        info.size = spool.tell()
        spool.seek(0)
        tar.addfile(info, spool)
    return info.size, digest.digest()


async def run_program(bin_dir: Path | None, program: str, *options: str, dsn: str | None = None) -> None:
    """Run a PostgreSQL program. The password is passed in the environment, because every user can read command lines."""
    environment = dict(os.environ)
    if dsn is not None:
        parts = conninfo_to_dict(dsn)
        password = parts.pop("password", None)
        if password is not None:
            environment["PGPASSWORD"] = str(password)
        options = (f"--dbname={make_conninfo('', **parts)}", *options)
    process = await asyncio.create_subprocess_exec(
        str(binaries(bin_dir) / program),
        *options,
        env=environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        _, errors = await process.communicate()
    except BaseException:  # also when cancelled: otherwise the program would go on changing the database
        process.kill()
        await process.wait()
        raise
    if process.returncode:
        lines = errors.decode("utf-8", "replace").strip().splitlines()
        raise WhenceError(f"{program} failed: {lines[0] if lines else f'exit code {process.returncode}'}")
