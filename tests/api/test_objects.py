"""Objects, the six questions about where they came from, and making two into one."""

from typing import Any
from uuid import uuid4

import httpx
import pytest
from tests.api.ingesting import data_of, error_of
from tests.graphs import picture, require_sound, say, thing
from tests.oauth import PARTS, Told, tell
from tests.samples import AddSample

from whence.models import DEFAULT_PROJECT_ID
from whence.store import Store

pytestmark = pytest.mark.one_app

OBJECTS = "/api/v1/objects"
OBJECT_FIELDS = {
    "id",
    "project_id",
    "type",
    "name",
    "properties",
    "aliases",
    "ungrounded",
    "created_at",
    "updated_at",
    "url",
}
CLAIM_FIELDS = {
    "document_version",
    "url",
    "id",
    "object_id",
    "property_name",
    "value",
    "operation",
    "current",
    "schema_version",
    "extracted_at",
    "read_at",
    "quote",
    "start_offset",
    "end_offset",
    "chunk_id",
    "chunk_index",
    "document_id",
    "document_name",
    "page",
    "document_start",
    "as_of",
    "ordered_by",
    "elements",
    "ungrounded",
    "document_end",
}
HOSTILE = "<script>alert('x')</script> \u202eevil\u202c \x1b[31mred\x07 ]]> & \"quoted\" 漢字"


@pytest.fixture
async def told(store: Store) -> Told:
    return await tell(store)


def names(data: Any) -> list[str]:
    return [item["name"] for item in data["items"]]


async def test_the_objects_of_a_project(client: httpx.AsyncClient, told: Told) -> None:
    data = data_of(await client.get(OBJECTS))
    assert names(data) == ["OAuth 2.0", "Gateway"]
    assert data["pagination"] == {"total": 2, "limit": 20, "offset": 0, "has_more": False}
    first = data["items"][0]
    assert set(first) == OBJECT_FIELDS
    assert (first["id"], first["type"]) == (str(told.oauth), "Requirement")
    assert first["properties"] == {"description": "lets users log in", "expiration": "1 hour"}
    second = data_of(await client.get(OBJECTS, params={"limit": 1, "offset": 1}))
    assert (names(second), second["pagination"]["has_more"]) == (["Gateway"], False)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"type": "Component"}, ["Gateway"]),
        ({"type": "component"}, []),
        ({"name": "AUTH"}, ["OAuth 2.0"]),
        ({"name": "%"}, []),
        ({"properties": '{"expiration": "1 hour"}'}, ["OAuth 2.0"]),
        ({"properties": '{"expiration": "30 minutes"}'}, []),
        ({"properties": "{}"}, ["OAuth 2.0", "Gateway"]),
        ({"type": "", "name": ""}, ["OAuth 2.0", "Gateway"]),
        ({"documentId": str(uuid4())}, []),
        ({"projectId": str(DEFAULT_PROJECT_ID)}, ["OAuth 2.0", "Gateway"]),
    ],
)
async def test_objects_are_found_by_what_they_are(
    client: httpx.AsyncClient, told: Told, query: dict[str, str], expected: list[str]
) -> None:
    assert names(data_of(await client.get(OBJECTS, params=query))) == expected
    document = {"documentId": str(told.sample.document.id)}
    assert names(data_of(await client.get(OBJECTS, params={**document, **query}))) == expected


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ({"properties": "nonsense"}, "INVALID_PARAMETER"),
        ({"properties": '["a"]'}, "INVALID_PARAMETER"),
        ({"properties": '{"a": "\\u0000"}'}, "INVALID_PARAMETER"),
        ({"name": "a\x00b"}, "INVALID_PARAMETER"),
        ({"limit": "101"}, "INVALID_PARAMETER"),
        ({"document_id": "x"}, "INVALID_UUID"),
        ({"project_id": "x"}, "INVALID_UUID"),
    ],
)
async def test_a_filter_that_is_none_is_refused(
    client: httpx.AsyncClient, query: dict[str, str], code: str
) -> None:
    details = error_of(await client.get(OBJECTS, params=query), 400, code)["details"]
    assert details["parameter"] in query
    error_of(await client.get(OBJECTS, params={"project_id": str(uuid4())}), 404, "PROJECT_NOT_FOUND")


