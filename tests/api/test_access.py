"""Who may ask: one walk over every route, with every kind of key."""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import product
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import httpx
import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from tests.api.conftest import usual_settings
from tests.api.shared_app import SharedApp
from tests.fetch.site import Site
from tests.files.pdf import pdf
from tests.graphs import say, thing, tie
from tests.samples import AddSample, Sample, make_sample

from whence.app import App
from whence.extract.default_schema import DEFAULT_SCHEMA
from whence.models import EmbeddingSpace, Word
from whence.store import Store
from whence.store.keys import EVERYONE, Scope
from whence.web.middleware import SHORT_PATHS

if TYPE_CHECKING:
    from whence.models import JobStatus

pytestmark = pytest.mark.one_app

NEEDS: dict[str, Scope] = {
    "GET /api/v1/jobs/{job_id}/chunks/{chunk_id}": "read",
    "GET /api/v1/jobs/{job_id}/chunks": "read",
    "GET /api/v1/chunks/{chunk_id}": "read",
    "POST /api/v1/chunks/bulk": "read",
    "GET /api/v1/chunks/{chunk_id}/context": "read",
    "POST /api/v1/search": "read",
    "POST /api/v1/chat": "read",
    "POST /chat": "read",
    "POST /v1/chat/completions": "read",
    "POST /v1/responses": "read",
    "GET /v1/responses/{response_id}": "read",
    "DELETE /v1/responses/{response_id}": "read",
    "POST /v1/embeddings": "read",
    "GET /v1/models": "read",
    "GET /v1/models/{model}": "read",
    "POST /api/v1/chunking/preview": "read",
    "POST /api/v1/ingest/upload": "write",
    "POST /api/v1/ingest/url": "write",
    "POST /api/v1/ingest/text": "write",
    "POST /ingest/upload": "write",
    "POST /ingest/url": "write",
    "POST /ingest/text": "write",
    "GET /api/v1/documents": "read",
    "GET /api/v1/documents/{document_id}": "read",
    "GET /api/v1/documents/{document_id}/file": "read",
    "GET /api/v1/documents/{document_id}/text": "read",
    "GET /api/v1/documents/{document_id}/versions": "read",
    "GET /api/v1/documents/{document_id}/versions/{version}": "read",
    "GET /api/v1/documents/{document_id}/spans": "read",
    "GET /api/v1/documents/{document_id}/pages": "read",
    "GET /api/v1/documents/{document_id}/pages/{page_number}/lines": "read",
    "GET /api/v1/documents/{document_id}/pages/{page_number}/image": "read",
    "POST /api/v1/evidence": "read",
    "GET /api/v1/documents/{document_id}/chunks": "read",
    "GET /api/v1/documents/{document_id}/deletion-impact": "read",
    "PUT /api/v1/documents/{document_id}": "write",
    "PATCH /api/v1/documents/{document_id}": "write",
    "DELETE /api/v1/documents/{document_id}": "write",
    "POST /api/v1/documents/{document_id}/extract": "write",
    "POST /api/v1/documents/{document_id}/reextract": "write",
    "POST /api/v1/projects/{project_id}/reextract": "write",
    "GET /api/v1/projects/{project_id}/schema": "read",
    "PUT /api/v1/projects/{project_id}/schema": "write",
    "POST /api/v1/projects/{project_id}/schema/check": "read",
    "GET /api/v1/projects/{project_id}/schema/versions": "read",
    "GET /api/v1/projects/{project_id}/schema/diff": "read",
    "GET /api/v1/objects": "read",
    "GET /api/v1/objects/merges": "read",
    "POST /api/v1/objects/merge": "write",
    "POST /api/v1/objects/merges/{merge_id}/undo": "write",
    "GET /api/v1/objects/{object_id}": "read",
    "GET /api/v1/objects/{object_id}/provenance": "read",
    "GET /api/v1/objects/{object_id}/chunks": "read",
    "GET /api/v1/objects/{object_id}/history": "read",
    "GET /api/v1/objects/{object_id}/neighbours": "read",
    "GET /api/v1/chunks/{chunk_id}/objects": "read",
    "GET /api/v1/chunks/{chunk_id}/deletion-impact": "read",
    "DELETE /api/v1/chunks/{chunk_id}": "write",
    "GET /api/v1/projects/{project_id}/provenance/stale": "read",
    "GET /api/v1/chunks/{chunk_id}/claims": "read",
    "GET /api/v1/documents/{document_id}/claims": "read",
    "GET /api/v1/projects/{project_id}/conflicts": "read",
    "GET /api/v1/projects/{project_id}/merge-suggestions": "read",
    "POST /api/v1/projects/{project_id}/merge-suggestions/{suggestion_id}/accept": "write",
    "POST /api/v1/projects/{project_id}/merge-suggestions/{suggestion_id}/dismiss": "write",
    "POST /api/v1/projects/{project_id}/merge-suggestions/{suggestion_id}/undo": "write",
    "GET /api/v1/projects/{project_id}/curations": "read",
    "GET /api/v1/objects/{object_id}/curations": "read",
    "POST /api/v1/curations/{curation_id}/undo": "write",
    "PATCH /api/v1/objects/{object_id}": "write",
    "DELETE /api/v1/objects/{object_id}": "write",
    "DELETE /api/v1/objects/{object_id}/claims": "write",
    "DELETE /api/v1/objects/{object_id}/claims/{claim_id}": "write",
    "DELETE /api/v1/relationships/{relationship_id}": "write",
    "GET /api/v1/relationships": "read",
    "GET /api/v1/relationships/{relationship_id}": "read",
    "GET /api/v1/graph": "read",
    "GET /api/v1/graph/outline": "read",
    "GET /api/v1/graph/export": "read",
    "GET /api/v1/jobs": "read",
    "GET /api/v1/jobs/{job_id}": "read",
    "GET /api/v1/jobs/{job_id}/events": "read",
    "GET /api/v1/jobs/{job_id}/readings": "read",
    "POST /api/v1/jobs/{job_id}/retry": "write",
    "POST /api/v1/jobs/{job_id}/cancel": "write",
    "DELETE /api/v1/jobs/{job_id}": "write",
    "POST /api/v1/conversations": "read",
    "GET /api/v1/conversations": "read",
    "GET /api/v1/conversations/{conversation_id}": "read",
    "PATCH /api/v1/conversations/{conversation_id}": "read",
    "DELETE /api/v1/conversations/{conversation_id}": "read",
    "GET /api/v1/conversations/{conversation_id}/export": "read",
    "GET /api/v1/answers": "read",
    "GET /api/v1/answers/export": "read",
    "GET /api/v1/answers/{answer_id}": "read",
    "POST /api/v1/answers/{answer_id}/refresh": "read",
    "POST /api/v1/answers/{answer_id}/feedback": "read",
    "DELETE /api/v1/answers/{answer_id}/feedback": "read",
    "GET /api/v1/audit": "admin",
    "GET /api/v1/me": "read",
    "GET /api/v1/status": "admin",
    "GET /api/v1/keys": "admin",
    "POST /api/v1/keys": "admin",
    "DELETE /api/v1/keys/{key_id}": "admin",
    "GET /api/v1/links/resolve": "read",
    "GET /api/v1/answers/{answer_id}/evidence.html": "read",
    "GET /api/v1/answers/{answer_id}/evidence.json": "read",
    "GET /api/v1/objects/{object_id}/evidence.html": "read",
    "GET /api/v1/objects/{object_id}/evidence.json": "read",
    "POST /api/v1/projects": "admin",
    "GET /api/v1/projects": "read",
    "GET /api/v1/projects/{project_id}": "read",
    "PATCH /api/v1/projects/{project_id}": "admin",
    "DELETE /api/v1/projects/{project_id}": "admin",
}
"""Every route with the scope it needs: a new one must be entered here to pass the walk."""

