"""The text index: segments of chunks, and blocks of postings. `whence.search.postings` encodes the blocks."""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import LiteralString, NamedTuple
from uuid import UUID

from whence.errors import ProjectNotFound
from whence.models import ChunkKey, new_id, now
from whence.store.binary_copy import bigint, copy, packed
from whence.store.pool import LOWEST, Queries, Statements, keys, uuids

INSERT_SEGMENT: LiteralString = """
INSERT INTO kb.lexical_segments
       (project_id, id, size, live, length, first_chunk_id, last_chunk_id, chunk_ids, lengths, created_at)
VALUES (%(project_id)s, %(id)s, %(size)s, %(size)s, %(length)s, %(first)s, %(last)s, %(chunk_ids)s, %(lengths)s, %(now)s)
"""
COPY_BLOCKS: LiteralString = """
COPY kb.lexical_blocks (project_id, segment_id, first_term, payload) FROM STDIN (FORMAT binary)
"""
INSERT_WORDS: LiteralString = """
INSERT INTO kb.lexical_words (project_id, segment_id, payload) VALUES (%(project_id)s, %(id)s, %(words)s)
"""
SELECT_WORDS: LiteralString = """
SELECT segment_id, payload FROM kb.lexical_words WHERE project_id = %(project_id)s
"""
SELECT_WORDED: LiteralString = "SELECT segment_id FROM kb.lexical_words WHERE project_id = %(project_id)s"
SELECT_SEGMENTS: LiteralString = """
SELECT id, size, live, first_chunk_id, last_chunk_id FROM kb.lexical_segments
WHERE project_id = %(project_id)s
ORDER BY first_chunk_id, id
"""
HOLD_SEGMENTS: LiteralString = """
SELECT id, chunk_ids, lengths, dead FROM kb.lexical_segments
WHERE project_id = %(project_id)s AND id = ANY(%(ids)s)
ORDER BY id
FOR UPDATE
"""
SELECT_BLOCKS: LiteralString = """
SELECT segment_id, payload FROM kb.lexical_blocks
WHERE project_id = %(project_id)s AND segment_id = ANY(%(segments)s)
ORDER BY segment_id, first_term
"""
BURY: LiteralString = """
UPDATE kb.lexical_segments SET dead = %(dead)s, live = %(live)s, length = %(length)s
WHERE project_id = %(project_id)s AND id = %(id)s
"""
DROP: LiteralString = (
    "DELETE FROM kb.lexical_segments WHERE project_id = %(project_id)s AND id = ANY(%(ids)s)"
)
CLEAR: LiteralString = "DELETE FROM kb.lexical_segments WHERE project_id = %(project_id)s"
# One statement, so that frequencies, lengths and postings come from one snapshot. A term can only be in the last block whose first term is
# not greater than it. A segment's chunk ids never change, so cached ones are not read again.
SELECT_POSTINGS: LiteralString = """
SELECT s.id, s.size, s.live, s.length, s.dead, ARRAY(
           SELECT (SELECT b.payload FROM kb.lexical_blocks b
                   WHERE b.project_id = %(project_id)s AND b.segment_id = s.id AND b.first_term <= wanted.term
                   ORDER BY b.first_term DESC LIMIT 1)
           FROM unnest(%(terms)s::bigint[]) WITH ORDINALITY AS wanted (term, place)
           ORDER BY wanted.place),
       CASE WHEN s.id <> ALL(%(known)s::uuid[]) THEN s.chunk_ids END
FROM kb.lexical_segments s
WHERE s.project_id = %(project_id)s AND s.live > 0
ORDER BY s.id
"""
SELECT_WHOLE: LiteralString = """
SELECT s.id, s.size, s.live, s.length, s.dead, s.chunk_ids,
       ARRAY(SELECT b.first_term FROM kb.lexical_blocks b
             WHERE b.project_id = %(project_id)s AND b.segment_id = s.id ORDER BY b.first_term),
       ARRAY(SELECT b.payload FROM kb.lexical_blocks b
             WHERE b.project_id = %(project_id)s AND b.segment_id = s.id ORDER BY b.first_term)
FROM kb.lexical_segments s
WHERE s.project_id = %(project_id)s AND s.live > 0
ORDER BY s.id
"""
# Changes whenever the project's index changes.
STATE: LiteralString = """(
    SELECT string_agg(uuid_send(s.id) || int4send(s.live), ''::bytea ORDER BY s.id) FROM kb.lexical_segments s
    WHERE s.project_id = %(project_id)s AND s.live > 0)"""
