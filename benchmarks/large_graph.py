"""What an extraction costs in a large project: part of `make bench-extract`.

The chunks are those of `benchmarks/invention.py`, the objects are named by pairs of their words, and the model is that of
`benchmarks/services.py`.
"""

import re
import statistics
import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from uuid import UUID

import numpy as np
import psycopg
from benchmarks.invention import WORDS, Bench, Vectors, on_a_database
from benchmarks.results import Result
from benchmarks.services import model

from whence.extract.context import ContextOptions
from whence.extract.context_loader import gather, look_around, named
from whence.extract.extractors import Extractors, ModelExtractor
from whence.extract.run import Extraction
from whence.extract.scheduling import Orders, Prices
from whence.models import new_id
from whence.providers import (
    NOTHING_PASSED_ON,
    ChatModel,
    Completion,
    Embedded,
    Embedders,
    JSONSchema,
    Message,
    PassedOn,
    open_chat_model,
)
from whence.providers.minilm import MiniLMEmbedder
from whence.search import Search
from whence.settings import Settings
from whence.store.halfvec import halfvecs
from whence.text.names import name_key

SECONDS = 0.3
"""What a call of the model takes."""
MOST_OF_A_CALL = 0.1
MOST_CONTEXT = 30.0
DOCS = Path(__file__).parent.parent / "docs"

Connection = psycopg.Connection[tuple[object, ...]]


def put_objects(
    conn: Connection, project_id: UUID, space_id: UUID, named: Sequence[str], vectors: Vectors
) -> None:
    """Components with two properties, each named by some chunk of the project."""
    ids = [new_id() for _ in named]
    rows = conn.execute("SELECT id FROM kb.chunks WHERE project_id = %s LIMIT 1000", [project_id])
    chunks = [row[0] for row in rows]
    with conn.transaction(), conn.cursor() as cursor:
        with cursor.copy(
            "COPY kb.graph_objects (project_id, id, type, name, name_key, properties, created_at, updated_at) FROM STDIN"
        ) as copy:
            for number, (ident, name) in enumerate(zip(ids, named, strict=True)):
                said = (
                    f'{{"owner": "Owner {number % 10}", "description": "One of the services of the house"}}'
                )
                copy.write_row((project_id, ident, "Component", name, name_key(name), said, "now", "now"))
        with cursor.copy(
            "COPY kb.object_provenance (project_id, id, object_id, said_of, chunk_id, property_name, operation,"
            " schema_number, value, extracted_at) FROM STDIN"
        ) as copy:
            for number, (ident, name) in enumerate(zip(ids, named, strict=True)):
                claim = ("name", "created", 1, f'"{name}"', "now")
                copy.write_row((project_id, new_id(), ident, ident, chunks[number % len(chunks)], *claim))
        with cursor.copy(
            "COPY kb.object_vectors (project_id, id, space_id, embedding) FROM STDIN (FORMAT binary)"
        ) as copy:
            copy.set_types(["uuid", "uuid", "uuid", "bytea"])
            for ident, vector in zip(ids, halfvecs(vectors), strict=True):
                copy.write_row((project_id, ident, space_id, vector))


