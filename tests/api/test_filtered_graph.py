"""Filters apply to claims: an answer restricted to some documents is told only what these say."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from tests.api.chatting import ask, first_chunk, leave_to_chat
from tests.api.ingesting import data_of, ingest
from tests.chat_endpoint import ChatEndpoint, says
from tests.extracting import SHARED, scripted_endpoint
from tests.graphs import say, thing, tie

from whence.models import DEFAULT_PROJECT_ID
from whence.store import Store

pytestmark = SHARED

WHO = "Who is Anna Lindqvist?"


@pytest.fixture(autouse=True)
def model(request: pytest.FixtureRequest) -> Iterator[ChatEndpoint]:
    yield from scripted_endpoint(request, says("She is known [1]."))


@pytest.fixture
async def documents(client: httpx.AsyncClient, store: Store) -> list[dict[str, Any]]:
    """Anna's role changes from one document to the next; the third does not mention her."""
    await leave_to_chat(client)
    texts = (
        ("old.md", "Anna Lindqvist is head of travel in Narvik."),
        ("new.txt", "Anna Lindqvist is head of finance in Oslo."),
        ("other.txt", "Anna Lindqvist Street is closed."),
    )
    made = [await ingest(client, text, name=name, metadata={"of": name[0]}) for name, text in texts]
    for document, role, place in zip(
        made, ("head of travel", "head of finance"), ("Narvik", "Oslo"), strict=False
    ):
        await say(
            store,
            await first_chunk(store, document),
            thing("Anna Lindqvist", role=role, **({"phone": "12"} if place == "Oslo" else {})),
            thing(place),
            ties=[tie("Anna Lindqvist", "works_in", place, since=place.lower())],
        )
    return made


async def graph_of(client: httpx.AsyncClient, **filters: Any) -> str | None:
    told = await ask(client, WHO, **({"filters": filters} if filters else {}))
    return next((one["chunkText"] for one in told["sources"] if one["source"] == "LightRAG Answer"), None)


async def test_the_graph_source_has_only_claims_whose_chunks_pass_the_filter(
    client: httpx.AsyncClient, documents: list[dict[str, Any]]
) -> None:
    whole = await graph_of(client)
    assert whole is not None
    assert "role head of finance" in whole
    ways: list[dict[str, Any]] = [
        {"documentIds": [documents[0]["documentId"]]},
        {"fileTypes": ["md"]},
        {"metadata": {"of": "o"}},
    ]
    for filters in ways:
        old = await graph_of(client, **filters)
        assert old is not None
        assert "role head of travel" in old
        assert "finance" not in old, filters
        assert "phone" not in old
        assert "Oslo" not in old
        assert "works in Narvik (Thing), since narvik." in old
    new = await graph_of(client, documentIds=[documents[1]["documentId"]])
    assert new is not None
    assert "role head of finance" in new
    assert "Narvik" not in new


async def test_a_claim_that_a_person_corrected_is_not_told(
    client: httpx.AsyncClient, documents: list[dict[str, Any]]
) -> None:
    (anna,) = data_of(await client.get("/api/v1/objects", params={"name": "Anna"}))["items"]
    for role, is_told in (("head of law", False), ("head of travel", True)):
        data_of(await client.patch(f"/api/v1/objects/{anna['id']}", json={"set": {"role": role}}))
        old = await graph_of(client, documentIds=[documents[0]["documentId"]])
        assert old is not None
        assert ("head of travel" in old) == is_told
        assert "head of law" not in old


async def test_a_filter_that_leaves_no_claim_leaves_no_graph_source(
    client: httpx.AsyncClient, documents: list[dict[str, Any]]
) -> None:
    assert await graph_of(client, documentIds=[documents[2]["documentId"]]) is None
    assert await graph_of(client, created={"to": "2001-01-01"}) is None


async def test_related_objects_of_a_filtered_search_say_only_what_its_documents_say(
    client: httpx.AsyncClient, store: Store, documents: list[dict[str, Any]]
) -> None:
    objects, _ = await store.graph.objects.page(DEFAULT_PROJECT_ID, limit=10, offset=0)
    space, _ = await store.vectors.spaces(DEFAULT_PROJECT_ID)
    assert space is not None
    vectors = {one.id: [1.0, *([0.0] * (space.dimensions - 1))] for one in objects}
    await store.graph.objects.put_vectors(DEFAULT_PROJECT_ID, space.id, vectors)
    body = {"query": "Anna Lindqvist", "expand": {"relatedObjectCount": 10, "objectSimilarityThreshold": 0}}
    filtered = {**body, "filters": {"documentIds": [documents[0]["documentId"]]}}
    (hit,) = data_of(await client.post("/api/v1/search", json=filtered))["items"]
    told = {one["name"]: one["properties"] for one in hit["context"]["relatedObjects"]}
    assert told["Anna Lindqvist"] == {"role": "head of travel"}
    assert "Oslo" not in told
