"""Finds cuts that do not split what a reader sees as one character.

Follows Unicode's extended grapheme clusters (UAX #29), derived from the standard library's tables:
marks, joiners, emoji sequences, flags, Hangul syllables, Indic conjuncts.
"""

import re
import unicodedata

_NOT_SPACE = re.compile(r"\S")
# Cf and Lo characters that continue a cluster although they are not marks.
_JOINER = "\u200d"
_EXTENDERS = frozenset("\u200c\u200d\u0e33\u0eb3\uff9e\uff9f")
_PREPENDED = frozenset(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\u0d4e\U000110bd\U000110cd"
)
_VIRAMAS = frozenset("\u094d\u09cd\u0acd\u0b4d\u0c4d\u0d4d")
_CONTROLS = frozenset(["Cc", "Cf", "Cs", "Zl", "Zp"])
# Categories that a joiner may connect; the standard library does not know which symbols are emoji.
_PICTURES = frozenset(["So", "Sm", "Po", "Cn"])
_VOWELS, _TRAILING = "\u1160-\u11a7\ud7b0-\ud7c6", "\u11a8-\u11ff\ud7cb-\ud7fb"
_LEADING = "\u1100-\u115f\ua960-\ua97c"
_SYLLABLE = re.compile(
    f"[{_LEADING}][{_LEADING}{_VOWELS}]|[{_VOWELS}][{_VOWELS}{_TRAILING}]|[{_TRAILING}]{{2}}"
)
_FIRST_EXTENDER = "\u0300"
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
    """The last offset in (low, high] that is not inside a cluster, or `high` if one cluster fills the range."""
    position = high
    while position > low:
        if not is_inside(text, position, low):
            return position
        position -= 1
    return high


def is_inside(text: str, position: int, low: int = 0) -> bool:
    """Whether a cut before `position` would split a cluster that starts at `low` or later."""
    if not 0 < position < len(text):
        return False
    before, after = text[position - 1], text[position]
    if after < _FIRST_EXTENDER:
        return (before == "\r" and after == "\n") or (before in _PREPENDED and after >= " ")
    if _is_control(before):
        return False
    if is_extender(after) or before in _PREPENDED:
        return not _is_control(after)
    if _is_flag_letter(after):
        return _odd_flag_letters_before(text, position, low)
    return (
        _joins_emoji(text, position, low)
        or _joins_hangul(before, after)
        or _joins_conjunct(text, position, low)
    )


def is_extender(character: str) -> bool:
    return character >= _FIRST_EXTENDER and (
        unicodedata.category(character)[0] == "M"
        or character in _EXTENDERS
        or "\U0001f3fb" <= character <= "\U0001f3ff"
        or "\U000e0020" <= character <= "\U000e007f"
    )


def _is_control(character: str) -> bool:
    return unicodedata.category(character) in _CONTROLS and not (
        is_extender(character) or character in _PREPENDED
    )


def _is_flag_letter(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _odd_flag_letters_before(text: str, position: int, low: int) -> bool:
    start = position
    while start > low and _is_flag_letter(text[start - 1]):
        start -= 1
    return (position - start) % 2 == 1


def _joins_emoji(text: str, position: int, low: int) -> bool:
    """Whether this is an emoji after an emoji, extenders and a zero-width joiner."""
    if text[position - 1] != _JOINER or unicodedata.category(text[position]) not in _PICTURES:
        return False
    base = position - 2
    while base > low and is_extender(text[base]):
        base -= 1
    return base >= low and unicodedata.category(text[base]) in _PICTURES


def _joins_hangul(before: str, after: str) -> bool:
    """Leading consonants, vowels and trailing consonants form a syllable in this order."""
    pair = unicodedata.normalize("NFD", before)[-1] + unicodedata.normalize("NFD", after)[0]
    return _SYLLABLE.fullmatch(pair) is not None


def _joins_conjunct(text: str, position: int, low: int) -> bool:
    """Whether a virama joins this consonant to the one before."""
    if not "\u0900" <= text[position] <= "\u0d7f" or unicodedata.category(text[position]) != "Lo":
        return False
    tied = False
    base = position - 1
    while base > low and is_extender(text[base]):
        tied = tied or text[base] in _VIRAMAS
        base -= 1
    return (
        tied and unicodedata.category(text[base]) == "Lo" and ord(text[base]) >> 7 == ord(text[position]) >> 7
    )
