"""Ingests a document: from the stored original to searchable chunks.

Parsing and embedding stage their results in the store, so a run after a kill resumes from there. Readers see the new
version only after the last step, which is one transaction.
"""

import asyncio
import hashlib
import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from whence.chunk import ChunkResult, checked_chunks, strategy
from whence.extract.scheduling import Orders
from whence.ingest.job_spec import Chunking, is_copy, original_of
from whence.ingest.publish import Version, matched, publish
from whence.ingest.receive import fail
from whence.ingest.reembed import space_of
from whence.job_run import Run, run_job
from whence.models import EmbeddingSpace, Job, new_id
from whence.parse import Parsed, Parser, is_code
from whence.providers import Embedders
from whence.providers.windows import batches
from whence.search.background import Calibrator
from whence.search.index import segments_of
from whence.store import Store
from whence.store.staging import Batch
from whence.store.storage import Storage
from whence.text.lexer import DEFAULT_LANGUAGE
from whence.text.tables import table_heads

log = logging.getLogger("whence.ingest")

BATCH, BATCH_CHARACTERS = 64, 80_000
"""Most chunks and characters embedded between two checks of the job's status; a kill loses at most one batch."""

SMALL = 1_000_000
"""Texts with fewer characters are not counted: all of a worker's small texts together take less than a large one."""


class Room:
    """Limits the text in memory: a budget of characters, granted in order of request so that later texts cannot starve a large one."""

    def __init__(self, size: int) -> None:
        self._size = self._free = size
        self._first = asyncio.Lock()
        self._given_back = asyncio.Event()

    @asynccontextmanager
    async def taken(self, length: int) -> AsyncIterator[None]:
        """Reserve `length` characters while the block runs. A text larger than the budget reserves all of it."""
        wanted = 0 if length < SMALL else min(length, self._size)
        if wanted:
            async with self._first:
                while self._free < wanted:
                    self._given_back.clear()
                    await self._given_back.wait()
                self._free -= wanted
        try:
            yield
        finally:
            self._free += wanted
            self._given_back.set()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cut:
    chunks: Sequence[ChunkResult]
    hashes: Sequence[bytes]
    heads: Sequence[str]


