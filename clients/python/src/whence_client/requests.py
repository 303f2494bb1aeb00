"""Generated from `aio_requests.py` by `make client`; do not edit."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
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


class Requests:
    """One server and its open connections."""

    def __init__(
        self,
        place: Place,
        *,
        timeout: float,
        retries: int,
        headers: Mapping[str, str],
        transport: httpx.BaseTransport | None,
    ) -> None:
        self.url = place.url
        self._retries = retries
        self._http = httpx.Client(transport=transport, **place.options(timeout))
        self._http.headers.update(headers)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def request(
        self, method: str, path: str, *, idempotent: bool = False, has: Sequence[str] = (), **options: Any
    ) -> Any:
        """The `data` of any route below `/api/v1`.

        `options` are those of httpx; null values of `json` are left out. `idempotent`: it may be sent twice. `has`: the
        fields without which the answer is not one of Whence.
        """
        with self._open(method, path, idempotent=idempotent, **options) as answer:
            try:
                answer.read()
            except httpx.HTTPError as exc:
                raise explain(exc, self.url) from exc
            return read_answer(answer, self.url, has)

    def stream_bytes(self, method: str, path: str, **options: Any) -> Iterator[bytes]:
        """The body of an answer as it comes in."""
        with self._open(method, path, **options) as answer:
            try:
                for part in answer.iter_bytes():
                    yield part
            except httpx.HTTPError as exc:
                raise explain(exc, self.url) from exc

    def events(self, method: str, path: str, **options: Any) -> Iterator[tuple[str, Any]]:
        """The server-sent events of an answer: name and JSON. Raises the error of the event `error`."""
        decoder = EventDecoder()
        for part in self.stream_bytes(method, path, **options):
            for event in decoder.feed(part):
                yield event

    def items(self, path: str, **query: Any) -> Iterator[Any]:
        """All items of a list, fetched page by page: after the last item where the route allows it, else by offset."""
        given: dict[str, Any] = {"limit": _PAGE, **without_none(query)}
        count = 0
        while True:
            page = self.request("GET", path, params=given, has=("items", "pagination"))
            for item in page["items"]:
                yield item
            count += len(page["items"])
            if not page["items"] or not page["pagination"]["has_more"]:
                return
            given |= {"after": page["items"][-1]["id"]} if has_cursor(path) else {"offset": count}

    @contextmanager
    def _open(
        self, method: str, path: str, *, idempotent: bool = False, **options: Any
    ) -> Iterator[httpx.Response]:
        """A successful answer, its body still to come; sent again as often as is allowed."""
        if options.get("json") is not None:
            options["json"] = without_none(options["json"])
        answer = self._send(method, path_of(path), is_safe=idempotent or method == "GET", **options)
        try:
            if not answer.is_success:
                try:
                    answer.read()
                except httpx.HTTPError as exc:
                    raise explain(exc, self.url) from exc
                require_ok(answer, self.url)
            yield answer
        finally:
            answer.close()

    def _send(self, method: str, path: str, *, is_safe: bool, **options: Any) -> httpx.Response:
        for attempt in range(1, self._retries + 2):
            is_last = attempt > self._retries
            request = self._http.build_request(method, path, **options)
            try:
                answer = self._http.send(request, stream=True)
            except httpx.HTTPError as exc:
                never_sent = isinstance(exc, httpx.ConnectError | httpx.ConnectTimeout)
                if is_last or not (is_safe or never_sent):
                    raise explain(exc, self.url) from exc
                time.sleep(pause_before(attempt))
                continue
            pause = pause_after_status(
                answer.status_code, answer.headers, attempt=attempt, idempotent=is_safe
            )
            if is_last or pause is None:
                return answer
            answer.close()
            time.sleep(pause)
        raise AssertionError("the last attempt returns or raises")
