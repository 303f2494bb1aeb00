"""`POST /api/v1/search` and the context of a chunk, over HTTP."""

from typing import Any

import httpx
import pytest
from tests.api.ingesting import data_of, error_of, ingest, upload
from tests.files.pdf import pdf

pytestmark = pytest.mark.one_app

SEARCH = "/api/v1/search"
UNKNOWN = "550e8400-e29b-41d4-a716-446655440000"

BIRDS = "A grey heron waits in the pond. " * 4
TRAINS = "The night train to Narvik leaves at ten past six. " * 4
SMALL = {"chunkingStrategy": "sentence", "chunkingOptions": {"maxChunkSize": 100, "minChunkSize": 10}}

PARAGRAPHS = {"chunkingStrategy": "paragraph", "chunkingOptions": {"maxChunkSize": 100, "minChunkSize": 10}}

CHUNK = {
    *("id", "job_id", "document_id", "document_version", "url", "chunk_index"),
    *("content", "content_hash", "metadata", "created_at"),
}


async def search(client: httpx.AsyncClient, query: str, **fields: Any) -> dict[str, Any]:
    found: dict[str, Any] = data_of(await client.post(SEARCH, json={"query": query, **fields}))
    return found


@pytest.fixture
async def stocked(client: httpx.AsyncClient) -> httpx.AsyncClient:
    await ingest(client, BIRDS, name="birds.txt", **SMALL)
    await ingest(client, TRAINS, name="trains.md", **SMALL)
    return client


async def test_a_hit_has_its_chunk_its_document_its_place_and_its_scores(stocked: httpx.AsyncClient) -> None:
    found = await search(stocked, "night train to Narvik", limit=1)
    assert (found["query"], found["mode"], found["notes"]) == ("night train to Narvik", "hybrid", [])
    (hit,) = found["items"]
    assert set(hit) == {
        "chunk",
        "document",
        "page",
        "startOffset",
        "endOffset",
        "score",
        "scores",
        "distance",
        "highlights",
        "alsoIn",
        "url",
    }
    chunk = hit["chunk"]
    assert set(chunk) == CHUNK
    assert data_of(await stocked.get(f"/api/v1/chunks/{chunk['id']}")) == chunk
    assert hit["document"] == {"id": chunk["document_id"], "name": "trains.md", "fileType": "text/markdown"}
    text = data_of(await stocked.get(f"/api/v1/documents/{chunk['document_id']}/text"))["text"]
    assert text[hit["startOffset"] : hit["endOffset"]] == chunk["content"]
    assert hit["page"] is None
    assert hit["distance"] == pytest.approx(1 - hit["scores"]["vector"])
    assert hit["scores"]["text"] > 0
    words = {chunk["content"][span["start"] : span["end"]] for span in hit["highlights"]}
    assert words == {"night", "train", "Narvik"}


async def test_the_page_of_a_pdf_is_told(client: httpx.AsyncClient) -> None:
    await upload(
        client, "two.pdf", pdf([["The first page is about herons."], ["The second is about trains."]])
    )
    (hit, *_) = (await search(client, "trains"))["items"]
    assert hit["page"] in (1, 2)


async def test_names_in_snake_case_are_taken_too(stocked: httpx.AsyncClient) -> None:
    project = data_of(await stocked.get("/api/v1/projects"))["items"][0]["id"]
    found = await search(
        stocked,
        "heron",
        project_id=project,
        min_score=0.01,
        filters={"file_types": ["txt"]},
        expand={"positional_count": 1, "semantic_chunk_count": 1},
    )
    assert {hit["document"]["name"] for hit in found["items"]} == {"birds.txt"}
    assert set(found["items"][0]["context"]) == {"positionalChunks", "semanticChunks", "relatedObjects"}


@pytest.mark.parametrize(
    "filters",
    [
        {"fileTypes": ["md"]},
        {"fileTypes": [".MD", "application/pdf"]},
        {"fileTypes": ["text/markdown"]},
        {"created": {"from": "2020-01-01"}, "fileTypes": ["text/markdown"]},
        {"created": {"to": "9999-12-31"}, "fileTypes": ["text/markdown"]},
        {"updated": {"from": "2020-01-01T00:00:00Z", "to": "2999-12-31"}, "fileTypes": ["md"]},
    ],
)
async def test_filters(stocked: httpx.AsyncClient, filters: dict[str, Any]) -> None:
    for mode in ("hybrid", "vector", "text"):
        found = await search(stocked, "heron train", mode=mode, filters=filters, floor=False)
        assert {hit["document"]["name"] for hit in found["items"]} == {"trains.md"}, mode


