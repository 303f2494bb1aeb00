"""The blocks of a markdown text: headers, paragraphs, fenced code, tables.

Only what decides where a text may be cut is read, line by line. Plain text is markdown without headers. Lines must
end in line feeds only (`boundaries.line_feeds` sees to that).
"""

import re
from collections.abc import Iterator
from itertools import accumulate
from typing import Literal, NamedTuple

BlockKind = Literal["header", "paragraph", "code", "table"]

_HEADER = re.compile(r" {0,3}(#{1,6})(\s|$)")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_UNDERLINE = re.compile(r" {0,3}(?:=+|--+)\s*")
_TABLE_RULE = re.compile(r"\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?")
# A line that begins like this has a meaning of its own and is no title over an underline.
_NO_TITLE = re.compile(r" {4}|\t|\s*(?:[-*+>|#]|\d+[.)]\s|`{3}|~{3}|_{3})")


class Block(NamedTuple):
    """A span without white space at its ends. `level` and `title` are a header's."""

    start: int
    end: int
    kind: BlockKind
    level: int = 0
    title: str = ""


def blocks(text: str) -> Iterator[Block]:
    lines = text.split("\n")
    offsets = [0, *accumulate(len(line) + 1 for line in lines)]

    def block(first: int, after: int, kind: BlockKind, level: int = 0, title: str = "") -> Block:
        indent = len(lines[first]) - len(lines[first].lstrip())
        last = lines[after - 1].rstrip()
        return Block(offsets[first] + indent, offsets[after - 1] + len(last), kind, level, title)

    index = _front_matter_end(lines)
    if index:
        yield block(0, index, "paragraph")
    while index < len(lines):
        first, line = index, lines[index]
        if not line or line.isspace():
            index += 1
        elif header := _header(lines, index):
            index += 1
            yield block(first, index, "header", len(header[1]), _title(line))
        elif fence := _FENCE.match(line):
            index = _code_end(lines, index + 1, fence[1])
            yield block(first, index, "code")
        elif _is_table(lines, index):
            index = _table_end(lines, index + 1)
            yield block(first, index, "table")
        elif underline := _underline(lines, index):
            index += 2
            yield block(first, index, "header", 1 if underline == "=" else 2, line.strip())
        else:
            index = _paragraph_end(lines, index + 1)
            yield block(first, index, "paragraph")


def _front_matter_end(lines: list[str]) -> int:
    """The line after the settings that some texts begin with between two `---`, or 0."""
    if lines[0].rstrip() != "---":
        return 0
    for index, line in enumerate(lines[1:], start=1):
        if line.rstrip() in {"---", "..."}:
            return index + 1
        if not line.strip() or _HEADER.match(line) or _FENCE.match(line):
            break
    return 0


def _title(line: str) -> str:
    text = line.strip().lstrip("#").strip()
    opening = text.rstrip("#")
    return text if opening and not opening[-1].isspace() else opening.strip()


def _code_end(lines: list[str], index: int, fence: str) -> int:
    """The line after the closing fence; without one, everything to the end is code."""
    while index < len(lines):
        line = lines[index]
        index += 1
        closing = line.strip()
        if closing.startswith(fence) and not closing.strip(fence[0]) and not line.startswith("    "):
            return index
    return _last_content(lines)


def _last_content(lines: list[str]) -> int:
    index = len(lines)
    while not lines[index - 1].strip():
        index -= 1
    return index


def _is_table(lines: list[str], index: int) -> bool:
    line = lines[index]
    if "|" not in line:
        return False
    if line.lstrip()[0] == "|":
        return True
    rule = lines[index + 1] if index + 1 < len(lines) else ""
    return "|" in rule and _TABLE_RULE.fullmatch(rule.strip()) is not None


def _table_end(lines: list[str], index: int) -> int:
    while index < len(lines) and "|" in lines[index] and not _starts_block(lines, index):
        index += 1
    return index


def _underline(lines: list[str], index: int) -> str:
    """The character that underlines this line and makes it a header, if any does.

    A title is one line after a blank one: a line of dashes right below a paragraph is meant as a rule.
    """
    if index + 1 >= len(lines) or (index and lines[index - 1].strip()):
        return ""
    below = lines[index + 1]
    if not _UNDERLINE.fullmatch(below) or _NO_TITLE.match(lines[index]):
        return ""
    return below.strip()[0]


def _paragraph_end(lines: list[str], index: int) -> int:
    while index < len(lines):
        line = lines[index]
        if not line or line.isspace() or _starts_block(lines, index) or _is_table(lines, index):
            break
        index += 1
    return index


def _starts_block(lines: list[str], index: int) -> bool:
    return _header(lines, index) is not None or _FENCE.match(lines[index]) is not None


def _header(lines: list[str], index: int) -> re.Match[str] | None:
    """White space must follow the hashes, and be it the end of the line; the end of the text is none."""
    found = _HEADER.match(lines[index])
    return found if found and (found[2] or index + 1 < len(lines)) else None
