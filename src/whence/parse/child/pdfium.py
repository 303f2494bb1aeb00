"""Opens PDF files with pdfium, and reads the plain text of their pages."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pypdfium2 as pdfium

from whence.parse.parsed import Refused


@contextmanager
def opened(path: Path) -> Iterator[pdfium.PdfDocument]:
    """Raises `Refused`, also for errors of pdfium in the block."""
    try:
        with closing(pdfium.PdfDocument(path)) as document:
            yield document
    except pdfium.PdfiumError as exc:
        raise Refused("corrupt", cause=str(exc)) from exc


def texts(path: Path) -> dict[int, str]:
    """The text of each page that pdfium can read, without what lies outside the page."""
    found = {}
    try:
        with opened(path) as document:
            for number in range(1, len(document) + 1):
                with text_page(document, number) as (_, text):
                    found[number] = text.get_text_bounded()
    except Refused:
        pass  # kreuzberg decides whether the document can be read
    return found


@contextmanager
def text_page(
    document: pdfium.PdfDocument, number: int
) -> Iterator[tuple[pdfium.PdfPage, pdfium.PdfTextPage]]:
    with closing(document[number - 1]) as page, closing(page.get_textpage()) as text:
        yield page, text
