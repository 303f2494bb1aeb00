"""Decides by the words around it whether a full stop ends a sentence, or an abbreviation, initial or ordinal."""

import re
import tomllib
import unicodedata
from functools import lru_cache
from importlib.resources import files
from typing import Literal

_LISTS = tomllib.loads((files(__package__) / "words.toml").read_text(encoding="utf-8"))
_WORDS: dict[str, frozenset[str]] = {name: frozenset(words.split()) for name, words in _LISTS.items()}
INTRODUCING, TRAILING, CAPITALISED = _WORDS["introducing"], _WORDS["trailing"], _WORDS["capitalised"]
NUMBERED, SHORT_WORDS, STARTERS = _WORDS["numbered"], _WORDS["short_words"], _WORDS["starters"]
ORDINAL_LEADS, MONTHS, ELIDED = _WORDS["ordinal_leads"], _WORDS["months"], _WORDS["elided"]

# Characters before a word that are not part of it.
OPENING = "\"'“‘«‹„‚»([{<*_¿¡~|>–—―-"

_LIST_NUMBER = re.compile(r"\s*[(\[]?(?:\d{1,3}(?:\.\d{1,3})*|[^\W\d_]|[ivxIVX]{1,4})")
_ACRONYM = re.compile(r"(?:[^\W\d_]{1,3}\.-?)+[^\W\d_]{1,3}")
_ELISION = re.compile(r"([^\W\d_]{1,4})['’]([^\W\d_]{2}.*)")
_HAS_ELISION = re.compile(r"['’][^\W\d_]{2}")
_BEFORE_LIST_NUMBER = tuple(".!?:;")
_AFTER_LIST_NUMBER = frozenset(".)")
_VOWELS = frozenset("aeiouyæœøıаеёиоуыэюяіїєαεηιουωაეიოუաեէըիոօ")
_TOKEN_REACH = 24
_ORDINAL_DIGITS = 2
_LIST_DIGITS = 3
_SHORT = 4
LISTED = INTRODUCING | TRAILING | CAPITALISED | NUMBERED
# The endings of all listed words that are longer than `_SHORT`.
_LONG = _SHORT + 1
_LONG_ENDINGS = tuple({word[-_LONG:] for word in LISTED if len(word) >= _LONG})
ENDING_REACH = _LONG + 3

# The meaning of a full stop by the word before it. "ends" holds before any text, "ends before a capital" only before
# a capital; after "abbreviates" a sentence ends only before a word that often begins sentences.
Verdict = Literal["ends", "ends before a capital", "abbreviates", "goes on", "unclear"]


@lru_cache(maxsize=8192)  # the same few endings recur
def verdict_on(ending: str) -> Verdict:
    """The meaning of a full stop after these last characters, if they decide it; `period_ends` sees more."""
    tokens = ending.split()
    token = tokens[-1] if tokens else ""
    if not token[-1:].isalnum():
        return "ends before a capital" if token else "unclear"
    if token.isdecimal():
        return "ends before a capital" if len(token) > _LIST_DIGITS else "unclear"
    key = token.lower()
    if len(token) > _SHORT and token.isalpha() and not key.endswith(_LONG_ENDINGS):
        return "ends" if token == key else "ends before a capital"
    # The token must be complete, with another before it on its line; otherwise it may be a list number.
    if len(tokens) == 1 or "\n" in ending or token[0] in OPENING or _HAS_ELISION.search(token):
        return "unclear"
    if key in INTRODUCING:
        return "goes on"
    return "abbreviates" if _is_abbreviation(token, key) else "ends before a capital"


def period_ends(text: str, stop: int, word: str, symbol: str, *, small: bool) -> bool:
    """Whether a single full stop ends a sentence, given the next word and the symbol after it."""
    before = text[max(0, stop - _TOKEN_REACH) : stop]
    tokens = before.split()
    token = _without_article(tokens[-1].lstrip(OPENING)) if tokens else ""
    if not token or not token[-1].isalnum():
        return True
    goes_on = small or word[:1].isdigit()
    key = token.lower()
    if not goes_on and len(token) > _SHORT and token.isalpha() and key not in LISTED:
        return True
    line = before[before.rfind("\n") + 1 :]
    if len(line) < _TOKEN_REACH and _LIST_NUMBER.fullmatch(line):
        return False
    if token.isdecimal():
        lead = tokens[-2].lower() if len(tokens) > 1 else ""
        is_listed = lead[-1:] in _BEFORE_LIST_NUMBER and lead.rstrip(".") not in LISTED
        is_ordinal = goes_on or is_listed or lead in ORDINAL_LEADS or word.lower() in MONTHS
        return not (is_ordinal and len(token) <= _ORDINAL_DIGITS)
    if key in INTRODUCING:
        return False
    if _is_abbreviation(token, key):
        return not small and begins_sentences(word, symbol)
    is_list_number = symbol in _AFTER_LIST_NUMBER and word.isdecimal() and len(word) <= _LIST_DIGITS
    return not (goes_on and _goes_on_after(token, key, word, numbered=is_list_number))


def begins_sentences(word: str, symbol: str) -> bool:
    """Whether the word often begins sentences; one letter with a full stop is an initial: "J. A. Smith"."""
    return word.lower() in STARTERS and not (len(word) == 1 and symbol == ".")


def _without_article(token: str) -> str:
    """The token without an elided article: "art" of "l'art"."""
    elided = _ELISION.fullmatch(token)
    return elided[2] if elided and elided[1].lower() in ELIDED else token


def _is_abbreviation(token: str, key: str) -> bool:
    """Initials, acronyms with inner stops, listed abbreviations, and short words without a vowel."""
    if len(token) == 1:
        return token.isupper() or token.islower()
    if key in TRAILING or (key in CAPITALISED and token[0].isupper()) or _ACRONYM.fullmatch(token):
        return True
    return _is_short_word(token) and _VOWELS.isdisjoint(unicodedata.normalize("NFD", key))


def _goes_on_after(token: str, key: str, word: str, *, numbered: bool) -> bool:
    """Whether the token, before a small letter or a number, looks like an abbreviation: cut off before a vowel."""
    if key in NUMBERED or key.endswith("str"):  # "Hauptstr. 5"
        return word[0].isdigit()
    if numbered:
        return False
    ends_in_vowel = unicodedata.normalize("NFD", key[-1])[0] in _VOWELS
    return _is_short_word(token) and key not in SHORT_WORDS and not ends_in_vowel


def _is_short_word(token: str) -> bool:
    """Short and not all capitals; scripts without capitals do not abbreviate like this."""
    return len(token) <= _SHORT and token.isalpha() and token.upper() != token
