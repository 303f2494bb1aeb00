"""Chunks in the text index without the way through ingest, and BM25 straight from its formula to compare with."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from math import log
from random import Random
from uuid import UUID

import pytest
from tests.samples import make_sample

from whence.models import Chunk, new_id, now
from whence.search.bm25 import TextHits, find
from whence.search.index import bury, segments_of
from whence.search.query import Query
from whence.store import Store
from whence.text.lexer import DEFAULT_LANGUAGE, lexer


@dataclass(frozen=True, slots=True)
class Shelf:
    """A project whose chunks come and go as ingest would have it: row and index in one transaction."""

    store: Store
    project_id: UUID

    async def language(self) -> str:
        return await self.store.lexical.language(self.project_id) or DEFAULT_LANGUAGE

    async def add(self, *texts: str) -> list[UUID]:
        """A document of these chunks; gives their ids."""
        sample = make_sample(chunks=0, project_id=self.project_id, name="shelf.txt")
        chunks = [
            Chunk(
                project_id=self.project_id,
                id=new_id(),
                document_id=sample.document.id,
                job_id=sample.job.id,
                chunk_index=index,
                content=text,
                metadata=None,
                created_at=now(),
            )
            for index, text in enumerate(texts)
        ]
        language = await self.language()
        segments = segments_of([(chunk.id, chunk.content) for chunk in chunks], language)
        async with self.store.transaction() as tx:
            await tx.lexical.share(self.project_id)
            await tx.documents.insert(sample.document)
            await tx.jobs.insert(sample.job)
            await tx.chunks.insert(chunks)
            await tx.lexical.insert(self.project_id, segments)
        return [chunk.id for chunk in chunks]

    async def remove(self, ids: Collection[UUID]) -> None:
        async with self.store.transaction() as tx:
            await tx.lexical.share(self.project_id)
            await tx.chunks.remove(self.project_id, list(ids))
            await bury(tx, self.project_id, ids)

    async def find(self, text: str, *, limit: int = 10) -> TextHits:
        return await find(self.store, self.project_id, await self.query(text), limit=limit)

    async def query(self, text: str) -> Query:
        return Query.of(text, await self.language())

    async def texts(self) -> dict[UUID, str]:
        """Every chunk of the project, as the table of chunks has them."""
        return dict(await self.store.lexical.following(self.project_id, after=None, limit=1_000_000))

    async def expected(self, text: str) -> list[tuple[UUID, float]]:
        language = await self.language()
        return reference(await self.texts(), text, lexer(language).terms)


def reference(
    texts: dict[UUID, str], question: str, terms: Callable[[str], list[str]]
) -> list[tuple[UUID, float]]:
    """BM25 as it is written, over lists of words: every chunk with a score, best first."""
    counted = {ident: Counter(terms(text)) for ident, text in texts.items()}
    total = len(counted)
    lengths = {ident: counts.total() for ident, counts in counted.items()}
    average = sum(lengths.values()) / total if total else 0.0
    scores: Counter[UUID] = Counter()
    for term in set(terms(question)):
        having = [ident for ident, counts in counted.items() if counts[term]]
        idf = log(1 + (total - len(having) + 0.5) / (len(having) + 0.5))
        for ident in having:
            count = counted[ident][term]
            norm = 1.2 * (1 - 0.75 + 0.75 * lengths[ident] / average)
            scores[ident] += idf * count * (1.2 + 1) / (count + norm)  # type: ignore[assignment]
    return sorted(scores.items(), key=lambda one: (-one[1], one[0]))


def assert_same(found: TextHits, expected: Sequence[tuple[UUID, float]], limit: int) -> None:
    """The scores agree place by place, and each hit has the score that the formula gives it."""
    assert len(found.hits) == min(limit, len(expected))
    by_id = dict(expected)
    for hit, (_, value) in zip(found.hits, expected, strict=False):
        assert hit.score == pytest.approx(value, abs=1e-9)
        assert hit.score == pytest.approx(by_id[UUID(bytes=hit.chunk_id)], abs=1e-9)


def generated(random: Random, words: int) -> str:
    """Few words are common, many are rare, as in texts that people write."""
    return " ".join(f"word{int(random.paretovariate(0.6))}" for _ in range(words))
