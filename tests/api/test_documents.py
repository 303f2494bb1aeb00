"""Documents: listed, looked at from every side, and deleted with all that came of them."""

import asyncio
from typing import Any
from urllib.parse import unquote
from uuid import UUID, uuid4

import httpx
import psycopg
import pytest
from tests.api.ingesting import (
    DOCUMENTS,
    PROSE,
    UPLOAD,
    chunks_of,
    count,
    data_of,
    error_of,
    ingest,
    no_embedding,
    originals,
    upload,
)
from tests.files.every import every_format
from tests.files.pdf import pdf
from tests.graphs import thing, tie

from whence.chunk_findings import ChunkExtraction
from whence.errors import Conflict
from whence.models import DEFAULT_PROJECT_ID
from whence.search import index
from whence.search.vocabulary import unpack_words
from whence.settings import Settings
from whence.store import Store

pytestmark = pytest.mark.one_app

FIELDS = {
    "id",
    "url",
    "project_id",
    "name",
    "origin",
    "file_type",
    "file_size",
    "sha256",
    "job_id",
    "status",
    "error",
    "chunking",
    "chunk_count",
    "page_count",
    "extraction",
    "version",
    "version_at",
    "valid_from",
    "created_at",
    "metadata",
    "updated_at",
}
TABLES = ("documents", "jobs", "chunks", "chunk_vectors", "job_texts", "job_vectors")


async def names(client: httpx.AsyncClient, **params: Any) -> list[str]:
    data = data_of(await client.get(DOCUMENTS, params=params))
    assert data["pagination"]["total"] == len(data["items"])
    return [document["name"] for document in data["items"]]


async def test_one_document(client: httpx.AsyncClient) -> None:
    content = pdf([["# First", "One page."], ["Another page."]])
    item = await upload(client, "two pages.pdf", content, chunkingStrategy="paragraph")
    document = data_of(await client.get(f"{DOCUMENTS}/{item['documentId'].upper()}"))
    assert set(document) == FIELDS
    assert (document["id"], document["job_id"]) == (item["documentId"], item["jobId"])
    assert (document["name"], document["file_type"]) == ("two pages.pdf", "application/pdf")
    assert (document["file_size"], document["page_count"]) == (len(content), 2)
    assert (document["status"], document["chunk_count"]) == ("completed", item["chunkCount"])
    assert (document["origin"], document["error"]) == (None, None)
    assert document["created_at"].endswith("Z")


async def test_the_list_is_filtered_and_paged_newest_first(client: httpx.AsyncClient, store: Store) -> None:
    for name, text in (("Alpha.txt", "One."), ("beta 100%_.md", "Two."), ("Größe.csv", "three,four")):
        await ingest(client, text, name=name)
    await upload(client, "broken.pdf", b"%PDF-1.4 broken")
    assert await names(client) == ["broken.pdf", "Größe.csv", "beta 100%_.md", "Alpha.txt"]
    assert await names(client, status="failed") == ["broken.pdf"]
    assert await names(client, status="pending") == []
    assert await names(client, file_type="text/") == ["Größe.csv", "beta 100%_.md", "Alpha.txt"]
    assert await names(client, file_type="text/markdown") == ["beta 100%_.md"]
    assert await names(client, name="ALPHA") == ["Alpha.txt"]
    assert await names(client, name="GRÖ") == ["Größe.csv"]
    assert await names(client, name="%") == ["beta 100%_.md"]
    assert await names(client, name="") == await names(client)
    assert await names(client, name="a", status="completed", file_type="text/plain") == ["Alpha.txt"]
    data = data_of(await client.get(DOCUMENTS, params={"limit": 2, "offset": 1}))
    assert [document["name"] for document in data["items"]] == ["Größe.csv", "beta 100%_.md"]
    assert data["pagination"] == {"total": 4, "limit": 2, "offset": 1, "has_more": True}
    assert {frozenset(document) for document in data["items"]} == {frozenset(FIELDS)}
    other = await store.projects.create(name="other")
    for parameter in ("project_id", "projectId"):
        assert await names(client, **{parameter: str(other.id)}) == []


