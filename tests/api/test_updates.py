"""Documents change in place: the id stays, what did not change stays, and readers never see a mix."""

import asyncio
from typing import Any, LiteralString

import httpx
import psycopg
import pytest
from tests.api.ingesting import (
    DOCUMENTS,
    JOBS,
    PROSE,
    RECEIPT,
    chunks_of,
    count,
    data_of,
    embedded_by,
    ended,
    error_of,
    ingest,
    no_embedding,
    only_original,
    originals,
    put,
    upload,
)
from tests.endpoint import Endpoint

from whence.settings import Settings
from whence.store import Store

pytestmark = pytest.mark.one_app(max_upload_mb=2)

PARAGRAPHS = [
    f"Paragraph number {number} says something of its own, {number * 7} times." for number in range(6)
]
SMALL = {"maxChunkSize": 100, "minChunkSize": 10}


def text_of(paragraphs: list[str]) -> str:
    return "\n\n".join(paragraphs)


async def document_of(client: httpx.AsyncClient, document_id: str) -> dict[str, Any]:
    found: dict[str, Any] = data_of(await client.get(f"{DOCUMENTS}/{document_id}"))
    return found


async def test_new_content_keeps_ids_and_vectors_of_what_stays(
    client: httpx.AsyncClient, settings: Settings
) -> None:
    first = await ingest(
        client, text_of(PARAGRAPHS), name="notes.md", chunkingStrategy="paragraph", chunkingOptions=SMALL
    )
    ident = first["documentId"]
    before = await chunks_of(client, ident, include_embedding="true")
    assert len(before) == 6
    changed = [PARAGRAPHS[0], "Something new comes in between, all of a sudden.", *PARAGRAPHS[2:]]
    second = await put(client, ident, text=text_of(changed))
    assert set(second) == {*RECEIPT, "chunkCount"}
    assert (second["documentId"], second["alreadyExists"], second["status"]) == (ident, False, "completed")
    assert second["jobId"] != first["jobId"]
    after = await chunks_of(client, ident, include_embedding="true")
    assert [chunk["content"] for chunk in after] == changed
    for index in (0, 2, 3, 4, 5):
        for field in ("id", "embedding", "content_hash", "created_at"):
            assert after[index][field] == before[index][field]
    assert after[1]["id"] not in {chunk["id"] for chunk in before}
    assert {chunk["job_id"] for chunk in after} == {second["jobId"]}
    document = await document_of(client, ident)
    assert (document["name"], document["chunking"]["strategy"]) == ("notes.md", "paragraph")
    assert document["updated_at"] > document["created_at"]
    file = await only_original(settings)
    assert file.read_text() == text_of(changed)
    assert (await client.get(f"{DOCUMENTS}/{ident}/file")).text == text_of(changed)


async def test_chunks_that_are_the_same_twice_or_change_places(client: httpx.AsyncClient) -> None:
    words = [PARAGRAPHS[0], PARAGRAPHS[1], PARAGRAPHS[0]]
    first = await ingest(client, text_of(words), chunkingStrategy="paragraph", chunkingOptions=SMALL)
    before = await chunks_of(client, first["documentId"])
    await put(client, first["documentId"], text=text_of([PARAGRAPHS[1], *[PARAGRAPHS[0]] * 3]))
    after = await chunks_of(client, first["documentId"], include_embedding="1")
    assert len({chunk["id"] for chunk in after}) == 4
    assert after[0]["id"] == before[1]["id"]
    assert {before[0]["id"], before[2]["id"]} <= {chunk["id"] for chunk in after[1:]}
    assert all(chunk["embedding"] for chunk in after)