async def test_filters_that_nothing_meets(stocked: httpx.AsyncClient) -> None:
    nothing: list[dict[str, Any]] = [
        {"documentIds": [UNKNOWN]},
        {"documentIds": []},
        {"metadata": {"team": "travel"}},
        {"created": {"to": "2020-01-01"}},
    ]
    for filters in nothing:
        assert (await search(stocked, "heron", filters=filters))["items"] == [], filters


async def test_no_filters_at_all_are_no_filters(stocked: httpx.AsyncClient) -> None:
    usual = (await search(stocked, "heron"))["items"]
    none: list[dict[str, Any] | None] = [None, {}, {"documentIds": None, "fileTypes": [], "metadata": {}}]
    for filters in none:
        assert (await search(stocked, "heron", filters=filters))["items"] == usual


async def test_hits_come_in_pages(stocked: httpx.AsyncClient) -> None:
    whole = await search(stocked, "heron train", floor=False)
    total = len(whole["items"])
    assert whole["pagination"] == {"total": total, "limit": 10, "offset": 0, "has_more": False}
    first = await search(stocked, "heron train", floor=False, limit=1)
    rest = await search(stocked, "heron train", floor=False, offset=1)
    assert first["pagination"] == {"total": total, "limit": 1, "offset": 0, "has_more": True}
    assert rest["pagination"] == {"total": total, "limit": 10, "offset": 1, "has_more": False}
    assert first["items"] + rest["items"] == whole["items"]


async def test_paging_ends_where_nothing_more_can_be_asked_for(client: httpx.AsyncClient) -> None:
    text = "\n\n".join(f"Heron number {number} stands {'very ' * 14}still." for number in range(1_200))
    await ingest(client, text, name="herons.txt", **SMALL)
    seen, offset, more = set[str](), 0, True
    while more:
        page = await search(client, "heron", mode="text", limit=100, offset=offset, floor=False)
        seen |= {hit["chunk"]["id"] for hit in page["items"]}
        offset, more = offset + 100, page["pagination"]["has_more"]
    assert offset == len(seen) == 1_100


async def test_a_field_that_does_not_exist_is_refused_by_its_name(client: httpx.AsyncClient) -> None:
    answer = await client.post(SEARCH, json={"query": "night train to Narvik", "filter": {}, "page": 2})
    error = error_of(answer, 400, "INVALID_PARAMETER")
    assert (error["details"]["parameter"], error["details"]["provided"]) == ("filter", {})
    assert error["message"] == (
        "filter is unknown; known are query, mode, limit, offset, floor, minScore, filters, expand, "
        "includeUngrounded, projectId, project"
    )


async def test_the_floor_can_be_switched_off(stocked: httpx.AsyncClient) -> None:
    query = "six enzymes that catalyse the synthesis of melatonin in mammals"
    assert (await search(stocked, query, mode="text"))["items"] == []
    assert (await search(stocked, query, mode="text", floor=False))["items"] != []


