"""A person's word is a claim, too: it is set, rejected and restored, has an author and a reason, and lasts."""

import re
from typing import Any
from uuid import uuid4

import httpx
import pytest
from tests.api.ingesting import DOCUMENTS, data_of, error_of, put
from tests.extracting import PROJECTS, SHARED, extract, graph, ingest_parts, paragraphs, rows, scripted
from tests.graphs import require_sound

from whence.models import DEFAULT_PROJECT_ID
from whence.store import Store

OBJECTS = "/api/v1/objects"
CURATIONS = f"{PROJECTS}/{DEFAULT_PROJECT_ID}/curations"
OLD = "Alpha Plant has a capacity of 40 kW and feeds Beta Grid."
NEW = "Alpha Plant has a capacity of 45 kW."
SCHEMA = {
    "object_types": {
        "Plant": {
            "properties": {
                "capacity": {"type": "string"},
                "turbines": {"type": "integer"},
                "fuel": {"enum": ["biogas", "wood"]},
            },
            "additional_properties": False,
        },
        "Grid": {},
    },
    "relationship_types": {"feeds": {"from": ["Plant"], "to": ["Grid"]}},
}


def told(primary: str, _known: dict[str, dict[str, Any]]) -> Any:
    """The plant with its capacity, and what it feeds."""
    found = re.search(r"\d+ kW", primary)
    plant = {"type": "Plant", "name": "Alpha Plant"} | ({"capacity": found[0]} if found else {})
    objects, ties = [plant] if "Alpha Plant" in primary else [], []
    if "Beta Grid" in primary:
        objects.append({"type": "Grid", "name": "Beta Grid"})
        ties.append({"type": "feeds", "source": "Alpha Plant", "target": "Beta Grid"})
    return {"objects": objects, "relationships": ties}


model, settings = scripted(told)
pytestmark = SHARED


@pytest.fixture
async def plants(by_hand: httpx.AsyncClient) -> httpx.AsyncClient:
    data_of(await by_hand.put(f"{PROJECTS}/{DEFAULT_PROJECT_ID}/schema", json=SCHEMA))
    return by_hand


async def read(client: httpx.AsyncClient, *texts: str) -> str:
    """The id of a document that was read."""
    document_id = await ingest_parts(client, *texts)
    await read_again(client, document_id)
    return document_id


async def read_again(client: httpx.AsyncClient, document_id: str) -> dict[str, Any]:
    job = await extract(client, document_id, scope="all")
    assert job["status"] == "completed", job
    return job


async def plant(client: httpx.AsyncClient) -> dict[str, Any]:
    (found,) = data_of(await client.get(OBJECTS, params={"type": "Plant"}))["items"]
    result: dict[str, Any] = data_of(await client.get(f"{OBJECTS}/{found['id']}"))
    return result


async def claims(client: httpx.AsyncClient, ident: str, name: str = "capacity") -> list[dict[str, Any]]:
    answer = await client.get(f"{OBJECTS}/{ident}/provenance", params={"property": name})
    found: list[dict[str, Any]] = data_of(answer)["items"]
    return found


async def undo(client: httpx.AsyncClient, curation: dict[str, Any], **body: str) -> dict[str, Any]:
    answer = await client.post(f"/api/v1/curations/{curation['id']}/undo", json=body)
    found: dict[str, Any] = data_of(answer)
    return found


async def test_a_value_that_a_person_set_counts_before_all_that_is_extracted(
    plants: httpx.AsyncClient, dsn: str
) -> None:
    document_id = await read(plants, OLD)
    before = await plant(plants)
    path = f"{OBJECTS}/{before['id']}"
    body = {"set": {"capacity": "55 kW", "turbines": "2"}, "reason": "Type plate", "author": "Ada"}
    after = data_of(await plants.patch(path, json=body))
    assert after["properties"] == {"capacity": "55 kW", "turbines": 2}
    assert [one["property_name"] for one in after["curations"]] == ["capacity", "turbines"]
    set_one = after["curations"][0]
    assert (set_one["author"], set_one["reason"], set_one["state"]) == ("Ada", "Type plate", "active")
    said, extracted = await claims(plants, before["id"])
    assert (said["operation"], said["value"], said["author"], said["reason"]) == (
        "set",
        "55 kW",
        "Ada",
        "Type plate",
    )
    assert (said["chunk_id"], said["document_id"], said["quote"], said["current"]) == (None, None, None, True)
    assert (extracted["value"], extracted["current"], "author" in extracted) == ("40 kW", False, False)
    await read_again(plants, document_id)
    assert (await plant(plants))["properties"] == {"capacity": "55 kW", "turbines": 2}
    assert (await plant(plants))["sources"]["turbines"][0]["author"] == "Ada"
    undone = await undo(plants, set_one, reason="Misread")
    assert (undone["action"], undone["undoes"], undone["author"], undone["reason"]) == (
        "undo",
        set_one["id"],
        "local",
        "Misread",
    )
    assert (await plant(plants))["properties"] == {"capacity": "40 kW", "turbines": 2}
    error_of(await plants.post(f"/api/v1/curations/{set_one['id']}/undo"), 409, "CONFLICT")
    await undo(plants, undone)
    assert (await plant(plants))["properties"] == {"capacity": "55 kW", "turbines": 2}
    events = data_of(await plants.get(f"{path}/history"))["items"]
    assert [one["event"] for one in events if one["author"]] == ["set", "set", "undone", "undone"]
    entries = data_of(await plants.get(f"{path}/curations"))["items"]
    assert [one["action"] for one in entries] == ["undo", "undo", "set", "set"]
    assert data_of(await plants.get(CURATIONS))["items"] == entries
    require_sound(dsn)