async def test_another_strategy_alone(client: httpx.AsyncClient, settings: Settings) -> None:
    first = await ingest(client, PROSE, chunkingOptions=SMALL)
    (kept,) = originals(settings)
    second = await put(client, first["documentId"], chunkingStrategy="sentence")
    assert second["chunkCount"] != first["chunkCount"]
    document = await document_of(client, first["documentId"])
    assert document["chunking"] == {"strategy": "sentence", "max_chunk_size": 100, "min_chunk_size": 10}
    third = await put(client, first["documentId"], chunking_options={"max_chunk_size": 400})
    document = await document_of(client, first["documentId"])
    assert document["chunking"] == {"strategy": "sentence", "max_chunk_size": 400, "min_chunk_size": 10}
    assert third["chunkCount"] < second["chunkCount"]
    await chunks_of(client, first["documentId"])
    assert originals(settings) == [kept]


async def test_nothing_new_is_no_work(client: httpx.AsyncClient, store: Store) -> None:
    first = await upload(client, "a.txt", PROSE.encode(), chunkingStrategy="sentence")
    path = f"{DOCUMENTS}/{first['documentId']}"
    for answer in (
        await client.put(path, files={"file": ("a.txt", PROSE.encode())}),
        await client.put(path, json={"text": PROSE}),
        await client.put(path, json={"chunkingStrategy": "sentence"}),
        await client.put(path, json={"name": "a.txt"}),
    ):
        item = data_of(answer, 202)
        assert item == {**{name: first[name] for name in RECEIPT}, "alreadyExists": True}
    assert await put(client, first["documentId"], name="a.txt") == {**first, "alreadyExists": True}
    assert await count(store, "kb.jobs") == 1


async def test_a_new_name_alone(client: httpx.AsyncClient) -> None:
    first = await ingest(client, PROSE, name="old.txt")
    before = await chunks_of(client, first["documentId"])
    second = await put(client, first["documentId"], name="new\x00 name.md")
    assert (second["fileName"], second["status"]) == ("new  name.md", "completed")
    document = await document_of(client, first["documentId"])
    assert document["name"] == second["fileName"]
    after = await chunks_of(client, first["documentId"])
    assert [chunk["id"] for chunk in after] == [chunk["id"] for chunk in before]


async def test_a_new_name_may_say_another_type(client: httpx.AsyncClient) -> None:
    """The bytes are the same; what they are read as is not."""
    page = "<h1>Herons</h1><p>They wait in shallow water.</p>"
    first = await ingest(client, page, name="herons.md")
    ident = first["documentId"]
    assert (await document_of(client, ident))["file_type"] == "text/markdown"
    await put(client, ident, name="herons.html")
    assert (await document_of(client, ident))["file_type"] == "text/html"
    (chunk,) = await chunks_of(client, ident)
    assert chunk["content"].strip() == "# Herons\n\nThey wait in shallow water."
    await put(client, ident, name="birds.html", chunkingStrategy="sentence")
    await put(client, ident, name="birds.md")
    assert "".join(chunk["content"] for chunk in await chunks_of(client, ident)) == page
    assert (await client.get(f"{DOCUMENTS}/{ident}/file")).text == page


async def test_a_name_cannot_make_a_text_a_pdf(client: httpx.AsyncClient) -> None:
    first = await ingest(client, "Only a text.", name="a.txt")
    second = await put(client, first["documentId"], name="a.pdf")
    assert (second["fileName"], second["status"]) == ("a.pdf", "completed")
    assert (await document_of(client, first["documentId"]))["file_type"] == "text/plain"


async def test_the_newest_of_two_names_says_the_type(client: httpx.AsyncClient, dsn: str) -> None:
    """Also when the job for the name before had read the text already."""
    page = "<p>They wait.</p>"
    first = await ingest(client, page, name="herons.md")
    path = f"{DOCUMENTS}/{first['documentId']}"
    async with no_embedding(dsn):
        item = data_of(await client.put(path, json={"name": "herons.html"}), 202)
        await staged(client, item["jobId"])
        last = data_of(await client.put(path, json={"name": "herons.csv"}), 202)
    assert (await ended(client, last["jobId"]))["status"] == "completed"
    assert (await document_of(client, first["documentId"]))["file_type"] == "text/csv"
    (chunk,) = await chunks_of(client, first["documentId"])
    assert chunk["content"] == page


