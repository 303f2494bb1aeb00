"""Relationships need both ends in the chunk; what a second document repeats outlives the first."""

from typing import Any

import httpx
import pytest
from tests.api.ingesting import DOCUMENTS, data_of
from tests.chat_endpoint import ChatEndpoint, says
from tests.extracting import PROJECTS, SHARED, extract, ingest_parts, replies, scripted
from tests.graphs import require_sound

from whence.models import DEFAULT_PROJECT_ID

SCHEMA = {
    "object_types": {"Organization": {}, "Work": {}},
    "relationship_types": {
        "runs": {
            "from": ["Organization"],
            "to": ["Work"],
            "properties": {"since": {"type": "string"}},
        }
    },
}
BEFORE = "The Velter Foundation was founded in Bergen. It prints sea charts."
MAP = "The Danish navy runs the Fjord Map since 1981."
FOUNDATION = {"type": "Organization", "name": "Velter Foundation"}
NAVY = {"type": "Organization", "name": "Danish navy"}
WORK = {"type": "Work", "name": "Fjord Map"}
RUNS = {"type": "runs", "source": "Danish navy", "target": "Fjord Map", "since": "1981"}
RELATIONSHIPS = "/api/v1/relationships"

model, settings = scripted()
pytestmark = SHARED


@pytest.fixture
async def mapped(by_hand: httpx.AsyncClient) -> httpx.AsyncClient:
    data_of(await by_hand.put(f"{PROJECTS}/{DEFAULT_PROJECT_ID}/schema", json=SCHEMA))
    return by_hand


async def relationships(client: httpx.AsyncClient) -> list[dict[str, Any]]:
    """Each with its claims."""
    found = data_of(await client.get(RELATIONSHIPS, params={"project_id": str(DEFAULT_PROJECT_ID)}))["items"]
    return [data_of(await client.get(f"{RELATIONSHIPS}/{each['id']}")) for each in found]


def invents(text: str, _: Any) -> dict[str, Any]:
    """Names the foundation of the chunk before as the one that runs the map."""
    if "Velter" in text:
        return {"objects": [FOUNDATION]}
    return {"objects": [WORK], "relationships": [{**RUNS, "source": "Velter Foundation", "since": None}]}


async def test_a_relationship_whose_end_only_the_chunk_before_names_is_rejected(
    mapped: httpx.AsyncClient, model: ChatEndpoint
) -> None:
    model.default = replies(invents)
    document_id = await ingest_parts(mapped, BEFORE, MAP)
    job = await extract(mapped, document_id)
    assert await relationships(mapped) == []
    path = f"/api/v1/jobs/{job['id']}/readings"
    (rejection,) = data_of(await mapped.get(path))["items"][1]["rejections"]
    assert (rejection["where"], rejection["reason"]) == ("relationships[0]", "context_only")
    assert "does not mention 'Velter Foundation'" in rejection["message"]


async def test_a_lenient_project_marks_it_and_export_and_chat_leave_it_out(
    mapped: httpx.AsyncClient, model: ChatEndpoint
) -> None:
    body = {"config": {"grounding": "lenient"}}
    data_of(await mapped.patch(f"{PROJECTS}/{DEFAULT_PROJECT_ID}", json=body))
    model.default = replies(invents)
    document_id = await ingest_parts(mapped, BEFORE, MAP)
    await extract(mapped, document_id)
    (found,) = await relationships(mapped)
    assert found["ungrounded"]
    (claim,) = found["sources"]
    assert (claim["quote"], claim["ungrounded"], claim["operation"]) == (None, True, "created")
    stated = data_of(await mapped.get(f"{DOCUMENTS}/{document_id}/claims", params={"type": "runs"}))["items"]
    assert [(each["operation"], each["ungrounded"]) for each in stated] == [("created", True)]
    project = {"project_id": str(DEFAULT_PROJECT_ID)}
    model.default = says("I cannot tell.")
    for asked, expected in (({}, 0), ({"includeUngrounded": "true"}, 1)):
        lines = (await mapped.get("/api/v1/graph/export", params={**project, **asked})).text.splitlines()
        assert sum('"kind":"relationship"' in line for line in lines) == expected
        question = {"projectId": str(DEFAULT_PROJECT_ID), "message": "Who runs the Fjord Map?", **asked}
        sources = (await mapped.post("/api/v1/chat", json=question)).json()["sources"]
        told = "".join(each["chunkText"] for each in sources if each["id"] is None)
        assert ("Velter Foundation (Organization) runs" in told) is bool(expected)


