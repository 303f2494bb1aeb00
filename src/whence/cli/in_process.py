"""A client of the application in this process: requests go to its routes without a connection."""

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Any

import httpx

from whence.app import App
from whence.web.middleware import ASGIApp, ASGIMessage, Scope
from whence.web.server import local_routes
from whence_client import AsyncClient

_CRASHED = 500
_AHEAD = 8
"""Maximum number of buffered parts of an answer."""


def client_of(app: App) -> AsyncClient:
    logging.getLogger("whence.web").setLevel(logging.CRITICAL)  # the command prints the error
    return AsyncClient("http://localhost", retries=0, transport=InProcess(local_routes(app)))


class InProcess(httpx.AsyncBaseTransport):
    """Like `httpx.ASGITransport`, but streams answers instead of collecting them first."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        scope = {
            "type": "http",
            "method": request.method,
            "path": request.url.path,
            "raw_path": request.url.raw_path.partition(b"?")[0],
            "query_string": request.url.query,
            "root_path": "",
            "headers": [(b"content-type", b"application/json")],
        }
        exchange = _Exchange(self._app, scope, await request.aread())
        try:
            start = await exchange.next()
            if start["status"] == _CRASHED:
                await exchange.task  # raises the exception itself
        except BaseException:
            await exchange.aclose()
            raise
        return httpx.Response(start["status"], headers=start["headers"], stream=exchange)


class _Exchange(httpx.AsyncByteStream):
    """One request, which the application answers in a task of its own."""

    def __init__(self, app: ASGIApp, scope: Scope, body: bytes) -> None:
        self._app, self._scope, self._body = app, scope, body
        self._is_sent = False
        self._messages: asyncio.Queue[ASGIMessage | Exception] = asyncio.Queue(_AHEAD)
        self.task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        try:
            await self._app(self._scope, self._receive, self._messages.put)
        except Exception as exc:
            await self._messages.put(exc)
            raise

    async def _receive(self) -> dict[str, Any]:
        if self._is_sent:
            await asyncio.Event().wait()  # until the command leaves, which cancels the task
        self._is_sent = True
        return {"type": "http.request", "body": self._body, "more_body": False}

    async def next(self) -> ASGIMessage:
        message = await self._messages.get()
        if isinstance(message, Exception):
            raise message
        return message

    async def __aiter__(self) -> AsyncIterator[bytes]:
        more = True
        while more:
            message = await self.next()
            more = message.get("more_body", False)
            if message.get("body"):
                yield message["body"]

    async def aclose(self) -> None:
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)
