"""The database of `test_plans.py`: 100,000 chunks in 2,000 documents of 1,000 projects."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from hashlib import md5
from typing import Any
from uuid import UUID

import pytest

from whence.errors import Conflict, NotFound, Unauthorized
from whence.models import (
    Chunk,
    EmbeddingSpace,
    now,
)
from whence.store import (
    Store,
    texts,
)

PROJECTS = 1_000
DOCUMENTS = 2_000
CHUNKS = 100_000
SPACE = UUID(md5(b"space1", usedforsecurity=False).hexdigest())
THE_SPACE = EmbeddingSpace(id=SPACE, provider="test", model="ramp", dimensions=4)
Read = Callable[[Store, Any], Awaitable[Any]]
"""Uses the store, given some rows of chunks."""

FILL = f"""
CREATE FUNCTION ident(kind text, number bigint) RETURNS uuid LANGUAGE sql IMMUTABLE
AS $$ SELECT md5(kind || number)::uuid $$;
INSERT INTO kb.embedding_spaces VALUES (ident('space', 1), 'test', 'ramp', 4, now());
INSERT INTO kb.projects SELECT ident('project', p), 'project ' || p, NULL, '{{}}', ident('space', 1), now(), now()
FROM generate_series(1, {PROJECTS}) p;
INSERT INTO kb.documents SELECT ident('project', 1 + d % {PROJECTS}), ident('document', d), 'd', NULL, 'text/plain', 1,
sha256(d::text::bytea), NULL, NULL, '{{}}', NULL, now(), now() FROM generate_series(1, {DOCUMENTS}) d;
INSERT INTO kb.stored_originals SELECT project_id, project_id || '/' || id || '/1', now(), 'kept', NULL FROM kb.documents;
INSERT INTO kb.jobs (project_id, id, document_id, type, name, status, file_name, file_type, file_size, created_at)
SELECT project_id, ident('job', row_number() OVER (ORDER BY id)), id, 'document_processing', 'd', 'completed', 'd',
'text/plain', 1, now() FROM kb.documents;
INSERT INTO kb.chunks (project_id, id, document_id, job_id, chunk_index, text, content_hash, metadata, created_at)
SELECT j.project_id, gen_random_uuid(), j.document_id, j.id, c, repeat('word ', 40), sha256(c::text::bytea), '{{}}', now()
FROM kb.jobs j, generate_series(0, {CHUNKS // DOCUMENTS - 1}) c;
INSERT INTO kb.chunk_vectors SELECT project_id, id, ident('space', 1), '[1,2,3,4]' FROM kb.chunks;
INSERT INTO kb.lexical_segments SELECT project_id, document_id, count(*), count(*), 40 * count(*), min(id::text)::uuid,
max(id::text)::uuid, string_agg(uuid_send(id), '' ORDER BY id), repeat('xx', count(*)::integer)::bytea, '', now()
FROM kb.chunks GROUP BY project_id, document_id;
INSERT INTO kb.lexical_blocks SELECT project_id, id, 1000 * b, repeat('x', 4000)::bytea
FROM kb.lexical_segments, generate_series(-10, 9) b;
INSERT INTO kb.lexical_words SELECT project_id, id, 'x' FROM kb.lexical_segments;
INSERT INTO kb.page_layouts SELECT project_id, id, p, 0, 100, 100, 0, '' FROM kb.documents, generate_series(1, 5) p;
INSERT INTO kb.backgrounds SELECT id, ident('space', 1), 1, 0, 1, 7, 7 FROM kb.projects;
UPDATE kb.documents d SET current_job_id = j.id, original_key = d.id::text, text = 'd', origin = 'http://example.org/' || d.id
FROM kb.jobs j WHERE j.project_id = d.project_id AND j.document_id = d.id;
INSERT INTO kb.jobs (project_id, id, document_id, type, name, status, file_name, file_type, file_size, created_at)
SELECT project_id, gen_random_uuid(), id, 'document_processing', 'd', 'failed', 'd', 'text/plain', 1, now()
FROM kb.documents, generate_series(1, 4);
UPDATE kb.jobs SET status = 'pending' WHERE id IN (SELECT id FROM kb.jobs WHERE status = 'failed' LIMIT 20);
INSERT INTO kb.job_texts SELECT project_id, id, 'text/plain', repeat('word ', 40), NULL FROM kb.jobs WHERE status = 'failed';
INSERT INTO kb.job_vectors SELECT project_id, job_id, gen_random_uuid(), ident('space', 1), sha256(c::text::bytea), '{{3}}', '\\x00'
FROM kb.job_texts, generate_series(0, 9) c;
INSERT INTO kb.schemas (project_id, number, sha256, body, created_at) SELECT id, n, 'x', '{{}}', now()
FROM kb.projects, generate_series(1, 5) n;
INSERT INTO kb.lightrag_keys SELECT id, 'http://lightrag', 'key' FROM kb.projects;
INSERT INTO kb.replaced_lists SELECT id, 'Thing', 'list ' || n FROM kb.projects, generate_series(1, 20) n;
INSERT INTO kb.graph_objects SELECT project_id, id, 'Thing', id::text, id::text, '{{}}', now(), now() FROM kb.chunks LIMIT 20000;
INSERT INTO kb.object_vectors SELECT project_id, id, ident('space', 1), '[1,2,3,4]' FROM kb.graph_objects;
INSERT INTO kb.object_provenance (project_id, id, object_id, said_of, chunk_id, property_name, operation, schema_number, extracted_at)
SELECT project_id, gen_random_uuid(), id, id, id, 'name', 'created', 1, now() FROM kb.graph_objects;
INSERT INTO kb.relationships SELECT project_id, id, 'is', id, id, '{{}}', now(), now() FROM kb.graph_objects;
INSERT INTO kb.relationship_provenance (project_id, id, relationship_id, said_source, said_target, chunk_id, schema_number, extracted_at)
SELECT project_id, gen_random_uuid(), id, id, id, id, 1, now() FROM kb.graph_objects;
INSERT INTO kb.object_merges
SELECT project_id, id, id, id, gen_random_uuid(), 'Thing', 'x', 'merged ' || id, NULL, NULL, now(), now() FROM kb.graph_objects;
INSERT INTO kb.dismissed_merges SELECT project_id, 'Thing', 'a ' || id, 'b ' || id, now() FROM kb.graph_objects;
INSERT INTO kb.object_aliases SELECT project_id, id, id, 'a ' || id, 'A ' || id FROM kb.graph_objects;
INSERT INTO kb.remembered_objects
SELECT c.project_id, ident('gone', c.n), c.document_id, ident('gone', c.n), 'Thing', 'x', 'gone ' || c.n, now(), NULL, NULL, NULL, now(), 1
FROM (SELECT *, row_number() OVER () AS n FROM kb.chunks LIMIT 20000) c;
INSERT INTO kb.hidden_claims SELECT m.project_id, m.id, m.dropped_id, m.id, 'name', 'created', 1, '1', NULL, NULL, NULL, now()
FROM kb.object_merges m;
INSERT INTO kb.hidden_relationship_claims
SELECT m.project_id, m.id, 'is', m.dropped_id, m.dropped_id, m.id, 1, '{{}}', NULL, NULL, NULL, now() FROM kb.object_merges m;
INSERT INTO kb.curations (project_id, id, action, subject, type, name, name_key, property_name, value, author, schema_number, created_at)
SELECT project_id, id, 'set', 'property', 'Thing', 'x', id::text, 'color', '1', 'Ada', 1, now() FROM kb.graph_objects;
INSERT INTO kb.rejected_texts (project_id, id, curation_id, content_hash, type, name_key, property_name, schema_number)
SELECT project_id, id, id, sha256(id::text::bytea), 'Thing', id::text, 'size', 1 FROM kb.graph_objects;
INSERT INTO kb.rejected_claims (project_id, id, said_of, chunk_id, property_name, operation, schema_number, value, extracted_at, type,
name, name_key)
SELECT project_id, id, id, id, 'size', 'created', 1, '1', now(), 'Thing', 'x', id::text FROM kb.graph_objects;
INSERT INTO kb.rejected_relationship_claims (project_id, id, type, said_source, said_target, chunk_id, schema_number, properties,
extracted_at, source_type, source_name, source_key, target_type, target_name, target_key)
SELECT project_id, id, 'was', id, id, id, 1, '{{}}', now(), 'Thing', 'x', id::text, 'Thing', 'x', id::text FROM kb.graph_objects;
INSERT INTO kb.conversations SELECT project_id, id, NULL, 't', now() - random() * interval '1 year', now() FROM kb.documents;
INSERT INTO kb.answers (project_id, id, conversation_id, turn_id, asked, answer, feedback, created_at)
SELECT project_id, id, document_id, id, '{{}}', '{{}}', CASE WHEN chunk_index = 1 THEN '{{"rating": "up"}}'::jsonb END, now()
FROM kb.chunks WHERE chunk_index < 10;
INSERT INTO kb.answer_grounds SELECT a.project_id, a.id, n, a.id, 0, 10, CASE WHEN n = 1 THEN 'changed' END, CASE WHEN n = 1 THEN now() END
FROM kb.answers a, generate_series(1, 3) n;
INSERT INTO kb.document_versions SELECT project_id, id, v, now(), 'd', '{{}}', '{{}}' FROM kb.documents, generate_series(1, 5) v;
INSERT INTO kb.chunk_extractions (project_id, chunk_id, job_id, schema_number, outcome, extracted_at)
SELECT project_id, id, job_id, 1, 'empty', now() FROM kb.chunks LIMIT 20000;
"""


def chunk(row: Any, index: int, ident: UUID) -> Chunk:
    return Chunk(
        project_id=row[2],
        id=ident,
        document_id=row[3],
        job_id=UUID(row[1]),
        chunk_index=index,
        content="",
        metadata={},
        created_at=now(),
    )


async def absent(asked: Awaitable[Any]) -> None:
    with pytest.raises(NotFound):
        await asked


async def exhausted(items: AsyncIterator[Any]) -> None:
    async for _ in items:
        pass


async def refused(store: Store) -> None:
    with pytest.raises(Unauthorized):
        await store.keys.authenticate("wh_000000000000_x")


async def entered(block: AbstractAsyncContextManager[Any]) -> None:
    async with block:
        pass


async def parts(store: Store, document_id: Any) -> list[str]:
    # A span without its beginning: the statement that reads later parts runs.
    some = texts.MeasuredSpan(
        project_id=document_id,
        document_id=document_id,
        version=0,
        characters=1,
        pages=(),
        start=0,
        end=1,
        size=1,
        beginning="",
    )
    try:
        return [part async for part in store.texts.parts(some)]
    except Conflict:
        return []
