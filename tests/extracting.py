"""Documents whose chunks a test knows, a model that it scripts, and the graph that comes of them."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, LiteralString

import httpx
import psycopg
import pytest
from tests.api.ingesting import DOCUMENTS, data_of, ended, ingest
from tests.api.shared_app import shares_app
from tests.chat_endpoint import ChatEndpoint, Messages, says
from tests.loopback import Behaviour

from whence.models import DEFAULT_PROJECT_ID
from whence.settings import Settings

PROJECTS = "/api/v1/projects"
SHARED = pytest.mark.one_app(llm_model="test-1", llm_attempts=1)

_PRIMARY = re.compile(r"=== PRIMARY CHUNK.*?<<<\w+\n(.*?)\n\w+>>>", re.DOTALL)
_OBJECTS = re.compile(r"=== EXISTING OBJECTS.*?<<<\w+\n(.*?)\n?\w+>>>", re.DOTALL)

Told = Callable[[str, dict[str, dict[str, Any]]], Any]
"""What the model replies to a primary chunk, given the existing objects by their names."""


def with_model(settings: Settings, endpoint: ChatEndpoint, **more: Any) -> Settings:
    return replace(settings, llm_base_url=endpoint.url, llm_model="test-1", llm_attempts=1, **more)


def scripted(told: Told = lambda *_: {"objects": []}) -> tuple[Any, Any]:
    """Two fixtures for a module: `model`, an endpoint that replies this, and `settings` with that model.

    With `pytestmark = SHARED`, the tests share one application and its model.
    """

    @pytest.fixture
    def model(request: pytest.FixtureRequest) -> Iterator[ChatEndpoint]:
        yield from scripted_endpoint(request, replies(told))

    @pytest.fixture
    def settings(settings: Settings, model: ChatEndpoint) -> Settings:
        return with_model(settings, model)

    return model, settings


def scripted_endpoint(request: pytest.FixtureRequest, default: Behaviour) -> Iterator[ChatEndpoint]:
    if shares_app(request):
        shared: ChatEndpoint = request.getfixturevalue("shared_model")
        shared.restart(default)
        yield shared
    else:
        with ChatEndpoint(default) as endpoint:
            yield endpoint


def replies(told: Told) -> Any:
    """A behaviour of the endpoint."""

    def answer(messages: Messages) -> str:
        said = told(primary_of(messages), objects_of(messages))
        return said if isinstance(said, str) else json.dumps(said)

    return says(answer)


def primary_of(messages: Messages) -> str:
    found = _PRIMARY.search(messages[1]["content"])
    assert found, messages[1]["content"]
    return found[1]


def objects_of(messages: Messages) -> dict[str, dict[str, Any]]:
    found = _OBJECTS.search(messages[1]["content"])
    assert found, messages[1]["content"]
    objects = [json.loads(line) for line in found[1].split("\n") if line]
    return {each["name"]: each for each in objects}


def paragraphs(*texts: str) -> str:
    """A document that is cut into exactly these chunks, by CUT: each is a section of its own."""
    return "\n\n".join(f"# Part {at}\n\n{text}" for at, text in enumerate(texts, 1))


CUT = {"chunkingStrategy": "paragraph", "chunkingOptions": {"maxChunkSize": 1000, "minChunkSize": 10}}


async def ingest_parts(client: httpx.AsyncClient, *texts: str, **fields: Any) -> str:
    """The id of the document."""
    receipt = await ingest(client, paragraphs(*texts), **{**CUT, **fields})
    document_id: str = receipt["documentId"]
    return document_id


async def extract(client: httpx.AsyncClient, document_id: str, **fields: Any) -> dict[str, Any]:
    """By hand; the job when it has ended."""
    answer = await client.post(f"{DOCUMENTS}/{document_id}/extract", json=fields)
    return await ended(client, data_of(answer, 202)["jobId"], seconds=60)


async def extractions(client: httpx.AsyncClient, document_id: str) -> list[dict[str, Any]]:
    """Those of the document, the newest first, once all have ended."""
    params = {"document_id": document_id, "job_type": "extraction"}
    found = data_of(await client.get("/api/v1/jobs", params=params))["items"]
    return [await ended(client, job["id"], seconds=60) for job in found]


async def put_schema(
    client: httpx.AsyncClient, project_id: object, properties: Sequence[str], **kinds: Any
) -> dict[str, Any]:
    """Requirements with these properties, and other types."""
    body = {
        "object_types": {
            "Requirement": {"properties": {name: {"type": "string"} for name in properties}},
            **kinds,
        }
    }
    found: dict[str, Any] = data_of(await client.put(f"{PROJECTS}/{project_id}/schema", json=body))
    return found


def rows(dsn: str, query: LiteralString, **params: Any) -> list[tuple[Any, ...]]:
    with psycopg.connect(dsn) as conn:
        return conn.execute(query, params).fetchall()


def provenance(dsn: str, name: str) -> list[tuple[Any, ...]]:
    """The seed's table of one object: number of the chunk, property, operation, schema version, value."""
    return rows(
        dsn,
        """
        SELECT c.chunk_index + 1, p.property_name, p.operation, p.schema_version, p.value
        FROM kb.object_provenance p JOIN kb.graph_objects o ON o.id = p.object_id
        JOIN kb.chunks c ON c.id = p.chunk_id
        WHERE o.name = %(name)s ORDER BY p.extracted_at, c.chunk_index, p.property_name = 'name' DESC, p.property_name
        """,
        name=name,
    )


def graph(dsn: str) -> dict[str, Mapping[str, Any]]:
    """Objects as `Type name` with their properties."""
    found = rows(dsn, "SELECT type, name, properties FROM kb.graph_objects")
    return {f"{kind} {name}": properties for kind, name, properties in found}


def content(dsn: str, project_id: object = DEFAULT_PROJECT_ID) -> list[tuple[Any, ...]]:
    """All that a graph says and why, without ids and times: two histories that come to the same are equal here."""
    claims = rows(
        dsn,
        """
        SELECT d.name, c.chunk_index, o.type, o.name, p.property_name, p.value::text, p.operation, p.schema_number,
               p.quote, p.start_offset
        FROM kb.object_provenance p JOIN kb.graph_objects o ON o.id = p.object_id
        JOIN kb.chunks c ON c.id = p.chunk_id JOIN kb.documents d ON d.id = c.document_id
        WHERE p.project_id = %(project_id)s ORDER BY 1, 2, 3, 4, 5
        """,
        project_id=project_id,
    )
    ties = rows(
        dsn,
        """
        SELECT d.name, c.chunk_index, r.type, a.name, b.name, p.quote
        FROM kb.relationship_provenance p JOIN kb.relationships r ON r.id = p.relationship_id
        JOIN kb.graph_objects a ON a.id = r.source_id JOIN kb.graph_objects b ON b.id = r.target_id
        JOIN kb.chunks c ON c.id = p.chunk_id JOIN kb.documents d ON d.id = c.document_id
        WHERE p.project_id = %(project_id)s ORDER BY 1, 2, 3, 4, 5
        """,
        project_id=project_id,
    )
    return [*claims, *ties]
