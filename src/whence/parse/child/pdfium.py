"""Opens PDF files with pdfium, and reads the plain text of their pages."""

import ctypes
import math
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pypdfium2 as pdfium
from pypdfium2 import raw

from whence.parse.parsed import Refused

_SAMPLE = 40
"""Number of characters of a page whose direction is examined."""


@contextmanager
def opened(path: Path) -> Iterator[pdfium.PdfDocument]:
    """Opens the file. Raises `Refused`, also for errors of pdfium in the block."""
    try:
        with closing(pdfium.PdfDocument(path)) as document:
            yield document
    except pdfium.PdfiumError as exc:
        raise Refused("corrupt", cause=str(exc)) from exc


def texts(path: Path) -> dict[int, str]:
    """The text of each page that pdfium can read, without text outside the page."""
    found = {}
    try:
        with opened(path) as document:
            for number in range(1, len(document) + 1):
                with text_page(document, number) as (page, text):
                    found[number] = _read_inside(page, text)
    except Refused:
        pass  # kreuzberg decides whether the document can be read
    return found


def _read_inside(page: pdfium.PdfPage, text: pdfium.PdfTextPage) -> str:
    """The text inside the page. For turned text pdfium leaves out line ends, unless it is asked for all text of the page."""
    inside = text_inside(text, page.get_bbox())
    if _find_direction(text):
        whole: str = text.get_text_range()
        if "".join(whole.split()) == "".join(inside.split()):
            return whole
    return inside


def text_inside(text: pdfium.PdfTextPage, box: tuple[float, float, float, float]) -> str:
    """The text inside the box: left, bottom, right, top.

    pdfium gives its length in characters, and then up to two code units for each: pypdfium2 cuts off the end.
    """
    left, bottom, right, top = box
    length = 2 * raw.FPDFText_GetBoundedText(text, left, top, right, bottom, None, 0)
    units = (ctypes.c_ushort * length)()
    used = raw.FPDFText_GetBoundedText(text, left, top, right, bottom, units, length)
    return bytes(units)[: 2 * used].decode("utf-16-le", "ignore").removesuffix("\0")


@contextmanager
def text_page(
    document: pdfium.PdfDocument, number: int
) -> Iterator[tuple[pdfium.PdfPage, pdfium.PdfTextPage]]:
    """Reads lines that are displayed sideways as if they were upright, because pdfium mixes up their order otherwise."""
    with closing(document[number - 1]) as page, closing(page.get_textpage()) as text:
        shown = page.get_rotation()
        upright = _find_direction(text)
        if upright in (None, shown):
            yield page, text
            return
        page.set_rotation(upright)
        with closing(page.get_textpage()) as turned:
            page.set_rotation(shown)
            yield page, turned


def _find_direction(text: pdfium.PdfTextPage) -> int | None:
    """The rotation of the page with which most of its characters are upright, in degrees."""
    count = text.count_chars()
    angles = (raw.FPDFText_GetCharAngle(text, at) for at in range(0, count, count // _SAMPLE + 1))
    turns = Counter(-round(math.degrees(angle) / 90) % 4 * 90 for angle in angles if angle >= 0)
    return turns.most_common(1)[0][0] if turns else None
