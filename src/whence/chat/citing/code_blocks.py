"""Finds code in an answer; the validator changes nothing inside it. Pure.

A block is fenced, or enclosed by `<pre>` at the start of a line and `</pre>`, or indented after an empty line: by four
columns, in a list item by four more than its text. A span is enclosed by back ticks, `<code>` tags or `<pre>` tags in one
paragraph.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from whence.chat.citing.markers import Incomplete, PartialText
from whence.chat.citing.output_buffer import REACH

MAX_SPAN = 1000
"""Maximum length of a code span. An unclosed back tick delays a stream by no more."""
_MAX_RUN = 128
_RUN = re.compile(rf"`{{1,{_MAX_RUN}}}|~{{1,{_MAX_RUN}}}")
_FENCE = 3
_INFO = {"`": re.compile(r"[^`\n]{0,200}"), "~": re.compile(r"[^\n]{0,200}")}
_FENCE_END = re.compile(r"[ \t>]{0,40}(`{3,128}|~{3,128})[ \t]{0,16}\r?\n")
_FENCE_END_SO_FAR = re.compile(r"[ \t>]{0,40}(?:`{0,128}|~{0,128})[ \t]{0,16}\r?")

_TAG = re.compile(r"<(code|pre)(?:\s[^<>\n]{0,200})?>", re.IGNORECASE)
_TAG_SO_FAR = re.compile(r"<(?:c|co|cod|p|pr|(?:code|pre)(?:\s[^<>\n]{0,200})?)?", re.IGNORECASE)
_CODE_END = re.compile(r"</code\s{0,8}>", re.IGNORECASE)
_PRE = "</pre>"
_PRE_END = re.compile(_PRE, re.IGNORECASE)
_PRE_END_SO_FAR = re.compile(r"<(?:/(?:p(?:re?)?)?)?\Z", re.IGNORECASE)

INDENTED_LINE = r"\n(?= {4}| {0,3}\t| {0,3}\Z)"
"""The line feed before a line whose indent may make it code."""
_INDENT = re.compile(r"[ \t]{0,64}")
_CODE_COLUMNS = 4
_LIST_MARK = re.compile(r"(?!(?:[-*][ \t]*){3,}\r?\Z)(?:[-*+•]|[0-9]{1,9}[.)])(?:[ \t]+|\r?\Z)")
_PARAGRAPH_END = re.compile(r"\n[ \t>]{0,40}(?:\r?\n|```|~~~|\||(?:[-*+•]|#{1,6}|\d{1,9}[.)])\s)")
LINE_PREFIX = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*")


class CodeBlock(NamedTuple):
    """An open code block."""

    closing: str
    """The fence or the tag; empty if the block ends with its indent."""
    is_line_start: bool
    """Whether the text not read yet begins a line."""
    columns: int = 0
    """The minimum indent of its lines."""


class Opened(NamedTuple):
    """The result of reading back ticks, tildes or a tag."""

    end: int
    """Where to continue reading: in the block, or after the span."""
    block: CodeBlock | None = None
    is_unclosed: bool = False
    """Whether it begins a span that its paragraph does not close."""


def begins_line(before: str) -> bool:
    """Whether the line has only list marks and quote marks so far."""
    start = before.rfind("\n") + 1
    return (start > 0 or len(before) < REACH) and bool(LINE_PREFIX.fullmatch(before, start))


class Margin:
    """Decides by their indent which lines are code."""

    def __init__(self) -> None:
        self._column = 0
        """The text column of the open list item."""
        self._is_paragraph = False
        """Whether the next line continues a paragraph."""

    def read(self, text: str) -> None:
        """Reads whole lines of validated text; a code block counts as one line."""
        for line in text.split("\n")[:-1]:
            self._read_line(line)

    def _read_line(self, line: str) -> None:
        column, start = _columns(line, 0)
        mark = _LIST_MARK.match(line, start)
        is_blank = not line[start:].strip()
        if mark or not (self._is_paragraph or is_blank):
            self._column = min(self._column, column)
        if mark:
            size = len(mark[0].rstrip())
            text_column, _ = _columns(f"{line[:start]}{' ' * size}{mark[0][size:]}", 0)
            is_far = not 0 < text_column - column - size <= _CODE_COLUMNS
            self._column = column + size + 1 if is_far else text_column
        self._is_paragraph = not is_blank and not (mark and mark.end() == len(line))

    def open_block(self, seen: PartialText, start: int) -> CodeBlock | None:
        """The block that begins with the indented line at `start`."""
        least = _CODE_COLUMNS + self._column
        columns, end = _columns(seen.text, start)
        if columns < least:
            seen.peek(end)
        is_code = columns >= least and not self._is_paragraph
        return CodeBlock("", is_line_start=True, columns=least) if is_code else None


def open_code(seen: PartialText, start: int, before: str) -> Opened:
    """Reads back ticks, tildes or `<` at `start`. `before` is the validated text so far."""
    if seen.text[start] == "<":
        return _open_tag(seen, start, before)
    found = _RUN.match(seen.text, start)
    run = found[0] if found else ""
    end = start + len(run)
    if end == len(seen.text) and len(run) < _MAX_RUN and not seen.is_whole:
        raise Incomplete
    if before.endswith(run[0]) or len(run) == _MAX_RUN:  # too long for a fence or a span
        return Opened(end)
    if run[0] == "`" and (len(before) - len(before.rstrip("\\"))) % 2:
        return Opened(start + 1)
    if len(run) >= _FENCE and begins_line(before):
        info = _INFO[run[0]].match(seen.text, end)
        line_end = info.end() if info else end
        following = seen.peek(line_end)
        if following in {"\n", ""}:
            return Opened(line_end + len(following), CodeBlock(run, bool(following)))
    return _span(seen, end, _ticks(len(run))) if run[0] == "`" else Opened(end)


def read_block(seen: PartialText, start: int, block: CodeBlock) -> tuple[int, CodeBlock | None]:
    """The end of the block, or of the text that certainly belongs to it."""
    if block.closing == _PRE:
        return _read_pre(seen, start, block)
    at, is_line_start = start, block.is_line_start
    while at < len(seen.text):
        if is_line_start:
            end = _block_end(seen.text, at, block)
            if end is not None:
                return end, None
            if not seen.is_whole and _may_end(seen.text, at, block):
                break
        line_end = seen.text.find("\n", at)
        is_line_start = line_end >= 0
        at = line_end + 1 if line_end >= 0 else len(seen.text)
    return at, block._replace(is_line_start=is_line_start)


def _block_end(text: str, at: int, block: CodeBlock) -> int | None:
    """The end of the block if the line at `at` ends it."""
    if block.closing:
        found = _FENCE_END.match(text, at)
        return found.end() if found and found[1].startswith(block.closing) else None
    columns, end = _columns(text, at)
    is_blank = end == len(text) or text[end] in "\r\n"
    return None if columns >= block.columns or is_blank else at


def _may_end(text: str, at: int, block: CodeBlock) -> bool:
    """Whether the incomplete line at `at` may end the block."""
    if block.closing:
        return _FENCE_END_SO_FAR.fullmatch(text, at) is not None
    columns, end = _columns(text, at)
    return end == len(text) and columns < block.columns


def _columns(text: str, at: int) -> tuple[int, int]:
    found = _INDENT.match(text, at)
    indent = found[0] if found else ""
    return len(indent.expandtabs(_CODE_COLUMNS)), at + len(indent)


def _read_pre(seen: PartialText, start: int, block: CodeBlock) -> tuple[int, CodeBlock | None]:
    if found := _PRE_END.search(seen.text, start):
        return found.end(), None
    near = max(start, len(seen.text) - len(_PRE))
    so_far = None if seen.is_whole else _PRE_END_SO_FAR.search(seen.text, near)
    return so_far.start() if so_far else len(seen.text), block


def _open_tag(seen: PartialText, start: int, before: str) -> Opened:
    tag = _TAG.match(seen.text, start)
    if tag is None:
        if not seen.is_whole and _TAG_SO_FAR.fullmatch(seen.text, start):
            raise Incomplete
        return Opened(start + 1)
    if tag[1].lower() == "code":
        return _span(seen, tag.end(), _CODE_END)
    if begins_line(before):
        return Opened(tag.end(), CodeBlock(_PRE, is_line_start=False))
    return _span(seen, tag.end(), _PRE_END)


def _span(seen: PartialText, start: int, closing: re.Pattern[str]) -> Opened:
    """The code span whose text begins at `start`, if it is closed in its paragraph."""
    limit = start + MAX_SPAN
    paragraph_end = _PARAGRAPH_END.search(seen.text, start, limit)
    found = closing.search(seen.text, start, paragraph_end.start() if paragraph_end else limit)
    if not seen.is_whole and (
        found.end() == len(seen.text) if found else not paragraph_end and len(seen.text) < limit
    ):
        raise Incomplete
    return Opened(found.end()) if found else Opened(start, is_unclosed=True)


@lru_cache(maxsize=_MAX_RUN)
def _ticks(count: int) -> re.Pattern[str]:
    return re.compile(rf"(?<!`)`{{{count}}}(?!`)")