async def test_the_later_of_two_values_counts_until_it_is_undone(plants: httpx.AsyncClient) -> None:
    await read(plants, OLD)
    path = f"{OBJECTS}/{(await plant(plants))['id']}"
    for value in ("50 kW", "60 kW"):
        later = data_of(await plants.patch(path, json={"set": {"capacity": value}}))
        assert later["properties"]["capacity"] == value
    first = data_of(await plants.get(CURATIONS))["items"][1]
    assert first["state"] == "replaced"
    await undo(plants, later["curations"][0])
    assert (await plant(plants))["properties"]["capacity"] == "50 kW"


async def test_a_value_that_was_set_waits_for_its_object(plants: httpx.AsyncClient, dsn: str) -> None:
    document_id = await read(plants, OLD)
    path = f"{OBJECTS}/{(await plant(plants))['id']}"
    data_of(await plants.patch(path, json={"set": {"fuel": "wood"}}))
    data_of(await plants.delete(f"{DOCUMENTS}/{document_id}"))
    assert graph(dsn) == {}
    (entry,) = data_of(await plants.get(CURATIONS))["items"]
    assert (entry["state"], entry["object_id"], entry["object_name"]) == ("waiting", None, "Alpha Plant")
    await read(plants, NEW)
    assert graph(dsn)["Plant Alpha Plant"] == {"capacity": "45 kW", "fuel": "wood"}
    (entry,) = data_of(await plants.get(CURATIONS))["items"]
    assert entry["state"] == "active"
    require_sound(dsn)


async def test_a_rejected_claim_does_not_come_back_until_its_text_changes(
    plants: httpx.AsyncClient, dsn: str
) -> None:
    await read(plants, OLD)
    newer = await read(plants, NEW)
    ident = (await plant(plants))["id"]
    current, _ = await claims(plants, ident)
    assert (current["value"], current["current"]) == ("45 kW", True)
    why = {"reason": "Measured wrongly", "author": "Ada"}
    rejected = data_of(await plants.delete(f"{OBJECTS}/{ident}/claims/{current['id']}", params=why))
    assert (rejected["action"], rejected["subject"], rejected["value"]) == ("reject", "claim", "45 kW")
    assert (await plant(plants))["properties"] == {"capacity": "40 kW"}
    gone, left = await claims(plants, ident)
    assert (gone["id"], gone["rejected"], gone["author"], gone["reason"], gone["current"]) == (
        current["id"],
        True,
        "Ada",
        "Measured wrongly",
        False,
    )
    assert (left["value"], left["current"]) == ("40 kW", True)
    job = await read_again(plants, newer)
    assert (await plant(plants))["properties"] == {"capacity": "40 kW"}
    assert job["extraction"]["rejected"] == 1
    (reading,) = data_of(await plants.get(f"/api/v1/jobs/{job['id']}/readings"))["items"]
    assert [(one["reason"], one["where"]) for one in reading["rejections"]] == [
        ("rejected_by_person", "Alpha Plant.capacity")
    ]
    again = await read(plants, NEW, "Nothing else.")  # the same chunk in another document
    assert (await plant(plants))["properties"] == {"capacity": "40 kW"}
    data_of(await plants.delete(f"{DOCUMENTS}/{again}"))
    require_sound(dsn)
    await put(plants, newer, text=paragraphs("By now Alpha Plant has 45 kW."))
    await read_again(plants, newer)
    assert (await plant(plants))["properties"] == {"capacity": "45 kW"}
    require_sound(dsn)


