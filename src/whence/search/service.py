"""Runs a search: queries text and vectors in parallel, fuses the results, reads the chunks and applies the relevance threshold."""

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from whence.background import BackgroundWork, beside
from whence.errors import RerankError
from whence.models import ChunkKey
from whence.providers import Embedders, Reranker
from whence.search.expand import Context, Expander, Expansion
from whence.search.fuse import Legs, Scored
from whence.search.memory_index import HeldProject, Memory
from whence.search.named_documents import find_named, weigh_words
from whence.search.query import Query
from whence.search.question import MAX_OFFSET, Hit, Question, SearchResult
from whence.search.relevance_threshold import MANY, passes
from whence.search.retrieval import LegRunner, PreparedQuestion
from whence.search.vectors import VectorLeg
from whence.search.vocabulary import SpellingCorrector, replace_words
from whence.store import Store
from whence.store.connection import busy
from whence.store.search_reads import SearchRead, Setting
from whence.text.lexer import DEFAULT_LANGUAGE

log = logging.getLogger("whence.search")

_JUDGED = 10
"""Number of best hits that the relevance threshold looks at."""

_WIDENED = 8
"""Factor by which more candidates are read if duplicates leave too few."""
_WIDEST = _WIDENED**3
_RERANKED = 30
"""Number of best hits that the reranker orders."""

_HIGHLIGHTED = 20
"""Speed of locating words in a text relative to preparing a query."""

_MOST_KNOWN = 10_000
"""Maximum number of projects whose setting is cached."""
_AGAIN = 5
"""Maximum number of restarts when found chunks were replaced before they were read, so that hits do not mix old and new."""
_REMEMBERED = 60.0
"""Seconds to cache a project's setting. A project that grows may need another method of vector search."""


