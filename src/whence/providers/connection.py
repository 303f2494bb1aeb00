"""An endpoint that speaks OpenAI's protocol: requests to it, and its failures as our errors.

httpx instead of the openai SDK: endpoints differ in requests, errors and answers, so requests, retries and
answers are handled here either way, and importing the SDK takes a second.
"""

import asyncio
import logging
import math
import random
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any, ClassVar, NamedTuple

import httpx

from whence import __version__
from whence.errors import WhenceError
from whence.settings import Secret

NOT_UNDERSTOOD = (HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY)
"""The status of endpoints for a parameter that they do not know."""
ENDPOINT_ERRORS = (WhenceError, TimeoutError, httpx.HTTPError, httpx.InvalidURL)
"""Errors of a request and of reading its answer, for `Endpoint.failure`."""
LONGEST_WAIT = 60.0
"""Seconds. An endpoint that asks for a longer wait gets its next request after this."""
_LONGEST_BACKOFF = 20.0
_INVALID_ATTEMPTS = 2
_WORTH_ANOTHER_TRY = {
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.CONFLICT,  # some gateways answer this when they could not get a lock
    HTTPStatus.TOO_EARLY,
    HTTPStatus.TOO_MANY_REQUESTS,
}
_NO_CONNECTION = (httpx.ConnectError, httpx.ProxyError, httpx.UnsupportedProtocol, httpx.InvalidURL)
_ABOUT_THE_KEY = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
_CONNECT_SECONDS = 10.0
_EXCERPT = 300

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """The kind of endpoint, and the errors for its failures."""

    name: str
    prefix: str
    """The prefix of its settings."""
    unavailable: type[WhenceError]
    timeout: type[WhenceError]
    refused: type[WhenceError]
    invalid: type[WhenceError]


class EndpointFailure(NamedTuple):
    """A failed request: the error to raise, and the facts that decide whether to send it again."""

    error: WhenceError
    status: int | None = None
    retry_after: str | None = None
    words: str = ""
    """The endpoint's message. It may repeat the key or the texts, and is never shown."""


@dataclass(kw_only=True, eq=False)
class Endpoint:
    """The base of embedders and chat models. Opens its client at the first request: a client loads all certificates."""

    kind: ClassVar[Kind]
    provider = "openai"

    base_url: str
    api_key: Secret | None
    model: str
    timeout: float
    attempts: int
    backoff: float = 0.5
    """The pause in seconds after the first failure; each further failure doubles it."""
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    _client: httpx.AsyncClient | None = field(default=None, init=False)

    @property
    def where(self) -> str:
        """Without the query, which may hold a key."""
        return self.base_url.partition("?")[0]

    async def post(self, path: str, body: Mapping[str, Any]) -> AsyncGenerator[bytes, None]:
        """The bytes of the answer; raises one of ENDPOINT_ERRORS, also for a status that is no success."""
        async with self._opening:
            if self._client is None:
                self._client = await asyncio.to_thread(self._make_client)
            client = self._client
        base = httpx.URL(self.base_url)
        url = base.copy_with(path=base.path.rstrip("/") + path)
        async with client.stream("POST", url, json=body) as response:
            if not response.is_success:
                await response.aread()
                response.raise_for_status()
            async for chunk in response.aiter_bytes():
                yield chunk

    async def aclose(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def failure(self, exc: Exception) -> EndpointFailure:
        """One of ENDPOINT_ERRORS as our error."""
        name = self.kind.name
        if isinstance(exc, WhenceError):
            return EndpointFailure(exc)
        if isinstance(exc, httpx.HTTPStatusError):
            return self._build_refusal(exc.response)
        if isinstance(exc, TimeoutError | httpx.TimeoutException):
            message = f"The {name} endpoint did not answer within {self.timeout:g} s"
            return EndpointFailure(self.kind.timeout(message))
        what = "cannot be reached" if isinstance(exc, _NO_CONNECTION) else "broke off its answer"
        error = self.kind.unavailable(f"The {name} endpoint {what}")
        error.__cause__ = exc
        return EndpointFailure(error)

    async def wait_or_raise(self, failure: EndpointFailure, attempt: int) -> None:
        """Wait until the next attempt; raise the error when no attempt is left."""
        limit = self._limit(failure.error)
        if attempt >= limit:
            failure.error.details["attempts"] = attempt
            raise failure.error
        seconds = wait_after(attempt, retry_after=failure.retry_after, backoff=self.backoff)
        _log.info("Attempt %d of %d: %s; the next in %.1f s", attempt, limit, failure.error.message, seconds)
        await asyncio.sleep(seconds)

    def _limit(self, error: WhenceError) -> int:
        """The number of attempts. One after a refusal, or where a timeout is an error of its own: it took long already."""
        kind = self.kind
        if isinstance(error, kind.invalid):
            return min(self.attempts, _INVALID_ATTEMPTS)
        takes_long = kind.timeout is not kind.unavailable and isinstance(error, kind.timeout)
        return self.attempts if isinstance(error, kind.unavailable) and not takes_long else 1

    def _build_refusal(self, response: httpx.Response) -> EndpointFailure:
        """Leaves out httpx's exception, which repeats the URL, and the endpoint's message, which may repeat the key."""
        status, words, kind = response.status_code, response.text, self.kind
        error, name, prefix = kind.refused, f"{kind.name} endpoint", kind.prefix
        if status in _ABOUT_THE_KEY:
            given = "was refused" if self.api_key else "is needed and not set"
            message = f"The key for the {name} {given} ({status}): see {prefix}API_KEY"
        else:
            # At debug level only, as an endpoint may repeat the texts of the request.
            shown = words.replace(self.api_key.reveal(), "…") if self.api_key else words
            _log.debug("The %s answered %d: %r", name, status, shown[:_EXCERPT])
            settings = f"{prefix}BASE_URL, _API_KEY and _MODEL, and the length of the texts"
            message = f"The {name} refused the request ({status}): check {settings}"
        if may_pass(status):
            error, message = kind.unavailable, f"The {name} answered {status}"
        retry_after = response.headers.get("retry-after")
        return EndpointFailure(error(message, details={"status": status}), status, retry_after, words)

    def _make_client(self) -> httpx.AsyncClient:
        headers = {"User-Agent": f"whence/{__version__}"}
        if self.api_key is not None:
            headers["Authorization"] = f"Bearer {self.api_key.reveal()}"
        return httpx.AsyncClient(
            headers=headers,
            # Callers limit the time for the answer themselves.
            timeout=httpx.Timeout(None, connect=min(self.timeout, _CONNECT_SECONDS)),
            limits=httpx.Limits(max_connections=None),
            follow_redirects=True,
        )


def may_pass(status: int) -> bool:
    """Whether the same request may succeed later."""
    return status in _WORTH_ANOTHER_TRY or status >= HTTPStatus.INTERNAL_SERVER_ERROR


def wait_after(failures: int, *, retry_after: str | None, backoff: float) -> float:
    """Seconds to wait: as the endpoint asks, or twice as long after each failure, with jitter."""
    asked = _parse_seconds(retry_after) if retry_after else None
    if asked is not None:
        return min(asked, LONGEST_WAIT)
    longest = min(math.ldexp(backoff, failures - 1), _LONGEST_BACKOFF)
    return longest * random.uniform(0.5, 1)


def _parse_seconds(retry_after: str) -> float | None:
    """`Retry-After` is seconds or a date; None when it is neither."""
    text = retry_after.strip()
    if text.isascii() and text.replace(".", "", 1).isdigit():
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    if moment.tzinfo is None:  # "-0000": UTC, origin unknown
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