def large(*, chunks: int, objects: int, rounds: int) -> list[Result]:
    async def work(bench: Bench) -> list[Result]:
        space = await bench.store.vectors.ensure_space(
            provider=MiniLMEmbedder.provider, model=MiniLMEmbedder.model, dimensions=bench.space.dimensions
        )
        bench = replace(bench, space=space)
        project_id = await bench.project("large", chunks)
        words = " ".join(bench.invention.texts(objects // 20)).split()
        named = dict.fromkeys(" ".join(pair) for pair in zip(words[::2], words[1::2], strict=True))
        chosen = list(named)[:objects]
        put_objects(bench.conn, project_id, space.id, chosen, bench.invention.vectors(len(chosen)))
        for _ in range(rounds):
            await bench.load(project_id, 1)
        await bench.store.nearest.build(space, vectors=chunks)
        bench.conn.execute("VACUUM ANALYZE")
        with model(SECONDS) as url:
            results = await contexts(bench, project_id, rounds)
            plain, invented = documents(bench.conn, project_id, 2)
            write_plainly(bench.conn, project_id, plain)
            for what, document_id in (("", plain), (", of made-up words", invented)):
                results.append(await overhead(bench, project_id, document_id, url, what=what))
            return results

    return on_a_database(work)


def documents(conn: Connection, project_id: UUID, count: int) -> list[UUID]:
    """Some long ones."""
    rows = conn.execute(
        "SELECT document_id FROM kb.chunks WHERE project_id = %s GROUP BY document_id"
        " HAVING count(*) = 100 ORDER BY document_id LIMIT %s",
        [project_id, count],
    )
    return [UUID(str(row[0])) for row in rows]


def write_plainly(conn: Connection, project_id: UUID, document_id: UUID) -> None:
    """Chunks as long as before, of ordinary words, which are few tokens each: those that our own documentation is written with."""
    text = " ".join(page.read_text() for page in sorted(DOCS.glob("*.md")))
    words = np.array(sorted(set(re.findall(r"\b[a-z]{4,10}\b", text))))
    chance = np.random.default_rng(11)
    for (chunk_id,) in conn.execute(
        "SELECT id FROM kb.chunks WHERE project_id = %s AND document_id = %s ORDER BY chunk_index",
        [project_id, document_id],
    ).fetchall():
        content = " ".join(chance.choice(words, size=WORDS))
        conn.execute(
            "UPDATE kb.chunks SET text = %s WHERE project_id = %s AND id = %s",
            [content, project_id, chunk_id],
        )


async def contexts(bench: Bench, project_id: UUID, rounds: int) -> list[Result]:
    results = []
    for what, count in (("of long documents", 100), ("that are documents of their own", 1)):
        rows = bench.conn.execute(
            "SELECT min(id::text)::uuid FROM kb.chunks WHERE project_id = %s GROUP BY document_id"
            " HAVING count(*) = %s ORDER BY random() LIMIT %s",
            [project_id, count, rounds],
        ).fetchall()
        search, times, used = Search(bench.store, Embedders(Settings())), [], time.process_time()
        for (chunk_id,) in rows:
            began = time.perf_counter()
            around = await look_around(bench.store, search, project_id, UUID(str(chunk_id)), ContextOptions())
            await gather(bench.store, around, ContextOptions(), await named(bench.store, around))
            times.append((time.perf_counter() - began) * 1e3)
        middle = statistics.median(times)
        results.append(
            Result(
                what=f"context of chunks {what}",
                figure=f"p50 {middle:.1f} ms, p90 {statistics.quantiles(times, n=10)[-1]:.1f} ms; "
                f"{(time.process_time() - used) / len(times) * 1e3:.1f} ms of CPU here",
                target=f"< {MOST_CONTEXT:.0f} ms",
                met=middle < MOST_CONTEXT,
            )
        )
    return results


@dataclass(slots=True)
class Timed:
    """A chat model, and when it was asked and when it answered."""

    chat: ChatModel
    calls: list[tuple[float, float]] = field(default_factory=list)

    @property
    def provider(self) -> str:
        return self.chat.provider

    @property
    def model(self) -> str:
        return self.chat.model

    def stream(
        self, messages: Sequence[Message], *, max_tokens: int, passed_on: PassedOn = NOTHING_PASSED_ON
    ) -> AsyncGenerator[str | Completion, None]:
        return self.chat.stream(messages, max_tokens=max_tokens, passed_on=passed_on)

    async def complete(
        self, messages: Sequence[Message], *, max_tokens: int, schema: JSONSchema | None = None
    ) -> Completion:
        began = time.perf_counter()
        said = await self.chat.complete(messages, max_tokens=max_tokens, schema=schema)
        self.calls.append((began, time.perf_counter()))
        return said

    async def check(self) -> str:
        return await self.chat.check()

    async def aclose(self) -> None:
        await self.chat.aclose()


class TimedEmbedder(MiniLMEmbedder):
    """The local embedder, and when it was asked and when it answered."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[float, float]] = []

    async def embed(self, texts: Sequence[str]) -> Embedded:
        began = time.perf_counter()
        embedded = await super().embed(texts)
        self.calls.append((began, time.perf_counter()))
        return embedded


async def overhead(bench: Bench, project_id: UUID, document_id: UUID, url: str, *, what: str) -> Result:
    """Between one call and the next, embedding included, and what a call takes beyond the model's own time."""
    settings = Settings(llm_base_url=url, llm_model="scripted")
    chat = open_chat_model(settings)
    assert chat is not None
    timed = Timed(chat)
    async with Embedders(settings) as embedders:
        extractors = Extractors(model=ModelExtractor.of(settings, timed))
        extraction = Extraction(
            store=bench.store,
            embedders=embedders,
            search=Search(bench.store, embedders),
            extractors=extractors,
            prices=Prices(),
        )
        found = await bench.store.documents.get(document_id, project_id=project_id)
        job = await Orders(bench.store, extractors).document(found, scope="all")
        embedder = TimedEmbedder()
        space = bench.space
        embedders._open[space.provider, space.model, space.dimensions] = embedder  # noqa: SLF001 - the one to measure
        await embedder.embed(["The first text loads the model."])
        used = time.process_time()
        await extraction.run(project_id, job.id)
        used = (time.process_time() - used) / len(timed.calls) * 1e3
    await chat.aclose()
    ended = await bench.store.jobs.get(job.id)
    assert ended.config["extraction"]["extracted"] == 100, ended
    embedding = statistics.median(answered - asked for asked, answered in embedder.calls[1:])
    between = statistics.median(later[0] - earlier[1] for earlier, later in pairwise(timed.calls))
    beyond = statistics.median(answered - asked for asked, answered in timed.calls) - SECONDS
    share = (between + beyond) / SECONDS
    return Result(
        what=f"all but the model's 300 ms, for each chunk{what}",
        figure=f"p50 {(between + beyond) * 1e3:.1f} ms, {share:.1%} of the call "
        f"({between * 1e3:.1f} ms between calls, {embedding * 1e3:.1f} of them to embed objects; "
        f"{beyond * 1e3:.1f} ms in calls; {used:.1f} ms of CPU)",
        target="< 10 %",
        met=share < MOST_OF_A_CALL,
    )
