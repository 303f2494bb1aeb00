"""Every statement goes by an index, whatever the size: plans are taken as they run, at 100,000 chunks."""

import inspect
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from hashlib import md5
from types import ModuleType
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from tests.api.shared_app import WITHOUT_TRIGGERS
from tests.graphs import key, thing, tie, update

from whence.chunk_findings import ChunkExtraction, FoundAlias
from whence.errors import Conflict, NotFound, Unauthorized
from whence.models import (
    Chunk,
    ChunkKey,
    EmbeddingSpace,
    Filters,
    Word,
    new_id,
    now,
)
from whence.store import (
    Store,
    answers,
    audit,
    backgrounds,
    chunks,
    document_identity,
    documents,
    evidence,
    grounds,
    inventory,
    jobs,
    keys,
    lexical,
    lightrag,
    projects,
    queue,
    schemas,
    search_reads,
    staging,
    texts,
    vector_search,
    vectors,
    versions,
)
from whence.store.answers import StoredCitation
from whence.store.connection import Connection, configure
from whence.store.document_identity import Original
from whence.store.evidence import PagedDocument, StoredLayout, TextSpan
from whence.store.graph import (
    MergeSuggestion,
    SuggestedObject,
    aliases,
    claim_moves,
    claims,
    conflicts,
    curation,
    curation_moves,
    impact,
    ledger,
    locks,
    merges,
    names,
    objects,
    provenance,
    rejected_claims,
    relationships,
    removal,
    schema_moves,
    suggestions,
    type_renames,
    write_chunk,
)
from whence.store.graph.schema_moves import (
    PropertyMove,
    RelationshipMove,
    TypeMove,
)
from whence.store.halfvec import halfvec
from whence.store.jobs import Progress
from whence.store.keys import EVERYONE
from whence.store.pool import Row, Transaction
from whence.store.staging import Batch

PLANNED = (
    versions,
    answers,
    audit,
    grounds,
    backgrounds,
    chunks,
    document_identity,
    documents,
    evidence,
    search_reads,
    inventory,
    jobs,
    keys,
    lexical,
    lightrag,
    vector_search,
    projects,
    queue,
    schemas,
    staging,
    texts,
    vectors,
    aliases,
    claim_moves,
    claims,
    conflicts,
    curation,
    curation_moves,
    locks,
    impact,
    ledger,
    merges,
    names,
    objects,
    provenance,
    rejected_claims,
    relationships,
    removal,
    schema_moves,
    suggestions,
    type_renames,
    write_chunk,
)
PROJECTS = 1_000
DOCUMENTS = 2_000
CHUNKS = 100_000
SPACE = UUID(md5(b"space1", usedforsecurity=False).hexdigest())
THE_SPACE = EmbeddingSpace(id=SPACE, provider="test", model="ramp", dimensions=4)

SMALL = {
    "api_keys",
    "audit",
    "key_usage",
    "embedding_spaces",
    "procrastinate_workers",
    "procrastinate_jobs",
    "procrastinate_events",
    "storage",
    "pg_database",
}
"""Tables of a few rows, where reading all of it is the best plan. The queue holds only what is yet to be done."""

INVENTORY_WHOLE = {
    inventory.SELECT_ALL,
    inventory.CLAIM_LEFTOVERS,
    inventory.COUNT_LEFTOVERS,
    inventory.SELECT_TRASH,
    inventory.REFERRED,
}
WHOLE = {
    keys.SELECT_ALL,
    keys.ANY_ACTIVE,
    projects.PAGED.count,
    queue.WORKER_BEATS,
    *INVENTORY_WHOLE,
    vector_search.INDEXES,
    vector_search.SIZE,
    vector_search.LARGEST,
}
"""Statements about a whole table: small tables, the nightly search for leftover originals, and the questions before an
index of a whole space is made."""


@pytest.fixture(scope="module")
def full(postgres: Any, template: str) -> Iterator[str]:
    """A database with 100,000 chunks in 2,000 documents of 1,000 projects."""
    name = "plans"
    with psycopg.connect(postgres.bootstrap_dsn, autocommit=True) as conn:
        conn.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        dsn = make_conninfo(postgres.bootstrap_dsn, dbname=name)
        with psycopg.connect(dsn, autocommit=True, options=WITHOUT_TRIGGERS) as inside:
            inside.execute(FILL)
            inside.execute("ANALYZE")
        yield dsn
        conn.execute(f"DROP DATABASE {name} WITH (FORCE)")


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


class Watched:
    """Runs a store on one connection and keeps the plan of every statement, as auto_explain tells it."""

    def __init__(self, conn: Connection, rows: list[Row]) -> None:
        self.store = Store(Transaction(conn))
        self.conn = conn
        self.rows = rows
        self.plans: list[dict[str, Any]] = []
        conn.add_notice_handler(self._notice)

    def _notice(self, notice: psycopg.errors.Diagnostic) -> None:
        text = notice.message_primary or ""
        if "plan:" in text:
            self.plans.append(json.loads(text.partition("plan:")[2]))


@pytest.fixture
async def watched(full: str) -> AsyncIterator[Watched]:
    async with await Connection.connect(full, autocommit=True) as conn:
        asked = await conn.execute(
            "SELECT id::text, job_id::text, project_id, document_id FROM kb.chunks ORDER BY id LIMIT 300"
        )
        rows = await asked.fetchall()
        await configure(conn)
        await conn.execute("LOAD 'auto_explain'")
        for name, value in (
            ("auto_explain.log_min_duration", "0"),
            ("auto_explain.log_format", "json"),
            ("auto_explain.log_level", "notice"),
            ("auto_explain.log_nested_statements", "on"),  # what deleting takes along
        ):
            await conn.execute("SELECT set_config(%s, %s, false)", [name, value])
        async with conn.transaction(force_rollback=True):
            yield Watched(conn, rows)


Read = Callable[[Store, Any], Awaitable[Any]]


