"""What the schema promises: tenants by project_id first, no triggers, the tables of the design, the seed's provenance."""

from typing import Any, LiteralString

import psycopg
import pytest

UNTENANTED = {"embedding_spaces", "projects", "api_keys", "alembic_version", "storage", "audit", "key_usage"}

KEYS: LiteralString = """
SELECT c.conrelid::regclass::text, c.conname, c.contype::text,
       (SELECT attname FROM pg_attribute WHERE attrelid = c.conrelid AND attnum = c.conkey[1]) AS first_column,
       c.confrelid::regclass::text,
       (SELECT attname FROM pg_attribute WHERE attrelid = c.confrelid AND attnum = c.confkey[1]) AS refers_to
FROM pg_constraint c JOIN pg_namespace n ON n.oid = c.connamespace
WHERE n.nspname = 'kb' AND c.contype IN ('p', 'u', 'f')
"""
UNIQUE_INDEXES: LiteralString = """
SELECT i.indrelid::regclass::text, i.indexrelid::regclass::text,
       (SELECT attname FROM pg_attribute WHERE attrelid = i.indrelid AND attnum = i.indkey[0])
FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'kb' AND i.indisunique
"""


@pytest.fixture
def ask(dsn: str) -> Any:
    def ask(query: LiteralString) -> list[tuple[Any, ...]]:
        with psycopg.connect(dsn) as conn:
            return conn.execute(query).fetchall()

    return ask


def test_the_tables_of_the_design(ask: Any) -> None:
    tables = {row[0] for row in ask("SELECT tablename FROM pg_tables WHERE schemaname = 'kb'")}
    assert tables == UNTENANTED | {
        "documents",
        "jobs",
        "chunks",
        "chunk_vectors",
        "object_vectors",
        "schemas",
        "graph_objects",
        "relationships",
        "object_provenance",
        "relationship_provenance",
        "chunk_extractions",
        "job_texts",
        "job_vectors",
        "object_merges",
        "dismissed_merges",
        "object_aliases",
        "remembered_objects",
        "hidden_claims",
        "hidden_relationship_claims",
        "replaced_lists",
        "curations",
        "rejected_texts",
        "rejected_claims",
        "rejected_relationship_claims",
        "lexical_segments",
        "backgrounds",
        "lexical_words",
        "lexical_blocks",
        "stored_originals",
        "conversations",
        "answers",
        "answer_grounds",
        "page_layouts",
        "document_versions",
        "lightrag_keys",
    }


def test_every_key_of_a_tenant_begins_with_its_project(ask: Any) -> None:
    checked = 0
    for table, name, kind, first, target, refers_to in ask(KEYS):
        if table.removeprefix("kb.") in UNTENANTED or target == "kb.embedding_spaces":
            continue
        assert first == "project_id", name
        if kind == "f":
            assert refers_to == ("id" if target == "kb.projects" else "project_id"), name
        checked += 1
    assert checked > 25


def test_every_unique_index_of_a_tenant_begins_with_its_project(ask: Any) -> None:
    for table, name, first in ask(UNIQUE_INDEXES):
        assert table.removeprefix("kb.") in UNTENANTED or first == "project_id", name


def test_every_tenant_has_a_primary_key(ask: Any) -> None:
    keyed = {row[0] for row in ask(KEYS) if row[2] == "p"}
    tables = {"kb." + row[0] for row in ask("SELECT tablename FROM pg_tables WHERE schemaname = 'kb'")}
    assert keyed == tables


def test_no_foreign_key_sets_null(ask: Any) -> None:
    """ON DELETE SET NULL does not distribute."""
    query: LiteralString = """
        SELECT conname FROM pg_constraint WHERE connamespace = 'kb'::regnamespace AND confdeltype IN ('n', 'd')"""
    assert not ask(query)


def test_no_triggers(ask: Any) -> None:
    query: LiteralString = """
        SELECT t.tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
        WHERE c.relnamespace = 'kb'::regnamespace AND NOT t.tgisinternal"""
    assert not ask(query)