ALIASES = {route for route in NEEDS if "/v1/" not in route}
"""The same routes by another path; they are not declared a second time."""

OF_PROJECT = {
    f"GET /api/v1/{name}"
    for name in (
        *(
            "documents",
            "jobs",
            "objects",
            "objects/merges",
            "relationships",
            "graph",
            "graph/outline",
            "graph/export",
        ),
        *("conversations", "answers", "answers/export"),
    )
}
"""They take the project as a parameter."""

OPEN = {"GET /healthz", "GET /readyz"}


OWN = ("/retry", "/cancel", "/image", "/lines", "{version}", "/diff", "{suggestion_id}/undo")
"""Ends of routes for which `World.prepare` makes something else."""

OF_GRAPH = re.compile("object|relationship|merge|claim|curation|suggestion")
"""The routes that change the graph."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Two projects, a document in one of them, and a key for each way of asking."""

    client: httpx.AsyncClient
    sample: Sample
    owner: UUID
    keys: dict[str, str]
    app: App
    space: EmbeddingSpace
    """Where the vectors of documents are."""
    page: str
    """A URL that may be fetched."""
    prepared: dict[str, str] = field(default_factory=dict)

    async def ask(self, route: str, key: str | None, *, ids: dict[str, str] | None = None) -> httpx.Response:
        method, path = route.split(" ")
        ids = ids or self.ids()
        project = {"projectId": ids["project_id"]}
        given = {
            **ids,
            "model": ids["project_id"],
            "page_number": "1",
            "version": "1",
            "response_id": f"resp_{ids['answer_id']}",
        }
        for name, value in given.items():
            path = path.replace("{" + name + "}", value)
        assert "{" not in path, f"the walk does not know the parameter in {path}"
        bodies: dict[str, Any] = {
            "POST /api/v1/chunks/bulk": {"chunk_ids": [ids["chunk_id"]], "include_source": True},
            "POST /api/v1/chunking/preview": {"text": "One. Two."},
            "POST /api/v1/search": {"query": "one", "mode": "text", **project},
            "POST /chat": {"message": "one", **project},
            "POST /evidence": {"items": [{"chunkId": ids["chunk_id"]}], **project},
            "POST /v1/chat/completions": {
                "model": ids["project_id"],
                "messages": [{"role": "user", "content": "one"}],
            },
            "POST /v1/responses": {"model": ids["project_id"], "input": "one"},
            "POST /v1/embeddings": {"model": ids["project_id"], "input": "one"},
            "POST /api/v1/conversations": project,
            "PATCH /api/v1/conversations/{conversation_id}": {"title": "another"},
            "POST /api/v1/answers/{answer_id}/feedback": {"rating": "up"},
            "POST /api/v1/projects": {"name": f"made {uuid4()}"},
            "PATCH /api/v1/projects/{project_id}": {"description": "changed"},
            "POST /api/v1/keys": {"name": "made", **project},
            "PUT /api/v1/projects/{project_id}/schema": {"object_types": {"Thing": {}}},
            "POST /api/v1/projects/{project_id}/schema/check": {"object_types": {"Thing": {}}},
            "POST /ingest/text": {"text": "One.", **project},
            "POST /ingest/url": {"url": self.page, **project},
            "PUT /api/v1/documents/{document_id}": {"name": f"name {uuid4()}"},
            "PATCH /api/v1/documents/{document_id}": {"metadata": {"team": "travel"}},
            "PATCH /api/v1/objects/{object_id}": {"set": {"colour": "red"}},
            "POST /api/v1/objects/merge": {"keepId": ids["object_id"], "dropId": ids["other_object_id"]},
        }
        body = bodies.get(route.replace("/api/v1/", "/"), bodies.get(route))
        sent: dict[str, Any] = {"json": body}
        if path.endswith("/upload"):
            sent = {"files": {"file": ("a.txt", b"One.")}, "data": project}
        elif route in OF_PROJECT:
            sent = {"params": project}
        elif path.endswith("/resolve"):
            sent = {"params": {"document": ids["document_id"]}}
        elif route == "DELETE /api/v1/objects/{object_id}/claims":
            sent = {"params": {"property": "size"}}
        elif path.endswith("/spans"):
            sent = {"params": {"start": 0, "end": 1}}
        elif path.endswith("/diff"):
            sent = {"params": {"from": "v1", "to": "v1"}}
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        return await self.client.request(method, path, headers=headers, **sent)

    async def prepare_once(self, route: str) -> dict[str, str]:
        """For requests that change nothing: the ids are the same for all routes that need nothing of their own."""
        if route.endswith(OWN):
            return await self.prepare(route)
        if not self.prepared:
            self.prepared.update(await self.prepare(route))
        return self.prepared

    async def prepare(self, route: str, by: str | None = None, *, with_graph: bool = True) -> dict[str, str]:
        """Ids of a project and of its document, whose original was kept and whose job is as the route needs it."""
        project_id = (await self.app.store.projects.create(name=f"{uuid4()}")).id
        sample = make_sample(chunks=2, project_id=project_id, name=f"{uuid4()}.txt")
        status: JobStatus = "completed"
        if route.endswith("/retry"):
            status = "failed"
        if route.endswith("/cancel"):
            status = "pending"
        key = f"{project_id}/{sample.document.id}/{uuid4()}"
        is_paged = route.endswith(("/image", "/lines"))
        original = pdf([["One."]]) if is_paged else b"One."
        document = replace(
            sample.document,
            original_key=key,
            size=len(original),
            sha256=sha256(original).digest(),
            current_job_id=sample.job.id,
        )
        if is_paged:
            document = replace(document, mime="application/pdf")
        await self.app.originals.put(key, original)
        async with self.app.store.transaction() as tx:
            await tx.documents.insert(document)
            if route.endswith("{version}"):
                published = "UPDATE kb.documents SET version = 1, text = 'One.' WHERE id = %(id)s"
                await tx._queries.run(published, {"id": document.id})
            if is_paged:
                paged = "UPDATE kb.documents SET page_map = '[[1, 0, 4]]' WHERE id = %(id)s"
                await tx._queries.run(paged, {"id": document.id})
            await tx.jobs.insert(replace(sample.job, status=status))
            await tx.chunks.insert(sample.chunks)
            await tx.vectors.first_space(project_id, self.space)
            await tx.vectors.insert(project_id, self.space.id, sample.halves)
            if route.endswith("/diff"):
                await tx.schemas.put(project_id, body=DEFAULT_SCHEMA.body, sha256=b"1")
        ids = {
            "project_id": str(project_id),
            "document_id": str(document.id),
            "job_id": str(sample.job.id),
            "chunk_id": sample.ids[0],
        }
        key_of, _ = await self.app.store.keys.create(name="", scope="read", project_id=project_id)
        ids["key_id"] = str(key_of.id)
        made = await self.graph(sample) if with_graph else {}
        if route.endswith("{suggestion_id}/undo"):
            suggestions = self.app.store.graph.suggestions
            found = await suggestions.get(project_id, UUID(made["suggestion_id"]))
            await suggestions.dismiss(project_id, found)
        return {**self.ids(), **ids, **made, **await self.answer(project_id, by)}

    async def answer(self, project_id: UUID, by: str | None) -> dict[str, str]:
        """Stored without a key, every key of the project sees it; with one, that key may delete it."""
        store, answer_id = self.app.store, uuid4()
        caller = EVERYONE if by is None else await store.keys.authenticate(by)
        conversation = await store.conversations.create(project_id, caller)
        given = {
            "response": "One.",
            "model": "m",
            "totalDuration": 1,
            "promptEvalCount": None,
            "evalCount": None,
        }
        await store.answers.add(
            project_id,
            conversation.id,
            answer_id=answer_id,
            asked={"message": "one"},
            answer={**given, "sources": [], "citations": [], "notes": []},
            grounds=[],
            title="one",
        )
        return {"conversation_id": str(conversation.id), "answer_id": str(answer_id)}

    async def graph(self, sample: Sample) -> dict[str, str]:
        """Six objects that the sample speaks of: two are merged, two have nearly the same name, one was corrected."""
        names = [f"{uuid4()}" for _ in range(4)]
        names += [f"Harbour office {names[0]}", f"Harbor office {names[0]}"]
        things = [thing(names[0], size=1), *map(thing, names[1:])]
        written = await say(self.app.store, sample.chunks[0], *things, ties=[tie(names[0], "has", names[1])])
        one, other, kept, dropped, *_ = (ident for ident in written.objects if ident)
        project_id, graph = sample.document.project_id, self.app.store.graph
        (claim, *_), _ = await graph.provenance.of_object(project_id, one, limit=1, offset=0)
        (curation,) = await graph.curations.set(project_id, kept, {"colour": "red"}, Word(author="Ada"))
        suggestions, _ = await graph.suggestions.page(project_id, limit=100, offset=0)
        suggested = next(each for each in suggestions if each.keep.name in names)
        merge = await self.app.store.graph.merges.merge(
            sample.document.project_id, keep_id=kept, drop_id=dropped
        )
        return {
            "object_id": str(one),
            "other_object_id": str(other),
            "relationship_id": str(written.relationships[0]),
            "merge_id": str(merge.id),
            "claim_id": str(claim.id),
            "curation_id": str(curation.id),
            "suggestion_id": str(suggested.id),
        }

    def ids(self) -> dict[str, str]:
        return {
            "project_id": str(self.owner),
            "document_id": str(self.sample.document.id),
            "job_id": str(self.sample.job.id),
            "chunk_id": self.sample.ids[0],
            **dict.fromkeys(
                (
                    "object_id",
                    "other_object_id",
                    "relationship_id",
                    "merge_id",
                    "claim_id",
                    "curation_id",
                    "suggestion_id",
                    "conversation_id",
                    "answer_id",
                    "key_id",
                ),
                str(uuid4()),
            ),
        }


