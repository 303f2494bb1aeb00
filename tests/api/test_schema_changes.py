"""What becomes of the graph when the schema changes, and what of that needs no model."""

from typing import Any

import httpx
import pytest
from tests.api.ingesting import DOCUMENTS, data_of, ended
from tests.chat_endpoint import ChatEndpoint
from tests.extracting import (
    PROJECTS,
    SHARED,
    extract,
    graph,
    ingest_parts,
    paragraphs,
    provenance,
    replies,
    rows,
    scripted,
)
from tests.graphs import require_sound

from whence.models import DEFAULT_PROJECT_ID

SCHEMA = f"{PROJECTS}/{DEFAULT_PROJECT_ID}/schema"


model, settings = scripted()
pytestmark = SHARED


def says(model: ChatEndpoint, *objects: dict[str, Any], ties: tuple[dict[str, Any], ...] = ()) -> None:
    model.default = replies(lambda *_: {"objects": list(objects), "relationships": list(ties)})


def alpha(**properties: str) -> dict[str, Any]:
    return {"type": "Thing", "name": "Alpha", **properties}


def named(*names: str, **renamed: str) -> dict[str, Any]:
    """Properties that are plain strings, and such as were called something else."""
    return {name: {} for name in names} | {new: {"renamed_from": old} for new, old in renamed.items()}


async def put(
    client: httpx.AsyncClient, properties: dict[str, Any], kind: str = "Thing", **body: Any
) -> None:
    types = {kind: {"properties": properties}, **body.pop("object_types", {})}
    data_of(await client.put(SCHEMA, json={"object_types": types, **body}))


async def changes(client: httpx.AsyncClient, old: str, new: str) -> dict[str, Any]:
    found: dict[str, Any] = data_of(await client.get(f"{SCHEMA}/diff", params={"from": old, "to": new}))
    return found


async def reextract(client: httpx.AsyncClient, document_id: str, **body: Any) -> None:
    ordered = data_of(await client.post(f"{DOCUMENTS}/{document_id}/reextract", json=body), 202)
    assert (await ended(client, ordered["jobs"][0]["jobId"], seconds=60))["status"] == "completed"


async def read(client: httpx.AsyncClient, *texts: str) -> str:
    """The id of a document whose chunks are these, and were read."""
    document_id = await ingest_parts(client, *texts)
    assert (await extract(client, document_id))["status"] == "completed"
    return document_id


@pytest.mark.parametrize("last", [named(c="b"), named("b")])
async def test_a_rename_is_followed_through_every_version(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str, last: dict[str, Any]
) -> None:
    await put(by_hand, named("a"))
    says(model, alpha(a="Ann"))
    document_id = await read(by_hand, "Alpha is of Ann.")
    await put(by_hand, named(b="a"))
    await put(by_hand, last)
    (name,) = last
    change = await changes(by_hand, "v1", "v3")
    assert change["renamed"] == [{"kind": "property", "type": "Thing", "name": name, "was": "a"}]
    assert (change["added"], change["removed"], change["needs_model"]) == ([], [], False)
    asked = len(model.prompts)
    await reextract(by_hand, document_id)
    assert len(model.prompts) == asked
    assert graph(dsn) == {"Thing Alpha": {name: "Ann"}}
    assert [row[1:4] for row in provenance(dsn, "Alpha")] == [
        ("name", "created", "v3"),
        (name, "created", "v3"),
    ]
    require_sound(dsn)


