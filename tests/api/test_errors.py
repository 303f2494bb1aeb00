"""One error shape, whatever went wrong; request ids in and out."""

import asyncio
import json
import logging
import re
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from tests.openapi import document
from tests.outage import away, end_connections
from tests.samples import AddSample

from whence.api.values import snake
from whence.logs import _Json, request_id
from whence.models import DEFAULT_PROJECT_ID
from whence.settings import Settings
from whence.store.keys import EVERYONE
from whence.web.middleware import BodyLimits, RequestMiddleware
from whence.web.shutdown import Shutdown

pytestmark = pytest.mark.one_app


def check_shape(answer: httpx.Response) -> dict[str, Any]:
    body = answer.json()
    assert set(body) == {"success", "error"}
    assert body["success"] is False
    assert set(body["error"]) == {"code", "message", "details"}
    assert isinstance(body["error"]["message"], str)
    assert isinstance(body["error"]["details"], dict)
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-request-id"]
    error: dict[str, Any] = body["error"]
    return error


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/assets/none.js",
        "/api/v1",
        "/api/v2/projects",
        "/api/v1/projects/",
    ],
)
async def test_an_unknown_route(client: httpx.AsyncClient, path: str) -> None:
    answer = await client.get(path)
    error = check_shape(answer)
    assert (answer.status_code, error["code"]) == (404, "NOT_FOUND")
    assert error["details"] == {"route": f"GET {path}"}


@pytest.mark.parametrize(
    ("method", "path"), [("PUT", "/api/v1/projects"), ("DELETE", "/healthz"), ("POST", "/readyz")]
)
async def test_a_method_that_the_route_has_not(client: httpx.AsyncClient, method: str, path: str) -> None:
    answer = await client.request(method, path)
    assert (answer.status_code, check_shape(answer)["code"]) == (405, "METHOD_NOT_ALLOWED")
    assert answer.headers["allow"]


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/healthz", "GET, HEAD"),
        ("/api/v1/documents/00000000-0000-0000-0000-000000000000/file", "GET, HEAD"),
        ("/api/v1/documents/00000000-0000-0000-0000-000000000000/text", "GET"),
        ("/api/v1/chunks/bulk", "POST"),
    ],
)
async def test_the_methods_that_a_route_has_are_told(
    client: httpx.AsyncClient, path: str, allowed: str
) -> None:
    answer = await client.request("OPTIONS", path)
    assert (answer.status_code, answer.headers["allow"]) == (405, allowed)


def _operations() -> list[tuple[str, str, list[str]]]:
    """Method, path and parameters in the query of every route of ours."""
    paths = document()["paths"]
    return [
        (
            method.upper(),
            path.replace("{", "").replace("}", ""),
            [one["name"] for one in operation.get("parameters", ()) if one["in"] == "query"],
        )
        for path, operations in paths.items()
        if path.startswith("/api/v1/")
        for method, operation in operations.items()
    ]


async def test_an_unknown_parameter_is_refused_by_every_route(client: httpx.AsyncClient) -> None:
    for method, path, known in _operations():
        for parameters in ("limt=5", "wait=true&limt=5" if "wait" in known else "limt=5&limt=5"):
            answer = await client.request(method, f"{path}?{parameters}")
            error = check_shape(answer)
            assert (answer.status_code, error["code"]) == (400, "INVALID_PARAMETER"), (method, path)
            assert error["details"] == {
                "parameter": "limt",
                "provided": "5",
                "expected": f"one of {', '.join(known)}" if known else "none",
            }
            assert error["message"].startswith("limt is unknown; ")


