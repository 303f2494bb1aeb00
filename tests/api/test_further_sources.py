"""Chunks that confirm what is known without a model's word, and what a second reading withdraws."""

from typing import Any, ClassVar

import httpx
import pytest
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
SECOND = "We measured the Harbour Light again: 55 kW. The road is open, says Jane Doe, who owns it."


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


class TestWhoseValue:
    """A value counts only in a sentence about its object."""

    LYSA: ClassVar[dict[str, str]] = {"type": "Glacier", "name": "Lysa Glacier", "area": "1,200 hectares"}
    KALVO: ClassVar[dict[str, str]] = {"type": "Glacier", "name": "Kalvo Glacier", "area": "1,200 hectares"}

    @pytest.fixture
    async def glaciers(self, by_hand: httpx.AsyncClient) -> httpx.AsyncClient:
        await put_schema(
            by_hand, DEFAULT_PROJECT_ID, [], Glacier={"properties": {"area": {"type": "string"}}}
        )
        return by_hand

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("The Lysa Glacier covers 1,200 hectares. The Kalvo Glacier is smaller.", ["created"]),
            ("The Kalvo Glacier is smaller. The Lysa Glacier covers 1,200 hectares.", ["created"]),
            ("The Kalvo Glacier lies in the north. It covers 1,200 hectares.", ["confirmed", "created"]),
        ],
    )
    async def test_a_value_beside_another_name_confirms_nothing(
        self, glaciers: httpx.AsyncClient, model: ChatEndpoint, dsn: str, text: str, expected: list[str]
    ) -> None:
        model.default = replies(lambda _, known: {"objects": [] if known else [self.KALVO]})
        await extract(glaciers, await ingest_parts(glaciers, "The Kalvo Glacier covers 1,200 hectares."))
        await extract(glaciers, await ingest_parts(glaciers, text))
        found = provenance(dsn, "Kalvo Glacier")
        assert sorted(row[2] for row in found if row[1] == "area") == expected

    async def test_values_that_a_model_exchanges_between_two_objects_are_rejected(
        self, glaciers: httpx.AsyncClient, model: ChatEndpoint, dsn: str
    ) -> None:
        text = "The Lysa Glacier covers 1,200 hectares. The Kalvo Glacier lies in the west. It covers 900 hectares."
        told = [{**self.LYSA, "area": "900 hectares"}, self.KALVO]
        model.default = replies(lambda *_: {"objects": told})
        job = await extract(glaciers, await ingest_parts(glaciers, text))
        assert graph(dsn) == {"Glacier Lysa Glacier": {}, "Glacier Kalvo Glacier": {}}
        (reading,) = data_of(await glaciers.get(f"/api/v1/jobs/{job['id']}/readings"))["items"]
        assert [(each["where"], each["reason"]) for each in reading["rejections"]] == [
            ("objects[0].area", "ungrounded"),
            ("objects[1].area", "ungrounded"),
        ]
        assert "only the model says so of 'Kalvo Glacier'" in reading["rejections"][1]["message"]
        model.default = replies(lambda *_: {"objects": [self.LYSA, {**self.KALVO, "area": "900 hectares"}]})
        await extract(glaciers, await ingest_parts(glaciers, text + " Both are old."))
        assert graph(dsn) == {
            "Glacier Lysa Glacier": {"area": "1,200 hectares"},
            "Glacier Kalvo Glacier": {"area": "900 hectares"},
        }


class TestReadBefore:
    """Chunks that were read before the model spoke of the object."""

    async def test_a_silent_first_document_becomes_a_source_when_a_later_one_speaks(
        self, by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
    ) -> None:
        model.default = replies(lambda text, _: {"objects": [] if text.endswith(FIRST) else [SAID]})
        first, copy = await ingest_parts(by_hand, FIRST), await ingest_parts(by_hand, "Copy.", FIRST)
        unread = await ingest_parts(by_hand, f"{FIRST} Nobody has read this yet.")
        for document_id in (first, copy):
            await extract(by_hand, document_id)
        assert graph(dsn) == {}
        later = await ingest_parts(by_hand, SECOND + " It is open.")
        job = await extract(by_hand, later)
        assert job["extraction"]["extracted"] == 1
        found = await sources(by_hand)
        for name, quote in (("name", NAME), ("power", "55 kW"), ("owner", "Jane Doe")):
            assert {(each[0], each[1]) for each in found[name]} == {
                (later, "created"),
                (first, "confirmed"),
                (copy, "confirmed"),
            }
            assert {each[2] for each in found[name]} == {quote}
        assert [each[0] for each in found["state"]] == [later]  # a common word confirms nothing
        assert unread not in {each[0] for claims in found.values() for each in claims}
        impact = data_of(await by_hand.get(f"{DOCUMENTS}/{later}/deletion-impact"))
        assert impact["objects"] == 0
        data_of(await by_hand.delete(f"{DOCUMENTS}/{later}"))
        assert graph(dsn) == {f"Requirement {NAME}": {"power": "55 kW", "owner": "Jane Doe"}}
        require_sound(dsn)
        stale = data_of(await by_hand.get(f"{PROJECTS}/{DEFAULT_PROJECT_ID}/provenance/stale"))
        assert [each["document_id"] for each in stale["chunks"]["items"]] == [unread]

    async def test_what_a_person_rejected_does_not_come_back_from_it(
        self, by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
    ) -> None:
        model.default = replies(lambda text, _: {"objects": [] if text.endswith(FIRST) else [SAID]})
        await extract(by_hand, await ingest_parts(by_hand, FIRST))
        await extract(by_hand, await ingest_parts(by_hand, SECOND))
        (ident,) = rows(dsn, "SELECT id FROM kb.graph_objects")[0]
        data_of(await by_hand.delete(f"/api/v1/objects/{ident}"))
        await extract(by_hand, await ingest_parts(by_hand, f"{SECOND} Once more."))
        assert [row[1:3] for row in provenance(dsn, NAME) if row[1] == "power"] == [("power", "created")]


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