def reads() -> dict[str, Read]:
    """Every way the store reads."""
    found: dict[str, Read] = {}
    for source in (False, True):
        for embedding in (False, True):
            with_ = {"source": source, "embedding": embedding}
            for bound in (False, True):
                label = f"{source=} {embedding=} {bound=}"

                def one(s: Store, rows: Any, w: Any = with_, b: bool = bound) -> Awaitable[Any]:
                    return s.chunks.get(
                        rows[0][0], project_id=rows[0][2] if b else None, job_id=rows[0][1], **w
                    )

                def bulk(s: Store, rows: Any, w: Any = with_, b: bool = bound) -> Awaitable[Any]:
                    ids = [row[0] for row in rows[:100]]
                    return s.chunks.bulk(ids, project_id=rows[0][2] if b else None, **w)

                def job(s: Store, rows: Any, w: Any = with_, b: bool = bound) -> Awaitable[Any]:
                    owner = rows[0][2] if b else None
                    return s.chunks.of_job(rows[0][1], project_id=owner, limit=20, offset=40, **w)

                found[f"chunk {label}"], found[f"bulk {label}"], found[f"job {label}"] = one, bulk, job

            def document(s: Store, rows: Any, w: Any = with_) -> Awaitable[Any]:
                return s.chunks.of_document(rows[0][2], rows[0][3], limit=20, offset=40, **w)

            found[f"document {source=} {embedding=}"] = document
    found["project"] = lambda s, rows: s.projects.get(rows[0][2])
    found["project by name"] = lambda s, _rows: s.projects.named("project 7")
    found["projects"] = lambda s, _rows: s.projects.page(limit=20, offset=0)
    found["key"] = lambda s, _rows: _refused(s)
    found["keys"] = lambda s, _rows: s.keys.all()
    found["audit"] = lambda s, _rows: s.audit.page(limit=20)
    found["audit after an entry"] = lambda s, rows: s.audit.page(limit=20, after=rows[0][2])
    found["chunks of a document after one"] = lambda s, rows: s.chunks.of_document(
        rows[0][2], rows[0][3], limit=20, offset=0, after=UUID(rows[0][0])
    )
    found["relationships after one"] = lambda s, rows: s.graph.relationships.page(
        rows[0][2], limit=20, offset=0, after=rows[0][3]
    )
    found["corrections after one"] = lambda s, rows: s.graph.curations.page(
        rows[0][2], limit=20, offset=0, after=rows[0][3]
    )
    found["documents after one"] = lambda s, rows: s.documents.page(rows[0][2], limit=20, after=rows[0][3])
    found["jobs after one"] = lambda s, rows: s.jobs.page(rows[0][2], limit=20, after=rows[0][3])
    found["objects after one"] = lambda s, rows: s.graph.objects.page(rows[0][2], limit=20, after=rows[0][3])
    found["audit of a project"] = lambda s, rows: s.audit.page(
        project_id=rows[0][2], key_id=rows[0][2], action="x", limit=20
    )
    found["any key"] = lambda s, _rows: s.keys.any_active()
    found["space"] = lambda s, _rows: s.vectors.ensure_space(provider="test", model="ramp", dimensions=4)
    found["worker"] = lambda s, _rows: s.queue.worker_alive()
    return (
        found
        | document_reads()
        | job_reads()
        | evidence_reads()
        | reads_of_searches()
        | lexical_reads()
        | graph_reads()
        | provenance_reads()
    )


def document_reads() -> dict[str, Read]:
    return {
        "an old version": lambda s, rows: s.versions.old(rows[0][2], rows[0][3], 1),
        "the current version": lambda s, rows: s.versions.current(rows[0][2], rows[0][3], 1),
        "the versions": lambda s, rows: s.versions.facts(rows[0][2], rows[0][3]),
        "start of a chunk": lambda s, rows: s.versions.chunk_start(rows[0][2], UUID(rows[0][0])),
        "chunk at a place": lambda s, rows: s.versions.chunk_at(rows[0][2], rows[0][3], 1),
        "a part of a document": lambda s, rows: s.documents.part(rows[0][2], rows[0][3], start=0, end=9),
        "one document": lambda s, rows: s.documents.get(rows[0][3]),
        "one document of a project": lambda s, rows: s.documents.get(rows[0][3], project_id=rows[0][2]),
        "document by its bytes": lambda s, rows: s.documents.same(
            rows[0][2], b"1", name="d", origin="file:///d"
        ),
        "document with the same bytes": lambda s, rows: s.documents.shared_key(rows[0][2], b"1"),
        "document like another": lambda s, rows: s.documents.require_unlike_others(
            rows[0][2], rows[0][3], Original(key="k", name="d", mime="text/plain", size=1, sha256=b"no")
        ),
        "document by its origin": lambda s, rows: s.documents.of_origin(rows[0][2], "http://example.org/"),
        "documents by their name": lambda s, rows: s.documents.named(rows[0][2], "d"),
        "documents from files": lambda s, rows: s.documents.from_files(rows[0][2]),
        "text": lambda s, rows: s.documents.content(rows[0][3]),
        "span of a text": lambda s, rows: s.texts.span(rows[0][3], project_id=rows[0][2], start=1, end=3),
        "parts of a text": lambda s, rows: _parts(s, rows[0][3]),
        "pages": lambda s, rows: s.documents.pages(rows[0][2], [rows[0][3]]),
        "view": lambda s, rows: s.documents.view(rows[0][3]),
        "view of a project": lambda s, rows: s.documents.view(rows[0][3], project_id=rows[0][2]),
        "documents": lambda s, rows: s.documents.page(rows[0][2], limit=20, offset=0),
        "documents by name": lambda s, rows: s.documents.page(rows[0][2], limit=20, sort="name"),
        "documents, filtered": lambda s, rows: s.documents.page(
            rows[0][2], limit=20, offset=0, status="completed", mimes=["text/"], extensions=[".md"], name="d"
        ),
        "describe": lambda s, rows: s.documents.describe(
            rows[0][2], rows[0][3], {"validFrom": "2020-05-01", "b": None}
        ),
        "inventory": lambda s, _rows: s.inventory.all(),
        "storage": lambda s, _rows: s.inventory.storage_id(),
        "originals of a document": lambda s, rows: s.inventory.owned(rows[0][2], rows[0][3]),
        "originals of a project": lambda s, rows: s.inventory.owned(rows[0][2]),
        "trash": lambda s, _rows: s.inventory.trash(),
        "referred originals": lambda s, _rows: s.inventory.referred(),
        "leftovers": lambda s, _rows: s.inventory.count_leftovers(before=now()),
        "backup": lambda s, _rows: s.inventory.backup_runs(),
        "alone": lambda s, _rows: _entered(s.inventory.alone()),
        "layout": lambda s, rows: s.chunks.layout(rows[0][2], rows[0][3], SPACE),
        "spaces": lambda s, rows: s.vectors.spaces(rows[0][2]),
        "following": lambda s, rows: s.vectors.following(rows[0][2], SPACE, after=None, limit=64),
        "filled": lambda s, rows: s.vectors.filled(rows[0][2], SPACE),
    }


