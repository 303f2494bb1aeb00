"""Retrieves the candidates of a search by text and vectors, alone or both at once. Each of the two is a leg."""

import asyncio
import logging
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from uuid import UUID

from whence.errors import EmbeddingError
from whence.models import ChunkKey, EmbeddingSpace
from whence.providers import Embedders
from whence.search import bm25
from whence.search.bm25 import TextHits
from whence.search.fuse import TEXT_WEIGHT, WORDS_FIRST, Legs, QueryVector
from whence.search.memory_index import HeldProject
from whence.search.named_documents import NamedDocuments
from whence.search.query import Query
from whence.search.query_text import gists, one_of
from whence.search.question import Question
from whence.search.relevance_threshold import by_words
from whence.search.vectors import VectorLeg
from whence.store import Store
from whence.store.connection import busy
from whence.store.halfvec import halfvecs
from whence.store.search_reads import Setting

log = logging.getLogger("whence.search")

_CANDIDATES = 30
"""Minimum number of candidates per leg: one leg may rank a chunk high that the other ranks low."""
_FOR_EACH = 3
"""Candidates per leg for each requested hit, if that is more."""

_WITH_PHRASE = 200
"""Maximum number of chunks with the phrases that are ranked by vectors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedQuestion:
    """A question to a project, prepared for the legs."""

    project_id: UUID
    setting: Setting
    question: Question
    query: Query
    documents: Sequence[UUID] | None
    """The documents that match the filters; None without filters."""
    held: HeldProject | None
    """The project, if it is in memory."""
    named: NamedDocuments = field(default_factory=NamedDocuments)
    unnamed: tuple[str, ...] = ()
    """Words that no document in memory has in its name. The final read checks that none has by now."""
    corrections: Mapping[str, str] = field(default_factory=dict)
    widening: int = 1
    """Factor for the number of candidates of each leg."""

    @property
    def space(self) -> EmbeddingSpace | None:
        return self.setting.space

    @property
    def by_words(self) -> bool:
        """Whether the vectors tell little about texts like the question."""
        return by_words(self.setting.background, is_unspaced=self.query.is_unspaced)

    @property
    def candidates(self) -> int:
        return max(_CANDIDATES, _FOR_EACH * self.question.end) * self.widening


class LegRunner:
    def __init__(self, store: Store, embedders: Embedders, vectors: VectorLeg) -> None:
        self._store = store
        self._embedders = embedders
        self._vectors = vectors

    async def run(self, asked: PreparedQuestion) -> Legs:
        return await self.add_named(asked, await self._run(asked))

    async def add_named(self, asked: PreparedQuestion, legs: Legs) -> Legs:
        """Runs the legs again in the documents that the question names: others may have all the best chunks."""
        documents = asked.named.documents
        if asked.documents is not None:
            documents &= frozenset(asked.documents)
        if not documents:
            return legs
        inside = await self._run(replace(asked, documents=list(documents), held=None))
        return legs.with_named(inside, asked.named.keys)

    async def _run(self, asked: PreparedQuestion) -> Legs:
        mode = asked.question.mode
        if mode == "hybrid" and asked.space is not None:
            return await self._by_both(asked, asked.space)
        if mode != "vector":
            text = await self._by_text(asked)
            return Legs(text=dict(text.hits), ranking=text.ranking)
        if asked.space is None:
            return Legs()
        if asked.query.phrases:
            text = await self._by_text(asked, limit=_WITH_PHRASE)
            vector = await self._vector(asked, asked.space)
            return Legs(cosines=await self._cosines(asked, vector, text), vector=vector)
        embedding = asyncio.ensure_future(self._vector(asked, asked.space))
        return Legs(cosines=await self._near(asked, embedding), vector=embedding.result())

    async def _by_both(self, asked: PreparedQuestion, space: EmbeddingSpace) -> Legs:
        embedding = asyncio.ensure_future(self._vector(asked, space))
        try:
            text, cosines = await self._both(asked, embedding)
        except EmbeddingError as exc:
            log.warning("Searched by words alone: %s", exc.message)
            note = f"Found by words alone, without vectors: {exc.message}"
            text = await self._by_text(asked)
            return Legs(text=dict(text.hits), ranking=text.ranking, notes=(note,))
        scores = dict(text.hits)
        if asked.query.phrases:  # drop near chunks without the phrases
            cosines = {key: cosine for key, cosine in cosines.items() if key in scores}
        return Legs(
            text=scores | text.ranking.scores_of(cosines.keys() - scores.keys()),
            ranking=text.ranking,
            cosines=cosines,
            vector=embedding.result(),
            text_weight=WORDS_FIRST if asked.by_words else TEXT_WEIGHT,
        )

    async def _both(
        self, asked: PreparedQuestion, embedding: asyncio.Future[QueryVector]
    ) -> tuple[TextHits, dict[ChunkKey, float]]:
        """BM25 hits, and the cosines of the nearest chunks and of these hits."""
        if asked.held is not None:
            text = await self._by_text(asked)
            return text, await self._near(asked, embedding, also=text)
        with busy():  # while one leg waits for the database, the other needs the processor
            near, (text, cosines) = await asyncio.gather(
                self._near(asked, embedding), self._worded(asked, embedding)
            )
        return text, cosines | near

    async def _worded(
        self, asked: PreparedQuestion, embedding: asyncio.Future[QueryVector]
    ) -> tuple[TextHits, dict[ChunkKey, float]]:
        text = await self._by_text(asked)
        return text, await self._cosines(asked, await embedding, text)

    async def _cosines(
        self, asked: PreparedQuestion, vector: QueryVector, text: TextHits
    ) -> dict[ChunkKey, float]:
        ids = [hit.chunk_id for hit in text.hits]
        return await self._vectors.cosines(asked.project_id, vector.space, vector.value, ids)

    async def _by_text(self, asked: PreparedQuestion, *, limit: int | None = None) -> TextHits:
        allowed = None
        if asked.documents is not None:
            allowed = partial(self._store.hits.of_documents, asked.project_id, asked.documents)
        return await bm25.find(
            self._store,
            asked.project_id,
            asked.query,
            limit=limit or asked.candidates,
            allowed=allowed,
            segments=asked.held.postings(asked.query.keys) if asked.held else None,
        )

    async def _near(
        self, asked: PreparedQuestion, embedding: Awaitable[QueryVector], *, also: TextHits | None = None
    ) -> dict[ChunkKey, float]:
        """The cosines of the nearest chunks. From memory, those of `also` as well."""
        vector = await embedding
        if asked.held is not None:
            near = partial(
                asked.held.near,
                vector.value,
                limit=asked.candidates,
                also={hit.chunk_id for hit in also.hits} if also else (),
                numbering=also.ranking.numbering if also else None,
            )
            return await asyncio.to_thread(near) if asked.held.vectors.is_slow else near()
        return await self._vectors.nearest(
            asked.project_id,
            vector.space,
            vector.value,
            among=asked.setting.chunks,
            limit=asked.candidates,
            document_ids=asked.documents,
        )

    async def _vector(self, asked: PreparedQuestion, space: EmbeddingSpace) -> QueryVector:
        embedded = await self._embedders.of(space).embed(gists(asked.question.query))
        (value,) = halfvecs(one_of(embedded.vectors))
        return QueryVector(space=space, value=value)
