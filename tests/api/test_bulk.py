"""Contract B: many chunks by id."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any
from uuid import UUID, uuid4

import httpx
import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.samples import AddSample

from whence.api.chunks import BulkRequest
from whence.api.reading import read
from whence.errors import BadInput
from whence.store import Store

pytestmark = pytest.mark.one_app

BULK = "/api/v1/chunks/bulk"


def error_of(answer: httpx.Response) -> tuple[int, str, str]:
    error = answer.json()["error"]
    return answer.status_code, error["code"], error["message"]


async def test_what_is_there_comes_ordered_and_the_rest_is_named(
    client: httpx.AsyncClient, add_sample: AddSample
) -> None:
    sample = await add_sample(chunks=6)
    absent = [str(uuid4()), str(uuid4())]
    asked = [absent[0], *reversed(sample.ids), absent[1]]
    answer = await client.post(BULK, json={"chunk_ids": asked})
    assert answer.status_code == 200
    data = answer.json()["data"]
    assert [chunk["id"] for chunk in data["chunks"]] == sorted(sample.ids)
    assert data["found_count"] == 6
    assert data["requested_count"] == 8
    assert data["not_found"] == absent
    assert all("source" not in chunk and "embedding" not in chunk for chunk in data["chunks"])


async def test_nothing_found_is_200(client: httpx.AsyncClient) -> None:
    absent = str(uuid4())
    answer = await client.post(BULK, json={"chunk_ids": [absent]})
    assert answer.status_code == 200
    assert answer.json()["data"] == {
        "chunks": [],
        "found_count": 0,
        "requested_count": 1,
        "not_found": [absent],
    }


async def test_ids_are_deduplicated_before_they_are_counted(
    client: httpx.AsyncClient, add_sample: AddSample
) -> None:
    sample = await add_sample()
    absent = str(uuid4())
    asked = [sample.ids[0], sample.ids[0].upper(), absent, absent.upper(), sample.ids[1]]
    data = (await client.post(BULK, json={"chunk_ids": asked})).json()["data"]
    assert data["requested_count"] == 3
    assert data["found_count"] + len(data["not_found"]) == 3
    assert data["not_found"] == [absent]


async def test_source_and_embeddings_when_asked(client: httpx.AsyncClient, add_sample: AddSample) -> None:
    one, two = await add_sample(name="one.pdf"), await add_sample(name="two.pdf", chunks=2)
    body = {"chunk_ids": one.ids + two.ids, "include_source": True, "include_embeddings": True}
    chunks = (await client.post(BULK, json=body)).json()["data"]["chunks"]
    assert [(chunk["source"]["file_name"], chunk["source"]["total_chunks"]) for chunk in chunks] == [
        ("one.pdf", 3)
    ] * 3 + [("two.pdf", 2)] * 2
    vectors = one.vectors | two.vectors
    assert all(chunk["embedding"] == vectors[UUID(chunk["id"])] for chunk in chunks)
    single = (await client.get(f"/api/v1/chunks/{one.ids[0]}?include_source=1")).json()["data"]
    assert single["source"] == chunks[0]["source"]


@pytest.mark.parametrize("flag", ["true", "YES", "1", 1, 1.0, True])
async def test_flags_in_the_body_take_the_same_words(
    client: httpx.AsyncClient, add_sample: AddSample, flag: Any
) -> None:
    sample = await add_sample()
    body = {"chunk_ids": sample.ids, "include_source": flag}
    assert "source" in (await client.post(BULK, json=body)).json()["data"]["chunks"][0]


@pytest.mark.parametrize("flag", ["maybe", "", None, 2, 0.5, [], {}])
@pytest.mark.parametrize("name", ["include_source", "include_embeddings"])
async def test_flags_that_are_none_are_refused(client: httpx.AsyncClient, name: str, flag: Any) -> None:
    answer = await client.post(BULK, json={"chunk_ids": [str(uuid4())], name: flag})
    assert error_of(answer) == (400, "INVALID_PARAMETER", f"{name} must be a boolean")
    details = answer.json()["error"]["details"]
    assert details["parameter"] == name
    assert details["expected"] == "true, false, 1, or 0"


@pytest.mark.parametrize(
    "body", [{}, {"chunk_ids": None}, {"chunk_ids": "x"}, {"chunk_ids": {}}, {"chunk_ids": 7}]
)
async def test_a_missing_array_is_refused(client: httpx.AsyncClient, body: Any) -> None:
    assert error_of(await client.post(BULK, json=body)) == (
        400,
        "INVALID_REQUEST",
        "chunk_ids array is required",
    )


@pytest.mark.parametrize("count", [0, 101, 150])
async def test_too_few_or_too_many_are_refused(client: httpx.AsyncClient, count: int) -> None:
    same = str(uuid4())  # the limit counts the array as sent, not the unique ids
    answer = await client.post(BULK, json={"chunk_ids": [same] * count})
    assert error_of(answer) == (400, "INVALID_REQUEST", "chunk_ids must contain 1-100 items")
    assert answer.json()["error"]["details"] == {"provided": count, "max_allowed": 100}


@pytest.mark.parametrize(
    "bad",
    [
        "x",
        "",
        5,
        None,
        True,
        [],
        {},
        "6ba7b810-9dad-11d1-80b4-00c04fd430c8,7cb8c921-aead-22e2-91c5-11d15fd541d9",
        "6ba7b8109dad11d180b400c04fd430c8",
        "\x00",
    ],
)
async def test_the_first_bad_id_is_named_by_its_index(client: httpx.AsyncClient, bad: Any) -> None:
    body = json.dumps({"chunk_ids": [str(uuid4()), str(uuid4()), bad, "also bad"]})
    answer = await client.post(BULK, content=body)
    assert error_of(answer) == (400, "INVALID_UUID", "Invalid UUID format at index 2")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"nonsense",
        b"\xff\xfe",
        b'{"chunk_ids": [NaN]}',
        b"[]",
        b"null",
        b"1",
        b'"x"',
        b"[" * 100_000,
    ],
)
async def test_a_body_that_is_no_json_object_is_400(client: httpx.AsyncClient, body: bytes) -> None:
    for headers in ({}, {"content-type": "application/json"}, {"content-type": "text/plain"}):
        answer = await client.post(BULK, content=body, headers=headers)
        assert answer.status_code == 400, (body[:20], headers)
        assert answer.json()["error"]["code"] in ("INVALID_REQUEST", "INVALID_UUID")


async def test_over_a_megabyte_is_413_with_and_without_a_length(client: httpx.AsyncClient) -> None:
    large = b'{"chunk_ids": ["' + b"x" * 1_100_000 + b'"]}'

    async def in_parts() -> AsyncIterator[bytes]:
        for start in range(0, len(large), 65536):
            yield large[start : start + 65536]

    for content in (large, in_parts()):
        answer = await client.post(BULK, content=content)
        assert error_of(answer) == (413, "PAYLOAD_TOO_LARGE", "Request payload too large")
    fits = b'{"chunk_ids": ["' + b"x" * 1_000_000 + b'"]}'
    assert (await client.post(BULK, content=fits)).status_code == 400


async def test_no_header_lifts_the_limit(client: httpx.AsyncClient) -> None:
    large = json.dumps({"chunk_ids": [str(uuid4())], "padding": "x" * 1_100_000}).encode()
    headers = {"content-type": "multipart/form-data; boundary=x"}
    assert (await client.post(BULK, content=large, headers=headers)).status_code == 413


async def test_another_projects_chunk_is_absent(
    client: httpx.AsyncClient, add_sample: AddSample, store: Store
) -> None:
    other = await store.projects.create(name="other")
    mine, theirs = await add_sample(), await add_sample(project_id=other.id)
    _, key = await store.keys.create(name="", scope="read", project_id=other.id)
    headers = {"Authorization": f"Bearer {key.reveal()}"}
    absent = str(uuid4())
    body = {"chunk_ids": [mine.ids[0], theirs.ids[0], absent], "include_source": True}
    data = (await client.post(BULK, json=body, headers=headers)).json()["data"]
    assert [chunk["id"] for chunk in data["chunks"]] == [theirs.ids[0]]
    assert data["not_found"] == [mine.ids[0], absent]


@pytest.mark.own_app
async def test_a_failing_database_is_a_500_that_says_so(
    client: httpx.AsyncClient, add_sample: AddSample, dsn: str
) -> None:
    sample = await add_sample()
    with psycopg.connect(dsn) as conn:
        conn.execute("ALTER TABLE kb.chunks RENAME TO elsewhere")
    body: dict[str, Any] = {"chunk_ids": sample.ids}
    assert error_of(await client.post(BULK, json=body)) == (
        500,
        "INTERNAL_ERROR",
        "Failed to retrieve chunks",
    )
    body["include_source"] = True
    assert error_of(await client.post(BULK, json=body)) == (
        500,
        "INTERNAL_ERROR",
        "Failed to include source context",
    )


async def test_a_slow_statement_is_given_up(
    client: httpx.AsyncClient, add_sample: AddSample, dsn: str
) -> None:
    """A statement that is cancelled, as the time-out of 15 s does it; the next test shows that the time-out is set."""
    sample = await add_sample()
    async with await psycopg.AsyncConnection.connect(dsn) as conn:
        await conn.execute("LOCK TABLE kb.chunks IN ACCESS EXCLUSIVE MODE")
        asking = asyncio.create_task(client.post(BULK, json={"chunk_ids": sample.ids}, timeout=60))
        await _cancel_waiting(dsn)
        answer = await asking
    assert error_of(answer) == (500, "INTERNAL_ERROR", "Failed to retrieve chunks")


async def _cancel_waiting(dsn: str) -> None:
    """What the statement timeout does, without waiting for it."""
    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as conn:
        for _ in range(500):
            rows = await conn.execute(
                "SELECT pg_cancel_backend(pid), current_setting('statement_timeout') FROM pg_stat_activity "
                "WHERE wait_event_type = 'Lock' AND datname = current_database()"
            )
            if await rows.fetchone():
                return
            await asyncio.sleep(0.02)
    pytest.fail("no statement waited for the lock")


async def test_every_connection_has_the_timeouts(store: Store) -> None:
    row = await store._queries.one(
        "SELECT current_setting('statement_timeout'), current_setting('lock_timeout')"
    )
    assert row == ("15s", "10s")


async def test_reads_while_documents_are_deleted_are_200_or_404(
    client: httpx.AsyncClient, add_sample: AddSample, store: Store
) -> None:
    samples = [await add_sample(chunks=8, name=f"{index}.pdf") for index in range(12)]
    ids = [ident for sample in samples for ident in sample.ids]
    done = asyncio.Event()

    async def delete() -> None:
        for sample in samples:
            await store.documents.delete(sample.document.project_id, sample.document.id)
            await asyncio.sleep(0.01)
        done.set()

    async def read(source: bool) -> int:
        reads = 0
        while not done.is_set():
            body = {"chunk_ids": ids, "include_source": source}
            bulk = await client.post(BULK, json=body)
            assert bulk.status_code == 200, bulk.text
            data = bulk.json()["data"]
            assert data["found_count"] + len(data["not_found"]) == data["requested_count"] == len(ids)
            for path in (
                f"/api/v1/chunks/{ids[reads % len(ids)]}",
                f"/api/v1/jobs/{samples[-1].job.id}/chunks",
            ):
                one = await client.get(path, params={"include_source": str(source)})
                assert one.status_code in (200, 404), one.text
            reads += 1
        return reads

    results = await asyncio.gather(delete(), read(source=False), read(source=True), read(source=True))
    assert all(reads for reads in results[1:] if reads is not None)
    left = (await client.post(BULK, json={"chunk_ids": ids})).json()["data"]
    assert left["found_count"] == 0


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=10,
)


@given(
    st.dictionaries(st.sampled_from(["chunk_ids", "include_source", "include_embeddings"]), json_values)
    | st.fixed_dictionaries({"chunk_ids": st.lists(st.uuids().map(str) | json_values, max_size=120)})
)
def test_any_object_is_taken_or_refused_with_our_own_error(body: dict[str, Any]) -> None:
    with suppress(BadInput):
        request = read(BulkRequest, body)
        assert 1 <= len(request.chunk_ids) <= 100
        assert all(str(UUID(ident)) == ident for ident in request.chunk_ids)
