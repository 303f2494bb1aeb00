"""Finds headers, fenced code, tables and front matter in markdown.

The text between them is paragraphs, separated by blank lines. Lines must end in line feeds only (see
`boundaries.line_feeds`). Only lines that begin like one of these are examined, so plain text costs almost nothing.
"""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from whence.chunk.boundaries import rstrip
from whence.chunk.graphemes import first_content

LandmarkKind = Literal["header", "code", "table", "settings"]

_HEADER = re.compile(r"(#{1,6})(?=\s)[^\S\n]*([^\n]*)")
_FENCE = re.compile(r"(`{3,}(?=[^`\n]*(?:\n|\Z))|~{3,})")
_CLOSING = {mark: re.compile(rf"\n {{0,3}}({mark}{{3,}})[^\S\n]*(?=\n|\Z)") for mark in "`~"}
_BLOCK_START = re.compile(rf" {{0,3}}(?:{_HEADER.pattern}|{_FENCE.pattern})")
# A fence that is indented deeper, or follows a list marker, is code in a list item.
_INDENT = 3  # spaces
_DEEP = _INDENT + 1
# By the indent of an item's lines: the closing fence, or the first line that is not part of the item.
_CLOSING_IN_ITEM = {
    (mark, depth): re.compile(
        rf"\n(?:[ \t]+({mark}{{3,}})[^\S\n]*(?=\n|\Z)|(?! {{{depth}}}| {{0,{_INDENT}}}\t)[^\S\n]*(?=\S))"
    )
    for mark in "`~"
    for depth in range(2, _DEEP + 1)
}
_UNDERLINE = re.compile(r"(?:=+|--+)[^\S\n]*(?=\n|\Z)")
_CELL = r"[^\S\n]*:?-+:?[^\S\n]*"
_TABLE_RULE = re.compile(rf"\|?{_CELL}(?:\|{_CELL})*(?:\|[^\S\n]*)?(?=\n|\Z)")
# A line that begins like this has its own meaning and is not a title above an underline.
_NO_TITLE = re.compile(r" {4}|[^\S\n]*(?:\t|[-*+>|#]|\d+[.)]\s|`{3}|~{3}|_{3}|=+[^\S\n]*(?:\n|\Z))")
_TITLE_LINES = {"=": 3, "-": 1}
_MARKS = r"#`~|=:\-"
_FENCED_ITEM = r"[ \t]*+(?:(?:[-*+]|[0-9]{1,9}+[.)])[ \t]++)?(?=```|~~~)"
# Rules out most lines by their first characters.
_LINE_START = (
    rf"(?=[{_MARKS} \t*+0-9])(?: {{0,{_INDENT}}}+(?=[{_MARKS}])(?!-[ \t]++(?:```|~~~))|{_FENCED_ITEM})"
)
_FIRST_LINE = re.compile(_LINE_START)
_LINE = re.compile(rf"\n{_LINE_START}")


class Landmark(NamedTuple):
    """A span without white space at its ends. Only headers have `level` and `title`."""

    start: int
    end: int
    kind: LandmarkKind
    level: int = 0
    title: str = ""


def landmarks(text: str) -> Iterator[Landmark]:
    reached = 0
    if front := _settings(text):
        yield front
        reached = front.end
    for start in _special_lines(text):
        if start < reached:
            continue
        if text[start] == "#":
            found = _header(text, start)
        elif text[start] in "`~":
            found = _code(text, start)
        else:
            found = _underlined(text, start, reached) or _table(text, start, reached)
        if found:
            yield found
            reached = found.end


def _special_lines(text: str) -> Iterator[int]:
    """Starts of the lines that may belong to a landmark, after the indent, and for a fence after a list marker."""
    if first := _FIRST_LINE.match(text):
        yield first.end()
    for line in _LINE.finditer(text):
        yield line.end()


def _header(text: str, start: int) -> Landmark | None:
    found = _HEADER.match(text, start)
    if not found:
        return None
    hashes, rest = found.groups()
    rest = rest.rstrip()
    end = found.start(2) + len(rest) if rest else found.end(1)
    return Landmark(start, end, "header", len(hashes), _without_closing_hashes(rest))


