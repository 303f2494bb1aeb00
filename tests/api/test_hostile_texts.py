"""Every text that a client may send, in hostile shapes, is answered: never by an error of the server, nor while others wait."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from functools import cache, partial
from typing import Any
from uuid import uuid4

import httpx
import pytest
from tests.api.chatting import LEAVE, PROJECT, opened
from tests.api.conftest import usual_settings
from tests.api.ingesting import ingest
from tests.chat_endpoint import ChatEndpoint, says
from tests.openapi import document
from tests.stalls import reference, without_stall

from whence.models import MAX_NAME

SHAPES = {
    "slashes": "1/",
    "fences": "<",
    "brackets": "[",
    "closed brackets": "[1]",
    "quotes": '"',
    "backticks": "`",
    "spaces": " ",
    "lines": "\n",
    "dots": ".",
    "hyphens": "a-",
    "stars": "*",
    "commas": "1,",
    "initials": "A. ",
    "combining": "e\u0301",
    "unspaced": "\u6f22",
    "joined": "\U0001f469\u200d",
    "marks of direction": "\u202e",
    "one word": "a",
    "many words": None,
    "table": "|-|\n",
}
LONGEST = 100_000
PER_FIELD = 15_000


@cache
def operations() -> list[tuple[str, str, dict[str, Any]]]:
    paths = document()["paths"].items()
    return [(method, path, operation) for path, methods in paths for method, operation in methods.items()]


def bodies(kind: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Method, path and schema of each operation with a body of this kind."""
    for method, path, operation in operations():
        if kind in (content := operation.get("requestBody", {}).get("content", {})):
            yield method, path, content[kind]["schema"]


def queries() -> Iterator[tuple[str, list[str]]]:
    """Path and parameters of each GET with a query."""
    for method, path, operation in operations():
        names = [one["name"] for one in operation.get("parameters", ()) if one["in"] == "query"]
        if method == "get" and names:
            yield path, names


