"""Streams answers, and waits for jobs while the client is connected.

Each stream of server-sent events ends with its last event or an error, never silently.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass
from math import inf
from time import monotonic
from typing import Annotated, Any, TypeVar
from uuid import UUID

from fastapi import Depends, Request
from fastapi.responses import StreamingResponse

from whence.api.base import AnswerShape
from whence.app import App
from whence.errors import BadInput, ServerStopping, WhenceError
from whence.logs import request_id
from whence.models import OPEN, Job
from whence.web.errors import EXPECTED, answer_to
from whence.web.middleware import Receive, Scope, Send
from whence.web.responses import failure
from whence.web.shutdown import Shutdown

log = logging.getLogger("whence.web")

T = TypeVar("T")
Encode = Callable[[T], list[bytes]]

HEARTBEAT = 15.0
"""Seconds between two comments that keep an idle connection open, also through proxies."""
PATIENCE = 600.0
"""Maximum wait of `wait=true`, in seconds."""
_PAUSE, _LONGEST_PAUSE = 0.05, 0.5

ALIVE = b": still there\n\n"


@dataclass(frozen=True, slots=True)
class ClientConnection:
    """Tells a route about the client's connection and `Accept` header."""

    request: Request

    async def is_gone(self) -> bool:
        return await self.request.is_disconnected()

    async def wait_until_gone(self) -> None:
        while (await self.request.receive())["type"] != "http.disconnect":
            continue

    @property
    def shutdown(self) -> Shutdown:
        found: Shutdown = self.request.app.state.shutdown
        return found

    @property
    def is_head(self) -> bool:
        return self.request.method == "HEAD"

    @property
    def is_for_a_range(self) -> bool:
        return "range" in self.request.headers

    def allows(self, media_type: str) -> bool:
        """Whether `Accept` allows the type, also by a wildcard. Without the header, every type is allowed."""
        anything = ("*/*", media_type.split("/", maxsplit=1)[0] + "/*", media_type)
        return any(map(self.accepts, anything)) or not self.request.headers.get("accept")

    def accepts(self, media_type: str) -> bool:
        return media_type in self.request.headers.get("accept", "").lower()

    def prefers(self, media_type: str) -> bool:
        return self.request.headers.get("accept", "").lower().startswith(media_type)


async def _make_connection(request: Request) -> ClientConnection:
    return ClientConnection(request)


Connected = Annotated[ClientConnection, Depends(_make_connection)]


def event(name: str, content: AnswerShape) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), content.encode())


def error_event(error: bytes) -> bytes:
    return b"event: error\ndata: %s\n\n" % error


async def streamed(
    connection: ClientConnection,
    items: AsyncGenerator[T, None],
    encode: Encode[T],
    *,
    error: Callable[[bytes], bytes] = error_event,
    end: bytes = b"",
) -> StreamingResponse:
    """Streams each item through `encode`, then `end`; an error is encoded by `error`, which wraps its JSON.

    Sends nothing before the first item, so that an error before it gets its own status.
    """
    paced = _add_heartbeats(items, connection.shutdown)
    first = await _fetch_first(paced)

    async def body() -> AsyncGenerator[bytes, None]:
        try:
            for part in encode(first):
                yield part
            async for item in paced:
                for part in [ALIVE] if item is None else encode(item):
                    yield part
            if end:
                yield end
        except EXPECTED as exc:
            yield error(bytes(answer_to(connection.request, exc).body))
        except Exception:  # the unit of work ends here: log everything, show the client nothing
            log.exception("A stream crashed")
            yield error(bytes(failure(WhenceError(details={"request_id": request_id.get()})).body))

    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return _Streamed(body(), paced, headers={"Content-Type": "text/event-stream; charset=utf-8", **headers})


class _Streamed(StreamingResponse):
    """Closes its source as soon as the client disconnects. The garbage collector would do so much later."""

    def __init__(
        self,
        content: AsyncGenerator[bytes, None],
        source: AsyncGenerator[Any, None],
        headers: Mapping[str, str],
        *,
        status: int = 200,
    ) -> None:
        super().__init__(content, status, headers=headers)
        self._opened = (content, source)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            for opened in self._opened:
                await opened.aclose()


async def _fetch_first(paced: AsyncGenerator[T | None, None]) -> T:
    try:
        while (item := await anext(paced)) is None:
            continue
    except BaseException:
        await paced.aclose()
        raise
    return item


async def _add_heartbeats(
    items: AsyncGenerator[T, None], shutdown: Shutdown
) -> AsyncGenerator[T | None, None]:
    """The items, and None after each `HEARTBEAT` without one. Closing it early closes `items`."""
    ready: asyncio.Queue[T | None] = asyncio.Queue()

    async def fetch() -> None:
        try:
            async with aclosing(items):
                async for item in items:
                    ready.put_nowait(item)
        finally:
            ready.put_nowait(None)

    fetching = asyncio.create_task(fetch())
    try:
        with shutdown.ends(fetching):
            while True:
                try:
                    async with asyncio.timeout(HEARTBEAT):
                        item = await ready.get()
                except TimeoutError:
                    yield None
                    continue
                if item is None:
                    break
                yield item
        await asyncio.wait((fetching,))
        _get_result(fetching)
    finally:
        fetching.cancel()
        # Shielded, because this wait is cancelled repeatedly when the client disconnects, and the task must finish closing its
        # connection to the model. Its error was raised above, or the stream was closed early.
        with suppress(asyncio.CancelledError, Exception):
            await asyncio.shield(fetching)


async def unless_gone(connection: ClientConnection, work: Coroutine[Any, Any, T]) -> T:
    """The result of the work. Cancels the work when the client disconnects."""
    working = asyncio.create_task(work)
    gone = asyncio.create_task(connection.wait_until_gone())
    try:
        with connection.shutdown.ends(working):
            await asyncio.wait((working, gone), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise BadInput("The client disconnected before the answer was complete")
        return _get_result(working)
    finally:
        working.cancel()
        gone.cancel()


def _get_result(call: asyncio.Task[T]) -> T:
    """Raises `ServerStopping` if the shutdown cancelled the task."""
    if call.cancelled():
        raise ServerStopping
    return call.result()


async def file_response(
    parts: AsyncGenerator[bytes, None], headers: Mapping[str, str], *, status: int = 200
) -> StreamingResponse:
    """Streams a file. An error before the first part gets its own status."""
    read = [await anext(parts, b"")]

    async def content() -> AsyncGenerator[bytes, None]:
        yield read.pop()
        async for part in parts:
            yield part

    return _Streamed(content(), parts, headers, status=status)


async def changes(
    app: App, job_id: UUID, connection: ClientConnection, until: float = inf
) -> AsyncGenerator[Job, None]:
    """Yields the job after each change, until it ends, the time is up, the client disconnects or the server stops.

    Polls the database, because a job may run in any process on any machine.
    """
    last: Job | None = None
    pause = _PAUSE
    while True:
        job = await app.store.jobs.get(job_id)
        pause = min(pause * 1.5, _LONGEST_PAUSE) if job == last else _PAUSE
        if job != last:
            yield job
        last = job
        is_over = job.status not in OPEN or monotonic() > until
        if is_over or connection.shutdown.begun or await connection.is_gone():
            return
        await asyncio.sleep(pause)


def deadline() -> float:
    return monotonic() + PATIENCE


async def ended(app: App, job_id: UUID, connection: ClientConnection, until: float) -> Job:
    """The job after its last change, see `changes`."""
    return [job async for job in changes(app, job_id, connection, until)][-1]
