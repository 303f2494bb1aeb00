"""Intermediate results of a job: text and vectors. Only the job reads them, until it replaces the document."""

from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, LiteralString, NamedTuple
from uuid import UUID

import orjson

from whence.models import Job, Page, new_id
from whence.store.binary_copy import copy_large, jsonb, moment
from whence.store.documents import page_map, pages
from whence.store.halfvec import halfvecs
from whence.store.jobs import PROGRESS, Progress
from whence.store.pool import LOWEST, Statements

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DROP_TEXT: LiteralString = """
DELETE FROM kb.job_texts WHERE project_id = %(project_id)s AND job_id = %(job_id)s
"""
COPY_TEXT: LiteralString = """
COPY kb.job_texts (project_id, job_id, mime, text, page_map, dated_at) FROM STDIN (FORMAT binary)
"""
TEXT: LiteralString = """
WITH reused AS (
    INSERT INTO kb.job_texts (project_id, job_id, mime, text, page_map, dated_at)
    SELECT d.project_id, %(job_id)s, d.mime, d.text, d.page_map, d.dated_at FROM kb.documents d
    WHERE d.project_id = %(project_id)s AND d.sha256 = %(sha256)s AND d.mime = %(mime)s AND d.text IS NOT NULL
      AND (d.id = %(document_id)s OR (%(undeclared)s AND d.fetched IS NULL))
    ORDER BY d.id <> %(document_id)s, d.id LIMIT 1
    ON CONFLICT (project_id, job_id) DO NOTHING
    RETURNING mime, text, page_map, dated_at)
SELECT mime, text, page_map, dated_at FROM kb.job_texts WHERE project_id = %(project_id)s AND job_id = %(job_id)s
UNION ALL
SELECT mime, text, page_map, dated_at FROM reused
"""
# Result and progress are one statement, so that a run that no longer owns the job stores nothing.
PUT_VECTORS: LiteralString = f"""
WITH moved AS ({PROGRESS} RETURNING project_id, id)
INSERT INTO kb.job_vectors (project_id, job_id, id, space_id, content_hashes, token_counts, embeddings)
SELECT project_id, id, %(batch_id)s, %(space_id)s, %(content_hashes)s, %(token_counts)s::integer[], %(embeddings)s
FROM moved
"""
# The vectors of other documents with the same bytes, as one batch.
PUT_KNOWN: LiteralString = f"""
WITH moved AS ({PROGRESS} RETURNING project_id, id), known AS (
    SELECT DISTINCT ON (c.content_hash)
           c.content_hash AS hash, (c.metadata ->> 'token_count')::integer AS tokens, halfvec_send(v.embedding) AS vector
    FROM kb.documents d
    JOIN kb.chunks c ON c.project_id = %(project_id)s AND c.document_id = d.id
    JOIN kb.chunk_vectors v ON v.project_id = %(project_id)s AND v.id = c.id AND v.space_id = %(space_id)s
    WHERE d.project_id = %(project_id)s AND d.sha256 = %(sha256)s AND c.content_hash = ANY(%(wanted)s::bytea[])),
stored AS (
    INSERT INTO kb.job_vectors (project_id, job_id, id, space_id, content_hashes, token_counts, embeddings)
    SELECT moved.project_id, moved.id, %(batch_id)s, %(space_id)s, joined.hashes, joined.tokens, joined.vectors
    FROM moved, (SELECT string_agg(hash, ''::bytea ORDER BY hash) AS hashes, array_agg(tokens ORDER BY hash) AS tokens,
                        string_agg(vector, ''::bytea ORDER BY hash) AS vectors FROM known) AS joined
    WHERE joined.hashes IS NOT NULL)
SELECT true FROM moved
"""
SELECT_EMBEDDED: LiteralString = """
SELECT content_hashes, token_counts FROM kb.job_vectors
WHERE project_id = %(project_id)s AND job_id = %(job_id)s AND space_id = %(space_id)s
"""
SELECT_BATCHES: LiteralString = """
SELECT id, content_hashes, token_counts, embeddings FROM kb.job_vectors
WHERE project_id = %(project_id)s AND job_id = %(job_id)s AND id > %(after)s AND space_id = %(space_id)s
ORDER BY id LIMIT %(limit)s
"""
INHERIT_TEXT: LiteralString = """
UPDATE kb.job_texts SET job_id = %(job_id)s WHERE project_id = %(project_id)s AND job_id = %(from_id)s
"""
INHERIT_VECTORS: LiteralString = """
UPDATE kb.job_vectors SET job_id = %(job_id)s WHERE project_id = %(project_id)s AND job_id = %(from_id)s
"""
CLEAR: LiteralString = """
WITH cleared AS (DELETE FROM kb.job_texts WHERE project_id = %(project_id)s AND job_id = %(job_id)s)
DELETE FROM kb.job_vectors WHERE project_id = %(project_id)s AND job_id = %(job_id)s
"""

_HASH = 32
_AT_ONCE = 64


