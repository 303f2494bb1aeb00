"""Contract D5, D6, D8: files, URLs and texts come in, are kept, and become chunks."""

import asyncio
import json
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from tests.api.ingesting import (
    DOCUMENTS,
    PROSE,
    RECEIPT,
    TEXT,
    UPLOAD,
    URL,
    chunks_of,
    count,
    data_of,
    ended,
    error_of,
    ingest,
    only_original,
    originals,
    upload,
)
from tests.files.every import every_format
from tests.files.pdf import pdf

from whence.models import DEFAULT_PROJECT_ID
from whence.settings import Settings
from whence.store import Store

pytestmark = pytest.mark.one_app

SHORT = ("/ingest/upload", "/ingest/text", "/ingest/url")


@pytest.mark.parametrize("path", [UPLOAD, "/ingest/upload"])
async def test_a_file_is_taken_at_once_and_ingested_after(client: httpx.AsyncClient, path: str) -> None:
    answer = await client.post(path, files={"file": ("notes.md", PROSE.encode())})
    (item,) = data_of(answer, 202)["items"]
    assert set(item) == RECEIPT
    assert item["fileName"] == "notes.md"
    assert (item["status"], item["alreadyExists"], item["error"]) == ("pending", False, None)
    assert UUID(item["documentId"]).version == UUID(item["jobId"]).version == 7
    job = await ended(client, item["jobId"])
    assert (job["status"], job["document_id"], job["file_name"]) == (
        "completed",
        item["documentId"],
        "notes.md",
    )
    chunks = await chunks_of(client, item["documentId"])
    assert [len(chunk["content"]) for chunk in chunks[:-1]] == [1200] * (len(chunks) - 1)
    assert {chunk["job_id"] for chunk in chunks} == {item["jobId"]}


async def test_waiting_can_be_asked_for_everywhere(client: httpx.AsyncClient, site: Any) -> None:
    """As a parameter, a form field and a JSON field; the parameter goes first."""
    url = site.sends("/page.txt", "Content-Type: text/plain", body=b"A page.")
    files = {"file": ("a.txt", b"In a form. It waits.")}
    waited = [
        await client.post(UPLOAD, params={"wait": "true"}, files=files),
        await client.post(UPLOAD, data={"wait": "1"}, files={"file": ("b.txt", b"Another one.")}),
        await client.post("/ingest/text", json={"text": "A text.", "wait": True}),
        await client.post(TEXT, params={"wait": "YES"}, json={"text": "Another text.", "wait": False}),
        await client.post("/ingest/url", json={"url": url, "wait": "true"}),
    ]
    for answer in waited:
        data = data_of(answer, 200)
        item = data["items"][0] if "items" in data else data
        assert set(item) == {*RECEIPT, "chunkCount"}
        assert (item["status"], item["chunkCount"], item["alreadyExists"]) == ("completed", 1, False)
    for answer in (
        await client.post(UPLOAD, params={"wait": "no"}, files={"file": ("c.txt", b"Third.")}),
        await client.post(TEXT, json={"text": "Third text.", "wait": "0"}),
        await client.post(TEXT, params={"wait": "false"}, json={"text": "Fourth text.", "wait": True}),
    ):
        assert "chunkCount" not in str(data_of(answer, 202))


async def test_many_files_and_one_bad_among_them(client: httpx.AsyncClient) -> None:
    files = [
        ("file", ("one.txt", b"The first of them.")),
        ("files", ("two.pdf", pdf([["Only for some."]], user_password="secret"))),  # noqa: S106
        ("file", ("..", b"A file without a name.")),
        ("file", ("three.txt", b"The third of them.")),
        ("file", ("one.txt", b"The first of them.")),
    ]
    answer = await client.post(UPLOAD, files=files, params={"wait": "true"})
    one, two, nameless, three, again = data_of(answer)["items"]
    assert [item["status"] for item in (one, three)] == ["completed", "completed"]
    assert (two["status"], two["error"]["code"], two["chunkCount"]) == ("failed", "UNREADABLE_DOCUMENT", 0)
    assert two["error"]["details"] == {"reason": "encrypted", "file_name": "two.pdf"}
    assert two["documentId"] is not None
    assert (nameless["documentId"], nameless["jobId"], nameless["status"]) == (None, None, "failed")
    assert nameless["error"]["code"] == "INVALID_REQUEST"
    assert (again["alreadyExists"], again["documentId"]) == (True, one["documentId"])
    assert again["fileName"] == "one.txt"