async def test_a_renamed_property_keeps_its_claims_when_another_comes_with_a_later_version(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    await put(by_hand, named("a"))
    says(model, alpha(a="Ann"))
    document_id = await read(by_hand, "Alpha is of Ann and green.")
    await put(by_hand, named(b="a"))
    await put(by_hand, named("b", "colour"))
    change = await changes(by_hand, "v1", "v3")
    assert [each["name"] for each in change["added"]] == ["colour"]
    assert (change["renamed"][0]["name"], change["removed"], change["needs_model"]) == ("b", [], True)
    says(model, alpha(colour="green"))
    await reextract(by_hand, document_id)
    assert graph(dsn) == {"Thing Alpha": {"b": "Ann", "colour": "green"}}
    require_sound(dsn)


async def test_what_was_removed_and_came_back_is_read_again(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    await put(by_hand, named("a"))
    says(model, alpha(a="Ann"))
    document_id = await read(by_hand, "Alpha is of Ann and of Bob.")
    await put(by_hand, named())
    await put(by_hand, named("a"))
    change = await changes(by_hand, "v1", "v3")
    assert [each["name"] for each in (*change["removed"], *change["added"])] == ["a", "a"]
    assert change["needs_model"]
    says(model, alpha(a="Bob"))
    await reextract(by_hand, document_id)
    assert graph(dsn) == {"Thing Alpha": {"a": "Bob"}}
    assert [row[1:] for row in provenance(dsn, "Alpha") if row[1] == "a"] == [("a", "updated", "v3", "Bob")]


async def test_reading_all_again_leaves_no_old_names_behind(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    await put(by_hand, named("a", "size"))
    says(model, alpha(a="Ann", size="large"))
    document_id = await read(by_hand, "Alpha is of Ann and large.")
    await put(by_hand, named(b="a"))
    says(model)
    await reextract(by_hand, document_id, scope="all")
    assert graph(dsn) == {"Thing Alpha": {"b": "Ann"}}
    require_sound(dsn)


async def test_what_another_document_said_under_the_newer_schema_stays(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    await put(by_hand, named("size", "who"))
    says(model, alpha(size="large", who="Ann"))
    first = await read(by_hand, "Alpha is large and of Ann.")
    await put(by_hand, named(owner="who"))
    says(model, {"type": "Thing", "name": "Gamma", "size": "small", "who": "Bob"})
    await read(by_hand, "Gamma is small and of Bob.")
    await reextract(by_hand, first)
    assert graph(dsn) == {"Thing Alpha": {"owner": "Ann"}, "Thing Gamma": {"size": "small", "who": "Bob"}}
    require_sound(dsn)


async def test_of_two_names_that_become_one_the_newer_claim_counts_and_the_other_stays_visible(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    await put(by_hand, named("who"))
    says(model, alpha(who="Ann", owner="Bob"))
    document_id = await read(by_hand, "Alpha is of Ann, owned by Bob.")
    await put(by_hand, named(owner="who"))
    await reextract(by_hand, document_id)
    assert graph(dsn) == {"Thing Alpha": {"owner": "Bob"}}
    (found,) = data_of(await by_hand.get("/api/v1/objects"))["items"]
    path = f"/api/v1/objects/{found['id']}"
    claims = data_of(await by_hand.get(f"{path}/provenance", params={"property": "owner"}))
    assert claims["pagination"]["total"] == 2
    assert [(claim["value"], claim["current"], claim["quote"]) for claim in claims["items"]] == [
        ("Bob", True, "Bob"),
        ("Ann", False, "Ann"),
    ]
    events = data_of(await by_hand.get(f"{path}/history"))["items"]
    assert [event["value"] for event in events] == ["Alpha", "Ann", "Bob"]
    require_sound(dsn)
    assert (await by_hand.delete(f"{DOCUMENTS}/{document_id}")).status_code < 300
    assert graph(dsn) == {}


async def test_a_chunk_that_is_read_again_replaces_all_that_it_said_of_a_property(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    await put(by_hand, named("who"))
    says(model, alpha(who="Ann", owner="Bob"))
    document_id = await read(by_hand, "Alpha is of Ann, owned by Bob.")
    await put(by_hand, named(owner="who"))
    says(model, alpha(owner="Ann"))
    await reextract(by_hand, document_id, scope="all")
    assert graph(dsn) == {"Thing Alpha": {"owner": "Ann"}}
    assert [row[1:] for row in provenance(dsn, "Alpha") if row[1] == "owner"] == [
        ("owner", "updated", "v2", "Ann")
    ]
    require_sound(dsn)


def part(name: str, kind: str = "Thing", **properties: str) -> dict[str, Any]:
    return {"type": kind, "name": name, **properties}


def needs(kind: str = "needs", **properties: str) -> dict[str, Any]:
    return {"type": kind, "source": "Alpha", "target": "Beta", **properties}


def ties(dsn: str) -> list[tuple[Any, ...]]:
    return rows(
        dsn,
        """
        SELECT a.name, r.type, b.name, r.properties, p.schema_number
        FROM kb.relationships r JOIN kb.relationship_provenance p ON p.relationship_id = r.id
        JOIN kb.graph_objects a ON a.id = r.source_id JOIN kb.graph_objects b ON b.id = r.target_id
        ORDER BY r.type
        """,
    )


async def carried(client: httpx.AsyncClient, model: ChatEndpoint, document_id: str) -> None:
    """Reading again what is stale asks no model, as was told before, and nothing is stale any more."""
    (newest, oldest) = [
        each["version"] for each in data_of(await client.get(f"{SCHEMA}/versions"))["items"][:2]
    ]
    assert not (await changes(client, oldest, newest))["needs_model"]
    dry = data_of(await client.post(f"{DOCUMENTS}/{document_id}/reextract", json={"dryRun": True}))
    assert (dry["chunks"], dry["carriedOver"]) == (0, 1)
    asked = len(model.prompts)
    await reextract(client, document_id)
    assert len(model.prompts) == asked
    left = data_of(await client.get(f"{PROJECTS}/{DEFAULT_PROJECT_ID}/provenance/stale"))
    assert (left["items"], left["chunks"]["items"]) == ([], [])


async def test_properties_of_relationships_are_renamed_and_removed_without_a_model(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    await put(by_hand, {}, relationship_types={"needs": {"properties": named("why", "since")}})
    says(model, part("Alpha"), part("Beta"), ties=(needs(why="speed", since="May"),))
    document_id = await read(by_hand, "Alpha needs Beta for speed since May.")
    await put(by_hand, {}, relationship_types={"needs": {"properties": named(reason="why")}})
    await carried(by_hand, model, document_id)
    assert ties(dsn) == [("Alpha", "needs", "Beta", {"reason": "speed"}, 2)]
    require_sound(dsn)


async def test_types_of_relationships_are_renamed_and_removed_without_a_model(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    before = {"needs": {"properties": named("why")}, "knows": {}}
    await put(by_hand, {}, relationship_types=before)
    says(model, part("Alpha"), part("Beta"), ties=(needs(why="speed"), needs("knows")))
    document_id = await read(by_hand, "Alpha needs and knows Beta for speed.")
    after = {"depends_on": {"renamed_from": "needs", "properties": named(reason="why")}}
    await put(by_hand, {}, relationship_types=after)
    await carried(by_hand, model, document_id)
    assert ties(dsn) == [("Alpha", "depends_on", "Beta", {"reason": "speed"}, 2)]
    require_sound(dsn)


async def test_types_of_objects_are_renamed_and_removed_without_a_model(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    link = {"needs": {"from": ["Thing", "Person"]}}
    await put(by_hand, named("a", "b"), object_types={"Person": {}}, relationship_types=link)
    says(
        model,
        part("Alpha", a="one", b="two"),
        part("Beta"),
        part("Ann", "Person"),
        ties=(needs(), {"type": "needs", "source": "Ann", "target": "Beta"}),
    )
    document_id = await read(by_hand, "Alpha needs Beta, one or two; Ann needs Beta.")
    types = {"Item": {"renamed_from": "Thing", "properties": named(c="a")}}
    body = {"object_types": types, "relationship_types": {"needs": {"from": ["Item"]}}}
    data_of(await by_hand.put(SCHEMA, json=body))
    await carried(by_hand, model, document_id)
    assert graph(dsn) == {"Item Alpha": {"c": "one"}, "Item Beta": {}}
    assert ties(dsn) == [("Alpha", "needs", "Beta", {}, 2)]
    require_sound(dsn)


async def test_what_takes_the_name_of_a_type_that_is_gone_is_not_taken_for_it(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    """However often the changes are made."""
    versions: list[dict[str, Any]] = [
        {"Thing": {}, "Person": {}},
        {"Thing": {}},
        {"Person": {"renamed_from": "Thing"}},
    ]
    for types in versions:
        data_of(await by_hand.put(SCHEMA, json={"object_types": types}))
        if "Thing" in types and "Person" in types:
            says(model, part("Alpha"), part("Ann", "Person"))
            one = await read(by_hand, "Alpha and Ann.")
            two = await read(by_hand, "Alpha and Ann again.")
    for document_id in (one, two):
        await reextract(by_hand, document_id)
        assert graph(dsn) == {"Person Alpha": {}}
    require_sound(dsn)


@pytest.mark.parametrize("staying", [(), ("Nothing to speak of.",)])
async def test_a_type_that_is_renamed_before_the_new_version_of_a_document_is_read(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str, staying: tuple[str, ...]
) -> None:
    """Who is spoken of again is who he was, also where no chunk of the old version is left that was read."""

    def speaks_of(kind: str) -> None:
        them = [part("Alpha", kind), part("Beta", kind)]
        model.default = replies(lambda text, _known: {"objects": them if "Alpha" in text else []})

    await put(by_hand, {})
    speaks_of("Thing")
    document_id = await read(by_hand, *staying, "Alpha and Beta.")
    ids = dict(rows(dsn, "SELECT name, id FROM kb.graph_objects"))
    both = {"keepId": str(ids["Alpha"]), "dropId": str(ids["Beta"])}
    merge = data_of(await by_hand.post("/api/v1/objects/merge", json=both))
    body = {"text": paragraphs(*staying, "Alpha or Beta.")}
    data_of(await by_hand.put(f"{DOCUMENTS}/{document_id}", json=body, params={"wait": "true"}))
    assert graph(dsn) == {}
    data_of(await by_hand.put(SCHEMA, json={"object_types": {"Item": {"renamed_from": "Thing"}}}))
    speaks_of("Item")
    await reextract(by_hand, document_id)
    assert rows(dsn, "SELECT id, type, name FROM kb.graph_objects") == [(ids["Alpha"], "Item", "Alpha")]
    assert rows(dsn, "SELECT id::text FROM kb.object_merges") == [(merge["id"],)]
    require_sound(dsn)
