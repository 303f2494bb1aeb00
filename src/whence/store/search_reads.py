"""Reads the chunks that a search found, with their documents, neighbours, similar chunks and related objects."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, LiteralString, NamedTuple
from uuid import UUID

from whence.errors import ChunkNotFound, ProjectNotFound
from whence.models import ChunkKey, EmbeddingSpace
from whence.store.backgrounds import Background
from whence.store.chunks import CHUNK, SELECT_BY_ID, ChunkView, chunk_view
from whence.store.graph.objects import UNGROUNDED
from whence.store.halfvec import HalfVector
from whence.store.lexical import STATE
from whence.store.pool import Row, Statements, keys, uuids
from whence.store.vectors import space_of

SETTING: LiteralString = """
SELECT p.config ->> 'language', s.id, s.provider, s.model, s.dimensions,
       (SELECT coalesce(sum(l.live), 0) FROM kb.lexical_segments l WHERE l.project_id = %(project_id)s),
       b.mean, b.deviation, b.reach, b.best_reach
FROM kb.projects p
LEFT JOIN kb.embedding_spaces s ON s.id = p.space_id
LEFT JOIN kb.backgrounds b ON b.project_id = %(project_id)s AND b.space_id = p.space_id
WHERE p.id = %(project_id)s
"""
# Also reads the project's setting, so that a search can use a cached one and notice a change.
_READ: LiteralString = f"""
SELECT {CHUNK}, d.name, d.mime, (c.metadata ->> 'source_page')::integer,
       (c.metadata ->> 'startOffset')::integer, (c.metadata ->> 'endOffset')::integer,
       v.embedding <=> %(vector)s::halfvec, uuid_send(c.id), p.config ->> 'language', p.space_id, b.mean"""
_READ_FROM: LiteralString = """
FROM kb.projects p
JOIN kb.chunks c ON c.project_id = %(project_id)s
JOIN kb.documents d ON d.project_id = %(project_id)s AND d.id = c.document_id
LEFT JOIN kb.chunk_vectors v ON v.project_id = %(project_id)s AND v.id = c.id AND v.space_id = %(space_id)s::uuid
LEFT JOIN kb.backgrounds b ON b.project_id = %(project_id)s AND b.space_id = p.space_id
WHERE p.id = %(project_id)s AND c.project_id = %(project_id)s AND c.id = ANY(%(ids)s::uuid[])
"""
# Whether a document's name has one of the words.
_IS_NAMED: LiteralString = """EXISTS (
    SELECT FROM unnest(string_to_array(%(words)s, ' ')) AS wanted (word)
    JOIN kb.documents n ON n.project_id = %(project_id)s
     AND kb.name_words(n.project_id, n.name) @> ARRAY[%(project_id)s::text || ' ' || wanted.word])"""
READ: LiteralString = f"{_READ}{_READ_FROM}"
READ_WITH_STATE: LiteralString = f"{_READ}, {STATE}, {_IS_NAMED}{_READ_FROM}"
OF_DOCUMENTS: LiteralString = """
SELECT uuid_send(c.id) FROM kb.chunks c
WHERE c.project_id = %(project_id)s AND c.id = ANY(%(ids)s::uuid[]) AND c.document_id = ANY(%(document_ids)s)
"""
NAMED: LiteralString = """
SELECT wanted.word, named.id
FROM unnest(string_to_array(%(words)s, ' ')) AS wanted (word)
CROSS JOIN LATERAL (
    SELECT d.id FROM kb.documents d
    WHERE d.project_id = %(project_id)s
      AND kb.name_words(d.project_id, d.name) @> ARRAY[%(project_id)s::text || ' ' || wanted.word]
    LIMIT %(most)s) named
"""
NAME_WORDS: LiteralString = """
SELECT DISTINCT substr(named.word, 38)
FROM kb.documents d
CROSS JOIN LATERAL unnest(kb.name_words(d.project_id, d.name)) AS named (word)
WHERE d.project_id = %(project_id)s
LIMIT %(most)s
"""
# By order, not by index ± 1, because a chunk in between may have been deleted.
BESIDE: LiteralString = """
SELECT c.id, n.id
FROM kb.chunks c
CROSS JOIN LATERAL (
    (SELECT b.id, b.chunk_index FROM kb.chunks b
     WHERE b.project_id = %(project_id)s AND b.document_id = c.document_id AND b.chunk_index < c.chunk_index
     ORDER BY b.chunk_index DESC LIMIT %(count)s)
    UNION ALL
    (SELECT a.id, a.chunk_index FROM kb.chunks a
     WHERE a.project_id = %(project_id)s AND a.document_id = c.document_id AND a.chunk_index > c.chunk_index
     ORDER BY a.chunk_index LIMIT %(count)s)) n
