"""Values that the chunk does not have: rejected in strict projects, marked and left out in lenient ones."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from tests.api.chatting import CHAT, PROJECT
from tests.api.ingesting import data_of, error_of
from tests.chat_endpoint import ChatEndpoint, says
from tests.extracting import PROJECTS, SHARED, extract, graph, ingest_parts, replies, rows, scripted_endpoint
from tests.graphs import require_sound

pytestmark = SHARED

TOWN = {"type": "Place", "name": "Westport", "population": "48,211", "river": "Aden", "kind": "coastal"}
GHOST = {"type": "Place", "name": "Silver Tower", "kind": "coastal"}
NEAR = {"type": "located_in", "source": "Silver Tower", "target": "Westport"}
TEXT = "Westport lies on the river Aden. Its market is held on Mondays."


@pytest.fixture(autouse=True)
def model(request: pytest.FixtureRequest) -> Iterator[ChatEndpoint]:
    reply = {"objects": [TOWN, GHOST], "relationships": [NEAR]}
    yield from scripted_endpoint(request, replies(lambda *_: reply))


async def read(client: httpx.AsyncClient, *, lenient: bool) -> dict[str, Any]:
    if lenient:
        changed = await client.patch(f"{PROJECTS}/{PROJECT}", json={"config": {"grounding": "lenient"}})
        assert data_of(changed)["config"]["grounding"] == "lenient"
    return await extract(client, await ingest_parts(client, TEXT))


async def test_an_invented_value_is_rejected_and_shown_in_the_readings(
    by_hand: httpx.AsyncClient, dsn: str
) -> None:
    job = await read(by_hand, lenient=False)
    assert graph(dsn) == {"Place Westport": {"river": "Aden", "kind": "coastal"}}
    (reading,) = data_of(await by_hand.get(f"/api/v1/jobs/{job['id']}/readings"))["items"]
    assert [(each["where"], each["reason"]) for each in reading["rejections"]] == [
        ("objects[0].population", "ungrounded"),
        ("objects[1]", "ungrounded"),
        ("relationships[0]", "unknown_end"),
    ]
    assert reading["rejections"][0]["proposed"] == '"48,211"'
    assert "the primary chunk does not" in reading["rejections"][0]["message"]


async def check(client: httpx.AsyncClient, model: ChatEndpoint, text: str, value: str) -> tuple[int, Any]:
    """The number of rejections and the quote when the model says the value of Westport."""
    told = {"type": "Place", "name": "Westport", "x": value}
    model.default = replies(lambda *_: {"objects": [told]})
    job = await extract(client, await ingest_parts(client, f"Westport is a town. {text}"))
    (listed,) = data_of(await client.get("/api/v1/objects", params={"project_id": PROJECT}))["items"]
    claims = data_of(await client.get(f"/api/v1/objects/{listed['id']}/provenance"))["items"]
    quotes = {each["property_name"]: each["quote"] for each in claims}
    return job["extraction"]["rejected"], quotes.get("x")


INVENTED = [
    ("محمد علي", "Its mayor is محمد علي."),
    ("王小明", "Its mayor is 王小明."),
    ("佐藤", "Its mayor is 佐藤."),
    ("דוד לוי", "Its mayor is דוד לוי."),
    ("राम शर्मा", "Its mayor is राम शर्मा."),
    ("eBay", "Its largest firm is eBay."),
    ("ada@mora.example", "Write to ada@mora.example."),
    ("forty thousand", "It has 40,000 inhabitants."),
    ("½", "Of its land, ½ is forest."),
    ("two weeks", "Its fair lasts 2 weeks."),
    ("zwölf", "Its council has 12 members."),
    ("fourteenth century", "Its church is of the 14th century."),
    ("48k", "It has 48,000 inhabitants."),
    ("$3.5bn", "Its port cost 3.5 billion dollars."),
    ("1,2 Millionen", "It has 1.2 million visitors."),
    ("17:00", "Its market closes at 5 pm."),
]


@pytest.mark.parametrize(("value", "text"), INVENTED)
async def test_a_name_in_any_script_and_a_figure_in_words_are_invented_unless_the_text_has_them(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, value: str, text: str
) -> None:
    assert await check(by_hand, model, "Its market is held on Mondays.", value) == (1, None)
    rejected, quote = await check(by_hand, model, text, value)
    assert (rejected, quote in text if quote else None) == (0, True)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("2.1", "See section 2.10."),
        ("5", "In winter it has -5 °C."),
        ("1234", "Its code is AB-1234."),
        ("48", "It has 48k inhabitants."),
    ],
)
async def test_the_digits_of_another_quantity_or_code_are_no_evidence(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, value: str, text: str
) -> None:
    assert await check(by_hand, model, text, value) == (1, None)


LOCK = "It raises the water in the upper lock."
MILL = "Harrow Steel bought the old mill from Selby Works in 1990."
DRUG = "It failed to reduce the blood pressure of older patients."
VALVE = "The valve opens before the pump starts."
BRUNNEN = "Die Pumpe fördert kein Wasser aus dem Brunnen in den Tank."
SALES = "Sales of steel rose by 5 percent in 2020 and by 7 percent in 2021."


@pytest.mark.parametrize(
    ("text", "description", "is_kept"),
    [
        (LOCK, "Raises all water in the upper lock", True),
        (LOCK, "Lowers all water in the upper lock", False),
        (LOCK, "Raises all water in the lower lock", False),
        (MILL, "In 1990, Harrow Steel bought the mill from Selby Works", True),
        (MILL, "In 1990, Harrow Steel sold the mill to Selby Works", False),
        (MILL, "In 1990, Selby Works bought the mill from Harrow Steel", False),
        (MILL, "In 1990, the mill was bought by Harrow Steel from Selby Works", True),
        (DRUG, "Failed to reduce the pressure of the blood of older patients", True),
        (DRUG, "Reduces the blood pressure of older patients", False),
        (VALVE, "The pump starts before the valve opens", False),
        (BRUNNEN, "Fördert Wasser aus dem Brunnen in den Tank", False),
        (SALES, "Steel sales rose by 5 percent in 2020, 7 percent in 2021", True),
        (SALES, "Steel sales fell by 5 percent in 2020, 7 percent in 2021", False),
        (SALES, "Steel sales rose by 7 percent in 2020, 5 percent in 2021", False),
    ],
)
async def test_a_description_of_another_meaning_is_no_paraphrase(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, text: str, description: str, *, is_kept: bool
) -> None:
    found = await check(by_hand, model, text, description)
    assert found == ((0, text) if is_kept else (1, None))


async def test_a_number_in_another_notation_is_grounded_and_quoted(
    by_hand: httpx.AsyncClient, model: ChatEndpoint
) -> None:
    told = {
        "type": "Place",
        "name": "Westport",
        "rise": "12 percent",
        "people": 1200000,
        "cost": "5,000,000 dollars",
    }
    model.default = replies(lambda *_: {"objects": [told]})
    text = "Westport has 1.2 million people. Prices in Westport rose by 12%, to $5 million."
    job = await extract(by_hand, await ingest_parts(by_hand, text))
    assert job["extraction"]["rejected"] == 0
    (listed,) = data_of(await by_hand.get("/api/v1/objects", params={"project_id": PROJECT}))["items"]
    claims = data_of(await by_hand.get(f"/api/v1/objects/{listed['id']}/provenance"))["items"]
    assert {each["property_name"]: each["quote"] for each in claims} == {
        "name": "Westport",
        "rise": "12%",
        "people": "1.2 million",
        "cost": "$5 million",
    }


async def test_a_lenient_project_keeps_it_marked(by_hand: httpx.AsyncClient, dsn: str) -> None:
    job = await read(by_hand, lenient=True)
    assert job["extraction"]["rejected"] == 0
    listed = data_of(await by_hand.get("/api/v1/objects", params={"project_id": PROJECT}))["items"]
    assert {each["name"]: each["ungrounded"] for each in listed} == {
        "Westport": ["population"],
        "Silver Tower": ["name"],
    }
    town = next(each["id"] for each in listed if each["name"] == "Westport")
    told = data_of(await by_hand.get(f"/api/v1/objects/{town}"))
    marks = {name: claims[0]["ungrounded"] for name, claims in told["sources"].items()}
    assert marks == {"name": False, "population": True, "river": False, "kind": False}
    require_sound(dsn)


async def test_export_search_and_chat_leave_it_out_unless_asked(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    await read(by_hand, lenient=True)
    model.default = says(lambda _: "It lies on a river.")
    ((chunk_id,),) = rows(dsn, "SELECT id::text FROM kb.chunks")

    async def seen(asked: dict[str, Any]) -> list[tuple[bool, bool]]:
        """Whether the value and the object without a name in the text are in each answer."""
        params = {"project_id": PROJECT, **asked}
        texts = [(await by_hand.get("/api/v1/graph/export", params=params)).text]
        expand = {"objectSimilarityThreshold": 0}
        body = {"projectId": PROJECT, "query": "Westport", "expand": expand, **asked}
        (hit,) = data_of(await by_hand.post("/api/v1/search", json=body))["items"]
        context = await by_hand.get(f"/api/v1/chunks/{chunk_id}/context", params={**expand, **asked})
        texts += [
            json.dumps(hit["context"]["relatedObjects"]),
            json.dumps(data_of(context)["relatedObjects"]),
        ]
        question = "What is the population of Westport near Silver Tower?"
        answer = await by_hand.post(CHAT, json={"projectId": PROJECT, "message": question, **asked})
        texts.append(answer.json()["sources"][0]["chunkText"])
        assert all("Aden" in text for text in texts)
        return [("48,211" in text, "Silver Tower" in text) for text in texts]

    assert await seen({}) == [(False, False)] * 4
    assert await seen({"includeUngrounded": True}) == [(True, True)] * 4


async def test_a_grounded_claim_goes_first_and_the_word_of_a_chunk_grounds_a_value(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    model.default = replies(lambda *_: {"objects": [{**TOWN, "population": "39,000"}]})
    await extract(by_hand, await ingest_parts(by_hand, f"{TEXT} Its population is 39,000."))
    model.default = replies(lambda *_: {"objects": [TOWN]})
    await read(by_hand, lenient=True)
    assert graph(dsn)["Place Westport"]["population"] == "39,000"
    (item,) = data_of(await by_hand.get("/api/v1/objects", params={"project_id": PROJECT}))["items"]
    assert item["ungrounded"] == []


async def test_what_a_person_set_is_grounded(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    other = {"type": "Place", "name": "Aden", "population": "7,000"}
    model.default = replies(lambda *_: {"objects": [TOWN, other]})
    await read(by_hand, lenient=True)
    ((town,),) = rows(dsn, "SELECT id::text FROM kb.graph_objects WHERE name = 'Westport'")
    correction = {"set": {"population": "48,000"}, "reason": "counted again", "author": "Ada"}
    data_of(await by_hand.patch(f"/api/v1/objects/{town}", json=correction))
    listed = data_of(await by_hand.get("/api/v1/objects", params={"project_id": PROJECT}))["items"]
    assert {each["name"]: each["ungrounded"] for each in listed} == {"Westport": [], "Aden": ["population"]}


async def test_grounding_is_chosen_for_a_project(by_hand: httpx.AsyncClient) -> None:
    body = {"name": "notes", "config": {"grounding": "lenient"}}
    made = data_of(await by_hand.post(PROJECTS, json=body), 201)
    assert made["config"]["grounding"] == "lenient"
    path = f"{PROJECTS}/{made['id']}"
    changed = data_of(await by_hand.patch(path, json={"config": {"grounding": None}}))
    assert changed["config"]["grounding"] is None
    error_of(await by_hand.patch(path, json={"config": {"grounding": "loose"}}), 400, "INVALID_REQUEST")
