"""The file of a bundle: a tar with lines of JSON, the originals, and a manifest with the hash of each.

    rows/<table>.jsonl        one row per line (store/bundle_rows.py)
    originals/<document>/<n>  a file as it came in
    manifest.json             the last member: a file that was cut off has none

Nothing is unpacked to a path. A tar is not compressed, so that no small file becomes a large one.
"""

import hashlib
import io
import re
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson

from whence.errors import BadInput, SchemaMismatch, WhenceError
from whence.store.bundle_rows import TABLES
from whence.store.migrations import KNOWN

FORMAT = 1
KIND = "whence bundle"
MANIFEST = "manifest.json"
ROWS = "rows/"
ORIGINALS = "originals/"

_MAX_MANIFEST = 256 * 1024 * 1024
_MAX_LINE = 1024 * 1024 * 1024  # what PostgreSQL takes at once
_KEY = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(/[0-9A-Za-z_-][0-9A-Za-z._-]{0,99}){1,3}")
_ROWS = {f"{ROWS}{table}.jsonl" for table in TABLES}


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleMember:
    sha256: str
    size: int
    rows: int | None = None
    """None for an original."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleManifest:
    kind: str = KIND
    format: int = FORMAT
    whence: str
    schema: str
    """The newest migration of the database."""
    created_at: datetime
    project: dict[str, Any]
    embedder: dict[str, Any] | None
    """Provider, model and dimensions of the vectors."""
    members: dict[str, BundleMember] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    """Originals that the storage did not have."""

    @property
    def digest(self) -> str:
        """Identifies the content, whenever it was exported."""
        content = {"project": self.project, "embedder": self.embedder, "members": self.members}
        return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()

    @property
    def counts(self) -> dict[str, int]:
        """Numbers of rows by table, without empty ones, and of originals."""
        rows = {
            name.removeprefix(ROWS).removesuffix(".jsonl"): one.rows for name, one in self.members.items()
        }
        originals = sum(name.startswith(ORIGINALS) for name in self.members)
        return {**{table: count for table, count in rows.items() if count}, "originals": originals}

    def as_json(self) -> bytes:
        return orjson.dumps(asdict(self), option=orjson.OPT_UTC_Z | orjson.OPT_INDENT_2)


@dataclass(frozen=True, slots=True)
class Bundle:
    """An open bundle whose members were checked."""

    tar: tarfile.TarFile
    manifest: BundleManifest
    infos: Mapping[str, tarfile.TarInfo]

    def content(self, name: str) -> io.BufferedReader:
        found = self.tar.extractfile(self.infos[name])
        assert isinstance(found, io.BufferedReader), "it is a file"
        return found

    def lines(self, table: str) -> Iterator[bytes]:
        """The rows of the table. A bundle of an older version may lack the table."""
        name = f"{ROWS}{table}.jsonl"
        if name in self.infos:
            with self.content(name) as content:
                while line := content.readline(_MAX_LINE):
                    if not line.endswith(b"\n"):
                        raise BadInput(f"its {table} are not valid: a line is too long or not ended")
                    yield line[:-1]

    @property
    def originals(self) -> list[str]:
        """Keys of its originals, without the project's id."""
        return [name.removeprefix(ORIGINALS) for name in self.infos if name.startswith(ORIGINALS)]


@contextmanager
def open_bundle(file: Path) -> Iterator[Bundle]:
    """Open a bundle and check all of it. Raises `BadInput` with the reason if it is not a whole bundle."""
    try:
        with tarfile.open(file, "r:") as tar:
            infos = _members(tar)
            manifest = _manifest(tar, infos.pop(MANIFEST, None))
            _check_members(infos, manifest)
            bundle = Bundle(tar, manifest, infos)
            for name, one in manifest.members.items():
                _check_content(bundle, name, one)
            yield bundle
    except tarfile.TarError as exc:
        raise BadInput(f"{file} is not a bundle made by `whence export`") from exc
    except BadInput as exc:
        raise BadInput(f"{file} cannot be imported: {exc.message}. Nothing was changed.") from exc
    except OSError as exc:
        raise WhenceError(f"Cannot read {file}: {exc.strerror or exc}") from exc


def _members(tar: tarfile.TarFile) -> dict[str, tarfile.TarInfo]:
    found: dict[str, tarfile.TarInfo] = {}
    for info in tar:
        if info.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) or info.issparse():
            raise BadInput(f"{info.name!r} in it is not a plain file")
        is_original = info.name.startswith(ORIGINALS) and _KEY.fullmatch(info.name.removeprefix(ORIGINALS))
        if info.name != MANIFEST and info.name not in _ROWS and not is_original:
            raise BadInput(f"it has a member that bundles do not have: {info.name!r}")
        if info.name in found:
            raise BadInput(f"{info.name} is in it twice")
        found[info.name] = info
    return found


def _manifest(tar: tarfile.TarFile, info: tarfile.TarInfo | None) -> BundleManifest:
    if info is None:
        raise BadInput("it has no manifest: it is no bundle, or the end of the file is missing")
    if info.size > _MAX_MANIFEST:
        raise BadInput("its manifest is too large")
    content = tar.extractfile(info)
    try:
        found = orjson.loads(content.read() if content else b"")
        if found["kind"] != KIND:
            raise BadInput("it is not a bundle made by `whence export`")
        if found["format"] != FORMAT or found["schema"] not in KNOWN:
            raise SchemaMismatch(
                f"The bundle was made by Whence {found['whence']}, which is newer than this version. Upgrade Whence first."
            )
        project = {**found["project"], "id": UUID(found["project"]["id"])}
        for name in ("created_at", "updated_at"):
            project[name] = datetime.fromisoformat(project[name])
        members = {name: BundleMember(**one) for name, one in found["members"].items()}
        created = datetime.fromisoformat(found["created_at"])
        return BundleManifest(**{**found, "project": project, "members": members, "created_at": created})
    except (TypeError, KeyError, ValueError, AttributeError) as exc:
        raise BadInput("its manifest is not valid") from exc


def _check_members(infos: Mapping[str, tarfile.TarInfo], manifest: BundleManifest) -> None:
    lacking, more = manifest.members.keys() - infos.keys(), infos.keys() - manifest.members.keys()
    if lacking or more:
        name = min(lacking or more)
        raise BadInput(f"{name} is {'missing from it' if lacking else 'not in its manifest'}")
    if not all(isinstance(key, str) and _KEY.fullmatch(key) for key in manifest.missing):
        raise BadInput("its manifest is not valid")


def _check_content(bundle: Bundle, name: str, one: BundleMember) -> None:
    if bundle.infos[name].size != one.size:
        raise BadInput(f"{name} in it has {bundle.infos[name].size} bytes instead of {one.size}")
    with bundle.content(name) as content:
        if hashlib.file_digest(content, "sha256").hexdigest() != one.sha256:
            raise BadInput(f"{name} in it is not what the manifest says (SHA-256): the file is damaged")
