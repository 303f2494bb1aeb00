"""Extractions in few words, and what must be true of every graph."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, LiteralString
from uuid import UUID

import psycopg

from whence.chunk_findings import (
    ChunkExtraction,
    FoundObject,
    FoundRelationship,
    FoundValue,
)
from whence.models import (
    Chunk,
    Job,
    ObjectKey,
    new_id,
    now,
)
from whence.store import Store
from whence.store.graph import WrittenChunk


def key(name: str, kind: str = "Thing") -> ObjectKey:
    return kind, name.lower()


def thing(name: str, kind: str = "Thing", **properties: Any) -> FoundObject:
    """A new object, or one of that name."""
    return FoundObject(key=key(name, kind), name=name, properties=found(properties))


def update(ident: UUID, **properties: Any) -> FoundObject:
    return FoundObject(id=ident, properties=found(properties))


def found(properties: Mapping[str, Any]) -> dict[str, FoundValue]:
    return {name: FoundValue(value=value) for name, value in properties.items()}


def tie(source: UUID | str, kind: str, target: UUID | str, **properties: Any) -> FoundRelationship:
    return FoundRelationship(type=kind, source=_end(source), target=_end(target), properties=properties)


def _end(end: UUID | str) -> UUID | ObjectKey:
    return end if isinstance(end, UUID) else key(end)


def extraction(
    chunk: Chunk,
    *objects: FoundObject,
    ties: Sequence[FoundRelationship] = (),
    schema: int = 1,
    job_id: UUID | None = None,
    **more: Any,
) -> ChunkExtraction:
    return ChunkExtraction(
        project_id=chunk.project_id,
        chunk_id=chunk.id,
        job_id=job_id or chunk.job_id,
        schema_number=schema,
        outcome=more.pop("outcome", "extracted" if objects else "empty"),
        objects=objects,
        relationships=ties,
        **more,
    )


async def say(
    store: Store,
    chunk: Chunk,
    *objects: FoundObject,
    vectors: Sequence[Sequence[float]] = (),
    **more: Any,
) -> WrittenChunk:
    """What the chunk gives is written, with vectors of the first of the objects in the project's space."""
    async with store.transaction() as tx:
        written = await tx.graph.write_chunk(extraction(chunk, *objects, **more))
        if vectors:
            space, _ = await tx.vectors.spaces(chunk.project_id)
            assert space is not None
            own = {ident: vector for ident, vector in zip(written.themselves, vectors, strict=False) if ident}
            await tx.graph.objects.put_vectors(chunk.project_id, space.id, own)
    return written


async def extraction_job(store: Store, job: Job) -> Job:
    made = Job(
        project_id=job.project_id,
        id=new_id(),
        document_id=job.document_id,
        type="extraction",
        name=job.name,
        status="processing",
        file_name=job.file_name,
        file_type=job.file_type,
        file_size=job.file_size,
        created_at=now(),
    )
    await store.jobs.insert(made)
    return made