async def test_the_list_takes_endings_of_names_for_types(client: httpx.AsyncClient) -> None:
    for name, text in (("a.txt", "One."), ("b.MD", "Two."), ("c.log", "Three."), ("txt", "Four.")):
        await ingest(client, text, name=name)
    await upload(client, "broken.pdf", b"%PDF-1.4 broken")
    await upload(client, "a report", pdf([["One page."]]))
    for every in ("pdf", ".pdf", "PDF", " .Pdf ", "application/pdf", "Application/*"):
        assert await names(client, file_type=every) == ["a report", "broken.pdf"], every
    assert await names(client, file_type="md") == ["b.MD"]
    assert await names(client, file_type=".txt") == ["a.txt"]
    assert await names(client, file_type="log") == ["c.log"]
    assert await names(client, file_type="text") == ["txt", "c.log", "b.MD", "a.txt"]
    for none in ("df", "docx", "text/x-c", "%", "/"):
        assert await names(client, file_type=none) == [], none


@pytest.mark.parametrize(
    ("params", "code", "parameter"),
    [
        ({"limit": "0"}, "INVALID_PARAMETER", "limit"),
        ({"limit": "101"}, "INVALID_PARAMETER", "limit"),
        ({"offset": "-1"}, "INVALID_PARAMETER", "offset"),
        ({"status": "done"}, "INVALID_PARAMETER", "status"),
        ({"status": ""}, "INVALID_PARAMETER", "status"),
        ({"name": "a\x00b"}, "INVALID_PARAMETER", "name"),
        ({"file_type": "\x00"}, "INVALID_PARAMETER", "file_type"),
        ({"project_id": "x"}, "INVALID_UUID", "project_id"),
        ({"projectId": ""}, "INVALID_UUID", "projectId"),
    ],
)
async def test_a_wrong_filter_is_refused_by_its_name(
    client: httpx.AsyncClient, params: dict[str, str], code: str, parameter: str
) -> None:
    error = error_of(await client.get(DOCUMENTS, params=params), 400, code)
    assert error["details"]["parameter"] == parameter


async def test_the_head_of_a_file_is_that_of_the_file(client: httpx.AsyncClient) -> None:
    item = await upload(client, "two pages.pdf", pdf([["One."], ["Two."]]))
    path = f"{DOCUMENTS}/{item['documentId']}/file"
    whole, head = await client.get(path), await client.head(path)
    assert (head.status_code, head.content) == (200, b"")
    for answer in (whole, head):
        del answer.headers["x-request-id"]
    assert dict(head.headers) == dict(whole.headers)
    assert (await client.head(f"{DOCUMENTS}/{uuid4()}/file")).status_code == 404


async def test_the_head_of_a_file_that_is_lost_is_an_error(
    client: httpx.AsyncClient, settings: Settings
) -> None:
    item = await upload(client, "a.txt", b"One text.")
    for original in originals(settings):
        original.unlink()
    path = f"{DOCUMENTS}/{item['documentId']}/file"
    assert (await client.head(path)).status_code == (await client.get(path)).status_code == 404


async def test_what_is_not_there_is_404(client: httpx.AsyncClient) -> None:
    absent = str(uuid4())
    error = error_of(await client.get(DOCUMENTS, params={"project_id": absent}), 404, "PROJECT_NOT_FOUND")
    assert error["details"] == {"project_id": absent}
    for method, path in (
        ("GET", ""),
        ("GET", "/file"),
        ("GET", "/text"),
        ("GET", "/chunks"),
        ("GET", "/deletion-impact"),
        ("PUT", ""),
        ("DELETE", ""),
    ):
        answer = await client.request(method, f"{DOCUMENTS}/{absent}{path}", json={"name": "x"})
        assert error_of(answer, 404, "DOCUMENT_NOT_FOUND")["details"] == {"document_id": absent}
        answer = await client.request(method, f"{DOCUMENTS}/5{path}", json={"name": "x"})
        assert error_of(answer, 400, "INVALID_UUID")["details"]["parameter"] == "document_id"


