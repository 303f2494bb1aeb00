"""The text leg of search: chunks ranked by BM25 over the terms of a query.

    score = Σ idf(t) · f · (k1 + 1) / (f + k1 · (1 - b + b · length / average length)),  idf(t) = ln(1 + (N - n + ½) / (n + ½))

over the query's terms t. f counts t in the chunk; n of the project's N chunks have t. All counts are exact at the time of
the search.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log
from typing import NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from whence.models import ChunkKey
from whence.search.postings import Floats, Numbering, Numbers, in_block
from whence.search.query import Query
from whence.store import Store
from whence.store.lexical import SegmentPostings
from whence.text.cjk import BETWEEN, SCATTERED
from whence.text.lexer import key as key_of

K1, B = 1.2, 0.75

_STEPS = (200, 2_000, 20_000)
"""Numbers of best hits to filter until enough are allowed; after the last step, all."""

_FEW = 1_000
"""Fewer chunks than this are too few to measure how rare a word is."""
_LEAST = 40.0
"""Minimum denominator for a question in a message, about six rare words: "help" alone does not answer `Can you help?`."""

# A chunk's share counts in full if the chunk has this much of the question's weight, the lesser of both:
_MOST_WANTED = 0.52
"""A fraction: more than one of two rare words."""
_WORDS_WANTED = 1.2
"""A number of rare words: documents do not repeat all the words of a long question."""
_LACKING = 4
"""Exponent of the penalty for missing weight."""
_WITH_CODE = 0.5
"""Least share of a chunk with a rare code of the question, such as `SEV1`: enough evidence by itself."""
_RARE_CODE = 0.01
"""Fraction of the chunks that may have a rare code; three chunks always may."""

_MANY = 1_000_000  # bytes of postings from which scoring runs in a thread, to keep the event loop free
_GROUP = 64  # scores per group; the maximum of each group is compared first

_Rows = NDArray[np.integer]
_Having = Mapping[int, Mapping[ChunkKey, int]]
"""Counts per chunk, by term key, of terms that are not looked up in the index."""

Allowed = Callable[[Sequence[ChunkKey]], Awaitable[Collection[ChunkKey]]]
"""Filters chunk ids: returns those that the search may find."""


class TextHit(NamedTuple):
    chunk_id: ChunkKey
    score: float


@dataclass(frozen=True, slots=True)
class Ranking:
    """The BM25 scores of all chunks of a project."""

    query: Query
    numbering: Numbering
    scores: Floats
    """0 for deleted chunks and for chunks without any term or without a required one."""
    total: int
    """Number of live chunks in the project."""
    occurrences: "_Occurrences"
    frequencies: Sequence[int]
    """Number of live chunks with each term."""
    term_weights: Floats
    """Weight of each term for the relevance threshold."""

    def scores_of(self, chunk_ids: Collection[ChunkKey]) -> dict[ChunkKey, float]:
        """Scores of chunks found by other means. Phrases are not checked."""
        return self.numbering.values_of(self.scores, chunk_ids)

    def counts_of(self, chunk_ids: Collection[ChunkKey]) -> list[int] | None:
        """The number of the query's terms in each chunk; None if a chunk is newer than the ranking."""
        numbers = self.numbering.numbers_of(chunk_ids)
        counts = self.occurrences.counts_in(numbers).sum(axis=0).astype(int)
        return None if (numbers < 0).any() else counts.tolist()

    def shares_of(
        self, chunk_ids: Collection[ChunkKey], *, without: Collection[int] = ()
    ) -> dict[ChunkKey, float]:
        """The share of the query's maximum weight that each chunk has, 0 to 1.

        For a message, the highest share of the whole message or of one of its questions. Chunk length plays no role. A chunk
        without the rare words of a short question gets a lower share: they are the subject of the question. The terms with the keys
        in `without` do not count.
        """
        term_weights = np.where(np.isin(self.query.keys, list(without)), 0.0, self.term_weights)[
            :, np.newaxis
        ]
        counts = self.occurrences.counts_in(self.numbering.numbers_of(chunk_ids))
        factors, possible = _in_rows(self.query, counts > 0)
        matched = factors * term_weights * counts / (counts + K1)
        most = possible * term_weights
        light = np.array(self.query.light)[:, np.newaxis]
        shares = _share(light * matched, light * most, 0.0)
        if not self.query.is_unspaced:  # any text lacks many of the character pairs
            shares = shares * _had(light * most, counts > 0, rarest=_idf(max(self.total, _FEW), 0))
        for places in self.query.questions:
            shares = np.maximum(shares, _share(matched[places], most[places], _LEAST))
        most_having = max(3, _RARE_CODE * self.total)
        codes = [place for place in self.query.codes if self.frequencies[place] <= most_having]
        shares = np.maximum(shares, _WITH_CODE * (counts[codes] > 0).any(axis=0))
        return dict(zip(chunk_ids, shares.tolist(), strict=True))

    @property
    def missing(self) -> frozenset[int]:
        """Keys of the terms that no live chunk has."""
        return frozenset(
            key for key, count in zip(self.query.keys, self.frequencies, strict=True) if not count
        )

    def best(self, count: int) -> list[TextHit]:
        numbers = _highest(self.scores, self.numbering.starts, count)
        ids = self.numbering.ids_of(numbers)
        order = sorted(zip((-self.scores[numbers]).tolist(), ids, strict=True))
        return [TextHit(ident, -value) for value, ident in order[:count]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextHits:
    hits: list[TextHit]
    """Best first; ties in order of id."""
    ranking: Ranking


async def find(
    store: Store,
    project_id: UUID,
    query: Query,
    *,
    limit: int,
    allowed: Allowed | None = None,
    segments: Sequence[SegmentPostings] | None = None,
) -> TextHits:
    """The best allowed chunks with any of the terms and every phrase. Reads the segments unless they are given."""
    if segments is None:
        segments = await store.lexical.postings(project_id, query.keys)
    having = {key_of(one): await store.lexical.having(project_id, one) for one in query.alone}
    if sum(len(block) for segment in segments for block in segment.blocks if block) > _MANY:
        ranking = await asyncio.to_thread(_ranked, query, segments, having)
    else:
        ranking = _ranked(query, segments, having)
    if limit < 1 or (allowed is None and not query.phrases):
        return TextHits(hits=ranking.best(limit) if limit > 0 else [], ranking=ranking)
    hits: list[TextHit] = []
    seen, total = 0, int(np.count_nonzero(ranking.scores))
    for step in (*_STEPS, total):
        if len(hits) >= limit or seen >= total:
            break
        candidates = ranking.best(step)[seen:]
        seen += len(candidates)
        ids = await _admitted(store, project_id, query, [hit.chunk_id for hit in candidates], allowed)
        hits += [hit for hit in candidates if hit.chunk_id in ids]
    return TextHits(hits=hits[:limit], ranking=ranking)


async def count_chunks(store: Store, project_id: UUID, keys: Sequence[int]) -> dict[int, int]:
    """The number of live chunks with each term."""
    segments = await store.lexical.postings(project_id, keys)
    numbering = Numbering.of(segments)
    counts = _occurrences(keys, segments, numbering.starts, {}).frequencies(numbering.alive(segments))
    return dict(zip(keys, counts, strict=True))


async def _admitted(
    store: Store, project_id: UUID, query: Query, ids: Sequence[ChunkKey], allowed: Allowed | None
) -> Collection[ChunkKey]:
    """The allowed chunks with every phrase."""
    found = await allowed(ids) if allowed is not None and ids else ids
    if not query.phrases or not found:
        return frozenset(found)
    contents = await store.lexical.contents(project_id, found)
    return {ident for ident, content in contents.items() if query.holds(content)}


def _ranked(query: Query, segments: Sequence[SegmentPostings], having: _Having) -> Ranking:
    numbering = Numbering.of(segments)
    total = sum(segment.live for segment in segments)
    average = max(sum(segment.length for segment in segments), 1) / max(total, 1)
    alive = numbering.alive(segments)
    apart = {key: _postings(numbering, counts, average) for key, counts in having.items()}
    found = _occurrences(query.keys, segments, numbering.starts, apart)
    frequencies = found.frequencies(alive)
    idf = [_idf(total, frequency) for frequency in frequencies]
    parts = found.counts / (found.counts + (K1 * (1 - B) + (K1 * B / average) * found.lengths))
    weights = np.repeat([(K1 + 1) * value for value in idf], np.diff(found.ends))
    scores = np.asarray(np.bincount(found.chunks, weights * parts, numbering.total), np.float64)
    if alive is not None:
        scores[~alive] = 0
    for place, key in enumerate(query.keys):
        if key in query.required:
            missing = np.ones(len(scores), np.bool_)
            missing[found.of(place)] = False
            scores[missing] = 0
    term_weights = _term_weights(query, frequencies, total)
    return Ranking(query, numbering, scores, total, found, frequencies, term_weights)


def _term_weights(query: Query, frequencies: Sequence[int], total: int) -> Floats:
    """Weights of the terms. A small project cannot show how rare a word is, so idf assumes at least `_FEW` chunks."""
    weighed = zip(query.weights, frequencies, strict=True)
    return np.array([weight * _idf(max(total, _FEW), frequency) for weight, frequency in weighed])


def _in_rows(query: Query, present: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Factors for the weight that each term has and could have in each chunk: 1 except for adjacent character pairs."""
    factors, possible = np.ones(present.shape), np.ones(present.shape)
    if not query.beside:
        return factors, possible
    beside = np.zeros(present.shape, np.int64)
    for one, other in query.beside:
        beside[one] += present[other]
        beside[other] += present[one]
    in_row = np.minimum(beside, 2)
    for one, other in query.beside:  # the ends of three in a row
        in_row[one] = np.where(present[other] & (beside[other] > 1), 2, in_row[one])
        in_row[other] = np.where(present[one] & (beside[one] > 1), 2, in_row[other])
    is_letters = np.isin(np.arange(len(present)), list(query.of_letters))[:, np.newaxis]
    factors = np.where(is_letters, np.array(SCATTERED)[in_row], 1.0)
    possible = np.where(~is_letters & ~present & (beside > 0), BETWEEN, 1.0)
    return factors, possible


def _share(matched: Floats, most: Floats, least: float) -> Floats:
    """The share of the maximum weight that each chunk has. The denominator is at least `least`."""
    return np.asarray(matched.sum(axis=0) / np.maximum(most.sum(axis=0), max(least, 1e-9)))


def _had(most: Floats, present: NDArray[np.bool_], *, rarest: float) -> Floats:
    """The factor for the share of each chunk: 1 if the chunk has enough of the question's weight, else less."""
    whole = np.maximum(most.sum(axis=0), 1e-9)
    wanted = np.minimum(_MOST_WANTED, _WORDS_WANTED * rarest / whole)
    return np.asarray(np.minimum((most * present).sum(axis=0) / whole / wanted, 1.0) ** _LACKING)


def _idf(total: int, frequency: int) -> float:
    return log(1 + (total - frequency + 0.5) / (frequency + 0.5))


@dataclass(frozen=True, slots=True)
class _Occurrences:
    """The postings of a query's terms in all segments, term after term."""

    ends: Sequence[int]
    """0, then the end of each term's postings."""
    chunks: Numbers
    """Row numbers, ascending within a term."""
    counts: _Rows
    lengths: _Rows

    def of(self, place: int) -> Numbers:
        return self.chunks[self.ends[place] : self.ends[place + 1]]

    def frequencies(self, alive: NDArray[np.bool_] | None) -> list[int]:
        """Number of live chunks with each term."""
        if alive is None:
            return [end - start for start, end in pairwise(self.ends)]
        return [int(np.count_nonzero(alive[self.of(place)])) for place in range(len(self.ends) - 1)]

    def counts_in(self, chunks: Numbers) -> Floats:
        """Count of each term in each chunk, one row per term."""
        counts = np.zeros((len(self.ends) - 1, len(chunks)))
        for row, (start, end) in zip(counts, pairwise(self.ends), strict=True):
            if start < end:
                places = np.minimum(start + np.searchsorted(self.chunks[start:end], chunks), end - 1)
                row[:] = np.where(self.chunks[places] == chunks, self.counts[places], 0)
        return counts


def _occurrences(
    keys: Sequence[int], segments: Sequence[SegmentPostings], starts: Numbers, apart: Mapping[int, Numbers]
) -> _Occurrences:
    """`apart` has the postings of the terms that are not looked up in the segments."""
    ends, sizes, offsets = [0], [0], [0]
    parts: list[_Rows] = [np.empty((3, 0), np.uint16)]
    for place, key in enumerate(keys):
        end = ends[-1]
        postings = [(apart[key], 0)] if key in apart else _in_segments(segments, starts, place, key)
        for found, start in postings:
            parts.append(found)
            sizes.append(found.shape[1])
            offsets.append(start)
            end += found.shape[1]
        ends.append(end)
    chunks, counts, lengths = np.concatenate(parts, axis=1)
    return _Occurrences(ends, chunks + np.repeat(offsets, sizes), counts, lengths)


def _in_segments(
    segments: Sequence[SegmentPostings], starts: Numbers, place: int, key: int
) -> Iterator[tuple[_Rows, int]]:
    """The postings of a term, with the row number of their segment's first chunk."""
    for segment, start in zip(segments, starts.tolist(), strict=False):
        block = segment.blocks[place]
        found = None if block is None else in_block(block, key)
        if found is not None:
            yield found, start


def _postings(numbering: Numbering, counts: Mapping[ChunkKey, int], average: float) -> Numbers:
    """Postings from counts per chunk, as if all chunks had average length."""
    numbers = numbering.numbers_of(counts)
    rows = np.array([numbers, list(counts.values()), np.full(len(numbers), round(average))], np.int64)
    order = np.argsort(numbers)
    return rows[:, order[numbers[order] >= 0]]


def _highest(scores: Floats, starts: Numbers, count: int) -> Numbers:
    """The row numbers of the `count` highest scores, and of ties with the lowest of them.

    Within a segment a lower number is a lower id, so no more than `count` ties per segment are needed.
    """
    bound = _bound(scores, count)
    numbers = np.flatnonzero(scores >= bound if bound else scores)
    if len(numbers) <= count:
        return numbers
    scores = scores[numbers]
    least = np.partition(scores, len(scores) - count)[len(scores) - count]
    ties = numbers[scores == least]
    bounds = np.searchsorted(ties, starts).tolist()
    first_ties = (ties[low:high][:count] for low, high in pairwise(bounds))
    return np.concatenate([numbers[scores > least], *first_ties])


def _bound(scores: Floats, count: int) -> float:
    """A score that `count` scores reach, taken from the maximum of each group; 0 if there are few groups."""
    groups = len(scores) // _GROUP
    if groups <= count:
        return 0.0
    # A group has every `groups`-th score: numpy compares rows of adjacent scores in an eighth of the time of columns.
    highest = scores[: groups * _GROUP].reshape(_GROUP, groups).max(axis=0)
    return float(np.partition(highest, groups - count)[groups - count])