async def test_an_object_says_where_each_property_came_from(client: httpx.AsyncClient, told: Told) -> None:
    data = data_of(await client.get(f"{OBJECTS}/{told.oauth}"))
    assert set(data) == OBJECT_FIELDS | {"sources", "claim_count", "merges"}
    assert (data["claim_count"], data["merges"]) == (5, [])
    assert list(data["sources"]) == ["description", "expiration", "name"]
    current, older = data["sources"]["expiration"]
    assert set(current) == CLAIM_FIELDS
    assert [(one["value"], one["current"], one["schema_version"]) for one in (current, older)] == [
        ("1 hour", True, "v2"),
        ("30 minutes", False, "v1"),
    ]
    assert (current["page"], current["document_name"], current["chunk_index"]) == (2, "spec.pdf", 1)
    text = "".join(PARTS)
    for claims in data["sources"].values():
        for claim in claims:
            if claim["quote"] is None:
                assert claim["document_start"] is claim["start_offset"] is None
                continue
            chunk = told.chunks[claim["chunk_index"]]
            assert claim["chunk_id"] == str(chunk.id)
            assert chunk.content[claim["start_offset"] : claim["end_offset"]] == claim["quote"]
            assert text[claim["document_start"] : claim["document_end"]] == claim["quote"]


async def test_which_chunks_speak_of_an_object(client: httpx.AsyncClient, told: Told) -> None:
    data = data_of(await client.get(f"{OBJECTS}/{told.oauth}/chunks"))
    assert [item["id"] for item in data["items"]] == told.sample.ids[:3]
    assert [item["content"] for item in data["items"]] == list(PARTS[:3])
    assert [item["property_names"] for item in data["items"]] == [
        ["description", "expiration", "name"],
        ["expiration"],
        ["name"],
    ]
    assert [item["schema_version"] for item in data["items"]] == ["v1", "v2", "v2"]
    assert data["pagination"]["total"] == 3
    one = data_of(await client.get(f"{OBJECTS}/{told.oauth}/chunks", params={"limit": 1, "offset": 1}))
    assert [item["id"] for item in one["items"]] == told.sample.ids[1:2]


async def test_which_objects_a_chunk_speaks_of(client: httpx.AsyncClient, told: Told) -> None:
    found = [data_of(await client.get(f"/api/v1/chunks/{key}/objects")) for key in told.sample.ids]
    assert [names(data) for data in found] == [
        ["OAuth 2.0"],
        ["OAuth 2.0"],
        ["OAuth 2.0", "Gateway"],
        [],
    ]
    assert found[0]["items"][0]["property_names"] == ["description", "expiration", "name"]
    error_of(await client.get(f"/api/v1/chunks/{uuid4()}/objects"), 404, "CHUNK_NOT_FOUND")


async def test_the_source_of_one_property(client: httpx.AsyncClient, told: Told) -> None:
    path = f"{OBJECTS}/{told.oauth}/provenance"
    every = data_of(await client.get(path))
    assert every["pagination"]["total"] == 5
    assert all(set(row) == CLAIM_FIELDS for row in every["items"])
    table = {(row["chunk_index"], row["property_name"]): row for row in every["items"]}
    told_of = {place: (row["operation"], row["schema_version"]) for place, row in table.items()}
    assert told_of == {
        (0, "name"): ("created", "v1"),
        (0, "description"): ("created", "v1"),
        (0, "expiration"): ("created", "v1"),
        (1, "expiration"): ("updated", "v2"),
        (2, "name"): ("updated", "v2"),
    }
    rows = data_of(await client.get(path, params={"property": "expiration"}))["items"]
    assert [(row["value"], row["quote"]) for row in rows] == [
        ("1 hour", "1 hour"),
        ("30 minutes", "30 minutes"),
    ]
    assert data_of(await client.get(path, params={"property": "nothing"}))["items"] == []


