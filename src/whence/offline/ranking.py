"""Ranks the units of the found chunks by how well they answer a question. Pure.

    score = share of the question's words that the unit has, weighted by idf + score of the hit

Words are the terms of the search index. idf counts the units of the found chunks. The score of a hit is that of the
search, 0 to 1. docs/benchmarks.md has the figures behind the constants.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from whence.chat import Source
from whence.offline.quotable_units import Unit, quotable_units
from whence.search import query_text
from whence.search.query import Query
from whence.text.content_words import FUNCTION
from whence.text.lexer import lexer

MAX_QUOTES = 3
NEAR_BEST = 0.85
"""Minimum score of a further quote, as a share of the best score."""
_FROM_HEADING = 0.8
"""Weight of a word that is only in the heading or the name of the document."""
_FROM_BEFORE = 0.3
"""Weight of a word of an earlier question."""

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
_LICENCE = re.compile(
    r"\bpermission is hereby granted\b|\blicensed under\b|\ball rights reserved\b|\bcopyright (?:\(c\)|©|\d)"
    r"|\bwithout warrant(?:y|ies)\b|\bredistribution and use\b|\b(?:this|the) (?:software|library) is provided\b"
    r"|\byou may (?:not use this file|obtain a copy)\b|\bthe above copyright\b|\bspdx-",
    re.IGNORECASE,
)
_LICENCE_QUESTION = re.compile(r"licen[cs]|copyright|warrant|liab|redistribut", re.IGNORECASE)


class Candidate(NamedTuple):
    source: Source
    unit: Unit
    score: float = 0.0

    @property
    def text(self) -> str:
        return self.source.text[self.unit.start : self.unit.end]


class _Said(NamedTuple):
    unit: Unit
    words: frozenset[int]
    """Words of the unit, its heading and the document's name."""
    own: frozenset[int]
    """Words of the unit alone."""
    years: frozenset[str]
    """Years in the unit, the heading and the name."""
    is_licence: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    text: str
    query: Query
    weights: Mapping[int, float]
    """Weight of each word of the question, from the word lists of the search."""
    required: frozenset[int]
    """A unit must have one of these, if there are any: a follow-up question needs an answer with its own words."""
    years: frozenset[str]

    @classmethod
    def of(cls, message: str, before: str, language: str) -> "_Asked":
        text = " ".join(query_text.asking(message)) if len(message) > query_text.LONG else message
        query = Query.of(_CODE_NAME.sub(" ", text), language)
        if not (heavy := _heavy(query)):
            query = Query.of(text, language)
            heavy = _heavy(query)
        factor = _FROM_BEFORE if heavy else 1.0
        earlier = _weights(Query.of(before, language)) if before else {}
        return cls(
            text=text,
            query=query,
            weights={one: factor * weight for one, weight in earlier.items()} | _weights(query),
            required=heavy if before else frozenset(),
            years=frozenset(_YEAR.findall(text)),
        )

    @property
    def is_other_language(self) -> bool:
        return any(light <= FUNCTION for light in self.query.light)


def _heavy(query: Query) -> frozenset[int]:
    """The words of the query without those that any text has."""
    return frozenset(one for one, light in zip(query.keys, query.light, strict=True) if light >= 1)


def _weights(query: Query) -> dict[int, float]:
    return {
        one: light * weight for one, light, weight in zip(query.keys, query.light, query.weights, strict=True)
    }


def best_units(message: str, before: str, sources: Sequence[Source], language: str) -> list[Candidate]:
    """The units to quote, the best first; empty if nothing answers. `before` are the questions that this one follows up on."""
    asked = _Asked.of(message, before, language)
    ranked = sorted(_candidates(asked, sources), key=lambda one: -one.score)
    return _choose(ranked) if ranked and _passes_floor(asked, ranked[0].source) else []


def _candidates(asked: _Asked, sources: Sequence[Source]) -> Iterator[Candidate]:
    said = [(source, one) for source in sources for one in _quotable(asked, source)]
    idf = _idf(asked.weights, [one.own for _, one in said])
    whole = sum(idf.values())
    for source, one in said:
        share = sum(
            weight * (1 if word in one.own else _FROM_HEADING)
            for word, weight in idf.items()
            if word in one.words
        )
        if share and not (asked.required and asked.required.isdisjoint(one.words)):
            yield Candidate(source, one.unit, share / whole + (source.score or 0.0))


def _quotable(asked: _Asked, source: Source) -> Iterator[_Said]:
    """The units without statements about another year, and without code and licence notices unless asked for."""
    wants_code, wants_licence = asks_for_code(asked.text), _LICENCE_QUESTION.search(asked.text)
    for one in _units_with_words(source.text, source.name, asked.query.lexer.language):
        if one.unit.kind == "code" and not wants_code:
            continue
        if one.is_licence and not wants_licence:
            continue
        if asked.years and one.years and asked.years.isdisjoint(one.years):
            continue
        yield one


def asks_for_code(question: str) -> bool:
    return _CODE_QUESTION.search(question) is not None


@lru_cache(maxsize=1024)  # searches often find the same chunks
def _units_with_words(text: str, name: str, language: str) -> tuple[_Said, ...]:
    return tuple(_read_unit(text, name, unit, language) for unit in quotable_units(text))


def _read_unit(text: str, name: str, unit: Unit, language: str) -> _Said:
    said, around = text[unit.start : unit.end], f"{unit.heading} {name}"
    own = frozenset(lexer(language).keys(said))
    return _Said(
        unit,
        own.union(lexer(language).keys(around)),
        own,
        frozenset(_YEAR.findall(f"{said} {around}")),
        is_licence=_LICENCE.search(said) is not None,
    )


def _idf(weights: Mapping[int, float], words: Sequence[frozenset[int]]) -> dict[int, float]:
    counts = Counter(one for found in words for one in found & weights.keys())
    return {
        one: weight * math.log(1 + (len(words) - counts[one] + 0.5) / (counts[one] + 0.5))
        for one, weight in weights.items()
    }


def _passes_floor(asked: _Asked, source: Source) -> bool:
    if asked.query.is_unspaced:  # the threshold of the search suits these scripts
        return True
    found = frozenset(asked.query.lexer.keys(f"{source.text} {source.name}"))
    whole = sum(asked.weights.values())
    has = sum(weight for one, weight in asked.weights.items() if one in found)
    floor = min(_ENOUGH_SHARE * whole, _ENOUGH_WORDS)
    return has >= floor * (_OTHER_LANGUAGE if asked.is_other_language else 1)


def _choose(ranked: Sequence[Candidate]) -> list[Candidate]:
    best = ranked[0]
    chosen: dict[str, Candidate] = {}
    for one in ranked:
        if len(chosen) == MAX_QUOTES or one.score < NEAR_BEST * best.score:
            break
        chosen.setdefault(" ".join(one.text.split()), one)
    return list(chosen.values())