_BROKEN: dict[str, LiteralString] = {
    "a property without a claim": """
        SELECT o.name, k FROM kb.graph_objects o, jsonb_object_keys(o.properties) k
        WHERE NOT EXISTS (SELECT FROM kb.object_provenance p WHERE p.object_id = o.id AND p.property_name = k)
          AND NOT EXISTS (SELECT FROM kb.curations w LEFT JOIN kb.object_merges m ON m.object_id = o.id
                          WHERE w.action = 'set' AND w.undone_at IS NULL AND w.property_name = k AND w.type = o.type
                            AND w.name_key IN (o.name_key, m.name_key))""",
    "an object without a claim": """
        SELECT o.name FROM kb.graph_objects o
        WHERE NOT EXISTS (SELECT FROM kb.object_provenance p WHERE p.object_id = o.id)""",
    "a relationship without a claim": """
        SELECT r.type FROM kb.relationships r
        WHERE NOT EXISTS (SELECT FROM kb.relationship_provenance p WHERE p.relationship_id = r.id)""",
    "a relationship of a chunk that does not speak of its ends": """
        WITH told AS (SELECT said_of, chunk_id FROM kb.object_provenance UNION SELECT said_of, chunk_id FROM kb.hidden_claims),
             ends AS (SELECT said_source, said_target, chunk_id FROM kb.relationship_provenance
                      UNION SELECT said_source, said_target, chunk_id FROM kb.hidden_relationship_claims)
        SELECT e.* FROM ends e
        WHERE NOT EXISTS (SELECT FROM told t WHERE t.said_of = e.said_source AND t.chunk_id = e.chunk_id)
           OR NOT EXISTS (SELECT FROM told t WHERE t.said_of = e.said_target AND t.chunk_id = e.chunk_id)""",
    "a claim of no chunk": """
        SELECT p.id FROM kb.object_provenance p WHERE NOT EXISTS (SELECT FROM kb.chunks c WHERE c.id = p.chunk_id)""",
    "a value that is not the newest": """
        SELECT o.name, n.property_name, n.value FROM kb.graph_objects o JOIN (
            SELECT DISTINCT ON (p.object_id, p.property_name) p.* FROM kb.object_provenance p
            JOIN kb.chunks c ON c.id = p.chunk_id JOIN kb.documents d ON d.id = c.document_id
            ORDER BY p.object_id, p.property_name, p.is_grounded DESC,
                     coalesce(d.valid_from, d.version_at, d.created_at) DESC, d.id DESC, c.chunk_index DESC) n
            ON n.object_id = o.id
        WHERE n.property_name <> 'name' AND jsonb_typeof(n.value) <> 'array'
          AND o.properties -> n.property_name IS DISTINCT FROM n.value
          AND NOT EXISTS (SELECT FROM kb.curations w WHERE w.action = 'set' AND w.undone_at IS NULL AND w.type = o.type
                          AND w.property_name = n.property_name AND w.value = o.properties -> w.property_name)""",
    "a list without an element of its newest claim": """
        SELECT o.name, n.property_name, e.value FROM kb.graph_objects o JOIN (
            SELECT DISTINCT ON (p.object_id, p.property_name) p.* FROM kb.object_provenance p
            JOIN kb.chunks c ON c.id = p.chunk_id JOIN kb.documents d ON d.id = c.document_id
            ORDER BY p.object_id, p.property_name, p.is_grounded DESC,
                     coalesce(d.valid_from, d.version_at, d.created_at) DESC, d.id DESC, c.chunk_index DESC) n
            ON n.object_id = o.id,
            jsonb_array_elements(CASE jsonb_typeof(n.value) WHEN 'array' THEN n.value ELSE '[]' END) e
        WHERE NOT lower((o.properties -> n.property_name)::text)::jsonb @> lower(jsonb_build_array(e.value)::text)::jsonb
          AND NOT EXISTS (SELECT FROM kb.curations w WHERE w.action = 'set' AND w.undone_at IS NULL AND w.type = o.type
                          AND w.property_name = n.property_name AND w.value = o.properties -> w.property_name)""",
    "a name that is not the newest": """
        SELECT o.name, n.value FROM kb.graph_objects o JOIN (
            SELECT DISTINCT ON (p.object_id) p.* FROM kb.object_provenance p
            JOIN kb.chunks c ON c.id = p.chunk_id JOIN kb.documents d ON d.id = c.document_id
            WHERE p.property_name = 'name'
            ORDER BY p.object_id, p.said_of = p.object_id DESC,
                     coalesce(d.valid_from, d.version_at, d.created_at) DESC, d.id DESC, c.chunk_index DESC) n
            ON n.object_id = o.id
        WHERE o.name <> n.value #>> '{}'""",
    "a name without a claim": """
        SELECT o.name FROM kb.graph_objects o
        WHERE NOT EXISTS (SELECT FROM kb.object_provenance p WHERE p.object_id = o.id
                          AND p.property_name = 'name' AND p.value #>> '{}' = o.name)""",
    "a rejected claim in the graph": """
        WITH keys AS (SELECT id, type, name_key FROM kb.graph_objects
                      UNION ALL SELECT dropped_id, type, name_key FROM kb.object_merges),
             claims AS (SELECT said_of, chunk_id, property_name, value FROM kb.object_provenance
                        UNION ALL SELECT said_of, chunk_id, property_name, value FROM kb.hidden_claims)
        SELECT p.* FROM claims p JOIN kb.chunks c ON c.id = p.chunk_id JOIN keys k ON k.id = p.said_of
        JOIN kb.rejected_texts t ON t.content_hash = c.content_hash AND t.type = k.type AND t.name_key = k.name_key
        WHERE t.is_active AND t.relationship_type IS NULL AND coalesce(t.property_name, p.property_name) = p.property_name
          AND coalesce(t.value, p.value) = p.value""",
    "a claim that is withheld without a rejection": """
        SELECT r.* FROM kb.rejected_claims r JOIN kb.chunks c ON c.id = r.chunk_id
        WHERE NOT EXISTS (SELECT FROM kb.rejected_texts t
                          WHERE t.is_active AND t.content_hash = c.content_hash AND t.type = r.type
                            AND t.name_key = r.name_key AND coalesce(t.property_name, r.property_name) = r.property_name)""",
    "a claim that another has": """
        SELECT p.id FROM kb.object_provenance p
        LEFT JOIN kb.object_merges m ON m.dropped_id = p.said_of
        WHERE p.object_id <> coalesce(m.object_id, p.said_of)""",
    "a relationship that others have": """
        SELECT p.id FROM kb.relationship_provenance p
        JOIN kb.relationships r ON r.id = p.relationship_id
        LEFT JOIN kb.object_merges a ON a.dropped_id = p.said_source
        LEFT JOIN kb.object_merges b ON b.dropped_id = p.said_target
        WHERE r.source_id <> coalesce(a.object_id, p.said_source) OR r.target_id <> coalesce(b.object_id, p.said_target)""",
    "a merge into what is merged itself": """
        SELECT m.id FROM kb.object_merges m JOIN kb.object_merges n ON n.dropped_id = m.object_id""",
    "an object that is merged and there": """
        SELECT o.name FROM kb.object_merges m
        JOIN kb.graph_objects o ON o.id = m.dropped_id OR (o.type = m.type AND o.name_key = m.name_key)""",
    "an object that is remembered and there": """
        SELECT g.name FROM kb.remembered_objects g
        WHERE EXISTS (SELECT FROM kb.graph_objects o WHERE o.id = g.id)
           OR EXISTS (SELECT FROM kb.object_merges m WHERE m.dropped_id = g.id OR m.object_id = g.id)""",
    "a hidden claim that nothing hides": """
        SELECT h.id FROM kb.hidden_claims h LEFT JOIN kb.object_merges m ON m.dropped_id = h.said_of
        WHERE NOT EXISTS (SELECT FROM kb.object_provenance p WHERE p.object_id = coalesce(m.object_id, h.said_of)
                          AND p.chunk_id = h.chunk_id AND p.property_name = h.property_name)""",
}


