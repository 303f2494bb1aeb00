"""What is said of a document, and found by it."""

import json
from typing import Any

import httpx
import pytest
from tests.api.ingesting import error_of
from tests.fetch.site import Site

pytestmark = pytest.mark.one_app

TEXT = "Trains are paid in second class."
NESTED: dict[str, Any] = {"a": {"b": [1, 2.5, True, {"c": "é"}]}}


async def said(client: httpx.AsyncClient, document_id: str) -> dict[str, Any]:
    answer = await client.get(f"/api/v1/documents/{document_id}")
    metadata: dict[str, Any] = answer.json()["data"]["metadata"]
    return metadata


async def text(client: httpx.AsyncClient, **fields: Any) -> str:
    answer = await client.post("/api/v1/ingest/text", json={"text": TEXT, "name": "a.txt", **fields})
    assert answer.status_code in (200, 202), answer.text
    document_id: str = answer.json()["data"]["documentId"]
    return document_id


async def test_it_is_said_when_the_document_comes_in(client: httpx.AsyncClient, site: Site) -> None:
    ids = [await text(client, metadata=NESTED)]
    form = {"metadata": json.dumps(NESTED)}
    uploaded = await client.post(
        "/api/v1/ingest/upload", files={"file": ("b.txt", b"Flights are not.")}, data=form
    )
    ids.append(uploaded.json()["data"]["items"][0]["documentId"])
    page = site.sends("/page.txt", "Content-Type: text/plain", body=b"A page.")
    fetched = await client.post("/api/v1/ingest/url", json={"url": page, "metadata": NESTED})
    ids.append(fetched.json()["data"]["documentId"])
    assert [await said(client, ident) for ident in ids] == [NESTED] * 3


async def test_nothing_said_is_nothing(client: httpx.AsyncClient) -> None:
    assert await said(client, await text(client)) == {}
    assert await said(client, await text(client, metadata=None)) == {}


async def test_what_is_said_later_is_added_and_null_takes_it_back(client: httpx.AsyncClient) -> None:
    ident = await text(client, metadata={"team": "travel", "year": 2025, "draft": None})
    assert await said(client, ident) == {"team": "travel", "year": 2025}
    assert await text(client, metadata={"year": 2026}) == ident  # the same bytes
    path = f"/api/v1/documents/{ident}"
    patched = await client.patch(path, json={"metadata": {"team": None, "who": ["Ada"]}})
    assert patched.json()["data"]["metadata"] == {"year": 2026, "who": ["Ada"]}
    put = await client.put(path, json={"metadata": {"year": 2027}})
    assert put.json()["data"]["alreadyExists"] is True
    assert await said(client, ident) == {"year": 2027, "who": ["Ada"]}


async def test_new_content_keeps_what_was_said(client: httpx.AsyncClient) -> None:
    ident = await text(client, metadata={"team": "travel"})
    body = {"text": "Another text.", "metadata": {"year": 2026}, "wait": True}
    assert (await client.put(f"/api/v1/documents/{ident}", json=body)).status_code == 200
    assert await said(client, ident) == {"team": "travel", "year": 2026}


async def test_searches_find_by_it(client: httpx.AsyncClient) -> None:
    ident = await text(client, metadata={"team": "travel", "year": 2026}, wait=True)
    await client.post("/api/v1/ingest/text", json={"text": "Trains again.", "wait": True})

    async def found(metadata: dict[str, Any]) -> list[str]:
        body = {"query": "trains", "mode": "text", "floor": False, "filters": {"metadata": metadata}}
        items = (await client.post("/api/v1/search", json=body)).json()["data"]["items"]
        return [hit["document"]["id"] for hit in items]

    assert await found({"team": "travel"}) == await found({"year": 2026}) == [ident]
    assert await found({"team": "leave"}) == await found({"year": "2026"}) == []


@pytest.mark.parametrize(
    "metadata",
    [[1], "x", 7, True, {"a": "\x00"}, {"\x00": 1}, {"a": "x" * 20_000}, {"a": [[[[[[[[[1]]]]]]]]]}],
)
async def test_what_cannot_be_kept_is_400(client: httpx.AsyncClient, metadata: Any) -> None:
    ident = await text(client)
    refused = [
        await client.post("/api/v1/ingest/text", json={"text": "Other.", "metadata": metadata}),
        await client.put(f"/api/v1/documents/{ident}", json={"metadata": metadata}),
        await client.patch(f"/api/v1/documents/{ident}", json={"metadata": metadata}),
    ]
    for answer in refused:
        assert error_of(answer, 400, "INVALID_PARAMETER")["details"]["parameter"] == "metadata"
    assert await said(client, ident) == {}


async def test_a_patch_has_to_say_something(client: httpx.AsyncClient) -> None:
    ident = await text(client)
    path = f"/api/v1/documents/{ident}"
    for body in ({}, {"metadata": None}):
        error_of(await client.patch(path, json=body), 400, "INVALID_REQUEST")
    error_of(await client.patch(path, json={"name": "b.txt"}), 400, "INVALID_PARAMETER")
