"""Chat beside a LightRAG server that plays what the real one answered: sources, citations, keys, guards."""

import asyncio
import json
import logging
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any
from uuid import UUID

import httpx
import pytest
from tests.api.chatting import LEAVE, QUESTION, TRAVEL, opened, require_sound, shown
from tests.api.conftest import usual_settings
from tests.api.ingesting import chunks_of, data_of, error_of, events, ingest, upload
from tests.chat_endpoint import MODEL, ChatEndpoint, Messages, says
from tests.endpoint import PATIENCE
from tests.files.pdf import pdf
from tests.graphs import say, thing
from tests.lightrag_endpoint import KEY, LightragEndpoint, plays, recorded
from tests.loopback import Stream, status

from whence.models import Chunk, new_id, now
from whence.settings import Secret, Settings
from whence.store import Store

CHAT = "/api/v1/chat"
PROJECTS = "/api/v1/projects"
PARENTAL = "Parental leave is granted for twelve months."
FOREIGN = next(
    one["chunk_id"]
    for one in recorded()["/query/data"]["data"]["chunks"]
    if one["file_path"] == "elsewhere.md"
)
INVENTED = f"doc-{'0' * 32}-chunk-000"


def script(messages: Messages) -> str:
    """Cites both kinds of passages, and a chunk that nobody has."""
    numbers = {text[:10]: number for number, text in shown(messages).items()}
    parts = [
        f"Everyone has thirty days of leave in a year [{number}]." for number in _of(numbers, "Everyone")
    ]
    parts += [f"{PARENTAL[:-1]} [{number}]." for number in _of(numbers, "Parental")]
    return " ".join([*parts, f"So it is [{INVENTED}]."])


def _of(numbers: dict[str, int], word: str) -> list[int]:
    return [number for text, number in numbers.items() if text.startswith(word)]


@pytest.fixture(scope="module")
def model() -> Iterator[ChatEndpoint]:
    with ChatEndpoint(says(script)) as running:
        yield running


@pytest.fixture(scope="module")
def settings(shared_dsn: str, tmp_path_factory: pytest.TempPathFactory, model: ChatEndpoint) -> Settings:
    usual = usual_settings(shared_dsn, tmp_path_factory.mktemp("lightrag"))
    return replace(usual, llm_base_url=model.url, llm_model=MODEL, lightrag_timeout=600)