async def staged(client: httpx.AsyncClient, job_id: str) -> None:
    """Until the job has read the text."""
    async with asyncio.timeout(60):
        while data_of(await client.get(f"{JOBS}/{job_id}"))["stage"] != "chunking":  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def test_a_file_and_fields_together(client: httpx.AsyncClient) -> None:
    first = await upload(client, "a.txt", b"The first version.")
    path = f"{DOCUMENTS}/{first['documentId']}"
    fields = {
        "chunkingStrategy": "sentence",
        "chunkingOptions": '{"maxChunkSize": 200}',
        "name": "b.md",
        "wait": "true",
    }
    item = data_of(await client.put(path, files={"file": ("other.txt", PROSE.encode())}, data=fields))
    assert (item["fileName"], item["status"]) == ("b.md", "completed")
    document = await document_of(client, first["documentId"])
    assert document["chunking"] == {"strategy": "sentence", "max_chunk_size": 200, "min_chunk_size": 100}
    assert document["file_size"] == len(PROSE.encode())
    unnamed = await client.put(path, files={"file": ("c.txt", b"The third.")}, params={"wait": "1"})
    assert data_of(unnamed)["fileName"] == "c.txt"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, None),
        ({"wait": True}, None),
        ({"text": ""}, "text"),
        ({"text": " \n"}, "text"),
        ({"text": 5}, "text"),
        ({"text": "a\x00b"}, "text"),
        ({"name": 5}, "name"),
        ({"name": ""}, "fileName"),
        ({"name": "\n"}, "fileName"),
        ([], None),
        ("x", None),
    ],
)
async def test_a_wrong_change_is_refused(
    client: httpx.AsyncClient, store: Store, body: Any, field: Any
) -> None:
    first = await ingest(client, "One.")
    answer = await client.put(f"{DOCUMENTS}/{first['documentId']}", json=body)
    assert error_of(answer, 400, "INVALID_REQUEST")["details"].get("field") == field
    assert await count(store, "kb.jobs") == 1


async def test_an_unknown_field_of_a_change_is_refused_by_its_name(client: httpx.AsyncClient) -> None:
    first = await ingest(client, "One.")
    path = f"{DOCUMENTS}/{first['documentId']}"
    for answer in (
        await client.put(path, json={"other": 1}),
        await client.put(path, files={"file": ("a.txt", b"Two.")}, data={"other": "1"}),
    ):
        assert error_of(answer, 400, "INVALID_PARAMETER")["details"]["parameter"] == "other"


async def test_a_wrong_form_is_refused(client: httpx.AsyncClient, store: Store) -> None:
    first = await ingest(client, "One.")
    path = f"{DOCUMENTS}/{first['documentId']}"
    two = [("file", ("a.txt", b"1")), ("file", ("b.txt", b"2"))]
    for answer in (
        await client.put(path, files=two),
        await client.put(path, files={"file": ("", b"")}),
        await client.put(path, files={"file": ("a.txt", b"1")}, data={"name": ""}),
        await client.put(path, content=b"--x", headers={"content-type": "multipart/form-data; boundary=x"}),
    ):
        error_of(answer, 400, "INVALID_REQUEST")
    for fields in (
        {"chunkingStrategy": "x"},
        {"chunkingOptions": {"maxChunkSize": 90}},
        {"name": "x", "wait": "x"},
    ):
        error_of(await client.put(path, json=fields), 400, "INVALID_PARAMETER")
    small = await client.put(path, json={"chunkingOptions": {"maxChunkSize": 100, "minChunkSize": 100}})
    assert error_of(small, 400, "INVALID_PARAMETER")["details"]["parameter"] == "minChunkSize"
    large = await client.put(path, files={"file": ("a.txt", b"x" * 2 * 1024 * 1024 + b"x")})
    assert error_of(large, 413, "PAYLOAD_TOO_LARGE")["details"] == {"max_bytes": 2 * 1024 * 1024}
    assert await count(store, "kb.jobs") == 1


