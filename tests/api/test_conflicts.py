"""Contradicting claims: both are shown with their words and places, and which one is current."""

from typing import Any
from uuid import uuid4

import httpx
import pytest
from tests.api.ingesting import DOCUMENTS, data_of, error_of
from tests.extracting import PROJECTS, SHARED, extractions, ingest_parts, put_schema, scripted
from tests.graphs import say, thing, tie
from tests.samples import AddSample

from whence.models import DEFAULT_PROJECT_ID
from whence.store import Store

CONFLICTS = f"{PROJECTS}/{DEFAULT_PROJECT_ID}/conflicts"


def told(chunk: str, known: dict[str, dict[str, Any]]) -> Any:
    power = chunk.partition(" has ")[2].partition(".")[0]
    subject = (
        {"id": known["Pump 7"]["id"]} if "Pump 7" in known else {"type": "Requirement", "name": "Pump 7"}
    )
    return {"objects": [{**subject, "power": power}]}


model, settings = scripted(told)
pytestmark = SHARED


async def test_documents_that_contradict_each_other_are_listed_as_conflicts(
    client: httpx.AsyncClient,
) -> None:
    await put_schema(client, DEFAULT_PROJECT_ID, ["power"])
    ids = []
    for name, power in (("old.md", "40 kW"), ("new.md", "55 kW"), ("same.md", "55  KW")):
        ids.append(await ingest_parts(client, f"Pump 7 has {power}.", name=name))
        await extractions(client, ids[-1])
    data = data_of(await client.get(CONFLICTS))
    assert data["pagination"]["total"] == 1
    (conflict,) = data["items"]
    assert (conflict["object_type"], conflict["object_name"]) == ("Requirement", "Pump 7")
    assert (conflict["property_name"], conflict["value_count"]) == ("power", 2)
    current, older = conflict["claims"]
    assert [current["current"], older["current"]] == [True, False]
    assert (older["value"], older["quote"], older["document_id"]) == ("40 kW", "40 kW", ids[0])
    assert "55" in current["quote"]
    assert current["document_name"] != older["document_name"]
    assert current["extracted_at"] > older["extracted_at"]
    impact = data_of(await client.get(f"{DOCUMENTS}/{ids[0]}/deletion-impact"))
    assert impact["conflicts"] == 1
    data_of(await client.delete(f"{DOCUMENTS}/{ids[0]}"))
    assert data_of(await client.get(CONFLICTS))["items"] == []
    impact = data_of(await client.get(f"{DOCUMENTS}/{ids[1]}/deletion-impact"))
    assert impact["conflicts"] == 0


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        ("30 minutes", "1 hour", True),
        ("“Thirty  Minutes”.", '"thirty minutes"', False),
        ("co\u2011op — Straße", "CO-OP - STRASSE.", False),
        ("soft\u00adhyphen", "SoftHyphen", False),
        (5, 5.0, False),
        (5, 6, True),
        (True, False, True),
        ({"a": "X"}, {"a": "x"}, False),
        ({"a": 1}, {"a": 2}, True),
        (["harbour"], ["lighthouse"], False),
        (10**30, 10**30 + 1, True),
    ],
)
async def test_values_are_compared_as_the_extraction_does(
    client: httpx.AsyncClient, store: Store, add_sample: AddSample, *, one: Any, other: Any, differ: bool
) -> None:
    sample = await add_sample()
    await say(store, sample.chunks[0], thing("Pump", value=one, unit="kW"))
    await say(store, sample.chunks[1], thing("Pump", value=other, unit="kW"))
    items = data_of(await client.get(CONFLICTS))["items"]
    assert [item["property_name"] for item in items] == (["value"] if differ else [])


async def test_conflicts_are_filtered_and_paged(
    client: httpx.AsyncClient, store: Store, add_sample: AddSample
) -> None:
    sample = await add_sample()
    for chunk, power in zip(sample.chunks, (1, 2), strict=False):
        await say(
            store,
            chunk,
            thing("Pump", "Machine", power=power, weight=power),
            thing("Valve", "Part", power=power),
        )
    found = data_of(await client.get(CONFLICTS))["items"]
    assert [(one["object_name"], one["property_name"]) for one in found] == [
        ("Pump", "power"),
        ("Pump", "weight"),
        ("Valve", "power"),
    ]
    cases: list[tuple[dict[str, str], list[Any]]] = [
        ({"object": found[0]["object_id"]}, found[:2]),
        ({"type": "Part"}, found[2:]),
        ({"property": "power"}, [found[0], found[2]]),
        ({"object": str(uuid4())}, []),
        ({"limit": "1", "offset": "1"}, found[1:2]),
    ]
    for query, expected in cases:
        data = data_of(await client.get(CONFLICTS, params=query))
        assert data["items"] == expected, query
    assert data["pagination"] == {"total": 3, "limit": 1, "offset": 1, "has_more": True}
    error_of(await client.get(CONFLICTS, params={"object": "x"}), 400, "INVALID_UUID")
    error_of(await client.get(f"{PROJECTS}/{uuid4()}/conflicts"), 404, "PROJECT_NOT_FOUND")


async def test_properties_of_relationships_conflict_too(
    client: httpx.AsyncClient, store: Store, add_sample: AddSample
) -> None:
    sample = await add_sample()
    for chunk, since in zip(sample.chunks, ("2019", "2021"), strict=False):
        related = [tie("Anna", "works_in", "Oslo", since=since, desk="A 1", days=[since])]
        await say(store, chunk, thing("Anna"), thing("Oslo"), thing("Pump", power=since), ties=related)
    data = data_of(await client.get(CONFLICTS))
    assert data["pagination"]["total"] == 2
    pump, found = data["items"]
    assert (pump["property_name"], pump["relationship"]) == ("power", None)
    assert (found["object_name"], found["property_name"], found["value_count"]) == ("Anna", "since", 2)
    assert found["relationship"]["type"] == "works_in"
    assert found["relationship"]["target"]["name"] == "Oslo"
    assert [(one["value"], one["current"]) for one in found["claims"]] == [("2021", True), ("2019", False)]
    assert {one["chunk_id"] for one in found["claims"]} == set(sample.ids[:2])
    for query, expected in (
        ({"object": found["relationship"]["target"]["id"]}, [found]),
        ({"type": "works_in"}, [found]),
        ({"property": "power"}, [pump]),
        ({"limit": "1", "offset": "1"}, [found]),
    ):
        assert data_of(await client.get(CONFLICTS, params=query))["items"] == expected, query
    impact = data_of(await client.get(f"/api/v1/chunks/{sample.ids[1]}/deletion-impact"))
    assert impact["conflicts"] == 2


async def test_one_document_may_contradict_itself(
    client: httpx.AsyncClient, store: Store, add_sample: AddSample
) -> None:
    sample = await add_sample()
    for chunk, power in zip(sample.chunks, (1, 2, 1), strict=False):
        await say(store, chunk, thing("Pump", power=power))
    (conflict,) = data_of(await client.get(CONFLICTS))["items"]
    assert [claim["value"] for claim in conflict["claims"]] == [1, 2]
    assert {claim["document_id"] for claim in conflict["claims"]} == {str(sample.document.id)}
    impact = data_of(await client.get(f"{DOCUMENTS}/{sample.document.id}/deletion-impact"))
    assert impact["conflicts"] == 0, "all of it goes"
    impact = data_of(await client.get(f"/api/v1/chunks/{sample.ids[1]}/deletion-impact"))
    assert impact["conflicts"] == 1
