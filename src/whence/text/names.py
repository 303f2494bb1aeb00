"""Names of things: comparison, display, and candidates in a text. Pure."""

import re
import unicodedata
from collections import Counter

from whence.text.cjk import UNSPACED

MAX_WORDS = 8
MAX_CHARACTERS = 12

# Words are separated by white space and punctuation, but "C#", "C++" and ".NET" are words.
_WORD = re.compile(r"(?:(?<!\S)\.)?[^\s!-/:-@\[-^`{-~\u2000-\u206f\u3000-\u303f\uff00-\uff0f]+[#+]*")
_UNSPACED = re.compile(f"[{UNSPACED}]+")
_STOPS = ".,; "
# Initials ("J.", "U.S.", "Ph.D.") and these abbreviations keep their own full stop.
_INITIALS = re.compile(r"(?:[^\W\d_]{1,2}\.)*[^\W\d_]")
_ABBREVIATED = re.compile(
    "inc|ltd|co|corp|llc|plc|bros|dept|etc|jr|sr|st|dr|mrs?|ms|prof|vs|n[or]|vol|fig|eds?|univ", re.IGNORECASE
)
_SPACE = re.compile(r"\s+")
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
_SINGLE_QUOTES = "\u2018\u2019\u201a\u201b\u2032\u2039\u203a\u02bc\u00b4"
_DOUBLE_QUOTES = "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb"
TYPOGRAPHY = (
    dict.fromkeys(_DASHES, "-") | dict.fromkeys(_SINGLE_QUOTES, "'") | dict.fromkeys(_DOUBLE_QUOTES, '"')
)
"""Dashes and quotes, and the plain character that each counts as."""
_UNIFIED = str.maketrans(TYPOGRAPHY)
# Characters around a name that are not part of it. Dots only behind it: ".NET" is not "NET". "C#", "C++" and "_id" stay.
_AROUND = " \"'`*,;:!?"
_BEHIND = _AROUND + "."
_BRACKETS = {"(": ")", "[": "]", "{": "}", "<": ">"}
_OPENED_BY = {closing: opening for opening, closing in _BRACKETS.items()}


def fold(text: str) -> str:
    """The text without invisible characters and differences of case, white space, dashes, quotes and ligatures. Idempotent."""
    if text.isascii() and text.isprintable():  # most names: only case and spaces differ
        return " ".join(text.lower().split())
    unified = text.translate(_UNIFIED)
    visible = "".join(c for c in unified if c.isspace() or unicodedata.category(c) not in {"Cc", "Cf"})
    once = unicodedata.normalize("NFKC", unicodedata.normalize("NFD", visible).casefold())
    again = unicodedata.normalize("NFKC", once.casefold()).translate(_UNIFIED)
    return _SPACE.sub(" ", again).strip()


def name_key(name: str) -> str:
    """The key to compare names by: `“OAuth  2.0.”` and `oauth 2.0` have the same. Idempotent; empty only for an empty name."""
    folded = fold(name)
    if folded[:1].isalnum() and folded[-1:].isalnum():  # nothing to strip
        return folded
    return _strip_around(folded) or folded or name


def identifier_key(name: str) -> str:
    """The key to compare names of types and properties by: `dueDate`, `due_date` and `Due date` have the same."""
    return re.sub(r"[\s_\-.]+", "", fold(name)) or fold(name) or name


def _strip_around(text: str) -> str:
    """Strips quotes, brackets and punctuation around the text. Brackets that belong to it stay: `f(x)`."""
    start, end, left = 0, len(text), Counter(c for c in text if c in _BRACKETS or c in _OPENED_BY)
    while True:
        while start < end and text[start] in _AROUND:
            start += 1
        while start < end and text[end - 1] in _BEHIND:
            end -= 1
        if start == end:
            return ""
        opening, closing = text[start], text[end - 1]
        pair = _BRACKETS.get(opening)
        if pair is not None and pair == closing and left[opening] == 1:
            start, end = start + 1, end - 1
            left.subtract((opening, closing))
        elif pair is not None and not left[pair]:
            start += 1
            left.subtract(opening)
        elif closing in _OPENED_BY and not left[_OPENED_BY[closing]]:
            end -= 1
            left.subtract(closing)
        else:
            return text[start:end]


def display_name(name: str) -> str:
    """`OAuth 2.0.` becomes `OAuth 2.0`; `Acme Inc.` stays. The `name_key` does not change."""
    bare = name.rstrip(_STOPS)
    if bare == name or not any(map(str.isalnum, bare)):
        return name
    word = "".join(bare.split()[-1:])
    is_short = _ABBREVIATED.fullmatch(word) or _INITIALS.fullmatch(word)
    return f"{bare}." if name[len(bare)] == "." and is_short else bare


def names_in(text: str) -> set[str]:
    """Normalised names of up to eight words; in scripts without spaces, up to twelve characters."""
    folded = fold(text)
    words = list(_WORD.finditer(folded))
    found = {
        _name(folded, first, last) for at, first in enumerate(words) for last in words[at : at + MAX_WORDS]
    }
    for run in _UNSPACED.finditer(folded):
        found |= {
            folded[start:end]
            for start in range(run.start(), run.end())
            for end in range(start + 1, min(start + MAX_CHARACTERS, run.end()) + 1)
        }
    return found


def _name(text: str, first: re.Match[str], last: re.Match[str]) -> str:
    name = text[first.start() : last.end()]
    if name.count("(") > name.count(")") and text[last.end() : last.end() + 1] == ")":
        name += ")"
    is_bare = name[0].isalnum() and name[-1].isalnum()
    return name if is_bare else name_key(name)
