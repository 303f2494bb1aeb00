"""Lists that go on after an item, and lists far from their beginning."""

from typing import Any

import httpx
import psycopg
import pytest
from tests.api.ingesting import data_of
from tests.graphs import say, thing, tie
from tests.samples import AddSample

from whence.models import DEFAULT_PROJECT_ID
from whence.store import Store
from whence.store.documents import select_page

pytestmark = pytest.mark.one_app

MANY = 4000


@pytest.fixture
async def lists(client: httpx.AsyncClient, store: Store, add_sample: AddSample) -> list[str]:
    """Each with five items."""
    samples = [await add_sample(chunks=1, name=f"{number}.txt") for number in range(4)]
    large = await add_sample(chunks=5, name="large.txt")
    things = [thing(f"Thing {number}") for number in range(5)]
    ties = [tie("Thing 0", f"tie_{number}", "Thing 1") for number in range(5)]
    await say(store, samples[0].chunks[0], *things, ties=ties)
    changed = data_of(await client.get("/api/v1/objects"))["items"][0]["id"]
    for number in range(5):
        values = {"set": {"colour": f"c{number}"}, "reason": "a test"}
        data_of(await client.patch(f"/api/v1/objects/{changed}", json=values))
        asked = {"projectId": str(DEFAULT_PROJECT_ID), "message": f"Why {number}?", "store": True}
        assert (await client.post("/api/v1/chat", json=asked)).status_code == 200
    of_chunks = [f"documents/{large.document.id}/chunks", f"jobs/{large.job.id}/chunks"]
    of_curations = [f"projects/{DEFAULT_PROJECT_ID}/curations", f"objects/{changed}/curations"]
    others = ["documents", "jobs", "objects", "objects?direction=desc", "relationships", "answers", "audit"]
    return [*of_chunks, *of_curations, *others]


async def test_pages_after_one_another_are_the_whole_list(
    client: httpx.AsyncClient, lists: list[str]
) -> None:
    for path in lists:
        whole = data_of(await client.get(f"/api/v1/{path}"))
        found: list[dict[str, Any]] = []
        query: dict[str, Any] = {"limit": 2}
        while True:
            # httpx replaces the query of the path by the parameters.
            page = data_of(await client.get(httpx.URL(f"/api/v1/{path}").copy_merge_params(query)))
            assert page["pagination"]["total"] == whole["pagination"]["total"] == 5, path
            found += page["items"]
            if not page["pagination"]["has_more"]:
                break
            query["after"] = page["items"][-1]["id"]
        assert found == whole["items"], path


async def test_after_needs_the_order_of_ids(client: httpx.AsyncClient, lists: list[str]) -> None:
    """Chunks are in reading order: the place of an unknown one is not known."""
    for path in lists[:2]:
        unknown = await client.get(f"/api/v1/{path}", params={"after": str(DEFAULT_PROJECT_ID)})
        assert unknown.json()["error"]["code"] == "CHUNK_NOT_FOUND"
        wrong = await client.get(f"/api/v1/{path}", params={"after": "x"})
        assert wrong.json()["error"]["code"] == "INVALID_UUID"
    refused = await client.get("/api/v1/objects", params={"sort": "name", "after": str(DEFAULT_PROJECT_ID)})
    assert refused.json()["error"]["code"] == "INVALID_PARAMETER"
    assert (await client.get("/api/v1/documents", params={"after": "x"})).json()["error"][
        "code"
    ] == "INVALID_UUID"


@pytest.mark.usefixtures("store")
async def test_skipped_documents_are_not_joined(dsn: str) -> None:
    """Only the documents of the page are looked up in other tables, however many come before them."""
    with psycopg.connect(dsn) as conn:
        conn.execute(
            "INSERT INTO kb.documents (project_id, id, name, mime, size, sha256, created_at, updated_at)"
            " SELECT %s, gen_random_uuid(), 'n' || n, 'text/plain', 1, sha256(n::text::bytea), now(), now()"
            f" FROM generate_series(1, {MANY}) n",
            [DEFAULT_PROJECT_ID],
        )
        conn.execute("ANALYZE kb.documents")
        params: dict[str, Any] = {
            "project_id": DEFAULT_PROJECT_ID,
            "status": None,
            "name": None,
            "mimes": None,
        }
        params |= {"extensions": None, "limit": 20, "offset": MANY - 20, "after": None}
        row = conn.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {select_page()}", params).fetchone()
        assert row is not None
        chunks = [node for node in nodes(row[0][0]["Plan"]) if node.get("Relation Name") == "chunks"]
        assert chunks
        assert all(node["Actual Loops"] <= 20 for node in chunks)


def nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan, *(inner for part in plan.get("Plans", ()) for inner in nodes(part))]
