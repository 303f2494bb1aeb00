"""Server-sent events: answers that come in pieces. They end well, or with an error that is told; never silently."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from contextlib import aclosing, suppress
from typing import Any, TypeVar

from fastapi import Request
from fastapi.responses import StreamingResponse

from whence.errors import BadInput, WhenceError
from whence.logs import request_id
from whence.web.answer import encode, failure
from whence.web.errors import EXPECTED, answer_to

log = logging.getLogger("whence.web")

T = TypeVar("T")
Tell = Callable[[T], list[bytes]]

_BREATH = 15.0  # between two signs of life to a client that waits, and to what stands between
_ALIVE = b": still there\n\n"


def event(name: str, content: Any) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), encode(content))


async def streamed(
    request: Request,
    items: AsyncGenerator[T, None],
    tell: Tell[T],
    *,
    error: Callable[[bytes], bytes],
    end: bytes = b"",
) -> StreamingResponse:
    """Each item as `tell` puts it, then `end`; or the error, as `error` puts its JSON.

    The first item is waited for before anything is sent: what fails before it is answered with its own status.
    """
    paced = _paced(items)
    first = await _first(paced)

    async def body() -> AsyncIterator[bytes]:
        async with aclosing(paced):
            try:
                for part in tell(first):
                    yield part
                async for item in paced:
                    for part in [_ALIVE] if item is None else tell(item):
                        yield part
                if end:
                    yield end
            except EXPECTED as exc:
                yield error(bytes(answer_to(request, exc).body))
            except Exception:  # the unit of work ends here: log it all, tell the client nothing of it
                log.exception("A stream crashed")
                yield error(bytes(failure(WhenceError(details={"request_id": request_id.get()})).body))

    return StreamingResponse(
        body(),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


async def _first(paced: AsyncGenerator[T | None, None]) -> T:
    try:
        while (item := await anext(paced)) is None:
            continue
    except BaseException:
        await paced.aclose()
        raise
    return item


async def _paced(items: AsyncGenerator[T, None]) -> AsyncGenerator[T | None, None]:
    """The items; None each time that none has come for a while. Closed early, it ends whoever makes them."""
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
        while True:
            try:
                async with asyncio.timeout(_BREATH):
                    item = await ready.get()
            except TimeoutError:
                yield None
                continue
            if item is None:
                break
            yield item
        await fetching
    finally:
        fetching.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await fetching  # what it raised was raised above, or nobody waits for it


async def unless_gone(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """What comes of the work. It ends when the client goes away, who cannot be told any more."""
    working = asyncio.create_task(work)
    gone = asyncio.create_task(_gone(request))
    try:
        await asyncio.wait((working, gone), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise BadInput("The client went away before the answer was complete")
        return working.result()
    finally:
        working.cancel()
        gone.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        continue
