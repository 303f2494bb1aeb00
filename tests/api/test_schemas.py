"""Schemas through the API: versions that are never changed, and what is wrong with a bad one."""

from typing import Any
from uuid import uuid4

import httpx
import pytest
from tests.api.ingesting import data_of, error_of
from tests.extracting import PROJECTS, extract, ingest_parts

from whence.extract.default_schema import DEFAULT_SCHEMA
from whence.extract.schema_reading import read_schema
from whence.models import DEFAULT_PROJECT_ID

pytestmark = pytest.mark.one_app

PATH = f"{PROJECTS}/{DEFAULT_PROJECT_ID}/schema"


def schema(*names: str, **more: Any) -> dict[str, Any]:
    properties = {name: {"type": "string"} for name in names}
    return {"object_types": {"Thing": {"properties": properties, **more}}}


async def test_a_project_has_the_default_schema_until_it_has_its_own(client: httpx.AsyncClient) -> None:
    found = data_of(await client.get(PATH))
    assert (found["version"], found["number"], found["created_at"]) == (None, None, None)
    assert found["schema"] == DEFAULT_SCHEMA.body
    assert data_of(await client.get(f"{PATH}/versions"))["items"] == []
    put = data_of(await client.put(PATH, json=schema("a")))
    assert (put["version"], put["number"], put["created"]) == ("v1", 1, True)
    found = data_of(await client.get(PATH))
    assert found == {key: value for key, value in put.items() if key != "created"}
    assert found["schema"]["object_types"]["Thing"]["properties"] == {"a": {"type": "string"}}


async def test_the_first_extraction_makes_the_default_schema_the_first_version(
    client: httpx.AsyncClient,
) -> None:
    job = await extract(client, await ingest_parts(client, "Alpha is a service that counts."))
    assert job["extraction"] | {"extracted": 0, "empty": 0} == {
        "scope": "stale",
        "schema_version": "v1",
        "extractor": "rules",
        "model": None,
        "extracted": 0,
        "empty": 0,
        "failed": 0,
        "rejected": 0,
        "prompt_tokens": 0,
        "completion_tokens": 0,
        "cost": None,
    }
    found = data_of(await client.get(PATH))
    assert (found["version"], found["schema"]) == ("v1", DEFAULT_SCHEMA.body)


async def test_a_document_tells_of_its_newest_extraction(client: httpx.AsyncClient) -> None:
    document_id = await ingest_parts(client, "Alpha is a service that counts.")
    path = f"/api/v1/documents/{document_id}"
    assert data_of(await client.get(path))["extraction"] is None
    await extract(client, document_id)
    data_of(await client.put(PATH, json=schema("a")))
    job = await extract(client, document_id)
    told = {"job_id": job["id"], "status": "completed", "schema_version": "v2"}
    assert data_of(await client.get(path))["extraction"] == told
    (listed,) = data_of(await client.get("/api/v1/documents"))["items"]
    assert listed["extraction"] == told


async def test_the_same_body_again_makes_no_new_version(client: httpx.AsyncClient) -> None:
    first = data_of(await client.put(PATH, json=schema("a", "b")))
    again = data_of(await client.put(PATH, json=schema("b", "a")))
    assert (again["version"], again["created"], again["sha256"]) == ("v1", False, first["sha256"])


async def test_a_schema_comes_back_as_it_was_sent(client: httpx.AsyncClient) -> None:
    sent = {
        "object_types": {
            "Thing": {
                "properties": {
                    "name": {"title": "What it is called"},
                    "size": {"minimum": 1.5, "required": True, "renamed_from": "extent"},
                    "any": {},
                    "kind": {"enum": ["b", "a", None]},
                    "parts": {"items": {"properties": {"z": {}, "a": {"type": ["string", "null"]}}}},
                }
            },
            "Bare": {},
        },
        "relationship_types": {"r": {"from": "Thing", "to": "*"}, "s": {}},
    }
    put = data_of(await client.put(PATH, json=sent))
    assert put["schema"] == sent
    assert data_of(await client.get(PATH))["schema"] == sent
    assert data_of(await client.get(PATH, params={"version": "v1"}))["schema"] == sent
    assert data_of(await client.get(f"{PATH}/versions"))["items"][0]["schema"] == sent
    normal = read_schema(sent)
    again = data_of(await client.put(PATH, json=normal.body))
    assert (again["created"], again["version"], again["schema"]) == (False, "v1", sent)
    assert again["sha256"] == put["sha256"] == normal.sha256
    assert (await extract(client, await ingest_parts(client, "Alpha counts.")))["status"] == "completed"


