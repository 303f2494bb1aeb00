"""Removes a citation marker that names no source. Pure.

The blanks before it go too, and the comma, dash or `and` if it ends a phrase. So do brackets and emphasis that are empty then,
and a list item or line with nothing left.
"""

import re
from typing import NamedTuple

from whence.chat.citing.markers import OPENING, PartialText, could_become_marker
from whence.chat.citing.output_buffer import REACH

_BLANK_CHARACTERS = " \t\u00a0\u2009\u202f\u3000"
_BLANK = f"[{_BLANK_CHARACTERS}]"
_BLANKS = re.compile(rf"{_BLANK}{{0,8}}+")
_SEPARATOR = rf"{_BLANK}{{0,8}}(?:(?<!&nbsp)[,;、，；–—-]{_BLANK}{{0,8}})?"
_SEPARATOR_BEFORE = re.compile(rf"{_SEPARATOR}(?:(?<={_BLANK})(?:and|or|&){_BLANK}{{1,8}})?\Z")
_PAUSE = re.compile(rf"(?:[,;:.](?=\s|\Z)|[、，；])?{_BLANK}{{0,8}}+")
_PHRASE_END = re.compile(r"[.,;:!?…)\]}\r\n。，、；：！？）】］」』%|*_\"”]|\Z")

_PAIRS = {"(": ")", "（": "）", "[": "]", "【": "】", "［": "］", "{": "}"}
_EMPHASIS = re.compile(r"(?:(?<=[\s(（])|\A)([*_]{1,3})\Z")
_LINE = re.compile(r"[ \t>]{0,8}(?:(?:[-*+•]|\(?\d{1,3}[.)]|#{1,6})[ \t]{1,8})?")
_LINE_END = re.compile(r"\r?\n|\Z")
_INDENT_BELOW = re.compile(r"(?:\r?\n){0,2}[ \t]{0,40}")
_EMPTY_LINE = re.compile(r"(?:\r?\n(?=\r?\n))?")  # it would end an item without text

HELD_REACH = 72
"""Longer than any text that is removed with a marker."""
_OPENINGS = rf"(?:(?:[(（\[【［{{]|[*_]{{1,3}}){_BLANK}{{0,8}}){{0,3}}\\?\Z"
_HELD_LINE = re.compile(rf"[ \t>]{{0,8}}(?:[-*+•]|\(?\d{{0,3}}[.)]?|#{{1,6}})?[ \t]{{0,8}}{_OPENINGS}")
_HELD = re.compile(rf"{_SEPARATOR}(?:(?<={_BLANK})(?:an?d?|or?|&){_BLANK}{{0,8}})?{_OPENINGS}")
_HELD_CHARACTERS = _BLANK_CHARACTERS + ",;、，；–—-&andor([{（【［*_\\"
_IN_WORD = re.compile(r"(?!and|or)\w\w[^\W\d_]\Z|[!?:]\Z")

_BLANK_STAYS_BEFORE = frozenset("([{（【［“‘«`$€£@#/<")
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
    cut = len(before)
    if not _is_line_start(before, cut, floor):
        cut = _separator_start(before, floor, seen, end)
    cut, end = _drop_empty_pairs(before, cut, floor, seen, end)
    if _is_line_start(before, cut, floor):
        end = _match_end(_PAUSE, seen, end)
        line_end = _LINE_END.match(seen.text, end)
        if line_end is None:
            return MarkerRemoval(len(before) - cut, "", end)
        start = before.rfind("\n", 0, cut) + 1
        if _continues_below(before[start:cut], seen, end):
            return MarkerRemoval(len(before) - cut, "", _match_end(_EMPTY_LINE, seen, end))
        return MarkerRemoval(len(before) - start, "", end if keeps_lines else line_end.end())
    start = _blanks_start(before, floor, cut)
    filler = "?" if could_become_marker(before[:start]) else ""
    if before[start - 1 : start].isspace() or _opening(before, start):
        return MarkerRemoval(len(before) - start, filler, _match_end(_PAUSE, seen, end))
    following = seen.peek(end)
    is_word = following.isalnum() or following in _BLANK_STAYS_BEFORE
    is_glued = bool(_GLUE.search(before, max(0, start - 10), start)) and not following.isspace()
    if (start < cut and is_word and following) or is_glued:
        filler = filler or " "
    return MarkerRemoval(len(before) - start, filler, end)


def held_size(before: str) -> int:
    """Number of characters at the end of the validated text that the next marker may cut."""
    if _IN_WORD.search(before, max(0, len(before) - 4)):
        return 0
    near = before[-HELD_REACH:]
    found = _HELD_LINE.match(near, near.rfind("\n") + 1) or _HELD.search(
        near, len(near.rstrip(_HELD_CHARACTERS))
    )
    return len(near) - found.start() if found else 0


def _is_line_start(before: str, end: int, floor: int) -> bool:
    start = before.rfind("\n", 0, end) + 1
    is_known = start >= floor and (start > 0 or len(before) < REACH)
    return is_known and _LINE.fullmatch(before, start, end) is not None


def _continues_below(mark: str, seen: PartialText, end: int) -> bool:
    """Whether a list item with only its mark on this line continues on the next lines."""
    below = seen.text[end : _match_end(_INDENT_BELOW, seen, end)].rpartition("\n")[2]
    text_column = len(mark.expandtabs(4).rstrip()) + 1
    return mark.strip(" \t>#") != "" and len(below.expandtabs(4)) >= text_column


def _separator_start(before: str, floor: int, seen: PartialText, end: int) -> int:
    """Where the separator before the marker begins, if the marker ends a phrase or another bracket follows."""
    after = _match_end(_BLANKS, seen, end)
    ends_phrase = _PHRASE_END.match(seen.text, end) or seen.text[after : after + 1] in OPENING
    least = max(floor, len(before.rstrip(_HELD_CHARACTERS)), len(before) - HELD_REACH)
    found = _SEPARATOR_BEFORE.search(before, least) if ends_phrase else None
    return found.start() if found else len(before)


def _drop_empty_pairs(before: str, cut: int, floor: int, seen: PartialText, end: int) -> tuple[int, int]:
    """Where the text before the marker ends and where to continue, without empty brackets and emphasis."""
    while True:
        opening = _opening(before, cut) or _opening(before, _blanks_start(before, floor, cut))
        closing = _PAIRS.get(opening, opening)
        start = before.rfind(opening, 0, cut) if opening else -1
        closed = _match_end(_BLANKS, seen, end) if opening in _PAIRS else end
        if start < floor or seen.peek(closed, len(closing)) != closing:
            return cut, end
        cut, end = start, closed + len(closing)


def _opening(before: str, end: int) -> str:
    """The bracket or emphasis that opens at the end of the text, if any."""
    if emphasis := _EMPHASIS.search(before, max(0, end - 4), end):
        return emphasis[1]
    return before[end - 1 : end] if before[end - 1 : end] in _PAIRS else ""


def _blanks_start(before: str, floor: int, end: int) -> int:
    least = max(floor, end - 8)
    return least + len(before[least:end].rstrip(_BLANK_CHARACTERS))


def _match_end(pattern: re.Pattern[str], seen: PartialText, at: int) -> int:
    """The end of the match. Raises `Incomplete` if more text could change it."""
    found = pattern.match(seen.text, at)
    end = found.end() if found else at
    seen.peek(end, 2)
    return end