async def test_what_was_extracted_under_old_schemas(client: httpx.AsyncClient, told: Told) -> None:
    path = f"/api/v1/projects/{DEFAULT_PROJECT_ID}/provenance/stale"
    data = data_of(await client.get(path))
    assert data["schema_version"] == "v2"
    assert {(row["property_name"], row["schema_version"]) for row in data["items"]} == {
        ("name", "v1"),
        ("description", "v1"),
        ("expiration", "v1"),
    }
    chunks = {row["chunk_id"]: (row["schema_version"], row["outcome"]) for row in data["chunks"]["items"]}
    first, *_, last = told.sample.ids
    assert chunks == {first: ("v1", "extracted"), last: (None, None)}
    assert (data["pagination"]["total"], data["chunks"]["pagination"]["total"]) == (3, 2)
    few = data_of(await client.get(path, params={"limit": 1}))
    assert (len(few["items"]), len(few["chunks"]["items"])) == (1, 1)
    assert few["pagination"]["has_more"]
    assert few["chunks"]["pagination"]["has_more"]
    path = f"/api/v1/projects/{uuid4()}/provenance/stale"
    error_of(await client.get(path), 404, "PROJECT_NOT_FOUND")


async def test_a_project_without_a_schema_has_chunks_to_read_and_no_old_properties(
    client: httpx.AsyncClient, add_sample: AddSample
) -> None:
    sample = await add_sample()
    data = data_of(await client.get(f"/api/v1/projects/{DEFAULT_PROJECT_ID}/provenance/stale"))
    assert (data["schema_version"], data["items"]) == (None, [])
    assert [row["chunk_id"] for row in data["chunks"]["items"]] == sample.ids


async def test_the_history_of_an_object(client: httpx.AsyncClient, told: Told, store: Store) -> None:
    (other,) = (await say(store, told.chunks[3], thing("SSO", "Requirement"), schema=2)).created
    merge = await store.graph.merges.merge(DEFAULT_PROJECT_ID, keep_id=told.oauth, drop_id=other)
    data = data_of(await client.get(f"{OBJECTS}/{told.oauth}/history"))
    events = data["items"]
    assert [event["happened_at"] for event in events] == sorted(event["happened_at"] for event in events)
    assert [event["event"] for event in events] == ["created"] * 3 + ["updated"] * 2 + ["created", "merged"]
    assert {event["property_name"]: event["value"] for event in events[:3]} == {
        "name": "OAuth 2.0",
        "description": "lets users log in",
        "expiration": "30 minutes",
    }
    last = events[-1]
    assert (last["id"], last["dropped_id"], last["dropped_name"]) == (
        str(merge.id),
        str(other),
        "SSO",
    )
    assert data["pagination"]["total"] == 7


async def test_what_is_not_there_is_404_and_what_is_no_id_400(client: httpx.AsyncClient) -> None:
    for path in ("", "/provenance", "/chunks", "/history", "/neighbours"):
        error = error_of(await client.get(f"{OBJECTS}/{(absent := uuid4())}{path}"), 404, "OBJECT_NOT_FOUND")
        assert error["details"] == {"object_id": str(absent)}
        error_of(await client.get(f"{OBJECTS}/x{path}"), 400, "INVALID_UUID")
    error_of(await client.get(f"{OBJECTS}/merge"), 405, "METHOD_NOT_ALLOWED")


async def test_two_objects_become_one_and_two_again(
    client: httpx.AsyncClient, told: Told, store: Store, dsn: str
) -> None:
    other = await say(store, told.chunks[3], thing("Oauth", "Requirement", owner="Ada"), ties=[], schema=2)
    (other_id,) = other.created
    before = picture(dsn)
    merge = data_of(
        await client.post(f"{OBJECTS}/merge", json={"keepId": str(told.oauth), "dropId": str(other_id)})
    )
    assert (merge["object_id"], merge["dropped_id"], merge["dropped_name"]) == (
        str(told.oauth),
        str(other_id),
        "Oauth",
    )
    kept = data_of(await client.get(f"{OBJECTS}/{told.oauth}"))
    assert kept["properties"]["owner"] == "Ada"
    assert kept["merges"] == [merge]
    assert data_of(await client.get(f"{OBJECTS}/{other_id}")) == kept
    assert data_of(await client.get(f"{OBJECTS}/merges"))["items"] == [merge]
    require_sound(dsn)
    assert data_of(await client.post(f"{OBJECTS}/merges/{merge['id']}/undo")) == merge
    assert picture(dsn) == before
    error_of(await client.post(f"{OBJECTS}/merges/{merge['id']}/undo"), 404, "MERGE_NOT_FOUND")
    assert data_of(await client.get(f"{OBJECTS}/merges"))["items"] == []


