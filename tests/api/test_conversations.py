"""Conversations and stored answers: kept as they were, stale when their ground moves, asked again, and only for their key."""

import asyncio
from typing import Any

import httpx
import pytest
from tests.api.chatting import (
    LEAVE,
    PROJECT,
    QUESTION,
    SMALL,
    TRAVEL,
    ask,
    ask_streaming,
    first_chunk,
    timeless,
)
from tests.api.ingesting import DOCUMENTS, data_of, error_of, ingest, put
from tests.graphs import say, thing

from whence.models import DEFAULT_PROJECT_ID, now
from whence.store import Store
from whence.store.answers import StoredCitation
from whence.store.keys import EVERYONE

pytestmark = [pytest.mark.one_app, pytest.mark.usefixtures("leave")]

CONVERSATIONS = "/api/v1/conversations"
ANSWERS = "/api/v1/answers"
HANDBOOK = f"{LEAVE} {TRAVEL}"
TWENTY = HANDBOOK.replace("thirty", "twenty")


async def ask_stored(client: httpx.AsyncClient, message: str = QUESTION, **fields: Any) -> dict[str, Any]:
    body = {"projectId": PROJECT, "message": message, "store": True, **fields}
    answer = await client.post("/api/v1/chat", json=body)
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    assert told["citations"]
    return told