async def test_the_original_comes_back_byte_for_byte(client: httpx.AsyncClient) -> None:
    latin = "Größe".encode("latin-1")
    files = {"Größe 漢字 \"x\" 'y';.txt": latin, "page.html": b"<html><script>1</script><p>x</p></html>"}
    for sample in every_format():
        files[sample.name] = sample.content
    for name, content in files.items():
        item = await upload(client, name.replace('"', ""), content)
        answer = await client.get(f"{DOCUMENTS}/{item['documentId']}/file")
        assert answer.content == content
        document = data_of(await client.get(f"{DOCUMENTS}/{item['documentId']}"))
        headers = answer.headers
        assert headers["content-type"] == document["file_type"]  # in which letters it is written, nobody said
        assert headers["content-length"] == str(len(content))
        assert headers["etag"] == f'"{document["sha256"]}"'
        assert headers["x-content-type-options"] == "nosniff"
        kind, _, encoded = headers["content-disposition"].partition("; filename*=UTF-8''")
        assert (kind, unquote(encoded)) == ("attachment", document["name"])
        assert encoded.isascii()


async def test_a_large_original_streams(client: httpx.AsyncClient) -> None:
    content = b"0123456789abcdef" * 100_000
    item = await upload(client, "large.txt", content)
    assert (await client.get(f"{DOCUMENTS}/{item['documentId']}/file")).content == content


async def test_an_original_that_is_gone_is_404(client: httpx.AsyncClient, settings: Settings) -> None:
    item = await upload(client, "a.txt", b"One.")
    (file,) = originals(settings)
    file.unlink()
    error_of(await client.get(f"{DOCUMENTS}/{item['documentId']}/file"), 404, "NOT_FOUND")


async def test_the_text_as_json_and_as_it_is(client: httpx.AsyncClient) -> None:
    sample = next(one for one in every_format() if one.name == "heron.pdf")
    item = await upload(client, sample.name, sample.content)
    path = f"{DOCUMENTS}/{item['documentId']}/text"
    data = data_of(await client.get(path))
    assert data["document_id"] == item["documentId"]
    assert data["characters"] == len(data["text"])
    assert [page["number"] for page in data["pages"]] == [1, 2, 3, 4, 5, 6]
    for sentence, number in sample.pages.items():
        page = data["pages"][number - 1]
        assert sentence[:20] in data["text"][page["start"] : page["end"]]
    plain = await client.get(path, headers={"Accept": "text/plain"})
    assert plain.headers["content-type"] == "text/plain; charset=utf-8"
    assert plain.content.decode() == data["text"]
    unpaged = await ingest(client, "One.")
    assert data_of(await client.get(f"{DOCUMENTS}/{unpaged['documentId']}/text"))["pages"] == []


