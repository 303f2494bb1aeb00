"""Removes a citation marker that names no source. Pure.

The blanks before it go too, and the comma if it ends a phrase. So do brackets and list items that are empty then.
"""

import re
from typing import NamedTuple

from whence.chat.citing.markers import PartialText, could_become_marker
from whence.chat.citing.output_buffer import REACH

_BLANKS = " \t\u00a0\u2009\u202f\u3000"
_COMMAS = tuple(",;、，；")
_PAIRS = {"(": ")", "（": "）", "[": "]", "【": "】", "［": "］", "{": "}"}
_OPENINGS = tuple(_PAIRS)
_HELD = f"{_BLANKS}{''.join(_PAIRS)}\\"
_PHRASE_ENDS = frozenset(["", *'.,;:!?…)]}\r\n。，、；：！？）】］」』%|*_"”'])

_INSIDE = re.compile(rf"[{_BLANKS}]{{0,8}}+")
_PAUSE = re.compile(rf"(?:[,;:.](?=\s|\Z)|[、，；])?[{_BLANKS}]{{0,8}}+")
_LINE = re.compile(r"[ \t>]{0,8}(?:(?:[-*+•]|\(?\d{1,3}[.)]|#{1,6})[ \t]{1,8})?")
_LINE_SO_FAR = re.compile(
    rf"[ \t>]{{0,8}}(?:[-*+•]|\(?\d{{0,3}}[.)]?|#{{1,6}})?[ \t]{{0,8}}[{_BLANKS}{re.escape(''.join(_PAIRS))}\\]*"
)
_LINE_END = re.compile(r"\r?\n|\Z")
_INDENT_BELOW = re.compile(r"(?:\r?\n){0,2}[ \t]{0,40}")
_GLUE = re.compile(r"(?:[`~\\]|<[a-zA-Z/]{0,8})\Z")
"""Text that could become code together with the text that follows."""


class MarkerRemoval(NamedTuple):
    size: int
    """Characters to cut from the end of the validated text."""
    filler: str
    """Text to write in their place."""
    end: int
    """Where to continue reading."""


def remove_marker(
    before: str, seen: PartialText, end: int, *, floor: int, keeps_lines: bool
) -> MarkerRemoval:
    """Removes the marker that ends at `end`. `before` is the end of the validated text, final up to `floor`.

    With `keeps_lines`, a line with nothing left stays as an empty line, so that it still ends a paragraph.
    """
    cut, end = _drop_empty_brackets(before, floor, seen, end)
    start = before.rfind("\n", 0, cut) + 1
    is_known = start >= floor and (start > 0 or len(before) < REACH)
    if is_known and _LINE.fullmatch(before, start, cut):
        end = _match_end(_PAUSE, seen, end)
        if line_end := _LINE_END.match(seen.text, end):
            line = before[start:cut]
            if line.strip(" \t>#") and _is_indented_below(line, seen, end):
                return MarkerRemoval(len(before) - cut, "", end)
            return MarkerRemoval(len(before) - start, "", end if keeps_lines else line_end.end())
        return MarkerRemoval(len(before) - cut, "", end)
    following = seen.peek(end)
    if following in _PHRASE_ENDS or following.isspace():
        bare = before[:cut].rstrip(_BLANKS)
        if following in _PHRASE_ENDS and bare.endswith(_COMMAS):
            bare = bare[:-1].rstrip(_BLANKS)
        cut = min(cut, max(floor, len(bare)))
    filler = "?" if could_become_marker(before[:cut]) else ""
    if before[cut - 1 : cut].isspace() or before[:cut].endswith(_OPENINGS):
        end = _match_end(_PAUSE, seen, end)
    elif not following.isspace() and _GLUE.search(before, max(0, cut - 10), cut):
        filler = filler or " "
    return MarkerRemoval(len(before) - cut, filler, end)


def held_size(before: str) -> int:
    """Number of characters at the end of the validated text that the next marker may cut."""
    line = before.rfind("\n") + 1
    if _LINE_SO_FAR.fullmatch(before, line):
        return len(before) - line
    bare = before.rstrip(_HELD)
    if bare.endswith(_COMMAS):
        bare = bare[:-1].rstrip(_BLANKS)
    return len(before) - len(bare)


def _drop_empty_brackets(before: str, floor: int, seen: PartialText, end: int) -> tuple[int, int]:
    """Where the text before the marker ends and where to continue, without brackets that are empty then."""
    cut = len(before)
    while True:
        opening = len(before[:cut].rstrip(_BLANKS)) - 1
        if opening < floor or before[opening] not in _PAIRS:
            return cut, end
        closing = _match_end(_INSIDE, seen, end)
        if seen.peek(closing) != _PAIRS[before[opening]]:
            return cut, end
        cut, end = opening, closing + 1


def _is_indented_below(line: str, seen: PartialText, end: int) -> bool:
    """Whether the next text is indented more than the list item, so that it belongs to the item."""
    below = seen.text[end : _match_end(_INDENT_BELOW, seen, end)].rpartition("\n")[2]
    return len(below) > len(line) - len(line.lstrip(" \t>"))


def _match_end(pattern: re.Pattern[str], seen: PartialText, at: int) -> int:
    """The end of the match. Raises `Incomplete` if more text could change it."""
    found = pattern.match(seen.text, at)
    end = found.end() if found else at
    seen.peek(end, 2)
    return end
