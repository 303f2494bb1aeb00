"""The text leg of search: chunks ranked by BM25 over the terms of a query.

    score = Σ idf(t) · f · (k1 + 1) / (f + k1 · (1 - b + b · length / average length)),  idf(t) = ln(1 + (N - n + ½) / (n + ½))

over the query's terms t, where f is how often t occurs in the chunk, n how many of the project's N chunks have it. All of
them are counted exactly, at the moment of the search.
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
from whence.search.postings import in_block
from whence.search.query import Query
from whence.search.row_numbers import Floats, Numbering, Numbers
from whence.store import Store
from whence.store.lexical import SegmentPostings
from whence.text.cjk import BETWEEN, SCATTERED
from whence.text.lexer import key as key_of

K1, B = 1.2, 0.75

_STEPS = (200, 2_000, 20_000)
"""How many of the best are looked at until enough of them are allowed; after the last step, all."""

_FEW = 1_000
"""Chunks of a project in which how rare words are cannot be told from how many of them have one."""
_LEAST = 40.0
"""What a question in a message is held against at least, about six rare words: "help" alone is no answer to `Can you help?`."""

# Of what is asked about, the least that a chunk has to have for its share to count in full:
_MOST_WANTED = 0.52
"""more than one of two rare words,"""
_WORDS_WANTED = 1.2
"""and no more than so many: a long question says much that is not said again."""
_LACKING = 4
"""How fast the share falls with what is lacking: a power."""

_MANY = 1_000_000  # bytes of postings that are worth a thread
_RUN = 64  # scores, of which first the highest is looked at

_Rows = NDArray[np.integer]
_Having = Mapping[int, Mapping[ChunkKey, int]]
"""Of terms that are not looked up in the index: how often chunks have them."""

Allowed = Callable[[Sequence[ChunkKey]], Awaitable[Collection[ChunkKey]]]
"""Of some chunks, those that a search may find."""


class TextHit(NamedTuple):
    chunk_id: ChunkKey
    score: float


@dataclass(frozen=True, slots=True)
class Ranking:
    """What each chunk of a project scores."""

    query: Query
    numbering: Numbering
    scores: Floats
    """0 for chunks that have none of the terms, or are no more."""
    total: int
    """How many chunks the project has."""
    occurrences: "_Occurrences"
    telling: Floats
    """What each term counts where it is asked whether the documents have to do with the question."""

    def scores_of(self, chunk_ids: Collection[ChunkKey]) -> dict[ChunkKey, float]:
        """Of chunks that were found otherwise. Whether they have the phrases of the query is not asked."""
        return self.numbering.values_of(self.scores, chunk_ids)

    def shares_of(self, chunk_ids: Collection[ChunkKey]) -> dict[ChunkKey, float]:
        """How much chunks have of what the query's words could come to at most: from 0 to 1.

        Of a message it is the most that they have of it or of one of its questions. The length of a chunk makes no difference:
        a long one that has the words has them. What lacks the rare words of a short question has less: they are what it is about.
        """
        counts = self.occurrences.counts_in(self.numbering.numbers_of(chunk_ids))
        tells, possible = _in_rows(self.query, counts > 0)
        told = tells * self.telling[:, np.newaxis] * counts / (counts + K1)
        most = possible * self.telling[:, np.newaxis]
        light = np.array(self.query.light)[:, np.newaxis]
        shares = _share(light * told, light * most, 0.0)
        if not self.query.is_unspaced:  # of pairs of characters a text lacks many in any case
            shares = shares * _had(light * most, counts > 0, rarest=_idf(max(self.total, _FEW), 0))
        for places in self.query.questions:
            shares = np.maximum(shares, _share(told[places], most[places], _LEAST))
        return dict(zip(chunk_ids, shares.tolist(), strict=True))

    def best(self, count: int) -> list[TextHit]:
        numbers = _highest(self.scores, self.numbering.starts, count)
        ids = self.numbering.ids_of(numbers)
        order = sorted(zip((-self.scores[numbers]).tolist(), ids, strict=True))
        return [TextHit(ident, -value) for value, ident in order[:count]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextHits:
    hits: list[TextHit]
    """Best first; of the same score, the lower id."""
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
    """The best chunks that have any of the terms and every phrase, and are allowed. `segments` are for who has them already."""
    if segments is None:
        segments = await store.lexical.postings(project_id, query.keys)
    having = {key_of(one): await store.lexical.having(project_id, one) for one in query.alone}
    ranking = await _ranking(query, segments, having)
    return TextHits(hits=await _Finding(store, project_id, ranking, allowed).best(limit), ranking=ranking)


@dataclass(frozen=True, slots=True)
class _Finding:
    store: Store
    project_id: UUID
    ranking: Ranking
    allowed: Allowed | None

    async def best(self, limit: int) -> list[TextHit]:
        if limit < 1:
            return []
        if self.allowed is None and not self.ranking.query.phrases:
            return self.ranking.best(limit)
        total = int(np.count_nonzero(self.ranking.scores))
        hits: list[TextHit] = []
        seen = 0
        for step in (*_STEPS, total):
            if step > seen:
                candidates = self.ranking.best(step)[seen:]
                seen += len(candidates)
                hits += await self._admitted(candidates)
            if len(hits) >= limit or seen >= total:
                break
        return hits[:limit]

    async def _admitted(self, candidates: Sequence[TextHit]) -> list[TextHit]:
        ids = [hit.chunk_id for hit in candidates]
        if self.allowed is not None and ids:
            good = await self.allowed(ids)
            ids = [ident for ident in ids if ident in good]
        query = self.ranking.query
        if query.phrases and ids:
            contents = await self.store.lexical.contents(self.project_id, ids)
            ids = [ident for ident in ids if ident in contents and query.holds(contents[ident])]
        admitted = set(ids)
        return [hit for hit in candidates if hit.chunk_id in admitted]


async def _ranking(query: Query, segments: Sequence[SegmentPostings], having: _Having) -> Ranking:
    """In a thread where it takes long enough for others to notice."""
    if sum(len(block) for segment in segments for block in segment.blocks if block) > _MANY:
        return await asyncio.to_thread(_ranked, query, segments, having)
    return _ranked(query, segments, having)


def _ranked(query: Query, segments: Sequence[SegmentPostings], having: _Having) -> Ranking:
    numbering = Numbering.of(segments)
    total = sum(segment.live for segment in segments)
    average = max(sum(segment.length for segment in segments), 1) / max(total, 1)
    alive = numbering.alive(segments)
    apart = {key: _postings(numbering, counts, average) for key, counts in having.items()}
    found = _occurrences(query, segments, numbering.starts, apart)
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
    return Ranking(query, numbering, scores, total, found, _telling(query, frequencies, total))


def _telling(query: Query, frequencies: Sequence[int], total: int) -> Floats:
    """A word that all of a few chunks have is rare in the world all the same; one that none has is no rarer than that."""
    weighed = zip(query.weights, frequencies, strict=True)
    return np.array([weight * _idf(max(total, _FEW), frequency) for weight, frequency in weighed])


def _in_rows(query: Query, present: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """How much each term tells of each chunk, and how much it could at most: 1 but for pairs that stand in a row with others."""
    tells, possible = np.ones(present.shape), np.ones(present.shape)
    if not query.beside:
        return tells, possible
    beside = np.zeros(present.shape, np.int64)
    for one, other in query.beside:
        beside[one] += present[other]
        beside[other] += present[one]
    in_row = np.minimum(beside, 2)
    for one, other in query.beside:  # the ends of three in a row
        in_row[one] = np.where(present[other] & (beside[other] > 1), 2, in_row[one])
        in_row[other] = np.where(present[one] & (beside[one] > 1), 2, in_row[other])
    is_letters = np.isin(np.arange(len(present)), list(query.of_letters))[:, np.newaxis]
    tells = np.where(is_letters, np.array(SCATTERED)[in_row], 1.0)
    possible = np.where(~is_letters & ~present & (beside > 0), BETWEEN, 1.0)
    return tells, possible


def _share(told: Floats, most: Floats, least: float) -> Floats:
    """Of what each term tells of each chunk, against what they could tell at most, or against `least` where that is more."""
    return np.asarray(told.sum(axis=0) / np.maximum(most.sum(axis=0), max(least, 1e-9)))


def _had(most: Floats, present: NDArray[np.bool_], *, rarest: float) -> Floats:
    """What the share of each chunk counts, by how much it has of what is asked about: 1 where that is enough."""
    whole = np.maximum(most.sum(axis=0), 1e-9)
    wanted = np.minimum(_MOST_WANTED, _WORDS_WANTED * rarest / whole)
    return np.asarray(np.minimum((most * present).sum(axis=0) / whole / wanted, 1.0) ** _LACKING)


def _idf(total: int, frequency: int) -> float:
    return log(1 + (total - frequency + 0.5) / (frequency + 0.5))


@dataclass(frozen=True, slots=True)
class _Occurrences:
    """Of the terms of a query in all segments, those of one term after the other."""

    ends: Sequence[int]
    """0, and where those of each term end."""
    chunks: Numbers
    """Of each term, ascending."""
    counts: _Rows
    lengths: _Rows

    def of(self, place: int) -> Numbers:
        return self.chunks[self.ends[place] : self.ends[place + 1]]

    def frequencies(self, alive: NDArray[np.bool_] | None) -> list[int]:
        """How many chunks that are still there have each term."""
        if alive is None:
            return [end - start for start, end in pairwise(self.ends)]
        return [int(np.count_nonzero(alive[self.of(place)])) for place in range(len(self.ends) - 1)]

    def counts_in(self, chunks: Numbers) -> Floats:
        """How often each term is in each of some chunks: a row for each term."""
        counts = np.zeros((len(self.ends) - 1, len(chunks)))
        for row, (start, end) in zip(counts, pairwise(self.ends), strict=True):
            if start < end:
                places = np.minimum(start + np.searchsorted(self.chunks[start:end], chunks), end - 1)
                row[:] = np.where(self.chunks[places] == chunks, self.counts[places], 0)
        return counts


def _occurrences(
    query: Query, segments: Sequence[SegmentPostings], starts: Numbers, apart: Mapping[int, Numbers]
) -> _Occurrences:
    """`apart` are the terms that were not looked up in the segments, each with what `_postings` makes of it."""
    ends, sizes, offsets = [0], [0], [0]
    parts: list[_Rows] = [np.empty((3, 0), np.uint16)]
    for place, key in enumerate(query.keys):
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
    """The postings of a term, with the number of the first chunk of their segment."""
    for segment, start in zip(segments, starts.tolist(), strict=False):
        block = segment.blocks[place]
        found = None if block is None else in_block(block, key)
        if found is not None:
            yield found, start


def _postings(numbering: Numbering, counts: Mapping[ChunkKey, int], average: float) -> Numbers:
    """Of a term that chunks have so often, as if they were all of average length."""
    numbers = numbering.numbers_of(counts)
    rows = np.array([numbers, list(counts.values()), np.full(len(numbers), round(average))], np.int64)
    order = np.argsort(numbers)
    return rows[:, order[numbers[order] >= 0]]


def _highest(scores: Floats, starts: Numbers, count: int) -> Numbers:
    """The numbers of the highest scores: at least `count`, as those that are as good as the last are in it too.

    In a segment the lower number is the lower id, so of those, no more than `count` of each can be among the best.
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
    """What `count` of the scores reach, found by a look at the highest of each run of them; 0 where there are few."""
    runs = len(scores) // _RUN
    if runs <= count:
        return 0.0
    highest = scores[: runs * _RUN].reshape(runs, _RUN).max(axis=1)
    return float(np.partition(highest, runs - count)[runs - count])
