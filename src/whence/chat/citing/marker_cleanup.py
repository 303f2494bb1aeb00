"""Removes a citation marker that names no source. Pure.

The blanks before it go too, and the comma, dash or "and" if it ends a phrase. So do brackets, emphasis and list items that
are empty then.
"""

import re
from collections.abc import Sequence

from whence.chat.citing.markers import PartialText, could_become_marker
from whence.chat.citing.output_buffer import REACH

_BLANKS = " \t\u00a0\u2009\u202f\u3000"
_COMMAS = tuple(",;、，；–—-")
_WORDS = (" and", " or", " &")
_PAIRS = {"(": ")", "（": "）", "[": "]", "【": "】", "［": "］", "{": "}"}
_OPENING = re.compile(
    rf"(?P<bracket>[{re.escape(''.join(_PAIRS))}])[{_BLANKS}]{{0,8}}\Z|(?<![\w*_])(?P<emphasis>[*_]{{1,3}})\Z"
)
_LONGEST_OPENING = 9
_HELD = f"{_BLANKS}{''.join(_PAIRS)}*_\\"
_PHRASE_ENDS = frozenset(["", *'.,;:!?…)]}\r\n。，、；：！？）】］」』%|*_"”'])

_INSIDE = re.compile(rf"[{_BLANKS}]{{0,8}}+")
_PAUSE = re.compile(rf"(?:[,;:.](?=\s|\Z)|[、，；])?[{_BLANKS}]{{0,8}}+")
_LINE = re.compile(r"[ \t>]{0,8}(?:(?:[-*+•]|\(?\d{1,3}[.)]|#{1,6})[ \t]{1,8})?")
_LINE_SO_FAR = re.compile(
    rf"[ \t>]{{0,8}}(?:[-*+•]|\(?\d{{0,3}}[.)]?|#{{1,6}})?[ \t]{{0,8}}[{re.escape(_HELD)}]*"
)
_LINE_END = re.compile(r"\r?\n|\Z")
_INDENT_BELOW = re.compile(r"(?:\r?\n){0,2}[ \t]{0,40}")
_GLUE = ("`", "~", "\\")
"""Text that could become code together with the text that follows."""


def remove_marker(before: str, seen: PartialText, end: int, *, floor: int) -> tuple[int, str, int]:
    """Removes the marker that ends at `end`. `before` is the end of the validated text, final up to `floor`.

    Returns the size to keep of `before`, the text to write behind it, and where to continue reading.
    """
    cut, end = _drop_empty_pairs(before, floor, seen, end)
    start = before.rfind("\n", 0, cut) + 1
    is_known = start >= floor and (start > 0 or len(before) < REACH)
    if is_known and _LINE.fullmatch(before, start, cut):
        end = _match_end(_PAUSE, seen, end)
        if line_end := _LINE_END.match(seen.text, end):
            line = before[start:cut]
            if line.strip(" \t>#") and _is_indented_below(line, seen, end):
                return cut, "", end
            # An empty line keeps an open back tick and the next one apart.
            return start, "", (end if "`" in before else line_end.end())
        return cut, "", end
    following = seen.peek(end)
    if following in _PHRASE_ENDS or following.isspace():
        bare = before[:cut].rstrip(_BLANKS)
        bare = _drop_separator(bare, _WORDS) if following in _PHRASE_ENDS else bare
        cut = min(cut, max(floor, len(bare)))
    filler = "?" if could_become_marker(before[:cut]) else ""
    if before[cut - 1 : cut].isspace() or _opening(before, floor, cut):
        end = _match_end(_PAUSE, seen, end)
    elif not following.isspace() and before[:cut].endswith(_GLUE):
        filler = filler or " "
    return cut, filler, end


def held_size(before: str) -> int:
    """Number of characters at the end of the validated text that the next marker may cut."""
    line = before.rfind("\n") + 1
    if _LINE_SO_FAR.fullmatch(before, line):
        return len(before) - line
    return len(before) - len(_drop_separator(before.rstrip(_HELD), (*_WORDS, " a", " an", " o")))


def _drop_separator(bare: str, words: Sequence[str]) -> str:
    for endings in (words, _COMMAS):
        bare = next((bare[: -len(one)] for one in endings if bare.endswith(one)), bare).rstrip(_BLANKS)
    return bare


def _drop_empty_pairs(before: str, floor: int, seen: PartialText, end: int) -> tuple[int, int]:
    """The end of the text before the marker and the start of the text after it, without empty brackets and emphasis."""
    cut = len(before)
    while opening := _opening(before, floor, cut):
        closing = _PAIRS[opening["bracket"]] if opening["bracket"] else opening["emphasis"]
        at = _match_end(_INSIDE, seen, end) if opening["bracket"] else end
        if seen.peek(at, len(closing)) != closing:
            break
        cut, end = opening.start(), at + len(closing)
    return cut, end


def _opening(before: str, floor: int, cut: int) -> re.Match[str] | None:
    """The bracket or emphasis that opens at the end of the text."""
    return _OPENING.search(before, max(floor, cut - _LONGEST_OPENING), cut)


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