@dataclass(frozen=True, slots=True)
class Ingest:
    store: Store
    storage: Storage
    parser: Parser
    embedders: Embedders
    orders: Orders
    room: Room
    calibrator: Calibrator

    async def run(
        self, project_id: UUID, job_id: UUID, *, stopping: Callable[[], bool] = lambda: False
    ) -> None:
        fails = partial(fail, self.store)
        await run_job(self.store, project_id, job_id, self._ingest, stopping=stopping, log=log, fails=fails)

    async def _ingest(self, run: Run) -> None:
        parsed = await self._read(run)
        async with self.room.taken(len(parsed.text)):
            cut = await self._cut(run.job, parsed)
            version = await self._embed(run, parsed, cut)
            run.stop_here()
            before, original = await publish(self.store, run, version, self.orders)
        log.info("Ingested %s: %d chunks", original.name, len(cut.chunks))
        if before.original_key is not None and before.original_key != original.key:
            await self.storage.discard(run.job.project_id, [before.original_key])

    async def _read(self, run: Run) -> Parsed:
        """Parse the original, or use the staged text of an earlier attempt."""
        store, job, original = self.store, run.job, original_of(run.job)
        staged = await store.staging.text(
            job.project_id,
            job.id,
            document_id=job.document_id,
            sha256=original.sha256,
            mime=original.mime,
            declared=original.declared is not None,
        )
        if staged is not None:
            mime, text, pages, dated_at = staged
            return Parsed(text=text, mime=mime, pages=pages, dated_at=dated_at)
        if job.stage == "parsing":
            run.stop_here()
        else:
            await run.at("parsing")
        async with self.storage.originals.as_file(original.key) as path:
            parsed = await self.parser.parse(
                path, name=original.name, mime=original.declared, project=job.project_id
            )
        async with store.transaction(patient=True) as tx:
            await run.at("chunking", by=tx.jobs.progress)
            await tx.staging.put_text(
                job.project_id,
                job.id,
                mime=parsed.mime,
                text=parsed.text,
                pages=parsed.pages,
                dated_at=parsed.dated_at,
            )
        return parsed

    async def _cut(self, job: Job, parsed: Parsed) -> "_Cut":
        chunking = Chunking.of(job.config)
        chosen = strategy(chunking.strategy, code=is_code(parsed.mime))

        def cut() -> _Cut:
            chunks = checked_chunks(parsed.text, chosen, chunking.options)
            hashes = [hashlib.sha256(chunk.text.encode()).digest() for chunk in chunks]
            heads = list(table_heads(parsed.text, (chunk.start_offset for chunk in chunks)))
            return _Cut(chunks=chunks, hashes=hashes, heads=heads)

        return await asyncio.to_thread(cut)

    async def _embed(self, run: Run, parsed: Parsed, cut: "_Cut") -> Version:
        """Embed every content that lacks a vector in the project's current space, and index the new chunks."""
        store, job, chunks, hashes = self.store, run.job, cut.chunks, cut.hashes
        setting = await store.hits.setting(job.project_id)
        space = setting.space or await space_of(store, self.embedders, job.project_id)
        laid = await store.chunks.layout(job.project_id, job.document_id, space.id)
        done = await store.staging.embedded(job.project_id, job.id, space.id)
        # Each stored chunk can become one new chunk; a further copy of its content needs its own vector.
        have, wanted = Counter(chunk.content_hash for chunk in laid if chunk.embedded), Counter(hashes)
        todo = {
            content: chunk.text
            for content, chunk in zip(hashes, chunks, strict=True)
            if content not in done and have[content] < wanted[content]
        }
        if todo and is_copy(job):
            known = partial(
                store.staging.put_known,
                space_id=space.id,
                sha256=original_of(job).sha256,
                wanted=list(todo),
            )
            await run.at("embedding", done=len(chunks) - len(todo), total=len(chunks), by=known)
            done = await store.staging.embedded(job.project_id, job.id, space.id)
            todo = {content: text for content, text in todo.items() if content not in done}
        async for batch in self._embed_batches(run, space, todo, total=len(chunks)):
            done |= batch.counts()
        # The index segments are built before the publishing transaction, to keep its locks short.
        kept = matched(laid, hashes)
        ids = [new_id() if ident is None else ident for ident in kept]
        new = [
            (ident, chunk.text) for ident, chunk, old in zip(ids, chunks, kept, strict=True) if old is None
        ]
        language = setting.language or DEFAULT_LANGUAGE
        return Version(
            parsed=parsed,
            chunks=chunks,
            hashes=hashes,
            heads=cut.heads,
            space=space,
            references=await self.calibrator.references(space),
            language=language,
            token_counts=done,
            kept=kept,
            ids=ids,
            segments=await asyncio.to_thread(segments_of, new, language),
        )

    async def _embed_batches(
        self, run: Run, space: EmbeddingSpace, todo: Mapping[bytes, str], *, total: int
    ) -> AsyncIterator[Batch]:
        """Embed the contents and stage their vectors, a batch at a time. Reports progress out of `total`."""
        embedder = self.embedders.of(space)
        missing, done = list(todo.items()), total - len(todo)
        await run.at("embedding" if missing else "storing", done=done, total=total)
        sizes = [len(text) for _, text in missing]
        for part in batches(sizes, max_inputs=BATCH, max_size=BATCH_CHARACTERS):
            run.stop_here()
            some = missing[part.start : part.stop]
            embedded = await run.unless_stale(embedder.embed([text for _, text in some]), total=total)
            batch = Batch.of([content for content, _ in some], embedded.token_counts, embedded.vectors)
            done += len(some)
            put = partial(self.store.staging.put_vectors, space_id=space.id, batch=batch)
            await run.at("embedding" if done < total else "storing", done=done, total=total, by=put)
            yield batch
