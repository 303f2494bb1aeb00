"""Lists collect the elements of all claims, each with its own source, unless the schema says that the newest replaces."""

import re
from typing import Any

import httpx
import pytest
from tests.api.ingesting import DOCUMENTS, data_of, error_of
from tests.chat_endpoint import ChatEndpoint
from tests.extracting import PROJECTS, SHARED, extract, graph, ingest_parts, replies, scripted
from tests.graphs import require_sound

from whence.models import DEFAULT_PROJECT_ID

SCHEMA = f"{PROJECTS}/{DEFAULT_PROJECT_ID}/schema"
FIRST, SECOND, THIRD = (
    "Thornby has a harbour.",
    "Thornby has a lighthouse and a harbour.",
    "Thornby has a museum.",
)
SIGHTS = ("harbour", "lighthouse", "museum")


def told(text: str, objects: dict[str, dict[str, Any]]) -> Any:
    """The whole list: what is known, and what the text adds."""
    known = objects.get("Thornby", {})
    has = known.get("sights", [])
    sights = [*has, *(one for one in SIGHTS if one in text and one not in has)]
    return [
        {"id": known["id"], "sights": sights}
        if known
        else {"type": "Town", "name": "Thornby", "sights": sights}
    ]


model, settings = scripted(told)
pytestmark = SHARED


async def set_schema(client: httpx.AsyncClient, **more: Any) -> dict[str, Any]:
    sights = {"type": "array", "items": {"type": "string"}, **more}
    body = {"object_types": {"Town": {"properties": {"sights": sights}}}}
    found: dict[str, Any] = data_of(await client.put(SCHEMA, json=body))
    return found


async def sources(client: httpx.AsyncClient) -> list[dict[str, Any]]:
    (town,) = data_of(await client.get("/api/v1/objects"))["items"]
    found: list[dict[str, Any]] = data_of(await client.get(f"/api/v1/objects/{town['id']}"))["sources"][
        "sights"
    ]
    return found


def sights(dsn: str) -> Any:
    return graph(dsn)["Town Thornby"].get("sights")


async def test_a_list_collects_the_elements_of_its_chunks(by_hand: httpx.AsyncClient, dsn: str) -> None:
    await set_schema(by_hand)
    first, second, third = [await ingest_parts(by_hand, text) for text in (FIRST, SECOND, THIRD)]
    for each in (third, first, second):  # the order of reading does not count
        await extract(by_hand, each)
    assert sights(dsn) == ["harbour", "lighthouse", "museum"]
    found = await sources(by_hand)
    assert [(one["value"], one["current"]) for one in found] == [
        (["museum"], True),
        (["harbour", "lighthouse"], True),
        (["harbour"], True),
    ]
    for claim in found:
        content = data_of(await by_hand.get(f"/api/v1/chunks/{claim['chunk_id']}"))["content"]
        for element in claim["elements"]:
            assert (
                content[element["start_offset"] : element["end_offset"]]
                == element["quote"]
                == element["value"]
            )
    impact = data_of(await by_hand.get(f"{DOCUMENTS}/{third}/deletion-impact"))["graph"]["properties"]
    assert [(one["value"], one["stays"], one["falls_back_to"]) for one in impact] == [
        (["harbour", "lighthouse", "museum"], True, ["harbour", "lighthouse"])
    ]
    assert data_of(await by_hand.get(f"{DOCUMENTS}/{first}/deletion-impact"))["properties"] == 0
    await by_hand.delete(f"{DOCUMENTS}/{first}")
    assert sights(dsn) == ["harbour", "lighthouse", "museum"]
    await by_hand.delete(f"{DOCUMENTS}/{second}")
    assert sights(dsn) == ["museum"]
    require_sound(dsn)


