"""Contract A: chunks with their source."""

import hashlib
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest
from tests.samples import AddSample, Sample

from whence.store import Store
from whence.store.chunks import Totals

pytestmark = pytest.mark.one_app

SOURCE_FIELDS = {
    "job_id",
    "job_name",
    "job_type",
    "status",
    "file_name",
    "file_type",
    "file_size",
    "created_at",
    "completed_at",
    "total_chunks",
}
CHUNK_FIELDS = {
    "id",
    "job_id",
    "document_id",
    "chunk_index",
    "content",
    "content_hash",
    "metadata",
    "created_at",
    "document_version",
    "url",
}

Get = Callable[[Sample, str], Awaitable[Any]]


def by_job(sample: Sample) -> str:
    return f"/api/v1/jobs/{sample.job.id}/chunks/{sample.ids[1]}"


def by_id(sample: Sample) -> str:
    return f"/api/v1/chunks/{sample.ids[1]}"


def listed(sample: Sample) -> str:
    return f"/api/v1/jobs/{sample.job.id}/chunks"


@pytest.mark.parametrize("route", [by_job, by_id])
async def test_one_chunk_has_the_fields_of_the_contract(
    client: httpx.AsyncClient, add_sample: AddSample, route: Callable[[Sample], str]
) -> None:
    sample = await add_sample()
    answer = await client.get(route(sample))
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    body = answer.json()
    assert body["success"] is True
    chunk = body["data"]
    expected = sample.chunks[1]
    assert set(chunk) == CHUNK_FIELDS
    assert chunk["id"] == str(expected.id)
    assert chunk["job_id"] == str(sample.job.id)
    assert chunk["document_id"] == str(sample.document.id)
    assert chunk["chunk_index"] == 1
    assert chunk["content"] == expected.content
    assert chunk["content_hash"] == hashlib.sha256(expected.content.encode()).hexdigest()
    assert chunk["metadata"] == expected.metadata


@pytest.mark.parametrize("route", [by_job, by_id, listed])
@pytest.mark.parametrize("flag", ["true", "1", "yes", "TRUE", "Yes"])
async def test_source_has_exactly_its_ten_fields_on_every_endpoint(
    client: httpx.AsyncClient, add_sample: AddSample, route: Callable[[Sample], str], flag: str
) -> None:
    sample = await add_sample(chunks=5)
    data = (await client.get(route(sample), params={"include_source": flag})).json()["data"]
    for chunk in data.get("items", [data]):
        source = chunk["source"]
        assert set(source) == SOURCE_FIELDS
        assert source["job_id"] == str(sample.job.id)
        assert source["job_name"] == source["file_name"] == "quarterly_report_2024.pdf"
        assert source["job_type"] == "document_processing"
        assert source["status"] == "completed"
        assert source["file_type"] == "application/pdf"
        assert source["file_size"] == 2_457_600
        assert source["total_chunks"] == 5
        assert source["created_at"].endswith("Z")
        assert datetime.fromisoformat(source["completed_at"]) == sample.job.completed_at


@pytest.mark.parametrize("route", [by_job, by_id, listed])
@pytest.mark.parametrize("query", ["", "include_source=false", "include_source=0", "include_source=No"])
async def test_without_include_source_there_is_no_source_key(
    client: httpx.AsyncClient, add_sample: AddSample, route: Callable[[Sample], str], query: str
) -> None:
    sample = await add_sample()
    data = (await client.get(f"{route(sample)}?{query}")).json()["data"]
    for chunk in data.get("items", [data]):
        assert set(chunk) == CHUNK_FIELDS


@pytest.mark.parametrize("route", [by_job, by_id, listed])
@pytest.mark.parametrize("flag", ["maybe", "", "2", "tru", " true", "None", "on"])
async def test_a_flag_that_is_no_boolean_is_refused(
    client: httpx.AsyncClient, add_sample: AddSample, route: Callable[[Sample], str], flag: str
) -> None:
    sample = await add_sample()
    answer = await client.get(route(sample), params={"include_source": flag})
    assert answer.status_code == 400
    assert answer.json() == {
        "success": False,
        "error": {
            "code": "INVALID_PARAMETER",
            "message": "include_source must be a boolean",
            "details": {
                "parameter": "include_source",
                "provided": flag,
                "expected": "true, false, 1, or 0",
            },
        },
    }