async def test_name_and_content_of_another_document_are_a_conflict(client: httpx.AsyncClient) -> None:
    one, two = await ingest(client, "One."), await ingest(client, "Two.", name="two.txt")
    path = f"{DOCUMENTS}/{one['documentId']}"
    before = data_of(await client.get(path))
    said = {"text": "Two.", "name": "two.txt", "metadata": {"half": "changed"}}
    answer = await client.put(path, json=said)
    assert error_of(answer, 409, "CONFLICT")["details"] == {
        "document_id": two["documentId"],
        "name": "two.txt",
    }
    assert data_of(await client.get(path)) == before


async def test_until_it_is_done_readers_see_what_was(client: httpx.AsyncClient, dsn: str) -> None:
    first = await ingest(client, "The old version.", name="old.txt")
    ident, path = first["documentId"], f"{DOCUMENTS}/{first['documentId']}"
    async with no_embedding(dsn):
        item = data_of(await client.put(path, json={"text": "The new version.", "name": "new.txt"}), 202)
        assert item["status"] == "pending"
        (chunk,) = await chunks_of(client, ident)
        document = await document_of(client, ident)
        assert chunk["content"] == "The old version."
        assert (await client.get(f"{path}/file")).text == "The old version."
        assert (document["name"], document["job_id"]) == ("old.txt", item["jobId"])
        assert document["status"] in ("pending", "processing")
    assert (await ended(client, item["jobId"]))["status"] == "completed"
    (chunk,) = await chunks_of(client, ident)
    assert chunk["content"] == "The new version."
    assert (await client.get(f"{path}/file")).text == "The new version."
    assert (await document_of(client, ident))["name"] == "new.txt"


async def test_the_last_of_many_changes_wins(client: httpx.AsyncClient, settings: Settings) -> None:
    first = await ingest(client, "Version 0.")
    path = f"{DOCUMENTS}/{first['documentId']}"
    jobs = [
        data_of(await client.put(path, json={"text": f"Version {n}."}), 202)["jobId"] for n in range(1, 9)
    ]
    ends = [await ended(client, job_id) for job_id in jobs]
    assert ends[-1]["status"] == "completed"
    for job in ends[:-1]:
        assert job["status"] == "completed" or job["error"]["code"] == "SUPERSEDED"
        assert job["error"] is None or job["error"]["details"] == {}
    (chunk,) = await chunks_of(client, first["documentId"])
    assert chunk["content"] == "Version 8."
    assert b"Version 8." in {file.read_bytes() for file in originals(settings)}


async def test_a_version_that_cannot_be_read_leaves_the_old_one(client: httpx.AsyncClient) -> None:
    first = await ingest(client, "The old version.")
    path = f"{DOCUMENTS}/{first['documentId']}"
    answer = await client.put(path, files={"file": ("new.pdf", b"%PDF-1.4 broken")}, params={"wait": "true"})
    item = data_of(answer)
    assert (item["status"], item["error"]["code"], item["chunkCount"]) == ("failed", "UNREADABLE_DOCUMENT", 1)
    document = await document_of(client, first["documentId"])
    assert (document["status"], document["error"]) == ("failed", item["error"])
    assert (await client.get(f"{path}/file")).text == "The old version."
    (chunk,) = await chunks_of(client, first["documentId"])
    assert chunk["content"] == "The old version."
    mended = await put(client, first["documentId"], text="A third version.")
    assert mended["status"] == "completed"


