"""Relationships, what is around an object, a part to look at, and the whole graph as a file."""

import json
from typing import Any
from uuid import uuid4

import httpx
import pytest
from tests.api.ingesting import data_of, error_of
from tests.api.test_objects import CLAIM_FIELDS, OBJECT_FIELDS, OBJECTS
from tests.graphs import say, thing, tie
from tests.oauth import Told, tell
from tests.samples import AddSample

from whence.store import Store

pytestmark = pytest.mark.one_app

GRAPH = "/api/v1/graph"
RELATIONSHIPS = "/api/v1/relationships"
RELATIONSHIP_FIELDS = {
    "id",
    "project_id",
    "type",
    "source_id",
    "source_type",
    "source_name",
    "target_id",
    "target_type",
    "target_name",
    "properties",
    "created_at",
    "updated_at",
    "ungrounded",
}


@pytest.fixture
async def told(store: Store) -> Told:
    return await tell(store)


async def chain(store: Store, add_sample: AddSample, length: int) -> list[str]:
    """Things, each related to the next; their ids."""
    sample = await add_sample()
    things = [thing(f"T{at}") for at in range(length)]
    ties = [tie(f"T{at}", "next", f"T{at + 1}") for at in range(length - 1)]
    written = await say(store, sample.chunks[0], *things, ties=ties)
    return [str(ident) for ident in written.objects]


def seen(data: Any) -> tuple[list[str], list[tuple[str, str]]]:
    edges = [(edge["source_name"], edge["target_name"]) for edge in data["edges"]]
    return sorted(node["name"] for node in data["nodes"]), sorted(edges)


async def test_the_relationships_of_a_project(client: httpx.AsyncClient, told: Told) -> None:
    (edge,) = data_of(await client.get(RELATIONSHIPS))["items"]
    assert set(edge) == RELATIONSHIP_FIELDS
    assert (edge["source_name"], edge["type"], edge["target_name"]) == ("Gateway", "checks", "OAuth 2.0")
    assert edge["properties"] == {"how": "every token"}
    ids = {"source": str(told.gateway), "target": str(told.oauth)}
    found: list[dict[str, str]] = [
        {"type": "checks"},
        {"source_id": ids["source"]},
        {"targetId": ids["target"]},
        {"object_id": ids["source"]},
        {"object_id": ids["target"], "document_id": str(told.sample.document.id)},
    ]
    for query in found:
        assert data_of(await client.get(RELATIONSHIPS, params=query))["items"] == [edge], query
    for query in ({"type": "x"}, {"source_id": ids["target"]}, {"document_id": str(uuid4())}):
        assert data_of(await client.get(RELATIONSHIPS, params=query))["items"] == [], query
    error_of(await client.get(RELATIONSHIPS, params={"source_id": "x"}), 400, "INVALID_UUID")


async def test_a_relationship_says_where_it_came_from(client: httpx.AsyncClient, told: Told) -> None:
    data = data_of(await client.get(f"{RELATIONSHIPS}/{told.checks}"))
    (source,) = data["sources"]
    of_properties = {"elements", "object_id", "property_name", "value", "current"}
    assert set(source) == CLAIM_FIELDS - of_properties | {"relationship_id", "properties"}
    assert (source["quote"], source["page"], source["schema_version"]) == ("checks every token", 3, "v2")
    assert data["claim_count"] == 1
    error_of(await client.get(f"{RELATIONSHIPS}/{uuid4()}"), 404, "RELATIONSHIP_NOT_FOUND")


async def test_what_is_around_an_object(
    client: httpx.AsyncClient, store: Store, add_sample: AddSample
) -> None:
    ids = await chain(store, add_sample, 6)
    path = f"{OBJECTS}/{ids[0]}/neighbours"
    near = data_of(await client.get(path))
    assert seen(near) == (["T0", "T1"], [("T0", "T1")])
    assert not near["truncated"]
    assert set(near["nodes"][0]) == OBJECT_FIELDS
    far = data_of(await client.get(path, params={"depth": "3"}))
    assert seen(far)[0] == ["T0", "T1", "T2", "T3"]
    cut = data_of(await client.get(path, params={"depth": "3", "limit": "2"}))
    assert (seen(cut)[0], cut["truncated"]) == (["T0", "T1"], True)
    for query in ({"depth": "0"}, {"depth": "4"}, {"depth": "x"}, {"limit": "0"}, {"limit": "1001"}):
        error = error_of(await client.get(path, params=query), 400, "INVALID_PARAMETER")
        assert [error["details"]["parameter"]] == list(query)


async def test_a_part_of_the_graph_says_when_there_is_more(
    client: httpx.AsyncClient, store: Store, add_sample: AddSample
) -> None:
    await chain(store, add_sample, 5)
    whole = data_of(await client.get(GRAPH))
    assert seen(whole) == (
        ["T0", "T1", "T2", "T3", "T4"],
        [("T0", "T1"), ("T1", "T2"), ("T2", "T3"), ("T3", "T4")],
    )
    assert (whole["truncated"], whole["types"]) == (False, {"Thing": 5})
    part = data_of(await client.get(GRAPH, params={"limit": "3"}))
    assert (len(part["nodes"]), len(part["edges"]), part["truncated"]) == (3, 2, True)
    assert seen(data_of(await client.get(GRAPH, params={"name": "t3"}))) == (["T3"], [])
    assert seen(data_of(await client.get(GRAPH, params={"type": "None"}))) == ([], [])
    assert seen(data_of(await client.get(GRAPH, params={"documentId": str(uuid4())}))) == ([], [])
    error_of(await client.get(GRAPH, params={"limit": "1001"}), 400, "INVALID_PARAMETER")
    error_of(await client.get(GRAPH, params={"projectId": str(uuid4())}), 404, "PROJECT_NOT_FOUND")


async def test_the_graph_as_lines_of_json_is_what_the_routes_tell(
    client: httpx.AsyncClient, told: Told, store: Store
) -> None:
    await say(store, told.chunks[3], thing("Great", "Number", value=10**30, none=None))
    answer = await client.get(f"{GRAPH}/export")
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert answer.headers["content-disposition"] == 'attachment; filename="graph.jsonl"'
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert [line.pop("kind") for line in lines] == ["object"] * 3 + ["relationship"]
    sources = [line.pop("sources") for line in lines]
    objects = data_of(await client.get(OBJECTS))["items"]
    assert lines == objects + data_of(await client.get(RELATIONSHIPS))["items"]
    one = data_of(await client.get(f"{OBJECTS}/{told.oauth}"))["sources"]
    assert sources[0] == {name: claims[:1] for name, claims in one.items()}
    assert sources[3] == data_of(await client.get(f"{RELATIONSHIPS}/{told.checks}"))["sources"]


async def test_an_empty_graph_is_exported_too(client: httpx.AsyncClient) -> None:
    assert (await client.get(f"{GRAPH}/export")).content == b""
    error_of(await client.get(f"{GRAPH}/export", params={"format": "csv"}), 400, "INVALID_PARAMETER")
    error_of(
        await client.get(f"{GRAPH}/export", params={"project_id": str(uuid4())}), 404, "PROJECT_NOT_FOUND"
    )


async def test_an_export_longer_than_one_batch_is_whole(
    client: httpx.AsyncClient, store: Store, add_sample: AddSample
) -> None:
    ids = await chain(store, add_sample, 1201)
    text = (await client.get(f"{GRAPH}/export")).text
    lines = [json.loads(line) for line in text.splitlines()]
    assert [line["id"] for line in lines if line["kind"] == "object"] == sorted(ids)
    assert len(lines) == 2401
