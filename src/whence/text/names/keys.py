"""When two names are the same name."""

import re
import unicodedata

_SPACE = re.compile(r"\s+")
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
_SINGLE_QUOTES = "\u2018\u2019\u201a\u201b\u2032\u2039\u203a\u02bc\u00b4"
_DOUBLE_QUOTES = "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb"
_UNIFIED = str.maketrans(
    dict.fromkeys(_DASHES, "-") | dict.fromkeys(_SINGLE_QUOTES, "'") | dict.fromkeys(_DOUBLE_QUOTES, '"')
)
# What may stand around a name without being part of it. Dots only behind: ".NET" is not "NET". Neither "C#", "C++"
# nor "_id" loses anything.
_AROUND = " \"'`*,;:!?"
_BEHIND = _AROUND + "."
_BRACKETS = {"(": ")", "[": "]", "{": "}", "<": ">"}


def fold(text: str) -> str:
    """The text without what only typography tells apart: case, kinds of white space, dashes, quotes, ligatures.

    Idempotent: Unicode's compatibility case folding, with invisible characters gone.
    """
    if text.isascii() and text.isprintable():  # most names: only their case and spaces can differ
        return " ".join(text.lower().split())
    visible = "".join(c for c in text.translate(_UNIFIED) if c.isspace() or not _is_invisible(c))
    once = unicodedata.normalize("NFKC", unicodedata.normalize("NFD", visible).casefold())
    again = unicodedata.normalize("NFKC", once.casefold()).translate(_UNIFIED)
    return _SPACE.sub(" ", again).strip()


def name_key(name: str) -> str:
    """What two names of one thing have in common: `“OAuth  2.0.”` and `oauth 2.0` are one name.

    Idempotent, and never empty for a name that is not.
    """
    folded = fold(name)
    if folded[:1].isalnum() and folded[-1:].isalnum():  # then there is nothing around it
        return folded
    return _bared(folded) or folded or name


def identifier_key(name: str) -> str:
    """For the names of types and properties: `dueDate`, `due_date` and `Due date` are one name."""
    return re.sub(r"[\s_\-.]+", "", fold(name)) or fold(name) or name


def _is_invisible(character: str) -> bool:
    return unicodedata.category(character) in {"Cc", "Cf"}


def _bared(text: str) -> str:
    """The text without quotes, brackets and stops around it; brackets that belong to it stay: `f(x)`."""
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