async def test_spans_and_byte_ranges_of_a_text(client: httpx.AsyncClient) -> None:
    text = "Zürich 東京 " * 60_000  # 600,000 characters: two parts
    for content in (text, "plain ascii " * 50_000):
        item = await ingest(client, content)
        path = f"{DOCUMENTS}/{item['documentId']}/text"
        stored = data_of(await client.get(path))
        assert (stored["text"], stored["characters"], stored["end"]) == (content, len(content), len(content))
        part = data_of(await client.get(path, params={"start": 499_990, "end": 500_010}))
        assert (part["text"], part["characters"]) == (content[499_990:500_010], len(content))
        assert (part["start"], part["end"]) == (499_990, 500_010)
        past = data_of(await client.get(path, params={"start": 10**8}))
        assert (past["text"], past["start"], past["end"]) == ("", len(content), len(content))
        error_of(await client.get(path, params={"start": 5, "end": 4}), 400, "INVALID_PARAMETER")
        error_of(await client.get(path, params={"start": -1}), 400, "INVALID_PARAMETER")

        whole = content.encode()
        for asked, wanted in (
            ("0-9", whole[:10]),
            ("7-7", whole[7:8]),
            ("499995-700000", whole[499995:700001]),
            ("599999-", whole[599999:]),
            ("-3", whole[-3:]),
            (f"5-{10**12}", whole[5:]),
        ):
            answer = await client.get(path, headers={"Accept": "text/plain", "Range": f"bytes={asked}"})
            assert (answer.status_code, answer.content) == (206, wanted)
            assert answer.headers["content-range"].endswith(f"/{len(whole)}")
        for accepted in ("*/*", "application/json, text/plain", "text/*", ""):
            answer = await client.get(path, headers={"Accept": accepted, "Range": "bytes=3-9"})
            assert (answer.status_code, answer.content) == (206, whole[3:10])
        answer = await client.get(path, headers={"Range": f"bytes={len(whole)}-"})
        error_of(answer, 416, "RANGE_NOT_SATISFIABLE")
        json = {"Accept": "application/json", "Range": "bytes=0-9"}
        assert data_of(await client.get(path, headers=json)) == stored
        plain = {"Accept": "text/plain"}
        error_of(
            await client.get(path, headers={**plain, "Range": f"bytes={len(whole)}-"}),
            416,
            "RANGE_NOT_SATISFIABLE",
        )
        for ignored in (
            {"Range": "bytes=0-1,4-5"},
            {"Range": "bytes=0-1", "If-Range": '"old"'},
            {"Range": "lines=1"},
        ):
            answer = await client.get(path, headers={**plain, **ignored})
            assert (answer.status_code, len(answer.content)) == (200, len(whole))
            assert answer.headers["accept-ranges"] == "bytes"


async def test_byte_ranges_of_an_original(client: httpx.AsyncClient) -> None:
    """Viewers of PDF and players read a file in parts."""
    whole = bytes(range(256)) * 2_000  # several reads of the storage
    item = await upload(client, "a.bin", whole)
    path = f"{DOCUMENTS}/{item['documentId']}/file"
    head = await client.head(path, headers={"Range": "bytes=0-9"})
    etag = head.headers["etag"]
    assert (head.status_code, head.headers["content-length"]) == (200, str(len(whole)))
    for asked, first, last in (
        ("0-9", 0, 9),
        ("7-7", 7, 7),
        ("100000-400000", 100_000, 400_000),
        (f"{len(whole) - 1}-", len(whole) - 1, len(whole) - 1),
        ("-3", len(whole) - 3, len(whole) - 1),
        (f"5-{10**12}", 5, len(whole) - 1),
        (f"-{10**12}", 0, len(whole) - 1),
    ):
        answer = await client.get(path, headers={"Range": f"bytes={asked}", "If-Range": etag})
        assert (answer.status_code, answer.content) == (206, whole[first : last + 1]), asked
        assert answer.headers["content-range"] == f"bytes {first}-{last}/{len(whole)}"
        assert answer.headers["content-length"] == str(last + 1 - first)
        assert (answer.headers["etag"], answer.headers["accept-ranges"]) == (etag, "bytes")
    for outside in (f"{len(whole)}-", "9-3", "-0"):
        answer = await client.get(path, headers={"Range": f"bytes={outside}"})
        assert error_of(answer, 416, "RANGE_NOT_SATISFIABLE")["details"] == {"size": len(whole)}
        assert answer.headers["content-range"] == f"bytes */{len(whole)}"
    for ignored in (
        {},
        {"Range": "bytes=0-1,4-5"},
        {"Range": "lines=1"},
        {"Range": "bytes=-"},
        {"Range": "bytes=0-1", "If-Range": '"another"'},
        {"Range": "bytes=0-1", "If-Range": f"W/{etag}"},
        {"Range": "bytes=0-1", "If-Range": "Wed, 18 Nov 2026 10:00:00 GMT"},
    ):
        answer = await client.get(path, headers=ignored)
        assert (answer.status_code, answer.content) == (200, whole), ignored
        assert answer.headers["accept-ranges"] == "bytes"
    await client.put(path.removesuffix("/file"), files={"file": ("a.bin", b"new")}, params={"wait": "true"})
    answer = await client.get(path, headers={"Range": "bytes=0-1", "If-Range": etag})
    assert (answer.status_code, answer.content) == (200, b"new"), "no mix of two files"
    empty = await upload(client, "empty.txt", b"")
    answer = await client.get(f"{DOCUMENTS}/{empty['documentId']}/file", headers={"Range": "bytes=0-"})
    error_of(answer, 416, "RANGE_NOT_SATISFIABLE")


