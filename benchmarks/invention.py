"""A database of made-up chunks: words as often as words are, and vectors around a thousand centres, loaded by COPY."""

import asyncio
import hashlib
import os
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from uuid import UUID

import numpy as np
import psycopg
import uvloop
from numpy.typing import NDArray

from whence.models import EmbeddingSpace, new_id
from whence.providers import Embedders
from whence.providers.base import Embedded
from whence.search import Question, Search
from whence.search.index import compact, segments_of
from whence.search.memory_index import HeldProject
from whence.settings import Settings
from whence.store import Store
from whence.store.connection import EF_SEARCH
from whence.store.halfvec import HalfVector, HalfVectorDumper, halfvecs
from whence.store.lexical import SELECT_POSTINGS
from whence.store.migrations import upgrade
from whence.store.pool import Params, uuids
from whence.store.postgres import EmbeddedPostgres
from whence.store.vector_search import nearest
from whence.text.lexer import lexer

DIMENSIONS = 384
CENTRES = 1_000
VOCABULARY = 30_000
WORDS = 95
"""Of a chunk: about 600 characters."""
PER_DOCUMENT = 100
AT_ONCE = 4_000

T = TypeVar("T")
Vectors = NDArray[np.float32]


class Invention:
    """Texts and vectors that are made up, the same in every run."""

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self._chance = np.random.default_rng(7)
        self._centres = self._chance.normal(size=(CENTRES, dimensions)).astype(np.float32)
        letters = np.array(list("etaoinshrdlucmfwygpbvk"))
        lengths = self._chance.integers(3, 10, VOCABULARY)
        self._words = ["".join(self._chance.choice(letters, size)) for size in lengths]
        often = 1 / np.arange(2, VOCABULARY + 2)
        self._often = often / often.sum()

    def texts(self, count: int) -> list[str]:
        chosen = self._chance.choice(VOCABULARY, size=(count, WORDS), p=self._often)
        return [" ".join([self._words[word] for word in row]) for row in chosen]

    def vectors(self, count: int) -> Vectors:
        points = self._centres[self._chance.integers(0, CENTRES, count)]
        points = points + self._chance.normal(size=points.shape).astype(np.float32)
        made: Vectors = points / np.linalg.norm(points, axis=1, keepdims=True)
        return made

    def question(self) -> str:
        """Seven words; the commonest are what a stop list leaves out."""
        often = self._often[50:]
        chosen = self._chance.choice(np.arange(50, VOCABULARY), size=7, p=often / often.sum())
        return " ".join(self._words[word] for word in chosen)


class Invented:
    """An embedder that needs no time: what a question's vector is does not matter here, only that it is one."""

    provider, model = "bench", "invented"
    is_at_hand = True

    def __init__(self, invention: Invention) -> None:
        self.dimensions = invention.dimensions
        self._vectors = invention.vectors(500)
        self._turn = 0

    async def embed(self, texts: Sequence[str]) -> Embedded:
        self._turn += 1
        rows = self._vectors[[self._turn % len(self._vectors)] * len(texts)]
        return Embedded(vectors=rows, token_counts=[None] * len(texts))

    async def check(self) -> str:
        return "invented"

    async def aclose(self) -> None:
        pass


