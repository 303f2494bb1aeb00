"""What a job has finished so far. Nobody reads it but the job, until all of it becomes the document at once."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, LiteralString
from uuid import UUID

import orjson

from whence.store.copying import copy, integer, jsonb
from whence.store.documents import page_map, pages
from whence.store.halfvec import halfvecs
from whence.store.pool import Queries
from whence.types import Page

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PUT_TEXT: LiteralString = """
INSERT INTO kb.job_texts (project_id, job_id, mime, text, page_map)
VALUES (%(project_id)s, %(job_id)s, %(mime)s, %(text)s, %(page_map)s)
ON CONFLICT (project_id, job_id) DO NOTHING
"""
DROP_TEXT: LiteralString = """
DELETE FROM kb.job_texts WHERE project_id = %(project_id)s AND job_id = %(job_id)s
"""
COPY_TEXT: LiteralString = """
COPY kb.job_texts (project_id, job_id, mime, text, page_map) FROM STDIN (FORMAT binary)
"""
TEXT: LiteralString = """
WITH reused AS (
    INSERT INTO kb.job_texts (project_id, job_id, mime, text, page_map)
    SELECT d.project_id, %(job_id)s, d.mime, d.text, d.page_map FROM kb.documents d
    WHERE d.project_id = %(project_id)s AND d.id = %(document_id)s AND d.sha256 = %(sha256)s AND d.mime = %(mime)s
      AND d.text IS NOT NULL
    ON CONFLICT (project_id, job_id) DO NOTHING
    RETURNING mime, text, page_map)
SELECT mime, text, page_map FROM kb.job_texts WHERE project_id = %(project_id)s AND job_id = %(job_id)s
UNION ALL
SELECT mime, text, page_map FROM reused
"""
COPY_VECTORS: LiteralString = """
COPY kb.job_vectors (project_id, job_id, space_id, content_hash, token_count, embedding) FROM STDIN (FORMAT binary)
"""
SELECT_EMBEDDED: LiteralString = """
SELECT content_hash, token_count FROM kb.job_vectors
WHERE project_id = %(project_id)s AND job_id = %(job_id)s AND space_id = %(space_id)s
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

_LONG = 1_000_000
"""Characters."""


class Staging:
    def __init__(self, queries: Queries) -> None:
        self._queries = queries

    async def put_text(
        self, project_id: UUID, job_id: UUID, *, mime: str, text: str, pages: Sequence[Page]
    ) -> None:
        """A long text goes in parts: as a parameter there would be three of it at once, and a buffer as large ever after."""
        mapped = page_map(pages)
        if len(text) < _LONG:
            params = {"project_id": project_id, "job_id": job_id, "mime": mime, "text": text}
            await self._queries.run(PUT_TEXT, {**params, "page_map": mapped})
            return
        await self._queries.run(DROP_TEXT, {"project_id": project_id, "job_id": job_id})
        in_bytes = None if mapped is None else jsonb(orjson.dumps(mapped.obj))
        row = (project_id.bytes, job_id.bytes, mime.encode(), text.encode(), in_bytes)
        await copy(self._queries, COPY_TEXT, [row])

    async def text(
        self, project_id: UUID, job_id: UUID, *, document_id: UUID, sha256: bytes, mime: str
    ) -> tuple[str, str, tuple[Page, ...]] | None:
        """Type, text and pages, if they were read before: by this job, or for the document as it is now.

        Where the document was made from the same bytes, read as the same type, it need not be read again.
        """
        params = {"project_id": project_id, "job_id": job_id, "document_id": document_id}
        row = await self._queries.one(TEXT, {**params, "sha256": sha256, "mime": mime})
        return None if row is None else (row[0], row[1], pages(row[2]))

    async def put_vectors(
        self,
        project_id: UUID,
        job_id: UUID,
        space_id: UUID,
        *,
        hashes: Sequence[bytes],
        token_counts: Sequence[int | None],
        vectors: "NDArray[np.float32]",
    ) -> None:
        owner = (project_id.bytes, job_id.bytes, space_id.bytes)
        rows = (
            (*owner, content_hash, None if count is None else integer(count), vector)
            for content_hash, count, vector in zip(hashes, token_counts, halfvecs(vectors), strict=True)
        )
        await copy(self._queries, COPY_VECTORS, rows)

    async def embedded(self, project_id: UUID, job_id: UUID, space_id: UUID) -> dict[bytes, int | None]:
        """The token count of every content that has its vector already, by the hash of the content."""
        params = {"project_id": project_id, "job_id": job_id, "space_id": space_id}
        return {row[0]: row[1] for row in await self._queries.all(SELECT_EMBEDDED, params)}

    async def inherit(self, project_id: UUID, job_id: UUID, *, from_id: UUID, same_text: bool) -> None:
        """What a job had finished that is not to go on becomes another's: what was embedded need not be again."""
        params = {"project_id": project_id, "job_id": job_id, "from_id": from_id}
        await self._queries.run(INHERIT_VECTORS, params)
        if same_text:
            await self._queries.run(INHERIT_TEXT, params)
        await self.clear(project_id, from_id)

    async def clear(self, project_id: UUID, job_id: UUID) -> None:
        await self._queries.run(CLEAR, {"project_id": project_id, "job_id": job_id})