async def test_a_text_of_one_part_is_whole_although_the_document_changes(
    client: httpx.AsyncClient, dsn: str
) -> None:
    item = await ingest(client, "one " * 10)
    document_id = UUID(item["documentId"])
    async with Store.open(dsn, size=2) as store:
        span = await store.texts.span(document_id, start=4)
        assert span is not None
        await client.put(f"{DOCUMENTS}/{document_id}?wait=true", json={"text": "two " * 10})
        assert [part async for part in store.texts.parts(span)] == ["one " * 9]


async def test_readers_that_pause_hold_no_connection_and_see_no_mix(
    client: httpx.AsyncClient, dsn: str
) -> None:
    item = await ingest(client, "one " * 200_000)
    document_id = UUID(item["documentId"])
    async with Store.open(dsn, size=2) as store:
        span = await store.texts.span(document_id)
        assert span is not None
        readers = [store.texts.parts(span) for _ in range(20)]
        first = [await anext(reader) for reader in readers]
        assert {len(part) for part in first} == {500_000}
        assert await store.texts.span(document_id) == span
        await client.put(f"{DOCUMENTS}/{document_id}?wait=true", json={"text": "two " * 200_000})
        with pytest.raises(Conflict):
            await anext(readers[0])
        for reader in readers:
            await reader.aclose()


async def test_many_readers_of_texts_leave_connections_for_others(
    client: httpx.AsyncClient, dsn: str
) -> None:
    item = await ingest(client, PROSE)
    waiting = "SELECT FROM pg_locks WHERE NOT granted"
    async with await psycopg.AsyncConnection.connect(dsn) as conn:
        await conn.execute("LOCK TABLE kb.documents IN ACCESS EXCLUSIVE MODE")  # every text takes long
        texts = [asyncio.create_task(client.get(f"{DOCUMENTS}/{item['documentId']}/text")) for _ in range(40)]
        while await (await conn.execute(waiting)).fetchone() is None:
            assert not any(task.done() for task in texts)
            await asyncio.sleep(0.01)
        data_of(await client.get(f"/api/v1/projects/{DEFAULT_PROJECT_ID}/schema"))
        await conn.rollback()
        assert {data_of(answer)["text"] for answer in await asyncio.gather(*texts)} == {PROSE}


async def test_before_it_was_read_there_is_no_text(client: httpx.AsyncClient, dsn: str) -> None:
    async with no_embedding(dsn):
        answer = await client.post(UPLOAD, files={"file": ("a.txt", b"One.")})
        (item,) = data_of(answer, 202)["items"]
        path = f"{DOCUMENTS}/{item['documentId']}"
        error_of(await client.get(f"{path}/text"), 404, "NOT_FOUND")
        assert data_of(await client.get(f"{path}/chunks"))["items"] == []
        document = data_of(await client.get(path))
        assert (document["status"] in ("pending", "processing"), document["chunk_count"]) == (True, 0)
        assert (await client.get(f"{path}/file")).content == b"One."