async def test_a_rejected_claim_is_restored(plants: httpx.AsyncClient, dsn: str) -> None:
    await read(plants, OLD)
    before, (claim,) = await plant(plants), await claims(plants, (await plant(plants))["id"])
    path = f"{OBJECTS}/{before['id']}"
    rejected = data_of(await plants.delete(f"{path}/claims/{claim['id']}"))
    assert (await plant(plants))["properties"] == {}
    error_of(await plants.delete(f"{path}/claims/{claim['id']}"), 404, "CLAIM_NOT_FOUND")
    undone = await undo(plants, rejected)
    assert await claims(plants, before["id"]) == [claim]
    await undo(plants, undone)
    assert (await plant(plants))["properties"] == {}
    require_sound(dsn)


async def test_a_claim_that_was_withheld_from_a_new_reading_is_restored(
    plants: httpx.AsyncClient, dsn: str
) -> None:
    first = await read(plants, OLD)
    ident = (await plant(plants))["id"]
    rejected = data_of(await plants.delete(f"{OBJECTS}/{ident}"))
    data_of(await plants.delete(f"{DOCUMENTS}/{first}"))
    await read(plants, OLD)
    assert "Plant Alpha Plant" not in graph(dsn)
    await undo(plants, rejected)
    assert graph(dsn)["Plant Alpha Plant"] == {"capacity": "40 kW"}
    assert len(data_of(await plants.get("/api/v1/relationships"))["items"]) == 1
    require_sound(dsn)


async def test_a_property_is_rejected_with_all_its_values(plants: httpx.AsyncClient, dsn: str) -> None:
    document_id = await read(plants, OLD, NEW)
    path = f"{OBJECTS}/{(await plant(plants))['id']}"
    data_of(await plants.patch(path, json={"set": {"capacity": "55 kW"}}))
    rejected = data_of(
        await plants.delete(f"{path}/claims", params={"property": "capacity", "reason": "Unknown"})
    )
    assert (rejected["subject"], rejected["property_name"]) == ("property", "capacity")
    assert (await plant(plants))["properties"] == {}
    await read_again(plants, document_id)
    assert (await plant(plants))["properties"] == {}
    data_of(await plants.patch(path, json={"set": {"capacity": "60 kW"}}))
    assert (await plant(plants))["properties"] == {"capacity": "60 kW"}
    await undo(plants, data_of(await plants.get(CURATIONS))["items"][0])
    await undo(plants, rejected)
    assert (await plant(plants))["properties"] == {"capacity": "55 kW"}
    for name in ("colour", "name"):
        error_of(await plants.delete(f"{path}/claims", params={"property": name}), 404, "CLAIM_NOT_FOUND")
    error_of(await plants.delete(f"{path}/claims"), 400, "INVALID_PARAMETER")
    require_sound(dsn)


async def test_a_rejected_object_does_not_come_back_until_another_text_names_it(
    plants: httpx.AsyncClient, dsn: str
) -> None:
    document_id = await read(plants, OLD)
    before = await plant(plants)
    rejected = data_of(await plants.delete(f"{OBJECTS}/{before['id']}", params={"reason": "No plant"}))
    assert (rejected["subject"], rejected["object_id"], rejected["author"]) == ("object", None, "local")
    assert set(graph(dsn)) == {"Grid Beta Grid"}
    assert data_of(await plants.get("/api/v1/relationships"))["items"] == []
    error_of(await plants.get(f"{OBJECTS}/{before['id']}"), 404, "OBJECT_NOT_FOUND")
    job = await read_again(plants, document_id)
    assert set(graph(dsn)) == {"Grid Beta Grid"}
    (reading,) = data_of(await plants.get(f"/api/v1/jobs/{job['id']}/readings"))["items"]
    assert {one["reason"] for one in reading["rejections"]} == {"rejected_by_person"}
    require_sound(dsn)
    await read(plants, NEW)
    assert graph(dsn)["Plant Alpha Plant"] == {"capacity": "45 kW"}
    await undo(plants, rejected)
    after = await plant(plants)
    assert {one["value"] for one in after["sources"]["capacity"]} == {"40 kW", "45 kW"}
    assert len(data_of(await plants.get("/api/v1/relationships"))["items"]) == 1
    require_sound(dsn)