WHERE c.project_id = %(project_id)s AND c.id = ANY(%(ids)s)
ORDER BY c.id, n.chunk_index
"""
ALIKE: LiteralString = """
SELECT c.id, near.id, near.distance
FROM kb.chunks c
JOIN kb.chunk_vectors own ON own.project_id = %(project_id)s AND own.id = c.id AND own.space_id = %(space_id)s
CROSS JOIN LATERAL (
    SELECT v.id, (v.embedding <=> own.embedding) + 0 AS distance
    FROM kb.chunks n
    JOIN kb.chunk_vectors v ON v.project_id = %(project_id)s AND v.id = n.id AND v.space_id = %(space_id)s
    WHERE n.project_id = %(project_id)s AND n.document_id = c.document_id
      AND abs(n.chunk_index - c.chunk_index) > %(apart)s
    ORDER BY distance, v.id LIMIT %(count)s) near
WHERE c.project_id = %(project_id)s AND c.id = ANY(%(ids)s)
ORDER BY c.id, near.distance, near.id
"""
_NEAR: LiteralString = f"""
SELECT own.id, o.id, o.type, o.name, o.properties, 1 - near.distance, {UNGROUNDED}
FROM kb.chunk_vectors own
CROSS JOIN LATERAL (
    SELECT v.id, (v.embedding <=> own.embedding) + 0 AS distance
    FROM kb.object_vectors v
    WHERE v.project_id = %(project_id)s AND v.space_id = %(space_id)s"""
_AMONG: LiteralString = " AND v.id = ANY(%(among)s::uuid[])"
_ENOUGH: LiteralString = """
    ORDER BY distance, v.id LIMIT %(count)s) near
JOIN kb.graph_objects o ON o.project_id = %(project_id)s AND o.id = near.id
WHERE own.project_id = %(project_id)s AND own.space_id = %(space_id)s AND own.id = ANY(%(ids)s)
  AND near.distance <= 1 - %(similarity)s::float8
ORDER BY own.id, near.distance, o.id
"""
OBJECTS: dict[bool, LiteralString] = {False: _NEAR + _ENOUGH, True: _NEAR + _AMONG + _ENOUGH}


_STATE = 21  # position in a row


class Setting(NamedTuple):
    language: str | None
    space: EmbeddingSpace | None
    chunks: int
    """Number of chunks when this was read."""
    background: Background | None = None

    @property
    def mark(self) -> "SettingMark":
        mean = self.background.mean if self.background else None
        return self.language, self.space.id if self.space else None, mean


SettingMark = tuple[str | None, UUID | None, float | None]
"""Language, space id and mean of the background, which identify a setting."""


@dataclass(frozen=True, slots=True)
class FoundChunk:
    chunk: ChunkView
    document_name: str
    mime: str
    page: int | None
    start: int | None
    """Span in the document's text; None for chunks stored without offsets."""
    end: int | None
    distance: float | None
    """Distance from the query vector; None if the chunk has no vector in the space."""


@dataclass(frozen=True, slots=True)
class SearchRead:
    """Chunks read for a search, except those deleted since they were found."""

    _rows: Mapping[ChunkKey, Row] = field(default_factory=dict)
    distances: Mapping[ChunkKey, float] = field(default_factory=dict)
    """Distances from the query vector, for chunks that have one."""
    setting: SettingMark | None = None
    """The project's setting at the time of the read; None if no chunk was read."""
    state: bytes | None = None
    """State of the text index at the time of the read, if requested."""
    is_named: bool = False
    """Whether a document's name had one of the given words at the time of the read."""
    missing: bool = False
    """True if some requested chunks no longer exist."""

    @classmethod
    def of(cls, rows: Sequence[Row], *, missing: bool) -> "SearchRead":
        if not rows:
            return cls(missing=missing)
        first = rows[0]
        state, is_named = first[_STATE:] or (None, False)
        return cls(
            {row[17]: row for row in rows},
            {row[17]: row[16] for row in rows if row[16] is not None},
            first[18:_STATE],
            state,
            is_named,
            missing,
        )

    @property
    def ids(self) -> Collection[ChunkKey]:
        return self._rows.keys()

    def get(self, ident: ChunkKey) -> FoundChunk | None:
        row = self._rows.get(ident)
        if row is None:
            return None
        return FoundChunk(chunk_view(row), *row[11:17])

    def hash_of(self, ident: ChunkKey) -> str:
        """The content hash of a chunk that was read."""
        return str(self._rows[ident][6])


