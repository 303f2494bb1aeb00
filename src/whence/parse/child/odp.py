"""ODP: the slides of a presentation with titles as headings, lists, tables and the notes of the speaker."""

import zipfile
from pathlib import Path
from typing import IO, NamedTuple
from xml.etree import ElementTree as ET

from whence.parse.child.archive import parts_of
from whence.parse.dates import file_date
from whence.parse.detect import ODP
from whence.parse.parsed import Parsed, Refused, join_pages

_PRESENTATION = "{urn:oasis:names:tc:opendocument:xmlns:presentation:1.0}"
_DATES = (
    "{http://purl.org/dc/elements/1.1/}date",
    "{urn:oasis:names:tc:opendocument:xmlns:meta:1.0}creation-date",
)
_SPACES = {"s", "tab", "line-break"}
# Placeholders that repeat on every slide.
_REPEATED = {"header", "footer", "date-time", "page-number"}


class _Block(NamedTuple):
    kind: str
    text: str


def read(path: Path) -> Parsed:
    """Reads the slides; each is a page."""
    try:
        with zipfile.ZipFile(path) as archive:
            with archive.open("content.xml") as content:
                text, pages = join_pages(_read_slides(content))
            said = {part.tag: part.text for part in parts_of(archive, "meta.xml")}
    except (KeyError, ET.ParseError) as exc:
        raise Refused("corrupt", cause=f"{type(exc).__name__}: {exc}") from exc
    return Parsed(text=text, mime=ODP, pages=pages, dated_at=file_date(*map(said.get, _DATES)))


def _read_slides(content: IO[bytes]) -> list[str]:
    """Reads the file once, without recursion, and frees each paragraph after reading it."""
    slides: list[str] = []
    blocks: list[_Block] = []
    cells: list[str] = []
    inside: list[str] = []
    for event, part in ET.iterparse(content, events=("start", "end")):  # noqa: S314 - no network, no files, limited memory
        name = part.tag.rpartition("}")[2]
        if event == "start":
            inside.append(part.get(f"{_PRESENTATION}class", name) if name == "frame" else name)
            continue
        inside.pop()
        if name in _SPACES:
            part.text = " "
        elif name == "page":
            slides.append(_join_blocks(blocks))
            blocks = []
        elif name == "table-cell":
            cells.append(" ".join(part.itertext()))
        elif name == "table-row":
            blocks.append(_Block("row", f"| {' | '.join(' '.join(cell.split()) for cell in cells)} |"))
            cells = []
        elif name in {"p", "h"} and "table-cell" not in inside:
            said = " ".join("".join(part.itertext()).split())
            if said and not _REPEATED & {*inside}:
                blocks.append(_Block(_classify(inside), said))
            part.clear()
    return slides


def _classify(inside: list[str]) -> str:
    if "notes" in inside:
        return "note"
    return "title" if "title" in inside else "item" if "list-item" in inside else "paragraph"


def _join_blocks(blocks: list[_Block]) -> str:
    """Joins the blocks, with blank lines between them except inside lists and tables. Notes come last."""
    marks = {"title": "## ", "item": "- "}
    out, before = "", ""
    for kind, text in blocks:
        if kind == "note":
            continue
        out += ("\n" if kind == before and kind in {"item", "row"} else "\n\n") + marks.get(kind, "") + text
        if kind == "row" and before != "row":
            out += "\n" + "| --- " * text.count(" | ") + "| --- |"
        before = kind
    notes = "\n".join(text for kind, text in blocks if kind == "note")
    return f"{out}\n\nNotes: {notes}" if notes else out