async def test_chunks_come_in_reading_order_with_what_was_asked_for(client: httpx.AsyncClient) -> None:
    options = {"maxChunkSize": 100, "minChunkSize": 10}
    item = await ingest(client, PROSE, chunkingOptions=options)
    path = f"{DOCUMENTS}/{item['documentId']}/chunks"
    assert len(await chunks_of(client, item["documentId"])) == item["chunkCount"]
    data = data_of(await client.get(path, params={"limit": 2, "offset": 3}))
    assert [chunk["chunk_index"] for chunk in data["items"]] == [3, 4]
    assert data["pagination"]["total"] == item["chunkCount"]
    full = data_of(await client.get(path, params={"include_source": "1", "include_embeddings": "yes"}))
    assert {chunk["source"]["total_chunks"] for chunk in full["items"]} == {item["chunkCount"]}
    assert len(full["items"][0]["embedding"]) == 256
    assert "source" not in data["items"][0]
    assert "embedding" not in data["items"][0]
    beyond = data_of(await client.get(path, params={"offset": 1000}))
    assert (beyond["items"], beyond["pagination"]["has_more"]) == ([], False)
    error_of(await client.get(path, params={"include_source": "maybe"}), 400, "INVALID_PARAMETER")


async def test_deleting_says_before_what_will_go(client: httpx.AsyncClient) -> None:
    item = await ingest(client, PROSE)
    path = f"{DOCUMENTS}/{item['documentId']}"
    await client.put(path, json={"chunkingStrategy": "sentence"}, params={"wait": "true"})
    impact = data_of(await client.get(f"{path}/deletion-impact"))
    document = data_of(await client.get(path))
    assert impact == {
        "document_id": item["documentId"],
        "name": item["fileName"],
        "original_bytes": len(PROSE.encode()),
        "chunks": document["chunk_count"],
        "jobs": 2,
        "property_claims": 0,
        "objects": 0,
        "relationships": 0,
        "properties": 0,
        "relationship_properties": 0,
        "conflicts": 0,
        "answers": 0,
        "graph": {"objects": [], "properties": [], "relationships": [], "relationship_properties": []},
    }
    assert data_of(await client.get(path)) == document


async def test_deleting_says_before_what_the_graph_will_lose(client: httpx.AsyncClient, store: Store) -> None:
    staying, going = await upload(client, "b.txt", b"Staying."), await upload(client, "a.txt", b"Going.")
    for item, color in ((staying, "red"), (going, "blue")):
        chunks = data_of(await client.get(f"{DOCUMENTS}/{item['documentId']}/chunks"))["items"]
        said = ChunkExtraction(
            project_id=DEFAULT_PROJECT_ID,
            chunk_id=UUID(chunks[0]["id"]),
            job_id=UUID(chunks[0]["job_id"]),
            schema_number=1,
            outcome="extracted",
            objects=[thing("Shared", color=color), thing(f"Only {color}"), thing("Other")],
            relationships=[tie("Shared", "has", f"Only {color}"), tie("Shared", "has", "Other", shade=color)],
        )
        await store.graph.write_chunk(said)
    path = f"{DOCUMENTS}/{going['documentId']}"
    impact = data_of(await client.get(f"{path}/deletion-impact"))
    names = ("property_claims", "objects", "properties", "relationships", "relationship_properties")
    assert [impact[name] for name in names] == [4, 1, 1, 1, 1]
    assert [lost["name"] for lost in impact["graph"]["objects"]] == ["Only blue"]
    (property_,) = impact["graph"]["properties"]
    assert (property_["object_name"], property_["value"], property_["falls_back_to"]) == (
        "Shared",
        "blue",
        "red",
    )
    (edge,) = impact["graph"]["relationships"]
    assert (edge["source_name"], edge["type"], edge["target_name"]) == ("Shared", "has", "Only blue")
    (lost,) = impact["graph"]["relationship_properties"]
    staying = data_of(await client.get(f"/api/v1/relationships/{lost['relationship_id']}"))
    assert lost == {
        "relationship_id": staying["id"],
        "relationship_type": "has",
        "source_name": "Shared",
        "target_name": "Other",
        "property_name": "shade",
        "value": "blue",
        "stays": True,
        "falls_back_to": "red",
    }
    await client.delete(path)
    found, _ = await store.graph.objects.page(DEFAULT_PROJECT_ID, limit=10, offset=0)
    assert {item.name: item.properties for item in found} == {
        "Shared": {"color": "red"},
        "Only red": {},
        "Other": {},
    }
    after = data_of(await client.get(f"/api/v1/relationships/{lost['relationship_id']}"))
    assert (staying["properties"], after["properties"]) == ({"shade": "blue"}, {"shade": "red"})


