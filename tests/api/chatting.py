"""What the tests of chat share: documents to ask about, a scripted model, and what must hold of every answer."""

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import httpx
from tests.api.ingesting import events, ingest
from tests.chat_endpoint import Messages

from whence.models import DEFAULT_PROJECT_ID, Chunk, now
from whence.settings import Settings
from whence.store import Store
from whence.web.server import create_app

CHAT = "/api/v1/chat"
PROJECT = str(DEFAULT_PROJECT_ID)
ABSENT = "550e8400-e29b-41d4-a716-446655440000"

LEAVE = "Everyone has thirty days of leave in a year. Days that are left at the end of March are lost."
TRAVEL = "Travel by train is paid in second class. Flights need the consent of a manager."
QUESTION = "How many days of leave does everyone have in a year?"
SMALL = {"chunkingStrategy": "sentence", "chunkingOptions": {"maxChunkSize": 100, "minChunkSize": 10}}

_UUID = "[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
CITED = re.compile(rf"\[({_UUID})\]", re.IGNORECASE)
_PASSAGE = re.compile(
    r'^<passage-(\w+) number="(\d+)"[^>]*>\n(.*?)\n</passage-\1>$', re.MULTILINE | re.DOTALL
)

ANSWER = {
    "response",
    "messages",
    "sources",
    "model",
    "totalDuration",
    "promptEvalCount",
    "evalCount",
    "citations",
    "notes",
}
SOURCE = {
    *("id", "documentId", "chunkIndex", "chunkText", "source", "distance", "page"),
    *("startOffset", "endOffset", "documentVersion", "url"),
}


def shown(messages: Messages) -> dict[int, str]:
    """The passages that a model sees, by their numbers."""
    return {int(number): text for _, number, text in _PASSAGE.findall(messages[-1]["content"])}


def about(word: str, sentence: str) -> Callable[[Messages], str]:
    """A model that cites the passage with this word in it."""

    def script(messages: Messages) -> str:
        number = next(number for number, text in shown(messages).items() if word in text)
        return f"{sentence} [{number}]."

    return script


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a server with these settings."""
    web = create_app(settings)
    async with web.router.lifespan_context(web):
        transport = httpx.ASGITransport(app=web, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            yield client


async def leave_to_chat(client: httpx.AsyncClient) -> None:
    """The scripted model is asked questions only: nothing is extracted from what is ingested."""
    answer = await client.patch(f"/api/v1/projects/{PROJECT}", json={"config": {"extraction": "manual"}})
    assert answer.status_code == 200, answer.text


async def stock(client: httpx.AsyncClient) -> None:
    await ingest(client, LEAVE, name="leave.md")
    await ingest(client, TRAVEL, name="travel.txt")


async def first_chunk(store: Store, document: dict[str, Any]) -> Chunk:
    """Of a document that was just handed in."""
    (view, *_), _ = await store.chunks.of_document(
        DEFAULT_PROJECT_ID, UUID(document["documentId"]), limit=1, offset=0
    )
    return Chunk(
        project_id=DEFAULT_PROJECT_ID,
        id=UUID(view["id"]),
        document_id=UUID(view["document_id"]),
        job_id=UUID(view["job_id"]),
        chunk_index=0,
        content=view["content"],
        metadata=None,
        created_at=now(),
    )


async def ask(client: httpx.AsyncClient, message: str = QUESTION, **fields: Any) -> dict[str, Any]:
    answer = await client.post(CHAT, json={"projectId": PROJECT, "message": message, **fields})
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    require_sound(told)
    return told


async def ask_streaming(
    client: httpx.AsyncClient, message: str = QUESTION, **fields: Any
) -> list[tuple[str, dict[str, Any]]]:
    body = {"projectId": PROJECT, "message": message, "stream": True, **fields}
    answer = await client.post(CHAT, json=body)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/event-stream")
    return events(answer.text)


def require_sound(told: dict[str, Any]) -> None:
    """The promises that hold of every answer, whatever the model wrote."""
    assert set(told) == ANSWER
    ids = {source["id"] for source in told["sources"]}
    for source in told["sources"]:
        assert set(source) == SOURCE
        assert source["chunkText"]
        assert source["source"]
        assert source["distance"] is None or 0 <= source["distance"] <= 1
    for turn in told["messages"]:
        if turn["role"] == "assistant":
            assert {cited.lower() for cited in CITED.findall(turn["content"])} <= ids
    for citation in told["citations"]:
        sentence = told["response"][citation["responseStart"] : citation["responseEnd"]]
        assert sentence.strip()
        if citation["chunkId"] is not None:
            assert (f"[{citation['chunkId']}]" in sentence) == (citation["origin"] == "model")
            source = next(one for one in told["sources"] if one["id"] == citation["chunkId"])
            assert (citation["quote"] is None) == (citation["support"] == 0)
            assert (citation["quote"] or "") in source["chunkText"]
            assert citation["documentId"] == source["documentId"]
        assert citation["supported"] == (citation["supportLevel"] in {"verbatim", "close"})
        assert citation["supported"] or citation["origin"] == "model"


def timeless(told: dict[str, Any]) -> dict[str, Any]:
    return {**told, "totalDuration": None}
