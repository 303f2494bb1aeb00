"""The life of an extraction: what stops it, what it waits for, and what may be done about it."""

from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest
from tests.api.ingesting import DOCUMENTS, JOBS, TEXT, data_of, ended, error_of, events, ingest
from tests.api.services import PARTS, held, told, until_asked, until_idle, words
from tests.chat_endpoint import ChatEndpoint, says
from tests.extracting import (
    CUT,
    PROJECTS,
    SHARED,
    content,
    extract,
    extractions,
    graph,
    ingest_parts,
    paragraphs,
    replies,
    rows,
    scripted,
)
from tests.graphs import require_sound
from tests.loopback import status

from whence.models import DEFAULT_PROJECT_ID

model, settings = scripted(told)
pytestmark = SHARED


async def test_where_no_chunk_can_be_read_the_job_fails_and_can_be_tried_again(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    model.default = says("No.")
    job = await extract(by_hand, await ingest_parts(by_hand, *PARTS))
    assert (job["status"], job["error"]["code"]) == ("failed", "EXTRACTION_FAILED")
    assert job["error"]["message"].startswith("None of the 3 chunks could be read. ")
    assert [chunk["chunk_index"] for chunk in job["error"]["details"]["chunks"]] == [0, 1, 2]
    model.default = replies(told)
    data_of(await by_hand.post(f"{JOBS}/{job['id']}/retry"), 202)
    job = await ended(by_hand, job["id"])
    assert (job["status"], job["error"], job["done"]) == ("completed", None, 3)
    assert set(graph(dsn)) == {"Component Alpha", "Component Beta", "Component Gamma"}


async def test_what_was_paid_for_chunks_that_failed_stays_counted_when_they_are_read_again(
    by_hand: httpx.AsyncClient, model: ChatEndpoint
) -> None:
    model.default = says("No.")
    job = await extract(by_hand, await ingest_parts(by_hand, *PARTS))
    assert job["extraction"]["prompt_tokens"] == words(model) > 0
    for behaviour in (says("No."), replies(told)):
        model.default, before = behaviour, job["extraction"]
        data_of(await by_hand.post(f"{JOBS}/{job['id']}/retry"), 202)
        job = await ended(by_hand, job["id"])
        assert job["extraction"]["prompt_tokens"] == words(model) > before["prompt_tokens"]
        assert job["extraction"]["completion_tokens"] > before["completion_tokens"]
    assert (job["status"], job["extraction"]["extracted"], job["extraction"]["failed"]) == ("completed", 3, 0)


async def test_an_endpoint_that_refuses_everything_is_not_asked_for_every_chunk(
    by_hand: httpx.AsyncClient, model: ChatEndpoint
) -> None:
    model.default = status(401, message="who are you?")
    job = await extract(by_hand, await ingest_parts(by_hand, *(f"Part {at} of it." for at in range(20))))
    assert (job["status"], job["error"]["code"]) == ("failed", "MODEL_REFUSED")
    assert len(model.requests) <= 5


async def test_an_endpoint_that_is_away_is_waited_for(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    model.script(replies(told), status(503), replies(told))
    job = await extract(by_hand, await ingest_parts(by_hand, *PARTS))
    assert (job["status"], job["error"], job["attempts"]) == ("completed", None, 2)
    assert len(model.prompts) == 4  # what was read is not read again
    assert len(graph(dsn)) == 3


async def test_an_update_takes_the_place_of_an_extraction_and_one_follows(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    document_id = await ingest_parts(by_hand, *PARTS)
    with held(model) as let_go:
        ordered = data_of(await by_hand.post(f"{DOCUMENTS}/{document_id}/extract"), 202)
        await until_asked(model)
        updated = {"text": paragraphs("Delta is all that is left."), **CUT}
        answer = data_of(await by_hand.put(f"{DOCUMENTS}/{document_id}", json=updated), 202)
        old = await ended(by_hand, ordered["jobId"])
        assert (old["status"], old["error"]["code"]) == ("cancelled", "SUPERSEDED")
        let_go.set()
    assert (await ended(by_hand, answer["jobId"]))["status"] == "completed"
    newest, _ = await extractions(by_hand, document_id)
    assert newest["status"] == "completed"
    assert set(graph(dsn)) == {"Component Delta"}
    require_sound(dsn)


@pytest.mark.parametrize("ending", ["failed", "cancelled", "deleted"])
async def test_an_extraction_goes_on_when_the_update_that_stopped_it_comes_to_nothing(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str, ending: str
) -> None:
    document_id = await ingest_parts(by_hand, *PARTS)
    model.script(replies(told))
    with held(model) as let_go:
        ordered = data_of(await by_hand.post(f"{DOCUMENTS}/{document_id}/extract"), 202)
        await until_asked(model, times=2)
        file = ("bad.pdf", b"%PDF-1.7\nthis is none\n%%EOF", "application/pdf")
        answer = data_of(await by_hand.put(f"{DOCUMENTS}/{document_id}", files={"file": file}), 202)
        # The queue gives it to nobody before the extraction has found out that it is not wanted.
        if ending == "cancelled":
            data_of(await by_hand.post(f"{JOBS}/{answer['jobId']}/cancel"))
        if ending == "deleted":
            data_of(await by_hand.delete(f"{JOBS}/{answer['jobId']}"))
        let_go.set()
    model.default = replies(told)
    if ending != "deleted":
        assert (await ended(by_hand, answer["jobId"]))["status"] == ending
    newest, old = await extractions(by_hand, document_id)
    assert (old["id"], old["done"], old["error"]["code"]) == (ordered["jobId"], 1, "SUPERSEDED")
    assert (newest["status"], newest["done"]) == ("completed", 2)
    assert len(graph(dsn)) == 3
    require_sound(dsn)


async def test_a_cancelled_job_stops_and_goes_on_when_it_is_retried(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    document_id = await ingest_parts(by_hand, *PARTS)
    model.script(replies(told))
    with held(model) as let_go:
        job_id = data_of(await by_hand.post(f"{DOCUMENTS}/{document_id}/extract"), 202)["jobId"]
        await until_asked(model, times=2)
        job = data_of(await by_hand.post(f"{JOBS}/{job_id}/cancel"))
        assert (job["status"], job["done"], job["total"]) == ("cancelled", 1, 3)
        let_go.set()
    model.default = replies(told)
    data_of(await by_hand.post(f"{JOBS}/{job_id}/retry"), 202)
    job = await ended(by_hand, job_id)
    assert (job["status"], job["done"]) == ("completed", 3)
    assert len(graph(dsn)) == 3
    require_sound(dsn)


async def test_deleting_an_extraction_leaves_chunks_and_graph_and_document(
    by_hand: httpx.AsyncClient, dsn: str
) -> None:
    document_id = await ingest_parts(by_hand, *PARTS)
    before = data_of(await by_hand.get(f"{DOCUMENTS}/{document_id}"))
    job = await extract(by_hand, document_id)
    said = content(dsn)
    data_of(await by_hand.delete(f"{JOBS}/{job['id']}"))
    assert content(dsn) == said != []
    assert data_of(await by_hand.get(f"{DOCUMENTS}/{document_id}")) == before


async def test_what_a_deleted_extraction_has_read_is_read(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    """What it could not read is to be read as before, and what it rejected is nobody's to tell."""

    def partly(text: str, _known: dict[str, Any]) -> Any:
        return "no JSON" if "second" in text else {"objects": [{"type": "Nonsense", "name": "X"}]}

    model.default = replies(partly)
    document_id = await ingest_parts(by_hand, "The first part.", "The second part.", "The third part.")
    job = await extract(by_hand, document_id)
    assert (job["status"], job["error"]["code"]) == ("completed", "INCOMPLETE")
    data_of(await by_hand.delete(f"{JOBS}/{job['id']}"))
    stale = data_of(await by_hand.get(f"/api/v1/projects/{DEFAULT_PROJECT_ID}/provenance/stale"))["chunks"]
    (left,) = stale["items"]
    assert (left["chunk_index"], left["schema_version"]) == (1, None)
    kept = rows(dsn, "SELECT outcome, schema_number, reason, rejected, rejections FROM kb.chunk_extractions")
    assert kept == [("empty", 1, None, 0, [])] * 2

    model.default = replies(lambda *_: {"objects": []})
    asked = len(model.prompts)
    again = await extract(by_hand, document_id)
    assert (again["status"], again["done"], len(model.prompts) - asked) == ("completed", 1, 1)
    everything = await extract(by_hand, document_id, scope="all")
    assert everything["done"] == 3
    data_of(await by_hand.delete(f"{DOCUMENTS}/{document_id}"))
    assert rows(dsn, "SELECT count(*) FROM kb.chunk_extractions") == [(0,)]


async def test_an_extraction_that_is_deleted_half_way(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    """The next one goes on with what it had not read."""
    document_id = await ingest_parts(by_hand, *PARTS)
    model.script(replies(told))
    with held(model) as let_go:
        job = data_of(await by_hand.post(f"{DOCUMENTS}/{document_id}/extract", json={}), 202)
        await until_asked(model, times=2)
        data_of(await by_hand.delete(f"{JOBS}/{job['jobId']}"))
        let_go.set()
    model.default = replies(told)
    assert rows(dsn, "SELECT count(*) FROM kb.chunk_extractions") == [(1,)]
    again = await extract(by_hand, document_id)
    assert (again["status"], again["done"]) == ("completed", len(PARTS) - 1)
    assert len(graph(dsn)) == len(PARTS)
    require_sound(dsn)


async def test_an_extraction_is_a_job_like_any_other(by_hand: httpx.AsyncClient) -> None:
    document_id = await ingest_parts(by_hand, *PARTS)
    job = await extract(by_hand, document_id)
    found = data_of(await by_hand.get(JOBS, params={"job_type": "extraction"}))
    assert [one["id"] for one in found["items"]] == [job["id"]]
    stream = (await by_hand.get(f"{JOBS}/{job['id']}/events")).text
    (last,) = events(stream)
    assert last == ("end", job)
    assert job["stage"] == "extracting"
    assert data_of(await by_hand.get(f"{DOCUMENTS}/{document_id}"))["job_id"] != job["id"]


async def test_an_order_that_waits_already_is_not_given_twice(
    by_hand: httpx.AsyncClient, model: ChatEndpoint
) -> None:
    document_id = await ingest_parts(by_hand, *PARTS)
    path = f"{DOCUMENTS}/{document_id}/extract"
    with held(model) as let_go:
        first = data_of(await by_hand.post(path), 202)["jobId"]
        await until_asked(model)
        second, third = [data_of(await by_hand.post(path), 202)["jobId"] for _ in range(2)]
        assert len({first, second, third}) == 2
        let_go.set()
    model.default = replies(told)
    assert (await ended(by_hand, third))["total"] == 0


async def test_what_is_ingested_does_not_wait_for_models(
    by_hand: httpx.AsyncClient, model: ChatEndpoint
) -> None:
    """More documents wait for a model that takes its time than a worker may have in hand of either kind."""
    ids = [await ingest_parts(by_hand, f"{PARTS[0]} This is number {at}.") for at in range(6)]
    with held(model) as let_go:
        jobs = [data_of(await by_hand.post(f"{DOCUMENTS}/{one}/extract"), 202)["jobId"] for one in ids]
        await until_asked(model, times=4)
        await ingest(by_hand, "Nobody is waited for.")
        assert len(model.requests) == 4
        let_go.set()
    for job_id in jobs:
        assert (await ended(by_hand, job_id, seconds=60))["status"] == "completed"
    assert model.most_at_once == 4


async def test_a_document_without_embeddings_is_a_conflict_and_a_deleted_one_is_not_found(
    by_hand: httpx.AsyncClient, dsn: str
) -> None:
    async with await psycopg.AsyncConnection.connect(dsn) as conn:
        await conn.execute("LOCK TABLE kb.job_vectors")  # no vector gets past it
        receipt = data_of(await by_hand.post(TEXT, json={"text": "Alpha."}), 202)
        for path in ("extract", "reextract"):
            answer = await by_hand.post(f"{DOCUMENTS}/{receipt['documentId']}/{path}")
            message = error_of(answer, 409, "CONFLICT")["message"]
            assert message == "The document has no embeddings yet: it can be extracted once they are complete"
    await ended(by_hand, receipt["jobId"])
    await by_hand.delete(f"{DOCUMENTS}/{receipt['documentId']}")
    for path in ("extract", "reextract"):
        answer = await by_hand.post(f"{DOCUMENTS}/{receipt['documentId']}/{path}")
        error_of(answer, 404, "DOCUMENT_NOT_FOUND")
    error_of(await by_hand.post(f"{PROJECTS}/{uuid4()}/reextract"), 404, "PROJECT_NOT_FOUND")


async def test_a_document_that_could_not_be_ingested_has_nothing_to_extract_and_says_why(
    by_hand: httpx.AsyncClient,
) -> None:
    answer = await by_hand.post("/api/v1/ingest/upload", files={"file": ("empty.txt", b"")})
    (item,) = data_of(answer, 202)["items"]
    await ended(by_hand, item["jobId"])
    for path in ("extract", "reextract"):
        refused = await by_hand.post(f"{DOCUMENTS}/{item['documentId']}/{path}")
        message = error_of(refused, 409, "CONFLICT")["message"]
        assert message == "The document has no text to extract from: The file is empty"


async def test_a_document_deleted_while_it_is_read_leaves_nothing(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    document_id = await ingest_parts(by_hand, *PARTS)
    model.script(replies(told))
    with held(model) as let_go:
        data_of(await by_hand.post(f"{DOCUMENTS}/{document_id}/extract"), 202)
        await until_asked(model, times=2)
        data_of(await by_hand.delete(f"{DOCUMENTS}/{document_id}"))
        let_go.set()
    await until_idle(dsn)
    assert graph(dsn) == {}
    assert rows(dsn, "SELECT count(*) FROM kb.object_vectors") == [(0,)]


async def test_a_project_is_ordered_at_once_and_has_one_job_for_its_progress(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    ids = [await ingest_parts(by_hand, f"Alpha is part {at}.", "Beta is another part.") for at in range(3)]
    path = f"{PROJECTS}/{DEFAULT_PROJECT_ID}/reextract"
    with held(model) as let_go:
        ordered = data_of(await by_hand.post(path), 202)
        assert [one["documentId"] for one in ordered["jobs"]] == ids
        await until_asked(model, times=1)
        parent = data_of(await by_hand.get(f"{JOBS}/{ordered['jobId']}"))
        assert (parent["status"], parent["document_id"], parent["completed_at"]) == ("processing", None, None)
        assert sum(parent["jobs"].values()) == 3
        assert (parent["done"], parent["total"]) == (0, 3), "documents, also those that have not begun"
        let_go.set()
    await until_idle(dsn)
    parent = data_of(await by_hand.get(f"{JOBS}/{ordered['jobId']}"))
    assert (parent["status"], parent["done"], parent["total"]) == ("completed", 3, 3)
    assert parent["jobs"] == {"pending": 0, "processing": 0, "completed": 3, "failed": 0, "cancelled": 0}
    error_of(await by_hand.post(f"{JOBS}/{ordered['jobId']}/cancel"), 409, "CONFLICT")
    nothing = data_of(await by_hand.post(path), 202)
    assert (nothing["jobId"], nothing["jobs"]) == (None, [])


async def test_extractions_that_were_ordered_together_are_cancelled_together(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    for at in range(2):
        await ingest_parts(by_hand, f"Alpha is part {at}.")
    with held(model) as let_go:
        ordered = data_of(await by_hand.post(f"{PROJECTS}/{DEFAULT_PROJECT_ID}/reextract"), 202)
        cancelled = data_of(await by_hand.post(f"{JOBS}/{ordered['jobId']}/cancel"))
        assert (cancelled["status"], cancelled["jobs"]["cancelled"]) == ("cancelled", 2)
        let_go.set()
    await until_idle(dsn)
    assert graph(dsn) == {}


@pytest.mark.parametrize(
    "body",
    [
        {"scope": "some"},
        {"scope": 1},
        {"wait": "maybe"},
        {"dryRun": "maybe"},
        {"dryrun": True},
        {"scopes": "all"},
        [],
        "x",
        7,
    ],
)
async def test_a_bad_order_is_refused(by_hand: httpx.AsyncClient, body: Any) -> None:
    document_id = await ingest_parts(by_hand, *PARTS)
    route = "reextract" if "dry" in str(body) else "extract"
    answer = await by_hand.post(f"{DOCUMENTS}/{document_id}/{route}", json=body)
    assert answer.status_code == 400, answer.text