class Batch(NamedTuple):
    """Contents that were embedded together, in their stored form."""

    content_hashes: bytes
    token_counts: Sequence[int | None]
    embeddings: bytes

    @classmethod
    def of(
        cls, hashes: Sequence[bytes], token_counts: Sequence[int | None], vectors: "NDArray[np.float32]"
    ) -> "Batch":
        return cls(b"".join(hashes), token_counts, b"".join(halfvecs(vectors)))

    def counts(self) -> Iterator[tuple[bytes, int | None]]:
        return zip(_cut(self.content_hashes, _HASH), self.token_counts, strict=True)

    def vectors(self) -> Iterator[tuple[bytes, bytes]]:
        size = len(self.embeddings) // len(self.token_counts)
        return zip(_cut(self.content_hashes, _HASH), _cut(self.embeddings, size), strict=True)


def _cut(joined: bytes, size: int) -> Iterator[bytes]:
    return (joined[at : at + size] for at in range(0, len(joined), size))


class Staging(Statements):
    async def put_text(
        self,
        project_id: UUID,
        job_id: UUID,
        *,
        mime: str,
        text: str,
        pages: Sequence[Page],
        dated_at: datetime | None = None,
    ) -> None:
        """Store the text in parts. A single parameter would be in memory three times and leave a buffer of its size."""
        mapped = page_map(pages)
        await self._queries.run(DROP_TEXT, {"project_id": project_id, "job_id": job_id})
        in_bytes = None if mapped is None else jsonb(orjson.dumps(mapped.obj))
        date = None if dated_at is None else moment(dated_at)
        values = (project_id.bytes, job_id.bytes, mime.encode(), text.encode(), in_bytes, date)
        await copy_large(self._queries, COPY_TEXT, *values)

    async def text(
        self,
        project_id: UUID,
        job_id: UUID,
        *,
        document_id: UUID,
        sha256: bytes,
        mime: str,
        declared: bool = False,
    ) -> tuple[str, str, tuple[Page, ...], datetime | None] | None:
        """Type, text, pages and the file's date, if the original was parsed before.

        That was by this job, or for a document with the same bytes and type. With `declared`, a server declared the encoding, so only this
        document's own text is reused.
        """
        params = {"project_id": project_id, "job_id": job_id, "document_id": document_id}
        bytes_and_type = {"sha256": sha256, "mime": mime, "undeclared": not declared}
        row = await self._queries.one(TEXT, {**params, **bytes_and_type})
        return None if row is None else (row[0], row[1], pages(row[2]), row[3])

    async def put_vectors(
        self, job: Job, run_id: UUID, progress: Progress, *, space_id: UUID, batch: Batch
    ) -> bool:
        """Store the vectors with the job's progress. Returns False as `Jobs.progress` does."""
        counts = ",".join("NULL" if count is None else str(count) for count in batch.token_counts)
        made = {
            "batch_id": new_id(),
            "space_id": space_id,
            "content_hashes": batch.content_hashes,
            "token_counts": f"{{{counts}}}",
            "embeddings": batch.embeddings,
        }
        return bool(await self._queries.run(PUT_VECTORS, {**progress.of(job, run_id), **made}))

    async def put_known(
        self,
        job: Job,
        run_id: UUID,
        progress: Progress,
        *,
        space_id: UUID,
        sha256: bytes,
        wanted: Sequence[bytes],
    ) -> bool:
        """Copy the vectors that documents with the same bytes have for the wanted contents. Returns the same as `put_vectors`."""
        made = {"batch_id": new_id(), "space_id": space_id, "sha256": sha256, "wanted": list(wanted)}
        return bool(await self._queries.run(PUT_KNOWN, {**progress.of(job, run_id), **made}))

    async def embedded(self, project_id: UUID, job_id: UUID, space_id: UUID) -> dict[bytes, int | None]:
        params = {"project_id": project_id, "job_id": job_id, "space_id": space_id}
        rows = await self._queries.all(SELECT_EMBEDDED, params)
        return {content: count for row in rows for content, count in Batch(row[0], row[1], b"").counts()}

    async def batches(self, project_id: UUID, job_id: UUID, space_id: UUID) -> AsyncIterator[list[Batch]]:
        """All staged batches in order, `_AT_ONCE` at a time."""
        params = {"project_id": project_id, "job_id": job_id, "space_id": space_id, "limit": _AT_ONCE}
        after = LOWEST
        while rows := await self._queries.all(SELECT_BATCHES, {**params, "after": after}):
            yield [Batch(*kept) for _, *kept in rows]
            after = rows[-1][0]

    async def inherit(self, project_id: UUID, job_id: UUID, *, from_id: UUID, same_text: bool) -> None:
        """Give a replaced job's vectors, and with `same_text` its text, to the job that replaces it. Drop the rest."""
        params = {"project_id": project_id, "job_id": job_id, "from_id": from_id}
        await self._queries.run(INHERIT_VECTORS, params)
        if same_text:
            await self._queries.run(INHERIT_TEXT, params)
        await self.clear(project_id, from_id)

    async def clear(self, project_id: UUID, job_id: UUID) -> None:
        await self._queries.run(CLEAR, {"project_id": project_id, "job_id": job_id})
