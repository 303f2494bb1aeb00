"""Normalises names, so that two spellings of one name are equal."""

import re
import unicodedata

_SPACE = re.compile(r"\s+")
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
_SINGLE_QUOTES = "\u2018\u2019\u201a\u201b\u2032\u2039\u203a\u02bc\u00b4"
_DOUBLE_QUOTES = "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb"
_UNIFIED = str.maketrans(
    dict.fromkeys(_DASHES, "-") | dict.fromkeys(_SINGLE_QUOTES, "'") | dict.fromkeys(_DOUBLE_QUOTES, '"')
)
# Characters around a name that are not part of it. Dots only behind it: ".NET" is not "NET". "C#", "C++" and "_id" stay
# as they are.
_AROUND = " \"'`*,;:!?"
_BEHIND = _AROUND + "."
_BRACKETS = {"(": ")", "[": "]", "{": "}", "<": ">"}


def fold(text: str) -> str:
    """The text without differences of typography: case, white space, dashes, quotes, ligatures.

    Applies Unicode's compatibility case folding and removes invisible characters. Idempotent.
    """
    if text.isascii() and text.isprintable():  # most names: only case and spaces differ
        return " ".join(text.lower().split())
    visible = "".join(c for c in text.translate(_UNIFIED) if c.isspace() or not _is_invisible(c))
    once = unicodedata.normalize("NFKC", unicodedata.normalize("NFD", visible).casefold())
    again = unicodedata.normalize("NFKC", once.casefold()).translate(_UNIFIED)
    return _SPACE.sub(" ", again).strip()


def name_key(name: str) -> str:
    """The key to compare names by: `“OAuth  2.0.”` and `oauth 2.0` have the same.

    Idempotent. Empty only for an empty name.
    """
    folded = fold(name)
    if folded[:1].isalnum() and folded[-1:].isalnum():  # nothing to strip
        return folded
    return _bared(folded) or folded or name


def identifier_key(name: str) -> str:
    """The key to compare names of types and properties by: `dueDate`, `due_date` and `Due date` have the same."""
    return re.sub(r"[\s_\-.]+", "", fold(name)) or fold(name) or name


def _is_invisible(character: str) -> bool:
    return unicodedata.category(character) in {"Cc", "Cf"}


def _bared(text: str) -> str:
    """Strips quotes, brackets and punctuation around the text. Brackets that belong to it stay: `f(x)`."""
    while True:
        bare = text.lstrip(_AROUND).rstrip(_BEHIND)
        opening, closing = bare[:1], bare[-1:]
        if opening in _BRACKETS and _BRACKETS[opening] == closing and opening not in bare[1:]:
            bare = bare[1:-1]
        elif opening in _BRACKETS and _BRACKETS[opening] not in bare:
            bare = bare[1:]
        elif closing and closing in _BRACKETS.values() and not _is_opened(bare, closing):
            bare = bare[:-1]
        if bare == text:
            return text
        text = bare


def _is_opened(text: str, closing: str) -> bool:
    return any(opening in text for opening, other in _BRACKETS.items() if other == closing)
