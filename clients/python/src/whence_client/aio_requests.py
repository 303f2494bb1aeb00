"""Sends requests of the asynchronous client. `requests.py`, for the synchronous one, is generated from this module."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Self

import httpx

from whence_client.connection import (
    Place,
    explain,
    has_cursor,
    path_of,
    read_answer,
    require_ok,
    without_none,
)
from whence_client.events import EventDecoder
from whence_client.retries import pause_after_status, pause_before

_PAGE = 100


class AsyncRequests:
    """One server and its open connections."""

    def __init__(
        self,
        place: Place,
        *,
        timeout: float,
        retries: int,
        headers: Mapping[str, str],
        transport: httpx.AsyncBaseTransport | None,
    ) -> None:
        self.url = place.url
        self._retries = retries
        self._http = httpx.AsyncClient(transport=transport, **place.options(timeout))
        self._http.headers.update(headers)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        await self._http.aclose()

    async def request(
        self, method: str, path: str, *, idempotent: bool = False, has: Sequence[str] = (), **options: Any
    ) -> Any:
        """The `data` of any route below `/api/v1`.

        `options` are those of httpx; null values of `json` are left out. `idempotent`: it may be sent twice. `has`: the
        fields without which the answer is not one of Whence.
        """
        async with self._open(method, path, idempotent=idempotent, **options) as answer:
            try:
                await answer.aread()
            except httpx.HTTPError as exc:
                raise explain(exc, self.url) from exc
            return read_answer(answer, self.url, has)

    async def stream_bytes(self, method: str, path: str, **options: Any) -> AsyncIterator[bytes]:
        """The body of an answer as it comes in."""
        async with self._open(method, path, **options) as answer:
            try:
                async for part in answer.aiter_bytes():
                    yield part
            except httpx.HTTPError as exc:
                raise explain(exc, self.url) from exc

    async def events(self, method: str, path: str, **options: Any) -> AsyncIterator[tuple[str, Any]]:
        """The server-sent events of an answer: name and JSON. Raises the error of the event `error`."""
        decoder = EventDecoder()
        async for part in self.stream_bytes(method, path, **options):
            for event in decoder.feed(part):
                yield event

    async def items(self, path: str, **query: Any) -> AsyncIterator[Any]:
        """All items of a list, fetched page by page: after the last item where the route allows it, else by offset."""
        given: dict[str, Any] = {"limit": _PAGE, **without_none(query)}
        count = 0
        while True:
            page = await self.request("GET", path, params=given, has=("items", "pagination"))
            for item in page["items"]:
                yield item
            count += len(page["items"])
            if not page["items"] or not page["pagination"]["has_more"]:
                return
            given |= {"after": page["items"][-1]["id"]} if has_cursor(path) else {"offset": count}

    @asynccontextmanager
    async def _open(
        self, method: str, path: str, *, idempotent: bool = False, **options: Any
    ) -> AsyncIterator[httpx.Response]:
        """A successful answer, its body still to come; sent again as often as is allowed."""
        if options.get("json") is not None:
            options["json"] = without_none(options["json"])
        answer = await self._send(method, path_of(path), is_safe=idempotent or method == "GET", **options)
        try:
            if not answer.is_success:
                try:
                    await answer.aread()
                except httpx.HTTPError as exc:
                    raise explain(exc, self.url) from exc
                require_ok(answer, self.url)
            yield answer
        finally:
            await answer.aclose()

    async def _send(self, method: str, path: str, *, is_safe: bool, **options: Any) -> httpx.Response:
        for attempt in range(1, self._retries + 2):
            is_last = attempt > self._retries
            request = self._http.build_request(method, path, **options)
            try:
                answer = await self._http.send(request, stream=True)
            except httpx.HTTPError as exc:
                never_sent = isinstance(exc, httpx.ConnectError | httpx.ConnectTimeout)
                if is_last or not (is_safe or never_sent):
                    raise explain(exc, self.url) from exc
                await asyncio.sleep(pause_before(attempt))
                continue
            pause = pause_after_status(
                answer.status_code, answer.headers, attempt=attempt, idempotent=is_safe
            )
            if is_last or pause is None:
                return answer
            await answer.aclose()
            await asyncio.sleep(pause)
        raise AssertionError("the last attempt returns or raises")
