"""Follows a link to a span of a document, also one that was made under an earlier version."""

import re
from bisect import bisect_right
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal
from urllib.parse import SplitResult, urlsplit
from uuid import UUID

from whence.errors import InvalidParameter, NotFound
from whence.models import Page
from whence.store import Store
from whence.store.versions import OldVersion

Status = Literal["current", "same", "moved", "gone", "unknown"]
"""The state of the linked text: `same` is at the same place in a newer version; of `unknown` the linked version is not kept."""
Span = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkTarget:
    status: Status
    span: Span | None
    """The current place of the text."""
    quote: str | None
    """The text that the link was made for."""
    chunk_id: UUID | None = None
    pages: tuple[Page, ...] = ()


async def follow(
    store: Store, project_id: UUID, document_id: UUID, *, span: Span | None, version: int, current: int
) -> LinkTarget:
    """Find the span that a link names. Raises InvalidParameter if that version has no such span or is not there yet."""
    if not min(1, current) <= version <= current:
        raise InvalidParameter.of("v", provided=version, expected=f"a version from 1 to {current}")
    if span is None:
        return LinkTarget(status="current" if version == current else "same", span=None, quote=None)
    text, pages = await store.documents.content(document_id, project_id=project_id)
    if text is None:
        raise NotFound("The document has no text yet", details={"document_id": str(document_id)})
    old = None if version == current else await store.versions.old(project_id, document_id, version)
    if version != current and old is None:
        return LinkTarget(status="unknown", span=None, quote=None)
    was = text if old is None else old.text
    if span[1] > len(was):
        expected = f"a span inside the text, which has {len(was)} characters"
        raise InvalidParameter.of("span", provided=f"{span[0]}-{span[1]}", expected=expected)
    quote = was[slice(*span)]
    start = span[0]
    status: Status = "current"
    if old is not None:
        start = await _find(store, project_id, old, quote=quote, start=span[0], text=text)
        status = "gone" if start < 0 else "same" if start == span[0] else "moved"
    if start < 0:
        return LinkTarget(status="gone", span=None, quote=quote)
    return LinkTarget(
        status=status,
        span=(start, start + len(quote)),
        quote=quote,
        chunk_id=await store.versions.chunk_at(project_id, document_id, start),
        pages=pages,
    )


async def _find(store: Store, project_id: UUID, old: OldVersion, *, quote: str, start: int, text: str) -> int:
    """Where the quote is now: in the same chunk, else the nearest equal text; -1 if nowhere."""
    place = bisect_right(old.chunk_starts, start) - 1
    if place >= 0:
        begin = await store.versions.chunk_start(project_id, old.chunk_ids[place])
        if begin is not None:
            now = begin + start - old.chunk_starts[place]
            if text.startswith(quote, now):
                return now
    return nearest(quote, text, near=start)


def nearest(quote: str, text: str, *, near: int) -> int:
    """The occurrence of the quote that begins nearest to `near`; -1 if there is none."""
    before, after = text.rfind(quote, 0, near + len(quote)), text.find(quote, near)
    found = [place for place in (before, after) if place >= 0]
    return min(found, key=lambda place: abs(place - near), default=-1)


_PATH = re.compile(r"(?:/[^?#]*)?/(?P<kind>[doac])/(?P<id>[^/?#]+)/?")
_SPAN = re.compile(r"(\d{1,10})-(\d{1,10})")
_DEFAULT_PORT = re.compile(r":(?:80|443)?\Z")
_LOOPBACK = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\])(?=:|\Z)")


def read_link(url: str, *, own: Collection[str]) -> tuple[str, str, str]:
    """Kind, id and query of a link: a path, or an address of one of our `own` hosts. Raises InvalidParameter."""
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = SplitResult("", "", "", "", "")
    found = _PATH.fullmatch(parts.path)
    if found is None or parts.scheme not in {"", "http", "https"} or bool(parts.scheme) > bool(parts.netloc):
        raise InvalidParameter.of(
            "url", provided=url, expected="a link such as /d/<document>?span=120-240&v=1"
        )
    if parts.netloc and _host(parts.netloc) not in set(map(_host, own)):
        expected = (
            f"a link of this server ({', '.join(dict.fromkeys(own))}) or a path, not a link of {parts.netloc}"
        )
        raise InvalidParameter.of("url", provided=url, expected=expected)
    return found["kind"], found["id"], parts.query


def _host(address: str) -> str:
    """Comparable: without a default port, with one name for this machine."""
    return _LOOPBACK.sub("localhost", _DEFAULT_PORT.sub("", address.lower()))


def read_span(given: str) -> Span:
    """Raises InvalidParameter for a span that is empty or reversed."""
    found = _SPAN.fullmatch(given)
    span = (int(found[1]), int(found[2])) if found else (0, 0)
    if span[0] >= span[1]:
        raise InvalidParameter.of("span", provided=given, expected="start-end, such as 120-240")
    return span
