"""Ranks the units of the found chunks by how well they answer a question. Pure.

    score = share of the question's words that the unit has, weighted by idf + score of the hit

Words are the terms of the search index. idf counts the units of the found chunks. The score of a hit is that of the
search, 0 to 1. docs/benchmarks.md has the figures behind the constants.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from whence.chat import Source
from whence.offline.quotable_units import Unit, quotable_units
from whence.search import query_text
from whence.search.query import Query
from whence.text.content_words import FUNCTION, rarities
from whence.text.lexer import lexer

MAX_QUOTES = 3
NEAR_BEST = 0.85  # minimum score of a further quote, as a share of the best score
_FROM_HEADING = 0.8  # weight of a word that is only in the heading or the name of the document
_FROM_BEFORE = 0.3  # weight of a word of an earlier question

# The floor: the chunk of the best unit must have this share of the question's words, or this many of them.
_ENOUGH_SHARE = 0.7
_ENOUGH_WORDS = 2.2
_OTHER_LANGUAGE = 0.5
"""Factor of the floor if the project's stemmer does not know the language of the question."""

_YEAR = re.compile(r"(?<![\d.,])(?:1[5-9]|20)\d\d(?!\d)")
_CODE_NAME = re.compile(r"\b(?:code|commands?|scripts?|snippets?|syntax)\b", re.IGNORECASE)
"""Words for the form of the answer. Code itself rarely has them."""
_CODE_QUESTION = re.compile(
    rf"{_CODE_NAME.pattern}|\bhow (?:do|can|should|to)\b|`"
    r"|\b(?:sql|quer(?:y|ies)|json|yaml|curl|install\w*|configur\w+|run)\b",
    re.IGNORECASE,
)
_LICENCE_QUESTION = re.compile(r"licen[cs]|copyright|warrant|liab|redistribut", re.IGNORECASE)

_Worded = tuple[Unit, frozenset[int], frozenset[int]]
"""A unit, its own words, and these with the words of its heading and of the document's name."""


class Candidate(NamedTuple):
    source: Source
    unit: Unit
    score: float = 0.0

    @property
    def text(self) -> str:
        return self.source.text[self.unit.start : self.unit.end]


class _Asked(NamedTuple):
    text: str
    query: Query
    weights: Mapping[int, float]
    """Weight of each word of the question, from the word lists of the search."""
    required: frozenset[int]
    """A unit must have one of these, if there are any: a follow-up question needs an answer with its own words."""

    @classmethod
    def of(cls, message: str, before: str, language: str) -> "_Asked":
        text = " ".join(query_text.asking(message)) if len(message) > query_text.LONG else message
        query = Query.of(_CODE_NAME.sub(" ", text), language)
        if not any(light >= 1 for light in query.light):
            query = Query.of(text, language)
        own = frozenset(one for one, light in zip(query.keys, query.light, strict=True) if light >= 1)
        factor = _FROM_BEFORE if own else 1.0
        earlier = _weights(Query.of(before, language)) if before else {}
        weights = {one: factor * weight for one, weight in earlier.items()} | _weights(query)
        return cls(text, query, weights, own if before else frozenset())


def _weights(query: Query) -> dict[int, float]:
    parts = zip(query.keys, query.light, query.weights, strict=True)
    return {one: light * weight for one, light, weight in parts}


def best_units(message: str, before: str, sources: Sequence[Source], language: str) -> list[Candidate]:
    """The units to quote, the best first; empty if nothing answers. `before` are the questions that this one follows up on."""
    asked = _Asked.of(message, before, language)
    ranked = sorted(_candidates(asked, sources), key=lambda one: -one.score)
    return _choose(ranked) if ranked and _passes_floor(asked, ranked[0].source) else []


def _candidates(asked: _Asked, sources: Sequence[Source]) -> Iterator[Candidate]:
    said = [(source, *one) for source in sources for one in _quotable(asked, source)]
    rarity = rarities(own for _, _, own, _ in said)
    idf = {word: weight * rarity(word) for word, weight in asked.weights.items()}
    whole = sum(idf.values())
    for source, unit, own, words in said:
        share = sum(
            weight * (1 if word in own else _FROM_HEADING) for word, weight in idf.items() if word in words
        )
        if share and not (asked.required and asked.required.isdisjoint(words)):
            yield Candidate(source, unit, share / whole + (source.score or 0.0))


def _quotable(asked: _Asked, source: Source) -> Iterator[_Worded]:
    """The units without statements about another year, and without code and licence notices unless asked for."""
    is_wanted = {"code": asks_for_code(asked.text), "licence": _LICENCE_QUESTION.search(asked.text)}
    years = set(_YEAR.findall(asked.text))
    for unit, own, words in _units_with_words(source.text, source.name, asked.query.lexer.language):
        said = f"{source.text[unit.start : unit.end]} {unit.heading} {source.name}"
        said_years = _YEAR.findall(said) if years else []
        is_of_other_year = said_years and years.isdisjoint(said_years)
        if is_wanted.get(unit.kind, True) and not is_of_other_year:
            yield unit, own, words


def asks_for_code(question: str) -> bool:
    return _CODE_QUESTION.search(question) is not None


@lru_cache(maxsize=1024)  # searches often find the same chunks
def _units_with_words(text: str, name: str, language: str) -> tuple[_Worded, ...]:
    keys = lexer(language).keys
    worded = [(unit, frozenset(keys(text[unit.start : unit.end]))) for unit in quotable_units(text)]
    return tuple((unit, own, own.union(keys(f"{unit.heading} {name}"))) for unit, own in worded)


def _passes_floor(asked: _Asked, source: Source) -> bool:
    if asked.query.is_unspaced:  # the threshold of the search suits these scripts
        return True
    found = frozenset(asked.query.lexer.keys(f"{source.text} {source.name}"))
    whole = sum(asked.weights.values())
    has = sum(weight for one, weight in asked.weights.items() if one in found)
    floor = min(_ENOUGH_SHARE * whole, _ENOUGH_WORDS)
    is_other_language = any(light <= FUNCTION for light in asked.query.light)
    return has >= floor * (_OTHER_LANGUAGE if is_other_language else 1)


def _choose(ranked: Sequence[Candidate]) -> list[Candidate]:
    best = ranked[0]
    chosen: dict[str, Candidate] = {}
    for one in ranked:
        if len(chosen) == MAX_QUOTES or one.score < NEAR_BEST * best.score:
            break
        chosen.setdefault(" ".join(one.text.split()), one)
    return list(chosen.values())