class Search:
    def __init__(
        self,
        store: Store,
        embedders: Embedders,
        *,
        memory: int = 0,
        ef_search: int = 200,
        background: BackgroundWork | None = None,
        reranker: Reranker | None = None,
    ) -> None:
        """`memory` is the maximum size in bytes of the projects held in memory, `ef_search` that of `VectorLeg`."""
        self._store = store
        self._memory = Memory(store, most=memory, background=background)
        self._leg = VectorLeg(store, ef_search)
        self._legs = LegRunner(store, embedders, self._leg)
        self._corrector = SpellingCorrector(store)
        self._reranker = reranker
        self._settings: dict[UUID, tuple[float, Setting]] = {}

    async def find(self, project_id: UUID, question: Question) -> SearchResult:
        """Raises ProjectNotFound and, in a search by vectors alone, EmbeddingError.

        Uses the cached setting of the project. The final read shows whether it has changed; then the search restarts.
        """
        until, setting = self._settings.get(project_id, (0.0, None))
        if setting is None or until < time.monotonic():
            setting = await self._setting(project_id)
        by_memory, again = question.filters is None, _AGAIN
        while True:
            held = self._memory.get(project_id, setting) if by_memory else None
            found, reading = await self._find(project_id, setting, question, held)
            if held is not None and (reading.state != held.state or reading.is_named):
                by_memory = False
                if reading.state is not None:
                    self._memory.forget(project_id)
                continue
            if reading.missing and again:
                again -= 1
                continue
            if reading.setting != setting.mark:
                current = await self._setting(project_id)
                if current.mark != setting.mark:
                    setting = current
                    continue
            if held is None:
                self._memory.learn(project_id, setting)
            return found

    async def aclose(self) -> None:
        await self._memory.aclose()

    async def _setting(self, project_id: UUID) -> Setting:
        self._settings.pop(project_id, None)
        setting = await self._store.hits.setting(project_id)
        if len(self._settings) >= _MOST_KNOWN:
            self._settings.clear()
        self._settings[project_id] = time.monotonic() + _REMEMBERED, setting
        return setting

    async def _find(
        self, project_id: UUID, setting: Setting, question: Question, held: HeldProject | None
    ) -> tuple[SearchResult, SearchRead]:
        """The result, and the read behind it, which has the project's state at that time."""
        documents = None
        if question.filters is not None:
            documents = await self._store.documents.matching(project_id, question.filters)
            if not documents:
                return SearchResult(), SearchRead()
        text = question.query
        query = await beside(len(text), Query.of, text, setting.language or DEFAULT_LANGUAGE)
        asked = PreparedQuestion(
            project_id=project_id,
            setting=setting,
            question=question,
            query=query,
            documents=documents,
            held=held,
        )
        asked, legs = await self._run_legs(asked)
        question = asked.question
        nothing = SearchResult(
            notes=legs.notes,
            vector=legs.vector,
            language=asked.query.lexer.language,
            corrections=asked.corrections,
        )
        # One more shows whether there is another page.
        count = max(question.end + 1, _RERANKED if self._reranker else _JUDGED)
        ranked, reading, also = await self._read(asked, legs, count)
        # The same text took the places of others, and a leg may have more.
        while also and len(ranked) < count and legs.total >= asked.candidates and asked.widening < _WIDEST:
            asked = replace(asked, widening=asked.widening * _WIDENED)
            legs = replace(await self._legs.run(asked), notes=legs.notes)
            ranked, reading, also = await self._read(asked, legs, count)
        if not ranked or (question.floor and not await self._is_about(asked, legs, ranked[:_JUDGED])):
            return nothing, reading
        ranked, notes = await self._rerank(question, ranked, reading)
        nothing = replace(nothing, notes=(*nothing.notes, *notes))
        good = [scored for scored in ranked[:count] if _is_wanted(scored, question)]
        hits = await self._hits(asked, legs, good[question.offset : question.end], reading, also)
        total = legs.total - sum(map(len, also.values())) if len(good) == count else len(good)
        if question.end > MAX_OFFSET:  # later hits cannot be requested
            total = min(total, question.end)
        return replace(nothing, hits=hits, total=total), reading

    async def _run_legs(self, asked: PreparedQuestion) -> tuple[PreparedQuestion, Legs]:
        """Adds the documents that the question names, and corrects its spelling."""
        weights = weigh_words(asked.question.query, asked.query.lexer)
        if asked.held is not None and asked.held.has_no_name_with(weights):
            asked = replace(asked, unnamed=tuple(weights))
            return await self._correct(asked, await self._legs.run(asked))
        with busy():  # the database looks for names while the legs are computed
            named, legs = await asyncio.gather(
                find_named(self._store, asked.project_id, weights, asked.query.lexer), self._legs.run(asked)
            )
        asked = replace(asked, named=named)
        return await self._correct(asked, await self._legs.add_named(asked, legs))

    async def _read(
        self, asked: PreparedQuestion, legs: Legs, count: int
    ) -> tuple[list[Scored], SearchRead, dict[ChunkKey, list[ChunkKey]]]:
        """The best hits, at least `count` if there are as many, the read behind them, and other chunks with the text of each."""
        while chunk_ids := legs.best(count):
            reading = await self._store.hits.read(
                asked.project_id,
                chunk_ids,
                space=asked.space,
                vector=legs.vector.value if legs.vector else None,
                with_state=asked.held is not None,
                words=asked.unnamed,
            )
            ranked, also = _collapse(legs.ranked(reading), reading)
            if not also or len(ranked) >= count or len(chunk_ids) < count:
                return ranked, reading, also
            count *= _WIDENED
        return [], SearchRead(), {}

    async def _correct(self, asked: PreparedQuestion, legs: Legs) -> tuple[PreparedQuestion, Legs]:
        """Searches again with corrected words if no chunk has some word of the question."""
        missing = legs.ranking.missing - asked.named.keys if legs.ranking is not None else frozenset()
        if not missing:
            return asked, legs
        text, reader = asked.question.query, asked.query.lexer
        corrections = await self._corrector.correct(asked.project_id, text, reader, missing)
        if not corrections:
            return asked, legs
        question = replace(asked.question, query=replace_words(text, corrections))
        query = await beside(len(text), Query.of, question.query, reader.language)
        asked = replace(asked, question=question, query=query, corrections=corrections)
        legs = await self._legs.run(asked)
        notes = [f"Searched for *{right}* instead of *{wrong}*" for wrong, right in corrections.items()]
        return asked, replace(legs, notes=(*legs.notes, *notes))

    async def _rerank(
        self, question: Question, ranked: list[Scored], reading: SearchRead
    ) -> tuple[list[Scored], tuple[str, ...]]:
        """Orders the first hits by the reranker's scores. If it fails, the order stays and a note says so."""
        if self._reranker is None:
            return ranked, ()
        first = [(scored, found) for scored in ranked[:_RERANKED] if (found := reading.get(scored.chunk_id))]
        if not first:
            return ranked, ()
        try:
            scores = await self._reranker.rerank(
                question.query, [found.chunk["content"] for _, found in first]
            )
        except RerankError as exc:
            log.warning("Searched without the reranker: %s", exc.message)
            return ranked, (f"The hits are not reranked: {exc.message}",)
        scored = [one._replace(rerank=score) for (one, _), score in zip(first, scores, strict=True)]
        scored.sort(key=lambda one: -(one.rerank or 0.0))
        return [*scored, *ranked[_RERANKED:]], ()

    async def _is_about(self, asked: PreparedQuestion, legs: Legs, judged: Sequence[Scored]) -> bool:
        """Whether any hit is relevant. With phrases every hit is, since it has them all."""
        if asked.query.phrases:
            return bool(judged)
        among = MANY
        if legs.ranking is not None:
            among = legs.ranking.total
        elif asked.space is not None:
            among = await self._store.nearest.count(asked.project_id, asked.space, most=MANY)
        return passes(
            judged,
            shares=legs.shares_of(judged),
            background=asked.setting.background,
            among=among,
            is_unspaced=asked.query.is_unspaced,
        )

    async def _hits(
        self,
        asked: PreparedQuestion,
        legs: Legs,
        page: Sequence[Scored],
        reading: SearchRead,
        also: Mapping[ChunkKey, Sequence[ChunkKey]],
    ) -> tuple[Hit, ...]:
        question = asked.question
        best = [(scored, found) for scored in page if (found := reading.get(scored.chunk_id))]
        contexts: dict[UUID, Context] = {}
        if question.expansion is not None:
            expander = self._expander(asked.project_id, asked.setting, question.expansion, asked.documents)
            contexts = await expander.around([UUID(bytes=scored.chunk_id) for scored, _ in best])
        contents = [found.chunk["content"] for _, found in best]
        highlights: list[list[tuple[int, int]]] = [[] for _ in best]
        if question.highlight:
            read = sum(map(len, contents)) // _HIGHLIGHTED
            counts = legs.ranking.counts_of([one.chunk_id for one, _ in best]) if legs.ranking else None
            highlights = await beside(read, asked.query.highlights, contents, counts)
        return tuple(
            Hit(
                found=found,
                score=scored.score,
                text=scored.text,
                cosine=scored.cosine,
                rerank=scored.rerank,
                highlights=tuple(spans),
                also_in=tuple(filter(None, map(reading.get, also.get(scored.chunk_id, ())))),
                context=contexts.get(UUID(bytes=scored.chunk_id)) if contexts else None,
            )
            for (scored, found), spans in zip(best, highlights, strict=True)
        )

    async def context(self, project_id: UUID, chunk_id: UUID, expansion: Expansion) -> Context:
        """The neighbours, similar chunks and related objects of one chunk."""
        setting = await self._store.hits.setting(project_id)
        return (await self._expander(project_id, setting, expansion).around([chunk_id]))[chunk_id]

    def _expander(
        self,
        project_id: UUID,
        setting: Setting,
        expansion: Expansion,
        documents: Sequence[UUID] | None = None,
    ) -> Expander:
        return Expander(
            store=self._store,
            leg=self._leg,
            project_id=project_id,
            setting=setting,
            expansion=expansion,
            documents=documents,
        )


def _collapse(
    ranked: Sequence[Scored], reading: SearchRead
) -> tuple[list[Scored], dict[ChunkKey, list[ChunkKey]]]:
    """The first hit of each text, and the other chunks with its text by that hit."""
    firsts: dict[str, Scored] = {}
    also: dict[ChunkKey, list[ChunkKey]] = {}
    for scored in ranked:
        first = firsts.setdefault(reading.hash_of(scored.chunk_id), scored)
        if first is not scored:
            also.setdefault(first.chunk_id, []).append(scored.chunk_id)
    return list(firsts.values()), also


def _is_wanted(scored: Scored, question: Question) -> bool:
    """Whether a chunk reaches `min_score`. With the floor, a score of 0 (no shared word, no positive cosine) is no hit."""
    return scored.score >= question.min_score and not (question.floor and scored.score <= 0)
