"""A chunk that calls something by an alias that its context resolves: the full name is accepted, and the alias is kept and found."""

from typing import Any

import httpx
import pytest
from tests.api.ingesting import data_of
from tests.chat_endpoint import ChatEndpoint, says
from tests.extracting import PROJECTS, SHARED, extract, ingest_parts, replies, rows, scripted
from tests.graphs import require_sound

from whence.models import DEFAULT_PROJECT_ID

NAME = "Association of Southeast Asian Nations"
DEFINED = f"The {NAME} (ASEAN) was founded in Bangkok."
JOINED = "Vietnam became a member of ASEAN in 1995."
SCHEMA: dict[str, Any] = {
    "object_types": {"Organization": {}, "Place": {}, "Person": {}},
    "relationship_types": {"member_of": {}, "leads": {}},
}
OBJECTS = "/api/v1/objects"


model, settings = scripted()
pytestmark = SHARED


def organization(name: str = NAME, **properties: Any) -> dict[str, Any]:
    return {"type": "Organization", "name": name, **properties}


def place(name: str) -> dict[str, Any]:
    return {"type": "Place", "name": name}


async def read(
    client: httpx.AsyncClient, model: ChatEndpoint, said: dict[str, Any], *parts: str
) -> dict[str, Any]:
    """The job. `said` has the reply to each chunk with these words."""
    data_of(await client.put(f"{PROJECTS}/{DEFAULT_PROJECT_ID}/schema", json=SCHEMA))
    model.default = replies(
        lambda primary, _: next((reply for words, reply in said.items() if words in primary), {"objects": []})
    )
    return await extract(client, await ingest_parts(client, *parts))


async def named(client: httpx.AsyncClient, name: str, **params: str) -> list[dict[str, Any]]:
    found = await client.get(OBJECTS, params={"project_id": str(DEFAULT_PROJECT_ID), "name": name, **params})
    items: list[dict[str, Any]] = data_of(found)["items"]
    return items


@pytest.fixture
async def asean(by_hand: httpx.AsyncClient, model: ChatEndpoint) -> dict[str, Any]:
    """The object, after a chunk that names it and one that only has the alias."""
    member = {"type": "member_of", "source": "Vietnam", "target": NAME}
    said = {
        "Bangkok": {"objects": [place("Bangkok")]},
        "Vietnam": {"objects": [organization(), place("Vietnam")], "relationships": [member]},
    }
    job = await read(by_hand, model, said, DEFINED, JOINED)
    assert (job["error"], job["extraction"]["rejected"]) == (None, 0)
    (found,) = await named(by_hand, "southeast")
    return found


async def test_the_full_name_is_accepted_for_an_alias_in_the_chunk_with_the_alias_as_quote(
    by_hand: httpx.AsyncClient, dsn: str, asean: dict[str, Any]
) -> None:
    assert asean["aliases"] == ["ASEAN"]
    told = data_of(await by_hand.get(f"{OBJECTS}/{asean['id']}"))
    assert [
        (claim["chunk_index"], claim["operation"], claim["quote"]) for claim in told["sources"]["name"]
    ] == [
        (1, "created", "ASEAN"),
        (0, "confirmed", NAME),
    ]
    ties = rows(dsn, "SELECT quote FROM kb.relationship_provenance")
    assert ties == [("Vietnam became a member of ASEAN",)]
    require_sound(dsn)


async def test_a_rejected_object_is_found_and_restored_by_its_alias(
    by_hand: httpx.AsyncClient, asean: dict[str, Any]
) -> None:
    rejected = data_of(await by_hand.delete(f"{OBJECTS}/{asean['id']}"))
    assert await named(by_hand, "asean") == []
    path = f"{PROJECTS}/{DEFAULT_PROJECT_ID}/curations"
    assert data_of(await by_hand.get(path, params={"name": "nobody"}))["items"] == []
    for name in ("asean", NAME.upper()):
        (found,) = data_of(await by_hand.get(path, params={"name": name}))["items"]
        assert found["id"] == rejected["id"]
    data_of(await by_hand.post(f"/api/v1/curations/{rejected['id']}/undo"))
    assert [one["id"] for one in await named(by_hand, "asean")] == [asean["id"]]


async def test_an_alias_is_found_by_lists_exports_and_chat(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, asean: dict[str, Any]
) -> None:
    assert [one["id"] for one in await named(by_hand, "asean")] == [asean["id"]]
    part = await by_hand.get("/api/v1/graph", params={"project_id": str(DEFAULT_PROJECT_ID), "name": "ASEAN"})
    assert [one["id"] for one in data_of(part)["nodes"]] == [asean["id"]]
    exported = await by_hand.get("/api/v1/graph/export", params={"project_id": str(DEFAULT_PROJECT_ID)})
    assert '"aliases":["ASEAN"]' in exported.text.replace('": ', '":')
    model.default = says("Vietnam is.")
    question = {"projectId": str(DEFAULT_PROJECT_ID), "message": "Who is a member of asean?"}
    answer = (await by_hand.post("/api/v1/chat", json=question)).json()
    told = [source["chunkText"] for source in answer.get("sources", []) if source["id"] is None]
    assert told
    assert f"Vietnam (Place) member of {NAME} (Organization)" in told[0]


