"""One chunk is deleted out of a document: what it alone said goes with it, and all else goes on as before."""

import asyncio
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from tests.api.ingesting import DOCUMENTS, JOBS, count, data_of, ended, error_of, ingest, no_embedding, put
from tests.api.services import PARTS, held, told, until_asked, words
from tests.chat_endpoint import ChatEndpoint
from tests.extracting import CUT, SHARED, extract, graph, paragraphs, rows, scripted
from tests.graphs import picture, require_sound, say, thing, tie
from tests.samples import AddSample

from whence.models import DEFAULT_PROJECT_ID
from whence.store import Store

CHUNKS = "/api/v1/chunks"
SERVICES = (*PARTS, "Delta is the fourth service.", "Alpha and Delta are the last words.")


model, settings = scripted(lambda primary, _: told(primary, {}))
pytestmark = SHARED


async def document_of(client: httpx.AsyncClient) -> tuple[str, list[dict[str, Any]]]:
    """Of five chunks, each of which names a service."""
    receipt = await ingest(client, paragraphs(*SERVICES), name="services.md", **CUT)
    return receipt["documentId"], await chunks_of(client, receipt["documentId"])


async def chunks_of(client: httpx.AsyncClient, document_id: str, **params: Any) -> list[dict[str, Any]]:
    path = f"{DOCUMENTS}/{document_id}/chunks"
    found: list[dict[str, Any]] = data_of(await client.get(path, params={"limit": 100, **params}))["items"]
    return found


async def delete(client: httpx.AsyncClient, chunk: dict[str, Any]) -> None:
    assert data_of(await client.delete(f"{CHUNKS}/{chunk['id']}")) == chunk


async def found_for(client: httpx.AsyncClient, query: str, mode: str) -> list[str]:
    hits = data_of(await client.post("/api/v1/search", json={"query": query, "mode": mode}))["items"]
    return [hit["chunk"]["id"] for hit in hits]


async def test_the_others_stay_where_they_are(by_hand: httpx.AsyncClient, store: Store) -> None:
    document_id, before = await document_of(by_hand)
    job = f"{JOBS}/{before[0]['job_id']}/chunks"
    source = {"include_source": "true"}
    assert (
        data_of(await by_hand.get(f"{CHUNKS}/{before[0]['id']}", params=source))["source"]["total_chunks"]
        == 5
    )
    text = data_of(await by_hand.get(f"{DOCUMENTS}/{document_id}/text"))
    await delete(by_hand, before[2])

    left = [chunk for chunk in before if chunk is not before[2]]
    assert await chunks_of(by_hand, document_id) == left
    assert [chunk["chunk_index"] for chunk in left] == [0, 1, 3, 4]
    page = data_of(await by_hand.get(job, params={"limit": 2, "offset": 2}))
    assert (page["items"], page["pagination"]["total"]) == (left[2:], 4)
    one = data_of(await by_hand.get(f"{CHUNKS}/{before[0]['id']}", params=source))
    assert one["source"]["total_chunks"] == 4
    assert data_of(await by_hand.get(f"{DOCUMENTS}/{document_id}"))["chunk_count"] == 4
    assert data_of(await by_hand.get(f"{DOCUMENTS}/{document_id}/text")) == text
    assert await count(store, "kb.chunk_vectors") == 4
    assert rows_of_index(await store.lexical.segments(DEFAULT_PROJECT_ID)) == 4
    for answer in (
        await by_hand.get(f"{CHUNKS}/{before[2]['id']}"),
        await by_hand.get(f"{CHUNKS}/{before[2]['id']}/deletion-impact"),
        await by_hand.delete(f"{CHUNKS}/{before[2]['id']}"),
    ):
        assert error_of(answer, 404, "CHUNK_NOT_FOUND")["details"] == {"chunk_id": before[2]["id"]}
    bulk = data_of(await by_hand.post(f"{CHUNKS}/bulk", json={"chunk_ids": [before[2]["id"]]}))
    assert bulk["not_found"] == [before[2]["id"]]


