"""Ingests a document: from the stored original to searchable chunks.

Parsing and embedding stage their results in the store, so a run after a kill resumes from there. Readers see the new
version only after the last step, which is one transaction.
"""

import asyncio
import hashlib
import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from uuid import UUID

from whence.chunk import ChunkResult, checked_chunks, chunk_metadata, strategy, table_heads
from whence.extract.scheduling import Orders
from whence.ingest.failure import fail
from whence.ingest.job_spec import Chunking, original_of
from whence.ingest.memory_budget import Room
from whence.ingest.receive import THEN_EXTRACT
from whence.ingest.reembed import space_of
from whence.ingest.reuse import matched
from whence.job_run import Moved, Run, Stale, run_job
from whence.models import Chunk, EmbeddingSpace, Job, new_id, now
from whence.parse import Parsed, Parser, is_code, page_at
from whence.providers import Embedders
from whence.search.index import COMPACT, bury, due, index_lock, segments_of
from whence.search.vector_index import ask_for_index, is_large
from whence.store import Store
from whence.store.chunks import Laid
from whence.store.lexical import Segment
from whence.store.staging import Batch
from whence.store.storage import Storage
from whence.text.lexer import DEFAULT_LANGUAGE

log = logging.getLogger("whence.ingest")

BATCH = 64
"""Chunks embedded between two checks of the job's status; a kill loses at most one batch."""

LONG = 1_000_000
"""Characters from which a text is staged piecewise in a patient transaction: writing it is slow and takes memory."""

HELD = 64
"""Maximum number of vector batches kept in memory; beyond that, storing reads them back from staging."""


@dataclass(frozen=True, slots=True)
class Ingest:
    store: Store
    storage: Storage
    parser: Parser
    embedders: Embedders
    orders: Orders
    room: Room

    async def run(
        self, project_id: UUID, job_id: UUID, *, stopping: Callable[[], bool] = lambda: False
    ) -> None:
        """Run the job to its end, or raise `TryAgain`."""

        async def work(run: Run) -> None:
            await _Steps(self, run.job, run).all()

        fails = partial(fail, self.store)
        await run_job(self.store, project_id, job_id, work, stopping=stopping, log=log, fails=fails)


@dataclass(frozen=True, slots=True)
class _Embedded:
    """The result of embedding: every chunk of the new version has a vector in `space`."""

    space: EmbeddingSpace
    language: str
    laid: Sequence[Laid]
    """Chunks of the old version."""
    token_counts: Mapping[bytes, int | None]
    """Token counts of the embedded contents, by content hash."""
    held: Sequence[Batch] | None
    """All their vectors; None if they must be read from staging."""


@dataclass(frozen=True, slots=True)
class _Known:
    """Ids of the new version's chunks, and index segments of those that are new."""

    kept: Sequence[UUID | None]
    """Id of the stored chunk that each one reuses; None for new chunks."""
    ids: Sequence[UUID]
    segments: Sequence[Segment]


