"""Reads the text of a document in parts. Each part is one short query, so a slow reader holds no connection."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from typing import LiteralString
from uuid import UUID

from whence.errors import Conflict, DocumentNotFound
from whence.models import Page
from whence.store.documents import pages
from whence.store.pool import Params, Queries, Row, Statements

PART = 500_000
"""Characters of one part."""

_AT_ONCE = 2
"""Maximum number of concurrent queries on texts. Each takes much of a core, because Postgres decodes the text up to the part."""

MEASURE: LiteralString = """
SELECT d.project_id, d.version, length(d.text), d.page_map,
       octet_length(CASE WHEN %(start)s::int = 0 AND %(end)s::int IS NULL THEN d.text
                    ELSE substr(d.text, %(start)s::int + 1, greatest(coalesce(%(end)s::int, length(d.text)) - %(start)s::int, 0)) END),
       substr(d.text, %(start)s::int + 1, least(greatest(coalesce(%(end)s::int, length(d.text)) - %(start)s::int, 0), %(part)s::int))
FROM kb.documents d
WHERE d.id = %(id)s::uuid AND (%(project_id)s::uuid IS NULL OR d.project_id = %(project_id)s)
"""
SELECT_PART: LiteralString = """
SELECT substr(d.text, %(start)s::int + 1, %(count)s::int) FROM kb.documents d
WHERE d.project_id = %(project_id)s AND d.id = %(id)s AND d.version = %(version)s
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredSpan:
    """A span of one version of a document's text, and the first part of that text."""

    project_id: UUID
    document_id: UUID
    version: int
    characters: int
    """Length of the whole text."""
    pages: tuple[Page, ...]
    start: int
    end: int
    size: int
    """Bytes of the span in UTF-8."""
    beginning: str
    """The first part of the span, read by the statement that measured it: most texts have no other part."""

    def cut(self, first: int, last: int) -> "MeasuredSpan":
        """The span from its character `first` up to, but without, `last`. Its `size` stays that of the whole."""
        return replace(
            self, start=self.start + first, end=self.start + last, beginning=self.beginning[first:last]
        )


class Texts(Statements):
    def __init__(self, queries: Queries) -> None:
        super().__init__(queries)
        self._turn = asyncio.Semaphore(_AT_ONCE)

    async def _read_one(self, query: LiteralString, params: Params) -> Row | None:
        async with self._turn:
            return await self._queries.one(query, params)

    async def span(
        self, document_id: UUID, *, project_id: UUID | None = None, start: int = 0, end: int | None = None
    ) -> MeasuredSpan | None:
        """The span, cut at the end of the text; None if the document has no text yet."""
        params = {"id": document_id, "project_id": project_id, "start": start, "end": end, "part": PART}
        row = await self._read_one(MEASURE, params)
        if row is None:
            raise DocumentNotFound(details={"document_id": str(document_id)})
        project, version, characters, page_map, size, beginning = row
        if characters is None:
            return None
        last = characters if end is None else min(end, characters)
        return MeasuredSpan(
            project_id=project,
            document_id=document_id,
            version=version,
            characters=characters,
            pages=pages(page_map),
            start=min(start, last),
            end=last,
            size=size,
            beginning=beginning,
        )

    async def parts(self, span: MeasuredSpan) -> AsyncGenerator[str, None]:
        """The text of the span. Raises `Conflict` if the document changes before a later part is read: parts of two versions must not mix."""
        if span.beginning:
            yield span.beginning
        document = {"project_id": span.project_id, "id": span.document_id, "version": span.version}
        for start in range(span.start + len(span.beginning), span.end, PART):
            count = min(PART, span.end - start)
            row = await self._read_one(SELECT_PART, {**document, "start": start, "count": count})
            if row is None:
                raise Conflict("The document changed while its text was read")
            yield row[0]
