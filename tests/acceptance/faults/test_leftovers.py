"""A process is killed between two steps that concern originals. Nothing needed is gone; nothing needless stays for good.

docs/operations.md#what-a-crash-leaves-behind has what an operator needs to know of it.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, LiteralString

import httpx
import psycopg
import pytest
from tests.acceptance.faults.world import PATIENCE, blocked, count, held
from tests.client import Client
from tests.s3 import Bucket

from whence.store.originals import MARKER

if TYPE_CHECKING:
    from tests.acceptance.conftest import Installation, Serving, WaitFor

TEXT = b"The heron waits."
REMOVE = "POST DELETE"
"""Objects are deleted one by one, or many at once."""

LEFTOVERS: LiteralString = "SELECT count(*) FROM kb.stored_originals"


@pytest.fixture
def bucket() -> Iterator[Bucket]:
    with Bucket() as opened:
        yield opened


@pytest.fixture
def hosted(hosted: "Installation", bucket: Bucket) -> "Installation":
    hosted.env |= {"WHENCE_EMBEDDER": "hash", **bucket.environment}
    return hosted


class Stop:
    """Holds the first request of a kind, and never carries it out: the server that sent it is killed."""

    def __init__(self, bucket: Bucket, methods: str, part: str = "") -> None:
        self.reached, self._go_on = threading.Event(), threading.Event()
        self._bucket = bucket

        def hold(handler: Any) -> bool:
            if handler.command not in methods.split() or part not in handler.key:
                return False
            self.reached.set()
            self._go_on.wait(PATIENCE)
            return True

        bucket.trouble = hold

    def kill(self, serving: "Serving") -> None:
        assert self.reached.wait(PATIENCE)
        serving.end(signal.SIGKILL)
        self._bucket.trouble = None
        self._go_on.set()


def in_background(work: Callable[[], object]) -> ThreadPoolExecutor:
    """The answer never comes: the server is killed before."""

    def run() -> None:
        with suppress(httpx.TransportError, AssertionError):
            work()

    pool = ThreadPoolExecutor(1)
    pool.submit(run)
    return pool


def terminate_blocked(database: psycopg.Connection) -> None:
    """PostgreSQL carries out a statement that waits for a lock, though its client is dead."""
    database.execute(
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
        "WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )


def originals(bucket: Bucket) -> dict[str, bytes]:
    found = {key.removeprefix("whence/"): content for key, content in bucket.objects.items()}
    return {key: content for key, content in found.items() if key != MARKER}


def upload(client: Client, text: bytes = TEXT, name: str = "heron.txt") -> dict[str, str]:
    return client.upload(text, name, wait="true")


def let_pass(database: psycopg.Connection, bucket: Bucket, days: int) -> None:
    """As if what happened so far had happened some days ago; the trash is named by the day."""
    rows = database.execute("SELECT key, trashed_at FROM kb.stored_originals").fetchall()
    for key, trashed_at in rows:
        if trashed_at is not None:
            earlier = trashed_at.fromtimestamp(trashed_at.timestamp() - days * 86400, trashed_at.tzinfo)
            moved = bucket.objects.pop(f"whence/trash/{trashed_at:%Y-%m-%d}/{key}", None)
            if moved is not None:
                bucket.objects[f"whence/trash/{earlier:%Y-%m-%d}/{key}"] = moved
    database.execute("SET TIME ZONE 'UTC'")
    database.execute(
        "UPDATE kb.stored_originals SET noted_at = noted_at - make_interval(days => %s), "
        "trashed_at = trashed_at - make_interval(days => %s)",
        [days, days],
    )


def require_all_goes(
    hosted: "Installation",
    bucket: Bucket,
    database: psycopg.Connection,
    wait_for: "WaitFor",
    *,
    needed: dict[str, bytes],
) -> None:
    """What is needed stays; the rest is in the trash two days later, and gone ten days later."""
    database.execute("SET TIME ZONE 'UTC'")
    let_pass(database, bucket, 2)
    first = hosted.serve().ready()
    settled: LiteralString = (
        "SELECT count(*) FROM kb.stored_originals WHERE trashed_at IS NULL OR state = 'moving'"
    )
    wait_for(lambda: count(database, settled) == len(needed), "leftovers to be in the trash")
    kept = {key: content for key, content in originals(bucket).items() if not key.startswith("trash/")}
    assert kept == needed
    first.end()
    let_pass(database, bucket, 8)
    hosted.serve().ready()
    wait_for(lambda: count(database, LEFTOVERS) == len(needed), "the trash to be emptied")
    assert originals(bucket) == needed


def test_upload_before_the_object_is_written(
    hosted: "Installation", bucket: Bucket, database: psycopg.Connection, wait_for: "WaitFor"
) -> None:
    serving = hosted.serve().ready()
    client = Client(serving.url)
    stop = Stop(bucket, "PUT", "-")
    with in_background(lambda: upload(client)):
        stop.kill(serving)
    assert (originals(bucket), count(database, LEFTOVERS)) == ({}, 1)
    require_all_goes(hosted, bucket, database, wait_for, needed={})


def test_upload_before_the_document_is_stored(
    hosted: "Installation", bucket: Bucket, database: psycopg.Connection, wait_for: "WaitFor"
) -> None:
    serving = hosted.serve().ready()
    client = Client(serving.url)
    locked = held(database, "LOCK TABLE kb.documents IN SHARE ROW EXCLUSIVE MODE")
    with locked, in_background(lambda: upload(client)):
        wait_for(lambda: bool(originals(bucket)) and blocked(database) > 0, "the upload to be held up")
        serving.end(signal.SIGKILL)
        terminate_blocked(database)
    assert count(database, "SELECT count(*) FROM kb.documents") == 0
    require_all_goes(hosted, bucket, database, wait_for, needed={})


def test_delete_before_the_object_is_removed(
    hosted: "Installation", bucket: Bucket, database: psycopg.Connection, wait_for: "WaitFor"
) -> None:
    serving = hosted.serve().ready()
    client = Client(serving.url)
    item = upload(client)
    other = upload(client, b"The bittern booms.", "bittern.txt")
    needed = {key: text for key, text in originals(bucket).items() if other["documentId"] in key}
    stop = Stop(bucket, REMOVE)
    with in_background(
        lambda: httpx.delete(f"{client.url}/api/v1/documents/{item['documentId']}", timeout=60)
    ):
        stop.kill(serving)
    assert len(originals(bucket)) == 2
    assert count(database, "SELECT count(*) FROM kb.documents") == 1
    require_all_goes(hosted, bucket, database, wait_for, needed=needed)


def test_delete_before_the_row_is_removed(
    hosted: "Installation", bucket: Bucket, database: psycopg.Connection, wait_for: "WaitFor"
) -> None:
    serving = hosted.serve().ready()
    client = Client(serving.url)
    project = client.post("/projects", name="birds").json()["data"]["id"]
    client.upload(TEXT, "heron.txt", wait="true", projectId=project)
    delete = partial(httpx.delete, f"{client.url}/api/v1/projects/{project}", timeout=PATIENCE)
    with ExitStack() as stack:

        def lock(handler: Any) -> bool:
            """The row is locked when the object is about to go, not before: it is marked first."""
            if handler.command in REMOVE.split():
                bucket.trouble = None
                stack.enter_context(held(database, "SELECT FROM kb.stored_originals FOR UPDATE"))
            return False

        bucket.trouble = lock
        stack.enter_context(in_background(delete))
        wait_for(lambda: not originals(bucket) and blocked(database) > 0, "the row to be waited for")
        serving.end(signal.SIGKILL)
        terminate_blocked(database)
    assert count(database, LEFTOVERS) == 1
    require_all_goes(hosted, bucket, database, wait_for, needed={})


def test_update_before_the_old_version_is_removed(
    hosted: "Installation", bucket: Bucket, database: psycopg.Connection, wait_for: "WaitFor"
) -> None:
    serving = hosted.serve().ready()
    client = Client(serving.url)
    item = upload(client)
    (old,) = originals(bucket)
    stop = Stop(bucket, REMOVE)
    path = f"{client.url}/api/v1/documents/{item['documentId']}"
    assert httpx.put(path, json={"text": "The bittern booms."}, timeout=PATIENCE).status_code == 202
    stop.kill(serving)
    needed = {key: content for key, content in originals(bucket).items() if key != old}
    assert list(needed.values()) == [b"The bittern booms."]
    require_all_goes(hosted, bucket, database, wait_for, needed=needed)
    assert Client(hosted.serving[-1].url).file(item["documentId"]) == b"The bittern booms."


@pytest.mark.parametrize("step", [("PUT", "trash/"), (REMOVE, "")], ids=["copy", "remove"])
def test_on_the_way_into_the_trash(
    step: tuple[str, str],
    hosted: "Installation",
    bucket: Bucket,
    database: psycopg.Connection,
    wait_for: "WaitFor",
) -> None:
    """A move in a bucket is a copy and a deletion."""
    serving = hosted.serve().ready()
    client = Client(serving.url)
    item = upload(client)
    needed = originals(bucket)
    left = f"{next(iter(needed)).rpartition('/')[0]}/00000000-0000-7000-8000-00000000000a"
    bucket.objects[f"whence/{left}"] = b"Left behind."
    database.execute(
        "INSERT INTO kb.stored_originals VALUES (%s, %s, now() - interval '2 days', 'kept', NULL)",
        [left.partition("/")[0], left],
    )
    serving.end()
    stop = Stop(bucket, *step)
    stop.kill(hosted.serve())
    assert count(database, "SELECT count(*) FROM kb.stored_originals WHERE state = 'moving'") == 1
    assert b"Left behind." in originals(bucket).values()
    require_all_goes(hosted, bucket, database, wait_for, needed=needed)
    assert Client(hosted.serving[-1].url).file(item["documentId"]) == TEXT


def test_the_first_start_before_the_marker_is_written(
    hosted: "Installation", bucket: Bucket, database: psycopg.Connection
) -> None:
    stop = Stop(bucket, "PUT", MARKER)
    stop.kill(hosted.serve())
    assert (bucket.objects, count(database, "SELECT count(*) FROM kb.storage")) == ({}, 1)
    assert upload(Client(hosted.serve().ready().url))["status"] == "completed"
    assert hosted.json("storage", "status")["bond"] == "bound"


def test_two_servers_on_one_storage(
    hosted: "Installation", bucket: Bucket, database: psycopg.Connection, wait_for: "WaitFor"
) -> None:
    """Of one database they share it; one that is killed leaves nothing that the other does not remove."""
    first, second = hosted.serve().ready(), hosted.serve().ready()
    kept = upload(Client(second.url), b"The bittern booms.", "bittern.txt")
    needed = originals(bucket)
    stop = Stop(bucket, "PUT", "-")
    with in_background(lambda: upload(Client(first.url))):
        stop.kill(first)
    assert Client(second.url).file(kept["documentId"]) == b"The bittern booms."
    second.end()
    require_all_goes(hosted, bucket, database, wait_for, needed=needed)


def test_restore_before_the_database_is_replaced(
    hosted: "Installation", bucket: Bucket, database: psycopg.Connection, wait_for: "WaitFor"
) -> None:
    """And then before the marker is written: each time the next start finds everything."""
    serving = hosted.serve().ready()
    item = upload(Client(serving.url))
    needed = originals(bucket)
    serving.end()
    file = str(hosted.folder / "whence.tar")
    hosted.run("backup", file)
    bucket.objects.clear()
    with held(database, "LOCK TABLE kb.chunks IN ACCESS SHARE MODE"):
        restoring = hosted.start("restore", "--force", file)
        wait_for(lambda: blocked(database) > 0, "the database to be replaced")
        restoring.kill()
        restoring.communicate()
        terminate_blocked(database)
    assert (originals(bucket), count(database, "SELECT count(*) FROM kb.documents")) == (needed, 1)

    stop = Stop(bucket, "PUT", MARKER)
    restoring = hosted.start("restore", "--force", file)
    assert stop.reached.wait(PATIENCE)
    restoring.kill()
    restoring.communicate()
    bucket.trouble = None
    require_all_goes(hosted, bucket, database, wait_for, needed=needed)
    assert Client(hosted.serving[-1].url).file(item["documentId"]) == TEXT


def test_out_of_the_trash_before_the_row_is_removed(
    hosted: "Installation", bucket: Bucket, database: psycopg.Connection, wait_for: "WaitFor"
) -> None:
    serving = hosted.serve().ready()
    item = upload(Client(serving.url))
    needed = originals(bucket)
    serving.end()
    left = f"{next(iter(needed)).rpartition('/')[0]}/00000000-0000-7000-8000-00000000000a"
    row = database.execute(
        "INSERT INTO kb.stored_originals VALUES (%s, %s, now() - interval '9 days', 'trashed', now() - interval '8 days') "
        "RETURNING to_char(trashed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')",
        [left.partition("/")[0], left],
    ).fetchone()
    assert row is not None
    bucket.objects[f"whence/trash/{row[0]}/{left}"] = b"Left behind."
    with held(database, "SELECT FROM kb.stored_originals WHERE state = 'trashed' FOR UPDATE"):
        killed = hosted.serve()
        wait_for(lambda: originals(bucket) == needed and blocked(database) > 0, "the trash to be emptied")
        killed.end(signal.SIGKILL)
        terminate_blocked(database)
    assert count(database, LEFTOVERS) == 2
    require_all_goes(hosted, bucket, database, wait_for, needed=needed)
    assert Client(hosted.serving[-1].url).file(item["documentId"]) == TEXT


def test_an_update_that_another_update_replaced(
    hosted: "Installation", bucket: Bucket, database: psycopg.Connection, wait_for: "WaitFor"
) -> None:
    """The worker is about to read the second version when the third comes; then the server is killed."""
    serving = hosted.serve().ready()
    client = Client(serving.url)
    item = upload(client)
    path = f"{client.url}/api/v1/documents/{item['documentId']}"
    stop = Stop(bucket, "GET", item["documentId"])
    assert httpx.put(path, json={"text": "The bittern booms."}, timeout=PATIENCE).status_code == 202
    assert stop.reached.wait(PATIENCE)
    assert httpx.put(path, json={"text": "The crane dances."}, timeout=PATIENCE).status_code == 202
    stop.kill(serving)
    assert len(originals(bucket)) == 3
    needed = {key: text for key, text in originals(bucket).items() if text == b"The crane dances."}
    require_all_goes(hosted, bucket, database, wait_for, needed=needed)
    assert Client(hosted.serving[-1].url).file(item["documentId"]) == b"The crane dances."


def test_a_backup_that_is_killed(
    hosted: "Installation", bucket: Bucket, database: psycopg.Connection, wait_for: "WaitFor"
) -> None:
    serving = hosted.serve().ready()
    item = upload(Client(serving.url))
    needed = originals(bucket)
    serving.end()
    file = hosted.folder / "whence.tar"
    stop = Stop(bucket, "GET", item["documentId"])
    backing_up = hosted.start("backup", str(file))
    assert stop.reached.wait(PATIENCE)
    backing_up.kill()
    backing_up.communicate()
    bucket.trouble = None
    assert not file.exists()
    assert list(hosted.folder.glob("whence.tar.*"))
    hosted.run("backup", str(file))
    assert file.exists()
    assert not list(hosted.folder.glob("whence.tar.*"))
    require_all_goes(hosted, bucket, database, wait_for, needed=needed)
