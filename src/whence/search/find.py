"""A question to hits: words and vectors are asked at once, fused, held against the floor, and read."""

import asyncio
import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal
from uuid import UUID

from whence.errors import EmbeddingError
from whence.providers import Embedders
from whence.search import bm25
from whence.search.bm25 import Ranking, TextHits
from whence.search.expand import Context, Expander, Expansion
from whence.search.floor import FEW, passes
from whence.search.fuse import Scored, by_cosine, by_text, fused
from whence.search.lexer import DEFAULT_LANGUAGE
from whence.search.query import Query
from whence.search.vectors import VectorLeg
from whence.store import Store
from whence.store.chunks import ChunkView
from whence.store.hits import FoundChunk, Setting
from whence.store.nearest import vector_text
from whence.store.pool import busy
from whence.types import EmbeddingSpace, Filters

log = logging.getLogger("whence.search")

Mode = Literal["hybrid", "vector", "text"]

MAX_LIMIT = 100
MAX_OFFSET = 1_000
MAX_QUERY = 10_000
"""Characters; more is no question."""

_CANDIDATES = 30
"""Of each leg, at least: what one ranks high the other may rank low."""
_FOR_EACH = 3
"""For each hit that is wanted, where that is more."""

_WITH_PHRASE = 1_000
"""The most chunks with a phrase that are put into the order of the vectors."""

