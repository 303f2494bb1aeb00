"""What a person says of merged objects, and what one chunk says of both, holds for all their names."""

from typing import Any

import httpx
import pytest
from tests.api.ingesting import data_of, error_of
from tests.chat_endpoint import ChatEndpoint, says
from tests.extracting import PROJECTS, SHARED, extract, graph, ingest_parts, replies, rows, scripted
from tests.graphs import require_sound

from whence.models import DEFAULT_PROJECT_ID

OBJECTS = "/api/v1/objects"
TEXT = "Alpha Plant, also Omega Plant, has 40 kW, a mill and a kiln. It feeds Beta Grid."
SCHEMA = {
    "object_types": {
        "Plant": {
            "properties": {
                "capacity": {"type": "string"},
                "parts": {"type": "array", "items": {"type": "string"}},
            }
        },
        "Grid": {},
    },
    "relationship_types": {"feeds": {"from": ["Plant"], "to": ["Grid"]}},
}
model, settings = scripted()
pytestmark = SHARED


def plant(name: str, **properties: Any) -> dict[str, Any]:
    return {"type": "Plant", "name": f"{name} Plant", **properties}


def feeding(name: str) -> dict[str, Any]:
    tie = {"type": "feeds", "source": f"{name} Plant", "target": "Beta Grid"}
    return {
        "objects": [plant("Alpha"), plant("Omega"), {"type": "Grid", "name": "Beta Grid"}],
        "relationships": [tie],
    }


@pytest.fixture
async def reading(by_hand: httpx.AsyncClient, model: ChatEndpoint) -> Any:
    """Reads the text, first or again, with a model that replies this."""
    data_of(await by_hand.put(f"{PROJECTS}/{DEFAULT_PROJECT_ID}/schema", json=SCHEMA))
    document_id = await ingest_parts(by_hand, TEXT)

    async def read(reply: Any) -> None:
        model.default = replies(lambda *_: reply)
        assert (await extract(by_hand, document_id, scope="all"))["status"] == "completed"

    return read


async def merged(client: httpx.AsyncClient) -> tuple[str, str]:
    """Omega is merged into Alpha. The object, and the merge."""
    items = data_of(await client.get(OBJECTS, params={"type": "Plant"}))["items"]
    ids = {one["name"]: one["id"] for one in items}
    body = {"keepId": ids["Alpha Plant"], "dropId": ids["Omega Plant"]}
    merge = data_of(await client.post(f"{OBJECTS}/merge", json=body))
    return ids["Alpha Plant"], merge["id"]


async def test_a_rejection_holds_when_the_next_reading_uses_the_other_name(
    by_hand: httpx.AsyncClient, reading: Any, dsn: str
) -> None:
    await reading([plant("Alpha"), plant("Omega", capacity="40 kW")])
    ident, _ = await merged(by_hand)
    (claim,) = data_of(await by_hand.get(f"{OBJECTS}/{ident}/provenance?property=capacity"))["items"]
    rejected = data_of(await by_hand.delete(f"{OBJECTS}/{ident}/claims/{claim['id']}"))
    assert graph(dsn) == {"Plant Alpha Plant": {}}
    await reading([plant("Alpha", capacity="40 kW")])
    assert graph(dsn) == {"Plant Alpha Plant": {}}
    require_sound(dsn)
    data_of(await by_hand.post(f"/api/v1/curations/{rejected['id']}/undo"))
    assert graph(dsn) == {"Plant Alpha Plant": {"capacity": "40 kW"}}
    require_sound(dsn)


async def test_a_rejected_relationship_stays_away_under_the_other_name(
    by_hand: httpx.AsyncClient, reading: Any, dsn: str
) -> None:
    await reading(feeding("Omega"))
    await merged(by_hand)
    (tie,) = data_of(await by_hand.get("/api/v1/relationships"))["items"]
    data_of(await by_hand.delete(f"/api/v1/relationships/{tie['id']}"))
    await reading(feeding("Alpha"))
    assert data_of(await by_hand.get("/api/v1/relationships"))["items"] == []
    require_sound(dsn)


