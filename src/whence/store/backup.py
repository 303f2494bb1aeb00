"""Everything in one tar file: a manifest, a dump of the database by pg_dump, and the originals."""

import asyncio
import io
import os
import shutil
import tarfile
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, LiteralString

import orjson
import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from whence import __version__
from whence.errors import BadInput, Conflict, SchemaMismatch, WhenceError
from whence.store.migrations import HEAD, upgrade
from whence.store.migrations.run import KNOWN
from whence.store.originals import Originals
from whence.store.postgres import binaries
from whence.types import now

_FORMAT = 1
_MANIFEST = "manifest.json"
_DUMP = "database.dump"
_ORIGINALS = "originals/"
_SCHEMAS = ("kb", "queue")

COUNTS: LiteralString = """
SELECT (SELECT count(*) FROM kb.projects), (SELECT count(*) FROM kb.documents), (SELECT count(*) FROM kb.chunks)
"""
OTHERS: LiteralString = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND application_name = 'whence worker'
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    format: int
    whence: str
    """The version of Whence that wrote it."""
    schema: str
    created_at: datetime
    projects: int
    documents: int
    chunks: int
    originals: int


async def write(file: Path, *, dsn: str, originals: Originals, bin_dir: Path | None) -> Manifest:
    """To a file beside `file` first, so that `file` is whole or not there."""
    partial = file.with_name(file.name + ".partial")
    try:
        with tempfile.TemporaryDirectory(dir=file.parent, prefix=".whence-backup-") as folder:
            dump = Path(folder) / _DUMP
            counts = await _counts(dsn)
            schemas = [f"--schema={name}" for name in _SCHEMAS]
            await _run(bin_dir, "pg_dump", dsn, ["--format=custom", "--no-owner", *schemas, f"--file={dump}"])
            with tarfile.open(partial, "w") as tar:
                tar.add(dump, _DUMP)
                kept = await _pack_originals(tar, originals)
                manifest = Manifest(
                    format=_FORMAT,
                    whence=__version__,
                    schema=HEAD,
                    created_at=now(),
                    projects=counts[0],
                    documents=counts[1],
                    chunks=counts[2],
                    originals=kept,
                )
                content = orjson.dumps(asdict(manifest), option=orjson.OPT_UTC_Z | orjson.OPT_INDENT_2)
                _pack(tar, _MANIFEST, content)
        await asyncio.to_thread(partial.replace, file)
    except OSError as exc:
        raise WhenceError(f"Cannot write {file}: {exc.strerror or exc}") from exc
    finally:
        partial.unlink(missing_ok=True)
    return manifest


async def read(
    file: Path, *, dsn: str, originals: Originals, bin_dir: Path | None, replace: bool
) -> Manifest:
    """Originals first, then the database in one transaction: what it refers to is there when it appears."""
    try:
        with tarfile.open(file, "r") as tar, tempfile.TemporaryDirectory(prefix="whence-restore-") as folder:
            manifest = _manifest(tar, file)
            await _require_room(dsn, replace=replace)
            dump = Path(folder) / _DUMP
            with dump.open("wb") as out:
                shutil.copyfileobj(_member(tar, _DUMP, file), out)
            await _unpack_originals(tar, originals)
            # --clean in a single transaction: until it commits, the old content is all there.
            options = ["--clean", "--if-exists", "--single-transaction", "--no-owner", str(dump)]
            await _run(bin_dir, "pg_restore", dsn, options)
    except tarfile.TarError as exc:
        raise BadInput(f"{file} is not a backup made by Whence") from exc
    await upgrade(dsn)
    return manifest


def _manifest(tar: tarfile.TarFile, file: Path) -> Manifest:
    try:
        found = orjson.loads(_member(tar, _MANIFEST, file).read())
        manifest = Manifest(**{**found, "created_at": datetime.fromisoformat(found["created_at"])})
    except (orjson.JSONDecodeError, TypeError, KeyError, ValueError) as exc:
        raise BadInput(f"{file} is not a backup made by Whence") from exc
    if manifest.format != _FORMAT or manifest.schema not in KNOWN:
        raise SchemaMismatch(
            f"{file} was made by Whence {manifest.whence}, which is newer than this version. Upgrade Whence first."
        )
    return manifest


async def _require_room(dsn: str, *, replace: bool) -> None:
    async with await psycopg.AsyncConnection.connect(dsn) as conn:
        busy = await (await conn.execute(OTHERS)).fetchone()
    if busy and busy[0]:
        raise Conflict("A server or worker is using the database. Stop it, then restore.")
    if not replace and (await _counts(dsn))[1]:
        raise Conflict("The database holds documents already. --force replaces everything in it.")


async def _counts(dsn: str) -> tuple[int, int, int]:
    async with await psycopg.AsyncConnection.connect(dsn) as conn:
        row = await (await conn.execute(COUNTS)).fetchone()
    return row or (0, 0, 0)


async def _pack_originals(tar: tarfile.TarFile, originals: Originals) -> int:
    kept = 0
    async for key, _size in originals.keys():
        with tempfile.TemporaryFile() as spool:
            async for part in originals.get(key):
                spool.write(part)
            info = tarfile.TarInfo(_ORIGINALS + key)
            info.size = spool.tell()
            spool.seek(0)
            tar.addfile(info, spool)
        kept += 1
    return kept


async def _unpack_originals(tar: tarfile.TarFile, originals: Originals) -> None:
    for info in tar:
        if info.isfile() and info.name.startswith(_ORIGINALS):
            content = tar.extractfile(info)
            if content is not None:
                await originals.put(info.name.removeprefix(_ORIGINALS), content)


def _pack(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    tar.addfile(info, io.BytesIO(content))


def _member(tar: tarfile.TarFile, name: str, file: Path) -> IO[bytes]:
    try:
        member = tar.extractfile(name)
    except KeyError:
        member = None
    if member is None:
        raise BadInput(f"{file} is not a backup made by Whence: it has no {name}")
    return member


async def _run(bin_dir: Path | None, program: str, dsn: str, options: Sequence[str]) -> None:
    """The password goes by the environment: a command line can be read by everyone on the machine."""
    parts = conninfo_to_dict(dsn)
    password = parts.pop("password", None)
    environment = dict(os.environ)
    if password is not None:
        environment["PGPASSWORD"] = str(password)
    process = await asyncio.create_subprocess_exec(
        str(binaries(bin_dir) / program),
        f"--dbname={make_conninfo('', **parts)}",
        *options,
        env=environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    _, errors = await process.communicate()
    if process.returncode:
        lines = errors.decode("utf-8", "replace").strip().splitlines()
        raise WhenceError(f"{program} failed: {lines[0] if lines else f'exit code {process.returncode}'}")
