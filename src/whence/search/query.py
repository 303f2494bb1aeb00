"""What somebody looks for: any of the words, and every phrase in quotes. Nothing else is syntax, and nothing is wrong."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from whence.search.lexer import Lexer, key, lexer

MOST_TERMS = 128
"""Of a longer text the first so many different terms are looked for."""

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

    @classmethod
    def of(cls, text: str, language: str) -> "Query":
        reader = lexer(language)
        keys = tuple(dict.fromkeys(reader.keys(text)))[:MOST_TERMS]
        quoted = [_phrase(reader, match[1] or match[2] or "") for match in _QUOTED.finditer(text)]
        return cls(reader, keys, tuple(phrase for phrase in quoted if phrase.places.strip()))

    @property
    def required(self) -> frozenset[int]:
        """Terms without which there is not every phrase."""
        return frozenset(self.keys) & frozenset().union(*(phrase.keys for phrase in self.phrases))

    def holds(self, text: str) -> bool:
        """Whether the text has every phrase."""
        if not self.phrases:
            return True
        places = _joined(self.lexer.places(text))
        return all(phrase.places in places for phrase in self.phrases)

    def highlights(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        """Offsets of the words of each text that were looked for."""
        return self.lexer.spans(texts, frozenset(self.keys))


def _phrase(reader: Lexer, text: str) -> Phrase:
    placed = [piece for _, piece in reader.pieces_of(text) if piece.place is not None]
    keys = frozenset(key(piece.term) for piece in placed if piece.term is not None)
    return Phrase(_joined([piece.place for piece in placed if piece.place is not None]), keys)


def _joined(places: list[str]) -> str:
    return f" {' '.join(places)} "
