"""Replies that no model should give: each comes to a clear end, nothing is half-written, and no other project is touched."""

import json
from typing import Any

import httpx
import pytest
from tests.api.ingesting import data_of
from tests.chat_endpoint import ChatEndpoint, says
from tests.extracting import PROJECTS, SHARED, extract, graph, ingest_parts, replies, rows, scripted
from tests.graphs import require_sound

from whence.models import DEFAULT_PROJECT_ID

TEXT = "Alpha is a service with 7 ports."
ALPHA = {"type": "Component", "name": "Alpha", "description": "a service with 7 ports"}
DEEP = json.loads('{"a": ' * 50 + "1" + "}" * 50)


model, settings = scripted(lambda *_: {"objects": [ALPHA]})
pytestmark = SHARED


WRONG: dict[str, Any] = {
    "a number for a name": {"type": "Component", "name": 8.5},
    "a list for a name": {"type": "Component", "name": ["Alpha"]},
    "no name": {"type": "Component", "name": None},
    "an empty name": {"type": "Component", "name": " \u200b "},
    "a name without end": {"type": "Component", "name": "Alpha " * 10_000},
    "an object for a type": {"type": {"Component": True}, "name": "Alpha"},
    "a number for an id": {"id": 5, "description": "a service"},
    "no UUID for an id": {"id": "Alpha", "description": "a service"},
    "a list for an object": ["Alpha", "a service"],
    "a text for an object": "Alpha",
    "nothing for an object": None,
    "a list for properties": {"type": "Component", "name": "Beta", "properties": ["a service"]},
    "a value without a floor": {"type": "Component", "name": "Beta", "description": DEEP},
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG.keys())
async def test_one_wrong_object_is_left_out_and_the_others_are_not(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str, wrong: Any
) -> None:
    model.default = replies(lambda *_: {"objects": [wrong, ALPHA], "relationships": [wrong]})
    job = await extract(by_hand, await ingest_parts(by_hand, TEXT))
    assert (job["status"], job["error"]) == ("completed", None)
    found = graph(dsn)
    assert found.pop("Component Alpha") == {"description": "a service with 7 ports"}
    assert found in ({}, {"Component Beta": {}})  # of a wrong property nothing is left
    ((reason,),) = rows(dsn, "SELECT reason FROM kb.chunk_extractions")
    assert reason.startswith("Rejected: ")
    require_sound(dsn)


