"""Evidence files of objects name the model or extractor that made each claim, not the last one that read the chunk."""

import re
from typing import Any

import httpx
from tests.api.chatting import PROJECT
from tests.api.ingesting import data_of
from tests.extracting import PROJECTS, extract, ingest_parts, put_schema, scripted

TEXT = "A Heron Permit is a Permit.\n\nOwner: Jane Doe. Her tools are amber, birch and cedar."
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


async def test_values_of_a_person_and_elements_of_a_list(by_hand: httpx.AsyncClient) -> None:
    document_id = await ingest_parts(by_hand, TEXT)
    SAID["objects"] = [{"type": "Person", "name": "Jane Doe", "tools": ["amber", "birch"]}]
    await read_with(by_hand, "model", document_id)
    (owner,) = data_of(await by_hand.get("/api/v1/objects", params={"projectId": PROJECT}))["items"]
    SAID["objects"] = [{"id": owner["id"], "tools": ["cedar"]}]
    await read_with(by_hand, "model", document_id)
    agents, quotes = await claims_of(by_hand, owner["id"])
    assert agents == ["test-1"]
    assert {said for said, _ in quotes} >= {"amber", "birch", "cedar"}
    word = {"set": {"address": "9 Oak Lane"}, "reason": "moved", "author": "Rita"}
    data_of(await by_hand.patch(f"/api/v1/objects/{owner['id']}", json=word))
    page = (await by_hand.get(f"/api/v1/objects/{owner['id']}/evidence.html")).text
    assert "tools: amber, birch, cedar" in page
    assert re.search(r"address: 9 Oak Lane</strong></p>\n<p>Set by \S+ on .* UTC: moved</p>", page)
    assert "No source" not in page
    found = (await by_hand.get(f"/api/v1/objects/{owner['id']}/evidence.json")).json()["prov"]
    kinds = [one["prov:type"]["$"] for one in found["agent"].values()]
    assert kinds == ["prov:SoftwareAgent", "prov:Person"]


async def test_a_claim_that_another_extractor_read_again(by_hand: httpx.AsyncClient) -> None:
    document_id = await ingest_parts(by_hand, TEXT)
    await read_with(by_hand, "rules", document_id)
    (owner,) = data_of(await by_hand.get("/api/v1/objects", params={"projectId": PROJECT}))["items"]
    SAID["objects"] = [{"type": "Person", "name": "Jane Doe"}]
    await put_schema(by_hand, PROJECT, [], Person={"properties": {}})
    await read_with(by_hand, "model", document_id)
    found = (await by_hand.get(f"/api/v1/objects/{owner['id']}/evidence.json")).json()["prov"]
    (quote,) = [one for one in found["entity"].values() if one.get("prov:value") == "Jane Doe"]
    assert (quote["whence:schema"], quote["whence:extractor"]) == ("v2", "rules")
    assert quote["whence:reread"].endswith(" UTC by test-1")