_JUDGED = 10
"""The best so many are held against the floor, whatever the limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    query: str
    mode: Mode = "hybrid"
    limit: int = 10
    offset: int = 0
    filters: Filters | None = None
    expansion: Expansion | None = None
    floor: bool = True
    """Find nothing where nothing has to do with the question."""
    min_score: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    found: FoundChunk
    score: float
    """From 0 to 1."""
    text: float | None
    """BM25; None where the words were not asked."""
    cosine: float | None
    highlights: tuple[tuple[int, int], ...]
    """Offsets into the chunk's content of the words that were looked for."""
    context: Context | None = None

    @property
    def chunk(self) -> ChunkView:
        return self.found.chunk

    @property
    def distance(self) -> float | None:
        """Cosine distance from 0 to 1; what points the other way is as far as what has nothing in common."""
        return None if self.cosine is None else min(max(1.0 - self.cosine, 0.0), 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryVector:
    space: EmbeddingSpace
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    hits: tuple[Hit, ...] = ()
    total: int = 0
    """How many there are to page through: those that were ranked, and more as one pages on."""
    notes: tuple[str, ...] = ()
    """What the caller should know of how they were found."""
    vector: QueryVector | None = None
    """The question's, where vectors were asked: whoever looks for more need not embed it again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A question of a project, with what is known before the legs begin."""

    project_id: UUID
    space: EmbeddingSpace | None
    question: Question
    query: Query
    documents: Sequence[UUID] | None
    """Where there are filters: those that meet them."""

    @property
    def candidates(self) -> int:
        return max(_CANDIDATES, _FOR_EACH * (self.question.offset + self.question.limit))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ranked:
    scored: list[Scored]
    vector: QueryVector | None = None
    ranking: Ranking | None = None
    """Of the words, where they were asked."""
    notes: tuple[str, ...] = ()


class Search:
    def __init__(self, store: Store, embedders: Embedders) -> None:
        self._store = store
        self._embedders = embedders
        self._leg = VectorLeg(store)

    async def find(self, project_id: UUID, question: Question) -> Found:
        """Raises ProjectNotFound; and, by vectors alone, EmbeddingError."""
        setting = await self._store.hits.setting(project_id)
        found = await self._find(project_id, setting, question)
        if found.hits:
            return found
        current = await self._store.hits.setting(project_id)
        # It may have moved to another space meanwhile, and the old one is empty.
        return found if current == setting else await self._find(project_id, current, question)

    async def _find(self, project_id: UUID, setting: Setting, question: Question) -> Found:
        documents = None
        if question.filters is not None:
            documents = await self._store.documents.matching(project_id, question.filters)
            if not documents:
                return Found()
        asked = _Asked(
            project_id=project_id,
            space=setting.space,
            question=question,
            query=Query.of(question.query, setting.language or DEFAULT_LANGUAGE),
            documents=documents,
        )
        ranked = await self._ranked(asked)
        good = [hit for hit in ranked.scored if hit.score >= question.min_score]
        if not good or (question.floor and not await self._is_about(asked, ranked)):
            return Found(notes=ranked.notes, vector=ranked.vector)
        hits = await self._hits(asked, good[question.offset : question.offset + question.limit])
        return Found(hits=hits, total=len(good), notes=ranked.notes, vector=ranked.vector)

    async def _ranked(self, asked: _Asked) -> _Ranked:
        mode = asked.question.mode
        if mode == "text" or asked.space is None:
            return await self._by_text(asked) if mode != "vector" else _Ranked(scored=[])
        if mode == "vector":
            return await self._by_vectors_alone(asked, asked.space)
        return await self._by_both(asked, asked.space)

    async def _by_vectors_alone(self, asked: _Asked, space: EmbeddingSpace) -> _Ranked:
        if not asked.query.phrases:
            vector, cosines = await self._by_vector(asked, space)
            return _Ranked(scored=by_cosine(cosines), vector=vector)
        vector = await self._vector(asked, space)
        having = _scores(await self._text(asked, limit=_WITH_PHRASE))
        cosines = await self._leg.cosines(asked.project_id, space, vector_text(vector.values), having)
        return _Ranked(scored=by_cosine(cosines), vector=vector)

    async def _is_about(self, asked: _Asked, ranked: _Ranked) -> bool:
        """Whether anything that was found has to do with the question; what has every phrase of it, has."""
        if asked.query.phrases:
            return bool(ranked.scored)
        judged = ranked.scored[:_JUDGED]
        shares = ranked.ranking.shares_of([hit.chunk_id for hit in judged]) if ranked.ranking else {}
        if ranked.ranking is not None:
            among = ranked.ranking.total
        elif asked.space is not None:
            among = await self._store.nearest.count(asked.project_id, asked.space, most=FEW)
        else:
            among = FEW
        return passes(judged, shares=shares, space=asked.space, among=among)

    async def _by_both(self, asked: _Asked, space: EmbeddingSpace) -> _Ranked:
        with busy():  # each leg is the other's work to get on with
            near, text = await asyncio.gather(
                self._by_vector(asked, space), self._text(asked), return_exceptions=True
            )
        if isinstance(text, BaseException):
            raise text
        if isinstance(near, EmbeddingError):
            log.warning("Searched by words alone: %s", near.message)
            note = f"Found by words alone, without vectors: {near.message}"
            return _ranked_by_text(text, notes=(note,))
        if isinstance(near, BaseException):
            raise near
        vector, cosines = near
        scores = _scores(text)
        if asked.query.phrases:  # what is near and does not have them was not asked for
            cosines = {chunk_id: cosine for chunk_id, cosine in cosines.items() if chunk_id in scores}
        missing = scores.keys() - cosines.keys()
        scores |= text.ranking.scores_of(cosines.keys() - scores.keys())
        if missing:
            cosines |= await self._leg.cosines(asked.project_id, space, vector_text(vector.values), missing)
        return _Ranked(scored=fused(scores, cosines), ranking=text.ranking, vector=vector)

    async def _by_text(self, asked: _Asked) -> _Ranked:
        return _ranked_by_text(await self._text(asked))

    async def _text(self, asked: _Asked, *, limit: int | None = None) -> TextHits:
        return await bm25.find(
            self._store,
            asked.project_id,
            asked.query,
            limit=limit or asked.candidates,
            allowed=None if asked.documents is None else partial(self._allowed, asked, asked.documents),
        )

    async def _allowed(
        self, asked: _Asked, documents: Sequence[UUID], ids: Sequence[UUID]
    ) -> Collection[UUID]:
        return await self._store.hits.of_documents(asked.project_id, documents, ids)

    async def _by_vector(self, asked: _Asked, space: EmbeddingSpace) -> tuple[QueryVector, dict[UUID, float]]:
        """The question's vector, and the cosines of what is near it."""
        vector = await self._vector(asked, space)
        cosines = await self._leg.nearest(
            asked.project_id,
            space,
            vector_text(vector.values),
            limit=asked.candidates,
            document_ids=asked.documents,
        )
        return vector, cosines

    async def _vector(self, asked: _Asked, space: EmbeddingSpace) -> QueryVector:
        embedded = await self._embedders.of(space).embed([asked.question.query])
        return QueryVector(space=space, values=tuple(embedded.vectors[0].tolist()))

    async def _hits(self, asked: _Asked, best: Sequence[Scored]) -> tuple[Hit, ...]:
        ids = [scored.chunk_id for scored in best]
        read = await self._store.hits.read(asked.project_id, ids)
        contexts: dict[UUID, Context] = {}
        if asked.question.expansion is not None:
            contexts = await self._expander(asked.project_id, asked.space, asked.question.expansion).around(
                ids
            )
        return tuple(
            Hit(
                found=found,
                score=scored.score,
                text=scored.text,
                cosine=scored.cosine,
                highlights=tuple(asked.query.highlights(found.chunk["content"])),
                context=contexts.get(scored.chunk_id),
            )
            for scored in best
            if (found := read.get(str(scored.chunk_id))) is not None
        )

    async def context(self, project_id: UUID, chunk_id: UUID, expansion: Expansion) -> Context:
        """What stands around one chunk."""
        space, _ = await self._store.vectors.spaces(project_id)
        return (await self._expander(project_id, space, expansion).around([chunk_id]))[chunk_id]

    def _expander(self, project_id: UUID, space: EmbeddingSpace | None, expansion: Expansion) -> Expander:
        return Expander(
            store=self._store, leg=self._leg, project_id=project_id, space=space, expansion=expansion
        )


def _scores(text: TextHits) -> dict[UUID, float]:
    return {hit.chunk_id: hit.score for hit in text.hits}


def _ranked_by_text(text: TextHits, *, notes: tuple[str, ...] = ()) -> _Ranked:
    return _Ranked(scored=by_text(_scores(text)), ranking=text.ranking, notes=notes)
