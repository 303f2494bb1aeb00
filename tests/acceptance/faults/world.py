"""What the tests of faults look at, and how they hold things up."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, LiteralString

import psycopg
from tests.endpoint import Endpoint

from whence.store.originals import MARKER

if TYPE_CHECKING:
    from tests.acceptance.conftest import Installation


BATCH = 64


PATIENCE = 240.0


SMALL = {"chunkingOptions": '{"maxChunkSize": 100, "minChunkSize": 10}'}


def texts(endpoint: Endpoint) -> list[str]:
    return [text for request in endpoint.requests for text in request.inputs]


def repeated(endpoint: Endpoint) -> int:
    seen = texts(endpoint)
    return len(seen) - len(set(seen))


def asked(endpoint: Endpoint, times: int) -> bool:
    return len(endpoint.requests) == times


def count(database: psycopg.Connection, query: LiteralString) -> int:
    row = database.execute(query).fetchone()
    assert row is not None
    return int(row[0])


def let_time_pass(database: psycopg.Connection) -> None:
    """As if no worker had been heard of for a while: a test need not wait as long as a worker does."""
    database.execute("UPDATE queue.procrastinate_workers SET last_heartbeat = now() - interval '1 minute'")


@contextmanager
def held(database: psycopg.Connection, *statements: LiteralString) -> Iterator[None]:
    """What the statements lock stays locked for as long as the block lasts."""
    with psycopg.connect(database.info.dsn) as holding:
        for statement in statements:
            holding.execute(statement)
        yield
        holding.rollback()


def blocked(database: psycopg.Connection) -> int:
    return count(
        database,
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    )


def require_nothing_left(installation: "Installation", database: psycopg.Connection) -> None:
    """Neither of what jobs keep on their way nor of files that came in, and one original for each document."""
    assert count(database, "SELECT count(*) FROM kb.job_texts") == 0
    assert count(database, "SELECT count(*) FROM kb.job_vectors") == 0
    incoming = installation.data_dir / "incoming"
    assert not incoming.exists() or not list(incoming.iterdir())
    kept = {str(path.relative_to(installation.data_dir / "originals")) for path in originals(installation)}
    rows = database.execute("SELECT original_key FROM kb.documents").fetchall()
    assert kept == {row[0] for row in rows}


def originals(installation: "Installation") -> list[Path]:
    found = (installation.data_dir / "originals").rglob("*")
    return [path for path in found if path.is_file() and path.name != MARKER]
