"""`whence import lightrag`: directories made by lightrag-hku 1.5.7 (new) and 1.4.8.2 (old) with a scripted model."""

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from tests.acceptance.conftest import WaitFor
from tests.graphs import require_sound

if TYPE_CHECKING:
    from tests.acceptance.conftest import Installation

DIRECTORIES = Path(__file__).parents[1] / "files" / "lightrag"
NAMES = ["Ada Quill", "Bergen", "Billing Service", "Ledger Store", "Team Heron"]
CLAIMS = """
SELECT o.name, p.operation, p.quote FROM kb.object_provenance p JOIN kb.graph_objects o ON o.id = p.object_id
JOIN kb.chunks c ON c.id = p.chunk_id
WHERE p.property_name = 'name' AND c.text LIKE '# Billing%' ORDER BY o.name
"""


@pytest.fixture
def hosted(hosted: "Installation") -> "Installation":
    hosted.env["WHENCE_EMBEDDER"] = "hash"
    return hosted


def rows(database: psycopg.Connection) -> dict[str, list[Any]]:
    tables = ("documents", "chunks", "jobs", "schemas", "graph_objects", "relationships", "object_provenance")
    return {
        name: database.execute(f"SELECT t::text FROM kb.{name} t ORDER BY 1").fetchall() for name in tables
    }


@pytest.mark.parametrize("version", ["new", "old"])
def test_import(version: str, hosted: "Installation", database: psycopg.Connection, dsn: str) -> None:
    """What a chunk names is placed on it with its quote; the rest is listed and left out. Again changes nothing."""
    folder = str(DIRECTORIES / version)
    before = rows(database)
    plan = hosted.json("import", "lightrag", folder, "--dry-run")
    assert (plan["entities"], plan["placed_entities"], plan["relations"], plan["placed_relations"]) == (
        6,
        5,
        3,
        2,
    )
    assert rows(database) == before

    done = hosted.run("import", "lightrag", folder)
    assert done.stdout.endswith("2 ingested; 2 chunks.\nPlaced 5 of 6 entities and 2 of 3 relations.\n")
    assert done.stderr == "not placed: Zorblax\nnot placed: Billing Service - Zorblax\n"
    assert sorted(one["name"] for one in hosted.json("objects", "list")) == NAMES
    claims = database.execute(CLAIMS).fetchall()
    assert [(name, quote) for name, _, quote in claims] == [(name, name) for name in (NAMES[0], *NAMES[2:4])]
    assert {operation for _, operation, _ in claims} <= {"imported", "confirmed"}
    assert ("Billing Service", "imported", "Billing Service") in claims
    require_sound(dsn)
    assert all(job["status"] == "completed" for job in hosted.json("jobs", "list"))

    after = rows(database)
    assert "2 unchanged; 2 chunks." in hosted.run("import", "lightrag", folder).stdout
    assert rows(database) == after


def test_killed(hosted: "Installation", database: psycopg.Connection, dsn: str, wait_for: WaitFor) -> None:
    folder = str(DIRECTORIES / "new")
    waits = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'kb.chunk_extractions'::regclass"
    with psycopg.connect(dsn) as holding:
        holding.execute("LOCK TABLE kb.chunk_extractions IN EXCLUSIVE MODE")
        running = hosted.start("import", "lightrag", folder)
        wait_for(lambda: database.execute(waits).fetchone() != (0,), "the graph to be written")
        os.kill(running.pid, signal.SIGKILL)
        running.communicate(60)
    assert hosted.run("import", "lightrag", folder).stdout.endswith(
        "Placed 5 of 6 entities and 2 of 3 relations.\n"
    )
    require_sound(dsn)
    assert database.execute("SELECT count(*) FROM kb.jobs WHERE type = 'extraction'").fetchone() == (2,)


def test_no_directory(hosted: "Installation") -> None:
    said = hosted.refused("import", "lightrag", str(hosted.folder), code=1)
    assert "is no working directory of LightRAG: it has no kv_store_full_docs.json" in said
