"""`fetch`: follows redirects within one deadline and checks every hop."""

import asyncio
import logging
import time
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from whence.errors import FetchTimeout, URLRefused
from whence.fetch import names
from whence.fetch.addresses import Allowed
from whence.fetch.answers import answer
from whence.fetch.body import write
from whence.fetch.targets import Target, failed, parse, refused, resolve
from whence.settings import Settings

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchRules:
    """Allowed targets, and limits on size, time and redirects."""

    allow: Allowed = field(default_factory=Allowed)
    max_bytes: int = 100 << 20
    """Maximum size of the body, packed and unpacked."""
    seconds: float = 60.0
    """Deadline for everything: look-ups, redirects and the body."""
    redirects: int = 5

    @classmethod
    def of(cls, settings: Settings) -> "FetchRules":
        return cls(
            allow=Allowed.of(settings.fetch_allow),
            max_bytes=settings.fetch_max_mb << 20,
            seconds=settings.fetch_seconds,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    url: str
    """After redirects, without a fragment."""
    name: str
    content_type: str | None
    """The header: `text/html; charset=…`."""
    etag: str | None
    last_modified: str | None
    size: int
    sha256: bytes


async def fetch(
    url: str, *, into: Path, rules: FetchRules, etag: str | None = None, last_modified: str | None = None
) -> Fetched | None:
    """Downloads the URL into the file `into`; a failed download leaves no file.

    `etag` and `last_modified` are those of an earlier `Fetched`; None if the server says that it is still current.
    """
    started = time.monotonic()
    first = parse(url)
    pairs = {"If-None-Match": etag, "If-Modified-Since": last_modified}
    conditions = {name: value for name, value in pairs.items() if value}
    try:
        async with asyncio.timeout(rules.seconds):
            result = await _follow(first, into, rules, conditions)
    except TimeoutError as exc:
        details = {"host": first.host, "reason": "deadline", "seconds": rules.seconds}
        words = f"Fetching from {first.host} took longer than {rules.seconds:g} seconds"
        raise FetchTimeout(words, details=details) from exc
    except URLRefused as exc:
        logger.warning("did not fetch %s: %s", _without_query(first), exc.details["reason"])
        raise
    size = result.size if result else 0
    logger.info("fetched %s: %d bytes in %.1f s", _without_query(first), size, time.monotonic() - started)
    return result


async def _follow(
    url: httpx.URL, into: Path, rules: FetchRules, conditions: dict[str, str]
) -> Fetched | None:
    for _ in range(rules.redirects + 1):
        target = await resolve(url, rules.allow)
        async with answer(target, conditions) as response:
            if not response.has_redirect_location:
                return await _take(response, target, into, rules, conditions)
            url = _next(response, url)
    raise failed(url.host, "redirects", f"{url.host} redirects more than {rules.redirects} times")


async def _take(
    response: httpx.Response, target: Target, into: Path, rules: FetchRules, conditions: dict[str, str]
) -> Fetched | None:
    status, host = response.status_code, target.host
    if status == httpx.codes.NOT_MODIFIED and conditions:
        return None
    # Not every 2xx has a document: 202 promises one, 204 is empty, 206 is a part.
    if status not in {httpx.codes.OK, httpx.codes.NON_AUTHORITATIVE_INFORMATION}:
        raise failed(host, "status", f"{host} answered {status}", status=status)
    size, sha256 = await write(response, into, host=host, max_bytes=rules.max_bytes)
    return Fetched(
        url=str(target.url),
        name=names.file_name(response.headers, target.url),
        content_type=names.plain_header(response.headers, "content-type"),
        etag=names.plain_header(response.headers, "etag"),
        last_modified=names.plain_header(response.headers, "last-modified"),
        size=size,
        sha256=sha256,
    )


def _next(response: httpx.Response, url: httpx.URL) -> httpx.URL:
    following = parse(str(url.join(response.headers["location"])))
    if url.scheme == "https" and following.scheme == "http":
        # Over http, the document could be changed in transit.
        raise refused(following.host, "a redirect from https to http")
    return following


def _without_query(url: httpx.URL) -> str:
    """For the log, without the query, which may hold a token."""
    return str(url.copy_with(query=None))
