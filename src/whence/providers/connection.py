"""An endpoint that speaks OpenAI's protocol: requests to it, and its failures as our errors.

httpx instead of the openai SDK: endpoints differ in what they accept, refuse and answer, so requests, retries and
answers are handled here either way, and importing the SDK takes a second.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, NamedTuple

import httpx

from whence import __version__
from whence.errors import WhenceError
from whence.providers.retries import may_pass, wait_after
from whence.settings import Secret

NOT_UNDERSTOOD = (HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY)
"""The status of endpoints for a parameter that they do not know."""
ENDPOINT_ERRORS = (TimeoutError, httpx.HTTPError, httpx.InvalidURL)
"""Errors of a request, for `EndpointConnection.failure`."""
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
    too_long: str
    """The part of a request that may be too long."""
    too_long_setting: str
    unavailable: type[WhenceError]
    timeout: type[WhenceError]
    refused: type[WhenceError]


class EndpointFailure(NamedTuple):
    """A failed request: the error to raise, and the facts that decide whether to send it again."""

    error: WhenceError
    status: int | None = None
    retry_after: str | None = None
    words: str = ""
    """The endpoint's message. It may repeat the key or the texts, and is never shown."""


class EndpointConnection:
    """Opens its client at the first request: a client loads all certificates of the machine."""

    def __init__(self, kind: Kind, *, base_url: str, api_key: Secret | None, timeout: float) -> None:
        self._kind = kind
        self._base_url = base_url
        self._api_key = api_key
        self._timeout = timeout
        self._opening = asyncio.Lock()
        self._client: httpx.AsyncClient | None = None

    @property
    def where(self) -> str:
        """Without the query, which may hold a key."""
        return self._base_url.partition("?")[0]

    @asynccontextmanager
    async def post(self, path: str, body: Mapping[str, Any]) -> AsyncIterator[httpx.Response]:
        """The response, its body not yet read; raises one of ENDPOINT_ERRORS, also for a status that is no success."""
        client = await self._open()
        base = httpx.URL(self._base_url)
        url = base.copy_with(path=base.path.rstrip("/") + path)
        async with client.stream("POST", url, json=body) as response:
            if not response.is_success:
                await response.aread()
                response.raise_for_status()
            yield response

    async def aclose(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def failure(self, exc: Exception) -> EndpointFailure:
        """One of ENDPOINT_ERRORS as our error."""
        name = self._kind.name
        if isinstance(exc, httpx.HTTPStatusError):
            return self._refusal(exc.response)
        if isinstance(exc, TimeoutError | httpx.TimeoutException):
            said = f"The {name} endpoint did not answer within {self._timeout:g} s"
            return EndpointFailure(self._kind.timeout(said))
        what = "cannot be reached" if isinstance(exc, _NO_CONNECTION) else "broke off its answer"
        error = self._kind.unavailable(f"The {name} endpoint {what}")
        error.__cause__ = exc
        return EndpointFailure(error)

    def _refusal(self, response: httpx.Response) -> EndpointFailure:
        """Leaves out httpx's exception, which repeats the URL, and the endpoint's message, which may repeat the key."""
        status = response.status_code
        self._log_words(status, response.text)
        kind = self._kind
        if may_pass(status):
            error = kind.unavailable(f"The {kind.name} endpoint answered {status}")
        elif status in _ABOUT_THE_KEY:
            given = "was refused" if self._api_key else "is needed and not set"
            error = kind.refused(
                f"The key for the {kind.name} endpoint {given} ({status}): see {kind.prefix}API_KEY"
            )
        elif status == HTTPStatus.NOT_FOUND:
            error = kind.refused(
                f"The {kind.name} endpoint knows no such address or model (404): see {kind.prefix}BASE_URL "
                f"and {kind.prefix}MODEL"
            )
        else:
            error = kind.refused(
                f"The {kind.name} endpoint refused the request ({status}): perhaps a key or a model that it does not know, "
                f"or {kind.too_long} too long for the model; see {kind.prefix}API_KEY, _MODEL and "
                f"{kind.too_long_setting}"
            )
        error.details["status"] = status
        return EndpointFailure(error, status, response.headers.get("retry-after"), response.text)

    def _log_words(self, status: int, words: str) -> None:
        """At debug level only, as an endpoint may repeat the texts of the request."""
        if status not in _ABOUT_THE_KEY:
            secret = self._api_key.reveal() if self._api_key else ""
            shown = words.replace(secret, "…") if secret else words
            _log.debug("The %s endpoint answered %d: %r", self._kind.name, status, shown[:_EXCERPT])

    async def _open(self) -> httpx.AsyncClient:
        async with self._opening:
            if self._client is None:
                self._client = await asyncio.to_thread(self._new_client)
            return self._client

    def _new_client(self) -> httpx.AsyncClient:
        headers = {"User-Agent": f"whence/{__version__}"}
        if self._api_key is not None:
            headers["Authorization"] = f"Bearer {self._api_key.reveal()}"
        return httpx.AsyncClient(
            headers=headers,
            # Callers limit the time for the answer themselves.
            timeout=httpx.Timeout(None, connect=min(self._timeout, _CONNECT_SECONDS)),
            limits=httpx.Limits(max_connections=None),
            follow_redirects=True,
        )


async def wait_or_raise(failure: EndpointFailure, *, attempt: int, limit: int, backoff: float) -> None:
    """Wait until the next attempt; raise the error when no attempt is left."""
    if attempt >= limit:
        failure.error.details["attempts"] = attempt
        raise failure.error
    seconds = wait_after(attempt, retry_after=failure.retry_after, backoff=backoff)
    _log.info("Attempt %d of %d: %s; the next in %.1f s", attempt, limit, failure.error.message, seconds)
    await asyncio.sleep(seconds)
