"""Publishes a version of a document: chunks, vectors, text index, graph and job change in one transaction."""

import asyncio
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from whence.chunk import ChunkResult, chunk_metadata
from whence.extract.scheduling import Orders
from whence.ingest.job_spec import original_of
from whence.ingest.receive import THEN_EXTRACT
from whence.job_run import Moved, Run, Stale
from whence.models import Chunk, Document, EmbeddingSpace, Job, Page, now
from whence.parse import Parsed, page_at
from whence.search.background import References, update_background
from whence.search.index import replace_chunks
from whence.store import Store
from whence.store.chunks import Laid
from whence.store.document_identity import Original
from whence.store.documents import HeldDocument
from whence.store.graph.locks import find_these
from whence.store.lexical import Segment
from whence.store.staging import Batch
from whence.text.dates import own_date
from whence.text.lexer import DEFAULT_LANGUAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A version that is ready to be published: every chunk has a vector in `space`."""

    parsed: Parsed
    chunks: Sequence[ChunkResult]
    hashes: Sequence[bytes]
    heads: Sequence[str]
    """The head line of the table that each chunk begins in, or an empty text."""
    space: EmbeddingSpace
    references: References
    language: str
    token_counts: Mapping[bytes, int | None]
    """Token counts of the embedded contents, by content hash."""
    kept: Sequence[UUID | None]
    """Id of the stored chunk that each one reuses; None for new chunks."""
    ids: Sequence[UUID]
    segments: Sequence[Segment]


async def publish(store: Store, run: Run, version: Version, orders: Orders) -> tuple[Document, Original]:
    """Replace the document's version. Returns the document before, and the original of the new version.

    A chunk with unchanged content keeps its id. Raises `Stale` if the run no longer owns the job, and `Moved` if
    the project or the document changed since the version was made.
    """
    job, moment = run.job, now()
    async with store.transaction(patient=True) as tx:
        held = await tx.documents.hold(job, run.run_id, version.space.id)
        if held.job is None:
            raise Stale
        language = held.project.config.get("language") or DEFAULT_LANGUAGE
        found = (held.space, language, matched(held.laid, version.hashes))
        if found != (version.space, version.language, version.kept):
            raise Moved
        kept = {ident for ident in version.kept if ident is not None}
        gone = [chunk.id for chunk in held.laid if chunk.id not in kept]
        await tx.versions.keep(job.project_id, job.document_id, job_id=job.id)
        await tx.graph.removal.replaced(job.project_id, job.document_id, gone, kept=[*kept])
        await tx.chunks.remove(job.project_id, gone, reason="changed")
        moved = await asyncio.to_thread(list, _build_chunks(job, version, held, moment, new=False))
        await tx.chunks.move(job.project_id, moved)
        await tx.chunks.insert(_build_chunks(job, version, held, moment, new=True))
        await _insert_vectors(tx, job, version, held)
        original = original_of(held.job)  # the document may have been renamed since the job began
        await tx.documents.replace(
            job.project_id,
            job.document_id,
            job_id=job.id,
            original=original,
            valid_from=own_date(held.document.metadata),
            now=moment,
        )
        await tx.graph.removal.reorder(job.project_id, find_these(*kept))
        await tx.staging.clear(job.project_id, job.id)
        await replace_chunks(tx, job.project_id, gone=gone, segments=version.segments)
        await orders.follow(tx, held.project, held.document, wanted=bool(job.config.get(THEN_EXTRACT)))
        if not await tx.jobs.end(job, run.run_id, "completed"):
            raise Stale
        # Last, so that another publication that waits for this row holds nothing that this one needs.
        await update_background(tx, job.project_id, version.space, version.references)
    return held.document, original


def matched(stored: Sequence[Laid], hashes: Sequence[bytes]) -> list[UUID | None]:
    """For each content hash, the id of a stored chunk with that content or None. Each id is used once, in order."""
    free: dict[bytes, deque[UUID]] = defaultdict(deque)
    for chunk in stored:
        free[chunk.content_hash].append(chunk.id)
    return [free[content].popleft() if free.get(content) else None for content in hashes]


def _build_chunks(
    job: Job, version: Version, held: HeldDocument, moment: datetime, *, new: bool
) -> Iterator[Chunk]:
    """The new or the reused chunks. A generator, because all of them take as much memory as the text."""
    strategy = job.config["chunking"]["strategy"]
    parsed, chunks = version.parsed, version.chunks
    counts = {chunk.content_hash: chunk.token_count for chunk in held.laid} | dict(version.token_counts)
    scanned = [page for page in parsed.pages if page.confidence is not None]
    rows = zip(chunks, version.ids, version.kept, version.hashes, version.heads, strict=True)
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
                strategy=strategy,
                source_page=page_at(parsed.pages, chunk.start_offset),
                token_count=counts.get(content),
                table_head=head,
                confidence=_find_confidence(scanned, chunk),
            ),
            created_at=moment,
        )
        for index, (chunk, ident, kept, content, head) in enumerate(rows)
        if (kept is None) == new
    )


def _find_confidence(scanned: Sequence[Page], chunk: ChunkResult) -> float | None:
    """The lowest confidence of the chunk's recognised pages; None if there are none."""
    on = (page for page in scanned if page.start < chunk.end_offset and chunk.start_offset < page.end)
    return min((page.confidence for page in on if page.confidence is not None), default=None)


async def _insert_vectors(tx: Store, job: Job, version: Version, held: HeldDocument) -> None:
    """Insert the staged vectors for chunks without one. Raises `Moved` if a chunk is left without."""
    has_vector = {chunk.id for chunk in held.laid if chunk.embedded}
    lacking: dict[bytes, list[UUID]] = defaultdict(list)
    for content, ident in zip(version.hashes, version.ids, strict=True):
        if ident not in has_vector:
            lacking[content].append(ident)
    async for some in tx.staging.batches(job.project_id, job.id, version.space.id):
        await tx.vectors.insert(job.project_id, version.space.id, _take(lacking, some))
    if lacking:
        raise Moved


def _take(lacking: dict[bytes, list[UUID]], batches: Iterable[Batch]) -> Iterator[tuple[UUID, bytes]]:
    """Yield a vector for each chunk in `lacking` and remove its content from there."""
    for batch in batches:
        for content, vector in batch.vectors():
            for ident in lacking.pop(content, ()):
                yield ident, vector