async def test_v10_comes_after_v2(client: httpx.AsyncClient) -> None:
    for number in range(1, 12):
        assert data_of(await client.put(PATH, json=schema(f"p{number}")))["version"] == f"v{number}"
    versions = data_of(await client.get(f"{PATH}/versions", params={"limit": 3}))
    assert [one["version"] for one in versions["items"]] == ["v11", "v10", "v9"]
    assert versions["pagination"] == {"total": 11, "limit": 3, "offset": 0, "has_more": True}
    change = data_of(await client.get(f"{PATH}/diff", params={"from": "v2", "to": "v10"}))
    assert (change["from"], change["to"], change["needs_model"]) == ("v2", "v10", True)
    assert change["added"] == [{"kind": "property", "type": "Thing", "name": "p10"}]
    assert change["removed"] == [{"kind": "property", "type": "Thing", "name": "p2"}]


async def test_an_older_version_can_be_asked_for(client: httpx.AsyncClient) -> None:
    older, newer = [data_of(await client.put(PATH, json=schema(name))) for name in ("a", "b")]
    for version, put in (("v1", older), ("1", older), ("v2", newer)):
        found = data_of(await client.get(PATH, params={"version": version}))
        assert found == {key: value for key, value in put.items() if key != "created"}
    error = error_of(await client.get(PATH, params={"version": "v3"}), 404, "SCHEMA_NOT_FOUND")
    assert error["details"] == {"version": "v3"}
    for version in ("", "v0", "latest", "v-1", "v1.0", "v99999999999"):
        error = error_of(await client.get(PATH, params={"version": version}), 400, "INVALID_PARAMETER")
        assert error["details"]["parameter"] == "version"


async def test_a_difference_needs_two_versions_that_there_are(client: httpx.AsyncClient) -> None:
    data_of(await client.put(PATH, json=schema("a")))
    error = error_of(
        await client.get(f"{PATH}/diff", params={"from": "v1", "to": "v2"}), 404, "SCHEMA_NOT_FOUND"
    )
    assert error["details"] == {"version": "v2"}
    for params in ({}, {"from": "v1"}, {"from": "v1", "to": "latest"}, {"from": "v0", "to": "v1"}):
        error = error_of(await client.get(f"{PATH}/diff", params=params), 400, "INVALID_PARAMETER")
        assert error["details"]["parameter"] in ("from", "to")


async def test_a_property_is_a_json_schema_and_what_changes_in_it_is_a_change(
    client: httpx.AsyncClient,
) -> None:
    level = {"type": "integer", "minimum": 1, "maximum": 5, "title": "Level", "default": 3}
    body = {"object_types": {"Thing": {"properties": {"level": level, "code": {"pattern": "^T-\\d+$"}}}}}
    put = data_of(await client.put(PATH, json=body))
    assert put["schema"]["object_types"]["Thing"]["properties"]["level"] == level
    assert data_of(await client.put(PATH, json=put["schema"]))["created"] is False
    level["maximum"] = 10
    assert data_of(await client.put(PATH, json=body))["version"] == "v2"
    change = data_of(await client.get(f"{PATH}/diff", params={"from": "v1", "to": "v2"}))
    assert change["changed"] == [{"kind": "property", "type": "Thing", "name": "level"}]
    assert change["needs_model"] is True


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "object_types"),
        ([], "schema"),
        ({"object_types": {}}, "object_types"),
        (schema("a") | {"more": 1}, "schema.more"),
        (schema("type"), "object_types.Thing.properties.type"),
        (schema("a", "A"), "object_types.Thing.properties.A"),
        (
            {"object_types": {"Thing": {"properties": {"a": {"type": "float"}}}}},
            "object_types.Thing.properties.a.type",
        ),
        (
            {"object_types": {"Thing": {"properties": {"a": {"$ref": "#"}}}}},
            "object_types.Thing.properties.a.$ref",
        ),
        (
            {"object_types": {"Thing": {"properties": {"a": {"anyOf": [{"pattern": "("}]}}}}},
            "object_types.Thing.properties.a.anyOf[0].pattern",
        ),
        (
            {"object_types": {"Thing": {"properties": {"a": {"minLength": -1}}}}},
            "object_types.Thing.properties.a.minLength",
        ),
        (schema("a", required=["b"]), "object_types.Thing.required"),
        (schema("a") | {"relationship_types": {"r": {"from": ["Other"]}}}, "relationship_types.r.from"),
    ],
)
async def test_what_is_wrong_with_a_schema_is_named(client: httpx.AsyncClient, body: Any, path: str) -> None:
    error = error_of(await client.put(PATH, json=body), 400, "INVALID_SCHEMA")
    assert error["details"]["path"] == path
    assert error["details"].keys() == {"path", "provided", "expected"}
    assert data_of(await client.get(PATH))["version"] is None


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ('{"object_types": {"A": {}, "B": {}, "A": {}}}', "object_types.A"),
        ('{"object_types": {"A": {}}, "object_types": {"B": {}}}', "object_types"),
        (
            '{"object_types": {"A": {"properties": {"b": {"type": "string", "type": "integer"}}}}}',
            "object_types.A.properties.b.type",
        ),
        ('{"object_types": {"A": {}, "\\u0041": {}}}', "object_types.A"),
        ('{"object_types": {"A": {"required": [{"x": 1, "x": 2}]}}}', "object_types.A.required[0].x"),
        ('{"object_types": ' + "[" * 1000 + "]" * 1000 + ', "object_types": {"A": {}}}', None),
    ],
)
async def test_a_name_that_stands_twice_is_refused_and_not_dropped(
    client: httpx.AsyncClient, body: str, path: str | None
) -> None:
    error = error_of(await client.put(PATH, content=body.encode()), 400, "INVALID_SCHEMA")
    assert path is None or error["details"]["path"] == path
    assert path is None or error["message"] == f"{path} must be there only once"
    assert data_of(await client.get(PATH))["version"] is None