def reads_of_searches() -> dict[str, Read]:
    def ids(rows: Any) -> list[UUID]:
        return [UUID(row[0]) for row in rows[:20]]

    def keys(rows: Any) -> list[ChunkKey]:
        return [ident.bytes for ident in ids(rows)]

    documents = {"document_ids": [uuid4()]}
    return {
        "matching documents": lambda s, rows: s.documents.matching(
            rows[0][2], Filters(mimes=("text/",), extensions=(".md",), created_from=now())
        ),
        "nearest": lambda s, rows: s.nearest.search(
            "exact", rows[0][2], THE_SPACE, halfvec([1, 2, 3, 4]), limit=10
        ),
        "nearest of documents": lambda s, rows: s.nearest.search(
            "exact", rows[0][2], THE_SPACE, halfvec([1, 2, 3, 4]), limit=10, document_ids=[rows[0][3]]
        ),
        "nearest, thoroughly": lambda s, rows: s.nearest.search(
            "exact", rows[0][2], THE_SPACE, halfvec([1, 2, 3, 4]), limit=10, ef=200
        ),
        "vectors": lambda s, rows: s.nearest.vectors(rows[0][2], THE_SPACE, ids(rows)),
        "distances": lambda s, rows: s.nearest.distances(
            rows[0][2], THE_SPACE, halfvec([1, 2, 3, 4]), keys(rows)
        ),
        "all vectors": lambda s, rows: s.nearest.whole(rows[0][2], THE_SPACE),
        "count vectors": lambda s, rows: s.nearest.count(rows[0][2], THE_SPACE, most=10),
        "count of documents": lambda s, rows: s.nearest.count(rows[0][2], THE_SPACE, most=10, **documents),
        "size of a space": lambda s, _rows: s.nearest.space_size(THE_SPACE),
        "largest of a space": lambda s, _rows: s.nearest.largest(THE_SPACE, most=10),
        "index": lambda s, _rows: s.nearest.index(THE_SPACE),
        "setting": lambda s, rows: s.hits.setting(rows[0][2]),
        "hits": lambda s, rows: s.hits.read(
            rows[0][2], keys(rows), space=THE_SPACE, vector=halfvec([1, 2, 3, 4])
        ),
        "hits with state": lambda s, rows: s.hits.read(
            rows[0][2], keys(rows), space=THE_SPACE, vector=halfvec([1, 2, 3, 4]), with_state=True
        ),
        "hits of documents": lambda s, rows: s.hits.of_documents(rows[0][2], [rows[0][3]], keys(rows)),
        "a chunk and its project": lambda s, rows: s.hits.one(rows[0][0], project_id=None),
        "beside": lambda s, rows: s.hits.beside(rows[0][2], ids(rows), count=2),
        "alike": lambda s, rows: s.hits.alike(rows[0][2], THE_SPACE, ids(rows), count=3, apart=1),
        "objects": lambda s, rows: s.hits.objects(rows[0][2], THE_SPACE, ids(rows), count=10, similarity=0.5),
        "some objects": lambda s, rows: s.hits.objects(
            rows[0][2], THE_SPACE, ids(rows), count=10, similarity=0.5, among=ids(rows)
        ),
        "waiting": lambda s, _rows: s.queue.waiting("whence:ingest"),
    }


def lexical_reads() -> dict[str, Read]:
    def keys(rows: Any) -> list[ChunkKey]:
        return [UUID(row[0]).bytes for row in rows[:100]]

    return {
        "segments": lambda s, rows: s.lexical.segments(rows[0][2]),
        "blocks": lambda s, rows: s.lexical.blocks(rows[0][2], [rows[0][3]]),
        "postings": lambda s, rows: s.lexical.postings(rows[0][2], [-5_500, 3, 7_700]),
        "whole segments": lambda s, rows: s.lexical.whole(rows[0][2]),
        "contents": lambda s, rows: s.lexical.contents(rows[0][2], keys(rows)),
        "chunks with a character": lambda s, rows: s.lexical.having(rows[0][2], "猫"),
        "chunks in order": lambda s, rows: s.lexical.following(rows[0][2], after=None, limit=64),
        "words": lambda s, rows: s.lexical.words(rows[0][2]),
        "earlier claims": lambda s, rows: s.graph.provenance.earlier(rows[0][2], UUID(rows[0][0])),
        "earlier relationships": lambda s, rows: s.graph.provenance.earlier_ties(
            rows[0][2], UUID(rows[0][0])
        ),
        "segments with words": lambda s, rows: s.lexical.worded(rows[0][2]),
        "named": lambda s, rows: s.hits.named(rows[0][2], ["d", "ulta"], most=21),
        "sample": lambda s, rows: s.backgrounds.sample(rows[0][2], SPACE, count=10),
        "references": lambda s, _rows: s.backgrounds.references(SPACE, digest=b"x"),
        "put_references": lambda s, _rows: s.backgrounds.put_references(SPACE, digest=b"x", vectors=b"y"),
        "language": lambda s, rows: s.lexical.language(rows[0][2]),
        "chunks of a document": lambda s, rows: s.chunks.ids_of_document(rows[0][2], rows[0][3]),
        "chunks of a job": lambda s, rows: s.chunks.ids_of_job(rows[0][2], UUID(rows[0][1])),
    }


