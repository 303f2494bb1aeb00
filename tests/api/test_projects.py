"""Projects: create, read, change, delete."""

import json
from typing import Any
from uuid import uuid4

import httpx
import pytest
from tests.samples import AddSample

from whence.models import DEFAULT_PROJECT_ID
from whence.store import Store

pytestmark = pytest.mark.one_app

PROJECTS = "/api/v1/projects"


async def test_the_default_project_is_there_and_stays(client: httpx.AsyncClient) -> None:
    (project,) = (await client.get(PROJECTS)).json()["data"]["items"]
    assert project["id"] == str(DEFAULT_PROJECT_ID)
    assert project["name"] == "default"
    answer = await client.delete(f"{PROJECTS}/{DEFAULT_PROJECT_ID}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "CONFLICT")
    renamed = await client.patch(f"{PROJECTS}/{DEFAULT_PROJECT_ID}", json={"name": "main"})
    assert renamed.json()["data"]["name"] == "main"


async def test_a_project_from_its_making_to_its_end(client: httpx.AsyncClient) -> None:
    made = await client.post(PROJECTS, json={"name": "  handbooks ", "description": "all of them"})
    assert made.status_code == 201
    project = made.json()["data"]
    assert set(project) == {"id", "name", "description", "language", "config", "created_at", "updated_at"}
    assert project["name"] == "handbooks"
    assert project["created_at"].endswith("Z")
    path = f"{PROJECTS}/{project['id']}"
    assert (await client.get(path)).json()["data"] == project
    changed = (await client.patch(path, json={"description": None})).json()["data"]
    assert (changed["name"], changed["description"]) == ("handbooks", None)
    assert changed["updated_at"] > project["updated_at"]
    assert (await client.delete(path)).status_code == 200
    for method in ("GET", "DELETE"):
        gone = await client.request(method, path)
        assert (gone.status_code, gone.json()["error"]["code"]) == (404, "PROJECT_NOT_FOUND")
    assert (await client.patch(path, json={"name": "x"})).status_code == 404


async def test_names_are_unique(client: httpx.AsyncClient) -> None:
    assert (await client.post(PROJECTS, json={"name": "one"})).status_code == 201
    again = await client.post(PROJECTS, json={"name": "one"})
    assert (again.status_code, again.json()["error"]["code"]) == (409, "CONFLICT")
    taken = await client.patch(f"{PROJECTS}/{DEFAULT_PROJECT_ID}", json={"name": "one"})
    assert taken.status_code == 409


async def test_a_project_is_created_with_what_is_chosen_for_it(client: httpx.AsyncClient) -> None:
    body = {"name": "x", "language": "german", "config": {"extraction": "manual", "extractor": None}}
    made = (await client.post(PROJECTS, json=body)).json()["data"]
    none = dict.fromkeys(
        (
            *(
                "extractor",
                "context",
                "chunking",
                "verify",
                "citationStyle",
                "footnotes",
                "grounding",
                "media",
            ),
            *("lightragUrl", "lightragKey"),
        )
    )
    chosen = {"extraction": "manual", **none}
    assert (made["language"], made["config"]) == ("german", chosen)
    assert (await client.get(f"{PROJECTS}/{made['id']}")).json()["data"] == made
    wrong: list[Any] = [None, [], {"extraction": "sometimes"}, {"extractor": 1}, {"bogus": 1}]
    for config in wrong:
        answers = [
            await client.post(PROJECTS, json={"name": "y", "config": config}),
            await client.patch(f"{PROJECTS}/{made['id']}", json={"config": config}),
        ]
        assert [answer.status_code for answer in answers] == [400, 400]
        assert answers[0].json() == answers[1].json()
        assert answers[0].json()["error"]["details"]["field"].startswith("config")


async def test_a_name_is_no_id_of_a_project(client: httpx.AsyncClient) -> None:
    for answer in (
        await client.post(PROJECTS, json={"name": str(DEFAULT_PROJECT_ID)}),
        await client.patch(f"{PROJECTS}/{DEFAULT_PROJECT_ID}", json={"name": DEFAULT_PROJECT_ID.hex}),
    ):
        error = answer.json()["error"]
        assert (answer.status_code, error["code"]) == (400, "INVALID_REQUEST")
        assert error["details"]["field"] == "name"
        assert "no UUID" in error["message"]


async def test_deleting_takes_everything_along(
    client: httpx.AsyncClient, store: Store, add_sample: AddSample
) -> None:
    project = await store.projects.create(name="short-lived")
    sample, kept = await add_sample(project_id=project.id), await add_sample()
    await store.keys.create(name="", scope="read", project_id=project.id)
    assert (await client.delete(f"{PROJECTS}/{project.id}")).status_code == 200
    assert (await client.get(f"/api/v1/chunks/{sample.ids[0]}")).status_code == 404
    assert (await client.get(f"/api/v1/chunks/{kept.ids[0]}")).status_code == 200
    for table in ("documents", "jobs", "chunks", "chunk_vectors", "api_keys"):
        query = f"SELECT count(*) FROM kb.{table} WHERE project_id = %(id)s"
        assert await store._queries.one(query, {"id": project.id}) == (0,)


@pytest.mark.parametrize(
    "body",
    [
        {},
        [],
        None,
        {"name": None},
        {"name": 5},
        {"name": "\u200b"},
        {"name": ""},
        {"name": "   "},
        {"name": "a\x00b"},
        {"name": "line\nbreak"},
        {"name": "\ud800"},
        {"name": "x" * 201},
        {"name": "ok", "description": 7},
        {"name": "ok", "description": "a\x00b"},
        {"name": "ok", "description": "x" * 10_001},
        {"name": ["x"]},
    ],
)
async def test_a_bad_project_is_refused_naming_the_field(client: httpx.AsyncClient, body: Any) -> None:
    answer = await client.post(PROJECTS, content=json.dumps(body))
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (400, "INVALID_REQUEST")
    if isinstance(body, dict):
        assert error["details"]["field"] == ("description" if "description" in body else "name")
        assert error["details"]["expected"]
    assert (await client.get(PROJECTS)).json()["data"]["pagination"]["total"] == 1


@pytest.mark.parametrize("body", [{}, {"other": 1}, {"name": None}, {"name": ""}, {"name": 3}, [], "x"])
async def test_a_bad_change_is_refused(client: httpx.AsyncClient, body: Any) -> None:
    answer = await client.patch(f"{PROJECTS}/{DEFAULT_PROJECT_ID}", json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "INVALID_REQUEST")
    assert (await client.get(f"{PROJECTS}/{DEFAULT_PROJECT_ID}")).json()["data"]["name"] == "default"


async def test_an_unknown_choice_is_named_beside_the_known(client: httpx.AsyncClient) -> None:
    answer = await client.patch(f"{PROJECTS}/{DEFAULT_PROJECT_ID}", json={"config": {"bogus": 1}})
    assert answer.status_code == 400
    assert answer.json()["error"] == {
        "code": "INVALID_REQUEST",
        "message": "config.bogus is unknown; known are extraction, extractor, context, chunking, verify, citationStyle, footnotes, grounding, media, lightragUrl, lightragKey",
        "details": {
            "field": "config.bogus",
            "provided": 1,
            "expected": "one of extraction, extractor, context, chunking, verify, citationStyle, footnotes, grounding, media, lightragUrl, lightragKey",
        },
    }


async def test_the_context_of_extractions_is_chosen_field_by_field(client: httpx.AsyncClient) -> None:
    path = f"{PROJECTS}/{DEFAULT_PROJECT_ID}"

    async def chosen(context: Any) -> Any:
        answer = await client.patch(path, json={"config": {"context": context}})
        assert answer.status_code == 200, answer.text
        return answer.json()["data"]["config"]["context"]

    usual = {
        "positionalCount": None,
        "semanticChunkCount": None,
        "relatedObjectCount": None,
        "objectSimilarityThreshold": None,
    }
    assert await chosen({"objectSimilarityThreshold": 0.5}) == {**usual, "objectSimilarityThreshold": 0.5}
    both = {**usual, "objectSimilarityThreshold": 0.5, "positionalCount": 2}
    assert await chosen({"positionalCount": 2.0}) == both  # JSON has one kind of number
    assert (await client.get(path)).json()["data"]["config"]["context"] == both
    assert await chosen({"objectSimilarityThreshold": None}) == {**usual, "positionalCount": 2}
    assert await chosen(None) is None


@pytest.mark.parametrize(
    ("context", "field"),
    [
        ({"positionalCount": 11}, "config.context.positionalCount"),
        ({"semanticChunkCount": -1}, "config.context.semanticChunkCount"),
        ({"relatedObjectCount": "10"}, "config.context.relatedObjectCount"),
        ({"relatedObjectCount": True}, "config.context.relatedObjectCount"),
        ({"objectSimilarityThreshold": 1.5}, "config.context.objectSimilarityThreshold"),
        ({"neighbours": 1}, "config.context.neighbours"),
        (5, "config.context"),
    ],
)
async def test_a_context_that_cannot_be_is_refused(
    client: httpx.AsyncClient, context: Any, field: str
) -> None:
    answer = await client.patch(
        f"{PROJECTS}/{DEFAULT_PROJECT_ID}", json={"config": {"context": context, "extractor": "rules"}}
    )
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (400, "INVALID_REQUEST")
    assert error["details"]["field"] == field
    assert error["details"]["expected"]
    found = (await client.get(f"{PROJECTS}/{DEFAULT_PROJECT_ID}")).json()["data"]["config"]
    assert found == {
        "extraction": None,
        "extractor": None,
        "context": None,
        "chunking": None,
        "verify": None,
        "citationStyle": None,
        "footnotes": None,
        "grounding": None,
        "media": None,
        "lightragUrl": None,
        "lightragKey": None,
    }


async def test_lists_are_paged(client: httpx.AsyncClient, store: Store) -> None:
    for index in range(4):
        await store.projects.create(name=f"p{index}")
    data = (await client.get(PROJECTS, params={"limit": 2, "offset": 1})).json()["data"]
    assert [project["name"] for project in data["items"]] == ["p0", "p1"]
    assert data["pagination"] == {"total": 5, "limit": 2, "offset": 1, "has_more": True}
    for params in ({"limit": "0"}, {"limit": "101"}, {"offset": "-1"}):
        answer = await client.get(PROJECTS, params=params)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "INVALID_PARAMETER")


@pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE"])
async def test_ids_are_checked(client: httpx.AsyncClient, method: str) -> None:
    bad = await client.request(method, f"{PROJECTS}/default", json={"name": "x"})
    assert (bad.status_code, bad.json()["error"]["code"]) == (400, "INVALID_UUID")
    absent = await client.request(method, f"{PROJECTS}/{uuid4()}", json={"name": "x"})
    assert (absent.status_code, absent.json()["error"]["code"]) == (404, "PROJECT_NOT_FOUND")


async def test_a_projects_own_chunking(client: httpx.AsyncClient) -> None:
    """It holds where a request does not say how to cut; what was cut before stays."""
    path = f"{PROJECTS}/{DEFAULT_PROJECT_ID}"

    async def cut(name: str, **fields: Any) -> dict[str, Any]:
        body = {"text": f"One of {name}. " * 20, "name": name, "wait": True, **fields}
        item = (await client.post("/ingest/text", json=body)).json()["data"]
        chunking: dict[str, Any] = (await client.get(f"/api/v1/documents/{item['documentId']}")).json()[
            "data"
        ]["chunking"]
        return chunking

    assert (await cut("before.txt"))["strategy"] == "character"
    default = {"strategy": "paragraph", "maxChunkSize": 200}
    changed = await client.patch(path, json={"config": {"chunking": default}})
    assert changed.json()["data"]["config"]["chunking"] == {**default, "minChunkSize": None}
    assert await cut("a.txt") == {"strategy": "paragraph", "max_chunk_size": 200, "min_chunk_size": 100}
    by_request = await cut("b.txt", chunkingStrategy="sentence")
    assert (by_request["strategy"], by_request["max_chunk_size"]) == ("sentence", 200)
    assert (await cut("before.txt"))["strategy"] == "character"
    for wrong in (
        {"strategy": "haiku"},
        {"maxChunkSize": 200},
        {"strategy": "sentence", "maxChunkSize": 5},
        "sentence",
    ):
        answer = await client.patch(path, json={"config": {"chunking": wrong}})
        assert answer.status_code == 400, wrong
    small = {"strategy": "sentence", "maxChunkSize": 100, "minChunkSize": 100}
    assert (await client.patch(path, json={"config": {"chunking": small}})).status_code == 400
    await client.patch(path, json={"config": {"chunking": None}})
    assert (await cut("c.txt"))["strategy"] == "character"
