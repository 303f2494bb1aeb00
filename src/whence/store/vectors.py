"""Embedding spaces and the vectors in them. A project reads the vectors of its current space."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, LiteralString
from uuid import UUID

from whence.errors import ProjectNotFound
from whence.models import EmbeddingSpace, new_id, now
from whence.store.binary_copy import copy, packed
from whence.store.pool import LOWEST, Row, Statements

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ENSURE_SPACE: LiteralString = """
INSERT INTO kb.embedding_spaces (id, provider, model, dimensions, created_at)
VALUES (%(id)s, %(provider)s, %(model)s, %(dimensions)s, %(now)s)
ON CONFLICT (provider, model, dimensions) DO NOTHING
"""
SELECT_SPACE: LiteralString = """
SELECT id FROM kb.embedding_spaces
WHERE provider = %(provider)s AND model = %(model)s AND dimensions = %(dimensions)s
"""
FIRST_SPACE: LiteralString = """
UPDATE kb.projects SET space_id = %(space_id)s, next_space_id = NULL WHERE id = %(project_id)s AND space_id IS NULL
"""
SELECT_SPACES: LiteralString = """
SELECT s.id, s.provider, s.model, s.dimensions, n.id, n.provider, n.model, n.dimensions
FROM kb.projects p
LEFT JOIN kb.embedding_spaces s ON s.id = p.space_id
LEFT JOIN kb.embedding_spaces n ON n.id = p.next_space_id
WHERE p.id = %(project_id)s"""
MOVE_TO: LiteralString = """
UPDATE kb.projects SET next_space_id = nullif(%(space_id)s, space_id) WHERE id = %(project_id)s
"""
HOLD_PROJECT: LiteralString = """
SELECT space_id, next_space_id FROM kb.projects WHERE id = %(project_id)s FOR UPDATE
"""
SWITCH: LiteralString = """
UPDATE kb.projects SET space_id = next_space_id, next_space_id = NULL WHERE id = %(project_id)s
"""
RECOUNT: LiteralString = """
UPDATE kb.chunks c
SET metadata = jsonb_set(c.metadata, '{token_count}', coalesce(to_jsonb(v.token_count), 'null'))
FROM kb.chunk_vectors v
WHERE v.project_id = %(project_id)s AND v.space_id = %(space_id)s AND c.project_id = %(project_id)s AND c.id = v.id
  AND c.metadata IS NOT NULL
"""
FORGET: LiteralString = """
DELETE FROM kb.chunk_vectors WHERE project_id = %(project_id)s AND space_id = %(space_id)s
"""
FORGET_OBJECTS: LiteralString = """
DELETE FROM kb.object_vectors WHERE project_id = %(project_id)s AND space_id = %(space_id)s
"""
COPY: LiteralString = """
COPY kb.chunk_vectors (project_id, id, space_id, embedding) FROM STDIN (FORMAT binary)
"""
FILL: LiteralString = """
INSERT INTO kb.chunk_vectors (project_id, id, space_id, embedding, token_count)
SELECT c.project_id, c.id, %(space_id)s, made.embedding::halfvec, made.token_count
FROM unnest(%(ids)s::uuid[], %(vectors)s::text[], %(token_counts)s::integer[]) AS made (id, embedding, token_count)
JOIN kb.chunks c ON c.project_id = %(project_id)s AND c.id = made.id
JOIN kb.projects p ON p.id = %(project_id)s AND %(space_id)s IN (p.space_id, p.next_space_id)
ON CONFLICT (project_id, id, space_id) DO NOTHING
"""
# Looks up each chunk's vector separately: a join would read the whole project every time.
NEXT: LiteralString = """
SELECT c.id, CASE WHEN NOT EXISTS (
           SELECT FROM kb.chunk_vectors v
           WHERE v.project_id = %(project_id)s AND v.id = c.id AND v.space_id = %(space_id)s) THEN c.text END
FROM kb.chunks c
WHERE c.project_id = %(project_id)s AND c.id > %(after)s
ORDER BY c.id LIMIT %(limit)s
"""
FILLED: LiteralString = """
SELECT (SELECT count(*) FROM kb.chunk_vectors WHERE project_id = %(project_id)s AND space_id = %(space_id)s),
       (SELECT count(*) FROM kb.chunks WHERE project_id = %(project_id)s)
