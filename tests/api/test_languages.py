"""A project's language: how its words are taken for the same."""

from typing import Any

import httpx
import pytest
from tests.api.ingesting import error_of, ingest

from whence.store import Store

pytestmark = pytest.mark.one_app

PROJECTS = "/api/v1/projects"
GERMAN = "Die Häuser am Hafen wurden verkauft. Alle Schiffe sind im Winter an Land."


async def made(client: httpx.AsyncClient, **fields: Any) -> dict[str, Any]:
    answer = await client.post(PROJECTS, json={"name": "books", **fields})
    assert answer.status_code == 201, answer.text
    project: dict[str, Any] = answer.json()["data"]
    return project


async def finds(client: httpx.AsyncClient, project_id: str, query: str) -> bool:
    body = {"projectId": project_id, "query": query, "mode": "text", "floor": False}
    answer = await client.post("/api/v1/search", json=body)
    assert answer.status_code == 200, answer.text
    return bool(answer.json()["data"]["items"])


async def test_a_project_is_english_unless_it_is_said(client: httpx.AsyncClient) -> None:
    assert (await made(client))["language"] == "english"
    listed = (await client.get(PROJECTS)).json()["data"]["items"]
    assert [project["language"] for project in listed] == ["english", "english"]


async def test_words_are_taken_for_the_same_by_the_language(client: httpx.AsyncClient) -> None:
    german = await made(client, language="german")
    assert german["language"] == "german"
    await ingest(client, GERMAN, name="haus.txt", projectId=german["id"])
    assert await finds(client, german["id"], "Haus")
    assert await finds(client, german["id"], "Schiff")


async def test_another_language_makes_the_index_anew(client: httpx.AsyncClient) -> None:
    project = await made(client)
    path = f"{PROJECTS}/{project['id']}"
    await ingest(client, GERMAN, name="haus.txt", projectId=project["id"])
    assert not await finds(client, project["id"], "Haus")
    changed = (await client.patch(path, json={"language": "german"})).json()["data"]
    assert changed["language"] == "german"
    assert await finds(client, project["id"], "Haus")
    await ingest(client, "Die Straßen waren leer.", name="strassen.txt", projectId=project["id"])
    assert await finds(client, project["id"], "Straße")
    await client.patch(path, json={"language": "simple"})
    assert not await finds(client, project["id"], "Haus")
    assert await finds(client, project["id"], "Häuser")


async def test_other_changes_leave_the_language_alone(client: httpx.AsyncClient, store: Store) -> None:
    project = await made(client, language="french")
    before = await store.projects.named("books")
    path = f"{PROJECTS}/{project['id']}"
    await client.patch(path, json={"language": "german"})
    await store.projects.update(before)  # read before the language changed, written after
    changed = (await client.patch(path, json={"config": {"extraction": "manual"}})).json()["data"]
    assert (changed["language"], changed["config"]["extraction"]) == ("german", "manual")


@pytest.mark.parametrize("language", ["klingon", "", 7, None, "English"])
async def test_a_language_that_is_not_known_is_400(client: httpx.AsyncClient, language: Any) -> None:
    body = {"name": "books", "language": language}
    error_of(await client.post(PROJECTS, json=body), 400, "INVALID_REQUEST")
    project = await made(client)
    path = f"{PROJECTS}/{project['id']}"
    error_of(await client.patch(path, json={"language": language}), 400, "INVALID_REQUEST")
    assert (await client.get(path)).json()["data"]["language"] == "english"
