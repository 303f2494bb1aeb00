"""The example of the user's own document, from end to end: a graph that grows chunk by chunk and schema by schema."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from tests.api.ingesting import DOCUMENTS, data_of, ended
from tests.chat_endpoint import ChatEndpoint
from tests.extracting import (
    extract,
    extractions,
    graph,
    ingest_parts,
    objects_of,
    provenance,
    put_schema,
    replies,
    with_model,
)
from tests.graphs import require_sound

from whence.models import DEFAULT_PROJECT_ID
from whence.settings import Settings

PARTS = (
    "Must support OAuth: OAuth 2.0 is how users sign in.",
    "The office opens at nine and closes at five.",
    "Parking is behind the house, for visitors too.",
    "Lunch is served in the canteen on the first floor.",
    "OAuth tokens must expire within 1 hour. This has the priority high.",
    "Bicycles may be left in the yard.",
    "Keys are handed out at the reception desk.",
    "Users who sign in by OAuth 2.0 see the start page.",
)
NAME = "OAuth 2.0"


def told(primary: str, known: dict[str, dict[str, Any]]) -> Any:
    """As the seed has it: chunk 1 creates, chunk 5 adds, chunk 8 has nothing new; nobody reads the rest into it."""
    if "Must support" in primary and NAME not in known:
        new = {"type": "Requirement", "name": NAME, "description": "Must support OAuth"}
        return {"objects": [new], "relationships": []}
    if "expire" in primary:
        return {"objects": [{"id": known[NAME]["id"], "expiration": "1 hour"}], "relationships": []}
    return {"objects": [], "relationships": []}


def told_of_priority(primary: str, known: dict[str, dict[str, Any]]) -> Any:
    if "priority high" in primary:
        return {"objects": [{"id": known[NAME]["id"], "priority": "high"}], "relationships": []}
    return {"objects": [], "relationships": []}


@pytest.fixture
def model() -> Iterator[ChatEndpoint]:
    with ChatEndpoint(replies(told)) as endpoint:
        yield endpoint


@pytest.fixture
def settings(settings: Settings, model: ChatEndpoint) -> Settings:
    return with_model(settings, model, llm_prompt_price=2.0, llm_completion_price=4.0)


async def test_an_object_grows_chunk_by_chunk_and_schema_by_schema(
    client: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    project = DEFAULT_PROJECT_ID
    assert (await put_schema(client, project, ["description", "expiration"]))["version"] == "v1"
    document_id = await ingest_parts(client, *PARTS)
    (job,) = await extractions(client, document_id)  # ordered by the ingest, as a model is configured
    assert (job["status"], job["error"], job["done"], job["total"]) == ("completed", None, 8, 8)
    assert job["extraction"] | {"prompt_tokens": 0, "completion_tokens": 0, "cost": 0} == {
        "scope": "stale",
        "schema_version": "v1",
        "extractor": "model",
        "model": "test-1",
        "extracted": 2,
        "empty": 6,
        "failed": 0,
        "rejected": 0,
        "prompt_tokens": 0,
        "completion_tokens": 0,
        "cost": 0,
    }
    used = job["extraction"]
    assert used["prompt_tokens"] > used["completion_tokens"] > 0
    assert used["cost"] == pytest.approx(
        (2 * used["prompt_tokens"] + 4 * used["completion_tokens"]) / 1e6, abs=1e-6
    )
    before = [
        (1, "name", "created", "v1", NAME),
        (1, "description", "created", "v1", "Must support OAuth"),
        (5, "expiration", "updated", "v1", "1 hour"),
        (8, "name", "confirmed", "v1", NAME),
    ]
    assert provenance(dsn, NAME) == before
    assert graph(dsn) == {
        f"Requirement {NAME}": {"description": "Must support OAuth", "expiration": "1 hour"}
    }
    # What chunk 8 was shown is what the chunks before it gave, whole.
    (shown,) = objects_of(model.prompts[7]).values()
    assert shown | {"id": ""} == {
        "id": "",
        "type": "Requirement",
        "name": NAME,
        "description": "Must support OAuth",
        "expiration": "1 hour",
    }

    assert (await put_schema(client, project, ["description", "expiration", "priority"]))["version"] == "v2"
    again = f"{DOCUMENTS}/{document_id}/reextract"
    dry = data_of(await client.post(again, json={"dryRun": True}))
    assert (dry["chunks"], dry["documents"], dry["schemaVersion"], dry["jobs"]) == (8, 1, "v2", [])
    assert dry["promptTokens"] > 0
    assert dry["cost"] > 0
    model.default = replies(told_of_priority)
    ordered = data_of(await client.post(again, json={"scope": "stale"}), 202)
    job = await ended(client, ordered["jobs"][0]["jobId"])
    assert (job["status"], job["extraction"]["schema_version"], job["done"]) == ("completed", "v2", 8)
    assert provenance(dsn, NAME) == [*before, (5, "priority", "updated", "v2", "high")]
    properties = {"description": "Must support OAuth", "expiration": "1 hour", "priority": "high"}
    assert graph(dsn) == {f"Requirement {NAME}": properties}
    require_sound(dsn)

    nothing = data_of(await client.post(again, json={"dryRun": "yes"}))
    assert (nothing["chunks"], nothing["promptTokens"]) == (0, 0)
    asked = len(model.prompts)
    assert (await extract(client, document_id))["total"] == 0
    assert len(model.prompts) == asked
