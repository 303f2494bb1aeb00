"""What both clients share: the address and key of the server, and reading its answers."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote, urlsplit
from uuid import UUID

import httpx

from whence_client.errors import NoAnswer, TimedOut, UnexpectedAnswer, WhenceClientError, api_error
from whence_client.retries import retry_after
from whence_client.types import CURSORS

DEFAULT_URL = "http://127.0.0.1:8420"
DEFAULT_TIMEOUT = 300.0
"""Seconds of silence; a model may take this long for an answer."""

DEFAULT_RETRIES = 3

_CONNECT_SECONDS = 10.0
_FIRST_ERROR = 300
_API = "/api/v1"
_ID = re.compile(r"(?<=/)[0-9a-fA-F-]{36}(?=/|$)")


@dataclass(frozen=True, slots=True)
class Place:
    """A server and the key to it. The key is in no repr."""

    url: str
    key: str | None = field(repr=False)

    @classmethod
    def of(cls, url: str | None, key: str | None) -> "Place":
        """What is not given comes from WHENCE_URL and WHENCE_API_KEY."""
        address = (url or os.environ.get("WHENCE_URL") or DEFAULT_URL).strip().rstrip("/")
        try:
            parts = urlsplit(address)
            is_address = (
                parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
            )
        except ValueError:
            is_address = False
        if not is_address:
            raise ValueError(f"{address!r} is not the address of a server, such as https://kb.example.com")
        found = (key or os.environ.get("WHENCE_API_KEY") or "").strip()
        if not (found.isascii() and found.isprintable()):
            raise ValueError("An API key has visible ASCII characters only")
        return cls(address.removesuffix(_API), found or None)

    def options(self, timeout: float) -> dict[str, Any]:
        """Options of a client of httpx. Redirects are not followed: the key belongs to this server only."""
        return {
            "base_url": self.url,
            "headers": {"Authorization": f"Bearer {self.key}"} if self.key else {},
            "timeout": httpx.Timeout(timeout, connect=min(timeout, _CONNECT_SECONDS)),
            "follow_redirects": False,
        }


def path_of(path: str) -> str:
    """Paths are those below `/api/v1`."""
    return path if path.startswith(_API) else _API + path


def segment(ident: str) -> str:
    """An id as one part of a path, whatever is in it."""
    return quote(ident, safe="", errors="replace")


def has_cursor(path: str) -> bool:
    """Whether the list takes `after`."""
    return _ID.sub("{}", path) in CURSORS


def without_none(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value is not None}


def is_id(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def explain(exc: httpx.HTTPError, url: str) -> WhenceClientError:
    """The exception of this package for one of httpx."""
    if isinstance(exc, httpx.TimeoutException):
        return TimedOut(f"{url} did not answer in time")
    if isinstance(exc, httpx.ConnectError):
        return NoAnswer(f"{url} cannot be reached: {exc}")
    if isinstance(exc, httpx.TransportError):
        return NoAnswer(f"The connection to {url} broke: {str(exc) or type(exc).__name__}")
    return UnexpectedAnswer(f"The answer of {url} cannot be read: {exc}")


def require_ok(answer: httpx.Response, url: str) -> None:
    """Raises the error of an answer that is one; its body must have been read."""
    if answer.status_code < _FIRST_ERROR:
        return
    try:
        body = answer.json()
    except ValueError:
        body = None
    known = api_error(body, status=answer.status_code, retry_after=retry_after(answer.headers))
    to = f" to {answer.headers['Location']}" if answer.has_redirect_location else ""
    raise known or UnexpectedAnswer(
        f"{url} answers with HTTP {answer.status_code}{to}, not as a Whence server does; check the address"
    )


def read_answer(answer: httpx.Response, url: str, has: Sequence[str]) -> Any:
    """The JSON of an answer, without its envelope, if it has these fields."""
    require_ok(answer, url)
    try:
        body = answer.json()
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise UnexpectedAnswer(f"{url} does not answer with JSON as a Whence server does; check the address")
    found = body["data"] if body.get("success") is True and "data" in body else body
    require_fields(found, has, f"The answer of {url}")
    return found


def require_fields(found: Any, has: Sequence[str], what: str) -> None:
    """Raises UnexpectedAnswer if a field is missing, or if a list has no objects or no count."""
    listed = {"items": _are_objects, "pagination": _counts}
    is_whole = not has or (isinstance(found, dict) and all(name in found for name in has))
    if is_whole and all(listed[name](found[name]) for name in has if name in listed):
        return
    raise UnexpectedAnswer(
        f"{what} has no valid {', '.join(has)}. The server may be older or newer than this client, or none of Whence."
    )


def _are_objects(items: Any) -> bool:
    return isinstance(items, list) and all(isinstance(one, dict) for one in items)


def _counts(pagination: Any) -> bool:
    return isinstance(pagination, dict) and {"total", "has_more"} <= pagination.keys()


def form_fields(
    metadata: Mapping[str, Any] | None, strategy: str | None, options: Mapping[str, int] | None
) -> dict[str, str | None]:
    """How to describe and cut a document, as fields of a form: objects are JSON."""
    return {
        "metadata": None if metadata is None else json.dumps(metadata),
        "chunkingStrategy": strategy,
        "chunkingOptions": None if options is None else json.dumps(options),
    }


def open_file(file: str | Path | bytes | BinaryIO, name: str | None) -> tuple[str, Any]:
    """The name of a file and what httpx sends of it. Opens a path; its caller closes it."""
    if isinstance(file, str | Path):
        path = Path(file)
        return name or path.name, path.open("rb")
    known = name or getattr(file, "name", None)
    if not isinstance(known, str):
        raise TypeError("Give the name of the file: its ending says what it is")
    return known, file
