"""Normalises words and figures of a text, to compare texts. Pure.

$8.50 is $8.5, 1.2 million is 1,200,000, $5 is 5 dollars, twenty-five is 25, May 9, 2025 and 2025-05-09 are 9 May 2025, 6 pm is 18:00.
Scripts without spaces are read character by character. Months are English. `words.toml` has the word lists.
"""

import re
import tomllib
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from importlib.resources import files
from itertools import pairwise
from typing import NamedTuple

from whence.chunk import sentences
from whence.text.cjk import UNSPACED
from whence.text.content_words import words
from whence.text.dates import MONTHS
from whence.text.lexer import fold
from whence.text.numbers import QUANTITY, UNITS, quantity_keys, scan

_DATA = tomllib.loads((files(__package__) / "words.toml").read_text(encoding="utf-8"))
_TURNS, _NEUTRAL, _RELATIVES, _CONJUNCTIONS = (
    frozenset(map(fold, _DATA[name].split())) for name in ("turns", "neutral", "relatives", "conjunctions")
)
QUESTION = frozenset("?？؟")
_DOCUMENT, _BY, _SAYS, _ADVERBS = _DATA["document"], _DATA["by"], _DATA["says"], tuple(_DATA["adverbs"])
_ORIGIN = re.compile(
    rf"\A\W*{_BY}{_DOCUMENT},|\A\W*{_DOCUMENT}{_SAYS}|,?\s{_BY}{_DOCUMENT}\W*\Z", re.IGNORECASE | re.VERBOSE
)

ADJACENT, FUNCTION_WORDS, JOINT, RELATIVE, COMMA, CLAUSE, STOP, END = range(8)
"""The kinds of separation between two content words. CLAUSE: a semicolon, or a comma and "and" or "but". STOP: the full stop of a
title or initial.
"""
_LINE = r"[\n-\r\x1c-\x1e\x85\u2028\u2029]"
_BREAK = re.compile(rf"{_LINE}\s*(?:{_LINE}|[-*#•|>])")
_ITEM = re.compile(r"[.)]\s")
_DOT = re.compile(r"\.[\"”’)\]]*\s(?!\s*[,;:])")
_SEMICOLON = re.compile(r"[;；]")
_JOINED = re.compile(rf",[\"”]?\s+(?:{'|'.join(_CONJUNCTIONS)})\b", re.IGNORECASE)
_PAUSE = re.compile(rf"[,:：()\[\]{{}}|、，—–\"“”«»]|{_LINE}|\s[-*#]+\s")

_MONTHS = [name[:3] for name in MONTHS]
_MONTH = rf"(?ai:{'|'.join(f'{name[:3]}(?:{name[3:]})?' for name in MONTHS)}|sept)\b\.?"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_TOKEN = re.compile(
    r"[\[⁅]\d{1,3}[\]⁆]"  # a footnote mark of the document
    r"|(?<![\w.,:/-])(?P<year>\d{4})-(?P<month>0[1-9]|1[0-2])-(?P<day>[0-3]\d)(?![\w-])"
    rf"|\b(?P<date>{_MONTH}\s+{_DAY}|{_DAY}\s+(?:of\s+)?{_MONTH})(?![\w:]|[.,]\d)(?:,?\s+(?P<in_year>\d{{4}})\b)?"
    rf"|{QUANTITY}"
    rf"|(?P<word>[{UNSPACED}]|[^\W\d_{UNSPACED}]+(?:['’][^\W\d_{UNSPACED}]+)*\d*|[%‰°$¢€£¥₠-⃏<>=≤≥≠±×÷+−?？؟])",
    re.IGNORECASE,
)
_NEGATED = re.compile(r"(?:n['’]t|(?<=can)not)\Z")


class Token(NamedTuple):
    key: str
    """The normalised form."""
    start: int
    end: int
    place: int
    """Index among all words of the text."""
    after: int = END
    """The separation behind the word, from ADJACENT to END."""


class Reading(NamedTuple):
    content: tuple[Token, ...]
    """The words except function words."""
    words: tuple[str, ...]
    """All words in lower case."""
    places: Mapping[str, list[int]]
    """The indexes in `content` of each key."""
    borders: frozenset[int]
    """The indexes in `words` where a sentence or an item of a list begins or ends."""


def without_origin(sentence: str) -> str:
    """The sentence without a leading "According to the report,"."""
    return _ORIGIN.sub("", sentence)


def is_turn(word: str) -> bool:
    """Whether a clause that begins with it may not be left out: "…, but only on Sundays"."""
    return word in _TURNS or word.endswith(_ADVERBS)


def read(text: str) -> Reading:
    found = [Token(*figure, place) for place, figure in enumerate(scan(_TOKEN, text, _keys))]
    borders = _borders(text, found)
    content = [one for one in found if one.key not in _NEUTRAL]
    for at, (one, following) in enumerate(pairwise(content)):
        is_end = any(place in borders for place in range(one.place + 1, following.place + 1))
        between = [word.key for word in found[one.place + 1 : following.place]]
        after = END if is_end else _separation(text[one.end : following.start], between)
        content[at] = one._replace(after=after)
    places: dict[str, list[int]] = {}
    for at, one in enumerate(content):
        places.setdefault(one.key, []).append(at)
    written = tuple(" ".join(fold(text[one.start : one.end]).split()) for one in found)
    return Reading(tuple(content), written, places, borders)


def _borders(text: str, found: list[Token]) -> frozenset[int]:
    ends = [*(one.end_offset for one in sentences(text)), len(text)]
    borders = {0, len(found)}
    for one, following in pairwise(found):
        between = text[one.end : following.start]
        is_item = one.place in borders and one.key.isdigit() and _ITEM.match(between)
        if is_item or ends[bisect_left(ends, one.end)] <= following.start or _BREAK.search(between):
            borders.add(following.place)
    return frozenset(borders)


def _separation(text: str, function_words: list[str]) -> int:
    is_relative = not _RELATIVES.isdisjoint(function_words)
    if _DOT.search(text):
        return STOP
    if _SEMICOLON.search(text):
        return CLAUSE
    if _PAUSE.search(text):
        return CLAUSE if _JOINED.search(text) and not is_relative else COMMA
    if is_relative:
        return RELATIVE
    if not _CONJUNCTIONS.isdisjoint(function_words):
        return JOINT
    return FUNCTION_WORDS if function_words else ADJACENT


def _keys(found: re.Match[str]) -> Iterator[str]:
    """The normalised words: the parts of a date in one order, a currency after its amount."""
    if found["year"]:
        yield from (found["day"].lstrip("0"), _MONTHS[int(found["month"]) - 1], found["year"])
    elif found["date"]:
        yield "".join(filter(str.isdigit, found["date"]))
        yield next(part[:3] for part in found["date"].lower().split() if part[:3] in _MONTHS)
        if found["in_year"]:
            yield found["in_year"]
    elif found["word"]:
        yield from _word(fold(found["word"]))
    else:
        yield from quantity_keys(found, keep_zeros=True)


def _word(word: str) -> Iterator[str]:
    if negated := _NEGATED.search(word):
        yield from (*_word(word[: negated.start()]), "not")
    elif word in _NEUTRAL or is_turn(word):
        yield word
    else:
        yield "⁄".join(words(word)) or UNITS.get(word, word)  # `¼` is read as 1 and 4
