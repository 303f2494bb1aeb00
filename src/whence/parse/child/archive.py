"""Inspects a zip file before it is unpacked: its format, encryption and zip bombs."""

import copy
import zipfile
import zlib
from pathlib import Path

from whence.parse.detect import DOCX, EPUB, ODT, PPTX, XLSX
from whence.parse.errors import Refused
from whence.parse.limits import MEGABYTE, in_megabytes

_PARTS = {"word/": DOCX, "ppt/": PPTX, "xl/": XLSX}
_MIMETYPES = {ODT.encode(): ODT, EPUB.encode(): EPUB}
_MOST_ENTRIES = 20_000
# Deflate compresses at most 1000:1. Text rarely exceeds 20:1; a sheet of equal rows reaches 100:1.
_MOST_RATIO = 200
_SMALL = 10 * MEGABYTE
_ENCRYPTED = 0x1
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
_NO_LIMIT = 1 << 62
_CORRUPT = "The document is damaged or not complete"


def inspect(path: Path, *, most: int) -> str:
    """The format by the file's entries. `most` is the maximum unpacked size of all markup, in bytes."""
    try:
        with zipfile.ZipFile(path) as archive:
            _refuse_encrypted(archive)
            mime = _format(archive)
            _refuse_bombs(archive, most)
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        OSError,
        KeyError,
        NotImplementedError,
        UnicodeError,
    ) as exc:
        raise Refused("corrupt", _CORRUPT, cause=f"{type(exc).__name__}: {exc}") from exc
    return mime


def _format(archive: zipfile.ZipFile) -> str:
    names = archive.namelist()
    if "mimetype" in names and archive.getinfo("mimetype").file_size < MEGABYTE:
        mime = _MIMETYPES.get(archive.read("mimetype").strip())
        if mime is not None:
            return mime
    for folder, mime in _PARTS.items():
        if any(name.startswith(folder) for name in names):
            return mime
    raise Refused("unsupported", "This is a zip archive; send the files in it one by one")


def _refuse_encrypted(archive: zipfile.ZipFile) -> None:
    encrypted = any(entry.flag_bits & _ENCRYPTED for entry in archive.infolist())
    names = archive.namelist()
    if "META-INF/manifest.xml" in names and archive.getinfo("META-INF/manifest.xml").file_size < MEGABYTE:
        encrypted = encrypted or b"encryption-data" in archive.read("META-INF/manifest.xml")
    # E-books may have encrypted fonts and still be readable; a rights file means that the text is encrypted.
    if encrypted or "META-INF/rights.xml" in names:
        raise Refused("encrypted", "The document is protected by a password; remove it and try again")


def _refuse_bombs(archive: zipfile.ZipFile, most: int) -> None:
    entries = archive.infolist()
    if len(entries) > _MOST_ENTRIES:
        raise Refused("too_large", f"The document has more than {_MOST_ENTRIES} parts")
    markup = 0
    for entry in entries:
        size = max(entry.file_size, 0)
        _refuse_ratio(entry, size)
        is_markup = _is_markup(entry.filename)
        if is_markup and markup + size > most:
            raise _too_large(most)
        # The declared size may be false, so count.
        room = most - markup if is_markup else _NO_LIMIT
        real = _real_size(archive, entry, room)
        markup += real if is_markup else 0
        if markup > most:
            raise _too_large(most)


def _real_size(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, room: int) -> int:
    if entry.compress_type not in _METHODS:
        raise Refused("unsupported", "The document is packed in a way that cannot be read")
    unlimited = copy.copy(entry)
    unlimited.file_size = entry.file_size if entry.compress_type == zipfile.ZIP_STORED else _NO_LIMIT
    size = 0
    with archive.open(unlimited) as part:
        while block := part.read(MEGABYTE):
            size += len(block)
            _refuse_ratio(entry, size)
            if size > room:
                break
    return size


def _refuse_ratio(entry: zipfile.ZipInfo, size: int) -> None:
    if size > _SMALL and size > entry.compress_size * _MOST_RATIO:
        raise Refused("too_large", "The document is packed so tightly that it looks like a trap")


def _too_large(most: int) -> Refused:
    return Refused("too_large", f"Unpacked, the document is larger than {in_megabytes(most)}")


def _is_markup(name: str) -> bool:
    return name.lower().endswith((".xml", ".rels", ".html", ".xhtml", ".htm", ".opf", ".ncx", ".vml", ".bin"))
