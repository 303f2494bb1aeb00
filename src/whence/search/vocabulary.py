"""The words of a project's documents, to correct words of a question that no document has.

Each segment of the text index has its words with the number of chunks that have them, so the vocabulary is replaced with the
index. Common English words are never corrected. Any other word is corrected to a word with one edit (letter added, left out, exchanged,
or two swapped), a long word that is not English also to one with two. Of several, the nearest counts, then the most frequent.

Of other languages there is no list of right words. There, a word that no document has is more often right than misspelt, so it is
corrected only if it looks misspelt: see `_is_misspelling`.
"""

import asyncio
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import OSA
from rapidfuzz.process import cdist

from whence.search.bm25 import count_chunks
from whence.search.query import quoted_words
from whence.store import Store
from whence.text.content_words import foreign_function_words
from whence.text.lexer import WORD, Lexer, lexer, plain_word, words_of
from whence.text.word_lists import FOREIGN, english_words, word_list

_SEAM = re.compile(r"(['\u2019-])")
"""Separates the parts of a word that are corrected on their own: `Lincoln's`, `all-female`."""
_SHORTEST = 4
"""Minimum letters of a word to correct. Shorter words have too many neighbours."""
_LONG = 8
"""Letters from which two edits are allowed."""
_LONGEST = 40
_COMMON = 12_000
"""Rank from which an English word may be a misspelling: `leger` of `ledger`. By 10,000, twice as many right words are changed."""
_RUN = 4
"""Letters in a row that some word of the documents has, if a word of another language is right."""
_FOREIGN = frozenset(foreign_function_words())
_FUNCTION = frozenset(chain.from_iterable(word_list(language, "function") for language in FOREIGN))
_MOST_CORRECTED = 8
"""Maximum number of words of a question that are corrected."""
_TRIED = 3
"""Candidates per word: the nearest may have been in deleted chunks only."""
_MOST_WORDS = 2_000_000
"""Maximum number of cached words, of all projects together."""


def count_words(texts: Iterable[str]) -> Counter[str]:
    """The words of the texts, each with the number of texts that have it."""
    plain: dict[str, list[str]] = {}
    counts: Counter[str] = Counter()
    for text in texts:
        words = set(words_of(text))
        plain |= {word: _parts(word) for word in words - plain.keys()}
        counts.update(set(chain.from_iterable(map(plain.__getitem__, words))))
    return counts


def _parts(word: str) -> list[str]:
    """The parts of a word that are neither too short nor too long to be a correction."""
    found = (plain_word(part) or "" for part in _SEAM.split(word))
    return [part for part in found if _SHORTEST <= len(part) <= _LONGEST and part.isalpha()]


def pack_words(counts: Mapping[str, int]) -> bytes:
    return zlib.compress("\n".join(f"{word} {count}" for word, count in sorted(counts.items())).encode(), 1)


def read_words(packed: bytes) -> str | None:
    """The words as lines; None if they are missing or damaged."""
    try:
        return zlib.decompress(packed).decode()
    except zlib.error:
        return None


def unpack_words(packed: bytes) -> Counter[str]:
    lines = (read_words(packed) or "").split("\n")
    pairs = (line.split(" ") for line in lines if line)
    return Counter({word: int(count) for word, count in pairs})


@dataclass(frozen=True, slots=True)
class KnownWords:
    """The words of a project in order, and how frequent each is."""

    words: Sequence[str]
    counts: NDArray[np.int64]
    are_english: bool = True
    """Whether most are."""

    def near_each(self, words: Iterable[str], *, is_english: bool) -> dict[str, list[str]]:
        found = {word: self.near(word) for word in words}
        if not (is_english and self.are_english):
            text = "\n".join(["", *self.words, ""])
            found = {
                word: [other for other in some if _is_misspelling(word, other, text)]
                for word, some in found.items()
            }
        return {word: some[:_TRIED] for word, some in found.items()}

    def near(self, word: str) -> list[str]:
        """The words that `word` may have been meant to be, the likeliest first."""
        most = 2 if len(word) >= _LONG and word not in english_words() else 1
        if not self.words:
            return []
        (edits,) = cdist([word], self.words, scorer=OSA.distance, score_cutoff=most, dtype=np.uint8)
        places = np.flatnonzero(edits <= most)
        order = np.lexsort((-self.counts[places], edits[places]))
        return [self.words[place] for place in places[order]]