def _without_closing_hashes(title: str) -> str:
    opening = title.rstrip("#")
    return title if opening and not opening[-1].isspace() else opening.strip()


def _code(text: str, start: int) -> Landmark | None:
    fence = _FENCE.match(text, start)
    if not fence:
        return None
    line_start = text.rfind("\n", 0, start) + 1
    before = text[line_start:start].expandtabs(_DEEP)
    if len(before) >= _DEEP or before.strip():
        return _code_in_item(text, line_start, fence, min(len(before), _DEEP))
    for closing in _CLOSING[text[start]].finditer(text, fence.end()):
        if len(closing[1]) >= len(fence[1]):
            return Landmark(start, closing.end(1), "code")
    return Landmark(start, len(text.rstrip()), "code")


def _code_in_item(text: str, line_start: int, fence: re.Match[str], depth: int) -> Landmark:
    """Code in a list item, from the list marker. It ends with the item if no fence closes it before."""
    start = first_content(text, line_start)
    for closing in _CLOSING_IN_ITEM[fence[1][0], depth].finditer(text, fence.end()):
        if closing[1] is None:
            return Landmark(start, rstrip(text, closing.start()), "code")
        if len(closing[1]) >= len(fence[1]):
            return Landmark(start, closing.end(1), "code")
    return Landmark(start, len(text.rstrip()), "code")


def _underlined(text: str, start: int, reached: int) -> Landmark | None:
    """A header with a line of `=` or `-` below it."""
    below = _UNDERLINE.match(text, start)
    if not below:
        return None
    above = _title_start(text, start, reached)
    if above < 0:
        return None
    title = " ".join([line.strip() for line in text[above:start].strip().split("\n")])
    level = 1 if text[start] == "=" else 2
    return Landmark(text.index(title[0], above), start + len(below[0].rstrip()), "header", level, title)


def _title_start(text: str, underline: int, reached: int) -> int:
    """Start of the underlined title, or -1. A title begins the text or follows a blank line.

    Only `=` underlines a title of several lines: dashes below a paragraph are meant as a rule.
    """
    above = underline
    for _ in range(_TITLE_LINES[text[underline]]):
        above = _line_above(text, above)
        if above < reached or _NO_TITLE.match(text, above) or _is_blank(text, above):
            return -1
        if above == 0 or _is_blank(text, _line_above(text, above)):
            return above
    return -1


def _table(text: str, start: int, reached: int) -> Landmark | None:
    """Rows from a line that begins with `|`, or from the line above a rule of dashes."""
    rule = _TABLE_RULE.match(text, start)
    first = start if text[start] == "|" else -1
    if rule and "|" in rule[0]:
        above = _line_above(text, start)
        if above >= reached and "|" in text[above:start]:
            first = above
    if first < 0:
        return None
    end = _line_end(text, start)
    while end < len(text):
        after = _line_end(text, end + 1)
        if "|" not in text[end + 1 : after] or _BLOCK_START.match(text, end + 1):
            break
        end = after
    row = text[first:end]
    return Landmark(first + len(row) - len(row.lstrip()), first + len(row.rstrip()), "table")


def _settings(text: str) -> Landmark | None:
    """Front matter: the lines between two `---` at the start of the text."""
    end = _line_end(text, 0)
    if text[:end].rstrip() != "---":
        return None
    while end < len(text):
        start, end = end + 1, _line_end(text, end + 1)
        line = text[start:end].rstrip()
        if line in {"---", "..."}:
            return Landmark(0, start + len(line), "settings")
        if not line or _BLOCK_START.match(text, start):
            return None
    return None


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return end if end >= 0 else len(text)


def _line_above(text: str, start: int) -> int:
    """Start of the line above, or -1."""
    line_start = text.rfind("\n", 0, start)
    return text.rfind("\n", 0, line_start) + 1 if line_start >= 0 else -1


def _is_blank(text: str, line_start: int) -> bool:
    return not text[line_start : _line_end(text, line_start)].strip()
