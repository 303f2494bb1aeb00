"""The result of parsing: the text with the span of each page, or a refusal. Pure."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from whence.errors import UnreadableReason
from whence.models import Page

BETWEEN_PAGES = "\n\n"
MEGABYTE = 1 << 20
_MESSAGES: dict[UnreadableReason, str] = {
    "corrupt": "The document is damaged or not complete",
    "encrypted": "The document is protected by a password; remove it and try again",
    "no_text": "There is no text in the document",
    "unsupported": "This is no text and no document that can be read",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    text: str
    mime: str
    """The type, detected from the content."""
    pages: tuple[Page, ...] = ()
    """In order; empty for formats without pages."""
    dated_at: datetime | None = None
    """The date that the file itself gives."""


class Refused(Exception):
    """A document cannot be read. `Parser` turns this into `UnreadableDocument`, with the file name."""

    def __init__(self, reason: UnreadableReason, message: str | None = None, *, cause: str = "") -> None:
        """`message` is for the sender of the document; `cause`, a library's message, is only for the log."""
        self.reason, self.message, self.cause = reason, message or _MESSAGES[reason], cause
        super().__init__(self.message)


def in_megabytes(size: int) -> str:
    return f"{size / MEGABYTE:.3g} MB"


def page_at(pages: Sequence[Page], offset: int) -> int | None:
    """The number of the page at this offset; between two pages, the one before."""
    if not pages:
        return None
    found = bisect_right(pages, offset, key=lambda page: page.start) - 1
    # A blank page starts where the one before it ends, and has no text.
    while found > 0 and pages[found].start == pages[found].end:
        found -= 1
    return pages[max(found, 0)].number


def join_pages(texts: Iterable[str]) -> tuple[str, tuple[Page, ...]]:
    """Joins the pages with blank lines. A blank page keeps its number and adds no text."""
    parts: list[str] = []
    pages: list[Page] = []
    length = 0
    for number, text in enumerate(texts, 1):
        content = text.strip()
        if content:
            if parts:
                parts.append(BETWEEN_PAGES)
                length += len(BETWEEN_PAGES)
            parts.append(content)
        pages.append(Page(number=number, start=length, end=length + len(content)))
        length += len(content)
    return "".join(parts), tuple(pages)