async def test_a_body_that_is_no_json_is_refused(client: httpx.AsyncClient) -> None:
    error_of(await client.put(PATH, content=b"{"), 400, "INVALID_REQUEST")
    error_of(await client.get(f"{PROJECTS}/{uuid4()}/schema"), 404, "PROJECT_NOT_FOUND")
    error_of(await client.put(f"{PROJECTS}/{uuid4()}/schema", json=schema("a")), 404, "PROJECT_NOT_FOUND")
    error_of(await client.get(f"{PROJECTS}/nonsense/schema"), 400, "INVALID_UUID")


async def test_a_schema_is_checked_without_being_stored(client: httpx.AsyncClient) -> None:
    def types(kind: str) -> dict[str, Any]:
        return {"object_types": {"Thing": {"properties": {"size": {"type": kind}}}}}

    path = f"{PATH}/check"
    bad = data_of(await client.post(path, json=types("nope")))
    assert not bad["valid"]
    assert bad["problem"]["path"] == "object_types.Thing.properties.size.type"
    assert "nope" in str(bad["problem"]["provided"])
    twice = b'{"object_types": {"Thing": {}, "Thing": {}}}'
    said = data_of(await client.post(path, content=twice, headers={"Content-Type": "application/json"}))
    assert said["problem"]["path"] == "object_types.Thing"
    good = data_of(await client.post(path, json=types("integer")))
    assert (good["valid"], good["problem"]) == (True, None)
    assert data_of(await client.get(f"{PATH}/versions"))["pagination"]["total"] == 0


async def test_a_draft_is_compared_with_a_version(client: httpx.AsyncClient) -> None:
    async def check(body: dict[str, Any], **params: str) -> Any:
        return data_of(await client.post(f"{PATH}/check", json=body, params=params))

    default = {**DEFAULT_SCHEMA.body, "object_types": {**DEFAULT_SCHEMA.body["object_types"], "Ship": {}}}
    changes = (await check(default))["changes"]
    assert (changes["from"], changes["to"], changes["needs_model"]) == ("default", "draft", True)
    assert [one["name"] for one in changes["added"]] == ["Ship"]
    for body in (schema("a"), schema("a", "b")):
        await client.put(PATH, json=body)
    draft = schema("a", "c")
    changes = (await check(draft))["changes"]
    assert changes["from"] == "v2"
    assert ([one["name"] for one in changes["added"]], [one["name"] for one in changes["removed"]]) == (
        ["c"],
        ["b"],
    )
    changes = (await check(draft, **{"from": "v1"}))["changes"]
    assert (changes["from"], [one["name"] for one in changes["added"]], changes["removed"]) == (
        "v1",
        ["c"],
        [],
    )
    assert (await check({"object_types": {"Thing": {"nope": 1}}}))["changes"] is None
    unknown = await client.post(f"{PATH}/check", json=draft, params={"from": "v3"})
    error_of(unknown, 404, "SCHEMA_NOT_FOUND")
    assert data_of(await client.get(PATH))["version"] == "v2"