class _OnlyInvented(Embedders):
    def __init__(self, embedder: Invented) -> None:
        super().__init__(Settings())
        self._open[embedder.provider, embedder.model, embedder.dimensions] = embedder


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    dsn: str
    store: Store
    conn: "psycopg.Connection[tuple[object, ...]]"
    space: EmbeddingSpace
    invention: Invention
    embedders: Embedders
    search: Search

    def searching(self, *, memory: int) -> Search:
        return Search(self.store, self.embedders, memory=memory)

    async def held(self, project_id: UUID) -> HeldProject:
        """The project in memory, once the first search has read it."""
        await self.search.find(project_id, Question(query="anything", floor=False))
        memory = self.search._memory  # noqa: SLF001 - a search does not wait for it
        await asyncio.gather(*memory._reading)  # noqa: SLF001
        held = memory.get(project_id, await self.store.hits.setting(project_id))
        assert held is not None
        return held

    async def project(self, name: str, chunks: int) -> UUID:
        """A project with this many chunks, as ingest would write them."""
        made = await self.store.projects.create(name=name)
        await self.store.vectors.first_space(made.id, self.space)
        for start in range(0, chunks, AT_ONCE):
            await self.load(made.id, min(AT_ONCE, chunks - start))
        await compact(self.store, made.id)
        return made.id

    def documents(self, project_id: UUID, count: int) -> list[UUID]:
        """So many of a project's."""
        found = self.conn.execute(
            "SELECT id FROM kb.documents WHERE project_id = %s ORDER BY id LIMIT %s", [project_id, count]
        )
        return [row[0] for row in found.fetchall() if isinstance(row[0], UUID)]

    async def load(self, project_id: UUID, count: int) -> None:
        """In documents of a hundred chunks; the last document may have fewer."""
        texts, ids = self.invention.texts(count), [new_id() for _ in range(count)]
        documents = [(new_id(), new_id()) for _ in range(0, count, PER_DOCUMENT)]
        with self.conn.transaction(), self.conn.cursor() as cursor:
            with cursor.copy(
                "COPY kb.documents (project_id, id, name, mime, size, sha256, created_at, updated_at) FROM STDIN"
            ) as copy:
                for number, (document, _) in enumerate(documents):
                    kind = ("text/plain", "text/markdown")[number % 2]
                    copy.write_row((project_id, document, "d.txt", kind, 1, os.urandom(32), "now", "now"))
            with cursor.copy(
                "COPY kb.jobs (project_id, id, document_id, type, name, status, file_name, file_type, file_size, created_at)"
                " FROM STDIN"
            ) as copy:
                for document, job in documents:
                    rest = ("document_processing", "d", "completed", "d", "t", 1, "now")
                    copy.write_row((project_id, job, document, *rest))
            with cursor.copy(
                "COPY kb.chunks (project_id, id, document_id, job_id, chunk_index, text, content_hash, metadata,"
                " created_at) FROM STDIN"
            ) as copy:
                for number, (ident, text) in enumerate(zip(ids, texts, strict=True)):
                    document, job = documents[number // PER_DOCUMENT]
                    digest = hashlib.sha256(text.encode()).digest()  # chunks with one text would be one hit
                    place = (
                        number % PER_DOCUMENT,
                        text,
                        digest,
                        '{"startOffset": 0, "endOffset": 600}',
                        "now",
                    )
                    copy.write_row((project_id, ident, document, job, *place))
            with cursor.copy(
                "COPY kb.chunk_vectors (project_id, id, space_id, embedding) FROM STDIN (FORMAT binary)"
            ) as copy:
                copy.set_types(["uuid", "uuid", "uuid", "bytea"])
                for ident, vector in zip(ids, halfvecs(self.invention.vectors(count)), strict=True):
                    copy.write_row((project_id, ident, self.space.id, vector))
        segments = segments_of(list(zip(ids, texts, strict=True)), "english")
        async with self.store.transaction(patient=True) as tx:
            await tx.lexical.insert(project_id, segments)

    def asking(self, project_id: UUID, question: str, vector: HalfVector) -> Params:
        """What the statements of the legs are given, as a server gives it that has seen the project before."""
        segments = self.conn.execute("SELECT id FROM kb.lexical_segments WHERE project_id = %s", [project_id])
        known = [row[0] for row in segments.fetchall() if isinstance(row[0], UUID)]
        terms = list(dict.fromkeys(lexer("english").keys(question)))
        return {
            "project_id": project_id,
            "vector": vector,
            "limit": 30,
            "terms": terms,
            "known": uuids(known),
        }

    def bare(self, asked: Params, *, by_index: bool) -> None:
        """What the two legs ask the database, executed and fetched, and nothing else."""
        with self.conn.cursor(binary=True) as cursor:
            cursor.execute(nearest("indexed" if by_index else "exact", self.space, filtered=False), asked)
            cursor.fetchall()
            cursor.execute(SELECT_POSTINGS, asked)
            cursor.fetchall()


@contextmanager
def database(keep: Path | None = None) -> Iterator[str]:
    with ExitStack() as stack:
        folder = keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = stack.enter_context(EmbeddedPostgres.start(folder))
        asyncio.run(upgrade(server.dsn))
        yield server.dsn


def on_a_database(
    work: Callable[[Bench], Awaitable[T]], *, dimensions: int = DIMENSIONS, keep: Path | None = None
) -> T:
    """Runs the work on a database of its own, or on the one in `keep`, in the event loop that the server has too."""
    with database(keep) as dsn:
        return uvloop.run(opened(dsn, work, dimensions))


async def opened(dsn: str, work: Callable[[Bench], Awaitable[T]], dimensions: int) -> T:
    invention = Invention(dimensions)
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("SET synchronous_commit = off")
        for name, value in (
            ("search_path", "kb, queue, public"),
            ("random_page_cost", "1.1"),
            ("hnsw.iterative_scan", "relaxed_order"),
            ("hnsw.ef_search", str(EF_SEARCH)),
        ):  # as the server's connections plan
            conn.execute("SELECT set_config(%s, %s, false)", [name, value])
        conn.adapters.register_dumper(HalfVector, HalfVectorDumper)
        async with Store.open(dsn, size=4) as store:
            embedder = Invented(invention)
            space = await store.vectors.ensure_space(
                provider=embedder.provider, model=embedder.model, dimensions=dimensions
            )
            embedders = _OnlyInvented(embedder)
            search = Search(store, embedders, memory=Settings().search_memory_mb * 1024 * 1024)
            return await work(
                Bench(
                    dsn=dsn,
                    store=store,
                    conn=conn,
                    space=space,
                    invention=invention,
                    embedders=embedders,
                    search=search,
                )
            )