@pytest.fixture(scope="module")
async def shared_app(shared_dsn: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[SharedApp]:
    """Asks for a key."""
    settings = usual_settings(shared_dsn, tmp_path_factory.mktemp("shared") / "data")
    shared = SharedApp(replace(settings, auth="required"))
    yield shared
    await shared.aclose()


@pytest.fixture
async def world(web: FastAPI, store: Store, add_sample: AddSample, site: Site) -> AsyncIterator[World]:
    owner, other = await store.projects.create(name="owner"), await store.projects.create(name="other")
    sample = await add_sample(project_id=owner.id)
    keys = {}
    scopes: tuple[Scope, ...] = ("read", "write", "admin")
    for scope in scopes:
        for name, project_id in (("owner", owner.id), ("other", other.id), ("all", None)):
            _, secret = await store.keys.create(name="", scope=scope, project_id=project_id)
            keys[f"{name} {scope}"] = secret.reveal()
    revoked, secret = await store.keys.create(name="", scope="admin", project_id=None)
    await store.keys.revoke(revoked.prefix)
    keys["revoked"] = secret.reveal()
    transport = httpx.ASGITransport(app=web, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://elsewhere.example") as client:
        page = site.sends("/page.txt", "Content-Type: text/plain", body=b"A page.")
        app: App = web.state.whence
        space, _ = await store.vectors.spaces(owner.id)
        assert space is not None
        yield World(client=client, sample=sample, owner=owner.id, keys=keys, app=app, page=page, space=space)


def routes_of(web: FastAPI) -> set[str]:
    paths = web.openapi()["paths"]
    return {f"{method.upper()} {path}" for path, operations in paths.items() for method in operations}


async def test_every_route_is_in_the_walk(web: FastAPI) -> None:
    assert routes_of(web) == set(NEEDS) - ALIASES | OPEN
    paths = {route.path_format for route in web.routes if isinstance(route, APIRoute)}
    assert {route.split(" ")[1] for route in set(NEEDS) | OPEN} == paths | SHORT_PATHS


async def test_without_a_good_key_nothing_opens(world: World) -> None:
    good = world.keys["all admin"]
    refused = [
        None,
        "",
        "nonsense",
        "wh_x",
        good[:-1],
        good + "x",
        "wh_000000000000_" + good[16:],
        world.keys["revoked"],
    ]
    for route, key in product(NEEDS, refused):
        answer = await world.ask(route, key)
        error = answer.json()["error"]
        assert (answer.status_code, error["code"]) == (401, "UNAUTHORIZED"), (route, key)
        assert answer.headers["www-authenticate"].startswith("Bearer"), route
        assert error["details"] == {}, route


async def test_the_key_is_checked_before_parameters_and_body(world: World) -> None:
    """Whoever may not ask learns nothing about what could be asked."""
    for route, needed in NEEDS.items():
        method, path = route.split(" ")
        path = re.sub(r"\{\w+\}", "no-uuid", path) + "?nonsense=1&limit=x"
        for key, status in ((None, 401), ("all read", 403)):
            if key is not None and needed == "read":
                continue
            headers = {"Authorization": f"Bearer {world.keys[key]}"} if key else {}
            answer = await world.client.request(method, path, content=b"{no json", headers=headers)
            assert answer.status_code == status, route
            assert answer.headers["x-content-type-options"] == "nosniff"


async def test_each_scope_includes_those_before_it(world: World) -> None:
    order = ["read", "write", "admin"]
    ids: dict[str, str] = {}
    for route, scope in product(NEEDS, order):
        # A success other than of a GET uses up what was prepared.
        is_used = order.index(scope) > order.index(NEEDS[route]) and not route.startswith("GET ")
        if scope == "read" and route.startswith("GET "):
            ids = await world.prepare_once(route)
        elif scope == "read" or is_used:
            key, with_graph = world.keys[f"all {scope}"], bool(OF_GRAPH.search(route))
            ids = await world.prepare(route, key, with_graph=with_graph)
        answer = await world.ask(route, world.keys[f"all {scope}"], ids=ids)
        if order.index(scope) < order.index(NEEDS[route]):
            assert (answer.status_code, answer.json()["error"]["code"]) == (403, "FORBIDDEN"), (route, scope)
        elif route == "POST /v1/embeddings":  # of the project's space, whose embedder is not there
            assert answer.json()["error"]["code"] == "EMBEDDING_UNAVAILABLE"
        else:
            assert answer.is_success, f"{route} with {scope}: {answer.text}"


async def test_another_projects_resource_answers_as_an_absent_one(world: World) -> None:
    for route in NEEDS:
        await require_hidden(world, route)


async def require_hidden(world: World, route: str) -> None:
    key = world.keys["other admin"]
    mine = await world.prepare_once(route)
    absent = {name: str(uuid4()) for name in mine}
    theirs, nothing = await world.ask(route, key, ids=mine), await world.ask(route, key, ids=absent)
    said = theirs.text
    for name, value in mine.items():
        said = said.replace(value, absent[name])
    assert theirs.status_code == nothing.status_code, route
    if route == "POST /api/v1/projects":
        assert theirs.status_code == 403
    else:
        assert said == nothing.text, route
        assert world.sample.chunks[0].content.strip() not in theirs.text, route
    still = await world.ask("GET /api/v1/projects/{project_id}", world.keys["all read"], ids=mine)
    assert still.json()["data"]["description"] is None, route


async def test_a_key_of_one_project_lists_only_that(world: World) -> None:
    data = (await world.ask("GET /api/v1/projects", world.keys["owner read"])).json()["data"]
    assert [project["name"] for project in data["items"]] == ["owner"]
    assert data["pagination"] == {"total": 1, "limit": 20, "offset": 0, "has_more": False}


async def test_both_headers_carry_a_key(world: World) -> None:
    key = world.keys["owner read"]
    path = f"/api/v1/chunks/{world.sample.ids[0]}"
    for headers in (
        {"X-API-Key": key},
        {"Authorization": f"bearer {key}"},
        {"authorization": f"Bearer  {key} "},
    ):
        assert (await world.client.get(path, headers=headers)).status_code == 200
    for headers in ({"Authorization": f"Basic {key}"}, {"Authorization": key}, {"X-API-Key": "é"}):
        encoded = {name.encode(): value.encode() for name, value in headers.items()}
        assert (await world.client.get(path, headers=encoded)).status_code == 401


async def test_a_revoked_key_stops_at_once(world: World, store: Store) -> None:
    key = world.keys["owner read"]
    assert (await world.ask("GET /api/v1/projects", key)).status_code == 200
    await store.keys.revoke(key.split("_")[1])
    assert (await world.ask("GET /api/v1/projects", key)).status_code == 401


async def test_health_needs_no_key(world: World) -> None:
    for path in ("/healthz", "/readyz"):
        assert (await world.client.get(path)).status_code in (200, 503)


async def test_only_the_hash_of_a_key_is_kept(store: Store) -> None:
    _, secret = await store.keys.create(name="k", scope="read", project_id=None)
    rows = await store._queries.all("SELECT row_to_json(k)::text FROM kb.api_keys k")
    assert secret.reveal().rsplit("_", 1)[1] not in str(rows)


@pytest.mark.own_app
async def test_where_no_key_is_needed_a_wrong_one_is_still_refused(client: httpx.AsyncClient) -> None:
    assert (await client.get("/api/v1/projects")).status_code == 200
    assert (await client.get("/api/v1/projects", headers={"X-API-Key": "wrong"})).status_code == 401


@pytest.mark.own_app
@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8420", "127.0.0.1.evil.example", "localhost.evil", ""]
)
async def test_without_keys_only_localhost_is_answered(client: httpx.AsyncClient, host: str) -> None:
    """A page on the web must not read a server on this machine by a name that points here."""
    answer = await client.get("/api/v1/projects", headers={"Host": host})
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "FORBIDDEN")