async def stored(client: httpx.AsyncClient, answer: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = data_of(await client.get(f"{ANSWERS}/{answer['answerId']}"))
    return found


@pytest.fixture
async def leave(by_hand: httpx.AsyncClient) -> dict[str, Any]:
    """A document of two chunks."""
    return await ingest(by_hand, HANDBOOK, name="leave.md", **SMALL)


async def test_nothing_is_stored_unless_it_is_asked_for(client: httpx.AsyncClient) -> None:
    await ask(client)  # has today's fields and no others
    await ask(client, store=False)
    assert data_of(await client.get(CONVERSATIONS))["items"] == []
    assert data_of(await client.get(ANSWERS))["items"] == []


async def test_a_stored_answer_stays_as_it_was(client: httpx.AsyncClient, leave: dict[str, Any]) -> None:
    told = await ask_stored(client)
    found = await stored(client, told)
    kept = ("response", "model", "notes", "totalDuration", "promptEvalCount", "evalCount")
    assert {name: found[name] for name in kept} == {name: told[name] for name in kept}
    for name in ("sources", "citations"):
        assert [{**one, "url": None} for one in found[name]] == [{**one, "url": None} for one in told[name]]
    assert (found["question"], found["isStale"], found["feedback"]) == (QUESTION, False, None)
    assert found["url"] == told["url"] == f"http://127.0.0.1:8420/a/{told['answerId']}"
    await put(client, leave["documentId"], text="Nothing of it is left.")
    again = await stored(client, told)
    assert (again["response"], again["sources"]) == (found["response"], found["sources"])


async def test_a_conversation_is_the_history_of_its_next_question(client: httpx.AsyncClient) -> None:
    made = data_of(await client.post(CONVERSATIONS, json={}), 201)
    assert (made["title"], made["answerCount"]) == (None, 0)
    first = await ask_stored(client, conversationId=made["id"])
    second = await ask_stored(client, "And when are they lost?", conversationId=made["id"])
    assert second["conversationId"] == first["conversationId"] == made["id"]
    stateless = await ask(client, "And when are they lost?", history=first["messages"], includeRects=True)
    assert second["messages"] == stateless["messages"]
    assert timeless(stateless).items() <= timeless(second).items()
    whole = data_of(await client.get(f"{CONVERSATIONS}/{made['id']}"))
    assert [one["content"] for one in whole["messages"]] == [one["content"] for one in second["messages"]]
    assert [one["answer"] and one["answer"]["id"] for one in whole["messages"]] == [
        None,
        first["answerId"],
        None,
        second["answerId"],
    ]
    assert (whole["title"], whole["answerCount"], whole["staleCount"]) == (QUESTION, 2, 0)


async def test_a_stream_stores_its_answer_before_it_ends(client: httpx.AsyncClient) -> None:
    told = await ask_streaming(client, store=True)
    name, done = told[-1]
    assert name == "done"
    assert (await stored(client, done))["response"] == done["response"]


async def test_conversations_are_renamed_exported_and_deleted(client: httpx.AsyncClient) -> None:
    told = await ask_stored(client)
    path = f"{CONVERSATIONS}/{told['conversationId']}"
    assert data_of(await client.patch(path, json={"title": "Leave"}))["title"] == "Leave"
    (listed,) = data_of(await client.get(CONVERSATIONS))["items"]
    assert (listed["title"], listed["answerCount"]) == ("Leave", 1)
    exported = await client.get(f"{path}/export")
    assert exported.json()["messages"][1]["answer"]["id"] == told["answerId"]
    written = (await client.get(f"{path}/export", params={"format": "markdown"})).text
    assert written.startswith("# Leave\n")
    assert told["citations"][0]["quote"] in written
    error_of(await client.get(f"{path}/export", params={"format": "pdf"}), 400, "INVALID_PARAMETER")
    data_of(await client.delete(path))
    error_of(await client.get(path), 404, "CONVERSATION_NOT_FOUND")
    error_of(await client.get(f"{ANSWERS}/{told['answerId']}"), 404, "ANSWER_NOT_FOUND")


async def test_what_cannot_be_asked(client: httpx.AsyncClient) -> None:
    made = data_of(await client.post(CONVERSATIONS, json={}), 201)
    other = data_of(await client.post("/api/v1/projects", json={"name": "other"}), 201)
    question = {"projectId": PROJECT, "message": QUESTION, "conversationId": made["id"]}
    history = [{"role": "user", "content": "Hello"}]
    error = error_of(
        await client.post("/api/v1/chat", json={**question, "history": history}), 400, "INVALID_PARAMETER"
    )
    assert error["details"]["parameter"] == "conversationId"
    elsewhere = await client.post("/api/v1/chat", json={**question, "projectId": other["id"]})
    error_of(elsewhere, 404, "CONVERSATION_NOT_FOUND")
    error_of(await client.post(CONVERSATIONS, json={"title": " "}), 400, "INVALID_PARAMETER")


class TestStale:
    async def test_a_changed_chunk(self, client: httpx.AsyncClient, leave: dict[str, Any]) -> None:
        told = await ask_stored(client)
        impact = f"/api/v1/documents/{leave['documentId']}/deletion-impact"
        assert data_of(await client.get(impact))["answers"] == 1
        await put(client, leave["documentId"], text=TWENTY)
        assert data_of(await client.get(impact))["answers"] == 0, "it is stale already"
        found = await stored(client, told)
        assert found["isStale"]
        (reason,) = found["staleReasons"]
        assert (reason["reason"], reason["documentName"], reason["currentVersion"]) == (
            "changed",
            "leave.md",
            2,
        )
        assert reason["oldText"] == "Everyone has thirty days of leave in a year."
        assert reason["newText"] == "Everyone has twenty days of leave in a year."
        assert not reason["quoteStillThere"]
        assert "span=0-44&v=2" in reason["url"]
        (listed,) = data_of(await client.get(ANSWERS, params={"stale": "true"}))["items"]
        assert listed == found
        assert data_of(await client.get(ANSWERS, params={"stale": "false"}))["items"] == []
        (conversation,) = data_of(await client.get(CONVERSATIONS))["items"]
        assert conversation["staleCount"] == 1

    async def test_another_chunk_of_the_document(
        self, client: httpx.AsyncClient, leave: dict[str, Any]
    ) -> None:
        told = await ask_stored(client, limit=1)
        await put(client, leave["documentId"], text=HANDBOOK.replace("Flights", "Boats"))
        assert not (await stored(client, told))["isStale"]

    async def test_words_that_moved(self, client: httpx.AsyncClient, leave: dict[str, Any]) -> None:
        told = await ask_stored(client)
        options = {"maxChunkSize": 200, "minChunkSize": 10}
        await put(client, leave["documentId"], text=f"New. {HANDBOOK}", chunkingOptions=options)
        (reason, *_) = (await stored(client, told))["staleReasons"]
        assert reason["reason"] == "changed"
        assert reason["quoteStillThere"]
        assert reason["newText"] == reason["oldText"]

    @pytest.mark.parametrize("what", ["document", "chunk", "job"])
    async def test_a_deleted_ground(
        self, client: httpx.AsyncClient, leave: dict[str, Any], what: str
    ) -> None:
        told = await ask_stored(client)
        path = {
            "document": f"{DOCUMENTS}/{leave['documentId']}",
            "chunk": f"/api/v1/chunks/{told['citations'][0]['chunkId']}",
            "job": f"/api/v1/jobs/{leave['jobId']}",
        }[what]
        data_of(await client.delete(path))
        found = await stored(client, told)
        (reason, *_) = found["staleReasons"]
        assert reason["reason"] == "deleted"
        assert reason["oldText"] == told["citations"][0]["quote"]
        assert (reason["newText"] is None) == (what == "document")

    async def test_a_rejected_claim(
        self, client: httpx.AsyncClient, store: Store, leave: dict[str, Any]
    ) -> None:
        told = await ask_stored(client)
        chunk = await first_chunk(store, leave)
        written = await say(store, chunk, thing("Leave", days=30), thing("Other", days=1))
        one, _ = written.objects
        claims = data_of(await client.get(f"/api/v1/objects/{one}/provenance", params={"property": "days"}))
        assert not (await stored(client, told))["isStale"]
        rejected = await client.delete(f"/api/v1/objects/{one}/claims/{claims['items'][0]['id']}")
        curation = data_of(rejected)
        (reason, *_) = (await stored(client, told))["staleReasons"]
        assert (reason["reason"], reason["quoteStillThere"]) == ("rejected", True)
        data_of(await client.post(f"/api/v1/curations/{curation['id']}/undo"))
        assert not (await stored(client, told))["isStale"]

    async def test_a_chunk_that_goes_while_the_answer_is_stored(
        self, store: Store, client: httpx.AsyncClient, leave: dict[str, Any]
    ) -> None:
        """Whoever comes second, the answer knows."""
        told = await ask_stored(client)
        chunk = await first_chunk(store, leave)
        grounds = [StoredCitation(number=0, chunk_id=chunk.id)]
        frozen = {"sources": told["sources"], "citations": told["citations"], "response": told["response"]}
        conversation = await store.conversations.create(DEFAULT_PROJECT_ID, EVERYONE)

        async def keep() -> None:
            await store.answers.add(
                DEFAULT_PROJECT_ID,
                conversation.id,
                answer_id=conversation.id,
                asked={"message": QUESTION},
                answer=frozen,
                grounds=grounds,
                title="",
            )

        async with store.transaction() as tx:
            await tx.graph.removal.chunks(DEFAULT_PROJECT_ID, [chunk.id])
            waiting = asyncio.create_task(keep())
            while not await _is_waiting(store):  # noqa: ASYNC110 - Postgres sets no events
                await asyncio.sleep(0.01)
            await tx.chunks.remove(DEFAULT_PROJECT_ID, [chunk.id])
        await waiting
        found, _ = await store.answers.page(DEFAULT_PROJECT_ID, EVERYONE, stale=True, limit=10, offset=0)
        assert len(found) == 2
        assert conversation.id in {one.id for one in found}


async def _is_waiting(store: Store) -> bool:
    query = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')"
    return bool(await store._queries.value(query))


class TestRefresh:
    async def test_it_shows_what_changed(self, client: httpx.AsyncClient, leave: dict[str, Any]) -> None:
        told = await ask_stored(client, projectId=None, project="default")
        await put(client, leave["documentId"], text=TWENTY)
        made = data_of(await client.post(f"{ANSWERS}/{told['answerId']}/refresh"))
        changes = made["changes"]
        assert changes["responseChanged"]
        texts = {
            op: [part["text"] for part in changes["diff"] if part["op"] == op] for op in ("removed", "added")
        }
        assert "Everyone has thirty days of leave in a year." in texts["removed"]
        assert "Everyone has twenty days of leave in a year." in texts["added"]
        assert changes["sourcesAdded"]
        assert changes["sourcesRemoved"]
        assert [one["quote"] for one in changes["quotesRemoved"]] == [told["citations"][0]["quote"]]
        assert (made["answer"]["refreshes"], made["previous"]["refreshedBy"]) == (
            told["answerId"],
            made["answer"]["id"],
        )
        assert not made["answer"]["isStale"]
        assert (await stored(client, told))["isStale"], "refreshing does not make its sources true again"
        assert data_of(await client.get(ANSWERS, params={"stale": "true"}))["items"] == []
        fresh = data_of(await client.get(ANSWERS, params={"stale": "false"}))["items"]
        assert [one["id"] for one in fresh] == [made["answer"]["id"]]
        whole = data_of(await client.get(f"{CONVERSATIONS}/{told['conversationId']}"))
        assert [one["answer"]["id"] for one in whole["messages"] if one["answer"]] == [made["answer"]["id"]]
        error_of(await client.post(f"{ANSWERS}/{told['answerId']}/refresh"), 409, "CONFLICT")

    async def test_it_asks_with_the_history_of_its_turn(self, client: httpx.AsyncClient) -> None:
        first = await ask_stored(client)
        second = await ask_stored(
            client, "And when are they lost?", conversationId=first["conversationId"], limit=3
        )
        made = data_of(await client.post(f"{ANSWERS}/{second['answerId']}/refresh"))
        assert not made["changes"]["responseChanged"]
        assert made["answer"]["response"] == second["response"]
        whole = data_of(await client.get(f"{CONVERSATIONS}/{first['conversationId']}"))
        assert [one["answer"]["id"] for one in whole["messages"] if one["answer"]] == [
            first["answerId"],
            made["answer"]["id"],
        ]


async def test_feedback_is_kept_listed_exported_and_taken_back(client: httpx.AsyncClient) -> None:
    told = await ask_stored(client)
    await ask_stored(client, "When are days of leave lost?")
    path = f"{ANSWERS}/{told['answerId']}/feedback"
    body = {"rating": "down", "comment": "Wrong year", "wrongCitations": [0]}
    said = data_of(await client.post(path, json=body))["feedback"]
    assert {name: said[name] for name in body} == body
    (listed,) = data_of(await client.get(ANSWERS, params={"feedback": "down"}))["items"]
    assert listed["id"] == told["answerId"]
    assert data_of(await client.get(ANSWERS, params={"feedback": "up"}))["items"] == []
    lines = (await client.get(f"{ANSWERS}/export", params={"feedback": "any"})).text.splitlines()
    assert len(lines) == 1
    assert len((await client.get(f"{ANSWERS}/export")).text.splitlines()) == 2
    many = len(told["citations"])
    error_of(
        await client.post(path, json={"rating": "up", "wrongCitations": [many]}), 400, "INVALID_PARAMETER"
    )
    error_of(await client.post(path, json={"rating": "sideways"}), 400, "INVALID_PARAMETER")
    assert data_of(await client.delete(path))["feedback"] is None


async def test_a_key_sees_only_its_own(client: httpx.AsyncClient, store: Store) -> None:
    one, other = [
        {"X-API-Key": (await store.keys.create(name="", scope="admin", project_id=None))[1].reveal()}
        for _ in range(2)
    ]
    body = {"projectId": PROJECT, "message": QUESTION, "store": True}
    told = (await client.post("/api/v1/chat", json=body, headers=one)).json()
    conversation, answer = f"{CONVERSATIONS}/{told['conversationId']}", f"{ANSWERS}/{told['answerId']}"
    data_of(await client.get(conversation, headers=one))
    for method, path in (("GET", conversation), ("DELETE", conversation), ("GET", f"{conversation}/export")):
        error_of(await client.request(method, path, headers=other), 404, "CONVERSATION_NOT_FOUND")
    for method, path in (("GET", answer), ("POST", f"{answer}/refresh"), ("DELETE", f"{answer}/feedback")):
        error_of(await client.request(method, path, headers=other), 404, "ANSWER_NOT_FOUND")
    follow = {**body, "conversationId": told["conversationId"]}
    error_of(await client.post("/api/v1/chat", json=follow, headers=other), 404, "CONVERSATION_NOT_FOUND")
    for path in (CONVERSATIONS, ANSWERS):
        assert data_of(await client.get(path, headers=other))["items"] == []
        assert len(data_of(await client.get(path, headers=one))["items"]) == 1
    assert (await client.get(f"{ANSWERS}/export", headers=other)).text == ""


async def test_what_was_made_without_a_key_is_deleted_by_keys_that_may_write(
    client: httpx.AsyncClient, store: Store
) -> None:
    reader, writer = [
        {"X-API-Key": (await store.keys.create(name="", scope=scope, project_id=None))[1].reveal()}
        for scope in ("read", "write")
    ]
    body = {"projectId": PROJECT, "message": QUESTION, "store": True}
    told = (await client.post("/api/v1/chat", json=body)).json()
    path, response = f"{CONVERSATIONS}/{told['conversationId']}", f"/v1/responses/resp_{told['answerId']}"
    assert data_of(await client.get(path))["isOwn"] is True
    assert data_of(await client.get(path, headers=reader))["isOwn"] is False
    for method, at, given in (
        ("PATCH", path, {"title": "Mine"}),
        ("DELETE", path, None),
        ("DELETE", response, None),
    ):
        error_of(await client.request(method, at, json=given, headers=reader), 403, "FORBIDDEN")
    data_of(await client.patch(path, json={"title": "Ours"}, headers=writer))
    data_of(await client.delete(path, headers=writer))
    told = (await client.post("/api/v1/chat", json=body, headers=reader)).json()
    data_of(await client.delete(f"{CONVERSATIONS}/{told['conversationId']}", headers=reader))


async def test_old_conversations_are_deleted(client: httpx.AsyncClient, store: Store) -> None:
    await ask_stored(client)
    between = now()
    kept = await ask_stored(client)
    assert await store.conversations.delete_old(between) == 1
    (left,) = data_of(await client.get(CONVERSATIONS))["items"]
    assert left["id"] == kept["conversationId"]
