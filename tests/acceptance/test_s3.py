"""Originals in an S3-compatible bucket, with real processes on both sides."""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import httpx
import pytest
from tests.client import Client
from tests.s3 import KEY_ID, SECRET, Bucket, forbidden, unavailable

from whence.store.originals import MARKER

if TYPE_CHECKING:
    from tests.acceptance.conftest import Installation

MEGABYTE = 1024 * 1024
PATIENCE = 240.0


@pytest.fixture
def bucket() -> Iterator[Bucket]:
    with Bucket() as opened:
        yield opened


@pytest.fixture
def hosted(hosted: "Installation", bucket: Bucket) -> "Installation":
    hosted.env |= {"WHENCE_EMBEDDER": "hash", **bucket.environment}
    return hosted


def file_of(client: Client, document_id: str) -> httpx.Response:
    return httpx.get(f"{client.url}/api/v1/documents/{document_id}/file", timeout=PATIENCE)


def originals(bucket: Bucket) -> dict[str, bytes]:
    return {key: content for key, content in bucket.objects.items() if not key.endswith(MARKER)}


def test_from_upload_to_deletion(hosted: "Installation", bucket: Bucket) -> None:
    serving = hosted.serve().ready()
    client = Client(serving.url)
    small = client.upload(b"The heron waits.", "small.txt", wait="true")
    words = os.urandom(3 * MEGABYTE).hex().encode()
    large = client.upload(words, "large.txt", chunkingOptions='{"maxChunkSize": 10000}', wait="true")
    assert (small["status"], large["status"]) == ("completed", "completed")
    assert {request.query.get("partNumber") for request in bucket.requests} >= {"1", "2"}
    assert sorted(map(len, originals(bucket).values())) == [16, len(words)]
    assert all(key.startswith("whence/") for key in bucket.objects)
    assert not (hosted.data_dir / "originals").exists()
    assert file_of(client, large["documentId"]).content == words

    for item in (small, large):
        gone = httpx.delete(f"{client.url}/api/v1/documents/{item['documentId']}", timeout=PATIENCE)
        assert gone.status_code == 200
    assert not originals(bucket)
    assert not bucket.uploads
    assert serving.end() == 0
    assert "Traceback" not in serving.said


def test_away(hosted: "Installation", bucket: Bucket) -> None:
    """Said so, nothing half done, no credentials told; and when it is back, so is everything."""
    serving = hosted.serve().ready()
    client = Client(serving.url)
    known = client.upload(b"The heron waits.", "known.txt", wait="true")
    said = ""
    for trouble in (unavailable, forbidden):
        bucket.trouble = trouble
        for content in (b"The bittern booms.", bytes(6 * MEGABYTE)):
            refused = client.try_upload(content, "new.txt")
            assert (refused.status_code, refused.json()["error"]["code"]) == (503, "STORAGE_UNAVAILABLE")
            said += refused.text
        refused = file_of(client, known["documentId"])
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "STORAGE_UNAVAILABLE")
        said += refused.text
    assert client.documents().keys() == {"known.txt"}
    assert not list((hosted.data_dir / "incoming").iterdir())
    bucket.trouble = None
    assert len(originals(bucket)) == 1
    assert file_of(client, known["documentId"]).content == b"The heron waits."
    assert client.upload(b"The bittern booms.", "new.txt", wait="true")["status"] == "completed"
    assert serving.end() == 0
    for secret in (KEY_ID, SECRET):
        assert secret not in said + serving.said
    assert "Traceback" not in serving.said


def test_backup(hosted: "Installation", bucket: Bucket) -> None:
    """The originals are in it; they come back to wherever the settings say."""
    client = Client(hosted.serve().ready().url)
    item = client.upload(b"The heron waits.", "known.txt", wait="true")
    assert hosted.serving[0].end() == 0
    file = hosted.folder / "whence.tar"
    assert "1 original." in hosted.run("backup", str(file)).stdout
    before = dict(bucket.objects)
    bucket.objects.clear()
    hosted.run("restore", "--force", str(file))
    restored, marker = dict(bucket.objects), f"whence/{MARKER}"
    assert restored.pop(marker) != before.pop(marker), "a storage without a marker gets an id of its own"
    assert restored == before

    bucket.trouble = unavailable
    assert "storage" in hosted.refused("backup", str(hosted.folder / "other.tar"), code=1)
    assert not (hosted.folder / "other.tar").exists()
    for name in bucket.environment:
        hosted.env.pop(name)
    hosted.run("restore", "--force", str(file))
    client = Client(hosted.serve().ready().url)
    assert file_of(client, item["documentId"]).content == b"The heron waits."