async def test_where_no_file_can_be_kept_the_answer_is_the_error(client: httpx.AsyncClient) -> None:
    answer = await client.post(UPLOAD, files=[("file", ("..", b"1")), ("file", (" ", b"2"))])
    assert error_of(answer, 400, "INVALID_REQUEST")["details"]["field"] == "fileName"


async def test_the_same_name_and_bytes_are_one_document(
    client: httpx.AsyncClient, store: Store, settings: Settings
) -> None:
    first = await upload(client, "one.txt", PROSE.encode())
    again = await client.post(UPLOAD, files={"file": ("one.txt", PROSE.encode())})
    (item,) = data_of(again, 202)["items"]
    assert item == {**{name: first[name] for name in RECEIPT}, "alreadyExists": True}
    said = {"text": PROSE, "name": "one.txt", "chunkingStrategy": "sentence"}
    as_text = data_of(await client.post(TEXT, json=said), 202)
    assert (as_text["alreadyExists"], as_text["documentId"]) == (True, first["documentId"])
    waited = await upload(client, "one.txt", PROSE.encode())
    assert waited == {**first, "alreadyExists": True}
    assert await count(store, "kb.jobs") == 1
    assert len(originals(settings)) == 1
    elsewhere = await store.projects.create(name="elsewhere")
    other = await upload(client, "one.txt", PROSE.encode(), projectId=str(elsewhere.id))
    assert (other["alreadyExists"], other["documentId"] == first["documentId"]) == (False, False)


async def test_two_names_of_the_same_bytes_are_two_documents(
    client: httpx.AsyncClient, store: Store, settings: Settings
) -> None:
    """Each has its own metadata; they share the original, which stays as long as one of them needs it."""
    one = await upload(client, "one.txt", PROSE.encode(), metadata='{"team": "a"}')
    two = await upload(client, "two.txt", PROSE.encode(), metadata='{"team": "b"}')
    assert (two["alreadyExists"], two["status"], two["chunkCount"]) == (False, "completed", one["chunkCount"])
    listed = data_of(await client.get("/api/v1/documents"))
    assert {item["name"]: item["metadata"]["team"] for item in listed["items"]} == {
        "one.txt": "a",
        "two.txt": "b",
    }
    assert listed["pagination"]["total"] == 2
    assert await count(store, "kb.chunks") == await count(store, "kb.chunk_vectors") == 2 * one["chunkCount"]
    assert len(originals(settings)) == 1

    async def file_of(item: dict[str, Any]) -> bytes:
        answer = await client.get(f"/api/v1/documents/{item['documentId']}/file")
        assert answer.status_code == 200
        return answer.content

    await client.put(f"/api/v1/documents/{one['documentId']}", json={"text": "Another.", "wait": True})
    assert (await file_of(one), await file_of(two)) == (b"Another.", PROSE.encode())
    back = await client.put(f"/api/v1/documents/{one['documentId']}", json={"text": PROSE, "wait": True})
    assert data_of(back)["status"] == "completed"
    await only_original(settings)
    await client.delete(f"/api/v1/documents/{two['documentId']}")
    assert await file_of(one) == PROSE.encode()
    await client.delete(f"/api/v1/documents/{one['documentId']}")
    assert originals(settings) == []


async def test_uploads_at_once_are_one_document_for_each_name(
    client: httpx.AsyncClient, store: Store, settings: Settings
) -> None:
    found = await asyncio.gather(
        *(upload(client, f"{number % 2}.txt", PROSE.encode()) for number in range(6))
    )
    assert len({item["documentId"] for item in found}) == 2
    assert sorted(item["alreadyExists"] for item in found) == [False, False, True, True, True, True]
    assert {item["status"] for item in found} == {"completed"}
    assert await count(store, "kb.documents") == await count(store, "kb.jobs") == 2
    assert len(originals(settings)) in (1, 2)