@pytest.fixture(scope="module")
async def client(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    async with opened(settings) as opening:
        yield opening


@pytest.fixture
def lightrag() -> Iterator[LightragEndpoint]:
    with LightragEndpoint() as running:
        yield running


async def make_project(client: httpx.AsyncClient, **config: Any) -> str:
    body = {"name": f"p {new_id()}", "config": {"extraction": "manual", **config}}
    return str(data_of(await client.post(PROJECTS, json=body), 201)["id"])


@pytest.fixture
async def project(client: httpx.AsyncClient, lightrag: LightragEndpoint) -> str:
    """Has `leave.md`, as LightRAG has it, and not `elsewhere.md`."""
    ident = await make_project(client, lightragUrl=lightrag.url, lightragKey=KEY)
    await ingest(client, LEAVE, name="leave.md", projectId=ident)
    return ident


async def ask(client: httpx.AsyncClient, project: str, **fields: Any) -> dict[str, Any]:
    body = {"projectId": project, "message": QUESTION, **fields}
    told: dict[str, Any] = (await client.post(CHAT, json=body)).raise_for_status().json()
    return told


async def test_both_kinds_of_chunks_are_sources_and_can_be_cited(
    client: httpx.AsyncClient, project: str, model: ChatEndpoint
) -> None:
    told = await ask(client, project)
    require_sound(told)
    answer, ours, foreign = told["sources"]
    exchange = recorded()
    nulls = ("id", "documentId", "chunkIndex", "distance", "page", "startOffset", "url")
    assert (answer["source"], answer["chunkText"]) == ("LightRAG Answer", exchange["/query"]["response"])
    assert {answer[name] for name in nulls} == {None}
    assert (ours["source"], ours["chunkIndex"], ours["startOffset"]) == ("leave.md", 0, 0)
    assert (foreign["id"], foreign["source"]) == (FOREIGN, "elsewhere.md")
    assert {foreign[name] for name in nulls[1:]} == {None}
    assert told["response"] == (
        f"Everyone has thirty days of leave in a year [{ours['id']}]. {PARENTAL[:-1]} [{FOREIGN}]. So it is."
    )
    first, second, *_ = told["citations"]
    assert (first["chunkId"], first["documentId"]) == (ours["id"], ours["documentId"])
    assert (second["chunkId"], second["documentId"], second["startOffset"]) == (FOREIGN, None, None)
    assert (second["supportLevel"], second["quote"]) == ("verbatim", PARENTAL)
    assert told["notes"] == []
    prompt = model.prompts[-1]
    assert 'kind="answer"' in prompt[0]["content"]
    assert "<passage-" in prompt[-1]["content"]
    assert "in a year.\n\n### References\n\n- leave.md" in prompt[-1]["content"], "its own references go"


async def test_every_surface_has_it(client: httpx.AsyncClient, project: str) -> None:
    told = await ask(client, project)
    body = {"projectId": project, "message": QUESTION, "stream": True}
    streamed = events((await client.post(CHAT, json=body)).text)
    assert streamed[0][1]["sources"] == told["sources"]
    assert "".join(one["text"] for name, one in streamed if name == "token") == told["response"]
    messages = [{"role": "user", "content": QUESTION}]
    for more in ({"citation_style": "id"}, {}):
        answer = await client.post(
            "/v1/chat/completions", json={"model": project, "messages": messages, **more}
        )
        said = answer.raise_for_status().json()["choices"][0]["message"]
        assert ("[2]" in said["content"], FOREIGN in said["content"]) == (not more, bool(more))
        _, note = said["annotations"]
        assert note["url_citation"]["title"] == "elsewhere.md"
        assert note["url_citation"]["url"] == f"urn:lightrag:{FOREIGN}"
    answer = await client.post("/v1/responses", json={"model": project, "input": QUESTION})
    (content,) = answer.raise_for_status().json()["output"][0]["content"]
    assert [one["title"] for one in content["annotations"]] == ["leave.md", "elsewhere.md"]
    arguments = {"question": QUESTION, "project": project}
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "ask", "arguments": arguments},
    }
    answer = await client.post("/mcp", json=call)
    ours, theirs = answer.raise_for_status().json()["result"]["structuredContent"]["citations"]
    assert (ours["number"], ours["file"], theirs["number"], theirs["file"]) == (
        1,
        "leave.md",
        2,
        "elsewhere.md",
    )
    assert "/d/" in ours["url"]
    assert theirs["url"] == f"urn:lightrag:{FOREIGN}"


async def test_a_stored_answer_keeps_it_and_the_next_question_its_citations(
    client: httpx.AsyncClient, project: str
) -> None:
    told = await ask(client, project, store=True)
    conversation = data_of(await client.get(f"/api/v1/conversations/{told['conversationId']}"))
    assert conversation["messages"][-1]["content"] == told["response"]
    answer = conversation["messages"][-1]["answer"]
    assert (answer["sources"], answer["citations"][1]["chunkId"]) == (told["sources"], FOREIGN)
    again = await ask(client, project, history=told["messages"])
    assert again["messages"][1]["content"] == told["response"], "the same sources are found again"
    await client.patch(f"{PROJECTS}/{project}", json={"config": {"lightragUrl": "off"}})
    without = await ask(client, project, history=told["messages"])
    assert FOREIGN not in without["messages"][1]["content"]
    for path in ("evidence.html", "evidence.json"):
        proof = await client.get(f"/api/v1/answers/{told['answerId']}/{path}")
        assert proof.status_code == 200, proof.text


async def test_a_chunk_of_lightrag_becomes_the_nearest_of_ours_with_its_page(
    client: httpx.AsyncClient, lightrag: LightragEndpoint
) -> None:
    ident = await make_project(client, lightragUrl=lightrag.url, lightragKey=KEY)
    options = json.dumps({"maxChunkSize": 100, "minChunkSize": 10})
    small = {"chunkingStrategy": "sentence", "chunkingOptions": options}
    await upload(client, "rules.pdf", pdf([[TRAVEL], [LEAVE]]), projectId=ident, **small)
    (document,) = data_of(await client.get("/api/v1/documents", params={"projectId": ident}))["items"]
    chunks = await chunks_of(client, document["id"])
    text = data_of(await client.get(f"/api/v1/documents/{document['id']}/text"))["text"]
    exchange = recorded()
    exchange["/query/data"]["data"]["chunks"] = [
        {"content": text.strip(), "chunk_id": FOREIGN, "file_path": "/inputs/rules.pdf"}
    ]
    exchange["/query"]["references"] = []
    lightrag.default = plays(exchange)
    told = await ask(client, ident, message="Which class is paid for a journey by train?", limit=2)
    _, *others = told["sources"]
    found = {one["id"] for one in chunks}
    assert {one["id"] for one in others} <= found
    for one in others:
        assert text[one["startOffset"] : one["endOffset"]] == one["chunkText"]
        assert one["page"] == (1 if "train" in one["chunkText"] or "Flights" in one["chunkText"] else 2)