@pytest.mark.own_app
class TestAnEndpoint:
    @pytest.fixture
    def settings(self, settings: Settings, endpoint: Endpoint) -> Settings:
        return embedded_by(endpoint, settings)

    async def test_only_what_is_new_is_embedded(self, client: httpx.AsyncClient, endpoint: Endpoint) -> None:
        first = await ingest(client, text_of(PARAGRAPHS), chunkingStrategy="paragraph", chunkingOptions=SMALL)
        changed = [*PARAGRAPHS[:5], "Only this one is new to anybody who reads it."]
        await put(client, first["documentId"], text=text_of(changed))
        await put(client, first["documentId"], name="renamed.txt")
        asked = [text for request in endpoint.requests for text in request.inputs]
        assert sorted(asked) == sorted([*PARAGRAPHS, changed[-1]])


@pytest.mark.parametrize("way", ["upload", "put"])
async def test_a_missing_original_comes_back_when_its_file_is_sent_again(
    client: httpx.AsyncClient, settings: Settings, way: str
) -> None:
    """As `whence doctor --deep` advises."""
    content = PROSE.encode()
    item = await upload(client, "prose.txt", content)
    path = f"{DOCUMENTS}/{item['documentId']}"
    (kept,) = originals(settings)
    kept.unlink()
    error_of(await client.get(f"{path}/file"), 404, "NOT_FOUND")
    if way == "put":
        answer = await client.put(path, files={"file": ("new.txt", content)}, data={"wait": "true"})
        data_of(answer)
    else:
        again = await upload(client, "prose.txt", content)
        assert (again["documentId"], again["alreadyExists"]) == (item["documentId"], True)
    assert (await client.get(f"{path}/file")).content == content
    assert originals(settings) == [kept]


@pytest.mark.parametrize("damaged", [b"", b"Longer. " * 900, PROSE.encode().swapcase()])
async def test_a_damaged_original_is_mended_when_its_file_is_sent_again(
    client: httpx.AsyncClient, settings: Settings, damaged: bytes
) -> None:
    """A file of another size is refused before the first byte, also in parts."""
    content = PROSE.encode()
    item = await upload(client, "prose.txt", content)
    path = f"{DOCUMENTS}/{item['documentId']}/file"
    (kept,) = originals(settings)
    kept.write_bytes(damaged)
    if len(damaged) != len(content):
        for headers in ({}, {"Range": "bytes=0-3"}):
            error = error_of(await client.get(path, headers=headers), 404, "NOT_FOUND")
            assert f"{len(damaged)} bytes instead of {len(content)}" in error["message"]
        assert (await client.head(path)).status_code == 404
    again = await upload(client, "prose.txt", content)
    assert (again["documentId"], again["alreadyExists"]) == (item["documentId"], True)
    assert (await client.get(path)).content == content
    assert originals(settings) == [kept]


async def test_a_copy_does_not_share_a_damaged_original(
    client: httpx.AsyncClient, settings: Settings
) -> None:
    content = PROSE.encode()
    await upload(client, "prose.txt", content)
    (kept,) = originals(settings)
    kept.write_bytes(content.swapcase())
    copy = await upload(client, "copy.txt", content)
    assert (await client.get(f"{DOCUMENTS}/{copy['documentId']}/file")).content == content


@pytest.mark.parametrize("damage", ["DELETE FROM kb.chunks", "UPDATE kb.documents SET current_job_id = NULL"])
async def test_a_document_that_lacks_parts_gets_them_when_its_file_is_put_again(
    client: httpx.AsyncClient, dsn: str, damage: LiteralString
) -> None:
    """As `whence doctor --deep` advises."""
    item = await upload(client, "prose.txt", PROSE.encode())
    path = f"{DOCUMENTS}/{item['documentId']}"
    before = data_of(await client.get(path))
    with psycopg.connect(dsn, autocommit=True) as database:
        database.execute(damage)
    answer = await client.put(path, files={"file": ("prose.txt", PROSE.encode())}, data={"wait": "true"})
    data_of(answer)
    after = data_of(await client.get(path))
    assert after["chunk_count"] == before["chunk_count"] > 0
    assert (after["status"], after["job_id"] is None) == ("completed", False)