class SpellingCorrector:
    """Corrects questions. Caches the words of projects."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._reading = asyncio.Lock()
        self._cached: dict[UUID, tuple[set[UUID], KnownWords]] = {}
        """Each with the segments it was read from."""

    async def correct(
        self, project_id: UUID, text: str, reader: Lexer, missing: frozenset[int]
    ) -> dict[str, str]:
        """Corrections for words of the question that no chunk has: their terms are in `missing`. Quoted words stay."""
        words = dict.fromkeys(chain.from_iterable(map(_parts, words_of(text))))
        quoted = set(chain.from_iterable(map(_parts, quoted_words(text))))
        wrong = (word for word in words if missing.intersection(reader.keys(word)))
        asked = [
            word for word in wrong if word not in quoted and english_words().get(word, _COMMON) >= _COMMON
        ]
        if not asked:
            return {}
        async with self._reading:  # questions at the same time read the words once
            known = await self._words(project_id)
        is_english = _FOREIGN.isdisjoint(filter(None, map(plain_word, words_of(text))))
        near = await asyncio.to_thread(known.near_each, asked[:_MOST_CORRECTED], is_english=is_english)
        keys = {each: reader.keys(each) for some in near.values() for each in some}
        counts = await count_chunks(self._store, project_id, sorted({*chain.from_iterable(keys.values())}))
        living = {each for each, terms in keys.items() if all(counts[term] for term in terms)}
        found = {word: next((each for each in some if each in living), None) for word, some in near.items()}
        return {word: each for word, each in found.items() if each is not None}

    async def _words(self, project_id: UUID) -> KnownWords:
        """Read again when the segments of the project's index have changed."""
        segments = await self._store.lexical.worded(project_id)
        before, words = self._cached.pop(project_id, (None, None))
        if words is None or segments != before:
            packed = await self._store.lexical.words(project_id)
            words = await asyncio.to_thread(_unpack_all, list(packed.values()))
            segments = set(packed)
        self._cached[project_id] = segments, words
        while (
            len(self._cached) > 1 and sum(len(kept.words) for _, kept in self._cached.values()) > _MOST_WORDS
        ):
            self._cached.pop(next(iter(self._cached)))
        return words


def _unpack_all(segments: Iterable[bytes]) -> KnownWords:
    counts: Counter[str] = Counter()
    for segment in segments:
        counts.update(unpack_words(segment))
    english = sum(count for word, count in counts.items() if word in english_words())
    return KnownWords(
        list(counts), np.fromiter(counts.values(), np.int64, len(counts)), 2 * english > counts.total()
    )


def _is_misspelling(word: str, other: str, text: str) -> bool:
    """Whether a word of another language is one edit from a word of the documents, no form of it, and has a run of letters that is new.

    `text` has the words of the documents, each in a line.
    """
    written = f"\n{word}\n"
    runs = (written[at : at + _RUN] for at in range(len(written) - _RUN + 1))
    return (
        len(word) > _SHORTEST
        and word not in _FUNCTION
        and word[0] == other[0]
        and OSA.distance(word, other) == 1
        and not any(lexer(language).keys(word) == lexer(language).keys(other) for language in FOREIGN)
        and not all(run in text for run in runs)
    )


def replace_words(text: str, corrections: Mapping[str, str]) -> str:
    """The text with its words corrected."""

    def corrected(match: re.Match[str]) -> str:
        return "".join(corrections.get(plain_word(part) or "", part) for part in _SEAM.split(match[0]))

    return WORD.sub(corrected, text)
