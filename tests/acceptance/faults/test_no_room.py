"""A disk is full: what does not fit is refused, and nothing is left of it."""

import os
import resource
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import psycopg
import pytest
from tests.client import Client

from whence.store.originals import MARKER

if TYPE_CHECKING:
    from tests.acceptance.conftest import Installation

from tests.acceptance.faults.world import PATIENCE, count, require_nothing_left
from tests.texts import article


def test_no_room_for_what_comes_in(hosted: "Installation", database: psycopg.Connection) -> None:
    serving = hosted.serve().ready()
    client = Client(serving.url)
    _, most = resource.prlimit(serving.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(serving.process.pid, resource.RLIMIT_FSIZE, (2_000_000, most))
    refused = client.try_upload(article(60_000), "large.txt")
    assert refused.status_code == 503
    error = refused.json()["error"]
    assert error["code"] == "STORAGE_UNAVAILABLE"
    assert error["message"] == "The file cannot be kept: File too large"
    assert client.documents() == {}
    require_nothing_left(hosted, database)
    assert client.upload(article(3), "small.txt", wait="true")["status"] == "completed"

    resource.prlimit(serving.process.pid, resource.RLIMIT_FSIZE, (most, most))
    item = client.upload(article(60_000), "large.txt")
    client.post(f"/jobs/{item['jobId']}/cancel")
    assert "Traceback" not in serving.said


def small_disk(folder: Path) -> Sequence[str]:
    """A command that gives what it runs a disk of 3 MB in that folder; skips where that is not allowed."""
    inside = ("unshare", "--mount") if os.geteuid() == 0 else ("unshare", "--mount", "--map-root-user")
    mount = 'mount -t tmpfs -o size=3m tmpfs "$0" && exec "$@"'
    command = (*inside, "sh", "-c", mount, str(folder))
    tried = subprocess.run([*command, "true"], capture_output=True, check=False)
    if tried.returncode != 0:
        pytest.skip(f"no disk of our own here: {tried.stderr.decode().strip()}")
    return command


def test_no_room_for_originals(hosted: "Installation", database: psycopg.Connection) -> None:
    folder = hosted.data_dir / "originals"
    folder.mkdir(parents=True)
    serving = hosted.serve(within=small_disk(folder)).ready()
    client = Client(serving.url)
    first = client.upload(article(18_000), "first.txt")
    refused = client.try_upload(article(18_000, word="bittern"), "second.txt")
    assert refused.status_code == 503
    assert refused.json()["error"]["code"] == "STORAGE_UNAVAILABLE"
    assert client.documents().keys() == {"first.txt"}
    seen = Path(f"/proc/{serving.process.pid}/root") / folder.relative_to("/")
    assert len([path for path in seen.rglob("*") if path.is_file() and path.name != MARKER]) == 1
    assert not list((hosted.data_dir / "incoming").iterdir())

    gone = httpx.delete(f"{serving.url}/api/v1/documents/{first['documentId']}", timeout=PATIENCE)
    assert gone.status_code == 200
    again = client.upload(article(18_000, word="bittern"), "second.txt")
    assert client.ended(again["jobId"])["status"] == "completed"
    assert count(database, "SELECT count(*) FROM kb.documents") == 1
    assert "Traceback" not in serving.said
    assert "No space left on device" in serving.said