@pytest.mark.parametrize("route", [by_job, by_id, listed])
@pytest.mark.parametrize("name", ["include_embedding", "include_embeddings"])
async def test_embeddings_come_under_either_name(
    client: httpx.AsyncClient, add_sample: AddSample, route: Callable[[Sample], str], name: str
) -> None:
    sample = await add_sample()
    data = (await client.get(route(sample), params={name: "true"})).json()["data"]
    vectors = {str(ident): vector for ident, vector in sample.vectors.items()}
    for chunk in data.get("items", [data]):
        assert chunk["embedding"] == vectors[chunk["id"]]
        assert "source" not in chunk


async def test_a_chunk_without_a_vector_has_a_null_embedding(
    client: httpx.AsyncClient, add_sample: AddSample, dsn: str
) -> None:
    sample = await add_sample()
    with psycopg.connect(dsn) as conn:
        conn.execute("DELETE FROM kb.chunk_vectors")
    params = {"include_embedding": "1", "include_source": "1"}
    chunk = (await client.get(by_id(sample), params=params)).json()["data"]
    assert chunk["embedding"] is None
    assert set(chunk["source"]) == SOURCE_FIELDS


async def test_a_chunk_without_metadata_stays_valid(
    client: httpx.AsyncClient, add_sample: AddSample, dsn: str
) -> None:
    sample = await add_sample()
    with psycopg.connect(dsn) as conn:
        conn.execute("UPDATE kb.chunks SET metadata = NULL")
    assert (await client.get(by_id(sample))).json()["data"]["metadata"] is None


async def test_completed_at_is_null_until_the_job_is_done(
    client: httpx.AsyncClient, add_sample: AddSample, dsn: str
) -> None:
    sample = await add_sample()
    with psycopg.connect(dsn) as conn:
        conn.execute("UPDATE kb.jobs SET status = 'processing', completed_at = NULL")
    source = (await client.get(by_id(sample), params={"include_source": "1"})).json()["data"]["source"]
    assert source["completed_at"] is None
    assert source["status"] == "processing"


async def test_internals_never_show(client: httpx.AsyncClient, add_sample: AddSample) -> None:
    sample = await add_sample()
    answer = await client.get(listed(sample), params={"include_source": "1"})
    assert "never shown" not in answer.text
    assert "config" not in answer.text


async def test_what_is_not_there_is_404_with_its_code(
    client: httpx.AsyncClient, add_sample: AddSample
) -> None:
    sample, other = await add_sample(), await add_sample(name="other.pdf")
    absent = uuid4()
    cases = {
        f"/api/v1/chunks/{absent}": "CHUNK_NOT_FOUND",
        f"/api/v1/jobs/{sample.job.id}/chunks/{absent}": "CHUNK_NOT_FOUND",
        f"/api/v1/jobs/{sample.job.id}/chunks/{other.ids[0]}": "CHUNK_NOT_FOUND",
        f"/api/v1/jobs/{absent}/chunks/{sample.ids[0]}": "JOB_NOT_FOUND",
        f"/api/v1/jobs/{absent}/chunks": "JOB_NOT_FOUND",
    }
    for path, code in cases.items():
        for query in ("", "?include_source=true"):
            answer = await client.get(path + query)
            assert (answer.status_code, answer.json()["error"]["code"]) == (404, code), path


@pytest.mark.parametrize(
    "ident", ["x", "123", "not-a-uuid", "{550e8400-e29b-41d4-a716-446655440000}", "%00", "é"]
)
async def test_ids_that_are_no_uuids_are_refused(client: httpx.AsyncClient, ident: str) -> None:
    for path in (
        f"/api/v1/chunks/{ident}",
        f"/api/v1/jobs/{ident}/chunks",
        f"/api/v1/jobs/{ident}/chunks/{uuid4()}",
        f"/api/v1/jobs/{uuid4()}/chunks/{ident}",
    ):
        answer = await client.get(path)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "INVALID_UUID"), path