async def test_a_value_that_was_set_under_a_merged_name_goes_with_the_property(
    by_hand: httpx.AsyncClient, reading: Any, dsn: str
) -> None:
    await reading([plant("Alpha"), plant("Omega")])
    omega = data_of(await by_hand.get(OBJECTS, params={"name": "Omega"}))["items"][0]["id"]
    data_of(await by_hand.patch(f"{OBJECTS}/{omega}", json={"set": {"capacity": "55 kW"}}))
    ident, _ = await merged(by_hand)
    assert graph(dsn)["Plant Alpha Plant"] == {"capacity": "55 kW"}
    rejected = data_of(await by_hand.delete(f"{OBJECTS}/{ident}/claims?property=capacity"))
    assert graph(dsn)["Plant Alpha Plant"] == {}
    entries = data_of(await by_hand.get(f"{OBJECTS}/{ident}/curations"))["items"]
    assert [one["state"] for one in entries] == ["active", "replaced"]
    data_of(await by_hand.post(f"/api/v1/curations/{rejected['id']}/undo"))
    assert graph(dsn)["Plant Alpha Plant"] == {"capacity": "55 kW"}


async def test_lists_that_one_chunk_states_of_both_keep_every_element_with_its_source(
    by_hand: httpx.AsyncClient, reading: Any, model: ChatEndpoint, dsn: str
) -> None:
    await reading([plant("Alpha", parts=["mill"]), plant("Omega", parts=["kiln"])])
    before = graph(dsn)
    ident, merge = await merged(by_hand)
    assert sorted(graph(dsn)["Plant Alpha Plant"]["parts"]) == ["kiln", "mill"]
    claims = data_of(await by_hand.get(f"{OBJECTS}/{ident}/provenance?property=parts"))["items"]
    assert sorted(one["quote"] for one in claims) == ["kiln", "mill"]
    assert all(one["current"] for one in claims)
    answer = data_of(await by_hand.get(f"{OBJECTS}/{ident}"))
    assert sorted(one["quote"] for one in answer["sources"]["parts"]) == ["kiln", "mill"]
    stated = data_of(await by_hand.get(f"/api/v1/chunks/{claims[0]['chunk_id']}/claims?property=parts"))
    assert {one["quote"]: one["current"] for one in stated["items"]} == {"kiln": True, "mill": True}
    impact = data_of(await by_hand.get(f"/api/v1/chunks/{claims[0]['chunk_id']}/deletion-impact"))
    assert impact["objects"] == 1
    model.default = says("It has parts.")
    asked = {"projectId": str(DEFAULT_PROJECT_ID), "message": "Which parts has Alpha Plant?"}
    sources = (await by_hand.post("/api/v1/chat", json=asked)).json()["sources"]
    (told,) = (one["chunkText"] for one in sources if one["source"] == "LightRAG Answer")
    assert "kiln" in told
    assert "mill" in told
    # One of the two is rejected, and the other stays.
    kiln = next(one for one in claims if one["quote"] == "kiln")
    rejected = data_of(await by_hand.delete(f"{OBJECTS}/{ident}/claims/{kiln['id']}"))
    assert graph(dsn)["Plant Alpha Plant"] == {"parts": ["mill"]}
    data_of(await by_hand.post(f"/api/v1/curations/{rejected['id']}/undo"))
    data_of(await by_hand.post(f"{OBJECTS}/merges/{merge}/undo"))
    assert graph(dsn) == before
    await merged(by_hand)
    await reading([plant("Alpha", parts=["mill"]), plant("Omega", parts=["kiln"])])
    assert sorted(graph(dsn)["Plant Alpha Plant"]["parts"]) == ["kiln", "mill"]
    require_sound(dsn)


