"""The ASGI application: routes, errors, middleware, and the OpenAPI document."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache, partial
from importlib import import_module
from itertools import chain
from pkgutil import iter_modules
from typing import Any

from fastapi import FastAPI, Request
from fastapi.middleware.cors import CORSMiddleware
from pydantic import BaseModel
from starlette.routing import BaseRoute
from starlette.types import Lifespan

from whence import __version__
from whence.api.base import ErrorAnswer
from whence.app import App
from whence.settings import Settings
from whence.store.keys import EVERYONE, Caller
from whence.web import routes
from whence.web.access import identify
from whence.web.assistants.endpoint import Assistants
from whence.web.errors import EXPECTED, answer_to, install
from whence.web.metering import Meter
from whence.web.middleware import ASGIApp, BodyLimits, Receive, RequestMiddleware, Scope, Send
from whence.web.routes import Direct
from whence.web.routes.pages import or_lost
from whence.web.shutdown import Shutdown

_DESCRIPTION = """
A knowledge-base server that shows where every answer came from.

Answers under `/api/v1` are `{"success": true, "data": …}`; all errors are `{"success": false, "error": {"code", "message", "details"}}`.
"""
_KEYS = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "An API key as bearer token."},
    "key": {"type": "apiKey", "in": "header", "name": "X-API-Key", "description": "An API key."},
}


def create_app(
    settings: Settings, open_app: Callable[[], AbstractAsyncContextManager[App]] | None = None
) -> FastAPI:
    """`open_app` opens the application for the routes; by default it is opened from `settings` at server start."""

    @asynccontextmanager
    async def lifespan(web: FastAPI) -> AsyncIterator[None]:
        async with open_app() if open_app else App.open(settings) as app, app.working():
            web.state.whence, web.state.meter = app, Meter(app)
            async with web.state.meter.flushing(), assistants.running():
                yield

    web = _make_fastapi(lifespan)
    install(web)
    assistants = Assistants(web, allow_writes=settings.mcp_writes == "on")
    web.router.routes.extend(assistants.routes)
    web.router.routes.extend(_find_routes())
    web.router.default = or_lost(web.router.default)
    # The middleware is outside the framework's layers, because it answers crashes and the fast path bypasses the layers.
    inner = FastPath(web.build_middleware_stack(), web=web)
    web.state.shutdown = Shutdown()
    requests = RequestMiddleware(
        inner,
        loopback_only=not settings.auth_required and settings.loopback,
        limits=BodyLimits.of(settings),
        identify=partial(_identify, web),
        record=partial(_record, web),
        shutdown=web.state.shutdown,
        link_base=settings.link_base,
        origins=settings.cors_origins,
    )
    web.middleware_stack = _add_cors(requests, settings.cors_origins) if settings.cors_origins else requests
    web.openapi = build_openapi  # type: ignore[method-assign]  # FastAPI's documented way to extend it
    return web


def _make_fastapi(lifespan: Lifespan[FastAPI] | None = None) -> FastAPI:
    return FastAPI(
        title="Whence",
        version=__version__,
        description=_DESCRIPTION,
        lifespan=lifespan,
        separate_input_output_schemas=False,
        # Swagger's page would load scripts from other sites. /openapi.json is served.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )


def _find_routes() -> list[BaseRoute]:
    """For the router as they are. `include_router` would match every request twice, once for the router and once for the route."""
    modules = iter_modules(routes.__path__, f"{routes.__name__}.")
    return [route for module in modules for route in import_module(module.name).router.routes]


def local_routes(app: App) -> ASGIApp:
    """The routes for commands on the same machine, without keys, limits and audit log."""
    web = create_app(app.settings)
    web.state.whence, web.state.meter = app, Meter(app)
    inner = web.build_middleware_stack()

    async def call(scope: Scope, receive: Receive, send: Send) -> None:
        scope["app"], scope["caller"] = web, EVERYONE
        await inner(scope, receive, send)

    return call


def _add_cors(app: ASGIApp, origins: Sequence[str]) -> ASGIApp:
    """Lets pages of these origins use the API. Keys are sent in headers, never in cookies."""
    exposed = ("X-Request-Id", "Retry-After", "Content-Disposition", "Accept-Ranges", "Content-Range", "ETag")
    return CORSMiddleware(
        app, allow_origins=origins, allow_methods=["*"], allow_headers=["*"], expose_headers=exposed
    )


async def _identify(web: FastAPI, scope: Scope) -> Caller:
    caller = await identify(web.state.whence, scope)
    await web.state.meter.admit(caller)
    return caller


async def _record(web: FastAPI, scope: Scope, status: int) -> None:
    await web.state.meter.record(scope, status)


class FastPath:
    """Bypasses the framework for the hot chunk routes: its layers take longer than the query of one chunk.

    Requests go straight to the function of a `Direct` route, and errors through the same `answer_to` as all others. FastAPI
    still documents these routes and answers all other methods.
    """

    def __init__(self, app: ASGIApp, *, web: FastAPI) -> None:
        self._app = app
        self._web = web
        self._routes = [
            (method, route)
            for route in web.routes
            if isinstance(route, Direct)
            for method in route.methods or ()
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["app"] = self._web
        if scope["type"] == "http":
            for method, route in self._routes:
                if method == scope["method"] and (found := route.path_regex.match(scope["path"])):
                    scope["path_params"], scope["route"] = found.groupdict(), route
                    await self._answer(route, scope, receive, send)
                    return
        await self._app(scope, receive, send)

    async def _answer(self, route: Direct, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            response = await route.answer(request)
        except EXPECTED as exc:
            response = answer_to(request, exc)
        await response(scope, receive, send)


def entrance(web: FastAPI) -> ASGIApp:
    """The ASGI application for the server: the middleware itself, because FastAPI's call checks for telemetry on each request."""
    if web.middleware_stack is None:
        raise TypeError("only an application of `create_app` has the middleware")
    return web.middleware_stack


@cache
def build_openapi() -> dict[str, Any]:
    """The document, which takes a second to build and is the same for every application: no setting changes it."""
    web = _make_fastapi()
    web.router.routes.extend(_find_routes())
    document = web.openapi()
    document["components"]["securitySchemes"] = _KEYS
    _add_schemas(document["components"]["schemas"], ErrorAnswer)
    for operation in chain.from_iterable(path.values() for path in document["paths"].values()):
        operation["responses"].pop("422", None)  # bad input is 400 in this API
        for parameter in operation.get("parameters", ()):
            parameter["schema"] = _drop_null(parameter["schema"])
    for unused in ("HTTPValidationError", "ValidationError"):
        document["components"]["schemas"].pop(unused, None)
    return document


def _add_schemas(schemas: dict[str, Any], model: type[BaseModel]) -> None:
    own = model.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas.update(own.pop("$defs", {}))
    schemas[model.__name__] = own


def _drop_null(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema without null, because a query cannot contain it."""
    kinds = [one for one in schema.get("anyOf", ()) if one != {"type": "null"}]
    if len(kinds) != 1:
        return {**schema, "anyOf": kinds} if kinds else schema
    return {**{key: value for key, value in schema.items() if key != "anyOf"}, **kinds[0]}
