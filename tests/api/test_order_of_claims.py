"""Which claim is current: the order follows the documents, never the moment of reading."""

import logging
import re
from typing import Any

import httpx
import psycopg
import pytest
from tests.api.ingesting import DOCUMENTS, data_of, error_of, put, upload
from tests.chat_endpoint import ChatEndpoint
from tests.extracting import (
    PROJECTS,
    SHARED,
    extract,
    graph,
    ingest_parts,
    paragraphs,
    put_schema,
    replies,
    scripted,
)
from tests.files.office import docx
from tests.graphs import require_sound

from whence.models import DEFAULT_PROJECT_ID

OLD = "Pump P-1 has a power of 40 kW."
NEW = "Pump P-1 has a power of 55 kW."
CORE = b"""<?xml version="1.0" encoding="UTF-8"?>
<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties"
  xmlns:dcterms="http://purl.org/dc/terms/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
<dcterms:created xsi:type="dcterms:W3CDTF">2013-12-23T23:15:00Z</dcterms:created>
<dcterms:modified xsi:type="dcterms:W3CDTF">2020-03-04T05:06:07Z</dcterms:modified></cp:coreProperties>"""


def told(text: str, _objects: object) -> Any:
    """The power of the pump, where the text has it."""
    found = re.search(r"\d+ kW", text)
    power = {"power": found[0]} if found else {}
    return [{"type": "Requirement", "name": "Pump P-1", **power}] if "P-1" in text else []


model, settings = scripted(told)
pytestmark = SHARED


def power(dsn: str) -> Any:
    return graph(dsn)["Requirement Pump P-1"].get("power")


async def document(client: httpx.AsyncClient, ident: str) -> dict[str, Any]:
    found: dict[str, Any] = data_of(await client.get(f"{DOCUMENTS}/{ident}"))
    return found


async def claims(client: httpx.AsyncClient, name: str = "power") -> list[dict[str, Any]]:
    (pump,) = data_of(await client.get("/api/v1/objects"))["items"]
    path = f"/api/v1/objects/{pump['id']}/provenance"
    items: list[dict[str, Any]] = data_of(await client.get(path, params={"property": name}))["items"]
    return items