async def test_a_repeated_parameter_is_refused_by_every_route(client: httpx.AsyncClient) -> None:
    paged = 0
    for method, path, known in _operations():
        for name in {*known} & {"limit", "offset", "after"}:
            answer = await client.request(method, f"{path}?{name}=1&{name}=2")
            error = check_shape(answer)
            assert answer.status_code == 400, (method, path, name)
            assert error["message"] == f"{name} was sent more than once", (method, path, name)
            assert error["details"] == {"parameter": name, "provided": ["1", "2"], "expected": "one value"}
            paged += 1
    assert paged > 20
    ids = "&".join(2 * [f"ids={DEFAULT_PROJECT_ID}"])
    assert (await client.get(f"/api/v1/objects?{ids}")).status_code == 200


async def test_every_parameter_that_a_route_declares_is_known_in_both_ways_to_write_it(
    client: httpx.AsyncClient,
) -> None:
    for method, path, known in _operations():
        for name in known:
            for written in (name, snake(name), camel(name)):
                answer = await client.request(method, path, params={written: "\x00"})
                assert "is unknown" not in answer.text, (method, path, written)


async def test_an_unknown_field_is_refused_by_every_route_with_a_body(client: httpx.AsyncClient) -> None:
    refused = []
    paths = document()["paths"]
    for path, operations in paths.items():
        for method, operation in operations.items():
            if "application/json" not in operation.get("requestBody", {}).get("content", {}):
                continue
            # OpenAI's clients send more; a schema has its own errors.
            if path.startswith("/v1/") or path.endswith(("/schema", "/schema/check")):
                continue
            if (method, path) == ("put", "/api/v1/documents/{document_id}"):  # which must exist
                continue
            url = re.sub(r"\{\w+\}", str(DEFAULT_PROJECT_ID), path)
            needed = {"chunk_ids": [str(DEFAULT_PROJECT_ID)]} if path.endswith("/bulk") else {}
            answer = await client.request(method.upper(), url, json={**needed, "unheard_of": 1})
            error = check_shape(answer)
            assert answer.status_code == 400, (method, path)
            assert error["message"].startswith("unheard_of is unknown; known are "), (method, path, error)
            refused.append(operation["operationId"])
    assert {"search", "chat", "getChunks", "ingestText", "mergeObjects", "createProject"} <= set(refused)


async def test_errors_name_the_field_as_it_was_sent(client: httpx.AsyncClient) -> None:
    for body, name in (
        ({"query": "x", "minScore": 2}, "minScore"),
        ({"query": "x", "min_score": 2}, "min_score"),
        ({"query": "x", "filters": {"document_ids": "x"}}, "filters.document_ids"),
        ({"query": "x", "filters": {"created": {"to": "soon"}}}, "filters.created.to"),
    ):
        error = check_shape(await client.post("/api/v1/search", json=body))
        assert error["details"]["parameter"] == name
        assert error["message"].startswith(f"{name} must be ")


def camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


@pytest.mark.parametrize(
    "path", ["/healthz?x=1", "/readyz?x=1", "/v1/models?api-version=2024", "/ingest/text?wait=1"]
)
async def test_where_a_parameter_is_no_error(client: httpx.AsyncClient, path: str) -> None:
    method = "POST" if "ingest" in path else "GET"
    answer = await client.request(method, path, json={"text": "One text."} if method == "POST" else None)
    assert answer.status_code in {200, 503}  # the worker may not have begun
    if method == "POST":
        error = check_shape(await client.post("/ingest/text?wiat=1", json={"text": "Another."}))
        assert error["message"] == "wiat is unknown; known are wait"


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
async def test_probes_may_ask_for_the_head_only(client: httpx.AsyncClient, path: str) -> None:
    answer = await client.head(path)
    assert answer.status_code in {200, 503}  # the worker may not have begun
    assert not answer.content


