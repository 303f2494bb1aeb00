"""Finds the place of a span in a document: a page, a slide, rows of a sheet, a part of an e-mail, or a section. Pure."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from whence.chunk.boundaries import line_feeds
from whence.chunk.markdown import landmarks
from whence.models import Page
from whence.parse.detect import MAIL, ODP, PPTX, XLSX

LocationKind = Literal["page", "slide", "row", "part", "section", "text"]

_TABLES = {"text/csv", "text/tab-separated-values", XLSX}
_SLIDES = {PPTX, ODP}
_RULE = re.compile(r"\|[\s|:-]*-[\s|:-]*\|")
_MAIL_HEADERS = re.compile(r"\A(?:#[^\n]*\n\n)?(?:(?:From|To|Cc|Date|Attachment): [^\n]*(?:\n|\Z))*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """One shape for all formats; fields that the kind does not have are None."""

    kind: LocationKind
    label: str
    """In words, such as "pages 3–4"."""
    page: int | None = None
    """The first page, or slide."""
    last_page: int | None = None
    sheet: str | None = None
    row: int | None = None
    """From 1, the row of column names, which is the first row with content."""
    last_row: int | None = None
    part: str | None = None
    """Of an e-mail: `headers` or `body`."""


class Heading(NamedTuple):
    start: int
    level: int
    title: str


def headings_of(text: str) -> tuple[Heading, ...]:
    """The headings of a text in markdown, in reading order."""
    marks = landmarks(line_feeds(text))
    return tuple(Heading(mark.start, mark.level, mark.title) for mark in marks if mark.kind == "header")


def trail(headings: Sequence[Heading], offset: int) -> tuple[str, ...]:
    """The titles above the offset, from the outermost; a heading is above its own title."""
    above: list[Heading] = []
    for heading in headings[: bisect_right(headings, offset, key=lambda one: one.start)]:
        above = [one for one in above if one.level < heading.level] + [heading]
    return tuple(heading.title for heading in above)


def pages_of(pages: Sequence[Page], start: int, end: int) -> list[Page]:
    """The pages that have a part of the span."""
    return [page for page in pages if page.start < end and start < page.end]


def locate(
    mime: str, pages: Sequence[Page], titles: Sequence[str], before: str, span: tuple[int, int, str]
) -> Location:
    """`before` is the text before the span, needed for rows and e-mails; `span` is its start, its end and its text."""
    start, end, text = span
    if on := pages_of(pages, start, end):
        kind: LocationKind = "slide" if mime in _SLIDES else "page"
        first, last = on[0].number, on[-1].number
        return Location(kind=kind, label=_counted(kind, first, last), page=first, last_page=last)
    if mime in _TABLES:
        return _in_table(mime, titles, before, text)
    if mime == MAIL:
        headers = _MAIL_HEADERS.match(before + text)
        part = "headers" if headers and end <= headers.end() else "body"
        return Location(kind="part", label=part, part=part)
    if titles:
        return Location(kind="section", label=" › ".join(titles))
    return Location(kind="text", label=f"characters {start}–{end}")


def needs_text(mime: str) -> bool:
    """Whether `locate` needs the text before the span."""
    return mime in _TABLES or mime == MAIL


def _in_table(mime: str, titles: Sequence[str], before: str, text: str) -> Location:
    sheet = titles[-1] if mime == XLSX and titles else None
    if mime == XLSX:
        above, inside = before.rpartition("\n## ")[2], text.partition("\n## ")[0].rstrip()
        first, last = _rows(above + inside.partition("\n")[0]), _rows(above + inside)
    else:
        first, last = _records(before), _records(before + text.rstrip("\r\n"))
    label = _counted("row", first, last)
    named = f"{sheet}, {label}" if sheet else label
    return Location(kind="row", label=named, sheet=sheet, row=first, last_row=last)


def _rows(text: str) -> int:
    """The number of rows in a table of markdown, without the rule below its head; at least 1."""
    lines = [line.strip() for line in text.split("\n") if line.startswith("|")]
    return max(sum(not _RULE.fullmatch(line) for line in lines), 1)


def _records(text: str) -> int:
    """The number of the record at the end of the text. Line ends between quotes do not count."""
    return 1 + sum(part.count("\n") for part in text.split('"')[::2])


def _counted(noun: str, first: int, last: int) -> str:
    return f"{noun} {first}" if first == last else f"{noun}s {first}–{last}"
