"""How good search is, and what it costs beside the bare SQL of its legs: `make bench-search`.

Quality: see `benchmarks/retrieval.py`. Speed: a database of its own with made-up chunks: words as often as words are, and
vectors around a thousand centres, loaded by COPY. Searches and the statements that their legs run take turns, call by
call; the bare side executes and fetches by blocking psycopg. What a model takes to embed a question is not in it.
"""

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import LiteralString
from uuid import UUID

import numpy as np
import psycopg
from benchmarks.retrieval import DATA, Floor, Quality, quality
from numpy.typing import NDArray

from whence.app import App
from whence.providers import Embedders
from whence.providers.base import Embedded
from whence.search import Question, Search
from whence.search.index import compact, segments_of
from whence.search.lexer import lexer
from whence.search.vectors import SWITCH, VectorLeg
from whence.settings import Settings
from whence.store import Store
from whence.store.lexical import SELECT_POSTINGS
from whence.store.migrations import upgrade
from whence.store.nearest import exact, indexed, vector_text
from whence.store.pool import EF_SEARCH
from whence.store.postgres import EmbeddedPostgres
from whence.store.vectors import halfvecs
from whence.types import EmbeddingSpace, Filters, new_id

DIMENSIONS = 384
CENTRES = 1_000
VOCABULARY = 30_000
WORDS = 95
"""Of a chunk: about 600 characters."""
PER_DOCUMENT = 100
AT_ONCE = 4_000

# Search remembers the ids of segments, which never change; who remembers nothing has to ask for those of the hits.
SELECT_SOME_IDS: LiteralString = """
SELECT wanted.place, substring(s.chunk_ids FROM 16 * wanted.number + 1 FOR 16)
FROM unnest(%(segments)s::uuid[], %(numbers)s::integer[]) WITH ORDINALITY AS wanted (segment_id, number, place)
JOIN kb.lexical_segments s ON s.project_id = %(project_id)s AND s.id = wanted.segment_id
ORDER BY wanted.place
"""

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    what: str
    figure: str
    target: str
    met: bool


