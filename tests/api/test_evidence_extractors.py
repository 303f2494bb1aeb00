"""Evidence files of objects name the model or extractor that made each claim, not the last one that read the chunk."""

from typing import Any

import httpx
from tests.api.chatting import PROJECT
from tests.api.ingesting import data_of
from tests.extracting import PROJECTS, extract, ingest_parts, scripted

TEXT = "A Heron Permit is a Permit.\n\nOwner: Jane Doe"
SAID: dict[str, Any] = {"objects": []}
model, settings = scripted(lambda *_: SAID)


async def read_with(client: httpx.AsyncClient, extractor: str, document_id: str) -> None:
    data_of(await client.patch(f"{PROJECTS}/{PROJECT}", json={"config": {"extractor": extractor}}))
    job = await extract(client, document_id, scope="all")
    assert job["extraction"]["extractor"] == extractor


async def claims_of(
    client: httpx.AsyncClient, object_id: str
) -> tuple[list[str], list[tuple[str, str | None]]]:
    """The agents of the evidence file, and each quote with its extractor."""
    found = (await client.get(f"/api/v1/objects/{object_id}/evidence.json")).json()["prov"]
    quotes = [one for name, one in found["entity"].items() if name.startswith("whence:quote-")]
    agents = sorted(one["prov:label"] for one in found["agent"].values())
    assert len(found["wasAttributedTo"]) == len(agents)
    return agents, [(one["prov:value"], one.get("whence:extractor")) for one in quotes]


async def test_each_claim_names_its_own_extractor(by_hand: httpx.AsyncClient) -> None:
    document_id = await ingest_parts(by_hand, TEXT)
    await read_with(by_hand, "rules", document_id)
    objects = data_of(await by_hand.get("/api/v1/objects", params={"projectId": PROJECT}))["items"]
    owner = next(one["id"] for one in objects if one["name"] == "Jane Doe")
    agents, by_rules = await claims_of(by_hand, owner)
    assert agents == ["rules"]
    assert {who for _, who in by_rules} == {"rules"}

    await read_with(by_hand, "model", document_id)  # it says nothing
    assert await claims_of(by_hand, owner) == (agents, by_rules)

    SAID["objects"] = [{"id": owner, "owns": "Heron Permit"}]
    await read_with(by_hand, "model", document_id)
    agents, both = await claims_of(by_hand, owner)
    assert agents == ["rules", "test-1"]
    assert [one for one in both if one not in by_rules] == [("Heron Permit", "test-1")]
    page = (await by_hand.get(f"/api/v1/objects/{owner}/evidence.html")).text
    assert " by rules, test-1<" in page
    assert "<dt>extractor</dt><dd>test-1</dd>" in page
