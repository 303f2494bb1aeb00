"""Chunks that confirm what is known without a model's word, and what a second reading withdraws."""

from typing import Any

import httpx
from tests.api.ingesting import DOCUMENTS, data_of
from tests.chat_endpoint import ChatEndpoint
from tests.extracting import (
    PROJECTS,
    SHARED,
    extract,
    graph,
    ingest_parts,
    objects_of,
    provenance,
    put_schema,
    replies,
    rows,
    scripted,
)
from tests.graphs import require_sound

from whence.models import DEFAULT_PROJECT_ID

NAME = "Harbour Light"
SAID = {"type": "Requirement", "name": NAME, "power": "55 kW", "state": "open", "owner": "Jane Doe"}
FIRST = "The Harbour Light draws 55 kW and is open. Jane Doe owns it."
SECOND = "We measured the Harbour Light again: 55 kW. The road is open, says Jane Doe."


model, settings = scripted(lambda _, known: {"objects": [] if NAME in known else [SAID]})
pytestmark = SHARED


async def sources(client: httpx.AsyncClient) -> dict[str, list[tuple[str, str, str, bool]]]:
    """Each property with the document, operation and quote of its claims, and whether they are current."""
    project = {"project_id": str(DEFAULT_PROJECT_ID)}
    (item,) = data_of(await client.get("/api/v1/objects", params=project))["items"]
    told = data_of(await client.get(f"/api/v1/objects/{item['id']}"))
    return {
        name: [(each["document_id"], each["operation"], each["quote"], each["current"]) for each in claims]
        for name, claims in told["sources"].items()
    }


async def test_what_a_second_document_says_verbatim_outlives_the_first_without_a_model_s_word(
    by_hand: httpx.AsyncClient, dsn: str
) -> None:
    first = await ingest_parts(by_hand, FIRST)
    await extract(by_hand, first)
    ((changed,),) = rows(dsn, "SELECT updated_at FROM kb.graph_objects")
    second = await ingest_parts(by_hand, SECOND)
    job = await extract(by_hand, second)
    assert (job["extraction"]["empty"], job["extraction"]["rejected"]) == (1, 0)
    assert rows(dsn, "SELECT updated_at FROM kb.graph_objects") == [(changed,)]
    found = await sources(by_hand)
    assert found["power"] == [(second, "confirmed", "55 kW", True), (first, "created", "55 kW", False)]
    assert found["name"][0] == (second, "confirmed", NAME, True)
    assert found["owner"][0] == (second, "confirmed", "Jane Doe", True)
    assert found["state"] == [(first, "created", "open", True)]  # a common word confirms nothing
    impact = data_of(await by_hand.get(f"{DOCUMENTS}/{first}/deletion-impact"))
    assert impact["objects"] == 0
    assert [(each["property_name"], each["stays"]) for each in impact["graph"]["properties"]] == [
        ("state", False)
    ]
    data_of(await by_hand.delete(f"{DOCUMENTS}/{first}"))
    assert graph(dsn) == {f"Requirement {NAME}": {"power": "55 kW", "owner": "Jane Doe"}}
    assert {claim[0] for claims in (await sources(by_hand)).values() for claim in claims} == {second}
    require_sound(dsn)
    data_of(await by_hand.delete(f"{DOCUMENTS}/{second}"))
    assert graph(dsn) == {}


async def test_history_shows_a_confirmation_once(by_hand: httpx.AsyncClient, dsn: str) -> None:
    document_id = await ingest_parts(by_hand, FIRST, SECOND)
    await extract(by_hand, document_id)
    before = provenance(dsn, NAME)
    assert [row[:3] for row in before if row[1] == "power"] == [
        (1, "power", "created"),
        (2, "power", "confirmed"),
    ]
    await extract(by_hand, document_id, scope="all")
    assert provenance(dsn, NAME) == before
    (ident,) = rows(dsn, "SELECT id FROM kb.graph_objects")[0]
    events = data_of(await by_hand.get(f"/api/v1/objects/{ident}/history"))["items"]
    assert [each["event"] for each in events if each["property_name"] == "power"] == ["created", "confirmed"]


class TestReadAgain:
    """A chunk that is read again under another schema."""

    async def again(self, client: httpx.AsyncClient, document_id: str) -> list[dict[str, Any]]:
        await put_schema(client, DEFAULT_PROJECT_ID, ["power", "other"])
        await extract(client, document_id)
        stale = data_of(await client.get(f"{PROJECTS}/{DEFAULT_PROJECT_ID}/provenance/stale"))
        assert stale["chunks"]["items"] == []
        items: list[dict[str, Any]] = stale["items"]
        return items

    async def test_what_the_text_does_not_have_and_nobody_repeats_is_withdrawn(
        self, by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
    ) -> None:
        await put_schema(by_hand, DEFAULT_PROJECT_ID, ["power"])
        model.default = replies(lambda *_: {"objects": [{**SAID, "mood": "cheerful"}]})
        document_id = await ingest_parts(by_hand, FIRST)
        await extract(by_hand, document_id)
        assert graph(dsn)[f"Requirement {NAME}"]["mood"] == "cheerful"
        model.default = replies(lambda *_: {"objects": []})
        assert await self.again(by_hand, document_id) == []
        assert graph(dsn) == {f"Requirement {NAME}": {"power": "55 kW", "state": "open", "owner": "Jane Doe"}}
        # The model was asked again: it saw the object without what the text does not say.
        (shown,) = objects_of(model.prompts[-1]).values()
        assert set(shown) == {"id", "type", "name", "power", "state", "owner"}
        require_sound(dsn)

    async def test_an_interpretation_that_the_model_repeats_stays(
        self, by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
    ) -> None:
        await put_schema(by_hand, DEFAULT_PROJECT_ID, ["power"])
        model.default = replies(lambda *_: {"objects": [{**SAID, "mood": "cheerful"}]})
        document_id = await ingest_parts(by_hand, FIRST)
        await extract(by_hand, document_id)
        before = provenance(dsn, NAME)
        model.default = replies(lambda _, known: {"objects": [{"id": known[NAME]["id"], "mood": "cheerful"}]})
        assert await self.again(by_hand, document_id) == []
        assert provenance(dsn, NAME) == before

    async def test_an_object_that_nothing_else_supports_disappears(
        self, by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
    ) -> None:
        body = {"config": {"grounding": "lenient"}}
        data_of(await by_hand.patch(f"{PROJECTS}/{DEFAULT_PROJECT_ID}", json=body))
        await put_schema(by_hand, DEFAULT_PROJECT_ID, ["power"])
        ghost = {"type": "Requirement", "name": "Silver Tower", "mood": "cheerful"}
        model.default = replies(lambda *_: {"objects": [SAID, ghost]})
        document_id = await ingest_parts(by_hand, FIRST)
        await extract(by_hand, document_id)
        assert len(graph(dsn)) == 2
        model.default = replies(lambda *_: {"objects": []})
        assert await self.again(by_hand, document_id) == []
        assert set(graph(dsn)) == {f"Requirement {NAME}"}
        require_sound(dsn)