async def test_any_canonical_uuid_is_taken_in_either_case(
    client: httpx.AsyncClient, add_sample: AddSample
) -> None:
    sample = await add_sample()
    answer = await client.get(f"/api/v1/chunks/{sample.ids[0].upper()}")
    assert answer.json()["data"]["id"] == sample.ids[0]


async def test_the_list_is_in_reading_order_and_paged(
    client: httpx.AsyncClient, add_sample: AddSample
) -> None:
    sample = await add_sample(chunks=45)
    first = (await client.get(listed(sample))).json()["data"]
    assert [chunk["chunk_index"] for chunk in first["items"]] == list(range(20))
    assert first["pagination"] == {"total": 45, "limit": 20, "offset": 0, "has_more": True}
    last = (await client.get(listed(sample), params={"limit": 5, "offset": 40})).json()["data"]
    assert [chunk["chunk_index"] for chunk in last["items"]] == list(range(40, 45))
    assert last["pagination"] == {"total": 45, "limit": 5, "offset": 40, "has_more": False}
    beyond = (await client.get(listed(sample), params={"offset": 2**63 - 1})).json()["data"]
    assert beyond["items"] == []
    assert beyond["pagination"]["total"] == 45
    assert beyond["pagination"]["has_more"] is False
    whole = (await client.get(listed(sample), params={"limit": 100})).json()["data"]
    assert "".join(chunk["content"] for chunk in whole["items"]) == sample.document.text


@pytest.mark.parametrize(
    ("name", "value"),
    [("limit", v) for v in ("0", "101", "-1", "x", "", "1.0", "1e2", "9" * 40, "\u0663")]
    + [("offset", v) for v in ("-1", "x", "", str(2**63), "1.5")],
)
async def test_limits_out_of_range_are_refused(
    client: httpx.AsyncClient, add_sample: AddSample, name: str, value: str
) -> None:
    sample = await add_sample()
    answer = await client.get(listed(sample), params={name: value})
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (400, "INVALID_PARAMETER")
    assert error["details"]["parameter"] == name
    assert error["details"]["provided"] == value


async def test_total_chunks_is_remembered_for_a_minute(add_sample: AddSample, store: Store, dsn: str) -> None:
    sample = await add_sample(chunks=4)
    job, project = str(sample.job.id), str(sample.document.project_id)
    totals = Totals()
    queries = store._queries
    assert await totals.of({job: project}, queries) == {job: 4}
    with psycopg.connect(dsn) as conn:
        conn.execute("DELETE FROM kb.chunks WHERE chunk_index = 3")
    assert await totals.of({job: project}, queries) == {job: 4}
    totals._known[job] = (0.0, 4)  # as a minute later
    assert await totals.of({job: project}, queries) == {job: 3}


async def test_a_job_that_vanished_between_the_queries_is_not_found(
    client: httpx.AsyncClient, add_sample: AddSample, monkeypatch: pytest.MonkeyPatch, store: Store
) -> None:
    sample = await add_sample()
    count = Totals.of

    async def delete_first(self: Totals, jobs: Any, queries: Any) -> dict[str, int]:
        await store.documents.delete(sample.document.project_id, sample.document.id)
        return await count(self, jobs, queries)

    monkeypatch.setattr(Totals, "of", delete_first)
    answer = await client.get(by_id(sample), params={"include_source": "1"})
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "JOB_NOT_FOUND"
    assert answer.json()["error"]["message"] == "Source job not found"


@pytest.mark.own_app
@pytest.mark.parametrize(
    ("query", "message"),
    [("", "Failed to retrieve chunk"), ("?include_source=1", "Failed to include source context")],
)
async def test_a_database_that_fails_is_a_500_that_says_what_failed(
    client: httpx.AsyncClient, add_sample: AddSample, dsn: str, query: str, message: str
) -> None:
    sample = await add_sample()
    with psycopg.connect(dsn) as conn:
        conn.execute("ALTER TABLE kb.chunks RENAME TO elsewhere")
    answer = await client.get(by_id(sample) + query)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["message"]) == (500, "INTERNAL_ERROR", message)
    assert error["details"] == {"request_id": answer.headers["x-request-id"]}
    assert "kb." not in answer.text
