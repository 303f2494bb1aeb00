"""API keys over HTTP, what the caller's own allows, and the server's state."""

import httpx
import pytest
from tests.api.ingesting import data_of
from tests.api.test_metering import AUDIT, key

from whence.store import Store

pytestmark = pytest.mark.one_app
KEYS, ME = "/api/v1/keys", "/api/v1/me"


async def test_a_key_is_shown_once_and_revoked_at_once(client: httpx.AsyncClient) -> None:
    made = data_of(await client.post(KEYS, json={"name": "ci", "scope": "write", "tokensPerMinute": 5}), 201)
    secret = {"X-API-Key": made.pop("key")}
    (listed,) = data_of(await client.get(KEYS))["items"]
    assert listed == made
    assert secret["X-API-Key"].startswith(f"wh_{made['prefix']}_")
    mine = data_of(await client.get(ME, headers=secret))
    assert mine == {"scope": "write", "project_id": None, "key_id": made["id"], "name": "ci"}
    assert (await client.get(KEYS, headers=secret)).status_code == 403
    revoked = data_of(await client.delete(f"{KEYS}/{made['id']}"))
    assert revoked["revoked_at"] is not None
    assert (await client.get(ME, headers=secret)).status_code == 401
    again = await client.delete(f"{KEYS}/{made['id']}")
    assert (again.status_code, again.json()["error"]["code"]) == (404, "KEY_NOT_FOUND")
    noted = {entry["action"]: entry["path"] for entry in data_of(await client.get(AUDIT))["items"]}
    assert noted["createKey"] == f"{KEYS} {made['prefix']}"
    assert noted["revokeKey"] == f"{KEYS}/{made['id']}"


async def test_a_key_of_one_project_manages_its_own_keys(client: httpx.AsyncClient, store: Store) -> None:
    own, other = await store.projects.create(name="own"), await store.projects.create(name="other")
    mine, _ = await key(store, project_id=own.id), await key(store, project_id=other.id)
    everywhere, _ = await store.keys.create(name="all", scope="read", project_id=None)
    made = data_of(await client.post(KEYS, json={}, headers=mine), 201)
    assert (made["project_id"], made["scope"]) == (str(own.id), "read")
    listed = data_of(await client.get(KEYS, headers=mine, params={"limit": 1, "offset": 1}))
    assert [one["id"] for one in listed["items"]] == [made["id"]]
    assert listed["pagination"]["total"] == 2
    foreign = await client.post(KEYS, json={"projectId": str(other.id)}, headers=mine)
    assert foreign.json()["error"]["code"] == "PROJECT_NOT_FOUND"
    assert (await client.delete(f"{KEYS}/{everywhere.id}", headers=mine)).status_code == 404
    assert (await client.get("/api/v1/status", headers=mine)).status_code == 403


async def test_a_key_with_limits_gives_no_higher_ones(client: httpx.AsyncClient) -> None:
    made = data_of(await client.post(KEYS, json={"scope": "admin", "requestsPerMinute": 50}), 201)
    mine = {"X-API-Key": made["key"]}
    for wanted, given in ((None, 50), (0, 50), (60, 50), (7, 7)):
        limited = data_of(await client.post(KEYS, json={"requestsPerMinute": wanted}, headers=mine), 201)
        assert limited["requests_per_minute"] == given


async def test_the_state_of_the_server(client: httpx.AsyncClient) -> None:
    data = data_of(await client.get("/api/v1/status"))
    found = {one["what"]: one for one in data["findings"]}
    assert found["Embedder"]["says"]
    assert found["Chat model"]["state"] == "note"
    assert "pgvector" in found["Database"]["says"]
    assert data["settings"]["WHENCE_DATABASE_URL"] == "(set, not shown)"