def job_reads() -> dict[str, Read]:
    return {
        "one job": lambda s, rows: s.jobs.get(rows[0][1]),
        "one job of a project": lambda s, rows: s.jobs.get(rows[0][1], project_id=rows[0][2]),
        "many jobs": lambda s, rows: s.jobs.many(rows[0][2], [UUID(row[1]) for row in rows[:100]]),
        "jobs": lambda s, rows: s.jobs.page(rows[0][2], limit=20, offset=0),
        "hold jobs": lambda s, rows: s.jobs.hold_all(rows[0][2], rows[0][3]),
        "jobs, filtered": lambda s, rows: s.jobs.page(
            rows[0][2],
            limit=20,
            offset=0,
            status="completed",
            job_type="document_processing",
            document_id=rows[0][3],
        ),
        "extractions that wait": lambda s, rows: s.jobs.unbegun(rows[0][2], rows[0][3]),
        "staged vectors": lambda s, rows: s.staging.embedded(rows[0][2], UUID(rows[0][1]), SPACE),
    }


def evidence_reads() -> dict[str, Read]:
    document = partial(
        PagedDocument, name="d", mime="application/pdf", version=0, original_key=None, pages=(), length=1
    )
    layout = StoredLayout(1, 100.0, 100.0, 0, b"")
    return {
        "paged documents": lambda s, rows: s.evidence.documents(rows[0][2], [row[3] for row in rows[:100]]),
        "pieces of texts": lambda s, rows: s.evidence.pieces(
            rows[0][2], [TextSpan(row[3], 0, 1) for row in rows[:100]]
        ),
        "spans of chunks": lambda s, rows: s.evidence.of_chunks(
            rows[0][2], [UUID(row[0]) for row in rows[:100]]
        ),
        "spans of claims": lambda s, rows: s.evidence.of_claims(
            rows[0][2], [UUID(row[0]) for row in rows[:100]]
        ),
        "readers of chunks": lambda s, rows: s.evidence.readers(
            rows[0][2], [UUID(row[0]) for row in rows[:100]]
        ),
        "layouts": lambda s, rows: s.evidence.layouts(document(project_id=rows[0][2], id=rows[0][3]), [1, 2]),
        "put layout": lambda s, rows: s.evidence.put_layout(
            document(project_id=rows[0][2], id=rows[0][3]), layout
        ),
    }


def graph_reads() -> dict[str, Read]:
    found: dict[str, Read] = {
        "current schema": lambda s, rows: s.schemas.current(rows[0][2]),
        "one schema": lambda s, rows: s.schemas.get(rows[0][2], 2),
        "schemas between": lambda s, rows: s.schemas.between(rows[0][2], 1, 3),
        "schemas": lambda s, rows: s.schemas.page(rows[0][2], limit=20, offset=0),
        "no such object": lambda s, _rows: _absent(s.graph.objects.get(uuid4())),
        "no such relationship": lambda s, _rows: _absent(s.graph.relationships.get(uuid4())),
        "no such merge": lambda s, _rows: _absent(s.graph.merges.get(uuid4())),
        "merges": lambda s, rows: s.graph.merges.page(rows[0][2], limit=20, offset=0),
        "conflicts": lambda s, rows: s.graph.conflicts.page(rows[0][2], limit=20, offset=0),
        "conflicts of an object": lambda s, rows: s.graph.conflicts.page(
            rows[0][2], object_id=UUID(rows[0][0]), limit=20, offset=0
        ),
        "suggestions": lambda s, rows: s.graph.suggestions.page(rows[0][2], limit=20, offset=0),
        "sorted objects": lambda s, rows: s.graph.objects.page(
            rows[0][2],
            limit=20,
            offset=0,
            sort="claims",
            descending=True,
            updated_since=now(),
            ids=[UUID(row[0]) for row in rows[:100]],
        ),
        "many relationships": lambda s, rows: s.graph.relationships.many(rows[0][2], [UUID(rows[0][0])]),
        "relationships within documents": lambda s, rows: s.graph.relationships.around(
            rows[0][2], [UUID(rows[0][0])], document_ids=[rows[0][3]], limit=20
        ),
        "no such correction": lambda s, _rows: _absent(s.graph.curations.get(uuid4())),
        "corrections": lambda s, rows: s.graph.curations.page(rows[0][2], limit=20, offset=0),
        "corrections of an object": lambda s, rows: s.graph.curations.page(
            rows[0][2], object_id=UUID(rows[0][0]), limit=20, offset=0
        ),
        "many objects": lambda s, rows: s.graph.objects.many(rows[0][2], [UUID(row[0]) for row in rows]),
        "named objects": lambda s, rows: s.graph.objects.named(rows[0][2], ["a", "b"]),
        "numbered objects": lambda s, rows: s.graph.objects.numbered(rows[0][2], ["a", "b"]),
        "objects given by chunks": lambda s, rows: s.graph.objects.given_by(
            rows[0][2], [UUID(row[0]) for row in rows[:2]], limit=20
        ),
        "types": lambda s, rows: s.graph.objects.types(rows[0][2]),
        "similar": lambda s, rows: s.graph.objects.similar(
            rows[0][2], SPACE, halfvec([1, 2, 3, 4]), limit=10
        ),
        "lacking": lambda s, rows: s.graph.objects.lacking(rows[0][2], SPACE, limit=10),
        "neighbours": lambda s, rows: s.graph.views.neighbours(rows[0][2], [UUID(rows[0][0])]),
        "part": lambda s, rows: s.graph.views.part(rows[0][2]),
        "outline": lambda s, rows: s.graph.views.outline(rows[0][2], limit=100),
        "every object": lambda s, rows: _exhausted(s.graph.objects.every(rows[0][2])),
        "every relationship": lambda s, rows: _exhausted(s.graph.relationships.every(rows[0][2])),
    }
    for document in (False, True):

        def objects(s: Store, rows: Any, d: bool = document) -> Awaitable[Any]:
            return s.graph.objects.page(
                rows[0][2], limit=20, offset=0, name="a", document_id=rows[0][3] if d else None
            )

        found[f"objects {document=}"] = objects
        for ended in (False, True):

            def edges(s: Store, rows: Any, d: bool = document, e: bool = ended) -> Awaitable[Any]:
                return s.graph.relationships.page(
                    rows[0][2],
                    limit=20,
                    offset=0,
                    object_id=UUID(rows[0][0]) if e else None,
                    document_id=rows[0][3] if d else None,
                )

            found[f"relationships {document=} {ended=}"] = edges
    return found