@pytest.mark.own_app
async def test_without_keys_no_other_sites_page_is_answered(client: httpx.AsyncClient) -> None:
    for origin in ("https://evil.example", "null", "http://localhost.evil.example"):
        answer = await client.post("/api/v1/projects", json={"name": "x"}, headers={"Origin": origin})
        assert answer.status_code == 403, origin
    for origin in ("http://localhost:3000", "http://127.0.0.1:8420", "http://[::1]:1"):
        answer = await client.get("/api/v1/projects", headers={"Origin": origin})
        assert answer.status_code == 200, origin


@pytest.mark.own_app
@pytest.mark.parametrize("site", ["cross-site", "same-site"])
async def test_without_keys_other_origins_may_link_but_not_ask(client: httpx.AsyncClient, site: str) -> None:
    """Browsers send no Origin with images, scripts and forms of method GET, but they send `Sec-Fetch-Site`.

    A page of another port of this machine is of the same site, but of another origin.
    """
    foreign = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors"}
    for destination, status in (("image", 403), ("iframe", 403), ("empty", 403), ("document", 200)):
        answer = await client.get("/api/v1/projects", headers={**foreign, "Sec-Fetch-Dest": destination})
        assert answer.status_code == status, destination
    form = {**foreign, "Sec-Fetch-Dest": "document"}
    assert (await client.post("/api/v1/projects", json={"name": "x"}, headers=form)).status_code == 403
    script = {"Sec-Fetch-Site": site, "Origin": "http://localhost:8888"}
    assert (await client.post("/api/v1/projects", json={"name": "x"}, headers=script)).status_code == 403
    for own in ("same-origin", "none"):
        answer = await client.get("/api/v1/projects", headers={"Sec-Fetch-Site": own})
        assert answer.status_code == 200, own