@dataclass(frozen=True, slots=True)
class RelatedObject:
    id: UUID
    type: str
    name: str
    properties: dict[str, Any]
    similarity: float
    ungrounded: Sequence[str] = ()
    """Properties whose value is in no chunk."""


class Hits(Statements):
    async def setting(self, project_id: UUID) -> Setting:
        row = await self._queries.one(SETTING, {"project_id": project_id})
        if row is None:
            raise ProjectNotFound(details={"project_id": str(project_id)})
        background = None if row[6] is None else Background(*row[6:10])
        return Setting(row[0], space_of(row[1:5]), int(row[5]), background)

    async def read(
        self,
        project_id: UUID,
        ids: Iterable[ChunkKey],
        *,
        space: EmbeddingSpace | None,
        vector: HalfVector | None,
        with_state: bool = False,
        words: Collection[str] = (),
    ) -> SearchRead:
        """Read chunks with their distances from `vector`, if given.

        `with_state` also reads the state of the text index, and whether a document's name has one of the words.
        """
        wanted = set(ids)
        params = {
            "project_id": project_id,
            "ids": keys(wanted),
            "space_id": space.id if space and vector else None,
            "vector": vector,
        }
        if with_state:
            params["words"] = " ".join(words)
        rows = await self._queries.all(READ_WITH_STATE if with_state else READ, params)
        return SearchRead.of(rows, missing=len(rows) < len(wanted))

    async def one(self, chunk_id: str, *, project_id: UUID | None) -> tuple[UUID, ChunkView]:
        row = await self._queries.one(SELECT_BY_ID[False, False], {"id": chunk_id, "project_id": project_id})
        if row is None:
            raise ChunkNotFound(details={"chunk_id": chunk_id})
        return UUID(row[0]), chunk_view(row)

    async def of_documents(
        self, project_id: UUID, document_ids: Sequence[UUID], ids: Iterable[ChunkKey]
    ) -> set[ChunkKey]:
        params = {"project_id": project_id, "document_ids": list(document_ids), "ids": keys(ids)}
        return {row[0] for row in await self._queries.all(OF_DOCUMENTS, params)}

    async def named(self, project_id: UUID, words: Sequence[str], *, most: int) -> list[tuple[str, UUID]]:
        """For each word the documents with it in their name, up to `most` per word."""
        params = {"project_id": project_id, "words": " ".join(words), "most": most}
        return [(row[0], row[1]) for row in await self._queries.all(NAMED, params)]

    async def name_words(self, project_id: UUID, *, most: int) -> list[str]:
        """Up to `most` distinct words of the documents' names, in lower case."""
        return await self._queries.column(NAME_WORDS, {"project_id": project_id, "most": most})

    async def beside(self, project_id: UUID, ids: Sequence[UUID], *, count: int) -> list[tuple[UUID, UUID]]:
        """Pairs of a chunk and a neighbour: up to `count` before and after it in its document, in reading order."""
        params = {"project_id": project_id, "ids": list(ids), "count": count}
        return [(row[0], row[1]) for row in await self._queries.all(BESIDE, params)]

    async def alike(
        self, project_id: UUID, space: EmbeddingSpace, ids: Sequence[UUID], *, count: int, apart: int
    ) -> list[tuple[UUID, UUID, float]]:
        """Each chunk with the nearest chunks of its document that are more than `apart` positions away."""
        params = {"project_id": project_id, "space_id": space.id, "ids": list(ids)}
        rows = await self._queries.all(ALIKE, {**params, "count": count, "apart": apart})
        return [(row[0], row[1], row[2]) for row in rows]

    async def objects(
        self,
        project_id: UUID,
        space: EmbeddingSpace,
        ids: Sequence[UUID],
        *,
        count: int,
        similarity: float,
        among: Collection[UUID] | None = None,
    ) -> list[tuple[UUID, RelatedObject]]:
        """Each chunk with its nearest objects of at least this similarity, from all or from `among`."""
        params = {
            "project_id": project_id,
            "space_id": space.id,
            "ids": list(ids),
            "count": count,
            "similarity": similarity,
            "among": None if among is None else uuids(among),
        }
        rows = await self._queries.all(OBJECTS[among is not None], params)
        return [(row[0], RelatedObject(*row[1:])) for row in rows]
