"""Every read goes by an index, whatever the size: plans are taken as they run, at 100,000 chunks."""

import inspect
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from types import ModuleType
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from whence.errors import Unauthorized
from whence.store import Store, chunks, keys, projects, queue, vectors
from whence.store.pool import Connection, Row, Transaction, configure

PROJECTS = 1_000
DOCUMENTS = 2_000
CHUNKS = 100_000

SMALL = {"api_keys", "embedding_spaces", "procrastinate_workers"}
"""Tables of a few rows, where reading all of it is the best plan."""

WHOLE = {keys.SELECT_ALL, keys.ANY_ACTIVE, projects.COUNT, queue.WORKER_BEATS}
"""Statements that are about the whole of a small table."""


@pytest.fixture(scope="module")
def full(postgres: Any, template: str) -> Iterator[str]:
    """A database with 100,000 chunks in 2,000 documents of 1,000 projects."""
    name = "plans"
    with psycopg.connect(postgres.dsn, autocommit=True) as conn:
        conn.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        dsn = make_conninfo(postgres.dsn, dbname=name)
        with psycopg.connect(dsn, autocommit=True) as inside:
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
INSERT INTO kb.jobs (project_id, id, document_id, type, name, status, file_name, file_type, file_size, created_at)
SELECT project_id, ident('job', row_number() OVER (ORDER BY id)), id, 'document_processing', 'd', 'completed', 'd',
'text/plain', 1, now() FROM kb.documents;
INSERT INTO kb.chunks (project_id, id, document_id, job_id, chunk_index, content, content_hash, metadata, created_at)
SELECT j.project_id, gen_random_uuid(), j.document_id, j.id, c, repeat('word ', 40), sha256(c::text::bytea), '{{}}', now()
FROM kb.jobs j, generate_series(0, {CHUNKS // DOCUMENTS - 1}) c;
INSERT INTO kb.chunk_vectors SELECT project_id, id, ident('space', 1), '[1,2,3,4]' FROM kb.chunks;
"""


class Watched:
    """Runs a store on one connection and keeps the plan of every statement, as auto_explain tells it."""

    def __init__(self, conn: Connection, rows: list[Row]) -> None:
        self.store = Store(Transaction(conn))
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
            "SELECT id::text, job_id::text, project_id FROM kb.chunks ORDER BY id LIMIT 300"
        )
        rows = await asked.fetchall()
        await configure(conn)
        await conn.execute("LOAD 'auto_explain'")
        for name, value in (
            ("auto_explain.log_min_duration", "0"),
            ("auto_explain.log_format", "json"),
            ("auto_explain.log_level", "notice"),
        ):
            await conn.execute("SELECT set_config(%s, %s, false)", [name, value])
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
    found["project"] = lambda s, rows: s.projects.get(rows[0][2])
    found["project by name"] = lambda s, _rows: s.projects.named("project 7")
    found["projects"] = lambda s, _rows: s.projects.page(limit=20, offset=0)
    found["key"] = lambda s, _rows: _refused(s)
    found["keys"] = lambda s, _rows: s.keys.all()
    found["any key"] = lambda s, _rows: s.keys.any_active()
    found["space"] = lambda s, _rows: s.vectors.ensure_space(provider="test", model="ramp", dimensions=4)
    found["worker"] = lambda s, _rows: s.queue.worker_alive()
    return found


async def _refused(store: Store) -> None:
    with pytest.raises(Unauthorized):
        await store.keys.authenticate("wh_000000000000_x")


def scans(plan: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if "Relation Name" in plan:
        yield plan["Node Type"], plan["Relation Name"]
    for inner in plan.get("Plans", ()):
        yield from scans(inner)


@pytest.mark.parametrize("name", reads())
async def test_every_read_goes_by_an_index(watched: Watched, name: str) -> None:
    await reads()[name](watched.store, watched.rows)
    assert watched.plans
    for plan in watched.plans:
        if plan["Query Text"] in WHOLE:
            continue
        for node, relation in scans(plan["Plan"]):
            if relation not in SMALL:
                assert "Index" in node or "Bitmap" in node, plan


async def test_every_statement_that_reads_was_planned(watched: Watched) -> None:
    """A new SELECT in store/ fails here until a read above runs it."""
    for read in reads().values():
        await read(watched.store, watched.rows)
    ran = {normal(plan["Query Text"]) for plan in watched.plans}
    for module in (chunks, keys, projects, queue, vectors):
        for label, statement in statements(module):
            assert normal(statement) in ran, f"{module.__name__}.{label}"


def statements(module: ModuleType) -> Iterator[tuple[str, str]]:
    for name, value in inspect.getmembers(module):
        if name.isupper() and not name.startswith("_"):
            for text in value.values() if isinstance(value, dict) else [value]:
                if isinstance(text, str) and text.strip().upper().startswith(("SELECT", "WITH")):
                    yield name, text


def normal(statement: str) -> str:
    """Without its parameters, which the driver numbers."""
    return " ".join(re.sub(r"%\(\w+\)s|\$\d+", "?", statement).split())