SELECT_CONTENTS: LiteralString = """
SELECT uuid_send(id), text FROM kb.chunks WHERE project_id = %(project_id)s AND id = ANY(%(ids)s::uuid[])
"""
# The index holds pairs of neighbouring characters, so a single character is searched in the content.
SELECT_HAVING: LiteralString = """
SELECT uuid_send(id), length(text) - length(replace(text, %(character)s, '')) FROM kb.chunks
WHERE project_id = %(project_id)s AND strpos(text, %(character)s) > 0
ORDER BY id LIMIT %(limit)s
"""
SELECT_FOLLOWING: LiteralString = """
SELECT id, text FROM kb.chunks
WHERE project_id = %(project_id)s AND id > %(after)s
ORDER BY id LIMIT %(limit)s
"""
SELECT_LANGUAGE: LiteralString = "SELECT config ->> 'language' FROM kb.projects WHERE id = %(project_id)s"
SET_LANGUAGE: LiteralString = """
UPDATE kb.projects SET config = config || jsonb_build_object('language', %(language)s::text) WHERE id = %(project_id)s
"""

MOST_HAVING = 10_000
"""Maximum number of chunks in a search for a single character."""

_MOST_REMEMBERED = 64 * 1024 * 1024
"""Maximum bytes of cached chunk ids: four million chunks. The last queried project is always cached."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    size: int
    length: int
    """Number of terms in all chunks."""
    chunk_ids: bytes
    """Ascending, 16 bytes each."""
    lengths: bytes
    """Number of terms per chunk, two bytes each."""
    blocks: Sequence[tuple[int, bytes]]
    words: bytes
    """Encoded by `whence.search.vocabulary`."""


class SegmentState(NamedTuple):
    id: UUID
    size: int
    live: int
    first_chunk_id: UUID
    last_chunk_id: UUID


class HeldSegment(NamedTuple):
    id: UUID
    chunk_ids: bytes
    lengths: bytes
    dead: bytes

    @property
    def size(self) -> int:
        return len(self.chunk_ids) // 16


class SegmentPostings(NamedTuple):
    id: UUID
    size: int
    live: int
    length: int
    dead: bytes
    blocks: list[bytes | None]
    """For each term the only block that can contain it, or None."""
    chunk_ids: bytes


class WholeSegment(NamedTuple):
    id: UUID
    size: int
    live: int
    length: int
    dead: bytes
    chunk_ids: bytes
    first_terms: list[int]
    """First term of each block, ascending."""
    blocks: list[bytes]

    @property
    def bytes(self) -> int:
        return len(self.chunk_ids) + sum(map(len, self.blocks))

    def postings(self, terms: Sequence[int]) -> SegmentPostings:
        """The postings that `Lexical.postings` would read for these terms."""
        places = [bisect_right(self.first_terms, term) - 1 for term in terms]
        blocks = [None if place < 0 else self.blocks[place] for place in places]
        return SegmentPostings(*self[:5], blocks, self.chunk_ids)


def state_of(segments: Iterable[WholeSegment]) -> bytes:
    """The value of `STATE` for all segments of a project, given in order of id."""
    return b"".join(segment.id.bytes + segment.live.to_bytes(4, "big") for segment in segments)


class Lexical(Statements):
    def __init__(self, queries: Queries) -> None:
        super().__init__(queries)
        self._known: dict[UUID, dict[UUID, bytes]] = {}

    async def insert(self, project_id: UUID, segments: Sequence[Segment]) -> None:
        if not segments:
            return
        idents = [new_id() for _ in segments]
        for ident, segment in zip(idents, segments, strict=True):
            params = {
                "project_id": project_id,
                "id": ident,
                "size": segment.size,
                "length": segment.length,
                "first": UUID(bytes=segment.chunk_ids[:16]),
                "last": UUID(bytes=segment.chunk_ids[-16:]),
                "chunk_ids": segment.chunk_ids,
                "lengths": segment.lengths,
                "now": now(),
                "words": segment.words,
            }
            await self._queries.run(INSERT_SEGMENT, params)
            await self._queries.run(INSERT_WORDS, params)
        rows = (
            packed(project_id.bytes, ident.bytes, bigint(first_term), payload)
            for ident, segment in zip(idents, segments, strict=True)
            for first_term, payload in segment.blocks
        )
        await copy(self._queries, COPY_BLOCKS, rows)

    async def segments(self, project_id: UUID) -> list[SegmentState]:
        """Segments ordered by their first chunk id, which is roughly their age."""
        rows = await self._queries.all(SELECT_SEGMENTS, {"project_id": project_id})
        return [SegmentState(*row) for row in rows]

    async def hold(self, project_id: UUID, ids: Sequence[UUID]) -> list[HeldSegment]:
        """Lock the segments that still exist, in order of id, so that two transactions cannot deadlock."""
        rows = await self._queries.all(HOLD_SEGMENTS, {"project_id": project_id, "ids": list(ids)})
        return [HeldSegment(*row) for row in rows]

    async def blocks(self, project_id: UUID, segments: Sequence[UUID]) -> dict[UUID, list[bytes]]:
        found: dict[UUID, list[bytes]] = {ident: [] for ident in segments}
        params = {"project_id": project_id, "segments": list(segments)}
        for segment_id, payload in await self._queries.all(SELECT_BLOCKS, params):
            found[segment_id].append(payload)
        return found

    async def words(self, project_id: UUID) -> dict[UUID, bytes]:
        """The encoded words of each segment."""
        return dict(await self._queries.all(SELECT_WORDS, {"project_id": project_id}))

    async def worded(self, project_id: UUID) -> set[UUID]:
        """The segments that have words."""
        return set(await self._queries.column(SELECT_WORDED, {"project_id": project_id}))

    async def bury(self, project_id: UUID, segment_id: UUID, *, dead: bytes, live: int, length: int) -> None:
        params = {"project_id": project_id, "id": segment_id, "dead": dead, "live": live, "length": length}
        await self._queries.run(BURY, params)

    async def drop(self, project_id: UUID, ids: Sequence[UUID]) -> None:
        await self._queries.run(DROP, {"project_id": project_id, "ids": list(ids)})

    async def clear(self, project_id: UUID) -> None:
        await self._queries.run(CLEAR, {"project_id": project_id})

    async def postings(self, project_id: UUID, terms: Sequence[int]) -> list[SegmentPostings]:
        known = self._known.get(project_id, {})
        params = {"project_id": project_id, "terms": list(terms), "known": uuids(known)}
        rows = await self._queries.all(SELECT_POSTINGS, params)
        segments = [
            SegmentPostings(*row)._replace(chunk_ids=known[row[0]] if row[6] is None else row[6])
            for row in rows
        ]
        self._remember(project_id, {segment.id: segment.chunk_ids for segment in segments})
        return segments

    async def whole(self, project_id: UUID) -> list[WholeSegment]:
        """All segments with all postings, in order of id."""
        rows = await self._queries.all(SELECT_WHOLE, {"project_id": project_id})
        return [WholeSegment(*row) for row in rows]

    def _remember(self, project_id: UUID, chunk_ids: dict[UUID, bytes]) -> None:
        """Cache the chunk ids of a project, and evict the least recently used projects."""
        self._known.pop(project_id, None)
        self._known[project_id] = chunk_ids
        sizes = {one: sum(map(len, kept.values())) for one, kept in self._known.items()}
        while len(self._known) > 1 and sum(sizes.values()) > _MOST_REMEMBERED:
            oldest = next(iter(self._known))
            del self._known[oldest], sizes[oldest]

    async def contents(self, project_id: UUID, ids: Collection[ChunkKey]) -> dict[ChunkKey, str]:
        params = {"project_id": project_id, "ids": keys(ids)}
        return dict(await self._queries.all(SELECT_CONTENTS, params))

    async def having(
        self, project_id: UUID, character: str, *, limit: int = MOST_HAVING
    ) -> dict[ChunkKey, int]:
        """The count of the character in each of the oldest `limit` chunks that contain it."""
        params = {"project_id": project_id, "character": character, "limit": limit}
        return dict(await self._queries.all(SELECT_HAVING, params))

    async def following(self, project_id: UUID, *, after: UUID | None, limit: int) -> list[tuple[UUID, str]]:
        params = {"project_id": project_id, "after": after or LOWEST, "limit": limit}
        return [(row[0], row[1]) for row in await self._queries.all(SELECT_FOLLOWING, params)]

    async def language(self, project_id: UUID, *, lock: LiteralString = "") -> str | None:
        """The language of the project's text index; None if none was chosen."""
        row = await self._queries.one(SELECT_LANGUAGE + lock, {"project_id": project_id})
        if row is None:
            raise ProjectNotFound(details={"project_id": str(project_id)})
        return None if row[0] is None else str(row[0])

    async def share(self, project_id: UUID) -> str | None:
        """Return the language and lock it against changes until the transaction ends. Others may write to the index."""
        return await self.language(project_id, lock=" FOR SHARE")

    async def claim(self, project_id: UUID) -> str | None:
        """Return the language and lock the project's index against other writers until the transaction ends."""
        return await self.language(project_id, lock=" FOR NO KEY UPDATE")

    async def set_language(self, project_id: UUID, language: str) -> None:
        await self._queries.run(SET_LANGUAGE, {"project_id": project_id, "language": language})