async def test_an_alias_in_the_chunk_is_enough_and_every_relationship_has_a_quote(
    mapped: httpx.AsyncClient, model: ChatEndpoint
) -> None:
    full = {"type": "Organization", "name": "Royal Danish Navy"}
    model.default = replies(
        lambda text, _: (
            {"objects": [full]}
            if "Royal" in text
            else {"objects": [WORK], "relationships": [{**RUNS, "source": "Royal Danish Navy"}]}
        )
    )
    document_id = await ingest_parts(
        mapped, "The Royal Danish Navy (RDN) lies in Korsør.", "Since 1981, RDN runs the Fjord Map."
    )
    await extract(mapped, document_id)
    (found,) = await relationships(mapped)
    assert [claim["quote"] for claim in found["sources"]] == ["RDN runs the Fjord Map"]
    assert not found["ungrounded"]


async def test_a_relationship_that_a_second_document_repeats_outlives_the_first(
    mapped: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    said = {"objects": [NAVY, WORK], "relationships": [RUNS]}
    model.default = replies(lambda _, known: {"objects": []} if "Fjord Map" in known else said)
    first = await ingest_parts(mapped, MAP)
    await extract(mapped, first)
    (before,) = await relationships(mapped)
    second = await ingest_parts(mapped, "As everybody knows, the Danish Navy runs Fjord Map from Korsør.")
    other = await ingest_parts(mapped, "It is not said that the Danish navy runs the Fjord Map.")
    for document_id in (second, other):
        job = await extract(mapped, document_id)
        assert (job["extraction"]["empty"], job["extraction"]["rejected"]) == (1, 0)
    (found,) = await relationships(mapped)
    assert found["updated_at"] == before["updated_at"]
    assert [(each["document_id"], each["operation"], each["quote"]) for each in found["sources"]] == [
        (second, "confirmed", "Danish Navy runs Fjord Map"),
        (first, "created", "Danish navy runs the Fjord Map"),
    ]
    await extract(mapped, first, scope="all")
    await extract(mapped, second, scope="all")
    (again,) = await relationships(mapped)
    kept = ("id", "operation", "properties", "extracted_at")
    assert [[each[name] for name in kept] for each in again["sources"]] == [
        [each[name] for name in kept] for each in found["sources"]
    ]
    impact = data_of(await mapped.get(f"{DOCUMENTS}/{first}/deletion-impact"))
    assert (impact["objects"], impact["relationships"], impact["relationship_properties"]) == (0, 0, 1)
    data_of(await mapped.delete(f"{DOCUMENTS}/{first}"))
    (left,) = await relationships(mapped)
    assert [each["document_id"] for each in left["sources"]] == [second]
    require_sound(dsn)
    data_of(await mapped.delete(f"{DOCUMENTS}/{second}"))
    assert await relationships(mapped) == []


async def test_a_rejected_relationship_is_not_confirmed_again(
    mapped: httpx.AsyncClient, model: ChatEndpoint
) -> None:
    said = {"objects": [NAVY, WORK], "relationships": [RUNS]}
    model.default = replies(lambda _, known: {"objects": []} if "Fjord Map" in known else said)
    await extract(mapped, await ingest_parts(mapped, MAP))
    second = await ingest_parts(mapped, "The Danish navy runs the Fjord Map today.")
    await extract(mapped, second)
    (found,) = await relationships(mapped)
    assert len(found["sources"]) == 2
    data_of(await mapped.delete(f"{RELATIONSHIPS}/{found['id']}"))
    await extract(mapped, second, scope="all")
    assert await relationships(mapped) == []


async def test_the_quote_is_within_the_sentence_that_states_it_and_a_silent_reading_changes_nothing(
    mapped: httpx.AsyncClient, model: ChatEndpoint
) -> None:
    said = {"objects": [NAVY, WORK], "relationships": [{**RUNS, "type": "owns", "since": None}]}
    owns: dict[str, Any] = {
        **SCHEMA,
        "relationship_types": {"owns": {"from": ["Organization"], "to": ["Work"]}},
    }
    data_of(await mapped.put(f"{PROJECTS}/{DEFAULT_PROJECT_ID}/schema", json=owns))
    model.default = replies(lambda *_: said)
    text = "The Danish navy, which was founded in 1510, has bought the Fjord Map. Danish navy ships are grey."
    document_id = await ingest_parts(mapped, text)
    await extract(mapped, document_id)
    (found,) = await relationships(mapped)
    assert found["sources"][0]["quote"] == "Danish navy, which was founded in 1510, has bought the Fjord Map"
    model.default = replies(lambda *_: {"objects": []})
    owns["object_types"] = {**owns["object_types"], "Ship": {}}
    data_of(await mapped.put(f"{PROJECTS}/{DEFAULT_PROJECT_ID}/schema", json=owns))
    await extract(mapped, document_id)
    assert [one["id"] for one in await relationships(mapped)] == [found["id"]]
