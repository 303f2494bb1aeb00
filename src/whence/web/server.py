"""The ASGI application: routes, errors, gate, and an OpenAPI document that is true."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from fastapi import FastAPI

from whence import __version__
from whence.app import App
from whence.settings import Settings
from whence.web import errors
from whence.web.express import Express
from whence.web.gate import ASGIApp, Gate
from whence.web.routes import (
    chat,
    chunking,
    chunks,
    completions,
    documents,
    extraction,
    graph,
    health,
    ingest,
    jobs,
    objects,
    projects,
    provenance,
    schemas,
    search,
)

_DESCRIPTION = """
A knowledge-base server that can tell where everything it says came from.

Answers under `/api/v1` are `{"success": true, "data": …}`; errors are everywhere
`{"success": false, "error": {"code", "message", "details"}}`.
"""
_KEYS = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "An API key as bearer token."},
    "key": {"type": "apiKey", "in": "header", "name": "X-API-Key", "description": "An API key."},
}


def create_app(
    settings: Settings, open_app: Callable[[], AbstractAsyncContextManager[App]] | None = None
) -> FastAPI:
    """`open_app` gives what the routes work on; by default it is opened from `settings` when the server starts."""

    @asynccontextmanager
    async def lifespan(web: FastAPI) -> AsyncIterator[None]:
        async with open_app() if open_app else App.open(settings) as app, app.working():
            web.state.whence = app
            yield

    web = FastAPI(
        title="Whence",
        version=__version__,
        description=_DESCRIPTION,
        lifespan=lifespan,
        # Swagger's page would load its scripts from elsewhere; nothing here calls out. /openapi.json is served.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    errors.install(web)
    rooms = (
        chunks,
        search,
        chat,
        completions,
        documents,
        jobs,
        objects,
        provenance,
        graph,
        ingest,
        extraction,
        chunking,
        projects,
        schemas,
        health,
    )
    for router in (*(room.router for room in rooms), ingest.short, chat.short):
        # Not `include_router`: it would match every request twice, once for the router and once for the route.
        web.router.routes.extend(router.routes)
    # Around the framework's own layers, not inside them: the gate answers for crashes, and Express goes past them.
    inner = Express(web.build_middleware_stack(), web=web)
    web.middleware_stack = Gate(
        inner,
        loopback_only=not settings.auth_required and settings.loopback,
        max_upload=settings.max_upload_mb * 1024 * 1024,
    )
    web.state.stopping = lambda: False
    web.openapi = lambda: _openapi(web)  # type: ignore[method-assign]  # FastAPI's documented way to extend it
    return web


def entrance(web: FastAPI) -> ASGIApp:
    """What a server is given: the gate itself. FastAPI's own call first asks, each time, for telemetry nobody set up."""
    if web.middleware_stack is None:
        raise TypeError("only what `create_app` made has a gate")
    return web.middleware_stack


def _openapi(web: FastAPI) -> dict[str, Any]:
    if web.openapi_schema is None:
        document = FastAPI.openapi(web)
        document["components"]["securitySchemes"] = _KEYS
        for path, operations in document["paths"].items():
            for operation in operations.values():
                operation["responses"].pop("422", None)  # bad input is 400 here
                if path.startswith(("/api/", "/v1/")):
                    operation["security"] = [{}, {"bearer": []}, {"key": []}]
        for unused in ("HTTPValidationError", "ValidationError"):
            document["components"]["schemas"].pop(unused, None)
        web.openapi_schema = document
    return web.openapi_schema