@dataclass(frozen=True, slots=True)
class _Steps:
    """The steps of one attempt at a job, in order."""

    of: Ingest
    job: Job
    run: Run

    async def all(self) -> None:
        parsed = await self._read()
        async with self.of.room.taken(len(parsed.text)):
            chunks = await self._cut(parsed)
            hashes = [hashlib.sha256(chunk.text.encode()).digest() for chunk in chunks]
            embedded = await self._embed(chunks, hashes)
            known = await self._index(chunks, hashes, embedded)
            await self._keep(parsed, chunks, hashes, embedded, known)

    async def _read(self) -> Parsed:
        """Parse the original, or use the staged text of an earlier attempt."""
        store, job, original = self.of.store, self.job, original_of(self.job)
        staged = await store.staging.text(
            job.project_id, job.id, document_id=job.document_id, sha256=original.sha256, mime=original.mime
        )
        if staged is not None:
            mime, text, pages = staged
            return Parsed(text=text, mime=mime, pages=pages)
        if job.stage == "parsing":
            self.run.stop_here()
        else:
            await self.run.at("parsing")
        async with self.of.storage.originals.as_file(original.key) as path:
            parsed = await self.of.parser.parse(path, name=original.name, mime=original.declared)
        if len(parsed.text) < LONG:
            keep = partial(store.staging.put_text, mime=parsed.mime, text=parsed.text, pages=parsed.pages)
            await self.run.at("chunking", by=keep)
            return parsed
        async with store.transaction(patient=True) as tx:
            await self.run.at("chunking", tx)
            await tx.staging.put_long_text(
                job.project_id, job.id, mime=parsed.mime, text=parsed.text, pages=parsed.pages
            )
        return parsed

    async def _cut(self, parsed: Parsed) -> list[ChunkResult]:
        chunking = Chunking.of(self.job.config)
        chosen = strategy(chunking.strategy, code=is_code(parsed.mime))
        return await asyncio.to_thread(checked_chunks, parsed.text, chosen, chunking.options)

    async def _embed(self, chunks: Sequence[ChunkResult], hashes: Sequence[bytes]) -> _Embedded:
        """Embed every content that lacks a vector in the project's current space."""
        store, job = self.of.store, self.job
        setting = await store.hits.setting(job.project_id)
        space = setting.space or await space_of(store, self.of.embedders, job.project_id)
        embedder = self.of.embedders.of(space)
        laid = await store.chunks.layout(job.project_id, job.document_id, space.id)
        done = await store.staging.embedded(job.project_id, job.id, space.id)
        # Each stored chunk can become one new chunk; a further copy of its content needs its own vector.
        have, wanted = Counter(chunk.content_hash for chunk in laid if chunk.embedded), Counter(hashes)
        todo = {
            content: chunk.text
            for content, chunk in zip(hashes, chunks, strict=True)
            if content not in done and have[content] < wanted[content]
        }
        missing = list(todo.items())
        held: list[Batch] | None = None if done else []
        total = len(chunks)
        await self.run.at("embedding" if missing else "storing", done=total - len(missing), total=total)
        for start in range(0, len(missing), BATCH):
            self.run.stop_here()
            some = missing[start : start + BATCH]
            embedded = await embedder.embed([text for _, text in some])
            batch = Batch.of([content for content, _ in some], embedded.token_counts, embedded.vectors)
            so_far = total - len(missing) + start + len(some)
            await self.run.at(
                "embedding" if so_far < total else "storing",
                done=so_far,
                total=total,
                by=partial(store.staging.put_vectors, space_id=space.id, batch=batch),
            )
            done |= batch.counts()
            if held is not None:
                held = [*held, batch] if len(held) < HELD else None
        return _Embedded(space, setting.language or DEFAULT_LANGUAGE, laid, done, held)

    async def _index(
        self, chunks: Sequence[ChunkResult], hashes: Sequence[bytes], embedded: _Embedded
    ) -> _Known:
        """Build the index segments before the storing transaction, to keep its locks short."""
        kept = matched(embedded.laid, hashes)
        ids = [new_id() if ident is None else ident for ident in kept]
        new = [
            (ident, chunk.text) for ident, chunk, old in zip(ids, chunks, kept, strict=True) if old is None
        ]
        segments = await asyncio.to_thread(segments_of, new, embedded.language)
        return _Known(kept, ids, segments)

    async def _keep(
        self,
        parsed: Parsed,
        chunks: Sequence[ChunkResult],
        hashes: Sequence[bytes],
        embedded: _Embedded,
        known: _Known,
    ) -> None:
        """Replace the old version in one transaction. A chunk with unchanged content keeps its id."""
        job, space = self.job, embedded.space
        self.run.stop_here()
        async with self.of.store.transaction(patient=True) as tx:
            project, current, document, held, laid = await tx.arrivals.hold(job, self.run.run_id, space.id)
            if held is None:
                raise Stale
            # Read again: the document may have been renamed since the job began.
            original = original_of(held)
            language = project.config.get("language") or DEFAULT_LANGUAGE
            if (current, language, matched(laid, hashes)) != (space, embedded.language, known.kept):
                raise Moved
            counts = {chunk.content_hash: chunk.token_count for chunk in laid} | dict(embedded.token_counts)
            kept = set(known.kept)
            moment = now()
            tokens = [counts.get(content) for content in hashes]
            made = partial(self._made, parsed, chunks, known, tokens, moment)
            gone = [chunk.id for chunk in laid if chunk.id not in kept]
            await tx.graph.removal.replaced(job.project_id, job.document_id, gone)
            await tx.chunks.remove(job.project_id, gone)
            await tx.chunks.move(job.project_id, list(made(new=False)))
            await tx.chunks.insert(made(new=True))
            has_vector = {chunk.id for chunk in laid if chunk.embedded}
            await self._settle(tx, embedded, zip(hashes, known.ids, strict=True), has_vector)
            await tx.documents.replace(
                job.project_id, job.document_id, job_id=job.id, original=original, now=moment
            )
            await tx.staging.clear(job.project_id, job.id)
            await tx.lexical.insert(job.project_id, known.segments)
            await bury(tx, job.project_id, gone)
            states = await tx.lexical.segments(job.project_id)
            if due(states):
                lock = index_lock(job.project_id)
                await tx.queue.defer_once(COMPACT, lock=lock, project_id=str(job.project_id))
            if is_large(sum(state.live for state in states)):
                await ask_for_index(tx, job.project_id)
            await self.of.orders.follow(tx, project, document, wanted=bool(job.config.get(THEN_EXTRACT)))
            if not await tx.jobs.end(job, self.run.run_id, "completed"):
                raise Stale
        log.info("Ingested %s: %d chunks", original.name, len(chunks))
        if document.original_key is not None and document.original_key != original.key:
            await self.of.storage.discard(job.project_id, [document.original_key])

    async def _settle(
        self,
        tx: Store,
        embedded: _Embedded,
        chunks: Iterable[tuple[bytes, UUID]],
        has_vector: Collection[UUID],
    ) -> None:
        """Insert the embedded vectors for chunks without one. Raises `Moved` if a chunk is left without."""
        job, space = self.job, embedded.space
        lacking: dict[bytes, list[UUID]] = defaultdict(list)
        for content, ident in chunks:
            if ident not in has_vector:
                lacking[content].append(ident)
        if embedded.held is not None:
            await tx.vectors.insert(job.project_id, space.id, _placed(lacking, embedded.held))
        else:
            async for some in tx.staging.batches(job.project_id, job.id, space.id):
                await tx.vectors.insert(job.project_id, space.id, _placed(lacking, some))
        if lacking:
            raise Moved

    def _made(
        self,
        parsed: Parsed,
        chunks: Sequence[ChunkResult],
        known: _Known,
        token_counts: Sequence[int | None],
        moment: datetime,
        *,
        new: bool,
    ) -> Iterator[Chunk]:
        """Yield the new or the reused chunks to store. A generator, because all of them take as much memory as the text."""
        job, strategy_name = self.job, self.job.config["chunking"]["strategy"]
        heads = table_heads(parsed.text, (chunk.start_offset for chunk in chunks))
        rows = zip(chunks, known.ids, known.kept, token_counts, heads, strict=True)
        return (
            Chunk(
                project_id=job.project_id,
                id=ident,
                document_id=job.document_id,
                job_id=job.id,
                chunk_index=index,
                content=chunk.text,
                metadata=chunk_metadata(
                    chunk,
                    strategy=strategy_name,
                    source_page=page_at(parsed.pages, chunk.start_offset),
                    token_count=token_count,
                    table_head=head,
                ),
                created_at=moment,
            )
            for index, (chunk, ident, kept, token_count, head) in enumerate(rows)
            if (kept is None) == new
        )


def _placed(lacking: dict[bytes, list[UUID]], batches: Iterable[Batch]) -> Iterator[tuple[UUID, bytes]]:
    """Yield a vector for each chunk in `lacking` and remove its content from there."""
    for batch in batches:
        for content, vector in batch.vectors():
            for ident in lacking.pop(content, ()):
                yield ident, vector