class Invention:
    """Texts and vectors that are made up, the same in every run."""

    def __init__(self) -> None:
        self._chance = np.random.default_rng(7)
        self._centres = self._chance.normal(size=(CENTRES, DIMENSIONS)).astype(np.float32)
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

    provider, model, dimensions = "bench", "invented", DIMENSIONS

    def __init__(self, invention: Invention) -> None:
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
    store: Store
    conn: "psycopg.Connection[tuple[object, ...]]"
    space: EmbeddingSpace
    invention: Invention
    search: Search

    async def project(self, name: str, chunks: int) -> UUID:
        """A project with so many chunks, as ingest would leave them."""
        made = await self.store.projects.create(name=name)
        await self.store.vectors.first_space(made.id, self.space)
        for start in range(0, chunks, AT_ONCE):
            await self.load(made.id, min(AT_ONCE, chunks - start))
        await compact(self.store, made.id)
        return made.id

    async def load(self, project_id: UUID, count: int) -> None:
        """In documents of a hundred chunks; what is left over is one with fewer."""
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
                "COPY kb.chunks (project_id, id, document_id, job_id, chunk_index, content, content_hash, metadata,"
                " created_at) FROM STDIN"
            ) as copy:
                for number, (ident, text) in enumerate(zip(ids, texts, strict=True)):
                    document, job = documents[number // PER_DOCUMENT]
                    place = (number % PER_DOCUMENT, text, b"", '{"startOffset": 0, "endOffset": 600}', "now")
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

    def bare(self, project_id: UUID, question: str, vector: str, *, by_index: bool, limit: int) -> None:
        """What the two legs ask of the database, and nothing else."""
        keys = list(dict.fromkeys(lexer("english").keys(question)))
        with self.conn.cursor(binary=True) as cursor:
            near = {"project_id": project_id, "vector": vector, "limit": limit}
            cursor.execute((indexed if by_index else exact)(self.space, filtered=False), near)
            cursor.fetchall()
            cursor.execute(SELECT_POSTINGS, {"project_id": project_id, "terms": keys})
            segments = [row[0] for row in cursor.fetchall()]
            places = {"segments": [segments[0]] * limit, "numbers": list(range(limit))}
            cursor.execute(SELECT_SOME_IDS, {"project_id": project_id, **places})
            cursor.fetchall()


async def side_by_side(
    rounds: int, ours: Callable[[], Awaitable[object]], bare: Callable[[], object]
) -> tuple[float, float]:
    """Medians in milliseconds of two sides that take turns."""
    taken: tuple[list[float], list[float]] = ([], [])
    for turn in range(rounds + 5):
        began = time.perf_counter()
        await ours()
        between = time.perf_counter()
        bare()
        if turn >= 5:
            taken[0].append(between - began)
            taken[1].append(time.perf_counter() - between)
    return statistics.median(taken[0]) * 1e3, statistics.median(taken[1]) * 1e3


async def beside_bare(
    bench: Bench, what: str, projects: Sequence[UUID], *, by_index: bool, rounds: int
) -> tuple[Result, float]:
    questions = [bench.invention.question() for _ in range(rounds + 5)]
    vectors = [vector_text(row) for row in bench.invention.vectors(rounds + 5)]
    turns = iter(range(10**9))
    place = {"at": 0}

    async def ours() -> None:
        place["at"] = next(turns)
        at = place["at"]
        await bench.search.find(
            projects[at % len(projects)], Question(query=questions[at % len(questions)], floor=False)
        )

    def bare() -> None:
        at = place["at"]
        question, vector = questions[at % len(questions)], vectors[at % len(vectors)]
        bench.bare(projects[at % len(projects)], question, vector, by_index=by_index, limit=30)

    mine, other = await side_by_side(rounds, ours, bare)
    ratio = mine / other
    return Result(
        what=what,
        figure=f"{mine:.1f} ms, {ratio:.2f} x bare SQL ({other:.1f} ms)",
        target="<= 1.5 x",
        met=ratio <= 1.5,
    ), mine


async def vector_recall(
    bench: Bench, what: str, project_id: UUID, *, filters: Filters | None, rounds: int
) -> Result:
    documents = None
    if filters is not None:
        documents = await bench.store.documents.matching(project_id, filters)
    leg, shares, times = VectorLeg(bench.store), [], []
    for row in bench.invention.vectors(rounds):
        vector = vector_text(row)
        right = await bench.store.nearest.exact(
            project_id, bench.space, vector, limit=10, document_ids=documents
        )
        began = time.perf_counter()
        near = await leg.nearest(project_id, bench.space, vector, limit=30, document_ids=documents)
        times.append(time.perf_counter() - began)
        shares.append(len({ident for ident, _ in right} & set(list(near.cosines)[:10])) / 10)
    return Result(
        what=what,
        figure=f"{statistics.mean(shares):.3f} in {statistics.median(times) * 1e3:.1f} ms",
        target=">= 0.95",
        met=statistics.mean(shares) >= 0.95,
    )


async def switch(bench: Bench, project_id: UUID, rounds: int) -> tuple[float, float]:
    """Medians in milliseconds of the nearest hundred, read whole and by the index."""
    nearest = bench.store.nearest
    taken: tuple[list[float], list[float]] = ([], [])
    for row in bench.invention.vectors(rounds):
        vector = vector_text(row)
        for way, times in zip((nearest.exact, nearest.indexed), taken, strict=True):
            began = time.perf_counter()
            await way(project_id, bench.space, vector, limit=100)
            times.append(time.perf_counter() - began)
    return statistics.median(taken[0]) * 1e3, statistics.median(taken[1]) * 1e3


@contextmanager
def database() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder, EmbeddedPostgres.start(Path(folder)) as server:
        asyncio.run(upgrade(server.dsn))
        yield server.dsn


async def opened(dsn: str, work: Callable[[Bench], Awaitable[list[Result]]]) -> list[Result]:
    invention = Invention()
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("SET synchronous_commit = off")
        for name, value in (
            ("search_path", "kb, queue, public"),
            ("random_page_cost", "1.1"),
            ("hnsw.iterative_scan", "relaxed_order"),
            ("hnsw.ef_search", EF_SEARCH),
        ):  # as the server's connections plan
            conn.execute("SELECT set_config(%s, %s, false)", [name, value])
        async with Store.open(dsn, size=4) as store:
            embedder = Invented(invention)
            space = await store.vectors.ensure_space(
                provider=embedder.provider, model=embedder.model, dimensions=DIMENSIONS
            )
            search = Search(store, _OnlyInvented(embedder))
            return await work(Bench(store=store, conn=conn, space=space, invention=invention, search=search))


def speed(sizes: Sequence[int], rounds: int) -> list[Result]:
    async def many(bench: Bench) -> list[Result]:
        projects = [await bench.project(f"small {n}", 1_000) for n in range(100)]
        await bench.store.nearest.build(bench.space, vectors=100_000)
        bench.conn.execute("VACUUM ANALYZE")
        found, _ = await beside_bare(
            bench, "hybrid, 100 projects of 1,000 chunks", projects, by_index=False, rounds=rounds
        )
        return [found]

    async def growing(bench: Bench) -> list[Result]:
        results, medians = [], []
        for size in sizes:
            project_id = await bench.project(f"large {size}", size)
            await bench.store.nearest.build(bench.space, vectors=size)
            bench.conn.execute("VACUUM ANALYZE")
            by_index = size > SWITCH
            label = f"hybrid, {size:,} chunks in one project"
            found, median = await beside_bare(bench, label, [project_id], by_index=by_index, rounds=rounds)
            medians.append(median)
            results.append(found)
            read, asked = await switch(bench, project_id, rounds)
            print(
                f"     {size:>9,} vectors: {read:7.1f} ms read whole, {asked:6.1f} ms by the index",
                flush=True,
            )
            if by_index:
                for what, filters in (
                    ("", None),
                    (", half of the documents", Filters(mimes=("text/plain",))),
                ):
                    results.append(
                        await vector_recall(
                            bench, f"recall@10, {size:,}{what}", project_id, filters=filters, rounds=rounds
                        )
                    )
            await bench.store.nearest.drop(bench.space)  # the next load would crawl through it
            await bench.store.projects.delete(project_id)
            bench.conn.execute("VACUUM")
        for (small, fast), (large, slow) in pairwise(zip(sizes, medians, strict=True)):
            results.append(
                Result(
                    what=f"from {small:,} to {large:,} chunks",
                    figure=f"{slow / fast:.1f} x as long",
                    target=f"<= {large / small / 2:.0f} x",
                    met=slow / fast <= large / small / 2,
                )
            )
        return results

    results = []
    for work in (many, growing):
        with database() as dsn:
            results += asyncio.run(opened(dsn, work))
    return results


def goodness(folder: Path) -> list[Result]:
    async def work(data: str) -> tuple[list[Quality], list[Floor]]:
        async with App.open(Settings(data_dir=Path(data))) as app:
            return await quality(app, folder)

    with tempfile.TemporaryDirectory() as data:
        qualities, floors = asyncio.run(work(data))
    print("mode    recall@5  hit rate@5  false empties  false finds")
    for found, floor in zip(qualities, floors, strict=True):
        print(
            f"{found.mode:7} {found.recall:8.1%}  {found.hit_rate:10.1%}  {found.empty:13.1%}  {floor.false_finds:11.1%}"
        )
    text, vector, hybrid = (found.recall * 100 for found in qualities)
    return [
        Result(
            what="recall@5 of hybrid above that of text",
            figure=f"{hybrid - text:+.1f} points ({hybrid:.1f} against {text:.1f})",
            target=">= 3",
            met=hybrid - text >= 3,
        ),
        Result(
            what="recall@5 of hybrid above that of vectors",
            figure=f"{hybrid - vector:+.1f} points ({hybrid:.1f} against {vector:.1f})",
            target="> 0",
            met=hybrid > vector,
        ),
    ]


def report(results: Sequence[Result]) -> bool:
    """Whether every target was met."""
    width = max(len(result.what) for result in results)
    for result in results:
        print(f"{'ok  ' if result.met else 'MISS'} {result.what:{width}}  {result.target:9}  {result.figure}")
    return all(result.met for result in results)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--million", action="store_true", help="1,000,000 chunks as well; it takes an hour")
    parser.add_argument(
        "--data", type=Path, default=DATA, help="the folder with questions.jsonl and corpora/"
    )
    parser.add_argument("--only", choices=("quality", "speed"))
    options = parser.parse_args()
    results: list[Result] = []
    if options.only != "speed":
        if not (options.data / "questions.jsonl").exists():
            sys.exit(
                f"There are no questions in {options.data}: see benchmarks/retrieval.py. --only speed does without."
            )
        results += goodness(options.data)
    if options.only != "quality":
        results += speed([*options.sizes, *([1_000_000] if options.million else [])], options.rounds)
    sys.exit(not report(results))


if __name__ == "__main__":
    main()
