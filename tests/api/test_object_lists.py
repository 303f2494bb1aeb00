"""Lists of objects: sorted, changed since a time, and chosen by their ids."""

from datetime import timedelta
from uuid import UUID, uuid4

import httpx
import pytest
from tests.api.ingesting import data_of, error_of
from tests.graphs import say, thing
from tests.samples import AddSample, Sample

from whence.models import DEFAULT_PROJECT_ID, now
from whence.store import Store

pytestmark = pytest.mark.one_app

OBJECTS = "/api/v1/objects"


@pytest.fixture
async def sample(store: Store, add_sample: AddSample) -> Sample:
    sample = await add_sample()
    for one in (thing("beta", "B"), thing("Alpha", "A", size=1), thing("gamma", "A")):
        await say(store, sample.chunks[0], one)
    await say(store, sample.chunks[1], thing("gamma", "A", size=2, color="red"))
    return sample


@pytest.mark.usefixtures("sample")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, ["beta", "Alpha", "gamma"]),
        ({"direction": "desc"}, ["gamma", "Alpha", "beta"]),
        ({"sort": "name"}, ["Alpha", "beta", "gamma"]),
        ({"sort": "name", "direction": "desc"}, ["gamma", "beta", "Alpha"]),
        ({"sort": "type"}, ["Alpha", "gamma", "beta"]),
        ({"sort": "updated", "direction": "desc"}, ["gamma", "Alpha", "beta"]),
        ({"sort": "claims"}, ["beta", "Alpha", "gamma"]),
        ({"sort": "claims", "direction": "desc", "limit": "1"}, ["gamma"]),
    ],
)
async def test_objects_are_sorted(
    client: httpx.AsyncClient, query: dict[str, str], expected: list[str]
) -> None:
    data = data_of(await client.get(OBJECTS, params=query))
    assert [one["name"] for one in data["items"]] == expected
    assert data["pagination"]["total"] == 3


@pytest.mark.usefixtures("sample")
async def test_objects_that_changed_since(client: httpx.AsyncClient) -> None:
    gamma = data_of(await client.get(OBJECTS, params={"name": "gamma"}))["items"][0]
    data = data_of(await client.get(OBJECTS, params={"updatedSince": gamma["updated_at"]}))
    assert (data["items"], data["pagination"]["total"]) == ([gamma], 1)
    later = (now() + timedelta(days=1)).isoformat()
    assert data_of(await client.get(OBJECTS, params={"updated_since": later}))["items"] == []


@pytest.mark.usefixtures("sample")
async def test_objects_are_chosen_by_their_ids(client: httpx.AsyncClient, store: Store) -> None:
    beta, alpha, gamma = data_of(await client.get(OBJECTS))["items"]
    both = f"{gamma['id']},{beta['id']}"
    for query in ({"ids": both}, {"ids": [gamma["id"], beta["id"].upper()]}, {"ids": [both, str(uuid4())]}):
        data = data_of(await client.get(OBJECTS, params=query))
        assert (data["items"], data["pagination"]["total"]) == ([beta, gamma], 2)
    assert data_of(await client.get(OBJECTS, params={"ids": both, "type": "A"}))["items"] == [gamma]
    await store.graph.merges.merge(DEFAULT_PROJECT_ID, keep_id=UUID(gamma["id"]), drop_id=UUID(alpha["id"]))
    merged = data_of(await client.get(OBJECTS, params={"ids": alpha["id"]}))["items"]
    assert [one["id"] for one in merged] == [gamma["id"]], "an id from before a merge leads to the object"


@pytest.mark.parametrize(
    ("query", "code", "expected"),
    [
        ({"sort": "size"}, "INVALID_PARAMETER", "created"),
        ({"direction": "up"}, "INVALID_PARAMETER", "asc"),
        ({"updatedSince": "yesterday"}, "INVALID_PARAMETER", "2026-11-15"),
        ({"ids": "x"}, "INVALID_UUID", "UUID"),
        ({"ids": ""}, "INVALID_UUID", "UUID"),
        ({"ids": ",".join(str(uuid4()) for _ in range(101))}, "INVALID_PARAMETER", "at most 100 ids"),
    ],
)
async def test_a_wrong_list_parameter_is_refused_with_what_is_expected(
    client: httpx.AsyncClient, query: dict[str, str], code: str, expected: str
) -> None:
    error = error_of(await client.get(OBJECTS, params=query), 400, code)
    assert expected in error["details"]["expected"]
    assert error["details"]["parameter"] in query