def provenance_reads() -> dict[str, Read]:
    paged = {"limit": 20, "offset": 0}
    return {
        "claims": lambda s, rows: s.graph.provenance.of_object(rows[0][2], UUID(rows[0][0]), **paged),
        "current claims": lambda s, rows: s.graph.provenance.current(rows[0][2], [UUID(rows[0][0])]),
        "current claims within documents": lambda s, rows: s.graph.provenance.current(
            rows[0][2], [UUID(rows[0][0])], document_ids=[rows[0][3]]
        ),
        "claims of a chunk": lambda s, rows: s.graph.provenance.stated(
            rows[0][2], UUID(rows[0][0]), current=True, **paged
        ),
        "claims of a document": lambda s, rows: s.graph.provenance.stated(
            rows[0][2], rows[0][3], property_name="name", **paged
        ),
        "chunks of object": lambda s, rows: s.graph.provenance.chunks_of_object(
            rows[0][2], UUID(rows[0][0]), **paged
        ),
        "objects of chunk": lambda s, rows: s.graph.provenance.objects_of_chunk(
            rows[0][2], UUID(rows[0][0]), **paged
        ),
        "older claims": lambda s, rows: s.graph.provenance.older(rows[0][2], 2, **paged),
        "claims of relationships": lambda s, rows: s.graph.provenance.of_relationships(
            rows[0][2], [UUID(rows[0][0])], **paged
        ),
        "history": lambda s, rows: s.graph.provenance.history(rows[0][2], UUID(rows[0][0]), **paged),
        "current claims of relationships": lambda s, rows: s.graph.provenance.current_of_relationships(
            rows[0][2], [UUID(rows[0][0])]
        ),
        "claims of relationships within documents": lambda s, rows: (
            s.graph.provenance.current_of_relationships(
                rows[0][2], [UUID(rows[0][0])], document_ids=[rows[0][3]]
            )
        ),
        "next chunk": lambda s, rows: s.graph.ledger.next_chunk(
            rows[0][2], rows[0][3], UUID(rows[0][1]), stale_before=2
        ),
        "oldest reading": lambda s, rows: s.graph.ledger.oldest(rows[0][2], rows[0][3]),
        "counts": lambda s, rows: s.graph.ledger.counts(rows[0][2], UUID(rows[0][1])),
        "readings": lambda s, rows: s.graph.ledger.readings(rows[0][2], UUID(rows[0][1]), **paged),
        "stale": lambda s, rows: s.graph.ledger.stale(rows[0][2], 2, **paged),
        "stale of a document": lambda s, rows: s.graph.ledger.stale(
            rows[0][2], 2, document_id=rows[0][3], **paged
        ),
        "stale by version": lambda s, rows: s.graph.ledger.by_version(rows[0][2], 2),
        "stale by version of a document": lambda s, rows: s.graph.ledger.by_version(
            rows[0][2], 2, document_id=rows[0][3]
        ),
        "stale documents": lambda s, rows: s.graph.ledger.stale_documents(rows[0][2], 2),
        "impact on the graph": lambda s, rows: s.graph.deletion_impact(rows[0][2], rows[0][3]),
        "impact of a chunk": lambda s, rows: s.graph.deletion_impact(rows[0][2], UUID(rows[0][0])),
    }


async def _absent(asked: Awaitable[Any]) -> None:
    with pytest.raises(NotFound):
        await asked


async def _exhausted(items: AsyncIterator[Any]) -> None:
    async for _ in items:
        pass