async def test_a_rejected_object_is_restored_with_its_id_its_relationships_and_its_vector(
    plants: httpx.AsyncClient, dsn: str
) -> None:
    await read(plants, OLD)
    before = await plant(plants)
    data_of(await plants.patch(f"{OBJECTS}/{before['id']}", json={"set": {"fuel": "wood"}}))
    rejected = data_of(await plants.delete(f"{OBJECTS}/{before['id']}"))
    undone = await undo(plants, rejected)
    after = await plant(plants)
    assert (after["id"], after["properties"]) == (before["id"], {"capacity": "40 kW", "fuel": "wood"})
    assert len(rows(dsn, "SELECT FROM kb.object_vectors")) == len(graph(dsn)) == 2
    assert len(data_of(await plants.get("/api/v1/relationships"))["items"]) == 1
    await undo(plants, undone)
    assert set(graph(dsn)) == {"Grid Beta Grid"}
    require_sound(dsn)


async def test_a_restored_object_keeps_its_history_although_its_text_was_read_meanwhile(
    plants: httpx.AsyncClient,
) -> None:
    document_id = await read(plants, OLD)
    path = f"{OBJECTS}/{(await plant(plants))['id']}"
    before = data_of(await plants.get(f"{path}/history"))["items"]
    body = {"reason": "Wrong plant", "author": "Ada"}
    rejected = data_of(await plants.request("DELETE", path, json=body))
    assert (rejected["reason"], rejected["author"]) == ("Wrong plant", "Ada")
    await read_again(plants, document_id)
    error_of(await plants.get(path), 404, "OBJECT_NOT_FOUND")
    gone = data_of(await plants.get(f"{path}/history"))["items"]
    told = ("event", "property_name", "value", "quote", "chunk_id")
    assert [[one[name] for name in told] for one in gone[:-1]] == [
        [one[name] for name in told] for one in before
    ]
    assert (gone[-1]["event"], gone[-1]["author"], gone[-1]["reason"]) == ("rejected", "Ada", "Wrong plant")
    await undo(plants, gone[-1])
    after = data_of(await plants.get(f"{path}/history"))["items"]
    assert after[: len(before)] == before
    assert [one["event"] for one in after[len(before) :]] == ["rejected", "undone"]


async def test_a_chunk_that_means_another_is_rejected_with_its_claim_of_the_name(
    plants: httpx.AsyncClient, dsn: str
) -> None:
    await read(plants, NEW)
    await read(plants, OLD)
    ident = (await plant(plants))["id"]
    newest = next(one for one in await claims(plants, ident, "name") if "40" in _text(dsn, one["chunk_id"]))
    data_of(await plants.delete(f"{OBJECTS}/{ident}/claims/{newest['id']}"))
    assert (await plant(plants))["properties"] == {"capacity": "45 kW"}
    assert data_of(await plants.get("/api/v1/relationships"))["items"] == []
    require_sound(dsn)


def _text(dsn: str, chunk_id: str) -> str:
    ((text,),) = rows(dsn, "SELECT text FROM kb.chunks WHERE id = %(id)s", id=chunk_id)
    return str(text)


async def test_a_rejected_relationship_does_not_come_back_until_it_is_restored(
    plants: httpx.AsyncClient, dsn: str
) -> None:
    document_id = await read(plants, OLD)
    (tie,) = data_of(await plants.get("/api/v1/relationships"))["items"]
    path = f"/api/v1/relationships/{tie['id']}"
    rejected = data_of(await plants.delete(path, params={"reason": "Was planned only"}))
    assert (rejected["subject"], rejected["relationship_type"], rejected["object_name"]) == (
        "relationship",
        "feeds",
        "Alpha Plant",
    )
    assert rejected["target_name"] == "Beta Grid"
    await read_again(plants, document_id)
    error_of(await plants.get(path), 404, "RELATIONSHIP_NOT_FOUND")
    assert set(graph(dsn)) == {"Plant Alpha Plant", "Grid Beta Grid"}
    require_sound(dsn)
    undone = await undo(plants, rejected)
    (back,) = data_of(await plants.get("/api/v1/relationships"))["items"]
    assert back["id"] == tie["id"]
    await undo(plants, undone)
    error_of(await plants.delete(path), 404, "RELATIONSHIP_NOT_FOUND")
    require_sound(dsn)


@pytest.mark.parametrize(
    ("given", "field", "expected"),
    [
        ({"turbines": "many"}, "set.turbines", "an integer"),
        ({"fuel": "coal"}, "set.fuel", "biogas"),
        ({"colour": "red"}, "set.colour", "a property of Plant"),
        ({"capacity": None}, "set.capacity", "a"),
        ({"name": "Omega Plant"}, "set.name", "'Alpha Plant': it identifies the object"),
        ({}, "set", "at least one property"),
    ],
)
async def test_a_value_that_the_schema_does_not_allow_is_refused(
    plants: httpx.AsyncClient, given: dict[str, Any], field: str, expected: str
) -> None:
    await read(plants, OLD)
    path = f"{OBJECTS}/{(await plant(plants))['id']}"
    error = error_of(await plants.patch(path, json={"set": given}), 400, "INVALID_REQUEST")
    assert error["details"]["field"] == field
    assert expected in error["details"]["expected"]
    assert data_of(await plants.get(CURATIONS))["items"] == []


