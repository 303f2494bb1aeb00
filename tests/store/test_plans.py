"""Every statement goes by an index, whatever the size: plans are taken as they run, at 100,000 chunks."""

import inspect
import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from types import ModuleType
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from tests.conftest import TEMPLATE
from tests.emptying import WITHOUT_TRIGGERS
from tests.store.plan_changes import changes
from tests.store.plan_database import FILL
from tests.store.plan_reads import reads

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
from whence.store.connection import Connection, configure
from whence.store.graph import (
    aliases,
    claim_moves,
    claims,
    conflicts,
    curation,
    curation_moves,
    impact,
    known_claims,
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
from whence.store.pool import Row, Transaction

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
    known_claims,
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
    lightrag.PROJECTS,
    queue.WORKER_BEATS,
    *INVENTORY_WHOLE,
    vector_search.INDEXES,
    vector_search.SIZE,
    vector_search.LARGEST,
}
"""Statements about a whole table: small tables, the nightly search for leftover originals, and the questions at the
start and before an index of a whole space is made."""


@pytest.fixture(scope="module")
def full(postgres: Any) -> Iterator[str]:
    """A database with 100,000 chunks in 2,000 documents of 1,000 projects."""
    name = "plans"
    with psycopg.connect(postgres.bootstrap_dsn, autocommit=True) as conn:
        conn.execute(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}")
        dsn = make_conninfo(postgres.bootstrap_dsn, dbname=name)
        with psycopg.connect(dsn, autocommit=True, options=WITHOUT_TRIGGERS) as inside:
            inside.execute(FILL)
            inside.execute("ANALYZE")
        yield dsn
        conn.execute(f"DROP DATABASE {name} WITH (FORCE)")


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
    unseen = [
        f"{module.__name__}.{label}"
        for module in PLANNED
        for label, text in statements(module)
        if normal(text) not in ran
    ]
    assert unseen == []


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
