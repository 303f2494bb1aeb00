"""Chat without a model: answers are quoted from the documents, with the same promises."""

from dataclasses import replace

import httpx
import pytest
from tests.api.chatting import (
    CITED,
    QUESTION,
    TRAVEL,
    ask,
    ask_streaming,
    first_chunk,
    leave_to_chat,
    opened,
    stock,
    timeless,
)
from tests.api.ingesting import ingest, upload
from tests.chat_endpoint import ChatEndpoint
from tests.graphs import say, thing
from tests.pages import ROOT

from whence.settings import Settings
from whence.store import Store

pytestmark = pytest.mark.one_app


@pytest.fixture
async def stocked(client: httpx.AsyncClient) -> httpx.AsyncClient:
    await stock(client)
    return client


async def test_the_sentence_that_answers_is_quoted_and_cited(stocked: httpx.AsyncClient) -> None:
    told = await ask(stocked)
    (cited,) = set(CITED.findall(told["response"]))
    assert told["response"].startswith(f"Everyone has thirty days of leave in a year. [{cited}]")
    assert told["model"] == "extractive"
    assert (told["promptEvalCount"], told["evalCount"]) == (None, None)
    assert all(citation["supported"] for citation in told["citations"])


@pytest.mark.parametrize("name", ["columns.pdf", "columns-tagged.pdf"])
async def test_a_quote_from_a_column_is_a_whole_sentence(client: httpx.AsyncClient, name: str) -> None:
    await upload(client, name, (ROOT / "tests" / "files" / "made" / name).read_bytes())
    told = await ask(client, "Why did repairs go over budget?")
    quote = " ".join(told["citations"][0]["quote"].split())
    assert quote.startswith("Repairs went over budget because the storm of 9 February tore the slates")
    assert quote.endswith("the water reached the reading room.")
    assert told["citations"][0]["supportLevel"] == "verbatim"


@pytest.mark.parametrize(
    ("question", "response"),
    [
        ("Which enzymes catalyse melatonin synthesis?", "I found nothing about this in the documents."),
        ("Which enzymes catalyse leave?", "I found nothing about this in the documents."),
    ],
)
async def test_what_nothing_answers_has_no_sources(
    stocked: httpx.AsyncClient, question: str, response: str
) -> None:
    told = await ask(stocked, question)
    assert told["sources"] == told["citations"] == []
    assert told["response"] == response


@pytest.mark.parametrize("message", ["thanks!", "Hello", "Great!", "Nice"])
async def test_small_talk_is_not_answered_from_the_documents(
    stocked: httpx.AsyncClient, message: str
) -> None:
    earlier = (await ask(stocked))["messages"]
    for history in (earlier[:0], earlier):
        told = await ask(stocked, message, history=history)
        assert told["sources"] == told["citations"] == []
        assert told["response"].startswith("Ask me something")


async def test_what_only_the_graph_knows_by_name_is_told_and_cited(
    client: httpx.AsyncClient, store: Store
) -> None:
    """No sentence has the name that is asked for; the fact has the chunk that it stands on."""
    chunk = await first_chunk(store, await ingest(client, TRAVEL, name="travel.txt"))
    await say(store, chunk, thing("Zeppelin", rule="Flights need the consent of a manager."))
    told = await ask(client, "Zeppelin?")
    assert [source["source"] for source in told["sources"]] == ["LightRAG Answer", "travel.txt"]
    said = "Zeppelin (Thing): rule Flights need the consent of a manager."
    assert told["sources"][0]["chunkText"] == f"From the knowledge graph:\n{said}"
    assert told["response"] == f"From the knowledge graph:\n\n{said} [{chunk.id}]"
    (citation,) = told["citations"]
    assert citation["chunkId"] == str(chunk.id)
    assert citation["supportLevel"] == "loose", "the chunk does not name the Zeppelin"
    assert citation["quote"] == "Flights need the consent of a manager."