async def test_names_in_snake_case_are_taken(client: httpx.AsyncClient, store: Store) -> None:
    project = await store.projects.create(name="snakes")
    options = {"max_chunk_size": 200, "min_chunk_size": 20}
    by_json = await ingest(
        client,
        PROSE,
        project_id=str(project.id),
        chunking_strategy="sentence",
        chunking_options=options,
        file_name="snake.md",
    )
    by_form = await upload(
        client,
        "snake2.md",
        (PROSE + "!").encode(),
        project_id=str(project.id),
        chunking_strategy="sentence",
        chunking_options=json.dumps(options),
    )
    for item in (by_json, by_form):
        document = data_of(await client.get(f"{DOCUMENTS}/{item['documentId']}"))
        assert document["project_id"] == str(project.id)
        assert document["chunking"] == {"strategy": "sentence", **options}
        chunks = await chunks_of(client, item["documentId"])
        assert len(chunks) == item["chunkCount"] > 3
        assert max(len(chunk["content"]) for chunk in chunks) <= 200
    assert by_json["fileName"] == "snake.md"


async def test_without_fields_it_is_character_at_1200_in_the_default_project(
    client: httpx.AsyncClient,
) -> None:
    """D8."""
    item = await upload(client, "x.txt", b"x" * 2500)
    document = data_of(await client.get(f"{DOCUMENTS}/{item['documentId']}"))
    assert document["project_id"] == str(DEFAULT_PROJECT_ID)
    assert document["chunking"] == {"strategy": "character", "max_chunk_size": 1200, "min_chunk_size": 100}
    assert [len(chunk["content"]) for chunk in await chunks_of(client, item["documentId"])] == [
        1200,
        1200,
        100,
    ]


@pytest.mark.parametrize("strategy", ["character", "sentence", "paragraph"])
async def test_chunks_say_where_they_are_from(client: httpx.AsyncClient, strategy: str) -> None:
    """D6: the same keys whatever the strategy and the format, pages where there are pages."""
    samples = [one for one in every_format() if one.name.endswith((".pdf", ".pptx", ".md", ".docx"))]
    options = json.dumps({"maxChunkSize": 100, "minChunkSize": 10})
    for sample in samples:
        item = await upload(
            client, sample.name, sample.content, chunkingStrategy=strategy, chunkingOptions=options
        )
        assert item["status"] == "completed", item
        chunks = await chunks_of(client, item["documentId"])
        assert len(chunks) == item["chunkCount"] > 2
        text = data_of(await client.get(f"{DOCUMENTS}/{item['documentId']}/text"))
        spans = {page["number"]: (page["start"], page["end"]) for page in text["pages"]}
        for chunk in chunks:
            metadata = chunk["metadata"]
            assert metadata["strategy"] == strategy
            assert metadata["boundaryType"] in ("character", "sentence", "paragraph", "section")
            assert metadata["token_count"] > 0
            if not sample.pages:
                assert metadata["source_page"] is None
            else:
                start, end = spans[metadata["source_page"]]
                assert start <= metadata["startOffset"] <= end
        for sentence, page in sample.pages.items():
            start = text["text"].index(sentence[:20])
            (holder,) = [
                one["metadata"]
                for one in chunks
                if one["metadata"]["startOffset"] <= start < one["metadata"]["endOffset"]
            ]
            assert holder["source_page"] <= page
            if strategy == "paragraph":
                assert holder["source_page"] == page or holder["startOffset"] < spans[page][0]