async def test_equal_elements_are_there_once(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    def exactly(text: str, _: object) -> Any:
        return [
            {"type": "Town", "name": "Thornby", "sights": re.findall("harbour|museum", text, re.IGNORECASE)}
        ]

    model.default = replies(exactly)
    await set_schema(by_hand)
    await extract(by_hand, await ingest_parts(by_hand, FIRST, "The Museum and the Harbour of Thornby."))
    assert sights(dsn) == ["harbour", "Museum"]
    require_sound(dsn)


async def test_a_schema_may_say_that_the_newest_list_replaces(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    def exactly(text: str, _: object) -> Any:
        return [{"type": "Town", "name": "Thornby", "sights": [one for one in SIGHTS if one in text]}]

    model.default = replies(exactly)
    await set_schema(by_hand, merge="replace")
    for text in (FIRST, THIRD):
        await extract(by_hand, await ingest_parts(by_hand, text))
    assert sights(dsn) == ["museum"]
    assert [one["current"] for one in await sources(by_hand)] == [True, False]
    asked = len(model.prompts)
    assert (await set_schema(by_hand, merge="accumulate"))["version"] == "v2"
    assert sights(dsn) == ["harbour", "museum"]
    assert [one["current"] for one in await sources(by_hand)] == [True, True]
    changed = data_of(await by_hand.get(f"{SCHEMA}/diff", params={"from": "v1", "to": "v2"}))
    assert changed["remerged"] == [{"kind": "property", "type": "Town", "name": "sights"}]
    assert (changed["changed"], changed["needs_model"]) == ([], False)
    await set_schema(by_hand, merge="replace")
    assert sights(dsn) == ["museum"]
    await by_hand.post(f"{PROJECTS}/{DEFAULT_PROJECT_ID}/reextract")
    assert len(model.prompts) == asked
    require_sound(dsn)


@pytest.mark.parametrize(
    ("definition", "expected"),
    [
        ({"type": "array", "merge": "append"}, "one of accumulate, replace"),
        ({"type": "array", "merge": True}, "one of accumulate, replace"),
        ({"type": "string", "merge": "replace"}, "left out: only an array that is a property itself has it"),
    ],
)
async def test_a_wrong_merge_is_refused(client: httpx.AsyncClient, definition: Any, expected: str) -> None:
    body = {"object_types": {"Town": {"properties": {"sights": definition}}}}
    details = error_of(await client.put(SCHEMA, json=body), 400, "INVALID_SCHEMA")["details"]
    assert (details["path"], details["expected"]) == ("object_types.Town.properties.sights.merge", expected)


async def test_lists_of_relationships_collect_their_elements(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    def exactly(text: str, _: object) -> Any:
        towns = [{"type": "Town", "name": name} for name in ("Thornby", "Whitby") if name in text]
        ways = [one for one in ("ferry", "train") if one in text]
        tie = {"type": "reaches", "source": "Thornby", "target": "Whitby", "by": ways}
        return {"objects": towns, "relationships": [tie]}

    model.default = replies(exactly)
    types = {
        "object_types": {"Town": {}},
        "relationship_types": {"reaches": {"from": ["Town"], "to": ["Town"]}},
    }
    data_of(await by_hand.put(SCHEMA, json=types))
    first = await ingest_parts(by_hand, "Thornby reaches Whitby by ferry.")
    for each in (await ingest_parts(by_hand, "Thornby reaches Whitby by train."), first):
        await extract(by_hand, each)
    (tie,) = data_of(await by_hand.get("/api/v1/relationships"))["items"]
    assert tie["properties"] == {"by": ["ferry", "train"]}
    (impact,) = data_of(await by_hand.get(f"{DOCUMENTS}/{first}/deletion-impact"))["graph"][
        "relationship_properties"
    ]
    assert (impact["value"], impact["falls_back_to"]) == (["ferry", "train"], ["train"])
    await by_hand.delete(f"{DOCUMENTS}/{first}")
    (tie,) = data_of(await by_hand.get("/api/v1/relationships"))["items"]
    assert tie["properties"] == {"by": ["train"]}
    merging = {"properties": {"by": {"type": "array", "merge": "replace"}}}
    wrong = types | {"relationship_types": {"reaches": merging}}
    details = error_of(await by_hand.put(SCHEMA, json=wrong), 400, "INVALID_SCHEMA")["details"]
    assert details["path"] == "relationship_types.reaches.properties.by.merge"
    require_sound(dsn)


def only_new(text: str, objects: dict[str, dict[str, Any]]) -> Any:
    """A model that gives one new element at a time, as its instructions say."""
    known = objects.get("Thornby", {})
    sights = (*SIGHTS, "Harbour Museum", "Lighthouse Inn")
    new = [one for one in sights if one in text and one not in known.get("sights", [])][:1]
    if known:
        return [{"id": known["id"], "sights": new}] if new else []
    return [{"type": "Town", "name": "Thornby", "sights": new}]


async def test_a_chunk_that_is_read_again_keeps_the_elements_it_stated(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    model.default = replies(only_new)
    await set_schema(by_hand)
    document = await ingest_parts(by_hand, SECOND)
    await extract(by_hand, document)
    assert sights(dsn) == ["harbour"]
    await set_schema(by_hand, description="Sights of the town")
    await extract(by_hand, document)
    assert sights(dsn) == ["harbour", "lighthouse"]
    require_sound(dsn)


async def test_a_chunk_states_known_elements_beside_a_new_one(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    """A common word states nothing by itself, a name does."""
    model.default = replies(only_new)
    texts = ("Thornby has a Harbour Museum.", "Thornby has a Lighthouse Inn beside the Harbour Museum.")
    await set_schema(by_hand)
    first, second = [await ingest_parts(by_hand, text) for text in texts]
    for document in (first, second):
        await extract(by_hand, document)
    assert sights(dsn) == ["Harbour Museum", "Lighthouse Inn"]
    assert (await by_hand.delete(f"{DOCUMENTS}/{first}")).is_success
    assert sights(dsn) == ["Harbour Museum", "Lighthouse Inn"]
    require_sound(dsn)
