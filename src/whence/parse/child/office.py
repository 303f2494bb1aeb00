"""Word, PowerPoint, Excel, OpenDocument and RTF."""

import io
import re
import zipfile
from pathlib import Path

from whence.models import Page
from whence.parse.child.kreuzberg import extract
from whence.parse.child.markdown import unescaped
from whence.parse.detect import DOCX, ODT, PPTX, RTF, XLSX
from whence.parse.pages import join_pages

_MARK = re.compile("\ue000\\d+\ue000")
# Pictures and embedded files may be large, and no text is read from them.
_NOT_READ = ("word/media/", "word/embeddings/")
# The remains of an empty slide.
_RULE = re.compile(r"[\s-]*")
_REFERENCE = re.compile(rb"&(amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9A-Fa-f]{1,6});")
_NAMED = {b"amp": "&", b"lt": "<", b"gt": ">", b"quot": '"', b"apos": "'"}
# Placeholders for markup characters: Unicode reserves these for use inside one program.
_STAND_INS = {character: chr(0xFDD0 + number) for number, character in enumerate("&<>\"'")}
_BACK = {ord(stand_in): character for character, stand_in in _STAND_INS.items()}
_OTHER_ENCODING = re.compile(rb"\A[^>]{0,200}encoding=[\"'](?!utf-8)", re.IGNORECASE)
_LOWEST, _HIGHEST = 0x20, 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)


def read_docx(path: Path) -> tuple[str, tuple[Page, ...]]:
    text = unescaped(extract(_with_stand_ins(path), DOCX).content)
    return text.translate(_BACK), ()


def read_pptx(path: Path) -> tuple[str, tuple[Page, ...]]:
    """A slide is a page."""
    text = unescaped(extract(path, PPTX, marked=True).content)
    before, *slides = _MARK.split(text)
    if not slides:
        return text, ()
    slides[0] = before + slides[0]
    return join_pages("" if _RULE.fullmatch(slide) else slide for slide in slides)


def read_xlsx(path: Path) -> tuple[str, tuple[Page, ...]]:
    return unescaped(extract(path, XLSX).content), ()


def read_odt(path: Path) -> tuple[str, tuple[Page, ...]]:
    return unescaped(extract(path, ODT).content), ()


def read_rtf(path: Path) -> tuple[str, tuple[Page, ...]]:
    return unescaped(extract(path, RTF).content), ()


def _with_stand_ins(path: Path) -> bytes:
    """The file with placeholders for `&amp;` and the like, which kreuzberg 4 drops from Word documents ("ATT")."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(path) as source,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as target,
    ):
        for entry in source.infolist():
            if entry.filename.startswith(_NOT_READ):
                continue
            part = source.read(entry)
            if entry.filename.startswith("word/") and entry.filename.endswith(".xml"):
                part = _without_references(part)
            target.writestr(entry.filename, part)
    return out.getvalue()


def _without_references(part: bytes) -> bytes:
    return part if _OTHER_ENCODING.match(part) else _REFERENCE.sub(_character, part)


def _character(found: re.Match[bytes]) -> bytes:
    name = found[1]
    if name.startswith(b"#"):
        code = int(name[1:]) if name[1:].isdigit() else int(b"0" + name[1:], 0)
        if not _LOWEST <= code <= _HIGHEST or code in _SURROGATES:
            return found[0]
        character = chr(code)
    else:
        character = _NAMED[name]
    return _STAND_INS.get(character, character).encode()