def rows_of_index(segments: Any) -> int:
    return sum(segment.live for segment in segments)


@pytest.mark.parametrize("mode", ["text", "vector", "hybrid"])
async def test_it_is_not_found_any_more(by_hand: httpx.AsyncClient, mode: str) -> None:
    _, chunks = await document_of(by_hand)
    assert chunks[2]["id"] in await found_for(by_hand, "Gamma third service", mode)
    await delete(by_hand, chunks[2])
    found = await found_for(by_hand, "Gamma third service", mode)
    assert chunks[2]["id"] not in found
    assert set(found) <= {chunk["id"] for chunk in chunks}
    assert chunks[1]["id"] in await found_for(by_hand, "Beta second service", mode)


async def test_neighbours_are_those_across_the_gap(by_hand: httpx.AsyncClient) -> None:
    _, chunks = await document_of(by_hand)
    await delete(by_hand, chunks[2])

    async def around(chunk: dict[str, Any]) -> tuple[list[int], list[int]]:
        context = data_of(await by_hand.get(f"{CHUNKS}/{chunk['id']}/context"))
        alike = [one["chunk"]["chunk_index"] for one in context["semanticChunks"]]
        return [one["chunk_index"] for one in context["positionalChunks"]], sorted(alike)

    assert await around(chunks[1]) == ([0, 3], [4])
    assert await around(chunks[3]) == ([1, 4], [0])
    assert await around(chunks[0]) == ([1], [3, 4])


async def test_what_only_it_said_goes_as_was_told_before(
    by_hand: httpx.AsyncClient, store: Store, add_sample: AddSample, dsn: str
) -> None:
    sample = await add_sample()
    first, second, _ = sample.chunks
    await say(store, first, thing("Shared", color="red"))
    await say(store, second, thing("Shared", color="blue"), thing("Own"), ties=[tie("Shared", "has", "Own")])
    before = picture(dsn)
    impact = data_of(await by_hand.get(f"{CHUNKS}/{second.id}/deletion-impact"))
    assert picture(dsn) == before
    lists = impact.pop("graph")
    assert impact == {
        "chunk_id": str(second.id),
        "document_id": str(sample.document.id),
        "chunk_index": 1,
        "property_claims": 3,
        "objects": 1,
        "relationships": 1,
        "properties": 1,
        "relationship_properties": 0,
        "conflicts": 1,
    }
    assert [lost["name"] for lost in lists["objects"]] == ["Own"]
    assert [(lost["property_name"], lost["falls_back_to"]) for lost in lists["properties"]] == [
        ("color", "red")
    ]
    assert [lost["target_name"] for lost in lists["relationships"]] == ["Own"]

    data_of(await by_hand.delete(f"{CHUNKS}/{second.id}"))
    require_sound(dsn)
    assert graph(dsn) == {"Thing Shared": {"color": "red"}}
    assert not picture(dsn)["relationships"]
    assert rows(dsn, "SELECT chunk_id FROM kb.chunk_extractions") == [(first.id,)]
    nothing = data_of(await by_hand.get(f"{CHUNKS}/{sample.chunks[2].id}/deletion-impact"))
    assert nothing["graph"] == {
        "objects": [],
        "properties": [],
        "relationships": [],
        "relationship_properties": [],
    }


