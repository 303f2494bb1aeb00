"""`/mcp`: the Model Context Protocol over HTTP, if the extra `whence-kb[mcp]` is installed."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI, Request, Response
from starlette.routing import BaseRoute, Route

from whence import links
from whence.errors import NotFound
from whence.store.keys import Caller
from whence.web.access import Access
from whence.web.middleware import MCP, MCP_METADATA, ASGIApp, Receive, Scope, Send
from whence.web.responses import encode

if TYPE_CHECKING:
    from mcp.server.mcpserver import Context

_MISSING = "The Model Context Protocol needs the extra: pip install 'whence-kb[mcp]'"


class Assistants:
    """The routes of `/mcp`. The protocol's server is loaded at the first request, because it takes half a second and 20 MB."""

    def __init__(self, web: FastAPI, *, allow_writes: bool) -> None:
        self._web = web
        self._allow_writes = allow_writes
        self._is_wanted = asyncio.Event()
        self._apps: asyncio.Future[dict[bool, ASGIApp]]
        """One application for keys that may write, if writing is enabled, and one for all others."""
        self.routes: list[BaseRoute] = [
            Route(MCP, _Endpoint(self), methods=["POST"], include_in_schema=False),
            Route(MCP_METADATA, self._describe, include_in_schema=False),
        ]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        self._apps = asyncio.get_running_loop().create_future()
        is_ending = asyncio.Event()
        serving = asyncio.create_task(self._serve(is_ending))
        try:
            yield
        finally:
            is_ending.set()
            self._is_wanted.set()
            await serving

    async def _serve(self, is_ending: asyncio.Event) -> None:
        """Runs the protocol's server in a task of its own, because it must start and end in the same task."""
        await self._is_wanted.wait()
        if is_ending.is_set():
            return
        loaded = await asyncio.to_thread(import_module, "whence.web.assistants.tools")
        apps = {}
        async with AsyncExitStack() as stack:
            for allow_writes in {False, self._allow_writes}:
                server = loaded.make_server(self._get_access, allow_writes=allow_writes)
                apps[allow_writes] = loaded.http_app(server)
                await stack.enter_async_context(server.session_manager.run())
            self._apps.set_result(apps)
            await is_ending.wait()

    async def app(self, caller: Caller) -> ASGIApp:
        """The application with the tools that the caller may use."""
        self._is_wanted.set()
        apps = await asyncio.shield(self._apps)
        return apps[self._allow_writes and caller.may("write")]

    def _get_access(self, ctx: "Context[Any, Any]") -> Access:
        """The caller, whom the middleware identified."""
        request = ctx.request_context.request
        assert request is not None, "over HTTP each message is a request"
        return Access(self._web.state.whence, request.scope["caller"], self._web.state.meter)

    async def _describe(self, request: Request) -> Response:
        """The protected resource's metadata (RFC 9728), if keys are needed."""
        if not self._web.state.whence.settings.auth_required:
            raise NotFound("No key is needed here", details={"route": f"GET {request.url.path}"})
        described = {
            "resource": links.absolute(MCP) or str(request.url.replace(path=MCP)),
            "resource_name": "Whence",
            "bearer_methods_supported": ["header"],
            "scopes_supported": ["read", "write"],
        }
        return Response(encode(described), media_type="application/json")


class _Endpoint:
    """An ASGI application: a route calls a function only with a request."""

    def __init__(self, assistants: Assistants) -> None:
        self._assistants = assistants

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if find_spec("mcp") is None:
            raise NotFound(_MISSING, details={"route": f"{scope['method']} {MCP}"})
        app = await self._assistants.app(scope["caller"])
        await app(scope, receive, send)