def changes() -> dict[str, Read]:
    """Every way the store changes what is there; what they do is undone."""
    return {
        "lock": lambda s, rows: s.documents.lock(rows[0][2], rows[0][3]),
        "use job": lambda s, rows: s.documents.use_job(rows[0][2], rows[0][3], UUID(rows[0][1])),
        "use newest job": lambda s, rows: s.documents.use_newest_job(rows[0][2], rows[0][3]),
        "replace": lambda s, rows: s.documents.replace(
            rows[0][2],
            rows[0][3],
            job_id=UUID(rows[0][1]),
            original=Original(key="k", name="d", mime="text/plain", size=1, sha256=b"1"),
            valid_from=None,
            now=now(),
        ),
        "move document": _placed,
        "validators": lambda s, rows: s.documents.use_validators(
            rows[0][2],
            rows[0][3],
            Original(key="k", name="d", mime="text/plain", size=1, sha256=b"1", fetched={"etag": "x"}),
        ),
        "first start": lambda s, _rows: s.inventory.ensure_storage_id(),
        "inventory's rows": _inventory,
        "delete document": lambda s, rows: s.documents.delete(rows[0][2], rows[0][3]),
        "delete job": lambda s, rows: s.jobs.delete(rows[0][2], UUID(rows[0][1])),
        "keep project": lambda s, rows: s.projects.keep(rows[0][2]),
        "delete project": lambda s, rows: s.projects.delete(rows[0][2]),
        "change project": _renamed,
        "lightrag": _lightrag,
        "a job's way": _worked,
        "remove chunks": lambda s, rows: s.chunks.remove(rows[0][2], [UUID(row[0]) for row in rows[:100]]),
        "move chunks": _moved,
        "staged batches": _batches,
        "begin": _begun,
        "fill": lambda s, rows: s.vectors.fill(
            rows[0][2], SPACE, [UUID(rows[0][0])], np.ones((1, 4), np.float32), [1]
        ),
        "switch": _switched,
        "staged text": lambda s, rows: s.staging.text(
            rows[0][2], UUID(rows[0][1]), document_id=rows[0][3], sha256=b"1", mime="text/plain"
        ),
        "stage a text": lambda s, rows: s.staging.put_text(
            rows[0][2], UUID(rows[0][1]), mime="text/plain", text="long " * 200_000, pages=()
        ),
        "inherit": lambda s, rows: s.staging.inherit(
            rows[0][2], UUID(rows[0][1]), from_id=UUID(rows[1][1]), same_text=True
        ),
        "forget a space": lambda s, rows: s.vectors.forget(rows[0][2], SPACE),
        "clear": lambda s, rows: s.staging.clear(rows[0][2], UUID(rows[0][1])),
        "hold segments": lambda s, rows: s.lexical.hold(rows[0][2], [rows[0][3]]),
        "bury": lambda s, rows: s.lexical.bury(rows[0][2], rows[0][3], dead=b"xx", live=49, length=1),
        "drop segments": lambda s, rows: s.lexical.drop(rows[0][2], [rows[0][3]]),
        "clear segments": lambda s, rows: s.lexical.clear(rows[0][2]),
        "share the index": lambda s, rows: s.lexical.share(rows[0][2]),
        "claim the index": lambda s, rows: s.lexical.claim(rows[0][2]),
        "set language": lambda s, rows: s.lexical.set_language(rows[0][2], "german"),
        "defer": lambda s, _rows: s.queue.defer("whence:ingest", lock="x"),
        "defer once": lambda s, _rows: s.queue.defer_once("whence:compact", lock="x"),
        "give back": lambda s, _rows: s.queue.give_back(silence=15, worker_id=1, lost=[1]),
        "restore": lambda s, _rows: s.queue.restore(task="whence:ingest", job_type="document_processing"),
        "withdraw": lambda s, _rows: s.queue.withdraw("whence:ingest", lock="x"),
        "waits": lambda s, _rows: s.queue.waits("whence:ingest", lock="x"),
        "doing": lambda s, _rows: s.queue.doing(1),
        "fetch other": lambda s, _rows: s.queue.fetch_other("default", worker_id=1, full=["x"]),
        "revoke": lambda s, _rows: _unknown(s),
        "use of a key": lambda s, _rows: _used(s),
        "create a project": lambda s, _rows: s.projects.create(name="made"),
        "dismiss a suggestion": _dismissed,
        "first schema": lambda s, _rows: _first_schema(s),
        "forget failures": lambda s, rows: s.graph.ledger.forget_failures(rows[0][2], UUID(rows[0][1])),
        "outlive a job": lambda s, rows: s.graph.ledger.outlive(rows[0][2], UUID(rows[0][1])),
        "put schema": lambda s, rows: s.schemas.put(
            rows[0][2],
            body={"object_types": {"Thing": {"properties": {"tags": {"merge": "replace"}}}}},
            sha256=b"another",
        ),
        "write a chunk, merge, undo": _extracted,
        "set, reject, undo": _corrected,
        "withdrawn": _withdrawn,
        "withdraw chunks": lambda s, rows: s.graph.removal.chunks(
            rows[0][2], [UUID(row[0]) for row in rows[:100]]
        ),
        "withdraw replaced chunks": _replaced,
        "withdraw a document": lambda s, rows: s.graph.removal.chunks_of_document(rows[0][2], rows[0][3]),
        "conversations": _talked,
        "keep a version": lambda s, rows: s.versions.keep(rows[0][2], rows[0][3], job_id=UUID(rows[0][1])),
        "withdraw a job": lambda s, rows: s.graph.removal.chunks_of_job(rows[0][2], UUID(rows[0][1])),
    }


async def _entered(block: AbstractAsyncContextManager[Any]) -> None:
    async with block:
        pass


async def _talked(store: Store, rows: Any) -> None:
    """Begun, asked in, listed, rated, refreshed, renamed, deleted."""
    project_id, answer_id = rows[0][2], uuid4()
    paged: Any = {"limit": 20, "offset": 0}
    made = await store.conversations.create(project_id, EVERYONE)
    given: Any = {"asked": {}, "answer": {}, "title": "t"}
    ground = StoredCitation(number=0, chunk_id=UUID(rows[0][0]))
    await store.answers.add(project_id, made.id, answer_id=answer_id, grounds=[ground], **given)
    stored = await store.answers.get(answer_id, EVERYONE)
    await store.answers.add(
        project_id, made.id, answer_id=uuid4(), grounds=[ground], refreshed=stored, **given
    )
    await store.answers.rate(stored, {"rating": "up"})
    await store.answers.amend(project_id, answer_id, {"notes": []})
    for stale in (None, True, False):
        await store.answers.page(project_id, EVERYONE, stale=stale, **paged)
        await store.answers.page(project_id, EVERYONE, stale=stale, feedback="any", **paged)
    await store.conversations.page(project_id, EVERYONE, **paged)
    await store.conversations.get(made.id, EVERYONE)
    again = await store.conversations.create(project_id, EVERYONE)
    other_id = uuid4()
    await store.answers.add(project_id, again.id, answer_id=other_id, grounds=[ground], **given)
    await store.answers.delete(await store.answers.get(other_id, EVERYONE))
    await store.conversations.turns(project_id, made.id)
    await store.conversations.answers(made)
    await store.conversations.rename(made, "another")
    await store.conversations.delete(made)
    await store.conversations.delete_old(now() - timedelta(days=365))


async def _inventory(store: Store, rows: Any) -> None:
    key = f"{rows[0][2]}/left"
    await store.inventory.note([key])
    assert await store.inventory.share(rows[0][2], key)
    assert await store.inventory.claim(rows[0][2], [key]) == [key]
    assert not await store.inventory.share(rows[0][2], key)
    await store.inventory.forget(rows[0][2], [key])
    await store.inventory.note([key])
    await store.inventory.claim_leftovers(before=now())
    found = next(one for one in await store.inventory.trash() if one.key == key)
    await store.inventory.mark(found, "trashed")
    await store.inventory.mark(found, "kept")
    await store.inventory.forget(found.project_id, [found.key])


