"""What becomes of a reply, from end to end: what the chunk says, what only its context says, and what was known already."""

from typing import Any

import httpx
import pytest
from tests.api.ingesting import data_of
from tests.chat_endpoint import ChatEndpoint
from tests.extracting import (
    PROJECTS,
    SHARED,
    extract,
    graph,
    ingest_parts,
    objects_of,
    provenance,
    put_schema,
    replies,
    rows,
    scripted,
)
from tests.graphs import picture, require_sound

from whence.models import DEFAULT_PROJECT_ID

NAME = "OAuth 2.0"
NEW = {"type": "Requirement", "name": NAME, "description": "Must support OAuth"}
FIRST = "The system must support OAuth 2.0 for authentication. Must support OAuth for all users at login."


model, settings = scripted()
pytestmark = SHARED


async def test_what_the_seed_asks_for_under_a_second_schema_is_taken_over(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    """Chunk 5 names it without its version, and says nothing of a priority in so many words."""
    await put_schema(by_hand, DEFAULT_PROJECT_ID, ["description"])
    office = "The office opens at nine and closes at five."
    parts = (FIRST, office, office, office, "OAuth tokens must expire within 1 hour. Users sign in again.")
    model.default = replies(lambda primary, _: {"objects": [NEW] if "Must support" in primary else []})
    document_id = await ingest_parts(by_hand, *parts)
    await extract(by_hand, document_id)
    await put_schema(by_hand, DEFAULT_PROJECT_ID, ["description", "priority"])

    def again(primary: str, known: dict[str, dict[str, Any]]) -> Any:
        update = {"id": known[NAME]["id"], "priority": "high"} if "expire" in primary else None
        return {"objects": [update] if update else []}

    model.default = replies(again)
    job = await extract(by_hand, document_id)
    assert job["extraction"]["rejected"] == 0
    assert provenance(dsn, NAME) == [
        (1, "name", "created", "v1", NAME),
        (1, "description", "created", "v1", "Must support OAuth"),
        (5, "priority", "updated", "v2", "high"),
    ]
    quotes = rows(dsn, "SELECT quote FROM kb.object_provenance WHERE property_name = 'priority'")
    assert quotes == [(None,)]


async def test_a_value_of_the_next_chunk_stays_there(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    said = {"type": "Requirement", "name": NAME, "expiration": "45 minutes"}
    model.default = replies(lambda primary, _: {"objects": [said] if "start page" in primary else []})
    parts = "OAuth 2.0 brings users to the start page.", "Tokens are valid for 45 minutes."
    job = await extract(by_hand, await ingest_parts(by_hand, *parts))
    assert (job["extraction"]["extracted"], job["extraction"]["rejected"]) == (1, 1)
    assert graph(dsn) == {f"Requirement {NAME}": {}}


Case = tuple[tuple[str, str], dict[str, Any], dict[str, str | None]]
"""Two chunks, what a model says of the second, and the quote of each claim that comes of it."""

BESIDE: list[Case] = [
    (
        ("Billing is in progress.", "SSO: work has begun in March."),
        {"type": "Task", "name": "SSO", "status": "in progress"},
        {"name": "SSO", "status": None},
    ),
    (
        ("The General Data Protection Regulation applies to us.", "GDPR requires deletion within 30 days."),
        {"type": "Requirement", "name": "General Data Protection Regulation", "deletion": "30 days"},
        {"name": "GDPR", "deletion": "30 days"},
    ),
    (
        ("Keycloak is an identity provider that we once used.", "Zitadel authenticates users."),
        {"type": "Requirement", "name": "Zitadel", "description": "identity provider"},
        {"name": "Zitadel", "description": None},
    ),
]


@pytest.mark.parametrize("case", BESIDE)
async def test_what_the_chunk_says_is_taken_over_whatever_stands_beside_it(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str, case: Case
) -> None:
    parts, said, quotes = case
    task = {"properties": {"status": {"enum": ["not started", "in progress", "done"]}}}
    await put_schema(by_hand, DEFAULT_PROJECT_ID, ["description"], Task=task)
    model.default = replies(lambda primary, _: {"objects": [said] if parts[1] in primary else []})
    job = await extract(by_hand, await ingest_parts(by_hand, *parts))
    assert job["extraction"]["rejected"] == 0
    stated = "SELECT property_name, quote FROM kb.object_provenance WHERE operation = 'created'"
    assert dict(rows(dsn, stated)) == quotes
    require_sound(dsn)


async def test_whom_a_chunk_relates_is_quoted_where_it_is_named(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    body: dict[str, Any] = {"object_types": {"Rule": {}}, "relationship_types": {"needs": {}}}
    data_of(await by_hand.put(f"{PROJECTS}/{DEFAULT_PROJECT_ID}/schema", json=body))
    parts = "Beta is a box. Alpha is a rule.", "It needs Beta at all times."
    both = [{"type": "Rule", "name": name} for name in ("Alpha", "Beta")]
    needs = {"type": "needs", "from": "Alpha", "to": {"name": "the Beta"}}
    model.default = replies(
        lambda primary, _: {"relationships": [needs]} if "It needs" in primary else {"objects": both}
    )
    job = await extract(by_hand, await ingest_parts(by_hand, *parts))
    assert job["extraction"]["rejected"] == 0
    found = data_of(await by_hand.get("/api/v1/objects", params={"project_id": str(DEFAULT_PROJECT_ID)}))
    sources = {}
    for item in found["items"]:
        told = data_of(await by_hand.get(f"/api/v1/objects/{item['id']}"))
        sources[item["name"]] = [
            (claim["chunk_index"], claim["quote"], claim["current"]) for claim in told["sources"]["name"]
        ]
    assert sources == {
        "Alpha": [(0, "Alpha", True), (1, None, False)],
        "Beta": [(1, "Beta", True), (0, "Beta", False)],
    }
    require_sound(dsn)


async def test_a_value_that_another_object_has_stays_with_it(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    """The chunk that says so is far away: the model knows it only from the object that it was shown."""
    session = {"type": "Requirement", "name": "Session limit", "expiration": "45 minutes"}
    model.default = replies(lambda *_: {"objects": [session]})
    await extract(by_hand, await ingest_parts(by_hand, "The session limit is 45 minutes."))

    def copied(_: str, known: dict[str, dict[str, Any]]) -> Any:
        taken = known["Session limit"]["expiration"]
        return {"objects": [{"type": "Requirement", "name": NAME, "expiration": taken, "scope": "everyone"}]}

    model.default = replies(copied)
    project = f"{PROJECTS}/{DEFAULT_PROJECT_ID}"
    config = {"context": {"semanticChunkCount": 0}}
    data_of(await by_hand.patch(project, json={"config": config}))
    job = await extract(by_hand, await ingest_parts(by_hand, "OAuth 2.0 knows no session limit at all."))
    assert graph(dsn)[f"Requirement {NAME}"] == {"scope": "everyone"}
    (reading,) = data_of(await by_hand.get(f"/api/v1/jobs/{job['id']}/readings"))["items"]
    (rejection,) = reading["rejections"]
    assert (rejection["where"], rejection["reason"]) == ("objects[0].expiration", "context_only")
    assert "'Session limit'" in rejection["message"]
    require_sound(dsn)


async def test_an_echo_changes_nothing(by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str) -> None:
    """All that is known, said again with its id: no row, no time, no source changes."""
    model.default = replies(lambda *_: {"objects": [NEW]})
    await extract(by_hand, await ingest_parts(by_hand, FIRST))
    before, times = picture(dsn), rows(dsn, "SELECT updated_at FROM kb.graph_objects")
    model.default = replies(lambda _, known: {"objects": [known[NAME]]})
    other = await ingest_parts(by_hand, "Users of OAuth see the dashboard.")
    job = await extract(by_hand, other)
    assert (job["extraction"]["extracted"], job["extraction"]["empty"]) == (0, 1)
    assert picture(dsn) == before
    assert rows(dsn, "SELECT updated_at FROM kb.graph_objects") == times


async def test_of_an_echo_with_something_new_only_the_new_is_recorded(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    model.default = replies(lambda *_: {"objects": [NEW]})
    await extract(by_hand, await ingest_parts(by_hand, FIRST))
    before = provenance(dsn, NAME)
    model.default = replies(lambda _, known: {"objects": [{**known[NAME], "expiration": "1 hour"}]})
    await extract(by_hand, await ingest_parts(by_hand, "OAuth ends after 1 hour."))
    assert provenance(dsn, NAME) == [*before, (1, "expiration", "updated", "v1", "1 hour")]
    require_sound(dsn)


@pytest.mark.parametrize(
    ("said", "rejected"),
    [
        ('{"objects": [%s], "relationships": {}}', "malformed 1"),
        ('{"objects": [%s], "relationships": null}', None),
        ('{"objects": [%s, {"type": "Requirement", "name": "Login", "effort": NaN}]}', "malformed 1"),
        ('{"objects": [%s, {"type": "Requirement", "name": "Login", "effort": -Infinity}]}', "malformed 1"),
    ],
)
async def test_one_bad_token_spoils_no_chunk(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str, said: str, rejected: str | None
) -> None:
    good = '{"type": "Requirement", "name": "OAuth 2.0"}'
    model.default = replies(lambda *_: said % good)
    job = await extract(by_hand, await ingest_parts(by_hand, FIRST))
    assert (job["status"], job["error"], len(model.prompts)) == ("completed", None, 1)
    assert graph(dsn) in ({f"Requirement {NAME}": {}}, {f"Requirement {NAME}": {}, "Requirement Login": {}})
    reasons = rows(dsn, "SELECT reason FROM kb.chunk_extractions")
    assert reasons == [(f"Rejected: {rejected}" if rejected else None,)]


async def test_what_the_chunk_before_introduced_is_shown_and_grows_without_its_name(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    def told(primary: str, known: dict[str, dict[str, Any]]) -> Any:
        if "It must" in primary:
            return {"objects": [{"id": known[NAME]["id"], "expiration": "within an hour"}]}
        return {"objects": [NEW] if "Must support" in primary else []}

    model.default = replies(told)
    job = await extract(by_hand, await ingest_parts(by_hand, FIRST, "It must end within an hour."))
    assert (job["status"], job["extraction"]["rejected"]) == ("completed", 0)
    assert provenance(dsn, NAME)[-1] == (2, "expiration", "updated", "v1", "within an hour")


async def test_a_project_says_how_much_a_model_is_shown(
    by_hand: httpx.AsyncClient, model: ChatEndpoint
) -> None:
    model.default = replies(lambda primary, _: {"objects": [NEW] if "Must support" in primary else []})
    parts = FIRST, "It must end within an hour.", "Nothing."

    async def asked(context: Any) -> list[tuple[int, int]]:
        """How many chunks and objects were shown with each chunk."""
        path = f"{PROJECTS}/{DEFAULT_PROJECT_ID}"
        data_of(await by_hand.patch(path, json={"config": {"context": context}}))
        before = len(model.prompts)
        await extract(by_hand, document_id, scope="all")
        prompts = model.prompts[before:]
        return [(prompt[1]["content"].count("<<<") - 2, len(objects_of(prompt))) for prompt in prompts]

    document_id = await ingest_parts(by_hand, *parts)
    assert await asked({"semanticChunkCount": 0}) == [(1, 0), (2, 1), (1, 0)]
    assert await asked({"positionalCount": 2}) == [(2, 1), (2, 1), (2, 1)]
    assert await asked({"relatedObjectCount": 0, "positionalCount": 0}) == [(0, 0), (0, 0), (0, 0)]
    assert await asked(None) == [(2, 1), (2, 1), (2, 0)]