@pytest.mark.parametrize(
    ("fields", "parameter"),
    [
        ({"chunkingStrategy": "semantic"}, "chunkingStrategy"),
        ({"chunkingStrategy": ""}, "chunkingStrategy"),
        ({"chunkingOptions": "none"}, "chunkingOptions"),
        ({"chunkingOptions": "[]"}, "chunkingOptions"),
        ({"chunkingOptions": '{"maxChunkSize": 99}'}, "maxChunkSize"),
        ({"chunkingOptions": '{"maxChunkSize": 10001}'}, "maxChunkSize"),
        ({"chunkingOptions": '{"maxChunkSize": "1200"}'}, "maxChunkSize"),
        ({"chunkingOptions": '{"minChunkSize": 9}'}, "minChunkSize"),
        ({"chunkingOptions": '{"minChunkSize": 1001}'}, "minChunkSize"),
        ({"chunkingOptions": '{"minChunkSize": 200, "maxChunkSize": 200}'}, "minChunkSize"),
        ({"chunkingOptions": '{"overlap": 3}'}, "chunkingOptions.overlap"),
        ({"wait": "maybe"}, "wait"),
        ({"wait": ""}, "wait"),
        ({"projectId": "default"}, "projectId"),
        ({"projectId": ""}, "projectId"),
        ({"project_id": "5"}, "project_id"),
    ],
)
async def test_a_wrong_value_is_refused_by_its_name(
    client: httpx.AsyncClient, store: Store, fields: dict[str, str], parameter: str
) -> None:
    code = "INVALID_UUID" if parameter in ("projectId", "project_id") else "INVALID_PARAMETER"
    options = fields.get("chunkingOptions", "")
    sent = {**fields, "chunkingOptions": json.loads(options)} if options[:1] in "[{" and options else fields
    for answer in (
        await client.post(UPLOAD, files={"file": ("a.txt", b"One.")}, data=fields),
        await client.post(TEXT, json={"text": "One.", **sent}),
        await client.post(URL, json={"url": "http://127.0.0.1:1/", **sent}),
    ):
        assert error_of(answer, 400, code)["details"]["parameter"] == parameter
    assert await count(store, "kb.documents") == 0


@pytest.mark.parametrize("text", [" \n\t ", "\u200b", "\u2060\ufeff \u3164"])
async def test_a_blank_text_is_not_called_missing(client: httpx.AsyncClient, text: str) -> None:
    error = error_of(await client.post(TEXT, json={"text": text}), 400, "INVALID_REQUEST")
    assert error["message"] == "text must be a text that is not blank"
    assert error["details"]["field"] == "text"
    missing = error_of(await client.post(TEXT, json={"name": "a.txt"}), 400, "INVALID_REQUEST")
    assert missing["message"] == "text is required"


@pytest.mark.parametrize("kind", ["text", "url"])
@pytest.mark.parametrize("value", [None, 5, True, ["x"], {"a": 1}, "", "  \n"])
async def test_what_is_required_must_be_a_string_with_something_in_it(
    client: httpx.AsyncClient, kind: str, value: Any
) -> None:
    path = f"/api/v1/ingest/{kind}"
    error = error_of(await client.post(path, json={kind: value}), 400, "INVALID_REQUEST")
    assert error["details"]["field"] == kind
    assert error_of(await client.post(path, json={}), 400, "INVALID_REQUEST")["details"]["field"] == kind


@pytest.mark.parametrize("path", [TEXT, URL])
@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b'"text"', b'{"text": "\\ud800", "url": "\\ud800"}', b'{"text": "\xff"}'],
)
async def test_a_body_that_is_no_json_object_is_refused(
    client: httpx.AsyncClient, path: str, body: bytes
) -> None:
    error_of(await client.post(path, content=body), 400, "INVALID_REQUEST")


@pytest.mark.parametrize("name", [5, True, ["a"], {}, "", " ", "..", "\x00", "\n"])
async def test_a_name_that_is_none_is_refused(client: httpx.AsyncClient, name: Any) -> None:
    error = error_of(await client.post(TEXT, json={"text": "One.", "name": name}), 400, "INVALID_REQUEST")
    assert error["details"]["field"] in ("name", "fileName")


