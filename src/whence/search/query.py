"""Parses a query: hits have any of its words and every quoted phrase. There is no other syntax, so no query is invalid."""

import re
from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain

from whence.search.query_text import asking
from whence.text.cjk import NAME, is_han, is_of_letters, is_unspaced, overlapping, weights
from whence.text.content_words import light
from whence.text.lexer import Lexer, key, lexer, merged, words_of

MOST_TERMS = 64
"""Maximum number of terms. A longer text gives up to half of them from its questions, the rest from its start and end."""

_BRIEF = 32
"""Maximum number of terms of a query with phrases. In a longer text quotation marks are usually direct speech."""

_MOST_ALONE = 8
"""Maximum number of single characters that are searched in the chunk texts."""

_CODE = re.compile(r"(?<!\w)(?=\w*(?:\d|[A-Z]\w*[A-Z]))[^\W\d_][\w.-]*\w")
"""A word of letters and digits, or with two capitals: `SEV1`, `IPv6`, `NASA`."""

# No quote opens right after a digit: there the mark means inches or seconds.
_QUOTED = re.compile(r'(?<![0-9])"([^"]*)"|“([^”“]*)”')


@dataclass(frozen=True, slots=True)
class Phrase:
    places: str
    """The words in order, separated and enclosed by spaces."""
    keys: frozenset[int]
    """Keys of the terms that every text with the phrase has."""


@dataclass(frozen=True, slots=True)
class Query:
    lexer: Lexer
    keys: tuple[int, ...]
    """Distinct term keys. A place, below, is an index into them."""
    phrases: tuple[Phrase, ...]
    weights: tuple[float, ...]
    """Weight of each term by script (`whence.text.cjk`)."""
    light: tuple[float, ...]
    """Weight of each term as a word: everyday and function words weigh less (`content_words`)."""
    alone: tuple[str, ...]
    """Single characters that the index may have only inside pairs."""
    is_unspaced: bool
    """Whether most terms are in scripts without spaces."""
    beside: tuple[tuple[int, int], ...] = ()
    """Places of adjacent character pairs."""
    of_letters: frozenset[int] = frozenset()
    """Places of pairs whose characters are letters, not syllables or words."""
    codes: tuple[int, ...] = ()
    """Places of codes and abbreviations, such as `SEV1`."""
    questions: tuple[list[int], ...] = ()
    """Places of the terms of each question in a message of several sentences."""

    @classmethod
    def of(cls, text: str, language: str) -> "Query":
        reader = lexer(language)
        asked = [dict.fromkeys(reader.keys(one)) for one in asking(text)]
        keys = _chosen(tuple(dict.fromkeys(reader.keys(text))), dict.fromkeys(chain.from_iterable(asked)))
        places = {one: place for place, one in enumerate(keys)}
        quoted = _phrases(reader, text) if len(keys) <= _BRIEF else ()
        pieces = reader.pieces_of(text) if is_unspaced(text) else ()
        found = [(at + piece.start, piece.term) for at, piece in pieces if piece.term is not None]
        terms = {key(term): term for _, term in found}
        unspaced = sum(is_unspaced(term) for term in terms.values())
        mostly = 2 * unspaced > len(terms)
        by_term = weights(text, found)
        counts = {} if mostly else light(language)
        rows = [(key(one), key(other)) for one, other in overlapping(term for _, term in found)]
        return cls(
            lexer=reader,
            keys=keys,
            phrases=quoted,
            weights=tuple(_weight(terms.get(one, ""), by_term, among_unspaced=mostly) for one in keys),
            light=tuple(counts.get(one, 1.0) for one in keys),
            alone=_looked_for(reader.alone(text), of=len(terms)) if unspaced else (),
            is_unspaced=mostly,
            beside=tuple(
                {(places[one], places[other]) for one, other in rows if {one, other} <= places.keys()}
            ),
            of_letters=frozenset(places[one] for one in keys if is_of_letters(terms.get(one, ""))),
            codes=tuple(places[one] for one in _codes(reader, text) if one in places),
            questions=tuple([places[one] for one in question if one in places] for question in asked),
        )

    @property
    def required(self) -> frozenset[int]:
        """Terms that a text with every phrase must have."""
        return frozenset(self.keys) & frozenset().union(*(phrase.keys for phrase in self.phrases))

    def holds(self, text: str) -> bool:
        """Whether the text has every phrase."""
        if not self.phrases:
            return True
        places = _joined(self.lexer.places(text))
        alone = [one for one in self.alone if one in text]
        return all(phrase.places in places or phrase.places.strip() in alone for phrase in self.phrases)

    def highlights(
        self, texts: Sequence[str], counts: Sequence[int] | None = None
    ) -> list[list[tuple[int, int]]]:
        """Spans of the query's words in each text. `counts` are their numbers of the query's terms, if known."""
        keys = frozenset(self.keys)
        found: list[list[tuple[int, int]]] = [[] for _ in texts]
        for is_ascii in (True, False):  # one pass over all texts takes half the time of one for each
            places = [place for place, text in enumerate(texts) if text.isascii() is is_ascii]
            if not places:
                continue
            starts = list(accumulate((len(texts[place]) + 1 for place in places), initial=0))
            count = sum(counts[place] for place in places) if counts else None
            for start, end in self.lexer.spans("\n".join(texts[place] for place in places), keys, count):
                which = bisect_right(starts, start) - 1
                found[places[which]].append((start - starts[which], end - starts[which]))
        if not self.alone:
            return found
        for spans, text in zip(found, texts, strict=True):
            spans += [(at, at + 1) for at, one in enumerate(text) if one in self.alone]
        return [merged(sorted(spans)) for spans in found]


