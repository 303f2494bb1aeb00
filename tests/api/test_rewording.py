"""A document whose words change and whose meaning does not: the graph is the one that it was, with its ids and its merges."""

from typing import Any

import httpx
import pytest
from tests.api.ingesting import DOCUMENTS, data_of, error_of, put
from tests.extracting import extract, ingest_parts, paragraphs
from tests.graphs import picture, require_sound

pytestmark = pytest.mark.one_app

OBJECTS = "/api/v1/objects"
PARTS = (
    "REQ-1: The Gateway must answer within a second.",
    "REQ-2: The Gateway must answer at once.\n\nOwner: Jane Doe",
)


async def objects(client: httpx.AsyncClient) -> dict[str, str]:
    found = data_of(await client.get(OBJECTS, params={"limit": 100}))["items"]
    return {each["name"]: each["id"] for each in found}


async def merges(client: httpx.AsyncClient) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = data_of(await client.get(f"{OBJECTS}/merges"))["items"]
    return found


async def merged(client: httpx.AsyncClient, keep_id: str, drop_id: str) -> dict[str, Any]:
    body = {"keepId": keep_id, "dropId": drop_id}
    found: dict[str, Any] = data_of(await client.post(f"{OBJECTS}/merge", json=body))
    return found


async def test_one_letter_changes_no_object_and_no_merge(client: httpx.AsyncClient, dsn: str) -> None:
    document_id = await ingest_parts(client, *PARTS)
    await extract(client, document_id)
    before = await objects(client)
    await merged(client, before["REQ-1"], before["REQ-2"])
    standing = await merges(client)
    relationships = picture(dsn)["relationships"]

    await put(client, document_id, text=paragraphs(*PARTS).replace("must", "MUST"))
    assert await merges(client) == []
    error_of(await client.get(f"{OBJECTS}/{before['REQ-1']}"), 404, "OBJECT_NOT_FOUND")
    await extract(client, document_id)
    require_sound(dsn)
    assert await objects(client) == {name: ident for name, ident in before.items() if name != "REQ-2"}
    assert await merges(client) == standing
    assert data_of(await client.get(f"{OBJECTS}/{before['REQ-2']}"))["id"] == before["REQ-1"]
    assert [row[:5] for row in picture(dsn)["relationships"]] == [row[:5] for row in relationships]

    data_of(await client.post(f"{OBJECTS}/merges/{standing[0]['id']}/undo"))
    require_sound(dsn)
    assert await objects(client) == before


async def test_what_the_new_version_does_not_say_is_gone(client: httpx.AsyncClient, dsn: str) -> None:
    document_id = await ingest_parts(client, *PARTS)
    await extract(client, document_id)
    before = await objects(client)
    await put(client, document_id, text=paragraphs(PARTS[0]))
    await extract(client, document_id)
    assert await objects(client) == {
        name: before[name] for name in before if name not in ("REQ-2", "Jane Doe")
    }
    error_of(await client.get(f"{OBJECTS}/{before['REQ-2']}"), 404, "OBJECT_NOT_FOUND")
    await put(client, document_id, text=paragraphs(*PARTS))
    await extract(client, document_id)
    assert await objects(client) == before
    data_of(await client.delete(f"{DOCUMENTS}/{document_id}"))
    assert not any(picture(dsn).values())


async def test_what_is_known_by_a_merged_name_alone_is_found_by_its_vector(
    client: httpx.AsyncClient, dsn: str
) -> None:
    """At once, and so is what comes out of the merge when that is undone."""
    document_id = await ingest_parts(client, *PARTS)
    await extract(client, document_id)
    before, vectors = await objects(client), vectors_of(dsn)
    merge = await merged(client, before["REQ-1"], before["REQ-2"])
    await put(client, document_id, text=paragraphs(PARTS[1]))
    await extract(client, document_id)
    assert (await objects(client))["REQ-2"] == before["REQ-1"]
    after = vectors_of(dsn)
    assert after[before["REQ-1"]] == vectors[before["REQ-2"]]
    assert after.keys() == set((await objects(client)).values())

    data_of(await client.post(f"{OBJECTS}/merges/{merge['id']}/undo"))
    require_sound(dsn)
    assert vectors_of(dsn)[before["REQ-2"]] == vectors[before["REQ-2"]]
    assert vectors_of(dsn).keys() == set((await objects(client)).values())


def vectors_of(dsn: str) -> dict[str, str]:
    return {str(row[1]): row[3] for row in picture(dsn)["vectors"]}
