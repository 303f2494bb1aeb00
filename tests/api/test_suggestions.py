"""Objects that may be one are suggested, and what a person decided is remembered."""

from uuid import uuid4

import httpx
import pytest
from tests.api.ingesting import data_of, error_of
from tests.extracting import PROJECTS
from tests.graphs import say, thing, tie
from tests.samples import AddSample, Sample

from whence.models import DEFAULT_PROJECT_ID
from whence.store import Store

pytestmark = pytest.mark.one_app

SUGGESTIONS = f"{PROJECTS}/{DEFAULT_PROJECT_ID}/merge-suggestions"
LONG = "Association of Southeast Asian Nations"


@pytest.fixture
async def sample(store: Store, add_sample: AddSample) -> Sample:
    sample = await add_sample()
    await say(
        store,
        sample.chunks[0],
        thing("ASEAN", seat="Jakarta"),
        thing(LONG),
        thing("ASEAN", "Treaty"),
        thing("Harbour Master"),
        thing("Harbor Master"),
        thing("Phase 1"),
        thing("Phase 2"),
    )
    return sample


async def test_an_abbreviation_and_its_long_name_are_suggested_accepted_and_dismissed(
    client: httpx.AsyncClient, sample: Sample, store: Store
) -> None:
    data = data_of(await client.get(SUGGESTIONS))
    assert data["pagination"]["total"] == 2
    spelling, initials = data["items"]
    assert (initials["type"], initials["reasons"], initials["score"]) == ("Thing", {"initials": 0.9}, 0.9)
    assert (initials["keep"]["name"], initials["keep"]["claim_count"]) == ("ASEAN", 2)
    assert (initials["drop"]["name"], initials["drop"]["claim_count"]) == (LONG, 1)
    assert list(spelling["reasons"]) == ["spelling"]

    merge = data_of(await client.post(f"{SUGGESTIONS}/{initials['id']}/accept"))
    assert (merge["object_id"], merge["dropped_name"]) == (initials["keep"]["id"], LONG)
    dismissed = data_of(await client.post(f"{SUGGESTIONS}/{spelling['id']}/dismiss"))
    assert dismissed == spelling
    assert data_of(await client.get(SUGGESTIONS))["items"] == []
    error_of(await client.post(f"{SUGGESTIONS}/{initials['id']}/accept"), 404, "SUGGESTION_NOT_FOUND")
    # The merge can be undone, and then the two are suggested again; the others stay dismissed when they come back.
    data_of(await client.post(f"/api/v1/objects/merges/{merge['id']}/undo"))
    assert [one["id"] for one in data_of(await client.get(SUGGESTIONS))["items"]] == [initials["id"]]
    await store.graph.removal.chunks(DEFAULT_PROJECT_ID, [sample.chunks[0].id])
    assert data_of(await client.get(SUGGESTIONS))["items"] == []
    await say(store, sample.chunks[1], thing("Harbour Master"), thing("Harbor Master"))
    assert data_of(await client.get(SUGGESTIONS))["items"] == []
    # The dismissal can be undone, once.
    gone = data_of(await client.get(SUGGESTIONS, params={"dismissed": "true"}))["items"]
    assert [one["id"] for one in gone] == [spelling["id"]]
    assert data_of(await client.post(f"{SUGGESTIONS}/{spelling['id']}/undo")) == gone[0]
    assert data_of(await client.get(SUGGESTIONS))["items"] == gone
    error_of(await client.post(f"{SUGGESTIONS}/{spelling['id']}/undo"), 409, "CONFLICT")


@pytest.mark.usefixtures("sample")
async def test_suggestions_are_filtered_and_paged(client: httpx.AsyncClient) -> None:
    first, second = data_of(await client.get(SUGGESTIONS))["items"]
    page = data_of(await client.get(SUGGESTIONS, params={"limit": 1, "offset": 1}))
    assert page["items"] == [second]
    assert page["pagination"]["total"] == 2
    assert data_of(await client.get(SUGGESTIONS, params={"type": "Treaty"}))["items"] == []
    only = data_of(await client.get(SUGGESTIONS, params={"object": first["drop"]["id"]}))["items"]
    assert only == [first]
    for act in ("accept", "dismiss", "undo"):
        error_of(await client.post(f"{SUGGESTIONS}/{uuid4()}/{act}"), 404, "SUGGESTION_NOT_FOUND")
        error_of(await client.post(f"{SUGGESTIONS}/x/{act}"), 400, "INVALID_UUID")
        path = f"{PROJECTS}/{uuid4()}/merge-suggestions/{first['id']}/{act}"
        error_of(await client.post(path), 404, "PROJECT_NOT_FOUND")


async def test_similar_objects_with_the_same_neighbours_are_suggested(
    client: httpx.AsyncClient, store: Store, add_sample: AddSample
) -> None:
    sample = await add_sample()
    names = ("The Firm", "Narvik Holding", "Elsewhere")
    places = ("Oslo", "Bergen")
    await say(
        store,
        sample.chunks[0],
        *(thing(name) for name in (*names, *places)),
        ties=[tie(name, "works_in", place) for name in names for place in places],
        vectors=[[1, 0, 0, 0], [0.9, 0.1, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1]],
    )
    (found,) = data_of(await client.get(SUGGESTIONS))["items"]
    assert {found["keep"]["name"], found["drop"]["name"]} == {"The Firm", "Narvik Holding"}
    assert list(found["reasons"]) == ["neighbours"]
    assert found["score"] > 0.9
