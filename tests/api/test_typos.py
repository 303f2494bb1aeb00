"""Misspelt questions, over HTTP."""

from typing import Any

import httpx
import pytest
from tests.api.ingesting import data_of, ingest

pytestmark = pytest.mark.one_app

LEDGER = "The ledger of the harbour office lists every repurchase of the company since 1907."
HERON = "A grey heron waits in the pond behind the chapel."


async def search(client: httpx.AsyncClient, query: str, **fields: Any) -> dict[str, Any]:
    found: dict[str, Any] = data_of(await client.post("/api/v1/search", json={"query": query, **fields}))
    return found


def contents(found: dict[str, Any]) -> list[str]:
    return [hit["chunk"]["content"] for hit in found["items"]]


@pytest.fixture
async def stocked(client: httpx.AsyncClient) -> httpx.AsyncClient:
    await ingest(client, LEDGER, name="ledger.txt")
    await ingest(client, HERON, name="heron.txt")
    return client


@pytest.mark.parametrize("mode", ["text", "hybrid"])
async def test_a_misspelt_word_is_corrected_and_the_answer_says_so(
    stocked: httpx.AsyncClient, mode: str
) -> None:
    found = await search(stocked, "harbour ledgr repurchse", mode=mode)
    assert contents(found)[0] == LEDGER
    assert found["notes"] == [
        "Searched for *ledger* instead of *ledgr*",
        "Searched for *repurchase* instead of *repurchse*",
    ]


async def test_the_parts_of_a_word_are_corrected_by_themselves(stocked: httpx.AsyncClient) -> None:
    found = await search(stocked, "The harbour-offce ledgr's pages")
    assert contents(found)[0] == LEDGER
    assert found["notes"] == [
        "Searched for *office* instead of *offce*",
        "Searched for *ledger* instead of *ledgr*",
    ]


async def test_words_that_a_document_has_are_not_corrected(stocked: httpx.AsyncClient) -> None:
    assert (await search(stocked, "ledgers of the harbour"))["notes"] == []


async def test_a_rare_english_word_may_be_a_misspelling(stocked: httpx.AsyncClient) -> None:
    found = await search(stocked, "leger of the harbour")
    assert (contents(found)[0], found["notes"]) == (LEDGER, ["Searched for *ledger* instead of *leger*"])
    assert (await search(stocked, "present or purchase of the office", floor=False))["notes"] == []


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("La puerta del almacén se abre a las nueve.", "¿Cuándo abren los almacenes del puerto?"),
        ("La puerta del almacén se abre a las nueve.", "almacenes"),
        ("Der Vertrag gilt für einen Mieter.", "Was gilt bei einem Vertrag mit Mietern?"),
        ("Il contratto vale per una casa affittata.", "Vale il contratto per una cosa?"),
        (f"{LEDGER} {HERON} La puerta del almacén se abre a las nueve.", "¿Cuándo abren los almacenes?"),
    ],
)
async def test_right_words_of_other_languages_are_not_corrected(
    client: httpx.AsyncClient, text: str, question: str
) -> None:
    await ingest(client, text)
    assert (await search(client, question, floor=False))["notes"] == []


@pytest.mark.parametrize(
    ("text", "question", "note"),
    [
        ("Die Miete ist am Ersten fällig.", "Wann ist die Meite fällig?", "*miete* instead of *meite*"),
        ("La puerta del almacén se abre.", "¿Cuándo abre el almzacén?", "*almacén* instead of *almzacén*"),
    ],
)
async def test_misspelt_words_of_other_languages_are_corrected(
    client: httpx.AsyncClient, text: str, question: str, note: str
) -> None:
    await ingest(client, text)
    assert (await search(client, question))["notes"] == [f"Searched for {note}"]


async def test_quotes_switch_the_correction_off(stocked: httpx.AsyncClient) -> None:
    found = await search(stocked, '"ledgr"')
    assert (found["items"], found["notes"]) == ([], [])


async def test_a_quoted_word_stays_also_where_it_stands_without_quotes(stocked: httpx.AsyncClient) -> None:
    assert (await search(stocked, 'Where is "Ledgr" or ledgr?'))["notes"] == []


async def test_many_copies_of_a_text_do_not_hide_the_others(client: httpx.AsyncClient) -> None:
    small = {"chunkingStrategy": "paragraph", "chunkingOptions": {"maxChunkSize": 100, "minChunkSize": 10}}
    copies = "\n\n".join(["The harbour office keeps the ledger of the ships."] * 300)
    other = "The harbour office has a clock."
    await ingest(client, f"{copies}\n\n{other}", **small)
    found = await search(client, "harbour office ledger of the ships", limit=5, floor=False)
    assert contents(found)[1:] == [other]


async def test_a_word_far_from_all_words_stays(stocked: httpx.AsyncClient) -> None:
    assert (await search(stocked, "zymurgy of the harbour", floor=False))["notes"] == []


async def test_words_of_deleted_documents_are_not_suggested(client: httpx.AsyncClient) -> None:
    gone = await ingest(client, LEDGER, name="ledger.txt")
    await ingest(client, HERON, name="heron.txt")
    assert (await client.delete(f"/api/v1/documents/{gone['documentId']}")).is_success
    assert (await search(client, "harbour ledgr", floor=False))["notes"] == []


async def test_chat_without_a_model_answers_a_misspelt_question(stocked: httpx.AsyncClient) -> None:
    projects = data_of(await stocked.get("/api/v1/projects"))["items"]
    body = {"projectId": projects[0]["id"], "message": "What does the ledgr of the harbor offce list?"}
    answer = (await stocked.post("/api/v1/chat", json=body)).json()
    assert LEDGER in answer["response"]
    assert "Searched for *ledger* instead of *ledgr*" in answer["notes"]