async def _extracted(store: Store, rows: Any) -> None:
    chunk_id, job_id, project_id, _ = rows[0]
    said = ChunkExtraction(
        project_id=project_id,
        chunk_id=UUID(chunk_id),
        job_id=UUID(job_id),
        schema_number=2,
        outcome="extracted",
        objects=[thing("One", color="red"), thing("Two", color="blue")],
        aliases=[FoundAlias(of=key("One"), alias="First", start_offset=0, end_offset=5)],
        relationships=[tie("One", "is", "Two")],
    )
    one, two = (await store.graph.write_chunk(said)).objects
    assert one is not None
    assert two is not None
    await store.graph.objects.put_vectors(project_id, SPACE, {two: [1, 2, 3, 4]})
    await store.graph.objects.forget_vectors(project_id, [two])
    again = replace(
        said, objects=[update(one, size=1)], relationships=[tie(one, "is", two), tie(two, "is", one)]
    )
    await store.graph.write_chunk(
        replace(again, chunk_id=UUID(rows[1][0]) if rows[1][2] == project_id else UUID(chunk_id))
    )
    await store.graph.write_chunk(replace(again, objects=[]))
    await store.graph.schema_moves.apply(
        project_id, PropertyMove(type="Thing", name="color", new_name="colour"), schema_number=3
    )
    await store.graph.schema_moves.apply(
        project_id, PropertyMove(type="Thing", name="colour"), schema_number=4
    )
    await store.graph.schema_moves.count_as_read(replace(said, schema_number=4), since=2)
    merge = await store.graph.merges.merge(project_id, keep_id=one, drop_id=two)
    await store.chunks.insert([another := _chunk(rows[0], 2000, new_id())])
    await store.graph.write_chunk(
        replace(said, chunk_id=another.id, objects=[thing("Three")], relationships=[tie(two, "is", "Three")])
    )
    await store.graph.merges.put_vectors(project_id, SPACE, {two: [1, 2, 3, 4]})
    await store.graph.merges.undo(project_id, merge.id)
    await _retyped(store, said)


async def _dismissed(store: Store, rows: Any) -> None:
    ends = [SuggestedObject(id=uuid4(), name=name, name_key=name) for name in "ab"]
    suggestion = MergeSuggestion(id=uuid4(), type="Thing", score=1, reasons={}, keep=ends[0], drop=ends[1])
    await store.graph.suggestions.dismiss(rows[0][2], suggestion)
    await store.graph.suggestions.restore(rows[0][2], suggestion)
    await _absent(store.graph.suggestions.get(rows[0][2], uuid4()))


async def _withdrawn(store: Store, rows: Any) -> None:
    """The chunk no longer says what it said before."""
    chunk_id, job_id, project_id, _ = rows[0]
    said = ChunkExtraction(
        project_id=project_id,
        chunk_id=UUID(chunk_id),
        job_id=UUID(job_id),
        schema_number=2,
        outcome="extracted",
        objects=[thing("Three", color="red"), thing("Four")],
        relationships=[tie("Three", "is", "Four", since=3)],
    )
    one, other = (await store.graph.write_chunk(said)).objects
    assert one is not None
    assert other is not None
    silent = replace(
        said,
        objects=(),
        relationships=(),
        outcome="empty",
        withdrawn=((one, "color"), (one, "name")),
        withdrawn_ties=(("is", one, other),),
    )
    await store.graph.write_chunk(silent)


async def _corrected(store: Store, rows: Any) -> None:
    """Everything is rejected, read again, restored and rejected again."""
    chunk_id, job_id, project_id, _ = rows[0]
    said = ChunkExtraction(
        project_id=project_id,
        chunk_id=UUID(chunk_id),
        job_id=UUID(job_id),
        schema_number=2,
        outcome="extracted",
        objects=[thing("One", color="red", size=1), thing("Two")],
        relationships=[tie("One", "is", "Two")],
    )
    written = await store.graph.write_chunk(said)
    one, tied, curations, ada = (
        written.objects[0],
        written.relationships[0],
        store.graph.curations,
        Word(author="Ada"),
    )
    assert one is not None
    assert tied is not None
    found, _ = await store.graph.provenance.of_object(project_id, one, limit=9, offset=0)
    claims_of = {claim.property_name: claim.id for claim in found}
    (was_set,) = await curations.set(project_id, one, {"color": "blue"}, ada)
    rejected = [
        await curations.reject_relationship(project_id, tied, ada),
        await curations.reject_claim(project_id, one, claims_of["color"], ada),
        await curations.reject_property(project_id, one, "size", ada),
        await curations.reject_claim(project_id, one, was_set.id, ada),
    ]
    await store.graph.write_chunk(said)
    await curations.undo(project_id, rejected[0].id, ada)
    rejected += [await curations.reject_claim(project_id, one, claims_of["name"], ada)]
    await curations.undo(project_id, rejected[-1].id, ada)
    gone = await curations.reject_object(project_id, one, ada)
    await store.graph.write_chunk(said)
    undone = await curations.undo(project_id, gone.id, ada)
    await curations.undo(project_id, undone.id, ada)


async def _replaced(store: Store, rows: Any) -> None:
    chunk_id, job_id, project_id, document_id = rows[0]
    said = ChunkExtraction(
        project_id=project_id,
        chunk_id=UUID(chunk_id),
        job_id=UUID(job_id),
        schema_number=2,
        outcome="extracted",
        objects=[thing("One")],
    )
    await store.graph.write_chunk(said)
    await store.graph.removal.replaced(project_id, document_id, [UUID(chunk_id)])


async def _retyped(store: Store, said: ChunkExtraction) -> None:
    """Types that are renamed and removed, each with something of its own to do it to."""
    items = [thing("Two", "Item"), thing("One", "Gone")]
    await store.graph.write_chunk(replace(said, objects=items, relationships=[]))
    project_id = said.project_id
    await store.graph.schema_moves.apply(
        project_id,
        RelationshipMove(type="is", new_type="is", renamed={"a": "b"}, removed=["c"]),
        schema_number=3,
    )
    await store.graph.schema_moves.apply(
        project_id, RelationshipMove(type="is", new_type="was"), schema_number=3
    )
    await store.graph.schema_moves.apply(project_id, RelationshipMove(type="was"), schema_number=4)
    await store.graph.schema_moves.apply(project_id, TypeMove(type="Gone"), schema_number=4)
    await store.graph.schema_moves.apply(project_id, TypeMove(type="Thing", new_type="Item"), schema_number=4)
    await store.graph.schema_moves.apply(project_id, TypeMove(type="Item", new_type="Thing"), schema_number=4)


async def _first_schema(store: Store) -> None:
    project = await store.projects.create(name="without a schema")
    await store.schemas.first(project.id, body={}, sha256=b"first")


async def _used(store: Store) -> None:
    key, _ = await store.keys.create(name="", scope="read", project_id=None)
    await store.keys.use(key.id, requests=1)
    await store.keys.note_use({key.id: now()})
    await store.audit.add(EVERYONE, action="x", path="/")
    await store.audit.prune(days=1)


async def _unknown(store: Store) -> None:
    with pytest.raises(NotFound):
        await store.keys.revoke("000000000000")


