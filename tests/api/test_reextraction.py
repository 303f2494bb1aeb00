"""Reading again: what changed, a whole project, and what needs no reading."""

import httpx
from tests.api.ingesting import DOCUMENTS, data_of, ended, put
from tests.api.services import PARTS, told
from tests.chat_endpoint import ChatEndpoint
from tests.extracting import (
    PROJECTS,
    SHARED,
    extract,
    extractions,
    graph,
    ingest_parts,
    paragraphs,
    provenance,
    put_schema,
    replies,
    scripted,
)
from tests.graphs import require_sound

from whence.models import DEFAULT_PROJECT_ID

model, settings = scripted(told)
pytestmark = SHARED


async def test_an_update_reads_only_what_is_new(
    client: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    # Without relationships: a chunk that relates objects keeps them.
    model.default = replies(lambda *said: {"objects": told(*said)["objects"]})
    document_id = await ingest_parts(client, *PARTS)
    (job,) = await extractions(client, document_id)
    assert job["extraction"]["extracted"] == 3
    asked = len(model.prompts)
    await put(client, document_id, text=paragraphs(PARTS[0], "Delta is new.", PARTS[2]))
    newest, _ = await extractions(client, document_id)
    assert (newest["status"], newest["done"], len(model.prompts) - asked) == ("completed", 1, 1)
    assert set(graph(dsn)) == {"Component Alpha", "Component Delta", "Component Gamma"}
    require_sound(dsn)


async def test_a_project_is_read_again_document_by_document(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    for part in PARTS:
        await ingest_parts(by_hand, part)
    path = f"{PROJECTS}/{DEFAULT_PROJECT_ID}/reextract"
    dry = data_of(await by_hand.post(path, json={"dryRun": True}))
    assert (dry["documents"], dry["chunks"], dry["schemaVersion"], dry["cost"]) == (3, 3, None, None)
    assert graph(dsn) == {}
    ordered = data_of(await by_hand.post(path), 202)
    for job in ordered["jobs"]:
        assert (await ended(by_hand, job["jobId"]))["status"] == "completed"
    assert len(graph(dsn)) == len(ordered["jobs"]) == 3
    assert data_of(await by_hand.post(path), 202)["jobs"] == []
    asked = len(model.prompts)
    again = data_of(await by_hand.post(path, json={"scope": "all"}), 202)
    for job in again["jobs"]:
        assert (await ended(by_hand, job["jobId"]))["status"] == "completed"
    assert len(model.prompts) - asked == 3
    require_sound(dsn)


async def test_properties_that_are_only_renamed_or_removed_need_no_model(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    project = DEFAULT_PROJECT_ID
    old = {"summary": {"type": "string"}, "colour": {"type": "string"}}
    await put_schema(by_hand, project, ["description"], Component={"properties": old})
    said = {"type": "Component", "name": "Alpha", "summary": "the first service", "colour": "first"}
    model.default = replies(lambda *_: {"objects": [said]})
    document_id = await ingest_parts(by_hand, PARTS[0])
    await extract(by_hand, document_id)
    assert graph(dsn) == {"Component Alpha": {"summary": "the first service", "colour": "first"}}
    new = {"purpose": {"type": "string", "renamed_from": "summary"}}
    await put_schema(by_hand, project, ["description"], Component={"properties": new})
    path = f"{DOCUMENTS}/{document_id}/reextract"
    dry = data_of(await by_hand.post(path, json={"dryRun": True}))
    assert (dry["chunks"], dry["carriedOver"], dry["promptTokens"]) == (0, 1, 0)
    asked = len(model.prompts)
    ordered = data_of(await by_hand.post(path), 202)
    job = await ended(by_hand, ordered["jobs"][0]["jobId"])
    assert (job["status"], job["done"], job["total"]) == ("completed", 1, 1)
    assert len(model.prompts) == asked
    assert graph(dsn) == {"Component Alpha": {"purpose": "the first service"}}
    assert [row[:4] for row in provenance(dsn, "Alpha")] == [
        (1, "name", "created", "v2"),
        (1, "purpose", "created", "v2"),
    ]
    left = data_of(await by_hand.get(f"{PROJECTS}/{project}/provenance/stale"))
    assert (left["items"], left["chunks"]["items"]) == ([], [])
    assert data_of(await by_hand.post(path, json={"dryRun": True}))["carriedOver"] == 0
    require_sound(dsn)
