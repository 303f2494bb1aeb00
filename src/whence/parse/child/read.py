"""Chooses the reader for each format."""

from collections.abc import Callable
from pathlib import Path

from whence.models import Page, is_blank
from whence.parse.child import archive, html, mail, office, pdf
from whence.parse.detect import DOCX, EPUB, HTML, MAIL, ODT, PDF, PPTX, RTF, XLSX, ZIPPED
from whence.parse.errors import Refused
from whence.parse.pages import Parsed

Reader = Callable[[Path], tuple[str, tuple[Page, ...]]]
"""Reads a file into its text and pages."""

READERS: dict[str, Reader] = {
    PDF: pdf.read,
    DOCX: office.read_docx,
    PPTX: office.read_pptx,
    XLSX: office.read_xlsx,
    ODT: office.read_odt,
    RTF: office.read_rtf,
    EPUB: html.read_epub,
    MAIL: mail.read,
}


def read(path: Path, mime: str, *, charset: str | None, memory: int) -> Parsed:
    if mime in ZIPPED:
        mime = archive.inspect(path, most=memory)
    text, pages = READERS[mime](path) if mime != HTML else (html.read(path, charset=charset), ())
    if is_blank(text):
        raise Refused("no_text", "There is no text in the document")
    # PostgreSQL cannot store NUL.
    return Parsed(text=text.replace("\0", "\N{REPLACEMENT CHARACTER}"), mime=mime, pages=pages)