async def test_who_may_correct(plants: httpx.AsyncClient, store: Store) -> None:
    await read(plants, OLD)
    ident = (await plant(plants))["id"]
    (tie,) = data_of(await plants.get("/api/v1/relationships"))["items"]
    entry = data_of(await plants.patch(f"{OBJECTS}/{ident}", json={"set": {"fuel": "wood"}}))["curations"][0]
    other = await store.projects.create(name="other")
    keys = {
        "reader": await store.keys.create(name="reader", scope="read", project_id=None),
        "stranger": await store.keys.create(name="stranger", scope="write", project_id=other.id),
        "ada": await store.keys.create(name="Ada's key", scope="write", project_id=DEFAULT_PROJECT_ID),
    }
    calls: list[tuple[str, str, dict[str, Any] | None, str]] = [
        ("PATCH", f"{OBJECTS}/{ident}", {"set": {"fuel": "wood"}}, "OBJECT_NOT_FOUND"),
        ("DELETE", f"{OBJECTS}/{ident}", None, "OBJECT_NOT_FOUND"),
        ("DELETE", f"{OBJECTS}/{ident}/claims/{uuid4()}", None, "OBJECT_NOT_FOUND"),
        ("DELETE", f"{OBJECTS}/{ident}/claims?property=fuel", None, "OBJECT_NOT_FOUND"),
        ("DELETE", f"/api/v1/relationships/{tie['id']}", None, "RELATIONSHIP_NOT_FOUND"),
        ("POST", f"/api/v1/curations/{entry['id']}/undo", None, "CURATION_NOT_FOUND"),
        ("GET", CURATIONS, None, "PROJECT_NOT_FOUND"),
        ("GET", f"{OBJECTS}/{ident}/curations", None, "OBJECT_NOT_FOUND"),
    ]
    for method, path, body, code in calls:
        for name, status, wanted in (("reader", 403, "FORBIDDEN"), ("stranger", 404, code)):
            headers = {"Authorization": f"Bearer {keys[name][1].reveal()}"}
            answer = await plants.request(method, path, json=body, headers=headers)
            if name == "reader" and method == "GET":
                data_of(answer)
            else:
                error_of(answer, status, wanted)
    headers = {"Authorization": f"Bearer {keys['ada'][1].reveal()}"}
    said = {"set": {"fuel": "biogas"}, "author": "somebody else"}
    changed = data_of(await plants.patch(f"{OBJECTS}/{ident}", json=said, headers=headers))
    assert changed["curations"][0]["author"] == "Ada's key"
    error_of(await plants.delete(f"{OBJECTS}/{uuid4()}"), 404, "OBJECT_NOT_FOUND")
    error_of(await plants.post(f"/api/v1/curations/{uuid4()}/undo"), 404, "CURATION_NOT_FOUND")


async def test_corrections_follow_renamed_properties_and_types(plants: httpx.AsyncClient, dsn: str) -> None:
    document_id = await read(plants, OLD)
    ident = (await plant(plants))["id"]
    data_of(await plants.patch(f"{OBJECTS}/{ident}", json={"set": {"fuel": "wood"}}))
    rejected = data_of(await plants.delete(f"{OBJECTS}/{ident}/claims?property=capacity"))
    renamed = {
        "object_types": {
            "Station": {
                "renamed_from": "Plant",
                "properties": {
                    "power": {"type": "string", "renamed_from": "capacity"},
                    "turbines": {"type": "integer"},
                    "source": {"enum": ["biogas", "wood"], "renamed_from": "fuel"},
                },
            },
            "Grid": {},
        },
        "relationship_types": {"feeds": {"from": ["Station"], "to": ["Grid"]}},
    }
    data_of(await plants.put(f"{PROJECTS}/{DEFAULT_PROJECT_ID}/schema", json=renamed))
    await extract(plants, document_id)
    assert graph(dsn) == {"Station Alpha Plant": {"source": "wood"}, "Grid Beta Grid": {}}
    await undo(plants, rejected)
    assert graph(dsn)["Station Alpha Plant"] == {"source": "wood", "power": "40 kW"}
    require_sound(dsn)
