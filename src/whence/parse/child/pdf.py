"""PDF: the words come from each page's plain text, as pdfium reads it, the structure from kreuzberg's headings and paragraphs.

Kreuzberg's markdown alone is not enough: it drops text that looks like a tag (`<https://…>`), turns "xml:lang" into
"xmltilang", takes a line that begins with "by." for a list item, and its page boundaries belong to another text. Its plain
text has the words of Arabic and Hebrew lines in reverse order.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from whence.parse import ocr
from whence.parse.child.kreuzberg import date_of, extract
from whence.parse.child.pdfium import texts
from whence.parse.detect import PDF
from whence.parse.parsed import Parsed, Refused, join_pages
from whence.parse.shown import UNWANTED
from whence.text.word_lists import english_words

_KINDS = {"title", "heading", "paragraph", "list_item", "code", "quote", "formula", "footnote"}
_LINE_END = re.compile(r"\r\n|[\r\n\f]")
_BLANK_LINES = re.compile(r"\n{3,}")
_NO_LETTER = re.compile(r"[\W_]+")
_LIST_MARK = re.compile(
    r"\s*(?:[•◦▪▫‣∙·●○■□\u2010-\u2015\u2043*-]|\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})[.)])\s"
)
_WORD = re.compile(r"[^\W_]+")
_COMPOUND = re.compile(r"[^\W_]+-[^\W_]+")
_BROKEN = re.compile("([^\\W_]+)[\ufffe\x02]([^\\W_]+)")
"""A word with the character that pdfium writes for a hyphen at the end of a line."""
_ENGLISH = 0.6
"""Least share of a document's words that are in the English list (docs/parsing.md)."""
_OPEN = re.compile(r"[\w,]\Z")
_FULL = 0.8
"""Minimum length of a line whose sentence continues, as a share of the next line's."""
_SURE = 4
_DEEPEST = 6


class LayoutBlock(NamedTuple):
    """`level` is the heading level, 0 for other blocks."""

    text: str
    level: int = 0
    is_item: bool = False


def read(path: Path) -> Parsed:
    result = extract(path, PDF, structure=True)
    blocks: defaultdict[int, list[LayoutBlock]] = defaultdict(list)
    nodes: list[Any] = result.document["nodes"] if result.document else []
    for node in nodes:
        if (block := _read_block(node["content"])) and node.get("page"):
            blocks[node["page"]].append(block)
    pages = result.pages or []
    plain = keep_hyphens({page["page_number"]: page["content"] for page in pages} | texts(path))
    text, spans = join_pages(structured(plain[number], blocks[number]) for number in sorted(plain))
    if not text and not ocr.installed():
        count = "page" if len(plain) == 1 else "pages"
        raise Refused(
            "no_text", f"Its {len(plain)} {count} hold no text, as when paper is scanned; {ocr.HINT}"
        )
    return Parsed(text=text, mime=PDF, pages=spans, dated_at=date_of(result))


def keep_hyphens(pages: Mapping[int, str]) -> dict[int, str]:
    """The pages with the hyphens at line ends that their words need: "fourth-quarter", but not "infor-mation".

    pdfium leaves a mark for each. A hyphen stays if the document writes the word so elsewhere, or has both parts as words and
    not the whole, or if a capital or a digit follows. In English documents the words of the local model count, too.
    """
    rest = [_BROKEN.sub(" ", page).lower() for page in pages.values()]
    if rest == [page.lower() for page in pages.values()]:
        return dict(pages)
    words = {word for page in rest for word in _WORD.findall(page)}
    compounds = {word for page in rest for word in _COMPOUND.findall(page)}
    if len(words & english_words().keys()) > _ENGLISH * len(words):
        words |= english_words().keys()

    def mend(found: re.Match[str]) -> str:
        first, second = found.groups()
        known = f"{first}-{second}".lower() in compounds
        capital = second[0].isdigit() or (second[0].isupper() and not first.isupper())
        parts = (first + second).lower() not in words and {first.lower(), second.lower()} <= words
        return f"{first}-{second}" if known or capital or parts else first + second

    return {number: _BROKEN.sub(mend, page) for number, page in pages.items()}


def _read_block(content: dict[str, Any]) -> LayoutBlock | None:
    kind, text = content["node_type"], content.get("text") or ""
    if not text or kind not in _KINDS:
        return None
    level = content.get("level", 1) if kind in {"title", "heading"} else 0
    return LayoutBlock(text, level, kind == "list_item")


def structured(plain: str, blocks: Sequence[LayoutBlock]) -> str:
    """The page's lines, with `#` before headings and a blank line before each block found among them."""
    lines = [line.rstrip() for line in _LINE_END.split(UNWANTED.sub("", plain))]
    keys = [_key(line) for line in lines]
    gaps: dict[int, str] = {}
    joined: dict[int, int] = {}
    at = 0
    for block in blocks:
        found = _find(keys, _key(_LINE_END.split(block.text, maxsplit=1)[0]), at)
        if found < 0 or (block.is_item and not _LIST_MARK.match(lines[found])):
            continue
        at = found + 1
        if not (block.level or block.is_item) and _continues(lines[:found], lines[found]):
            continue
        gaps[found] = "\n"
        if block.level and (count := _count_spanned(keys, found, _key(block.text))):
            gaps[found], joined[found] = f"\n{'#' * min(block.level, _DEEPEST)} ", count
            at = found + count
            gaps.setdefault(at, "\n")
    return _lay_out(lines, gaps, joined)


def _continues(above: Sequence[str], line: str) -> bool:
    """Whether the line continues the sentence above it: kreuzberg splits paragraphs beside another column.

    A much shorter line above is a heading or a page header.
    """
    full = bool(above) and len(above[-1]) >= _FULL * len(line)
    return full and line[:1].islower() and bool(_OPEN.search(above[-1]))


def _lay_out(lines: Sequence[str], gaps: dict[int, str], joined: dict[int, int]) -> str:
    out, at = [], 0
    while at < len(lines):
        count = joined.get(at, 0)
        line = " ".join(line.strip() for line in lines[at : at + count]) if count else lines[at]
        out.append(gaps.get(at, "") + line)
        at += count or 1
    return _BLANK_LINES.sub("\n\n", "\n".join(out)).strip("\n")


def _find(keys: Sequence[str], wanted: str, start: int) -> int:
    """The next line that begins with these letters, else the first before `start`, as the order may differ; or -1.

    The letters may be of several lines: kreuzberg joins the lines of tagged PDFs.
    """
    if not wanted:
        return -1
    for place in chain(range(start, len(keys)), range(start)):
        key, two = keys[place], "".join(keys[place : place + 2])
        if (
            key == wanted
            or (len(wanted) >= _SURE and key.startswith(wanted))
            or (len(key) >= _SURE and wanted.startswith(two))
        ):
            return place
    return -1


def _count_spanned(keys: Sequence[str], start: int, wanted: str) -> int:
    """Number of lines from `start` that together equal `wanted`, or 0."""
    so_far = ""
    for place in range(start, len(keys)):
        so_far += keys[place]
        if so_far == wanted:
            return place - start + 1
        if not wanted.startswith(so_far):
            break
    return 0


def _key(text: str) -> str:
    return _NO_LETTER.sub("", text)