async def test_the_document_is_extracted_without_it(by_hand: httpx.AsyncClient, dsn: str) -> None:
    document_id, chunks = await document_of(by_hand)
    await extract(by_hand, document_id)
    assert set(graph(dsn)) == {f"Component {name}" for name in ("Alpha", "Beta", "Gamma", "Delta")}
    await delete(by_hand, chunks[2])
    require_sound(dsn)
    assert "Component Gamma" not in graph(dsn)
    for scope in ("stale", "all"):
        answer = await by_hand.post(f"{DOCUMENTS}/{document_id}/reextract", json={"scope": scope})
        data_of(answer, 202)
    async with asyncio.timeout(60):
        while rows(dsn, "SELECT FROM kb.jobs WHERE status IN ('pending', 'processing')"):  # noqa: ASYNC110 - nothing tells of it but asking
            await asyncio.sleep(0.05)
    require_sound(dsn)
    assert set(graph(dsn)) == {f"Component {name}" for name in ("Alpha", "Beta", "Delta")}


async def test_who_sends_the_same_text_again_has_it_back(by_hand: httpx.AsyncClient, store: Store) -> None:
    document_id, before = await document_of(by_hand)
    await delete(by_hand, before[2])
    for unconcerned in ({"metadata": {"a": 1}}, {"name": "services.md"}):
        receipt = await put(by_hand, document_id, **unconcerned)
        assert (receipt["alreadyExists"], receipt["chunkCount"]) == (True, 4)
    receipt = await put(by_hand, document_id, text=paragraphs(*SERVICES))
    assert (receipt["alreadyExists"], receipt["chunkCount"]) == (False, 5)
    after = await chunks_of(by_hand, document_id)
    assert [chunk["content"] for chunk in after] == [chunk["content"] for chunk in before]
    assert [chunk["id"] for chunk in after if chunk["chunk_index"] != 2] == [
        chunk["id"] for chunk in before if chunk["chunk_index"] != 2
    ]
    assert after[2]["id"] != before[2]["id"]
    assert after[2]["id"] in await found_for(by_hand, "Gamma third service", "text")
    assert await count(store, "kb.chunk_vectors") == 5
    again = await put(by_hand, document_id, text=paragraphs(*SERVICES))
    assert (again["alreadyExists"], again["chunkCount"]) == (True, 5)


async def test_the_last_chunk_of_a_document(by_hand: httpx.AsyncClient, store: Store) -> None:
    receipt = await ingest(by_hand, "All there is.")
    (chunk,) = await chunks_of(by_hand, receipt["documentId"])
    await delete(by_hand, chunk)
    assert await chunks_of(by_hand, receipt["documentId"]) == []
    assert data_of(await by_hand.get(f"{DOCUMENTS}/{receipt['documentId']}"))["chunk_count"] == 0
    assert await found_for(by_hand, "All there is", "hybrid") == []
    data_of(await by_hand.delete(f"{DOCUMENTS}/{receipt['documentId']}"))
    assert await count(store, "kb.chunks") == 0


async def test_a_document_that_is_being_updated(by_hand: httpx.AsyncClient, dsn: str) -> None:
    """The update has the text of the chunk: whoever was first, it is there once, with all that belongs to it."""
    document_id, before = await document_of(by_hand)
    changed = paragraphs(*SERVICES).replace("fourth", "next")
    async with no_embedding(dsn):
        answer = await by_hand.put(f"{DOCUMENTS}/{document_id}", json={"text": changed})
        receipt = data_of(answer, 202)
        await delete(by_hand, before[2])
        await delete(by_hand, before[3])
    assert (await ended(by_hand, receipt["jobId"]))["status"] == "completed"
    after = await chunks_of(by_hand, document_id, include_embedding="true")
    assert [chunk["chunk_index"] for chunk in after] == [0, 1, 2, 3, 4]
    assert all(chunk["embedding"] for chunk in after)
    assert [chunk["id"] for chunk in after[:2]] == [chunk["id"] for chunk in before[:2]]
    assert after[2]["content"] == before[2]["content"]
    assert after[2]["id"] in await found_for(by_hand, "Gamma third service", "text")
    require_sound(dsn)


