"""The claims of a chunk and of a document: all that a page needs to highlight them, in one request."""

from uuid import uuid4

import httpx
import pytest
from tests.api.ingesting import DOCUMENTS, data_of, error_of
from tests.oauth import PARTS, Told, tell

from whence.store import Store

pytestmark = pytest.mark.one_app

CHUNKS = "/api/v1/chunks"


@pytest.fixture
async def told(store: Store) -> Told:
    return await tell(store)


async def test_the_claims_of_a_document_can_be_highlighted_in_one_request(
    client: httpx.AsyncClient, told: Told
) -> None:
    path = f"{DOCUMENTS}/{told.sample.document.id}/claims"
    data = data_of(await client.get(path))
    claims, text = data["items"], "".join(PARTS)
    assert data["pagination"]["total"] == len(claims) == 7
    assert [claim["chunk_index"] for claim in claims] == [0, 0, 0, 1, 2, 2, 2]
    for claim in claims:
        chunk = told.chunks[claim["chunk_index"]]
        assert claim["chunk_id"] == str(chunk.id)
        assert claim["page"] == claim["chunk_index"] + 1
        assert "text" not in claim
        if claim["quote"] is not None:
            assert chunk.content[claim["start_offset"] : claim["end_offset"]] == claim["quote"]
            assert text[claim["document_start"] : claim["document_end"]] == claim["quote"]
    name, description, older = claims[:3]
    assert (name["kind"], name["property_name"], name["value"]) == ("property", "name", "OAuth 2.0")
    assert name["object"] == {"id": str(told.oauth), "type": "Requirement", "name": "OAuth 2.0"}
    assert name["relationship"] is None
    assert (description["value"], description["current"]) == ("lets users log in", True)
    assert (older["value"], older["current"]) == ("30 minutes", False)
    (edge,) = [claim for claim in claims if claim["kind"] == "relationship"]
    assert edge["relationship"] == {
        "id": str(told.checks),
        "type": "checks",
        "source": {"id": str(told.gateway), "type": "Component", "name": "Gateway"},
        "target": {"id": str(told.oauth), "type": "Requirement", "name": "OAuth 2.0"},
    }
    assert (edge["value"], edge["property_name"], edge["object"]) == ({"how": "every token"}, None, None)
    assert (edge["quote"], edge["current"]) == ("checks every token", True)


async def test_the_claims_of_a_chunk(client: httpx.AsyncClient, told: Told) -> None:
    whole = data_of(await client.get(f"{DOCUMENTS}/{told.sample.document.id}/claims"))["items"]
    for chunk in told.chunks:
        own = data_of(await client.get(f"{CHUNKS}/{chunk.id}/claims"))["items"]
        assert own == [claim for claim in whole if claim["chunk_id"] == str(chunk.id)]
    error_of(await client.get(f"{CHUNKS}/{uuid4()}/claims"), 404, "CHUNK_NOT_FOUND")
    error_of(await client.get(f"{DOCUMENTS}/{uuid4()}/claims"), 404, "DOCUMENT_NOT_FOUND")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"property": "expiration"}, ["30 minutes", "1 hour"]),
        ({"property": "expiration", "current": "true"}, ["1 hour"]),
        ({"property": "expiration", "current": "false"}, ["30 minutes"]),
        ({"property": "how"}, [{"how": "every token"}]),
        ({"type": "checks"}, [{"how": "every token"}]),
        ({"type": "Component"}, ["Gateway"]),
        ({"type": "nothing"}, []),
        ({"limit": "1", "offset": "3"}, ["1 hour"]),
    ],
)
async def test_claims_are_filtered_and_paged(
    client: httpx.AsyncClient, told: Told, query: dict[str, str], expected: list[object]
) -> None:
    path = f"{DOCUMENTS}/{told.sample.document.id}/claims"
    assert [one["value"] for one in data_of(await client.get(path, params=query))["items"]] == expected


async def test_claims_carry_the_text_of_their_chunk_when_asked(client: httpx.AsyncClient, told: Told) -> None:
    document = told.sample.document.id
    for path in (f"{DOCUMENTS}/{document}/claims", f"/api/v1/objects/{told.oauth}/provenance"):
        claims = data_of(await client.get(path, params={"includeText": "true"}))["items"]
        assert claims
        for claim in claims:
            assert claim["text"] == PARTS[claim["chunk_index"]]
        error_of(await client.get(path, params={"includeText": "maybe"}), 400, "INVALID_PARAMETER")


async def test_a_key_of_another_project_sees_no_claims(
    client: httpx.AsyncClient, told: Told, store: Store
) -> None:
    project = await store.projects.create(name="another")
    _, key = await store.keys.create(name="", scope="read", project_id=project.id)
    headers = {"Authorization": f"Bearer {key.reveal()}"}
    own = told.sample
    for path in (f"{CHUNKS}/{own.ids[0]}/claims", f"{DOCUMENTS}/{own.document.id}/claims"):
        assert (await client.get(path, headers=headers)).status_code == 404
    for path in ("conflicts", "merge-suggestions"):
        answer = await client.get(f"/api/v1/projects/{own.document.project_id}/{path}", headers=headers)
        error_of(answer, 404, "PROJECT_NOT_FOUND")