def shaped(shape: str, length: int) -> str:
    part = SHAPES[shape]
    if part is None:
        return " ".join(f"w{number}" for number in range(length // 6))[:length]
    return (part * (length // len(part) + 1))[: length - 1] + "!"


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        return resolved(document()["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    for kind in schema.get("anyOf", ()):
        if kind != {"type": "null"} and "required" not in kind:
            return resolved({**schema, **kind, "anyOf": ()})
    return schema


def filled(schema: dict[str, Any], shape: str, most: int, depth: int = 0) -> Any:
    """A value in which every text that may be anything has this shape."""
    schema = resolved(schema)
    if chosen := schema.get("enum", [schema["const"]] if "const" in schema else ()):
        return chosen[0]
    kind = schema.get("type")
    if kind == "string":
        is_id = schema.get("format") == "uuid"
        return PROJECT if is_id else shaped(shape, min(schema.get("maxLength", most), most))
    if kind == "array":
        return [filled(schema["items"], shape, most, depth + 1)] if depth < 6 else []
    if kind == "object" or "properties" in schema:
        wanted = schema.get("properties", {})
        if not wanted:
            return {shaped(shape, 50): shaped(shape, min(most, 3000))}
        flags = {
            name
            for name, one in wanted.items()
            if resolved(one).get("type") not in ("string", "array", "object")
        }
        return {
            name: filled(one, shape, most, depth + 1)
            for name, one in wanted.items()
            if depth < 6 and name not in flags
        }
    return None


@pytest.fixture(scope="module")
async def clients(
    shared_dsn: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[tuple[httpx.AsyncClient, httpx.AsyncClient]]:
    """One whose answers come from a model, and one that quotes."""
    settings = usual_settings(shared_dsn, tmp_path_factory.mktemp("hostile"))
    with ChatEndpoint(says("Nothing is known about that.")) as model:
        asking = replace(settings, llm_base_url=model.url, llm_model="test", llm_context=10_000_000)
        async with opened(asking) as client, opened(settings) as quoting:
            changed = {"config": {"extraction": "manual"}}
            assert (await client.patch(f"/api/v1/projects/{PROJECT}", json=changed)).status_code == 200
            await ingest(client, LEAVE, name="leave.md")
            yield client, quoting


def questions(shape: str) -> Iterator[tuple[str, str, Any]]:
    """The texts that most is done with, each as long as it may be."""
    text = shaped(shape, 10_000)
    turns = [{"role": role, "content": shaped(shape, LONGEST)} for role in ("user", "assistant")]
    yield "post", "/chat", {"projectId": PROJECT, "message": text}
    yield "post", "/chat", {"projectId": PROJECT, "message": "How many days of leave?", "history": turns}
    messages = [*turns, {"role": "user", "content": "How many days of leave?"}]
    yield "post", "/v1/chat/completions", {"model": PROJECT, "messages": messages}
    yield "post", "/api/v1/search", {"query": text}
    yield "post", "/api/v1/search", {"query": f"leave {text}"}
    for strategy in ("character", "sentence", "paragraph"):
        yield (
            "post",
            "/api/v1/chunking/preview",
            {"text": shaped(shape, 100_000), "chunkingStrategy": strategy},
        )


def forms(shape: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Each form, with one text of this shape after the other in it: its fields, the file, and the file's name."""
    for method, path, schema in bodies("multipart/form-data"):
        for name in set(schema["properties"]) - {"file", "files"}:
            yield method, path, {"data": {name: shaped(shape, 10_000)}, "files": {"file": ("a.md", "x")}}
        yield method, path, {"files": {"file": (shaped(shape, 1000).replace("\n", " "), "x")}}
    written = {"file": ("a.md", shaped(shape, 100_000))}
    yield "post", "/ingest/upload", {"files": written, "data": {"wait": "true"}}


def tools(shape: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Each tool of an assistant, the resources and the prompt."""
    question, name = shaped(shape, 10_000), shaped(shape, MAX_NAME)
    calls: list[tuple[str, dict[str, Any]]] = [
        ("search", {"query": question, "project": name}),
        ("search", {"query": question, "format": "claude"}),
        ("ask", {"question": question}),
        ("fetch", {"id": name}),
        ("trace", {"object": name, "property": name}),
        ("neighbours", {"object": name}),
        ("list_documents", {"name": name}),
    ]
    asked: list[tuple[str, dict[str, Any]]] = [
        *(("tools/call", {"name": tool, "arguments": given}) for tool, given in calls),
        ("tools/call", {"name": name, "arguments": {name: name}}),
        ("resources/read", {"uri": f"whence://chunk/{name}"}),
        ("prompts/get", {"name": "answer_with_citations", "arguments": {"question": shaped(shape, LONGEST)}}),
    ]
    for method, given in asked:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": given}
        yield "post", "/mcp", {"json": body, "headers": {"Accept": "application/json, text/event-stream"}}


@pytest.fixture(scope="module")
def usual() -> float:
    return reference()


@pytest.mark.parametrize("shape", SHAPES)
async def test_every_text_is_answered(
    clients: tuple[httpx.AsyncClient, httpx.AsyncClient], shape: str, usual: float
) -> None:
    client, _ = clients
    made = await client.post("/api/v1/projects", json={"name": f"project {uuid4()}"})
    other = made.json()["data"]["id"]
    asked: list[tuple[httpx.AsyncClient, str, str, dict[str, Any]]] = []
    for method, path, body in questions(shape):
        asked += [(one, method, path, {"json": body}) for one in (clients if "chat" in path else clients[:1])]
    for method, path, schema in bodies("application/json"):
        asked.append((client, method, path, {"json": filled(schema, shape, PER_FIELD)}))
    asked += [(client, *one) for one in (*forms(shape), *tools(shape))]
    for path, names in queries():
        query = {name: shaped(shape, 100) for name in names if name not in ("limit", "offset")}
        asked.append((client, "get", path, {"params": query}))
    for asker, method, path, sent in asked:
        where = path.replace("{project_id}", other)
        for name in ("document_id", "object_id", "conversation_id", "answer_id"):
            where = where.replace(f"{{{name}}}", str(uuid4()))
        answer = await without_stall(partial(asker.request, method, where, timeout=120, **sent), usual)
        assert answer.status_code < 500 or answer.status_code in (502, 503, 504), (path, answer.text[:300])
        if path == "/mcp":
            assert "internal" not in answer.text.lower(), (sent, answer.text[:300])