def quoted_words(text: str) -> set[str]:
    return {word for match in _QUOTED.finditer(text) for word in words_of(match[0])}


def _chosen(keys: tuple[int, ...], asked: Collection[int]) -> tuple[int, ...]:
    if len(keys) <= MOST_TERMS:
        return keys
    first = set(list(asked)[: MOST_TERMS // 2])
    others = [one for one in keys if one not in first]
    left = MOST_TERMS - len(first)
    wanted = first.union(others[: left - left // 2], others[len(others) - left // 2 :])
    return tuple(one for one in keys if one in wanted)


def _codes(reader: Lexer, text: str) -> set[int]:
    """Keys of the codes in a text. In a text without small letters capitals mean nothing."""
    is_shouted = text.upper() == text
    words = [one for one in _CODE.findall(text) if not is_shouted or any(map(str.isdigit, one))]
    found = (reader.pieces(word)[0].term for word in words if not is_unspaced(word))
    return {key(term) for term in found if term is not None}


def _weight(term: str, by_term: Mapping[str, float], *, among_unspaced: bool) -> float:
    is_name = among_unspaced and not is_unspaced(term) and not term.isdecimal()
    return NAME if is_name else by_term.get(term, 1.0)


def _phrases(reader: Lexer, text: str) -> tuple[Phrase, ...]:
    found = [_phrase(reader, match[1] or match[2] or "") for match in _QUOTED.finditer(text)]
    return tuple(dict.fromkeys(phrase for phrase in found if phrase.places.strip()))


def _looked_for(alone: Sequence[str], *, of: int) -> tuple[str, ...]:
    """Single Han characters count as words. Other single characters count only if the query has nothing else."""
    distinct = tuple(dict.fromkeys(alone))
    chosen = distinct if len(distinct) == of else [one for one in distinct if is_han(one)]
    return tuple(chosen[:_MOST_ALONE])


def _phrase(reader: Lexer, text: str) -> Phrase:
    placed = [piece for _, piece in reader.pieces_of(text) if piece.place is not None]
    keys = frozenset(key(piece.term) for piece in placed if piece.term is not None)
    return Phrase(_joined([piece.place for piece in placed if piece.place is not None]), keys)


def _joined(places: list[str]) -> str:
    return f" {' '.join(places)} "
