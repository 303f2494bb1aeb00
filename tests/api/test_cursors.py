"""Lists that go on after an item, and lists far from their beginning."""

from typing import Any

import httpx
import psycopg
import pytest
from tests.api.ingesting import data_of
from tests.graphs import say, thing, tie
from tests.openapi import document
from tests.samples import AddSample

from whence.models import DEFAULT_PROJECT_ID
from whence.store import Store
from whence.store.documents import select_page

pytestmark = pytest.mark.one_app

MANY = 4000


BOUNDED = {
    "/documents/{document_id}/pages": "pages of one file",
    "/documents/{document_id}/versions": "updates of one document",
    "/projects/{project_id}/schema/versions": "changes by people",
    "/projects/{project_id}/conflicts": "no ids",
    "/projects/{project_id}/provenance/stale": "two lists at once",
    "/search": "ranked",
}
"""Lists by `offset` alone."""


@pytest.fixture
async def lists(client: httpx.AsyncClient, store: Store, add_sample: AddSample) -> dict[str, str]:
    """Every other list by its path in the OpenAPI document, each with several items."""
    large = await add_sample(chunks=5, name="large.txt")
    first = large.chunks[0]
    await grow(client, store, add_sample)
    twins = [thing(name, f"Kind {n}") for n in range(3) for name in ("Harbour Master", "Harbor Master")]
    parts = [thing(f"Part {n}") for n in range(4)]
    ties = [tie("Part 0", f"tie_{n}", "Part 1") for n in range(3)]
    await say(store, first, thing("Pump", size="0"), *twins, *parts, ties=ties)
    for chunk in large.chunks[1:]:
        await say(store, chunk, thing("Pump", size=str(chunk.chunk_index)))
    objects = data_of(await client.get("/api/v1/objects", params={"limit": 100}))["items"]
    ids = {one["name"]: one["id"] for one in objects}
    for n in (2, 3):
        merged = {"keepId": ids["Part 1"], "dropId": ids[f"Part {n}"]}
        data_of(await client.post("/api/v1/objects/merge", json=merged))
    pump, project = ids["Pump"], str(DEFAULT_PROJECT_ID)
    for n in range(3):
        await grow(client, store, add_sample)
        values = {"set": {"colour": f"c{n}"}, "reason": "a test"}
        data_of(await client.patch(f"/api/v1/objects/{pump}", json=values))
    given = {
        "document_id": large.document.id,
        "job_id": large.job.id,
        "chunk_id": first.id,
        "object_id": pump,
    }
    paths = [path for path in cursors() if path != "/objects"]
    found = {path: path.format(**given, project_id=project) for path in paths}
    return found | {"/objects": "/objects", "objects, newest first": "/objects?direction=desc"}


def cursors() -> list[str]:
    """Paths of the lists that go on after an item."""
    found = []
    for path, operations in document()["paths"].items():
        names = {one["name"] for one in operations.get("get", {}).get("parameters", ())}
        short = path.removeprefix("/api/v1")
        if names >= {"limit", "offset"} and short not in BOUNDED:
            assert "after" in names, path
            found.append(short)
    return found


async def grow(client: httpx.AsyncClient, store: Store, add_sample: AddSample) -> None:
    """One more item in most lists."""
    sample = await add_sample(chunks=1, name="small.txt")
    await say(store, sample.chunks[0], thing("Pump", size="new"), thing(f"Other {sample.document.id}"))
    asked = {"projectId": str(DEFAULT_PROJECT_ID), "message": "Why?", "store": True}
    assert (await client.post("/api/v1/chat", json=asked)).status_code == 200
    data_of(await client.post("/api/v1/projects", json={"name": f"p {sample.document.id}"}), 201)
    key, _ = await store.keys.create(name="k", scope="read", project_id=None)
    await store.keys.revoke(str(key.id))  # an active one would close the server to others


async def test_pages_after_one_another_are_the_whole_list_also_while_it_grows(
    client: httpx.AsyncClient, store: Store, add_sample: AddSample, lists: dict[str, str]
) -> None:
    wholes: dict[str, list[str]] = {}
    for name, path in lists.items():
        whole = await read(client, path, limit=100)
        assert not whole["pagination"]["has_more"]
        wholes[name] = [ident(one) for one in whole["items"]]
        assert len(wholes[name]) >= 2, name
    begun = {name: await read(client, path, limit=1) for name, path in lists.items()}
    await grow(client, store, add_sample)
    for name, path in lists.items():
        page, found = begun[name], [ident(one) for one in begun[name]["items"]]
        while page["pagination"]["has_more"]:
            page = await read(client, path, limit=2, after=found[-1])
            found += [ident(one) for one in page["items"]]
        assert len(found) == len({*found}), name
        assert [one for one in found if one in wholes[name]] == wholes[name], name
        assert page["pagination"]["total"] >= len(found), name
        assert (await read(client, path, after=found[-1]))["items"] == [], name


async def read(client: httpx.AsyncClient, path: str, **query: Any) -> dict[str, Any]:
    # httpx replaces the query of the path by the parameters.
    data: dict[str, Any] = data_of(
        await client.get(httpx.URL(f"/api/v1{path}").copy_merge_params(query)),
    )
    return data


def ident(item: dict[str, Any]) -> str:
    return str(item["id"] if "id" in item else item["chunk_id"])


async def test_after_needs_the_order_of_ids(client: httpx.AsyncClient, lists: dict[str, str]) -> None:
    """Chunks are in reading order: the place of an unknown one is not known."""
    for path in (lists["/documents/{document_id}/chunks"], lists["/jobs/{job_id}/chunks"]):
        unknown = await client.get(f"/api/v1{path}", params={"after": str(DEFAULT_PROJECT_ID)})
        assert unknown.json()["error"]["code"] == "CHUNK_NOT_FOUND"
        wrong = await client.get(f"/api/v1{path}", params={"after": "x"})
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