async def test_ids_that_users_chose_are_kept_and_names_cleaned(
    client: httpx.AsyncClient, lightrag: LightragEndpoint
) -> None:
    ident = await make_project(client, lightragUrl=lightrag.url, lightragKey=KEY)
    exchange = recorded()
    exchange["/query/data"]["data"]["chunks"] = [
        {"content": PARENTAL, "chunk_id": "report-2024-chunk-003", "file_path": "else\nwhere.md"}
    ]
    exchange["/query"]["references"] = []
    lightrag.default = plays(exchange)
    told = await ask(client, ident)
    assert [(one["id"], one["source"]) for one in told["sources"][1:]] == [
        ("report-2024-chunk-003", "else where.md")
    ]


async def test_documents_of_other_projects_are_not_aligned(
    client: httpx.AsyncClient, lightrag: LightragEndpoint
) -> None:
    other = await make_project(client)
    await ingest(client, LEAVE, name="leave.md", projectId=other)
    ident = await make_project(client, lightragUrl=lightrag.url, lightragKey=KEY)
    told = await ask(client, ident)
    assert [one["documentId"] for one in told["sources"]] == [None] * 3
    assert sorted(one["source"] for one in told["sources"]) == ["LightRAG Answer", "elsewhere.md", "leave.md"]


async def test_its_answer_takes_the_place_of_the_graphs_which_stays_if_it_fails(
    client: httpx.AsyncClient, project: str, lightrag: LightragEndpoint, settings: Settings
) -> None:
    document = await ingest(client, "Anna Lindqvist decides on leave.", name="who.txt", projectId=project)
    (view,) = await chunks_of(client, document["documentId"])
    chunk = Chunk(
        project_id=UUID(project),
        id=UUID(view["id"]),
        document_id=UUID(document["documentId"]),
        job_id=UUID(view["job_id"]),
        chunk_index=0,
        content=view["content"],
        metadata=None,
        created_at=now(),
    )
    assert settings.database_url is not None
    async with Store.open(settings.database_url.reveal(), size=2) as store:
        await say(store, chunk, thing("Anna Lindqvist", role="decides on leave"))
    question = "What does Anna Lindqvist decide?"
    both = await ask(client, project, message=question)
    answers = [one["chunkText"] for one in both["sources"] if one["source"] == "LightRAG Answer"]
    assert answers == [recorded()["/query"]["response"]]
    assert "who.txt" in [one["source"] for one in both["sources"]], "the passage behind the fact stays"
    lightrag.default = status(503)
    alone = await ask(client, project, message=question)
    assert alone["sources"][0]["source"] == "LightRAG Answer"
    assert "role decides on leave" in alone["sources"][0]["chunkText"]
    assert alone["notes"] == ["LightRAG was not used: it answered 503"]


async def test_without_lightrag_chat_answers_and_says_so(
    client: httpx.AsyncClient, project: str, lightrag: LightragEndpoint
) -> None:
    lightrag.default = status(500)
    told = await ask(client, project)
    assert told["notes"] == ["LightRAG was not used: it answered 500"]
    assert [one["source"] for one in told["sources"]] == ["leave.md"]
    body = {"projectId": project, "message": QUESTION, "stream": True}
    streamed = events((await client.post(CHAT, json=body)).text)
    assert streamed[-1][1]["notes"] == told["notes"]


async def test_lightrag_is_not_asked_with_filters_and_not_for_small_talk(
    client: httpx.AsyncClient, project: str, lightrag: LightragEndpoint
) -> None:
    told = await ask(client, project, filters={"fileTypes": ["md"]})
    assert told["notes"] == ["LightRAG was not asked: it knows no filters"]
    await ask(client, project, message="Great, thanks.")
    assert lightrag.requests == []