async def test_deleting_a_document_takes_everything_along(
    client: httpx.AsyncClient, store: Store, settings: Settings
) -> None:
    item, kept = await upload(client, "a.txt", PROSE.encode()), await upload(client, "b.txt", b"Kept.")
    path = f"{DOCUMENTS}/{item['documentId']}"
    document = data_of(await client.get(path))
    assert data_of(await client.delete(path)) == document
    error_of(await client.delete(path), 404, "DOCUMENT_NOT_FOUND")
    error_of(await client.get(f"/api/v1/jobs/{item['jobId']}"), 404, "JOB_NOT_FOUND")
    assert [await count(store, f"kb.{table}") for table in TABLES] == [1, 1, 1, 1, 0, 0]
    assert [file.read_bytes() for file in originals(settings)] == [b"Kept."]
    again = await upload(client, "a.txt", PROSE.encode())
    assert (again["alreadyExists"], again["status"]) == (False, "completed")
    assert again["documentId"] not in (item["documentId"], kept["documentId"])


async def test_deleting_a_document_that_is_being_ingested(
    client: httpx.AsyncClient, store: Store, settings: Settings, dsn: str
) -> None:
    async with no_embedding(dsn):
        answer = await client.post(UPLOAD, files={"file": ("a.txt", PROSE.encode())})
        (item,) = data_of(answer, 202)["items"]
        data_of(await client.delete(f"{DOCUMENTS}/{item['documentId']}"))
    after = await ingest(client, "Another one.")
    assert after["status"] == "completed"
    assert [await count(store, f"kb.{table}") for table in TABLES] == [1, 1, 1, 1, 0, 0]
    assert len(originals(settings)) == 1


async def test_deleting_a_project_takes_its_originals_along(
    client: httpx.AsyncClient, store: Store, settings: Settings
) -> None:
    project = data_of(await client.post("/api/v1/projects", json={"name": "short-lived"}), 201)
    await upload(client, "a.txt", PROSE.encode(), projectId=project["id"])
    await upload(client, "b.txt", b"Kept.")
    data_of(await client.delete(f"/api/v1/projects/{project['id']}"))
    assert [await count(store, f"kb.{table}") for table in TABLES] == [1, 1, 1, 1, 0, 0]
    assert [file.read_bytes() for file in originals(settings)] == [b"Kept."]


async def test_deleted_text_leaves_the_index(
    client: httpx.AsyncClient, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "PURGE_SECONDS", 0)
    kept, gone = [await ingest(client, f"The {word} flies.") for word in ("heron", "xylophone")]
    async with Store.open(dsn, size=1) as store:

        async def words() -> set[str]:
            packed = (await store.lexical.words(DEFAULT_PROJECT_ID)).values()
            return {word for one in packed for word in unpack_words(one)}

        assert {"heron", "xylophone"} <= await words()
        await client.delete(f"{DOCUMENTS}/{gone['documentId']}")
        while "xylophone" in await words():  # noqa: ASYNC110 - the worker sets no event
            await asyncio.sleep(0.05)
        assert "heron" in await words()
        await client.delete(f"{DOCUMENTS}/{kept['documentId']}")
        while await store.lexical.segments(DEFAULT_PROJECT_ID):  # noqa: ASYNC110 - the worker sets no event
            await asyncio.sleep(0.05)
        assert await count(store, "kb.lexical_blocks") == 0