async def test_what_was_rejected_does_not_steer_the_vector(
    by_hand: httpx.AsyncClient, reading: Any, dsn: str
) -> None:
    await reading([plant("Alpha"), plant("Omega")])
    bare = vectors(dsn)
    await reading([plant("Alpha", capacity="40 kW"), plant("Omega")])
    assert vectors(dsn) != bare
    ident, merge = await merged(by_hand)
    data_of(await by_hand.delete(f"{OBJECTS}/{ident}/claims?property=capacity"))
    assert vectors(dsn) == {"Alpha Plant": bare["Alpha Plant"]}
    await reading([plant("Alpha", capacity="40 kW"), plant("Omega", capacity="40 kW")])
    assert vectors(dsn) == {"Alpha Plant": bare["Alpha Plant"]}
    data_of(await by_hand.post(f"{OBJECTS}/merges/{merge}/undo"))
    assert vectors(dsn) == bare


async def test_an_older_document_does_not_steer_the_vector(
    by_hand: httpx.AsyncClient, reading: Any, model: ChatEndpoint, dsn: str
) -> None:
    await reading([plant("Alpha", capacity="40 kW")])
    newest = vectors(dsn)
    older = await ingest_parts(by_hand, "Alpha Plant has 30 kW.", metadata={"validFrom": "2001-01-01"})
    model.default = replies(lambda *_: [plant("Alpha", capacity="30 kW")])
    assert (await extract(by_hand, older))["status"] == "completed"
    assert graph(dsn) == {"Plant Alpha Plant": {"capacity": "40 kW"}}
    assert vectors(dsn) == newest


def vectors(dsn: str) -> dict[str, str]:
    query = "SELECT o.name, v.embedding::text FROM kb.object_vectors v JOIN kb.graph_objects o ON o.id = v.id"
    return dict(rows(dsn, query))


@pytest.mark.parametrize(
    ("text", "stays"),
    [("Alpha Plant and Beta Grid are old.", False), ("Alpha Plant feeds the old Beta Grid.", True)],
)
async def test_a_relationship_goes_when_a_new_reading_and_the_text_are_silent_about_it(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str, *, text: str, stays: bool
) -> None:
    data_of(await by_hand.put(f"{PROJECTS}/{DEFAULT_PROJECT_ID}/schema", json=SCHEMA))
    document_id = await ingest_parts(by_hand, text)
    reply = feeding("Alpha")
    for said in (reply, {"objects": [], "relationships": reply["relationships"]}):
        model.default = replies(lambda *_, said=said: said)
        await extract(by_hand, document_id, scope="all")
        (tie,) = data_of(await by_hand.get("/api/v1/relationships"))["items"]
    model.default = replies(lambda *_: {"objects": []})
    await extract(by_hand, document_id, scope="all")
    answer = await by_hand.get(f"/api/v1/relationships/{tie['id']}")
    if stays:
        data_of(answer)
    else:
        error_of(answer, 404, "RELATIONSHIP_NOT_FOUND")
    assert set(graph(dsn)) == {"Plant Alpha Plant", "Grid Beta Grid"}
    require_sound(dsn)


async def test_corrections_and_claims_are_paged_as_one_list(by_hand: httpx.AsyncClient, reading: Any) -> None:
    await reading([plant("Alpha", capacity="40 kW", parts=["mill"])])
    ident = data_of(await by_hand.get(OBJECTS))["items"][0]["id"]
    data_of(await by_hand.patch(f"{OBJECTS}/{ident}", json={"set": {"fuel": "wood"}}))
    for name in ("capacity", "parts"):
        data_of(await by_hand.delete(f"{OBJECTS}/{ident}/claims?property={name}"))
    path = f"{OBJECTS}/{ident}/provenance"
    whole = data_of(await by_hand.get(path))["items"]
    assert [one["property_name"] for one in whole] == ["fuel", "capacity", "parts", "name"]
    for size in (1, 2, 3):
        pages = [
            data_of(await by_hand.get(path, params={"limit": size, "offset": at})) for at in range(0, 4, size)
        ]
        assert [one for page in pages for one in page["items"]] == whole
        assert {page["pagination"]["total"] for page in pages} == {4}