async def test_what_cannot_be_merged(client: httpx.AsyncClient, told: Told, store: Store) -> None:
    (other,) = (await say(store, told.chunks[3], thing("SSO", "Requirement"), schema=2)).created
    keep, drop = str(told.oauth), str(other)
    path = f"{OBJECTS}/merge"
    project = await store.projects.create(name="another")
    foreign = str((await tell(store, project_id=project.id)).oauth)
    cases: list[tuple[Any, int, str]] = [
        ({"keepId": keep}, 400, "INVALID_REQUEST"),
        ({"keepId": keep, "dropId": "x"}, 400, "INVALID_UUID"),
        ({"keepId": 7, "dropId": drop}, 400, "INVALID_UUID"),
        ([keep, drop], 400, "INVALID_REQUEST"),
        ({"keepId": keep, "dropId": keep}, 400, "INVALID_REQUEST"),
        ({"keepId": keep, "dropId": str(uuid4())}, 404, "OBJECT_NOT_FOUND"),
        ({"keepId": str(uuid4()), "dropId": drop}, 404, "OBJECT_NOT_FOUND"),
        ({"keepId": keep, "dropId": foreign}, 404, "OBJECT_NOT_FOUND"),
        ({"keepId": keep, "dropId": str(told.gateway)}, 409, "CONFLICT"),
    ]
    for body, status, code in cases:
        error_of(await client.post(path, json=body), status, code)
    error_of(await client.post(path, content=b"{"), 400, "INVALID_REQUEST")
    data_of(await client.post(path, json={"keep_id": keep, "drop_id": drop}))
    error_of(await client.post(path, json={"keepId": keep, "dropId": drop}), 409, "CONFLICT")


async def test_a_key_of_one_project_sees_nothing_of_another(
    client: httpx.AsyncClient, told: Told, store: Store
) -> None:
    project = await store.projects.create(name="another")
    _, key = await store.keys.create(name="", scope="write", project_id=project.id)
    headers = {"Authorization": f"Bearer {key.reveal()}"}
    for path in (f"objects/{told.oauth}", f"objects/{told.oauth}/provenance"):
        answer = await client.get(f"/api/v1/{path}", headers=headers)
        error_of(answer, 404, "OBJECT_NOT_FOUND")
    body = {"keepId": str(told.oauth), "dropId": str(told.gateway)}
    error_of(await client.post(f"{OBJECTS}/merge", json=body, headers=headers), 404, "OBJECT_NOT_FOUND")
    for path in ("objects", "relationships"):
        assert data_of(await client.get(f"/api/v1/{path}", headers=headers))["items"] == []


async def test_any_value_is_told_as_it_is(
    client: httpx.AsyncClient, add_sample: AddSample, store: Store
) -> None:
    sample = await add_sample()
    value = {"text": HOSTILE, "great": 1e40, "list": [None, True, -1.5], "deep": {"a": {"b": []}}}
    written = await say(
        store, sample.chunks[0], thing(HOSTILE, HOSTILE, **{HOSTILE: value, "great": 2**63 - 1})
    )
    (ident,) = written.created
    listed = data_of(await client.get(OBJECTS, params={"name": "<SCRIPT>"}))["items"]
    answer = await client.get(f"{OBJECTS}/{ident}")
    one = data_of(answer)
    assert answer.headers["content-type"] == "application/json"
    for found in (listed[0], one):
        assert (found["name"], found["type"]) == (HOSTILE, HOSTILE)
        assert found["properties"] == {HOSTILE: value, "great": 2**63 - 1}
        assert found["created_at"].endswith("Z")
    assert one["sources"][HOSTILE][0]["value"] == value


async def test_a_filter_may_be_nested_but_not_without_end(client: httpx.AsyncClient) -> None:
    for depth, status in ((1, 200), (19, 200), (21, 400), (1000, 400), (3000, 400)):
        nested = '{"a":' * depth + "1" + "}" * depth
        answer = await client.get(OBJECTS, params={"properties": nested})
        assert answer.status_code == status, depth
