"""Code in an answer, of which nothing is changed. Pure.

Blocks stand between fences, between `<pre>` at the start of a line and `</pre>`, or are indented after an empty line, as
CommonMark has it; spans stand between back ticks, between `<code>` and `</code>`, or between `<pre>` and `</pre>`, within
one paragraph.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from whence.chat.lookalikes import begins_line
from whence.chat.seen import Seen, Unclear

_MAX_RUN = 128
_RUN = re.compile(rf"`{{1,{_MAX_RUN}}}|~{{1,{_MAX_RUN}}}")
_FENCE = 3
_INFO = {"`": re.compile(r"[^`\n]{0,200}"), "~": re.compile(r"[^\n]{0,200}")}
_BLANK = r"[ \t]{0,16}"
_FENCE_END = re.compile(rf"[ \t>]{{0,40}}(`{{3,128}}|~{{3,128}}){_BLANK}\r?\n")
_FENCE_END_SO_FAR = re.compile(rf"[ \t>]{{0,40}}(?:`{{0,128}}|~{{0,128}}){_BLANK}\r?")
MAX_SPAN = 1000
"""Characters."""
_PARAGRAPH_END = re.compile(r"\n[ \t>]*(?:\r?\n|```|~~~|[-*+#|]|\d{1,9}[.)])")
_MARKED = re.compile(r"[ \t>]*(?:[-*+#|]|\d{1,9}[.)])")

_TAG = re.compile(r"<(code|pre)(?:\s[^<>]{0,200})?>", re.IGNORECASE)
_TAG_SO_FAR = re.compile(r"<(?:c|co|cod|p|pr|(?:code|pre)(?:\s[^<>]{0,200})?)?", re.IGNORECASE)
_CODE_END = re.compile(r"</code\s{0,8}>", re.IGNORECASE)
_PRE = "</pre>"
_PRE_END = re.compile(_PRE, re.IGNORECASE)
_PRE_END_SO_FAR = re.compile(r"<(?:/(?:p(?:re?)?)?)?\Z", re.IGNORECASE)

INDENTED = re.compile(r"\n(?= {4}| {0,3}\t| {0,3}\Z)")
"""The end of a line before one that may be code by its indent."""
_INDENT = 4
_TAB = 4
_LINE = re.compile(r"^([ \t]*+)(?:([-*+•]|[0-9]{1,9}[.)])([ \t]++|$)|\S)?", re.MULTILINE)
_LONGEST_HEAD = 64
"""Characters of a line that tell what it is."""


class Block(NamedTuple):
    """A code block that was opened."""

    closing: str
    """The fence or the tag; empty where it ends with its indent."""
    is_line_start: bool
    """Whether a line of it begins where it was last looked at."""
    indent: int = 0
    """Columns from which a line belongs to it."""


class Opened(NamedTuple):
    """What back ticks, tildes or a tag open."""

    end: int
    """Where to go on: in the block, or behind a span or what was none."""
    block: Block | None = None
    is_unclosed: bool = False
    """It would be a span if its paragraph had another end."""


class Margin:
    """How far a line must be indented to be code, where an answer has come to: in an item of a list, further than its text."""

    def __init__(self) -> None:
        self._unread: list[str] = []
        self._line = ""
        self._text_column = 0
        self._may_begin = True
        """No paragraph would go on with the next line."""

    def read(self, *parts: str) -> None:
        """What the answer goes on with, but for code."""
        self._unread += parts

    def _read(self, text: str) -> None:
        end = text.rfind("\n")
        if end < 0:
            self._line = (self._line + text[:_LONGEST_HEAD])[:_LONGEST_HEAD]
            return
        for line in _LINE.finditer(self._line + text[:end]):
            self._read_line(line)
        self._line = text[end + 1 : end + 1 + _LONGEST_HEAD]

    def block(self, seen: Seen, start: int) -> Block | None:
        """The block that begins with the line that begins here."""
        self._read("".join(self._unread))
        self._unread.clear()
        indent = self._text_column + _INDENT
        columns, end = _indent(seen.text, start, indent)
        if columns < indent:
            seen.peek(end)
        is_code = self._may_begin and columns >= indent
        return Block("", is_line_start=True, indent=indent) if is_code else None

    def _read_line(self, line: re.Match[str]) -> None:
        indent, mark, gap = line.groups()
        if line.end() == line.end(1) and not mark:
            self._may_begin = True
            return
        column = _columns(indent)
        if mark:
            width = _columns(gap)
            self._text_column = column + len(mark) + (width if 0 < width <= _INDENT else 1)
        elif self._may_begin and column <= 1:
            self._text_column = 0
        self._may_begin = False


def ends_paragraph(line: str) -> bool:
    """Whether no paragraph goes on with a line that begins so."""
    return _MARKED.match(line) is not None


def opened(seen: Seen, start: int, before: str) -> Opened:
    if seen.text[start] == "<":
        return _opened_by_tag(seen, start, before)
    found = _RUN.match(seen.text, start)
    run = found[0] if found else ""
    end = start + len(run)
    if end == len(seen.text) and len(run) < _MAX_RUN and not seen.is_whole:
        raise Unclear
    if run[0] == "`" and (len(before) - len(before.rstrip("\\"))) % 2:
        return Opened(start + 1)
    if len(run) >= _FENCE and begins_line(before):
        info = _INFO[run[0]].match(seen.text, end)
        line_end = info.end() if info else end
        following = seen.peek(line_end)
        if following in {"\n", ""}:
            return Opened(line_end + len(following), Block(run, bool(following)))
    return _span(seen, end, _ticks(len(run))) if run[0] == "`" else Opened(end)


def passed(seen: Seen, start: int, block: Block) -> tuple[int, Block | None]:
    """Up to where it is code: behind the block, or as far as is known of it."""
    if block.closing == _PRE:
        return _passed_pre(seen, start, block)
    at, is_line_start = start, block.is_line_start
    while at < len(seen.text):
        if is_line_start:
            end = _block_end(seen, at, block)
            if end is not None:
                return end, None
            if not seen.is_whole and _may_end(seen, at, block):
                break
        line_end = seen.text.find("\n", at)
        is_line_start = line_end >= 0
        at = line_end + 1 if line_end >= 0 else len(seen.text)
    return at, block._replace(is_line_start=is_line_start)


def _block_end(seen: Seen, at: int, block: Block) -> int | None:
    """Where the block ends if it does so with the line that begins here."""
    if block.closing:
        found = _FENCE_END.match(seen.text, at)
        return found.end() if found and found[1].startswith(block.closing) else None
    columns, end = _indent(seen.text, at, block.indent)
    is_blank = end == len(seen.text) or seen.text[end] in "\r\n"
    return None if columns >= block.indent or is_blank else at


def _may_end(seen: Seen, at: int, block: Block) -> bool:
    """Whether the block may end with the line that begins here, of which more is to come."""
    if block.closing:
        return _FENCE_END_SO_FAR.fullmatch(seen.text, at) is not None
    columns, end = _indent(seen.text, at, block.indent)
    return end == len(seen.text) and columns < block.indent


def _passed_pre(seen: Seen, start: int, block: Block) -> tuple[int, Block | None]:
    if found := _PRE_END.search(seen.text, start):
        return found.end(), None
    so_far = (
        None if seen.is_whole else _PRE_END_SO_FAR.search(seen.text, max(start, len(seen.text) - len(_PRE)))
    )
    return so_far.start() if so_far else len(seen.text), block


def _opened_by_tag(seen: Seen, start: int, before: str) -> Opened:
    tag = _TAG.match(seen.text, start)
    if tag is None:
        if not seen.is_whole and _TAG_SO_FAR.fullmatch(seen.text, start):
            raise Unclear
        return Opened(start + 1)
    if tag[1].lower() == "code":
        return _span(seen, tag.end(), _CODE_END)
    if begins_line(before):
        return Opened(tag.end(), Block(_PRE, is_line_start=False))
    return _span(seen, tag.end(), _PRE_END)


def _span(seen: Seen, start: int, closing: re.Pattern[str]) -> Opened:
    """The code span whose text begins here, if it ends within its paragraph."""
    limit = start + MAX_SPAN
    paragraph_end = _PARAGRAPH_END.search(seen.text, start, limit)
    stop = paragraph_end.start() if paragraph_end else limit
    found = closing.search(seen.text, start, stop)
    if not seen.is_whole and (
        found.end() == len(seen.text) if found else not paragraph_end and len(seen.text) < limit
    ):
        raise Unclear
    return Opened(found.end()) if found else Opened(start, is_unclosed=True)


@lru_cache(maxsize=_MAX_RUN)
def _ticks(count: int) -> re.Pattern[str]:
    return re.compile(rf"(?<!`)`{{{count}}}(?!`)")


def _indent(text: str, start: int, most: int) -> tuple[int, int]:
    """The columns by which the line that begins here is indented, at most so many, and where they end."""
    columns, at = 0, start
    while columns < most and text[at : at + 1] in {" ", "\t"}:
        columns = _after(text[at], columns)
        at += 1
    return columns, at


def _columns(blanks: str) -> int:
    columns = 0
    for blank in blanks:
        columns = _after(blank, columns)
    return columns


def _after(blank: str, columns: int) -> int:
    return columns + _TAB - columns % _TAB if blank == "\t" else columns + 1