async def test_an_old_document_read_again_after_a_schema_change_stays_old(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    model.default = replies(
        lambda text, _: [{"type": "Requirement", "name": "Pump P-1"}] if "P-1" in text else []
    )
    await put_schema(by_hand, DEFAULT_PROJECT_ID, ["maker"])
    old = await ingest_parts(by_hand, OLD)
    new = await ingest_parts(by_hand, NEW)
    for each in (old, new):
        await extract(by_hand, each)
    assert power(dsn) is None
    model.default = replies(told)
    await put_schema(by_hand, DEFAULT_PROJECT_ID, ["maker", "power"])
    for each in (new, old):  # the old one is read last
        await extract(by_hand, each)
    assert power(dsn) == "55 kW"
    found = await claims(by_hand)
    assert [(one["value"], one["current"], one["ordered_by"]) for one in found] == [
        ("55 kW", True, "version"),
        ("40 kW", False, "version"),
    ]
    assert [one["as_of"] for one in found] == [
        (await document(by_hand, each))["version_at"] for each in (new, old)
    ]
    assert found[1]["extracted_at"] > found[0]["extracted_at"]
    require_sound(dsn)


async def test_the_later_chunk_of_a_document_is_current_however_often_the_first_is_read(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    ident = await ingest_parts(by_hand, OLD, NEW)
    await extract(by_hand, ident)
    model.default = replies(lambda text, _: told(text.replace("40 kW", "41 kW"), _) if "40" in text else [])
    await extract(by_hand, ident, scope="all")
    assert power(dsn) == "55 kW"
    require_sound(dsn)


async def test_a_documents_own_date_orders_its_claims(by_hand: httpx.AsyncClient, dsn: str) -> None:
    new = await ingest_parts(by_hand, NEW)
    old = await ingest_parts(by_hand, OLD, metadata={"validFrom": "2020-05-01"})
    for each in (new, old):
        await extract(by_hand, each)
    assert (await document(by_hand, old))["valid_from"] == "2020-05-01T00:00:00Z"
    assert power(dsn) == "55 kW"
    (impact,) = data_of(await by_hand.get(f"{DOCUMENTS}/{new}/deletion-impact"))["graph"]["properties"]
    assert (impact["value"], impact["falls_back_to"]) == ("55 kW", "40 kW")
    assert [(one["ordered_by"], one["as_of"]) for one in await claims(by_hand)][1] == (
        "valid_from",
        "2020-05-01T00:00:00Z",
    )
    for date, expected in (("2030-01-01", "40 kW"), ("2019-01-01T00:00:00+02:00", "55 kW"), (None, "40 kW")):
        await by_hand.patch(f"{DOCUMENTS}/{old}", json={"metadata": {"validFrom": date}})
        assert power(dsn) == expected
        assert (await claims(by_hand))[0]["value"] == expected
        require_sound(dsn)


async def test_a_new_version_settles_the_claims_of_the_chunks_it_keeps(
    by_hand: httpx.AsyncClient, dsn: str
) -> None:
    old = await ingest_parts(by_hand, OLD, "Nothing else.")
    new = await ingest_parts(by_hand, NEW)
    for each in (old, new):
        await extract(by_hand, each)
    before = await document(by_hand, old)
    assert (power(dsn), before["version"], before["valid_from"]) == ("55 kW", 1, None)
    await put(by_hand, old, text=paragraphs(OLD, "Something else."))
    after = await document(by_hand, old)
    assert (power(dsn), after["version"], after["version_at"] > before["version_at"]) == ("40 kW", 2, True)
    require_sound(dsn)


@pytest.mark.parametrize(
    ("front", "expected"),
    [
        ("---\ntitle: Pumps\ndate: 2020-05-01\n---\n", "2020-05-01T00:00:00Z"),
        ("---\ndate: 2019-01-01\nupdated: '2020-05-01 10:00'\n---\n", "2020-05-01T10:00:00Z"),
        ('+++\ndate = 2019-01-01\nvalidFrom = "2020-05-01T10:00:00+02:00"\n+++\n', "2020-05-01T08:00:00Z"),
        ("---\ndate: soon\n---\n", None),
        ("date: 2020-05-01\n", None),
    ],
)
async def test_the_date_in_front_matter(client: httpx.AsyncClient, front: str, expected: str | None) -> None:
    item = await upload(client, "pump.md", f"{front}\n{OLD}".encode())
    found = await document(client, item["documentId"])
    assert (found["valid_from"], found["version"]) == (expected, 1)
    path = f"{DOCUMENTS}/{found['id']}"
    await client.patch(path, json={"metadata": {"validFrom": "2021-01-01"}})
    assert (await document(client, found["id"]))["valid_from"] == "2021-01-01T00:00:00Z"
    await client.patch(path, json={"metadata": {"validFrom": None}})
    assert (await document(client, found["id"]))["valid_from"] == expected


async def test_the_date_in_the_properties_of_a_file(client: httpx.AsyncClient) -> None:
    item = await upload(client, "pump.docx", docx([OLD], more={"docProps/core.xml": CORE}))
    assert (await document(client, item["documentId"]))["valid_from"] == "2020-03-04T05:06:07Z"


@pytest.mark.parametrize("wrong", ["soon", 2020, "2020-13-01", {"day": 1}])
async def test_a_wrong_date_is_refused(client: httpx.AsyncClient, wrong: Any) -> None:
    metadata = {"validFrom": wrong}
    sent = await client.post("/api/v1/ingest/text", json={"text": OLD, "name": "a.txt", "metadata": metadata})
    item = data_of(await client.post("/api/v1/ingest/text", json={"text": OLD, "name": "a.txt"}), 202)
    patched = await client.patch(f"{DOCUMENTS}/{item['documentId']}", json={"metadata": metadata})
    for answer in (sent, patched):
        details = error_of(answer, 400, "INVALID_PARAMETER")["details"]
        assert details["parameter"] == "metadata.validFrom"
        assert details["provided"] == wrong


async def test_a_silent_chunk_that_was_read_again_is_not_stale(
    by_hand: httpx.AsyncClient, model: ChatEndpoint
) -> None:
    await put_schema(by_hand, DEFAULT_PROJECT_ID, ["power"])
    ident = await ingest_parts(by_hand, OLD)
    await extract(by_hand, ident)
    path = f"{PROJECTS}/{DEFAULT_PROJECT_ID}/provenance/stale"
    assert data_of(await by_hand.get(path))["items"] == []
    await put_schema(by_hand, DEFAULT_PROJECT_ID, ["power", "maker"])
    stale = data_of(await by_hand.get(path))
    assert {one["property_name"] for one in stale["items"]} == {"name", "power"}
    assert [one["outcome"] for one in stale["chunks"]["items"]] == ["extracted"]
    model.default = replies(lambda *_: [])
    await extract(by_hand, ident)
    again = data_of(await by_hand.get(path))
    assert (again["items"], again["chunks"]["items"]) == ([], [])


SEED = {
    "chunks": """
        SELECT DISTINCT c.* FROM kb.chunks c
        JOIN kb.object_provenance p ON p.chunk_id = c.id
        WHERE p.object_id = 'obj-123';""",
    "objects": """
        SELECT DISTINCT o.* FROM kb.graph_objects o
        JOIN kb.object_provenance p ON p.object_id = o.id
        WHERE p.chunk_id = 'chunk-1';""",
    "property": """
        SELECT c.text, p.schema_version FROM kb.chunks c
        JOIN kb.object_provenance p ON p.chunk_id = c.id
        WHERE p.object_id = 'obj-123' AND p.property_name = 'expiration';""",
    "older": """
        SELECT object_id, property_name, schema_version
        FROM kb.object_provenance
        WHERE schema_version < 'v2';""",
    "to read again": """
        SELECT DISTINCT chunk_id FROM kb.object_provenance
        WHERE schema_version != 'v2';  -- current schema version""",
}
"""The statements of decision 5d."""


async def test_the_statements_of_the_seed_run_as_written(
    by_hand: httpx.AsyncClient, dsn: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "whence.extract")
    await put_schema(by_hand, DEFAULT_PROJECT_ID, ["power"])
    ident = await ingest_parts(by_hand, OLD)
    await extract(by_hand, ident)
    await put_schema(by_hand, DEFAULT_PROJECT_ID, ["power", "maker"])
    await extract(by_hand, await ingest_parts(by_hand, NEW))
    (pump,) = data_of(await by_hand.get("/api/v1/objects"))["items"]
    (chunk,) = data_of(await by_hand.get(f"{DOCUMENTS}/{ident}/chunks"))["items"]
    named = {"obj-123": pump["id"], "chunk-1": chunk["id"], "expiration": "power"}
    found = {}
    with psycopg.connect(dsn) as conn:
        for what, statement in SEED.items():
            with_ids = re.sub("|".join(named), lambda place: named[place[0]], statement)
            found[what] = conn.execute(with_ids.encode()).fetchall()
    assert (len(found["chunks"]), len(found["objects"])) == (2, 1)
    assert sorted(found["property"]) == [(f"# Part 1\n\n{OLD}", "v1"), (f"# Part 1\n\n{NEW}", "v2")]
    assert sorted(row[1:] for row in found["older"]) == [("name", "v1"), ("power", "v1")]
    assert [str(row[0]) for row in found["to read again"]] == [chunk["id"]]
    said = [record.getMessage() for record in caplog.records if "schema" in record.getMessage()]
    assert [line.rpartition(" ")[2] for line in said] == ["v1", "v2"]


async def test_the_same_content_cut_anew_is_no_newer(by_hand: httpx.AsyncClient, dsn: str) -> None:
    old, new = [await ingest_parts(by_hand, text) for text in (OLD, NEW)]
    for each in (old, new):
        await extract(by_hand, each)
    before = await document(by_hand, old)
    await put(by_hand, old, chunkingStrategy="sentence")
    after = await document(by_hand, old)
    assert (after["version"], after["version_at"]) == (2, before["version_at"])
    await extract(by_hand, old)
    assert power(dsn) == "55 kW"
    require_sound(dsn)