async def test_a_blank_reply_is_asked_about_once_more(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    model.script(says(" \n"))
    job = await extract(by_hand, await ingest_parts(by_hand, TEXT))
    assert (job["status"], job["error"]) == ("completed", None)
    assert graph(dsn) == {"Component Alpha": {"description": "a service with 7 ports"}}
    assert len(model.requests) == 2
    require_sound(dsn)


async def test_a_value_beyond_its_json_schema_is_rejected_with_what_was_expected(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    ports = {"type": ["integer", "null"], "minimum": 1, "maximum": 5}
    kinds = {"Component": {"properties": {"ports": ports, "kind": {"enum": ["service", None]}}}}
    data_of(await by_hand.put(f"{PROJECTS}/{DEFAULT_PROJECT_ID}/schema", json={"object_types": kinds}))
    said = {"type": "Component", "name": "Alpha", "kind": "Service", "ports": "7"}
    model.default = replies(lambda *_: {"objects": [said]})
    job = await extract(by_hand, await ingest_parts(by_hand, TEXT))
    assert graph(dsn) == {"Component Alpha": {"kind": "service"}}
    (reading,) = data_of(await by_hand.get(f"/api/v1/jobs/{job['id']}/readings"))["items"]
    assert [(one["reason"], one["message"]) for one in reading["rejections"]] == [
        ("wrong_value", "ports must be at most 5")
    ]


async def test_a_property_of_which_nothing_is_said_takes_any_value(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    said = {"a": 7, "b": ["service", 7], "c": {"ports": {"open": [7]}}, "d": True, "e": "7"}
    kinds = {"Component": {"properties": {name: {} for name in said}, "additional_properties": False}}
    data_of(await by_hand.put(f"{PROJECTS}/{DEFAULT_PROJECT_ID}/schema", json={"object_types": kinds}))
    model.default = replies(lambda *_: {"objects": [{"type": "Component", "name": "Alpha", **said}]})
    job = await extract(by_hand, await ingest_parts(by_hand, TEXT))
    assert job["extraction"]["rejected"] == 0
    assert graph(dsn) == {"Component Alpha": said}
    require_sound(dsn)


async def test_characters_that_cannot_be_stored_are_left_out(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    said = '{"objects": [{"type": "Component", "name": "Al\\u0000pha", "description": "a \\ud800service"}]}'
    model.default = says(said)
    job = await extract(by_hand, await ingest_parts(by_hand, TEXT))
    assert job["status"] == "completed"
    assert set(graph(dsn)) <= {"Component Alpha"}
    require_sound(dsn)


async def test_a_reply_without_its_last_bracket_counts(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    model.default = says(json.dumps({"objects": [ALPHA]})[:-1])
    job = await extract(by_hand, await ingest_parts(by_hand, TEXT))
    assert (job["status"], job["error"]) == ("completed", None)
    assert set(graph(dsn)) == {"Component Alpha"}
    assert rows(dsn, "SELECT reason FROM kb.chunk_extractions") == [("Rejected: cut_off 1",)]


async def test_the_objects_of_another_project_cannot_be_reached_by_their_ids(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    await extract(by_hand, await ingest_parts(by_hand, TEXT))
    ((ident,),) = rows(dsn, "SELECT id::text FROM kb.graph_objects")
    before = rows(dsn, "SELECT * FROM kb.graph_objects ORDER BY id")
    other = data_of(await by_hand.post(PROJECTS, json={"name": "other"}), 201)["id"]
    data_of(await by_hand.patch(f"{PROJECTS}/{other}", json={"config": {"extraction": "manual"}}))
    reply = {
        "objects": [{"id": ident, "description": "a service with 7 ports, stolen"}],
        "relationships": [{"type": "depends_on", "source": ident, "target": ident}],
    }
    model.default = replies(lambda *_: reply)
    job = await extract(by_hand, await ingest_parts(by_hand, TEXT, projectId=other))
    assert (job["status"], job["extraction"]["empty"]) == ("completed", 1)
    assert rows(dsn, "SELECT * FROM kb.graph_objects ORDER BY id") == before
    reasons = rows(dsn, "SELECT reason FROM kb.chunk_extractions WHERE project_id = %(other)s", other=other)
    assert reasons == [("Rejected: unknown_end 1, unknown_id 1",)]
    require_sound(dsn)


LAST = "Omega is the service behind it."
KEYWORDS = ("select", "DROP TABLE", "null", "__proto__", "constructor", "toString", "order by", "$ref", "a.b")
RAW: dict[str, tuple[str, dict[str, Any], str | None]] = {
    # what stands in the object beside its type and name, what is kept of it, and what was rejected
    "NUL in names and values": (
        r'"a\u0000b": "7\u0000 ports", "\u0000": "x"',
        {"ab": "7 ports"},
        "bad_property 1",
    ),
    "NUL inside": (r'"a": {"b\u0000": ["\u0000c"]}', {"a": {"b": ["c"]}}, None),
    "halves of characters": (r'"a\udc00": "\ud83d", "b": "\ud83d\ude00 x"', {"b": "\U0001f600 x"}, None),
    "an integer without end": (f'"n": {"9" * 5_000}, "m": 7', {"m": 7}, "malformed 1"),
    "an integer of 65 bits": (f'"n": {2**64}, "m": {2**63 - 1}', {"m": 2**63 - 1}, "malformed 1"),
    "floats beyond all bounds": ('"a": 1e400, "b": [-1e400], "c": 6.02e23', {"c": 6.02e23}, "malformed 2"),
    "a value of nearly 1 MB": (f'"a": "{"ports " * 160_000}", "b": "7"', {"b": "7"}, "wrong_value 1"),
    "a name of nearly 1 MB": (f'"{"a" * 960_000}": 1, "b": "7"', {"b": "7"}, "bad_property 1"),
    "nothing": ('"a": null, "b": "", "c": [], "d": {}, "e": " "', {}, None),
    "other spellings of what is reserved": ('"Name": "Beta", "ID": 5, "Extra": 1', {}, "bad_property 3"),
    "words of other languages": (
        ", ".join(f'"{word}": "7"' for word in KEYWORDS),
        dict.fromkeys(KEYWORDS, "7"),
        None,
    ),
}


@pytest.mark.parametrize("case", RAW.values(), ids=RAW.keys())
async def test_whatever_a_property_is_the_rest_is_kept_and_can_be_read(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str, case: tuple[str, dict[str, Any], str | None]
) -> None:
    said, kept, rejected = case
    lenient = {"config": {"grounding": "lenient"}}  # the chunk does not have these values
    data_of(await by_hand.patch(f"{PROJECTS}/{DEFAULT_PROJECT_ID}", json=lenient))
    raw = f'{{"objects": [{{"type": "Component", "name": "Alpha", {said}}}]}}'
    omega = {"objects": [{"type": "Component", "name": "Omega"}]}
    model.default = replies(lambda primary, _: raw if "Alpha" in primary else omega)
    job = await extract(by_hand, await ingest_parts(by_hand, TEXT, LAST))
    assert (job["status"], job["error"], job["done"]) == ("completed", None, 2)
    assert set(graph(dsn)) == {"Component Alpha", "Component Omega"}
    readings = data_of(await by_hand.get(f"/api/v1/jobs/{job['id']}/readings"))["items"]
    assert [each["reason"] for each in readings] == [rejected and f"Rejected: {rejected}", None]
    (alpha,) = data_of(await by_hand.get("/api/v1/objects", params={"name": "Alpha"}))["items"]
    assert alpha["properties"] == kept
    for path in ("", "/provenance", "/history", "/chunks", "/neighbours"):
        data_of(await by_hand.get(f"/api/v1/objects/{alpha['id']}{path}"))
    require_sound(dsn)


async def test_an_object_that_is_no_json_is_counted(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    broken = '{"type": "Component", "name": "Beta" "description": "\x00 of no use"}'
    model.default = says(f'{{"objects": [{broken}, {json.dumps(ALPHA)}]}}')
    job = await extract(by_hand, await ingest_parts(by_hand, TEXT))
    assert (job["status"], job["error"], job["extraction"]["rejected"]) == ("completed", None, 1)
    assert set(graph(dsn)) == {"Component Alpha"}
    (reading,) = data_of(await by_hand.get(f"/api/v1/jobs/{job['id']}/readings"))["items"]
    (rejection,) = reading["rejections"]
    assert (rejection["where"], rejection["reason"]) == ("reply", "malformed")
    assert rejection["message"].startswith(
        'an object in it is not JSON: {"type": "Component", "name": "Beta"'
    )
