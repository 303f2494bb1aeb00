"""The outermost layer: request ids, the access log, the key, limits on bodies, and the answer to a crash.

Plain ASGI: a framework middleware costs more per request than everything here together.
"""

import asyncio
import itertools
import logging
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import URL

from whence import links
from whence.errors import (
    BadInput,
    Forbidden,
    PayloadTooLarge,
    RequestTimeout,
    ServerBusy,
    Unauthorized,
    WhenceError,
)
from whence.logs import request_id
from whence.settings import Settings
from whence.store.keys import Caller
from whence.web.errors import answer_own
from whence.web.responses import NO_SNIFFING, EncodedJSON, failure
from whence.web.shutdown import Shutdown

ASGIMessage = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[ASGIMessage]]
Send = Callable[[ASGIMessage], Awaitable[None]]
ASGIApp = Callable[[Scope, Receive, Send], Awaitable[None]]
Identify = Callable[[Scope], Awaitable[Caller]]
Record = Callable[[Scope, int], Awaitable[None]]

MAX_BODY = 1024 * 1024
MAX_TEXT = 16 * 1024 * 1024
"""Maximum bytes of a JSON body with a text. It is held in memory; files may be larger."""

MCP = "/mcp"
MCP_METADATA = f"/.well-known/oauth-protected-resource{MCP}"
"""Path of the metadata that tells MCP clients how to send a key (RFC 9728)."""

SHORT_PATHS = frozenset(("/chat", "/ingest/upload", "/ingest/url", "/ingest/text"))
"""Paths that also work without the prefix /api/v1."""

log = logging.getLogger("whence.web")

_REQUEST_ID = re.compile(rb"[A-Za-z0-9._:/+=-]{1,128}")
_LOOPBACK = re.compile(rb"(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?", re.IGNORECASE)
# Only these routes take files or long texts; other bodies are short JSON.
_UPLOADS = re.compile(r"/api/v1/(ingest/upload|documents/[^/]+)")
_TEXTS = re.compile(r"/api/v1/(ingest/text|documents/[^/]+)|/mcp")
_PREVIEW = "/api/v1/chunking/preview"
_FORM_ITSELF = 1024 * 1024  # for the other parts of the form
_REFUSED, _FAILED = 400, 500
_GUARDED = ("/api/v1/", "/v1/", MCP)
_OTHER_ORIGIN = (b"cross-site", b"same-site")
"""Values of `Sec-Fetch-Site`. A page of another port is of the same site, and as foreign."""
_SINGLE = (b"host", b"origin", b"sec-fetch-site", b"authorization", b"x-api-key")
_BODIED = frozenset(("POST", "PUT", "PATCH", "DELETE"))


_process = secrets.token_hex(12)
_count = itertools.count()


def _make_request_id() -> str:
    """Unique, not secret: a random prefix for this process and a request counter."""
    return f"{_process}{next(_count) & 0xFFFFFFFF:08x}"


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyLimits:
    upload: int
    """Maximum bytes of a form with files."""
    memory: int
    """Maximum bytes of all bodies in memory at the same time."""
    seconds: int
    """Maximum pause between two parts of a body, in seconds."""

    @classmethod
    def of(cls, settings: Settings) -> "BodyLimits":
        mb = 1024 * 1024
        return cls(
            upload=settings.max_upload_mb * mb,
            memory=settings.body_memory_mb * mb,
            seconds=settings.body_seconds,
        )