async def test_an_alias_brings_the_object_into_the_context_of_other_documents_and_is_no_second_object(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str, asean: dict[str, Any]
) -> None:
    member = {"type": "member_of", "source": "Laos", "target": "ASEAN"}
    known: list[str] = []

    def reply(_primary: str, objects: dict[str, dict[str, Any]]) -> Any:
        known.extend(objects)
        return {
            "objects": [organization("ASEAN", seat="Jakarta"), place("Laos")],
            "relationships": [member],
        }

    model.default = replies(reply)
    job = await extract(by_hand, await ingest_parts(by_hand, "Laos joined ASEAN. Its seat is Jakarta."))
    assert job["extraction"]["rejected"] == 0
    assert NAME in known
    (found,) = await named(by_hand, "asean")
    assert (found["id"], found["properties"]) == (asean["id"], {"seat": "Jakarta"})
    require_sound(dsn)


async def test_an_end_may_be_given_by_its_alias(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    leads = {"type": "leads", "source": "Doe", "target": "Acme"}
    said = {
        "founded": {"objects": [{"type": "Person", "name": "Jane Doe"}, organization("Acme Corporation")]},
        "leads": {"relationships": [leads]},
    }
    parts = "Jane Doe founded Acme Corporation.", "Since 2019, Doe leads Acme in Berlin."
    job = await read(by_hand, model, said, *parts)
    assert job["extraction"]["rejected"] == 0
    quotes = rows(
        dsn,
        """SELECT o.name, p.quote FROM kb.object_provenance p JOIN kb.graph_objects o ON o.id = p.object_id
           JOIN kb.chunks c ON c.id = p.chunk_id WHERE c.chunk_index = 1 ORDER BY 1""",
    )
    assert quotes == [("Acme Corporation", "Acme"), ("Jane Doe", "Doe")]
    (jane,) = await named(by_hand, "Jane")
    assert jane["aliases"] == ["Doe"]
    require_sound(dsn)


WRONG = [
    ("Vietnam became a member of the pact in 1995.", DEFINED),
    ("Vietnam became a member of ASEAN in 1995.", f"The {NAME} was founded in Bangkok."),
    ("Vietnam and Asean Motors signed.", DEFINED),
]


@pytest.mark.parametrize(("primary", "before"), WRONG)
async def test_a_name_without_its_alias_in_the_chunk_is_rejected(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, primary: str, before: str
) -> None:
    member = {"type": "member_of", "source": "Vietnam", "target": NAME}
    said = {"Vietnam": {"objects": [organization(), place("Vietnam")], "relationships": [member]}}
    job = await read(by_hand, model, said, before, primary)
    readings = data_of(await by_hand.get(f"/api/v1/jobs/{job['id']}/readings"))["items"]
    assert [one["reason"] for one in readings[1]["rejections"]] == ["context_only", "unknown_end"]
    assert await named(by_hand, "southeast") == []


async def test_a_name_that_two_share_is_rejected(by_hand: httpx.AsyncClient, model: ChatEndpoint) -> None:
    said = {
        "lives": {"objects": [{"type": "Person", "name": name} for name in ("Jane Doe", "John Doe")]},
        "leads": {"relationships": [{"type": "leads", "source": "Doe", "target": "Berlin"}]},
    }
    parts = "Jane Doe lives with John Doe.", "Doe leads the office in Berlin."
    job = await read(by_hand, model, said, *parts)
    assert job["extraction"]["rejected"] == 1


async def test_a_noun_or_a_pronoun_is_resolved_by_the_chunk_before_and_not_kept(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    said = {"1995": {"objects": [organization(), place("Vietnam")]}}
    parts = f"In 1967 came the {NAME}.", "It admitted Vietnam in 1995."
    job = await read(by_hand, model, said, *parts)
    assert job["extraction"]["rejected"] == 0
    (found,) = await named(by_hand, "southeast")
    assert found["aliases"] == []
    assert rows(
        dsn, "SELECT quote FROM kb.object_provenance WHERE value = to_jsonb(%(name)s::text)", name=NAME
    ) == [("It",), (NAME,)]


async def test_aliases_follow_a_merge_its_undo_and_the_end_of_their_chunk(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str, asean: dict[str, Any]
) -> None:
    said = {"pact": {"objects": [organization("Bangkok Pact")]}}
    await read(by_hand, model, said, "The Bangkok Pact is a pact.")
    (pact,) = await named(by_hand, "Bangkok Pact")
    body = {"keepId": pact["id"], "dropId": asean["id"]}
    merge = data_of(await by_hand.post(f"{OBJECTS}/merge", json=body))
    (kept,) = await named(by_hand, "asean")
    assert (kept["id"], kept["aliases"]) == (pact["id"], ["ASEAN"])
    data_of(await by_hand.post(f"{OBJECTS}/merges/{merge['id']}/undo"))
    (back,) = await named(by_hand, "asean")
    assert (back["id"], back["aliases"]) == (asean["id"], ["ASEAN"])
    assert (await named(by_hand, "Bangkok Pact"))[0]["aliases"] == []
    document = rows(dsn, "SELECT document_id::text FROM kb.chunks WHERE text LIKE '%%Vietnam%%'")[0][0]
    assert (await by_hand.delete(f"/api/v1/documents/{document}")).status_code in (200, 204)
    assert await named(by_hand, "asean") == []
    assert rows(dsn, "SELECT count(*) FROM kb.object_aliases") == [(0,)]
    require_sound(dsn)