WRONG = [
    ({}, "INVALID_REQUEST", "query"),
    ({"query": None}, "INVALID_REQUEST", "query"),
    ({"query": ""}, "INVALID_PARAMETER", "query"),
    ({"query": " \n"}, "INVALID_PARAMETER", "query"),
    ({"query": "\u200b"}, "INVALID_PARAMETER", "query"),
    ({"query": 7}, "INVALID_PARAMETER", "query"),
    ({"query": "nul \x00"}, "INVALID_PARAMETER", "query"),
    ({"query": "x" * 100_000}, "INVALID_PARAMETER", "query"),
    ({"query": "x", "mode": "semantic"}, "INVALID_PARAMETER", "mode"),
    ({"query": "x", "mode": 1}, "INVALID_PARAMETER", "mode"),
    ({"query": "x", "limit": 0}, "INVALID_PARAMETER", "limit"),
    ({"query": "x", "limit": 101}, "INVALID_PARAMETER", "limit"),
    ({"query": "x", "limit": "10"}, "INVALID_PARAMETER", "limit"),
    ({"query": "x", "limit": 1.5}, "INVALID_PARAMETER", "limit"),
    ({"query": "x", "limit": True}, "INVALID_PARAMETER", "limit"),
    ({"query": "x", "minScore": 2}, "INVALID_PARAMETER", "minScore"),
    ({"query": "x", "offset": -1}, "INVALID_PARAMETER", "offset"),
    ({"query": "x", "offset": 1001}, "INVALID_PARAMETER", "offset"),
    ({"query": "x", "floor": "maybe"}, "INVALID_PARAMETER", "floor"),
    ({"query": "x", "projectId": "default"}, "INVALID_UUID", "projectId"),
    ({"query": "x", "projectId": 5}, "INVALID_UUID", "projectId"),
    ({"query": "x", "filters": "pdf"}, "INVALID_PARAMETER", "filters"),
    ({"query": "x", "filters": {"fileType": ["pdf"]}}, "INVALID_PARAMETER", "filters.fileType"),
    ({"query": "x", "filters": {"fileTypes": "pdf"}}, "INVALID_PARAMETER", "filters.fileTypes"),
    ({"query": "x", "filters": {"fileTypes": ["\u2060"]}}, "INVALID_PARAMETER", "filters.fileTypes"),
    ({"query": "x", "filters": {"fileTypes": [1]}}, "INVALID_PARAMETER", "filters.fileTypes"),
    ({"query": "x", "filters": {"fileTypes": ["\x00"]}}, "INVALID_PARAMETER", "filters.fileTypes"),
    ({"query": "x", "filters": {"documentIds": UNKNOWN}}, "INVALID_PARAMETER", "filters.documentIds"),
    ({"query": "x", "filters": {"documentIds": ["a"]}}, "INVALID_UUID", "filters.documentIds"),
    ({"query": "x", "filters": {"metadata": [1]}}, "INVALID_PARAMETER", "filters.metadata"),
    ({"query": "x", "filters": {"metadata": {"a": ["\x00"]}}}, "INVALID_PARAMETER", "filters.metadata"),
    ({"query": "x", "filters": {"created": "2026"}}, "INVALID_PARAMETER", "filters.created"),
    ({"query": "x", "filters": {"created": {"from": "soon"}}}, "INVALID_PARAMETER", "filters.created.from"),
    ({"query": "x", "filters": {"created": {"to": 2026}}}, "INVALID_PARAMETER", "filters.created.to"),
    ({"query": "x", "filters": {"file_types": 5}}, "INVALID_PARAMETER", "filters.file_types"),
    (
        {"query": "x", "filters": {"updated": {"from": "2026-02-01", "to": "2026-01-31T23:00:00Z"}}},
        "INVALID_PARAMETER",
        "filters.updated.to",
    ),
    (
        {"query": "x", "filters": {"updated": {"until": "2026-01-01"}}},
        "INVALID_PARAMETER",
        "filters.updated.until",
    ),
    ({"query": "x", "expand": True}, "INVALID_PARAMETER", "expand"),
    ({"query": "x", "expand": {"positionalCount": -1}}, "INVALID_PARAMETER", "expand.positionalCount"),
    ({"query": "x", "expand": {"neighbours": 1}}, "INVALID_PARAMETER", "expand.neighbours"),
]


@pytest.mark.parametrize(("body", "code", "field"), WRONG)
async def test_what_is_wrong_is_named(
    client: httpx.AsyncClient, body: dict[str, Any], code: str, field: str
) -> None:
    error = error_of(await client.post(SEARCH, json=body), 400, code)
    assert field in (error["details"].get("parameter"), error["details"].get("field")), error
    assert field in error["message"]


@pytest.mark.parametrize(
    ("query", "kind"),
    [(5, "a number"), (1.5, "a number"), (True, "true or false"), (["x"], "a list"), ({}, "an object")],
)
async def test_what_is_no_text_is_told_by_its_kind(client: httpx.AsyncClient, query: Any, kind: str) -> None:
    error = error_of(await client.post(SEARCH, json={"query": query}), 400, "INVALID_PARAMETER")
    assert error["message"] == f"query must be a text, not {kind}"


@pytest.mark.parametrize("value", [["abc", None, True], {"a": [1.5, {"b": False}]}, False, 7])
async def test_what_was_provided_is_told_as_it_was(client: httpx.AsyncClient, value: Any) -> None:
    for name in ("query", "mode", "limit", "filters", "expand"):
        answer = await client.post(SEARCH, json={"query": "x", name: value})
        if answer.status_code == 400 and answer.json()["error"]["details"].get("parameter") == name:
            assert answer.json()["error"]["details"]["provided"] == value
    error = error_of(await client.post(SEARCH, json={"query": value}), 400, "INVALID_PARAMETER")
    assert error["details"]["provided"] == value


@pytest.mark.parametrize("body", [b"", b"[]", b"7", b'{"query"', b"\xff"])
async def test_a_body_that_is_no_object(client: httpx.AsyncClient, body: bytes) -> None:
    error_of(await client.post(SEARCH, content=body), 400, "INVALID_REQUEST")


