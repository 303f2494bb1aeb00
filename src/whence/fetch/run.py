"""`fetch`: follows redirects within one deadline and checks every hop."""

import asyncio
import logging
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import httpx

from whence.errors import FetchFailed, FetchTimeout, URLRefused
from whence.fetch import names
from whence.fetch.addresses import Allowed
from whence.fetch.answers import answer
from whence.fetch.body import unpack, write
from whence.fetch.rules import Fetched, FetchRules
from whence.fetch.targets import Target, failed, parse, refused, resolve

logger = logging.getLogger(__name__)


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


async def post(url: str, body: bytes, *, headers: Mapping[str, str], allow: Allowed, max_bytes: int) -> bytes:
    """Posts JSON and returns the body of the answer. Follows no redirect. The caller sets the deadline."""
    target = await resolve(parse(url), allow)
    async with answer(target, headers, post=body) as response:
        if response.status_code != httpx.codes.OK:
            status = response.status_code
            raise failed(target.host, "status", f"{target.host} answered {status}", status=status)
        return b"".join([piece async for piece in unpack(response, target.host, max_bytes)])


async def check(url: str, allow: Allowed) -> None:
    """Raises `URLRefused` for a URL that would not be fetched. A name that is unknown now may be known later."""
    with suppress(FetchFailed):
        await resolve(parse(url), allow)


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