async def _renamed(store: Store, rows: Any) -> None:
    await store.projects.update(replace(await store.projects.get(rows[0][2]), name="another name"))


async def _lightrag(store: Store, rows: Any) -> None:
    project_id = rows[0][2]
    await store.lightrag.use_key(project_id, "http://x", "k")
    assert await store.lightrag.key(project_id, "http://x") == "k"
    assert await store.lightrag.key(project_id, "http://y") is None
    await store.lightrag.use_key(project_id, "http://x", None)
    document = await store.documents.get(rows[0][3])
    named = await store.lightrag.named(project_id, [document.name])
    assert document.id in named
    await store.lightrag.chunks_of_texts(project_id, ["a text"], named)


async def _placed(store: Store, rows: Any) -> None:
    document = await store.documents.get(rows[0][3])
    await store.documents.move(replace(document, name="another name", origin=None))


async def _begun(store: Store, rows: Any) -> None:
    document = await store.documents.get(rows[0][3])
    new = replace(document, id=uuid4(), sha256=uuid4().bytes * 2, current_job_id=uuid4())
    assert await store.documents.begin(new, config={}, task="whence:ingest")
    assert not await store.documents.begin(new, config={}, task="whence:ingest")


async def _batches(store: Store, rows: Any) -> None:
    async for _ in store.staging.batches(rows[0][2], UUID(rows[0][1]), SPACE):
        pass


async def _worked(store: Store, rows: Any) -> None:
    """Failed, tried again, taken, worked on, superseded, tried again, cancelled, ended."""
    job, run_id = await store.jobs.get(UUID(rows[0][1])), uuid4()
    with pytest.raises(Conflict):
        await store.jobs.retry(job)
    await store.jobs.take(job.project_id, job.id, run_id)
    await store.jobs.progress(job, run_id, Progress(stage="chunking"))
    batch = Batch.of([bytes(32)], [1], np.ones((1, 4), np.float32))
    await store.staging.put_vectors(job, run_id, Progress(stage="embedding"), space_id=SPACE, batch=batch)
    known: dict[str, Any] = {"space_id": SPACE, "sha256": b"1", "wanted": [bytes(32)]}
    await store.staging.put_known(job, run_id, Progress(stage="embedding"), **known)
    await store.documents.hold(job, run_id, SPACE)
    await store.jobs.amend(job, name="another")
    await store.jobs.note(job, run_id, schema_number=1, noted={})
    await store.jobs.end(job, run_id, "failed")
    await store.jobs.supersede(job.project_id, job.document_id)
    ids = [job.document_id]
    ordered = await store.jobs.order_extractions(
        job.project_id, ids, scope="all", space_id=SPACE, task="whence:extract"
    )
    parent = await store.jobs.parent(UUID(ordered[-1].config["parent"]), project_id=job.project_id)
    await store.jobs.cancel_parent(parent)
    with pytest.raises(Conflict):
        await store.jobs.cancel(job)


async def _moved(store: Store, rows: Any) -> None:
    await store.chunks.move(rows[0][2], [_chunk(rows[0], 1000, UUID(rows[0][0]))])


def _chunk(row: Any, index: int, ident: UUID) -> Chunk:
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


async def _switched(store: Store, rows: Any) -> None:
    other = await store.vectors.ensure_space(provider="test", model="other", dimensions=4)
    await store.vectors.move_to(rows[0][2], other.id)
    await store.vectors.first_space(rows[0][2], other)
    some = await store.vectors.following(rows[0][2], other.id, after=None, limit=1000)
    ids = [ident for ident, _ in some]
    await store.vectors.fill(rows[0][2], other.id, ids, np.ones((len(ids), 4), np.float32), [1] * len(ids))
    assert await store.vectors.switch(rows[0][2], new=other.id)


async def _parts(store: Store, document_id: Any) -> list[str]:
    span = await store.texts.span(document_id)
    # A document without a text has no parts; the statement runs all the same.
    some = span or texts.MeasuredSpan(
        project_id=document_id,
        document_id=document_id,
        version=0,
        characters=1,
        pages=(),
        start=0,
        end=1,
        size=1,
    )
    try:
        return [part async for part in store.texts.parts(some)]
    except Conflict:
        return []


async def _refused(store: Store) -> None:
    with pytest.raises(Unauthorized):
        await store.keys.authenticate("wh_000000000000_x")


class _Undone(Exception):
    pass


def scans(plan: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if "Relation Name" in plan and plan["Node Type"] != "ModifyTable":
        yield plan["Node Type"], plan["Relation Name"]
    for inner in plan.get("Plans", ()):
        yield from scans(inner)


async def test_every_statement_goes_by_an_index(watched: Watched) -> None:
    """A new statement in store/ fails here until something above runs it."""
    whole = {normal(statement) for statement in WHOLE}
    ran: set[str] = set()
    for name, run in (reads() | changes()).items():
        watched.plans.clear()
        with suppress(_Undone):
            async with watched.store.transaction() as tx:
                await run(tx, watched.rows)
                await watched.conn.execute("SELECT 1")  # a plan is told when the next statement comes
                raise _Undone
        assert watched.plans, name
        for plan in watched.plans:
            ran.add(statement := normal(plan["Query Text"]))
            for node, relation in scans(plan["Plan"]):
                good = statement in whole or relation in SMALL or "Index" in node or "Bitmap" in node
                assert good, (name, plan)
    for module in PLANNED:
        for label, text in statements(module):
            assert normal(text) in ran, f"{module.__name__}.{label}"


def statements(module: ModuleType) -> Iterator[tuple[str, str]]:
    for name, value in inspect.getmembers(module):
        if name.isupper() and not name.startswith("_"):
            for text in value.values() if isinstance(value, dict) else [value]:
                words = text.upper().split() if isinstance(text, str) else []
                if words[:1] in (["SELECT"], ["WITH"], ["UPDATE"], ["DELETE"]) or (
                    words[:1] == ["INSERT"] and "SELECT" in words
                ):
                    yield name, text


def normal(statement: str) -> str:
    """Without its parameters, which the driver numbers."""
    return " ".join(re.sub(r"%\(\w+\)s|\$\d+", "?", statement).split())
