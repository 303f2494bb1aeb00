"""Backgrounds: vectors of reference texts in an embedding space, and how near unrelated texts are to a project's chunks."""

from typing import LiteralString, NamedTuple
from uuid import UUID

from whence.store.pool import Statements

SELECT_REFERENCES: LiteralString = """
SELECT reference_vectors FROM kb.embedding_spaces WHERE id = %(space_id)s AND reference_digest = %(digest)s
"""
PUT_REFERENCES: LiteralString = """
UPDATE kb.embedding_spaces SET reference_digest = %(digest)s, reference_vectors = %(vectors)s WHERE id = %(space_id)s
"""
# Samples chunks at even distances in each segment of the text index, if the project has grown or shrunk by a quarter since the last sample.
SAMPLE: LiteralString = """
WITH counted AS MATERIALIZED (
    SELECT coalesce(sum(s.live), 0)::bigint AS live FROM kb.lexical_segments s WHERE s.project_id = %(project_id)s),
due AS MATERIALIZED (
    SELECT counted.live FROM counted
    LEFT JOIN kb.backgrounds b ON b.project_id = %(project_id)s AND b.space_id = %(space_id)s
    WHERE counted.live > 0 AND (b.chunks IS NULL OR 4 * abs(counted.live - b.chunks) > b.chunks)),
wanted AS MATERIALIZED (
    SELECT encode(substring(s.chunk_ids FROM (16 * (place * s.size / n.places) + 1)::integer FOR 16), 'hex')::uuid AS id,
           due.live
    FROM due
    JOIN kb.lexical_segments s ON s.project_id = %(project_id)s AND s.live > 0
    CROSS JOIN LATERAL (
        SELECT least(s.size, (%(count)s * s.live + due.live - 1) / due.live)::bigint AS places) n
    CROSS JOIN LATERAL generate_series(0, n.places - 1) AS place)
SELECT wanted.live, substring(halfvec_send(v.embedding) FROM 5)
FROM wanted
JOIN kb.chunk_vectors v ON v.project_id = %(project_id)s AND v.id = wanted.id AND v.space_id = %(space_id)s
"""
PUT: LiteralString = """
INSERT INTO kb.backgrounds (project_id, space_id, chunks, mean, deviation, reach, best_reach)
VALUES (%(project_id)s, %(space_id)s, %(chunks)s, %(mean)s, %(deviation)s, %(reach)s, %(best_reach)s)
ON CONFLICT (project_id, space_id) DO UPDATE SET chunks = excluded.chunks, mean = excluded.mean,
    deviation = excluded.deviation, reach = excluded.reach, best_reach = excluded.best_reach
"""


class Background(NamedTuple):
    """Statistics of the cosines between a project's chunks and unrelated texts in their language."""

    mean: float
    deviation: float
    reach: float
    """How far related texts in that language are from the background, in standard deviations."""
    best_reach: float
    """The same for the language that the embedder knows best."""


class Backgrounds(Statements):
    async def references(self, space_id: UUID, *, digest: bytes) -> bytes | None:
        """The stored vectors of the reference texts with this digest."""
        found = await self._queries.value(SELECT_REFERENCES, {"space_id": space_id, "digest": digest})
        return None if found is None else bytes(found)

    async def put_references(self, space_id: UUID, *, digest: bytes, vectors: bytes) -> None:
        await self._queries.run(PUT_REFERENCES, {"space_id": space_id, "digest": digest, "vectors": vectors})

    async def sample(self, project_id: UUID, space_id: UUID, *, count: int) -> tuple[int, list[bytes]]:
        """The number of chunks and about `count` of their vectors. No vectors if the stored background is still valid."""
        params = {"project_id": project_id, "space_id": space_id, "count": count}
        rows = await self._queries.all(SAMPLE, params)
        return (rows[0][0] if rows else 0), [row[1] for row in rows]

    async def put(self, project_id: UUID, space_id: UUID, background: Background, *, chunks: int) -> None:
        params = {"project_id": project_id, "space_id": space_id, "chunks": chunks, **background._asdict()}
        await self._queries.run(PUT, params)