async def test_a_project_that_does_not_exist(client: httpx.AsyncClient) -> None:
    answer = await client.post(SEARCH, json={"query": "x", "projectId": UNKNOWN})
    error_of(answer, 404, "PROJECT_NOT_FOUND")


async def test_an_empty_project_finds_nothing(client: httpx.AsyncClient) -> None:
    assert await search(client, "anything") == {
        "items": [],
        "query": "anything",
        "mode": "hybrid",
        "notes": [],
        "pagination": {"total": 0, "limit": 10, "offset": 0, "has_more": False},
    }


async def test_the_context_of_a_chunk(stocked: httpx.AsyncClient) -> None:
    (hit,) = (await search(stocked, "grey heron", limit=1))["items"]
    path = f"/api/v1/chunks/{hit['chunk']['id']}/context"
    context = data_of(await stocked.get(path))
    assert set(context) == {"chunk", "positionalChunks", "semanticChunks", "relatedObjects"}
    assert context["chunk"] == hit["chunk"]
    around = {chunk["chunk_index"] - hit["chunk"]["chunk_index"] for chunk in context["positionalChunks"]}
    assert around <= {-1, 1}
    assert around
    assert all(set(alike) == {"chunk", "distance"} for alike in context["semanticChunks"])
    none: dict[str, int | str] = {"positionalCount": 0, "semantic_chunk_count": 0, "relatedObjectCount": "0"}
    empty = data_of(await stocked.get(path, params=none))
    assert (empty["positionalChunks"], empty["semanticChunks"], empty["relatedObjects"]) == ([], [], [])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("positionalCount", "11"),
        ("positionalCount", "one"),
        ("semanticChunkCount", "-1"),
        ("relatedObjectCount", "1.5"),
        ("objectSimilarityThreshold", "1.01"),
        ("objectSimilarityThreshold", "nan"),
        ("objectSimilarityThreshold", "1e1"),
        ("objectSimilarityThreshold", "1e999"),
    ],
)
async def test_wrong_parameters_of_a_context(client: httpx.AsyncClient, name: str, value: str) -> None:
    answer = await client.get(f"/api/v1/chunks/{UNKNOWN}/context", params={name: value})
    assert error_of(answer, 400, "INVALID_PARAMETER")["details"]["parameter"] == name


@pytest.mark.parametrize("value", ["0", "1", "0.25", "1.0", "5.621353156584652e-249", "2E-1", "1e+0"])
async def test_every_way_to_write_a_number(client: httpx.AsyncClient, value: str) -> None:
    answer = await client.get(
        f"/api/v1/chunks/{UNKNOWN}/context", params={"objectSimilarityThreshold": value}
    )
    error_of(answer, 404, "CHUNK_NOT_FOUND")


async def test_the_context_of_a_chunk_that_does_not_exist(client: httpx.AsyncClient) -> None:
    error_of(await client.get(f"/api/v1/chunks/{UNKNOWN}/context"), 404, "CHUNK_NOT_FOUND")
    error_of(await client.get("/api/v1/chunks/7/context"), 400, "INVALID_UUID")


async def test_the_same_text_is_one_hit_that_says_where_else_it_stands(client: httpx.AsyncClient) -> None:
    notice = "The night train notice: all passengers keep their tickets until Narvik."
    for name in ("a.txt", "b.txt", "c.txt"):
        await ingest(
            client, f"{notice}\n\nThis is the timetable {name} of the railway.", name=name, **PARAGRAPHS
        )
    found = await search(client, "night train notice tickets Narvik", floor=False)
    same = [hit for hit in found["items"] if hit["chunk"]["content"] == notice]
    (hit,) = same
    places = [hit["document"]["name"], *(place["document"]["name"] for place in hit["alsoIn"])]
    assert sorted(places) == ["a.txt", "b.txt", "c.txt"]
    for place in hit["alsoIn"]:
        assert data_of(await client.get(f"/api/v1/chunks/{place['chunkId']}"))["content"] == notice
    assert found["pagination"]["total"] == len(found["items"])


async def test_many_copies_do_not_hide_other_texts(client: httpx.AsyncClient) -> None:
    notice = "The night train notice: all passengers keep their tickets until Narvik."
    copies = "\n\n".join([notice] * 60)
    await ingest(client, f"{copies}\n\nThe night train has a dining car.", **PARAGRAPHS)
    found = await search(client, "night train notice tickets Narvik", limit=5, floor=False)
    assert [hit["chunk"]["content"] for hit in found["items"]] == [
        notice,
        "The night train has a dining car.",
    ]
    assert len(found["items"][0]["alsoIn"]) == 59
