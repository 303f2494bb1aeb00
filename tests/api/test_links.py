"""Links: on everything that has a place, and followed through the versions of a document."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.api.chatting import LEAVE, PROJECT, QUESTION, SMALL, TRAVEL, ask, first_chunk
from tests.api.conftest import usual_settings
from tests.api.ingesting import DOCUMENTS, chunks_of, data_of, error_of, ingest, put
from tests.api.shared_app import SharedApp
from tests.graphs import say, thing

from whence.link_target import nearest
from whence.store import Store

pytestmark = pytest.mark.one_app

BASE = "https://kb.example.org/whence"
RESOLVE = "/api/v1/links/resolve"
HANDBOOK = f"{LEAVE} {TRAVEL}"


@pytest.fixture(scope="module")
async def shared_app(shared_dsn: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[SharedApp]:
    usual = usual_settings(shared_dsn, tmp_path_factory.mktemp("links") / "data")
    shared = SharedApp(replace(usual, public_url=BASE))
    yield shared
    await shared.aclose()


@pytest.fixture
async def handbook(by_hand: httpx.AsyncClient) -> str:
    """The id of a document of two chunks."""
    made = await ingest(by_hand, HANDBOOK, name="handbook.md", **SMALL)
    ident: str = made["documentId"]
    return ident


async def follow(client: httpx.AsyncClient, url: str) -> dict[str, Any]:
    found: dict[str, Any] = data_of(await client.get(RESOLVE, params={"url": url}))
    return found


async def test_a_chunk_has_its_link_everywhere(client: httpx.AsyncClient, handbook: str) -> None:
    """`source`, whose ten fields are fixed, has none: the chunk beside it has it."""
    told = await ask(client)
    asked = {"query": QUESTION, "projectId": PROJECT}
    hit, *_ = data_of(await client.post("/api/v1/search", json=asked))["items"]
    chunk, *_ = await chunks_of(client, handbook)
    job = f"/api/v1/jobs/{chunk['job_id']}/chunks"
    with_source = {"include_source": "true"}
    single = data_of(await client.get(f"/api/v1/chunks/{chunk['id']}", params=with_source))
    of_job = data_of(await client.get(f"{job}/{chunk['id']}", params=with_source))
    listed, *_ = data_of(await client.get(job, params=with_source))["items"]
    body = {"chunk_ids": [chunk["id"]], "include_source": True}
    (bulk,) = data_of(await client.post("/api/v1/chunks/bulk", json=body))["chunks"]
    for found in (single, of_job, listed, bulk):
        assert len(found["source"]) == 10
        assert "url" not in found["source"]
    span = f"/d/{handbook}?span=0-{len(chunk['content'])}&v=1"
    for found in (chunk, single, of_job, listed, bulk, hit, hit["chunk"], told["sources"][0]):
        assert found["url"] == BASE + span
    for one in told["citations"]:
        target = await follow(client, one["url"])
        assert (target["status"], target["quote"], target["chunkId"]) == (
            "current",
            one["quote"],
            one["chunkId"],
        )


async def test_everything_else_with_a_place_has_a_link(
    client: httpx.AsyncClient, store: Store, handbook: str
) -> None:
    written = await say(store, await first_chunk(store, {"documentId": handbook}), thing("Leave", days=30))
    (one,) = written.objects
    answer = data_of(await client.get(f"/api/v1/objects/{one}"))
    assert answer["url"] == f"{BASE}/o/{one}"
    assert answer["sources"]["days"][0]["url"].startswith(f"{BASE}/d/{handbook}?span=")
    assert (await follow(client, answer["url"]))["id"] == str(one)
    claims = data_of(await client.get(f"/api/v1/objects/{one}/provenance"))["items"]
    document = data_of(await client.get(f"{DOCUMENTS}/{handbook}"))
    assert document["url"] == f"{BASE}/d/{handbook}?v=1"
    span = data_of(await client.get(f"{DOCUMENTS}/{handbook}/spans", params={"start": 3, "end": 8}))
    assert span["url"] == f"{BASE}/d/{handbook}?span=3-8&v=1"
    items = [{"documentId": handbook, "start": 3, "end": 8}]
    (found,) = data_of(await client.post("/api/v1/evidence", json={"items": items}))["items"]
    assert found["span"]["url"] == span["url"]
    asked = {"projectId": PROJECT, "message": QUESTION, "store": True}
    told = (await client.post("/api/v1/chat", json=asked)).json()
    stored = data_of(await client.get(f"/api/v1/answers/{told['answerId']}"))
    assert stored["url"] == f"{BASE}/a/{told['answerId']}"
    sources = [one for one in stored["sources"] if one["documentId"]]  # the graph's has no place
    assert min(len(claims), len(sources), len(stored["citations"])) > 0
    for found in (*claims, *sources, *stored["citations"]):
        assert found["url"].startswith(f"{BASE}/d/{handbook}?span=")
    conversation = data_of(await client.get(f"/api/v1/conversations/{told['conversationId']}"))
    assert conversation["url"] == f"{BASE}/c/{told['conversationId']}"


async def test_an_unchanged_chunk_is_found_by_its_id(client: httpx.AsyncClient, handbook: str) -> None:
    _, chunk = await chunks_of(client, handbook)
    added = f"A new beginning of the handbook, long enough to be a chunk of its own, as one sees here at once. {HANDBOOK}"
    await put(client, handbook, text=added)
    found = await follow(client, chunk["url"])
    assert (found["status"], found["version"], found["currentVersion"]) == ("moved", 1, 2)
    assert not found["isCurrent"]
    assert found["chunkId"] == chunk["id"]
    assert added[found["span"]["start"] : found["span"]["end"]] == found["quote"] == chunk["content"]
    asked = {name: values[0] for name, values in parse_qs(urlsplit(chunk["url"]).query).items()}
    same = data_of(await client.get(RESOLVE, params={"document": handbook, **asked}))
    assert same == found


async def test_text_that_moved_stayed_or_is_gone(client: httpx.AsyncClient, handbook: str) -> None:
    links = {name: f"/d/{handbook}?span={span}&v=1" for name, span in (("first", "0-8"), ("year", "39-43"))}
    await put(client, handbook, text=HANDBOOK, chunkingOptions={"maxChunkSize": 200, "minChunkSize": 10})
    assert (await follow(client, links["first"]))["status"] == "same"
    await put(client, handbook, text=f"Once a year. {HANDBOOK}")
    found = await follow(client, links["year"])
    assert (found["status"], found["quote"]) == ("moved", "year")
    assert found["span"]["start"] == 39 + len("Once a year. ")
    await put(client, handbook, text="Nothing of it is left.")
    gone = await follow(client, links["first"])
    assert (gone["status"], gone["quote"], gone["span"], gone["currentVersion"]) == (
        "gone",
        "Everyone",
        None,
        4,
    )
    assert gone["url"] == f"{BASE}/d/{handbook}?v=4"
    assert (await follow(client, f"/d/{handbook}?v=1"))["status"] == "same"


async def test_versions_that_are_not_kept_any_more(
    client: httpx.AsyncClient, store: Store, handbook: str
) -> None:
    await put(client, handbook, text="Something else.")
    await store._queries.run("DELETE FROM kb.document_versions")
    found = await follow(client, f"/d/{handbook}?span=0-8&v=1")
    assert (found["status"], found["quote"], found["span"]) == ("unknown", None, None)


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({}, "INVALID_REQUEST"),
        ({"url": "https://example.org/elsewhere"}, "INVALID_PARAMETER"),
        ({"url": "/d/nonsense"}, "INVALID_UUID"),
        ({"span": "9-3"}, "INVALID_PARAMETER"),
        ({"span": "3-3"}, "INVALID_PARAMETER"),
        ({"span": "0-100000"}, "INVALID_PARAMETER"),
        ({"span": "x"}, "INVALID_PARAMETER"),
        ({"v": "2"}, "INVALID_PARAMETER"),
        ({"v": "0"}, "INVALID_PARAMETER"),
        ({"v": "99999999999999999999"}, "INVALID_PARAMETER"),
        ({"v": "two"}, "INVALID_PARAMETER"),
    ],
)
async def test_links_that_lead_nowhere(
    client: httpx.AsyncClient, handbook: str, params: dict[str, str], code: str
) -> None:
    asked = params if "url" in params or not params else {"document": handbook, **params}
    error_of(await client.get(RESOLVE, params=asked), 400, code)


async def test_a_link_of_another_host_is_refused(client: httpx.AsyncClient, handbook: str) -> None:
    path = f"/d/{handbook}?span=0-8&v=1"
    own = [path, BASE + path, f"https://localhost{path}"]
    headers = {"Host": "localhost:443"}
    for url in own:
        assert data_of(await client.get(RESOLVE, params={"url": url}, headers=headers))["quote"] == "Everyone"
    for host in ("evil.example", "localhost@evil.example", "127.0.0.1:1", "localhost.evil.example"):
        for address in (f"https://{host}", f"//{host}"):
            refused = await client.get(RESOLVE, params={"url": address + path}, headers=headers)
            error = error_of(refused, 400, "INVALID_PARAMETER")
            assert error["message"].endswith(f"or a path, not a link of {host}")
    for url in (f"ftp://kb.example.org{path}", f"http:{path}", f"http://[{path}", f"x{path}"):
        error_of(await client.get(RESOLVE, params={"url": url}), 400, "INVALID_PARAMETER")


async def test_things_that_are_absent(client: httpx.AsyncClient) -> None:
    absent = "550e8400-e29b-41d4-a716-446655440000"
    for kind, code in {"d": "DOCUMENT", "o": "OBJECT", "a": "ANSWER", "c": "CONVERSATION"}.items():
        error_of(
            await client.get(RESOLVE, params={"url": f"{BASE}/{kind}/{absent}"}), 404, f"{code}_NOT_FOUND"
        )


async def test_links_of_another_project(client: httpx.AsyncClient, store: Store, handbook: str) -> None:
    asked = {"projectId": PROJECT, "message": QUESTION, "store": True}
    told = (await client.post("/api/v1/chat", json=asked)).json()
    chunk = await first_chunk(store, {"documentId": handbook})
    (one,) = (await say(store, chunk, thing("Leave", days=30))).objects
    other = await store.projects.create(name="other")
    _, secret = await store.keys.create(name="", scope="admin", project_id=other.id)
    theirs = {"X-API-Key": secret.reveal()}
    for path, code in {
        f"d/{handbook}?span=0-8&v=1": "DOCUMENT",
        f"o/{one}": "OBJECT",
        f"a/{told['answerId']}": "ANSWER",
        f"c/{told['conversationId']}": "CONVERSATION",
    }.items():
        params = {"url": f"{BASE}/{path}"}
        data_of(await client.get(RESOLVE, params=params))
        error_of(await client.get(RESOLVE, params=params, headers=theirs), 404, f"{code}_NOT_FOUND")


@given(st.text("ab", max_size=30), st.text("ab", min_size=1, max_size=3), st.integers(0, 40))
def test_the_nearest_equal_text(text: str, quote: str, near: int) -> None:
    every = [at for at in range(len(text)) if text.startswith(quote, at)]
    found = nearest(quote, text, near=near)
    assert (found == -1) == (not every)
    assert not every or abs(found - near) == min(abs(at - near) for at in every)


async def test_the_versions_of_a_document_say_why_they_were_made(
    client: httpx.AsyncClient, handbook: str
) -> None:
    path = f"{DOCUMENTS}/{handbook}/versions"
    chunks = await chunks_of(client, handbook)
    await put(client, handbook, text=f"{LEAVE} Nobody travels.")
    await put(client, handbook, chunkingStrategy="character")
    found = data_of(await client.get(path))
    assert [(one["version"], one["reason"], one["is_current"]) for one in found["items"]] == [
        (3, "read_again", True),
        (2, "new_content", False),
        (1, "added", False),
    ]
    assert found["pagination"]["total"] == 3
    first = data_of(await client.get(f"{path}/1"))
    assert first["text"] == HANDBOOK
    spans = [(one["id"], first["text"][one["start"] : one["end"]]) for one in first["chunks"]]
    assert spans == [(one["id"], one["content"]) for one in chunks]
    assert first["chunk_count"] == len(chunks)
    now = data_of(await client.get(f"{path}/3"))
    contents = [now["text"][one["start"] : one["end"]] for one in now["chunks"]]
    assert contents == [one["content"] for one in await chunks_of(client, handbook)]
    error = error_of(await client.get(f"{path}/4"), 404, "NOT_FOUND")
    assert error["details"] == {"provided": 4, "kept": [3, 2, 1]}
