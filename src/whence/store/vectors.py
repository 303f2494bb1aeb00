"""Embedding spaces and the vectors in them. A project reads the vectors of its current space."""

from collections.abc import Iterable, Sequence
from typing import LiteralString
from uuid import UUID

from whence.store.pool import Queries
from whence.types import EmbeddingSpace, new_id, now

ENSURE_SPACE: LiteralString = """
INSERT INTO kb.embedding_spaces (id, provider, model, dimensions, created_at)
VALUES (%(id)s, %(provider)s, %(model)s, %(dimensions)s, %(now)s)
ON CONFLICT (provider, model, dimensions) DO NOTHING
"""
SELECT_SPACE: LiteralString = """
SELECT id FROM kb.embedding_spaces
WHERE provider = %(provider)s AND model = %(model)s AND dimensions = %(dimensions)s
"""
USE_SPACE: LiteralString = "UPDATE kb.projects SET space_id = %(space_id)s WHERE id = %(project_id)s"
COPY: LiteralString = "COPY kb.chunk_vectors (project_id, id, space_id, embedding) FROM STDIN"


class Vectors:
    def __init__(self, queries: Queries) -> None:
        self._queries = queries

    async def ensure_space(self, *, provider: str, model: str, dimensions: int) -> EmbeddingSpace:
        params = {"provider": provider, "model": model, "dimensions": dimensions}
        await self._queries.run(ENSURE_SPACE, {**params, "id": new_id(), "now": now()})
        row = await self._queries.one(SELECT_SPACE, params)
        assert row is not None, "inserted or found by the statement before"  # noqa: S101
        return EmbeddingSpace(id=row[0], provider=provider, model=model, dimensions=dimensions)

    async def use_space(self, project_id: UUID, space_id: UUID) -> None:
        await self._queries.run(USE_SPACE, {"project_id": project_id, "space_id": space_id})

    async def insert(
        self, project_id: UUID, space_id: UUID, vectors: Iterable[tuple[UUID, Sequence[float]]]
    ) -> None:
        async with (
            self._queries.connection() as conn,
            conn.cursor() as cursor,
            cursor.copy(COPY) as copy,
        ):
            for chunk_id, vector in vectors:
                text = "[" + ",".join(map(repr, vector)) + "]"
                await copy.write_row((project_id, chunk_id, space_id, text))
