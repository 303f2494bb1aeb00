"""Finds cuts that do not separate a letter from its marks, nor the parts of an emoji or a flag."""

import re
import unicodedata

_NOT_SPACE = re.compile(r"\S")
_JOINER = "\u200d"
# They continue a character although they are not marks: joiners, some Thai and Japanese signs, skin tones, tags.
_EXTENDERS = re.compile("[\u200c\u200d\u0e33\u0eb3\uff9e\uff9f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]")
_FIRST_EXTENDER = "\u0300"
_CONTROLS = frozenset(["Cc", "Zl", "Zp"])
_NEAR = 4


def first_content(text: str, position: int) -> int:
    """Offset of the next visible character, or the end of the text."""
    near = text[position : position + _NEAR]
    if content := near.lstrip():
        start = position + len(near) - len(content)
    elif found := _NOT_SPACE.search(text, position):
        start = found.start()
    else:
        return len(text)
    # A combining mark after a space belongs to that space.
    if text[start] >= _FIRST_EXTENDER and start > position and is_inside(text, start):
        return start - 1
    return start


def cut_before(text: str, low: int, high: int) -> int:
    """The last offset in (low, high] that does not split a character, or `high` if one character fills the range."""
    position = high
    while position > low:
        if not is_inside(text, position, low):
            return position
        position -= 1
    return high


def is_inside(text: str, position: int, low: int = 0) -> bool:
    """Whether a cut before `position` would split what readers see as one character, from `low` on."""
    if not 0 < position < len(text):
        return False
    before, after = text[position - 1], text[position]
    if after < _FIRST_EXTENDER:
        return before == "\r" and after == "\n"
    if _is_flag_letter(after):  # two of them are one flag
        start = position
        while start > low and _is_flag_letter(text[start - 1]):
            start -= 1
        return (position - start) % 2 == 1
    continues = before == _JOINER or unicodedata.category(after)[0] == "M" or _EXTENDERS.match(after)
    return bool(continues) and unicodedata.category(before) not in _CONTROLS


def _is_flag_letter(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"