@pytest.mark.own_app
@pytest.mark.parametrize("name", ["Host", "Origin", "Authorization"])
async def test_a_header_that_decides_is_sent_once(client: httpx.AsyncClient, name: str) -> None:
    twice = [(name, "http://localhost"), (name, "http://evil.example")]
    answer = await client.get("/healthz", headers=twice)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "INVALID_REQUEST")


LISTS = ("jobs", "objects", "relationships", "graph")


@pytest.mark.parametrize("path", LISTS)
async def test_what_is_asked_of_a_document_is_looked_for_in_its_project(world: World, path: str) -> None:
    """Without a project's name; but never in a project that the key does not open."""
    document_id = str(world.sample.document.id)

    async def ask(key: str, **params: str) -> Any:
        headers = {"Authorization": f"Bearer {world.keys[key]}"}
        params = {"document_id": document_id, **params}
        return (await world.client.get(f"/api/v1/{path}", params=params, headers=headers)).json()["data"]

    await world.graph(world.sample)
    found = await ask("all read")
    assert found == await ask("owner read")
    assert found == await ask("all read", project_id=str(world.owner))
    assert found["nodes" if path == "graph" else "items"]
    others = await ask("other read")
    assert not others["nodes" if path == "graph" else "items"]
    nothing = await ask("all read", document_id=str(uuid4()))
    assert not nothing["nodes" if path == "graph" else "items"]