class RequestMiddleware:
    """`identify` finds the caller from the headers, before the body is read. `record` writes requests that may have changed
    something to the audit log, before they are answered. Web pages of `origins` may use a server without keys.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        loopback_only: bool,
        limits: BodyLimits,
        identify: Identify,
        record: Record,
        shutdown: Shutdown,
        link_base: str | None = None,
        origins: Collection[str] = (),
    ) -> None:
        self._app = app
        self._origins = frozenset(origin.encode() for origin in origins)
        self._loopback_only = loopback_only
        self._limits = limits
        self._identify = identify
        self._record = record
        self._open = shutdown.requests
        self._held = Held()
        self._link_base = link_base

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers: dict[bytes, bytes] = dict(scope["headers"])
        given = headers.get(b"x-request-id", b"")
        request_ident = given.decode() if _REQUEST_ID.fullmatch(given) else _make_request_id()
        token = request_id.set(request_ident)
        links.base.set(self._link_base)
        exchange = _Exchange(scope, send, request_ident.encode(), self._record)
        self._open.add(exchange)
        body: _Body | None = None
        try:
            _refuse_duplicates(scope["headers"], headers)
            if self._loopback_only and headers.get(b"origin") not in self._origins:
                _refuse_foreign_pages(scope["method"], headers)
            if scope["path"] in SHORT_PATHS:
                scope["path"] = "/api/v1" + scope["path"]
            if scope["path"].startswith(_GUARDED):
                scope["caller"] = await self._identify(scope)
            if scope["method"] in _BODIED:
                body = self._limit_body(scope, headers, receive)
                receive = body.receive
            await self._app(scope, receive, exchange.send)
        except WhenceError as exc:
            response = answer_own(exc)
            if isinstance(exc, Unauthorized) and scope["path"] == MCP:
                where = links.absolute(MCP_METADATA) or URL(scope=scope).replace(path=MCP_METADATA, query="")
                response.headers["WWW-Authenticate"] += f', resource_metadata="{where}"'
            await _send_response(response, scope, receive, exchange)
        except Exception:  # the unit of work ends here: log everything, show the client nothing
            log.exception("%s crashed", exchange.line)
            crash = WhenceError(details={"request_id": request_ident})
            await _send_response(failure(crash), scope, receive, exchange)
        finally:
            if body is not None:
                body.release()
            self._open.discard(exchange)
            exchange.log()
            request_id.reset(token)

    def _limit_body(self, scope: Scope, headers: dict[bytes, bytes], receive: Receive) -> "_Body":
        """The body, limited as its route requires. Any body that is not a form is treated as JSON, whatever its Content-Type."""
        path: str = scope["path"]
        form = headers.get(b"content-type", b"").lower().startswith(b"multipart/form-data")
        slack, streams = 0, form
        if form and _UPLOADS.fullmatch(path):
            limit, slack = self._limits.upload, _FORM_ITSELF
        elif path == _PREVIEW:
            limit = MAX_TEXT if form else MAX_BODY
        else:
            limit, streams = MAX_TEXT if _TEXTS.fullmatch(path) else MAX_BODY, False
        length = headers.get(b"content-length", b"")
        if length.isdigit() and int(length) > limit + slack:
            raise PayloadTooLarge(details={"max_bytes": limit})
        if not streams:
            rest = [item for item in scope["headers"] if item[0] != b"content-type"]
            scope["headers"] = [*rest, (b"content-type", b"application/json")]
        return _Body(receive, limit, slack, self._limits, None if streams else self._held)


def _refuse_duplicates(sent: list[tuple[bytes, bytes]], headers: dict[bytes, bytes]) -> None:
    """Refuses repeated headers: a proxy and this server might each read a different one."""
    if len(sent) == len(headers):
        return
    names = [name for name, _ in sent]
    for name in _SINGLE:
        if names.count(name) > 1:
            raise BadInput(f"The header {name.decode()} was sent more than once")


def _refuse_foreign_pages(method: str, headers: dict[bytes, bytes]) -> None:
    """Keeps web pages of other sites from using a server without keys through the user's browser. They may link to it."""
    host, origin = headers.get(b"host", b"localhost"), headers.get(b"origin")
    if not _LOOPBACK.fullmatch(host):
        details = {"host": host.decode("latin-1")}
        raise Forbidden("Without API keys the server answers only to localhost", details=details)
    is_link = origin is None and method == "GET" and headers.get(b"sec-fetch-dest") == b"document"
    is_foreign = headers.get(b"sec-fetch-site") in _OTHER_ORIGIN and not is_link
    if is_foreign or not (origin is None or _LOOPBACK.fullmatch(origin.partition(b"://")[2])):
        details = {"origin": (origin or b"").decode("latin-1")}
        raise Forbidden("Without API keys the server answers no other site's pages", details=details)