async def test_who_is_only_known_to_be_there_is_no_answer(client: httpx.AsyncClient, store: Store) -> None:
    chunk = await first_chunk(store, await ingest(client, TRAVEL, name="travel.txt"))
    await say(store, chunk, thing("Zeppelin"))
    told = await ask(client, "Zeppelin?")
    assert (told["response"], told["sources"]) == (
        "I found no sentence in the documents that answers this.",
        [],
    )


async def test_a_stream_tells_the_same(stocked: httpx.AsyncClient) -> None:
    (first, sources), *tokens, (last, done) = await ask_streaming(stocked)
    assert (first, last) == ("sources", "done")
    assert sources["sources"] == done["sources"]
    assert "".join(token["text"] for _, token in tokens) == done["response"]
    assert timeless(done) == timeless(await ask(stocked))


async def test_references_in_what_is_quoted_are_no_citations(client: httpx.AsyncClient) -> None:
    await ingest(client, "Everyone has thirty days of leave in a year, as the law [2] says.", name="law.md")
    await ingest(client, "A grey heron waits in the pond.", name="other.md")
    told = await ask(client, QUESTION)
    assert "as the law [2] says." in told["response"]


async def test_the_place_is_that_of_what_was_quoted_also_where_the_same_words_stand_elsewhere(
    client: httpx.AsyncClient,
) -> None:
    text = "# Offices\n\n## Berlin\n\nThe office opens at nine.\n\n## Paris\n\nThe office opens at nine. It closes at four.\n"
    await ingest(client, text, name="offices.md")
    citation, *_ = (await ask(client, "When does the Paris office open?"))["citations"]
    assert citation["quote"] == "The office opens at nine."
    assert (citation["startOffset"], citation["support"]) == (text.rindex("The office"), 1.0)


async def test_quoted_lines_without_a_stop_have_a_citation_each(client: httpx.AsyncClient) -> None:
    await ingest(client, "# Crew\n\n- Captain: Ann Lee\n- Cook: Bo Ek\n- Engineer: Cy Dunn\n", name="crew.md")
    told = await ask(client, "Who are the captain, the cook and the engineer?")
    assert [one["quote"] for one in told["citations"]] == [
        "Captain: Ann Lee",
        "Cook: Bo Ek",
        "Engineer: Cy Dunn",
    ]
    for one in told["citations"]:
        assert (
            told["response"][one["responseStart"] : one["responseEnd"]]
            == f"{one['quote']} [{one['chunkId']}]"
        )


async def test_korean_is_quoted(client: httpx.AsyncClient) -> None:
    await ingest(client, "서울은 대한민국의 수도이다. 서울에는 한강이 흐른다.", name="seoul.txt")
    assert (await ask(client, "한강"))["response"].startswith("서울에는 한강이 흐른다. [")
    assert (await ask(client, "수도"))["response"].startswith("서울은 대한민국의 수도이다. [")


async def test_a_short_question_is_not_answered_by_the_answer_to_the_one_before(
    client: httpx.AsyncClient,
) -> None:
    await ingest(
        client, "Books are lent for four weeks. The storm of 9 February broke the roof.", name="library.md"
    )
    earlier = (await ask(client, "How long are books lent?"))["messages"]
    assert (await ask(client, "When was the storm?", history=earlier))["response"].startswith(
        "The storm of 9 February"
    )
    assert (await ask(client, "Why?", history=earlier))["response"].startswith("Books are lent")
    assert (await ask(client, "Who is the mayor?", history=earlier))["sources"] == []


async def test_an_answerer_can_be_chosen_although_there_is_a_model(settings: Settings) -> None:
    with ChatEndpoint() as model:
        chosen = replace(settings, llm_base_url=model.url, llm_model="m", answerer="extractive")
        async with opened(chosen) as client:
            await leave_to_chat(client)
            await stock(client)
            told = await ask(client)
            assert (told["model"], model.requests) == ("extractive", [])
            assert told["response"].startswith("Everyone has thirty days of leave in a year.")
