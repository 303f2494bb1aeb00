"""What somebody looks for: any of the words, and every phrase in quotes. Nothing else is syntax, and nothing is wrong."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from whence.search.question_sentences import asking
from whence.text.cjk import NAME, is_han, is_of_letters, is_unspaced, overlapping, weights
from whence.text.lexer import Lexer, key, lexer, merged
from whence.text.low_weight_words import light

MOST_TERMS = 64
"""Of a longer text so many are looked for: up to half of them from its questions, the others from its beginning and its end."""

_BRIEF = 32
"""Terms of a query, up to which quotes are meant as such; what stands in quotes in a longer text was said by somebody."""

_MOST_ALONE = 8
"""Characters that are looked for in the texts themselves."""

# A quote opens before a word: after a number it means inches, and seconds.
_QUOTED = re.compile(r'(?<![0-9])"([^"]*)"|“([^”“]*)”')


@dataclass(frozen=True, slots=True)
class Phrase:
    places: str
    """The words in their order, each between two spaces."""
    keys: frozenset[int]
    """Those of its terms that every text with the phrase has."""


@dataclass(frozen=True, slots=True)
class Query:
    lexer: Lexer
    keys: tuple[int, ...]
    """Of its terms, each once."""
    phrases: tuple[Phrase, ...]
    weights: tuple[float, ...]
    """How much each of the terms tells of a text that has it."""
    light: tuple[float, ...]
    """The same of words: those that are in any text, or ask, tell less than others."""
    alone: tuple[str, ...]
    """Characters that the index may have only as parts of pairs."""
    is_unspaced: bool
    """Most of its terms are of scripts without spaces."""
    beside: tuple[tuple[int, int], ...] = ()
    """Places of pairs of characters that stand in a row."""
    of_letters: frozenset[int] = frozenset()
    """Places of pairs that are no syllables or words, but letters."""
    questions: tuple[list[int], ...] = ()
    """Of a message of several sentences those that ask: the places of their terms."""

    @classmethod
    def of(cls, text: str, language: str) -> "Query":
        reader = lexer(language)
        asked = [dict.fromkeys(reader.keys(one)) for one in asking(text)]
        keys = _chosen(tuple(dict.fromkeys(reader.keys(text))), dict.fromkeys(chain.from_iterable(asked)))
        places = {one: place for place, one in enumerate(keys)}
        quoted = _phrases(reader, text) if len(keys) <= _BRIEF else ()
        found = _terms(reader, text) if is_unspaced(text) else []
        terms = {key(term): term for _, term in found}
        unspaced = sum(is_unspaced(term) for term in terms.values())
        mostly = 2 * unspaced > len(terms)
        told = weights(text, found)
        counts = {} if mostly else light(language)
        rows = [(key(one), key(other)) for one, other in overlapping(term for _, term in found)]
        return cls(
            lexer=reader,
            keys=keys,
            phrases=quoted,
            weights=tuple(_weight(terms.get(one, ""), told, among_unspaced=mostly) for one in keys),
            light=tuple(counts.get(one, 1.0) for one in keys),
            alone=_looked_for(reader.alone(text), of=len(terms)) if unspaced else (),
            is_unspaced=mostly,
            beside=tuple(
                {(places[one], places[other]) for one, other in rows if {one, other} <= places.keys()}
            ),
            of_letters=frozenset(places[one] for one in keys if is_of_letters(terms.get(one, ""))),
            questions=tuple([places[one] for one in question if one in places] for question in asked),
        )

    @property
    def required(self) -> frozenset[int]:
        """Terms without which there is not every phrase."""
        return frozenset(self.keys) & frozenset().union(*(phrase.keys for phrase in self.phrases))

    def holds(self, text: str) -> bool:
        """Whether the text has every phrase."""
        if not self.phrases:
            return True
        places = _joined(self.lexer.places(text))
        return all(
            phrase.places in places or phrase.places.strip() in self._having(text) for phrase in self.phrases
        )

    def highlights(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        """Offsets of the words of each text that were looked for."""
        found = self.lexer.spans(texts, frozenset(self.keys))
        if not self.alone:
            return found
        return [
            merged(sorted([*spans, *self._places_alone(text)]))
            for spans, text in zip(found, texts, strict=True)
        ]

    def _having(self, text: str) -> list[str]:
        return [one for one in self.alone if one in text]

    def _places_alone(self, text: str) -> list[tuple[int, int]]:
        return [(at, at + 1) for at, one in enumerate(text) if one in self.alone]


def _chosen(keys: tuple[int, ...], asked: Collection[int]) -> tuple[int, ...]:
    if len(keys) <= MOST_TERMS:
        return keys
    first = set(list(asked)[: MOST_TERMS // 2])
    others = [one for one in keys if one not in first]
    left = MOST_TERMS - len(first)
    wanted = first.union(others[: left - left // 2], others[len(others) - left // 2 :])
    return tuple(one for one in keys if one in wanted)


def _terms(reader: Lexer, text: str) -> list[tuple[int, str]]:
    """Each with its place in the text."""
    return [(at + piece.start, piece.term) for at, piece in reader.pieces_of(text) if piece.term is not None]


def _weight(term: str, told: Mapping[str, float], *, among_unspaced: bool) -> float:
    is_name = among_unspaced and not is_unspaced(term) and not term.isdecimal()
    return NAME if is_name else told.get(term, 1.0)


def _phrases(reader: Lexer, text: str) -> tuple[Phrase, ...]:
    found = [_phrase(reader, match[1] or match[2] or "") for match in _QUOTED.finditer(text)]
    return tuple(dict.fromkeys(phrase for phrase in found if phrase.places.strip()))


def _looked_for(alone: Sequence[str], *, of: int) -> tuple[str, ...]:
    """Where there are no spaces a Han character by itself is meant; others, such as a syllable between two, only without other words."""
    distinct = tuple(dict.fromkeys(alone))
    chosen = distinct if len(distinct) == of else [one for one in distinct if is_han(one)]
    return tuple(chosen[:_MOST_ALONE])


def _phrase(reader: Lexer, text: str) -> Phrase:
    placed = [piece for _, piece in reader.pieces_of(text) if piece.place is not None]
    keys = frozenset(key(piece.term) for piece in placed if piece.term is not None)
    return Phrase(_joined([piece.place for piece in placed if piece.place is not None]), keys)


def _joined(places: list[str]) -> str:
    return f" {' '.join(places)} "
