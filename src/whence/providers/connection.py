"""An endpoint that speaks OpenAI's protocol: the client for it, and its failures in our words.

Of the SDK only its client is used. It neither retries nor reads answers here: endpoints differ in both, and
each difference is handled where it can be tested.
"""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NamedTuple

from whence.errors import WhenceError
from whence.providers.retries import may_pass, wait_after
from whence.settings import Secret

if TYPE_CHECKING:
    import openai

NOT_UNDERSTOOD = (HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY)
"""What endpoints answer to a parameter that they do not know."""
_ABOUT_THE_KEY = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
_CONNECT_SECONDS = 10.0
_EXCERPT = 300

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What an endpoint is asked for, and how its failures are told."""

    name: str
    prefix: str
    """That of its settings."""
    too_long: str
    """What was too long, if something was."""
    too_long_setting: str
    unavailable: type[WhenceError]
    timeout: type[WhenceError]
    refused: type[WhenceError]


class Failure(NamedTuple):
    """A request that was not answered as it should be: what to raise, and what to know before sending it again."""

    error: WhenceError
    status: int | None = None
    retry_after: str | None = None
    words: str = ""
    """The endpoint's own. They may repeat the key or the texts, and are never shown."""


class TransportError(Exception):
    """The connection failed while an answer was read"""


@contextmanager
def foreign() -> Iterator[None]:
    """Around calls of the SDK and nothing else; raises OpenAIError, TimeoutError or TransportError.

    The SDK wraps what its transport raises while it waits for an answer, but not what it raises while one is read; and
    which library the transport is differs from version to version, so that its errors have no name to catch them by.
    """
    import openai  # noqa: PLC0415 - loaded by now, in a thread

    try:
        yield
    except (TimeoutError, openai.OpenAIError):
        raise
    except Exception as exc:
        raise TransportError from exc


class Connection:
    """Opened when it is first needed, as importing the SDK takes a second."""

    def __init__(self, kind: Kind, *, base_url: str, api_key: Secret | None, timeout: float) -> None:
        self._kind = kind
        self._base_url = base_url
        self._api_key = api_key
        self._timeout = timeout
        self._connecting = asyncio.Lock()
        self._client: openai.AsyncOpenAI | None = None

    @property
    def where(self) -> str:
        """Without the query: keys are written there."""
        return self._base_url.partition("?")[0]

    async def client(self) -> "openai.AsyncOpenAI":
        async with self._connecting:
            if self._client is None:
                self._client = await asyncio.to_thread(self._connect)
            return self._client

    def headers(self) -> dict[str, Any]:
        """For every request: what the SDK would take from OPENAI_* variables is left out, as settings come from one place."""
        import openai  # noqa: PLC0415 - loaded by now, in a thread

        without = ["OpenAI-Organization", "OpenAI-Project"]
        if self._api_key is None:
            without.append("Authorization")
        return {name: openai.Omit() for name in without}

    async def aclose(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def failure(self, exc: Exception) -> Failure:
        """What a call in `foreign` raised, in our words."""
        import openai  # noqa: PLC0415 - loaded by now, in a thread

        if isinstance(exc, openai.APIStatusError):
            return self._refusal(exc)
        if isinstance(exc, TimeoutError | openai.APITimeoutError):
            return Failure(
                self._kind.timeout(
                    f"The {self._kind.name} endpoint did not answer within {self._timeout:g} s"
                )
            )
        what = "broke off its answer" if isinstance(exc, TransportError) else "cannot be reached"
        error = self._kind.unavailable(f"The {self._kind.name} endpoint {what}")
        error.__cause__ = exc
        return Failure(error)

    def _refusal(self, exc: "openai.APIStatusError") -> Failure:
        """Not chained to the SDK's exception: that repeats what the endpoint said, and some repeat the key."""
        status, words = exc.status_code, exc.response.text
        self._log_words(status, words)
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
        return Failure(error, status, exc.response.headers.get("retry-after"), words)

    def _log_words(self, status: int, words: str) -> None:
        """For who looks for the reason; not by default, as an endpoint may repeat the texts it was sent."""
        if status not in _ABOUT_THE_KEY:
            secret = self._api_key.reveal() if self._api_key else ""
            shown = words.replace(secret, "…") if secret else words
            _log.debug("The %s endpoint answered %d: %r", self._kind.name, status, shown[:_EXCERPT])

    def _connect(self) -> "openai.AsyncOpenAI":
        import openai  # noqa: PLC0415 - in a thread

        return openai.AsyncOpenAI(
            base_url=self._base_url,
            api_key=self._api_key.reveal() if self._api_key else "none",
            # Only that: for how long an answer is waited, its reader knows.
            timeout=openai.Timeout(None, connect=min(self._timeout, _CONNECT_SECONDS)),
            max_retries=0,
        )


async def wait_or_raise(failure: Failure, *, attempt: int, limit: int, backoff: float) -> None:
    """Until it may be tried again; raises the failure where no attempt is left."""
    if attempt >= limit:
        failure.error.details["attempts"] = attempt
        raise failure.error
    seconds = wait_after(attempt, retry_after=failure.retry_after, backoff=backoff)
    _log.info("Attempt %d of %d: %s; the next in %.1f s", attempt, limit, failure.error.message, seconds)
    await asyncio.sleep(seconds)
