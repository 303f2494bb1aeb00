"""What an extraction made of each chunk: over HTTP, with what was rejected of a model's reply."""

import json
from typing import Any
from uuid import uuid4

import httpx
from tests.api.ingesting import JOBS, data_of, error_of, ingest
from tests.extracting import SHARED, extract, ingest_parts, scripted

PARTS = (
    "Alpha is the first service.",
    "Nothing is said here.",
    "Gamma is the third service.",
    "Alpha again.",
)


def told(primary: str, _known: Any) -> Any:
    """Of the first part too much, of the second nothing, of the third no JSON."""
    if "first" in primary:
        alpha = {"type": "Component", "name": "Alpha", "description": "the first service"}
        return {
            "objects": [
                alpha,
                {"type": "Component", "name": "Gam\x00ma"},
                {"type": "Unheard", "name": "Alpha"},
            ]
        }
    if "third" in primary:
        return "No."
    return {"objects": []}


model, settings = scripted(told)
pytestmark = SHARED


async def readings(client: httpx.AsyncClient, job_id: str, **params: Any) -> list[dict[str, Any]]:
    found = data_of(await client.get(f"{JOBS}/{job_id}/readings", params=params))
    items: list[dict[str, Any]] = found["items"]
    assert found["pagination"]["total"] >= len(items)
    return items


async def test_each_chunk_is_told_with_what_was_rejected(by_hand: httpx.AsyncClient) -> None:
    job = await extract(by_hand, await ingest_parts(by_hand, *PARTS))
    assert (job["status"], job["extraction"]["rejected"]) == ("completed", 2)
    first, empty, failed, _ = await readings(by_hand, job["id"])
    assert [one["outcome"] for one in (first, empty, failed)] == ["extracted", "empty", "failed"]
    assert [one["chunk_index"] for one in (first, empty, failed)] == [0, 1, 2]
    assert first["reason"] == "Rejected: context_only 1, unknown_type 1"
    assert (first["rejected"], first["schema_version"], first["page"]) == (2, "v1", None)
    unheard, gamma = first["rejections"]
    assert (gamma["where"], gamma["reason"]) == ("objects[1]", "context_only")
    assert json.loads(gamma["proposed"]) == {"type": "Component", "name": "Gamma"}
    assert (unheard["where"], unheard["reason"]) == ("objects[2]", "unknown_type")
    assert "'Unheard' is no type" in unheard["message"]
    assert first["prompt_tokens"] > 0
    assert (empty["reason"], empty["rejected"], empty["rejections"]) == (None, 0, [])
    assert failed["reason"].startswith("The model's reply cannot be read")
    assert failed["prompt_tokens"] > first["prompt_tokens"]  # it was asked once more


async def test_readings_are_found_by_outcome_and_by_what_was_rejected(by_hand: httpx.AsyncClient) -> None:
    job = await extract(by_hand, await ingest_parts(by_hand, *PARTS))
    assert [one["chunk_index"] for one in await readings(by_hand, job["id"], outcome="empty")] == [1, 3]
    assert [one["chunk_index"] for one in await readings(by_hand, job["id"], rejected="yes")] == [0]
    assert await readings(by_hand, job["id"], rejected="true", outcome="failed") == []
    assert [one["chunk_index"] for one in await readings(by_hand, job["id"], limit=2, offset=1)] == [1, 2]


async def test_a_job_that_reads_nothing_has_no_readings(by_hand: httpx.AsyncClient) -> None:
    receipt = await ingest(by_hand, "Alpha.")
    assert await readings(by_hand, receipt["jobId"]) == []


async def test_bad_questions_are_refused(by_hand: httpx.AsyncClient) -> None:
    path = f"{JOBS}/{uuid4()}/readings"
    for params in ({"outcome": "good"}, {"rejected": "maybe"}, {"limit": "0"}, {"offset": "-1"}):
        error = error_of(await by_hand.get(path, params=params), 400, "INVALID_PARAMETER")
        assert error["details"]["parameter"] in params
    error_of(await by_hand.get(path), 404, "JOB_NOT_FOUND")
    error_of(await by_hand.get(f"{JOBS}/x/readings"), 400, "INVALID_UUID")