async def test_a_chunk_that_is_being_read(by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str) -> None:
    document_id, chunks = await document_of(by_hand)
    with held(model) as let_go:
        job = data_of(await by_hand.post(f"{DOCUMENTS}/{document_id}/extract", json={}), 202)
        await until_asked(model)
        await delete(by_hand, chunks[0])
        await delete(by_hand, chunks[2])
        let_go.set()
        done = await ended(by_hand, job["jobId"])
    assert (done["status"], done["error"], done["done"], done["total"]) == ("completed", None, 3, 3)
    assert done["extraction"]["prompt_tokens"] == words(model)  # that of the deleted one was paid, too
    require_sound(dsn)
    assert "Component Gamma" not in graph(dsn)
    read = {row[0] for row in rows(dsn, "SELECT chunk_id FROM kb.chunk_extractions")}
    assert read == {UUID(chunks[at]["id"]) for at in (1, 3, 4)}


async def test_a_document_of_which_no_chunk_is_left_is_extracted_at_once(
    by_hand: httpx.AsyncClient, model: ChatEndpoint
) -> None:
    receipt = await ingest(by_hand, "All there is.")
    await delete(by_hand, (await chunks_of(by_hand, receipt["documentId"]))[0])
    for scope in ("stale", "all"):
        job = await extract(by_hand, receipt["documentId"], scope=scope)
        assert (job["status"], job["error"], job["done"], job["total"]) == ("completed", None, 0, 0)
    assert model.requests == []


async def test_many_at_once(by_hand: httpx.AsyncClient, store: Store, dsn: str) -> None:
    """One deletion of each goes well, while the document is extracted; nothing is left of it."""
    document_id, chunks = await document_of(by_hand)
    job = data_of(await by_hand.post(f"{DOCUMENTS}/{document_id}/extract", json={}), 202)
    paths = [f"{CHUNKS}/{chunk['id']}" for chunk in chunks[1:] for _ in range(2)]
    answers = await asyncio.gather(*map(by_hand.delete, paths))
    assert sorted(answer.status_code for answer in answers) == [200] * 4 + [404] * 4
    await ended(by_hand, job["jobId"])
    require_sound(dsn)
    assert [chunk["id"] for chunk in await chunks_of(by_hand, document_id)] == [chunks[0]["id"]]
    assert rows_of_index(await store.lexical.segments(DEFAULT_PROJECT_ID)) == 1
    data_of(await by_hand.delete(f"{CHUNKS}/{chunks[0]['id']}"))
    assert not any(picture(dsn).values())
    assert await count(store, "kb.chunk_extractions") == 0


async def test_what_may_not_be_seen_is_not_there(
    by_hand: httpx.AsyncClient, store: Store, add_sample: AddSample
) -> None:
    other = await store.projects.create(name="other")
    mine = await add_sample()
    _, key = await store.keys.create(name="", scope="write", project_id=other.id)
    _, reading = await store.keys.create(name="", scope="read", project_id=DEFAULT_PROJECT_ID)
    headers = {"Authorization": f"Bearer {key.reveal()}"}
    path = f"{CHUNKS}/{mine.ids[0]}"
    error_of(await by_hand.delete(path, headers=headers), 404, "CHUNK_NOT_FOUND")
    error_of(await by_hand.get(f"{path}/deletion-impact", headers=headers), 404, "CHUNK_NOT_FOUND")
    only_reads = {"Authorization": f"Bearer {reading.reveal()}"}
    error_of(await by_hand.delete(path, headers=only_reads), 403, "FORBIDDEN")
    data_of(await by_hand.get(f"{path}/deletion-impact", headers=only_reads))
    error_of(await by_hand.delete(f"{CHUNKS}/{uuid4()}"), 404, "CHUNK_NOT_FOUND")
    error_of(await by_hand.delete(f"{CHUNKS}/nonsense"), 400, "INVALID_UUID")
    error_of(await by_hand.delete(f"{CHUNKS}/bulk"), 405, "METHOD_NOT_ALLOWED")
    assert await count(store, "kb.chunks") == len(mine.chunks)
