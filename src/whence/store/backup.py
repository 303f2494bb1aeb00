"""Everything in one tar file: a manifest, a dump of the database by pg_dump, and the originals."""

import asyncio
import io
import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, LiteralString

import orjson
import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from whence import __version__
from whence.errors import BadInput, Conflict, NotFound, SchemaMismatch, WhenceError
from whence.store.migrations import HEAD, upgrade
from whence.store.migrations.run import KNOWN
from whence.store.originals import Originals
from whence.store.pool import Params, Row, translated
from whence.store.postgres import binaries
from whence.types import DEFAULT_PROJECT_ID, now

_FORMAT = 1
_MANIFEST = "manifest.json"
_DUMP = "database.dump"
_ORIGINALS = "originals/"
_SCHEMAS = ("kb", "queue")

COUNTS: LiteralString = """
SELECT (SELECT count(*) FROM kb.projects), (SELECT count(*) FROM kb.documents), (SELECT count(*) FROM kb.chunks)
"""
CONTENT: LiteralString = """
SELECT EXISTS (SELECT FROM kb.projects WHERE id <> %(default)s) OR EXISTS (SELECT FROM kb.api_keys)
    OR EXISTS (SELECT FROM kb.documents)
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
            counts = await _ask(dsn, COUNTS)
            schemas = [f"--schema={name}" for name in _SCHEMAS]
            options = ["--format=custom", "--no-owner", *schemas, f"--file={dump}"]
            await _run(bin_dir, "pg_dump", *options, dsn=dsn)
            partial.unlink(missing_ok=True)
            partial.touch(mode=0o600)  # all that is known, and the hashes of keys
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
    """The database in one transaction: what it refers to is there when it appears, and all the old until then."""
    try:
        with tarfile.open(file, "r:") as tar, tempfile.TemporaryDirectory(prefix="whence-restore-") as folder:
            manifest = _manifest(tar, file)
            packed = _packed_originals(tar, file)
            await _require_room(dsn, replace=replace)
            dump = Path(folder) / _DUMP
            with dump.open("wb") as out:
                shutil.copyfileobj(_member(tar, _DUMP, file), out)
            kept = {key async for key, _size in originals.keys()}  # noqa: SIM118 - not a dict
            added = packed.keys() - kept
            try:
                await _unpack(tar, packed, added, originals)
                await _load(dump, dsn=dsn, bin_dir=bin_dir)
            except BaseException:
                for key in added:
                    await originals.delete(key)
                raise
            await _unpack(tar, packed, packed.keys() & kept, originals)
    except tarfile.TarError as exc:
        raise _not_a_backup(file) from exc
    except OSError as exc:
        raise WhenceError(f"Cannot restore {file}: {exc.strerror or exc}") from exc
    await upgrade(dsn)
    return manifest


def _manifest(tar: tarfile.TarFile, file: Path) -> Manifest:
    try:
        found = orjson.loads(_member(tar, _MANIFEST, file).read())
        if found["format"] > _FORMAT or found["schema"] not in KNOWN:
            raise SchemaMismatch(
                f"{file} was made by Whence {found['whence']}, which is newer than this version. "
                "Upgrade Whence first."
            )
        return Manifest(**{**found, "created_at": datetime.fromisoformat(found["created_at"])})
    except (TypeError, KeyError, ValueError) as exc:
        raise _not_a_backup(file) from exc


async def _require_room(dsn: str, *, replace: bool) -> None:
    if (await _ask(dsn, OTHERS))[0]:
        raise Conflict("A server or worker is using the database. Stop it, then restore.")
    if not replace and (await _ask(dsn, CONTENT, {"default": DEFAULT_PROJECT_ID}))[0]:
        raise Conflict(
            "The database holds projects, keys or documents already. --force replaces everything in it."
        )


async def _ask(dsn: str, query: LiteralString, params: Params | None = None) -> Row:
    with translated():
        async with await psycopg.AsyncConnection.connect(dsn) as conn:
            row = await (await conn.execute(query, params)).fetchone()
    assert row is not None, "these queries give one row"  # noqa: S101
    return row


async def _pack_originals(tar: tarfile.TarFile, originals: Originals) -> int:
    kept = 0
    async for key, _size in originals.keys():
        with tempfile.TemporaryFile() as spool:
            try:
                async for part in originals.get(key):
                    spool.write(part)
            except NotFound:  # deleted since it was listed, by a server that goes on running
                continue
            info = tarfile.TarInfo(_ORIGINALS + key)
            info.size = spool.tell()
            spool.seek(0)
            tar.addfile(info, spool)
        kept += 1
    return kept


def _packed_originals(tar: tarfile.TarFile, file: Path) -> dict[str, tarfile.TarInfo]:
    """The originals by their keys, none of which leads out of where originals are kept."""
    packed = {
        info.name.removeprefix(_ORIGINALS): info
        for info in tar
        if info.isfile() and info.name.startswith(_ORIGINALS)
    }
    if any(part in ("", ".", "..") for key in packed for part in key.split("/")):
        raise _not_a_backup(file)
    return packed


async def _unpack(
    tar: tarfile.TarFile, packed: Mapping[str, tarfile.TarInfo], keys: Iterable[str], originals: Originals
) -> None:
    for key in keys:
        content = tar.extractfile(packed[key])
        if content is not None:
            await originals.put(key, content)


def _not_a_backup(file: Path) -> BadInput:
    return BadInput(f"{file} is not a backup made by Whence")


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


async def _load(dump: Path, *, dsn: str, bin_dir: Path | None) -> None:
    """In one transaction. Not by `pg_restore --clean`: that cannot drop what refers to a table and was added since."""
    script = dump.with_suffix(".sql")
    await _run(bin_dir, "pg_restore", "--no-owner", f"--file={script}", str(dump))
    drop = f"SET client_min_messages = warning; DROP SCHEMA IF EXISTS {', '.join(_SCHEMAS)} CASCADE"
    options = ["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--single-transaction"]
    await _run(bin_dir, "psql", *options, f"--command={drop}", f"--file={script}", dsn=dsn)


async def _run(bin_dir: Path | None, program: str, *options: str, dsn: str | None = None) -> None:
    """The password goes by the environment: a command line can be read by everyone on the machine."""
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
    _, errors = await process.communicate()
    if process.returncode:
        lines = errors.decode("utf-8", "replace").strip().splitlines()
        raise WhenceError(f"{program} failed: {lines[0] if lines else f'exit code {process.returncode}'}")