def test_no_default_makes_an_id_or_a_time_but_the_seeds(ask: Any) -> None:
    query: LiteralString = """
        SELECT table_name, column_name, column_default FROM information_schema.columns
        WHERE table_schema = 'kb' AND column_default ~* 'now|timestamp|uuid|random|nextval'"""
    seeds = {("object_provenance", "id", "gen_random_uuid()"), ("object_provenance", "extracted_at", "now()")}
    assert set(ask(query)) == seeds


def test_what_a_job_staged_goes_with_it(ask: Any) -> None:
    query: LiteralString = """
        SELECT conrelid::regclass::text FROM pg_constraint
        WHERE confrelid = 'kb.jobs'::regclass AND confdeltype = 'c'"""
    assert {"kb.job_texts", "kb.job_vectors", "kb.chunks"} <= {row[0] for row in ask(query)}


def test_what_was_read_goes_with_its_chunk_and_not_with_its_job(ask: Any) -> None:
    query: LiteralString = """
        SELECT confrelid::regclass::text, confdeltype::text FROM pg_constraint
        WHERE conrelid = 'kb.chunk_extractions'::regclass AND contype = 'f'"""
    assert ask(query) == [("kb.chunks", "c")]


def test_chunks_may_change_places_within_a_statement(ask: Any) -> None:
    query: LiteralString = """
        SELECT condeferrable, condeferred, pg_get_constraintdef(oid) FROM pg_constraint
        WHERE conname = 'chunks_position'"""
    ((deferrable, deferred, definition),) = ask(query)
    assert (deferrable, deferred) == (True, False)
    assert definition.startswith("UNIQUE (project_id, document_id, chunk_index)")


def test_a_look_up_by_bare_id_has_an_index(ask: Any) -> None:
    query: LiteralString = """
        SELECT i.indrelid::regclass::text FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
        WHERE c.relnamespace = 'kb'::regnamespace AND i.indnatts = 1
          AND (SELECT attname FROM pg_attribute WHERE attrelid = c.oid AND attnum = i.indkey[0]) = 'id'"""
    indexed = {row[0] for row in ask(query)}
    assert {
        "kb.documents",
        "kb.jobs",
        "kb.chunks",
        "kb.graph_objects",
        "kb.relationships",
        "kb.object_merges",
    } <= indexed


def test_provenance_has_the_seeds_columns(ask: Any) -> None:
    query: LiteralString = """
        SELECT column_name, is_nullable FROM information_schema.columns
        WHERE table_schema = 'kb' AND table_name = 'object_provenance'"""
    nullable = dict(ask(query))
    seed = ("object_id", "chunk_id", "property_name", "operation", "schema_version", "extracted_at")
    for column in ("id", *seed):
        assert nullable[column] == "NO", column
    assert "value" in nullable


def test_provenance_has_the_seeds_key_and_indexes(ask: Any) -> None:
    query: LiteralString = """
        SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'kb' AND tablename = 'object_provenance'"""
    indexes = dict(ask(query))
    assert "UNIQUE" in indexes["uq_object_chunk_property"]
    assert indexes["uq_object_chunk_property"].endswith("(project_id, object_id, chunk_id, property_name)")
    assert indexes["idx_provenance_object"].endswith("(object_id)")
    assert indexes["idx_provenance_chunk"].endswith("(chunk_id)")
    assert indexes["idx_provenance_schema"].endswith("(schema_version)")


def test_provenance_knows_four_operations(ask: Any) -> None:
    query: LiteralString = """
        SELECT pg_get_constraintdef(oid) FROM pg_constraint
        WHERE conrelid = 'kb.object_provenance'::regclass AND contype = 'c'"""
    (check,) = [row[0] for row in ask(query)]
    assert "created" in check
    assert "updated" in check
    assert "confirmed" in check
    assert "imported" in check


def test_the_queue_is_beside_it(ask: Any) -> None:
    tables = {row[0] for row in ask("SELECT tablename FROM pg_tables WHERE schemaname = 'queue'")}
    assert {"procrastinate_jobs", "procrastinate_workers", "procrastinate_events"} <= tables