_looking: dict[str, psycopg.Connection] = {}


def look(dsn: str) -> psycopg.Connection:
    """A connection that reads a database from behind. It stays open until another database is looked at.

    A history looks after every step, and a new connection has to plan all queries anew.
    """
    if dsn not in _looking:
        while _looking:
            _looking.popitem()[1].close()
        _looking[dsn] = psycopg.connect(dsn, autocommit=True, prepare_threshold=1)
    return _looking[dsn]


def require_sound(dsn: str) -> None:
    for what, query in _BROKEN.items():
        broken = look(dsn).execute(query).fetchall()
        assert not broken, (what, broken)


def picture(dsn: str) -> dict[str, list[tuple[Any, ...]]]:
    """All of the graph but when it last changed."""
    queries: dict[str, LiteralString] = {
        "objects": """
            SELECT project_id, id, type, name, name_key, properties, created_at FROM kb.graph_objects ORDER BY id""",
        "relationships": "SELECT * FROM kb.relationships ORDER BY id",
        "claims": "SELECT * FROM kb.object_provenance ORDER BY id",
        "ties": "SELECT * FROM kb.relationship_provenance ORDER BY id",
        "hidden": "SELECT * FROM kb.hidden_claims ORDER BY id",
        "hidden ties": "SELECT * FROM kb.hidden_relationship_claims ORDER BY id",
        "vectors": "SELECT project_id, id, space_id, embedding::text FROM kb.object_vectors ORDER BY id",
        "merges": "SELECT id, object_id, into_id, dropped_id, type, name, name_key FROM kb.object_merges ORDER BY id",
        "remembered": "SELECT * FROM kb.remembered_objects ORDER BY id",
    }
    return {name: look(dsn).execute(query).fetchall() for name, query in queries.items()}


async def until_waiting(dsn: str, count: int, *operations: "asyncio.Task[Any]") -> None:
    """Until so many connections wait for locks, or the operations are done without."""
    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as conn:
        while not all(operation.done() for operation in operations):
            cursor = await conn.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
            )
            row = await cursor.fetchone()
            if row is not None and row[0] >= count:
                return
            await asyncio.sleep(0.01)