async def test_a_crash_tells_nothing_but_the_request_id(
    web: FastAPI, client: httpx.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    @web.get("/crash")
    async def crash() -> None:
        raise RuntimeError("password=hunter2")

    with caplog.at_level(logging.ERROR):
        answer = await client.get("/crash", headers={"X-Request-ID": "trace-17"})
    assert answer.status_code == 500
    assert check_shape(answer) == {
        "code": "INTERNAL_ERROR",
        "message": "Internal server error",
        "details": {"request_id": "trace-17"},
    }
    assert answer.headers["x-request-id"] == "trace-17"
    assert any("/crash" in record.getMessage() and record.exc_info for record in caplog.records)


async def test_a_crash_after_the_answer_began_does_not_answer_twice() -> None:
    async def half(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise RuntimeError("midway")

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": "/", "headers": []}
    middleware = RequestMiddleware(
        half,
        loopback_only=False,
        limits=BodyLimits.of(Settings()),
        identify=lambda _: asyncio.sleep(0, EVERYONE),
        record=lambda *_: asyncio.sleep(0),
        shutdown=Shutdown(),
    )
    await middleware(scope, receive, send)
    assert [message["type"] for message in sent] == ["http.response.start"]


@pytest.mark.parametrize(
    "given", ["abc", "a" * 128, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"]
)
async def test_a_request_id_is_kept(client: httpx.AsyncClient, given: str) -> None:
    answer = await client.get("/healthz", headers={"X-Request-ID": given})
    assert answer.headers["x-request-id"] == given


@pytest.mark.parametrize("given", ["", "a" * 129, "a b", "a\tb", "<script>"])
async def test_a_request_id_that_is_none_is_replaced(client: httpx.AsyncClient, given: str) -> None:
    answer = await client.get("/healthz", headers={"X-Request-ID": given})
    assert answer.headers["x-request-id"] != given
    assert len(answer.headers["x-request-id"]) == 32


async def test_the_log_has_one_line_for_a_request_with_its_id(
    client: httpx.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[str] = []

    class Capture(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            seen.append(_Json().format(record))

    handler = Capture()
    logging.getLogger("whence.web").addHandler(handler)
    with caplog.at_level(logging.INFO, logger="whence.web"):
        await client.get(
            "/nothing%0Aforged?key=secret", headers={"X-Request-ID": "r1", "X-API-Key": "secret"}
        )
    logging.getLogger("whence.web").removeHandler(handler)
    (line,) = [json.loads(line) for line in seen]
    assert line["request_id"] == "r1"
    assert line["message"].startswith("GET /nothing%0Aforged 404 ")
    assert "secret" not in str(line)
    assert request_id.get() == "-"


@pytest.mark.own_app
async def test_a_database_that_is_away_is_503(
    client: httpx.AsyncClient, dsn: str, add_sample: AddSample
) -> None:
    sample = await add_sample()
    with away(dsn):
        answer = await client.get("/api/v1/projects", timeout=60)
        chunk = await client.get(f"/api/v1/chunks/{sample.ids[0]}", timeout=60)
        ready = await client.get("/readyz", timeout=60)
    assert (chunk.status_code, check_shape(chunk)["code"]) == (503, "DATABASE_UNAVAILABLE")
    assert (answer.status_code, check_shape(answer)["code"]) == (503, "DATABASE_UNAVAILABLE")
    assert ready.status_code == 503
    assert ready.json()["status"] == "not ready"
    assert ready.json()["database"] == "does not answer"
    again = await client.get(f"/api/v1/chunks/{sample.ids[0]}", timeout=60)
    assert again.status_code == 200


async def test_connections_that_died_while_idle_are_replaced_without_an_error(
    client: httpx.AsyncClient, dsn: str, add_sample: AddSample
) -> None:
    sample = await add_sample()
    path = f"/api/v1/chunks/{sample.ids[0]}"
    assert (await client.get(path)).status_code == 200
    end_connections(dsn)
    assert (await client.get(path)).status_code == 200


async def test_readiness_names_what_is_there(client: httpx.AsyncClient) -> None:
    for _ in range(200):
        answer = await client.get("/readyz")
        if answer.status_code == 200:
            break
    assert answer.json() == {
        "status": "ready",
        "database": "ok",
        "migrations": "current",
        "worker": "ok",
        "background": [],
    }
    assert (await client.get("/healthz")).json()["status"] == "ok"
