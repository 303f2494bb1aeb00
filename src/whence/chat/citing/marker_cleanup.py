"""Removes a citation marker and the punctuation that belongs to it. Pure.

The blanks before a marker are removed with it. If the marker ends a phrase, so is the comma, dash or `and` before it. Then
empty brackets and emphasis are removed, and a line with only a list mark left, unless the item continues below.
"""

import re
from typing import NamedTuple

from whence.chat.citing.markers import OPENING, could_become_marker
from whence.chat.citing.output_buffer import REACH
from whence.chat.citing.partial_text import PartialText

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
_EMPTY_LINE = re.compile(r"(?:\r?\n(?=\r?\n))?")
_OPENINGS = rf"(?:(?:[(（\[【［{{]|[*_]{{1,3}}){_BLANK}{{0,8}}){{0,3}}\\?\Z"
_HELD_LINE = re.compile(rf"[ \t>]{{0,8}}(?:[-*+•]|\(?\d{{0,3}}[.)]?|#{{1,6}})?[ \t]{{0,8}}{_OPENINGS}")
_HELD = re.compile(
    rf"(?:{_SEPARATOR}(?:(?<={_BLANK})(?:and|an|a|or|o|&){_BLANK}{{0,8}})?|{_SEPARATOR}){_OPENINGS}"
)
_JOINING_WORD = re.compile(r"(?:and|an|a|or|o|&)\Z")
HELD_REACH = 72
"""Longer than any text that is removed with a marker."""
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
        if line_end := _LINE_END.match(seen.text, end):
            start = before.rfind("\n", 0, cut) + 1
            if _continues_below(before[start:cut], seen, end):
                return MarkerRemoval(len(before) - cut, "", _match_end(_EMPTY_LINE, seen, end))
            return MarkerRemoval(len(before) - start, "", end if keeps_lines else line_end.end())
        return MarkerRemoval(len(before) - cut, "", end)
    start = _blanks_start(before, floor, cut)
    if _opens(before, start):
        return MarkerRemoval(len(before) - start, _guard(before[:start]), _match_end(_PAUSE, seen, end))
    following = seen.peek(end)
    is_word = following.isalnum() or following in _BLANK_STAYS_BEFORE
    is_glued = bool(_GLUE.search(before, max(0, start - 10), start)) and not following.isspace()
    filler = " " if (start < cut and is_word and following) or is_glued else ""
    return MarkerRemoval(len(before) - start, _guard(before[:start]) or filler, end)


def held_size(before: str) -> int:
    """Number of characters at the end of the validated text that the next marker may cut."""
    if _IN_WORD.search(before, max(0, len(before) - 4)):
        return 0
    near = before[-HELD_REACH:]
    found = _HELD_LINE.match(near, near.rfind("\n") + 1) or _HELD.search(near, _least_start(near))
    return len(near) - found.start() if found else 0


def _least_start(near: str) -> int:
    """A lower bound for the start of held text, to keep the search short."""
    text = near.rstrip(_BLANK_CHARACTERS + "([{（【［*_\\")
    word = _JOINING_WORD.search(text, max(0, len(text) - 3))
    return len(text[: word.start() if word else None].rstrip(_BLANK_CHARACTERS + ",;、，；–—-"))


def _is_line_start(before: str, end: int, floor: int) -> bool:
    start = before.rfind("\n", 0, end) + 1
    return (
        start >= floor
        and (start > 0 or len(before) < REACH)
        and _LINE.fullmatch(before, start, end) is not None
    )


def _continues_below(mark: str, seen: PartialText, end: int) -> bool:
    """Whether a list item with only its mark on this line continues on the next lines."""
    below = seen.text[end : _match_end(_INDENT_BELOW, seen, end)].rpartition("\n")[2]
    text_column = len(mark.expandtabs(4).rstrip()) + 1
    return mark.strip(" \t>#") != "" and len(below.expandtabs(4)) >= text_column


def _separator_start(before: str, floor: int, seen: PartialText, end: int) -> int:
    """Where the separator before the marker begins, if the marker ends a phrase or another bracket follows."""
    after = _match_end(_BLANKS, seen, end)
    ends_phrase = _PHRASE_END.match(seen.text, end) or seen.text[after : after + 1] in OPENING
    least = max(floor, len(before) - HELD_REACH)
    found = ends_phrase and _SEPARATOR_BEFORE.search(before, least + _least_start(before[least:]))
    return found.start() if found else len(before)


def _drop_empty_pairs(before: str, cut: int, floor: int, seen: PartialText, end: int) -> tuple[int, int]:
    """Where the text before the marker ends and where to continue, without empty brackets and emphasis."""
    while True:
        emphasis = _EMPHASIS.search(before, max(0, cut - 4), cut)
        opening = emphasis.start(1) if emphasis else _blanks_start(before, floor, cut) - 1
        closing = emphasis[1] if emphasis else _PAIRS.get(before[max(opening, 0) : opening + 1], "")
        closed = end if emphasis or not closing else _match_end(_BLANKS, seen, end)
        if opening < floor or not closing or seen.peek(closed, len(closing)) != closing:
            return cut, end
        cut, end = opening, closed + len(closing)


def _opens(before: str, end: int) -> bool:
    """Whether the text ends with an opening bracket or emphasis, or with a blank."""
    last = before[end - 1 : end]
    return last in _PAIRS or last.isspace() or bool(_EMPHASIS.search(before, max(0, end - 4), end))


def _guard(before: str) -> str:
    return "?" if could_become_marker(before) else ""


def _blanks_start(before: str, floor: int, end: int) -> int:
    least = max(floor, end - 8)
    return least + len(before[least:end].rstrip(_BLANK_CHARACTERS))


def _match_end(pattern: re.Pattern[str], seen: PartialText, at: int) -> int:
    """The end of the match. Raises `Incomplete` if more text could change it."""
    found = pattern.match(seen.text, at)
    end = found.end() if found else at
    seen.peek(end, 2)
    return end