class _Exchange:
    """Adds the request id to the response, and records status and time for the log."""

    __slots__ = ("_record", "_request_ident", "_scope", "_send", "began", "status")

    def __init__(self, scope: Scope, send: Send, request_ident: bytes, record: Record) -> None:
        self._record = record
        self._scope = scope
        self._send = send
        self._request_ident = request_ident
        self.began = time.perf_counter()
        self.status = 0

    @property
    def line(self) -> str:
        return f"{self._scope['method']} {_read_path(self._scope)}"

    async def send(self, message: ASGIMessage) -> None:
        if message["type"] == "http.response.start":
            self.status = status = message["status"]
            if self._scope["method"] in _BODIED and not _REFUSED <= status < _FAILED:
                try:
                    await self._record(self._scope, status)
                except WhenceError as exc:  # the request has already taken effect, so its answer is sent
                    log.warning("%s is not in the audit log: %s", self.line, exc)
            more = (NO_SNIFFING, (b"x-request-id", self._request_ident))
            message["headers"] = [*message.get("headers", ()), *more]
        await self._send(message)

    def log(self) -> None:
        if log.isEnabledFor(logging.INFO):
            milliseconds = (time.perf_counter() - self.began) * 1000
            # Builds the record itself: `log.info` would walk the stack to find its caller.
            line = f"{self.line} {self.status} {milliseconds:.1f} ms"
            log.handle(logging.LogRecord(log.name, logging.INFO, __file__, 0, line, None, None))


class Held:
    """Counts the bytes of bodies in memory, over all requests."""

    __slots__ = ("size",)

    def __init__(self) -> None:
        self.size = 0


class _Body:
    """Passes a body on as it arrives. Ends it at its limit or after a pause that is too long."""

    __slots__ = ("_held", "_limit", "_limits", "_receive", "_size", "_slack", "_whole")

    def __init__(
        self, receive: Receive, limit: int, slack: int, limits: BodyLimits, held: Held | None
    ) -> None:
        self._receive = receive
        self._limit = limit
        self._slack = slack
        self._limits = limits
        self._held = held
        """None for a body that is written to disk."""
        self._size = 0
        self._whole = False

    async def receive(self) -> ASGIMessage:
        if self._whole:
            return await self._receive()
        try:
            async with asyncio.timeout(self._limits.seconds):
                message = await self._receive()
        except TimeoutError as exc:
            raise RequestTimeout(details={"seconds": self._limits.seconds}) from exc
        if message["type"] == "http.disconnect":
            raise BadInput("The client disconnected before the request was complete")
        part = len(message.get("body", b""))
        self._size += part
        if self._size > self._limit + self._slack:
            raise PayloadTooLarge(details={"max_bytes": self._limit})
        if self._held is not None:
            self._held.size += part
            if self._held.size > self._limits.memory:
                raise ServerBusy("Too many large requests at once; try again")
        self._whole = not message.get("more_body", False)
        return message

    def release(self) -> None:
        if self._held is not None:
            self._held.size -= self._size


async def _send_response(response: EncodedJSON, scope: Scope, receive: Receive, exchange: _Exchange) -> None:
    if exchange.status:
        return  # a response has begun, so all we can do is close the connection
    await response(scope, receive, exchange.send)


def _read_path(scope: Scope) -> str:
    """The raw path, so that no control character can forge a log line."""
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    return raw.decode("ascii", "backslashreplace")
