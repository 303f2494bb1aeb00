"""Inspects a zip file before it is unpacked: detects its format, encryption and zip bombs."""

import copy
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

from whence.parse.detect import NAMED_ZIPS, ZIP_FOLDERS
from whence.parse.parsed import MEGABYTE, Refused, in_megabytes

_MOST_ENTRIES = 20_000
# Deflate compresses at most 1000:1. Text rarely exceeds 20:1; a sheet of equal rows reaches 100:1.
_MOST_RATIO = 200
_SMALL = 10 * MEGABYTE
_ENCRYPTED = 0x1
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
_NO_LIMIT = 1 << 62
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, OSError, KeyError, NotImplementedError, UnicodeError)


def inspect(path: Path, *, most: int) -> str:
    """The document format, recognised by the file's entries. `most` is the maximum unpacked size of all markup, in bytes."""
    try:
        with zipfile.ZipFile(path) as archive:
            _refuse_encrypted(archive)
            mime = _format(archive)
            _refuse_bombs(archive, most)
    except _BROKEN as exc:
        raise Refused("corrupt", cause=f"{type(exc).__name__}: {exc}") from exc
    return mime


def parts_of(archive: zipfile.ZipFile, name: str) -> list[ET.Element]:
    """The elements of an optional XML part; none if it is missing or damaged."""
    try:
        return list(ET.fromstring(archive.read(name)).iter())  # noqa: S314 - no network, no files, limited memory
    except (KeyError, ET.ParseError):
        return []


def _format(archive: zipfile.ZipFile) -> str:
    said = _read_small(archive, "mimetype").strip().decode(errors="replace")
    if said in NAMED_ZIPS:
        return said
    for folder, mime in ZIP_FOLDERS.items():
        if any(name.startswith(folder) for name in archive.namelist()):
            return mime
    raise Refused("unsupported", "This is a zip archive; send the files in it one by one")


def _refuse_encrypted(archive: zipfile.ZipFile) -> None:
    if (
        any(entry.flag_bits & _ENCRYPTED for entry in archive.infolist())
        or b"encryption-data" in _read_small(archive, "META-INF/manifest.xml")
        # E-books may have encrypted fonts and still be readable; a rights file means that the text is encrypted.
        or "META-INF/rights.xml" in archive.namelist()
    ):
        raise Refused("encrypted")


def _read_small(archive: zipfile.ZipFile, name: str) -> bytes:
    has_it = name in archive.namelist() and archive.getinfo(name).file_size < MEGABYTE
    return archive.read(name) if has_it else b""


def _refuse_bombs(archive: zipfile.ZipFile, most: int) -> None:
    entries, markup = archive.infolist(), 0
    if len(entries) > _MOST_ENTRIES:
        raise Refused("too_large", f"The document has more than {_MOST_ENTRIES} parts")
    for entry in entries:
        room = most - markup if _is_markup(entry.filename) else _NO_LIMIT
        size = 0
        for size in _count_sizes(archive, entry):
            if size > _SMALL and size > entry.compress_size * _MOST_RATIO:
                raise Refused("too_large", "The document is packed so tightly that it looks like a trap")
            if size > room:
                raise Refused("too_large", f"Unpacked, the document is larger than {in_megabytes(most)}")
        markup += size if _is_markup(entry.filename) else 0


def _count_sizes(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Iterator[int]:
    """Yields the declared size, which may be false, then the real size as it is counted."""
    if entry.compress_type not in _METHODS:
        raise Refused("unsupported", "The document is packed in a way that cannot be read")
    yield entry.file_size
    unlimited = copy.copy(entry)
    unlimited.file_size = entry.file_size if entry.compress_type == zipfile.ZIP_STORED else _NO_LIMIT
    size = 0
    with archive.open(unlimited) as part:
        while block := part.read(MEGABYTE):
            size += len(block)
            yield size
    yield size


def _is_markup(name: str) -> bool:
    return name.lower().endswith((".xml", ".rels", ".html", ".xhtml", ".htm", ".opf", ".ncx", ".vml", ".bin"))
