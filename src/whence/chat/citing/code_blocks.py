"""Finds code in an answer; the validator changes nothing inside it. Pure.

A block is fenced, or indented after an empty line: by four columns, in a list item by four more than its text. A span is
enclosed by back ticks in one paragraph.
"""

import re
from typing import NamedTuple

from whence.chat.citing.markers import Incomplete, PartialText
from whence.chat.citing.output_buffer import REACH

_MAX_SPAN = REACH
"""Maximum length of a code span. An unclosed back tick delays a stream by no more."""
_MAX_RUN = 128
_RUN = re.compile(rf"`{{1,{_MAX_RUN}}}|~{{1,{_MAX_RUN}}}")
_FENCE = re.compile(r"`{3,}[^`\n]{0,200}|~{3,}[^\n]{0,200}")
_FENCE_END = re.compile(r"[ \t>]{0,40}(`{3,128}|~{3,128})[ \t]{0,16}\r?\n")
_FENCE_END_SO_FAR = re.compile(r"[ \t>]{0,40}(?:`{0,128}|~{0,128})[ \t]{0,16}\r?")

_INDENT = re.compile(r"[ \t]{0,64}")
_CODE_COLUMNS = 4
_LIST_MARK = re.compile(r"(?!(?:[-*] *){3,}\Z) *(?:[-*+•]|[0-9]{1,9}[.)])(?: {1,4}|\Z)")
_PARAGRAPH_END = re.compile(r"\n[ \t>]{0,40}(?:\r?\n|```|~~~|\||(?:[-*+•]|#{1,6}|\d{1,9}[.)])\s)")
_LINE_PREFIX = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*")


class CodeBlock(NamedTuple):
    """An open code block."""

    fence: str = ""
    """Empty if the block ends with its indent."""
    columns: int = 0
    """The minimum indent of its lines."""
    is_line_start: bool = True
    """Whether the text not read yet begins a line."""


def begins_line(before: str) -> bool:
    """Whether the line has only list marks and quote marks so far."""
    start = before.rfind("\n") + 1
    return (start > 0 or len(before) < REACH) and bool(_LINE_PREFIX.fullmatch(before, start))


class Margin:
    """Decides by their indent which lines are code."""

    def __init__(self) -> None:
        self._column = 0
        """The text column of the open list item."""
        self._is_paragraph = False
        """Whether the next line continues a paragraph."""

    def read(self, text: str) -> None:
        """Reads whole lines of validated text; a code block counts as one line."""
        for written in text.split("\n")[:-1]:
            line = written.expandtabs(_CODE_COLUMNS).rstrip("\r")
            mark = _LIST_MARK.match(line)
            if mark:
                self._column = len(mark[0].rstrip()) + 1 if mark.end() == len(line) else mark.end()
            elif line.strip() and not self._is_paragraph:
                self._column = min(self._column, len(line) - len(line.lstrip(" ")))
            self._is_paragraph = bool(line[mark.end() if mark else 0 :].strip())

    def open_block(self, seen: PartialText, start: int) -> CodeBlock | None:
        """The block that begins with the indented line at `start`."""
        least = _CODE_COLUMNS + self._column
        columns, end = _columns(seen.text, start)
        if columns < least:
            seen.peek(end)
        return CodeBlock(columns=least) if columns >= least and not self._is_paragraph else None


def open_code(seen: PartialText, start: int, before: str) -> tuple[int, CodeBlock | None]:
    """Reads back ticks or tildes at `start`: the end of the span or of the first line of the block, and the block.

    `before` is the validated text so far.
    """
    found = _RUN.match(seen.text, start)
    run = found[0] if found else ""
    end = start + len(run)
    if end == len(seen.text) and len(run) < _MAX_RUN and not seen.is_whole:
        raise Incomplete
    if before.endswith(run[0]) or len(run) == _MAX_RUN:  # too long for a fence or a span
        return end, None
    if run[0] == "`" and (len(before) - len(before.rstrip("\\"))) % 2:
        return start + 1, None
    if begins_line(before) and (fence := _FENCE.match(seen.text, start)):
        following = seen.peek(fence.end())
        if following in {"\n", ""}:
            return fence.end() + len(following), CodeBlock(run, is_line_start=bool(following))
    return _span_end(seen, end, len(run)) if run[0] == "`" else end, None


def _span_end(seen: PartialText, start: int, ticks: int) -> int:
    """The end of the code span whose text begins at `start`; the start if its paragraph does not close it."""
    limit = start + _MAX_SPAN
    paragraph_end = _PARAGRAPH_END.search(seen.text, start, limit)
    closing = re.compile(rf"(?<!`)`{{{ticks}}}(?!`)")
    found = closing.search(seen.text, start, paragraph_end.start() if paragraph_end else limit)
    if not seen.is_whole and (
        found.end() == len(seen.text) if found else not paragraph_end and len(seen.text) < limit
    ):
        raise Incomplete
    return found.end() if found else start


def read_block(seen: PartialText, start: int, block: CodeBlock) -> tuple[int, CodeBlock | None]:
    """The end of the block's line at `start`, and the block if it goes on."""
    text = seen.text
    if block.is_line_start:
        if block.fence:
            end = _FENCE_END.match(text, start)
            if end and end[1].startswith(block.fence):
                return end.end(), None
            is_undecided = _FENCE_END_SO_FAR.fullmatch(text, start) is not None
        else:
            columns, indent_end = _columns(text, start)
            is_undecided = columns < block.columns and indent_end == len(text)
            if columns < block.columns and text[indent_end : indent_end + 1] not in {"", "\r", "\n"}:
                return start, None
        if is_undecided and not seen.is_whole:
            raise Incomplete
    line_end = text.find("\n", start) + 1
    return line_end or len(text), block._replace(is_line_start=line_end > 0)


def _columns(text: str, at: int) -> tuple[int, int]:
    """The width of the indent at `at`, and its end."""
    found = _INDENT.match(text, at)
    indent = found[0] if found else ""
    return len(indent.expandtabs(_CODE_COLUMNS)), at + len(indent)