async def test_the_settings_name_a_server_for_all_and_a_project_switches_it_off(
    settings: Settings, lightrag: LightragEndpoint
) -> None:
    named = replace(settings, lightrag_url=lightrag.url, lightrag_api_key=Secret(KEY), fetch_allow=())
    async with opened(named) as client:
        ident = await make_project(client)
        assert (await ask(client, ident))["sources"][0]["source"] == "LightRAG Answer"
        asked = len(lightrag.requests)
        await client.patch(f"{PROJECTS}/{ident}", json={"config": {"lightragUrl": "off"}})
        assert (await ask(client, ident))["sources"] == []
        assert len(lightrag.requests) == asked
        # The settings' key goes to the settings' server only, and a project cannot name an address inside.
        refused = await client.patch(f"{PROJECTS}/{ident}", json={"config": {"lightragUrl": lightrag.url}})
        error_of(refused, 400, "URL_REFUSED")


@pytest.mark.parametrize(
    "url",
    [
        "http://10.0.0.1:9621",
        "http://localhost:9621",
        "http://169.254.169.254/latest",
        "http://[::1]:9621",
        "http://2130706433/",
        "ftp://example.com",
        "http://user:pass@example.com",
        "nonsense",
    ],
)
async def test_a_project_names_no_server_inside_the_network(client: httpx.AsyncClient, url: str) -> None:
    for answer in (
        await client.post(PROJECTS, json={"name": f"p {new_id()}", "config": {"lightragUrl": url}}),
        await client.patch(f"{PROJECTS}/{await make_project(client)}", json={"config": {"lightragUrl": url}}),
    ):
        assert "pass" not in json.dumps(error_of(answer, 400, "URL_REFUSED"))


async def test_the_key_is_never_shown(
    client: httpx.AsyncClient, project: str, lightrag: LightragEndpoint, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    path = f"{PROJECTS}/{project}"
    config = data_of(await client.get(path))["config"]
    assert (config["lightragUrl"], config["lightragKey"]) == (lightrag.url, "set")
    shown_again = await client.patch(path, json={"config": config})  # as a client sends back what it read
    listed = await client.get(PROJECTS, params={"limit": 100})
    assert (await ask(client, project))["notes"] == []
    for bad in ("a b", "ö", "x" * 501, 5, ""):
        answer = await client.patch(path, json={"config": {"lightragKey": bad}})
        error = error_of(answer, 400, "INVALID_REQUEST")
        assert error["details"]["provided"] == "…"
    lightrag.default = status(403, message=f"{KEY} is wrong")
    told = await ask(client, project)
    assert told["notes"] == ["LightRAG was not used: its key was refused (403)"]
    for text in (shown_again.text, listed.text, json.dumps(told), caplog.text):
        assert KEY not in text


async def test_the_key_goes_to_no_other_server(
    client: httpx.AsyncClient, project: str, lightrag: LightragEndpoint
) -> None:
    path = f"{PROJECTS}/{project}"
    with LightragEndpoint() as thief:
        changed = await client.patch(path, json={"config": {"lightragUrl": thief.url}})
        assert data_of(changed)["config"]["lightragKey"] is None
        told = await ask(client, project)
        assert told["notes"] == ["LightRAG was not used: its key is needed and not set (403)"]
        assert all("x-api-key" not in one.headers for one in thief.requests)
    back = await client.patch(path, json={"config": {"lightragUrl": lightrag.url}})
    assert data_of(back)["config"]["lightragKey"] is None
    given = await client.patch(path, json={"config": {"lightragKey": KEY}})
    assert data_of(given)["config"]["lightragKey"] == "set"
    assert (await ask(client, project))["notes"] == []
    taken = await client.patch(path, json={"config": {"lightragKey": None}})
    assert data_of(taken)["config"]["lightragKey"] is None
    assert (await ask(client, project))["notes"] != []
    alone = await client.patch(
        f"{PROJECTS}/{await make_project(client)}", json={"config": {"lightragKey": KEY}}
    )
    assert error_of(alone, 400, "INVALID_REQUEST")["details"]["field"] == "lightragKey"


async def test_a_client_that_leaves_ends_the_question(
    client: httpx.AsyncClient, project: str, lightrag: LightragEndpoint
) -> None:
    asked = threading.Event()

    def dripping() -> Iterator[bytes]:
        asked.set()
        while not gone.wait(0.01):
            yield b" "

    gone = threading.Event()
    lightrag.default = lambda _: Stream(chunks=dripping(), content_type="application/json")
    for more in ({}, {"stream": True}):
        asked.clear()
        asking = asyncio.create_task(ask(client, project, **more))
        assert await asyncio.to_thread(asked.wait, PATIENCE)
        asking.cancel()
        with suppress(asyncio.CancelledError):
            await asking
        async with asyncio.timeout(PATIENCE):
            while lightrag.running:  # noqa: ASYNC110 - the endpoint sets no events
                await asyncio.sleep(0.01)
    gone.set()