async def test_names_are_kept_as_far_as_they_can_be_shown(client: httpx.AsyncClient) -> None:
    names = {
        "Größe 漢字 🙂 「x」.txt": "Größe 漢字 🙂 「x」.txt",
        "C:\\Users\\ana\\notes.txt": "notes.txt",
        "../../etc/passwd": "passwd",
        "x" * 300 + ".txt": "x" * 223 + "…" + "x" * 27 + ".txt",
    }
    for number, (given, kept) in enumerate(names.items()):
        item = await upload(client, given, f"Text number {number}.".encode())
        document = data_of(await client.get(f"{DOCUMENTS}/{item['documentId']}"))
        assert item["fileName"] == document["name"] == kept
    named = await ingest(client, "By JSON.", name="a\x00b\nc 漢字.md")
    assert named["fileName"] == "a b c 漢字.md"
    unnamed = await ingest(client, "By JSON, without a name.")
    assert unnamed["fileName"].startswith("text-")
    assert unnamed["fileName"].endswith(".txt")


async def test_a_text_with_nul_is_refused(client: httpx.AsyncClient) -> None:
    """Postgres cannot store it, and in a file it would be the mark of something that is no text."""
    error = error_of(await client.post(TEXT, json={"text": "Zero\x00is here."}), 400, "INVALID_REQUEST")
    assert error["details"]["field"] == "text"


async def test_an_absent_project_is_404_before_anything_else(
    client: httpx.AsyncClient, store: Store, settings: Settings, site: Any
) -> None:
    absent = str(uuid4())
    url = site.sends("/page.txt", body=b"A page.")
    for answer in (
        await client.post(UPLOAD, files={"file": ("a.txt", b"One.")}, data={"projectId": absent}),
        await client.post(TEXT, json={"text": "One.", "projectId": absent}),
        await client.post(URL, json={"url": url, "projectId": absent}),
    ):
        error = error_of(answer, 404, "PROJECT_NOT_FOUND")
        assert error["details"] == {"project_id": absent}
    assert site.requests == []
    assert originals(settings) == []
    assert await count(store, "kb.documents") == 0


async def test_ingest_without_the_prefix_is_the_same(client: httpx.AsyncClient) -> None:
    for path in SHORT:
        wrong = await client.get(path)
        assert error_of(wrong, 405, "METHOD_NOT_ALLOWED")
        assert wrong.headers["allow"] == "POST"
        error_of(await client.post(path, content=b""), 400, "INVALID_REQUEST")


async def test_a_text_may_be_longer_than_other_bodies(client: httpx.AsyncClient) -> None:
    item = await ingest(client, "word " * 300_000, chunkingOptions={"maxChunkSize": 10_000})
    assert (item["status"], item["chunkCount"]) == ("completed", 150)
    error = error_of(
        await client.post(TEXT, json={"text": "x" * (16 * 1024 * 1024)}), 413, "PAYLOAD_TOO_LARGE"
    )
    assert error["details"] == {"max_bytes": 16 * 1024 * 1024}
    error_of(await client.post(URL, json={"url": "x" * 1_100_000}), 413, "PAYLOAD_TOO_LARGE")


async def test_every_chunk_of_a_long_document_has_its_vector(client: httpx.AsyncClient) -> None:
    """More chunks than are embedded at once."""
    text = " ".join(f"Sentence number {number} is here." for number in range(2000))
    options = {"maxChunkSize": 300, "minChunkSize": 10}
    item = await ingest(client, text, chunkingStrategy="sentence", chunkingOptions=options)
    chunks = await chunks_of(client, item["documentId"], include_embedding="true")
    assert len(chunks) == item["chunkCount"] > 150
    assert all(len(chunk["embedding"]) == 256 for chunk in chunks)


@pytest.mark.parametrize("place", ["originals", "incoming"])
async def test_a_storage_that_does_not_work_is_503(
    client: httpx.AsyncClient, store: Store, settings: Settings, place: str
) -> None:
    await ingest(client, "Before.")
    folder = settings.data_dir / place
    folder.rename(settings.data_dir / "away")
    folder.write_text("not a folder")
    for answer in (
        await client.post(UPLOAD, files={"file": ("a.txt", b"One.")}),
        await client.post(TEXT, json={"text": "Two."}),
    ):
        error = error_of(answer, 503, "STORAGE_UNAVAILABLE")
        assert str(settings.data_dir) not in str(error)
    assert await count(store, "kb.documents") == 1
    folder.unlink()
    (settings.data_dir / "away").rename(folder)
    assert (await ingest(client, "After."))["status"] == "completed"