"""


class Vectors(Statements):
    async def ensure_space(self, *, provider: str, model: str, dimensions: int) -> EmbeddingSpace:
        params = {"provider": provider, "model": model, "dimensions": dimensions}
        ident = await self._queries.value(SELECT_SPACE, params)
        if ident is None:
            await self._queries.run(ENSURE_SPACE, {**params, "id": new_id(), "now": now()})
            ident = await self._queries.value(SELECT_SPACE, params)
        return EmbeddingSpace(id=ident, provider=provider, model=model, dimensions=dimensions)

    async def first_space(self, project_id: UUID, space: EmbeddingSpace) -> None:
        await self._queries.run(FIRST_SPACE, {"project_id": project_id, "space_id": space.id})

    async def spaces(self, project_id: UUID) -> tuple[EmbeddingSpace | None, EmbeddingSpace | None]:
        """The project's current space and the space it is moving to."""
        row = await self._queries.one(SELECT_SPACES, {"project_id": project_id})
        if row is None:
            raise ProjectNotFound(details={"project_id": str(project_id)})
        return space_of(row[:4]), space_of(row[4:])

    async def insert(self, project_id: UUID, space_id: UUID, vectors: Iterable[tuple[UUID, bytes]]) -> None:
        owner, space = project_id.bytes, space_id.bytes
        rows = (packed(owner, chunk_id.bytes, space, vector) for chunk_id, vector in vectors)
        await copy(self._queries, COPY, rows)

    async def fill(
        self,
        project_id: UUID,
        space_id: UUID,
        ids: Sequence[UUID],
        vectors: "NDArray[np.float32]",
        token_counts: Sequence[int | None],
    ) -> None:
        """Insert vectors in the project's current or next space, for chunks that still exist and have none there."""
        params = {"project_id": project_id, "space_id": space_id, "ids": list(ids)}
        params["token_counts"] = list(token_counts)
        await self._queries.run(FILL, {**params, "vectors": [str(row.tolist()) for row in vectors]})

    async def move_to(self, project_id: UUID, space_id: UUID) -> None:
        """Set the project's next space, or clear it if `space_id` is the current space."""
        await self._queries.run(MOVE_TO, {"project_id": project_id, "space_id": space_id})

    async def forget(self, project_id: UUID, space_id: UUID) -> None:
        params = {"project_id": project_id, "space_id": space_id}
        await self._queries.run(FORGET, params)
        await self._queries.run(FORGET_OBJECTS, params)

    async def following(
        self, project_id: UUID, space_id: UUID, *, after: UUID | None, limit: int
    ) -> list[tuple[UUID, str | None]]:
        """The next chunks in order of id, each with its content, or None if it has a vector in the space."""
        params = {"project_id": project_id, "space_id": space_id, "limit": limit, "after": after or LOWEST}
        return [(row[0], row[1]) for row in await self._queries.all(NEXT, params)]

    async def hold(self, project_id: UUID) -> tuple[UUID | None, UUID | None]:
        """Ids of the current and next space. Locks the project's row until the transaction ends."""
        row = await self._queries.one(HOLD_PROJECT, {"project_id": project_id})
        return (row[0], row[1]) if row else (None, None)

    async def switch(self, project_id: UUID, *, new: UUID) -> bool:
        """Switch the project to the new space, if every chunk has a vector there. Call in a transaction."""
        old, following = await self.hold(project_id)
        embedded, total = await self.filled(project_id, new)
        if following != new or embedded < total:
            return False
        await self._queries.run(SWITCH, {"project_id": project_id})
        await self._queries.run(RECOUNT, {"project_id": project_id, "space_id": new})
        if old not in (None, new):
            await self.forget(project_id, old)
        return True

    async def filled(self, project_id: UUID, space_id: UUID) -> tuple[int, int]:
        """Number of the project's vectors in the space, and number of its chunks."""
        row = await self._queries.one(FILLED, {"project_id": project_id, "space_id": space_id})
        return (row[0], row[1]) if row else (0, 0)


def space_of(row: Row) -> EmbeddingSpace | None:
    if row[0] is None:
        return None
    return EmbeddingSpace(id=row[0], provider=row[1], model=row[2], dimensions=row[3])
