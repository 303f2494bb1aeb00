"""The outermost layer: request ids, the access log, the limit on bodies, and the answer to a crash.

Plain ASGI: a framework middleware costs more per request than everything here together.
"""

import itertools
import logging
import re
import secrets
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from whence.errors import BadInput, Forbidden, PayloadTooLarge, WhenceError
from whence.logs import request_id
from whence.web.responses import EncodedJSON, failure

ASGIMessage = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[ASGIMessage]]
Send = Callable[[ASGIMessage], Awaitable[None]]
ASGIApp = Callable[[Scope, Receive, Send], Awaitable[None]]

MAX_BODY = 1024 * 1024
MAX_TEXT = 16 * 1024 * 1024
"""For text in JSON, which is held in memory; files may be larger."""

SHORT_PATHS = frozenset(("/chat", "/ingest/upload", "/ingest/url", "/ingest/text"))
"""Paths that mean the same without /api/v1."""

log = logging.getLogger("whence.web")

_REQUEST_ID = re.compile(rb"[A-Za-z0-9._:/+=-]{1,128}")
_LOOPBACK = re.compile(rb"(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?", re.IGNORECASE)
# Only these take a form with files, or a long text; other bodies are short JSON.
_UPLOADS = re.compile(r"/api/v1/(ingest/upload|documents/[^/]+)")
_TEXTS = re.compile(r"/api/v1/(ingest/text|documents/[^/]+)")
_PREVIEW = "/api/v1/chunking/preview"
_FORM_ITSELF = 1024 * 1024  # room for the form around its files
_BODIED = frozenset(("POST", "PUT", "PATCH", "DELETE"))


_process = secrets.token_hex(12)
_count = itertools.count()


def _new_request_id() -> str:
    """Unique, not secret: a random prefix for this process and a request counter."""
    return f"{_process}{next(_count) & 0xFFFFFFFF:08x}"


class RequestMiddleware:
    def __init__(self, app: ASGIApp, *, loopback_only: bool, max_upload: int) -> None:
        self._app = app
        self._loopback_only = loopback_only
        self._max_upload = max_upload

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers: dict[bytes, bytes] = dict(scope["headers"])
        given = headers.get(b"x-request-id", b"")
        request_ident = given.decode() if _REQUEST_ID.fullmatch(given) else _new_request_id()
        token = request_id.set(request_ident)
        exchange = _Exchange(send, request_ident.encode())
        try:
            self._refuse_foreign_pages(headers)
            if scope["path"] in SHORT_PATHS:
                scope["path"] = "/api/v1" + scope["path"]
            if scope["method"] in _BODIED:
                receive = await self._body(scope, headers, receive)
            await self._app(scope, receive, exchange.send)
        except WhenceError as exc:
            await _answer(failure(exc), scope, receive, exchange)
        except Exception:  # the unit of work ends here: log everything, show the client nothing
            log.exception("%s %s crashed", scope["method"], _path(scope))
            crash = WhenceError(details={"request_id": request_ident})
            await _answer(failure(crash), scope, receive, exchange)
        finally:
            exchange.log(scope)
            request_id.reset(token)

    async def _body(self, scope: Scope, headers: dict[bytes, bytes], receive: Receive) -> Receive:
        path: str = scope["path"]
        form = headers.get(b"content-type", b"").lower().startswith(b"multipart/form-data")
        slack, streams = 0, form
        if form and _UPLOADS.fullmatch(path):
            limit, slack = self._max_upload, _FORM_ITSELF
        elif path == _PREVIEW:
            limit = MAX_TEXT if form else MAX_BODY
        else:
            limit, streams = MAX_TEXT if _TEXTS.fullmatch(path) else MAX_BODY, False
        length = headers.get(b"content-length", b"")
        if length.isdigit() and int(length) > limit + slack:
            raise PayloadTooLarge(details={"max_bytes": limit})
        return _counted(receive, limit, slack) if streams else await _whole(scope, receive, limit)

    def _refuse_foreign_pages(self, headers: dict[bytes, bytes]) -> None:
        """Without keys, a web page must not reach a local server through the user's browser."""
        if not self._loopback_only:
            return
        host, origin = headers.get(b"host", b"localhost"), headers.get(b"origin")
        if not _LOOPBACK.fullmatch(host):
            details = {"host": host.decode("latin-1")}
            raise Forbidden("Without API keys the server answers only to localhost", details=details)
        if origin is not None and not _LOOPBACK.fullmatch(origin.partition(b"://")[2]):
            details = {"origin": origin.decode("latin-1")}
            raise Forbidden("Without API keys the server answers no other site's pages", details=details)


class _Exchange:
    """Adds the request id to the response, and records status and time for the log."""

    def __init__(self, send: Send, request_ident: bytes) -> None:
        self._send = send
        self._request_ident = request_ident
        self._began = time.perf_counter()
        self.status = 0

    async def send(self, message: ASGIMessage) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [*message.get("headers", ()), (b"x-request-id", self._request_ident)]
        await self._send(message)

    def log(self, scope: Scope) -> None:
        if log.isEnabledFor(logging.INFO):
            milliseconds = (time.perf_counter() - self._began) * 1000
            # Builds the record itself: `log.info` would walk the stack to find its caller.
            line = f"{scope['method']} {_path(scope)} {self.status} {milliseconds:.1f} ms"
            log.handle(logging.LogRecord(log.name, logging.INFO, __file__, 0, line, None, None))


async def _whole(scope: Scope, receive: Receive, limit: int) -> Receive:
    """Reads the whole body first, up to the limit, and treats it as JSON whatever its Content-Type."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise BadInput("The client went away before the request was complete")
        part = message.get("body", b"")
        size += len(part)
        if size > limit:
            raise PayloadTooLarge(details={"max_bytes": limit})
        parts.append(part)
        if not message.get("more_body", False):
            break
    rest = [item for item in scope["headers"] if item[0] != b"content-type"]
    scope["headers"] = [*rest, (b"content-type", b"application/json")]
    whole: ASGIMessage | None = {"type": "http.request", "body": b"".join(parts), "more_body": False}

    async def replay() -> ASGIMessage:
        nonlocal whole
        if whole is None:
            return await receive()
        message, whole = whole, None
        return message

    return replay


def _counted(receive: Receive, limit: int, slack: int) -> Receive:
    """Passes an upload on as it arrives; one byte over the limit ends it."""
    size = 0

    async def counted() -> ASGIMessage:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > limit + slack:
            raise PayloadTooLarge(details={"max_bytes": limit})
        return message

    return counted


async def _answer(response: EncodedJSON, scope: Scope, receive: Receive, exchange: _Exchange) -> None:
    if exchange.status:
        return  # a response has begun, so the connection can only be closed
    await response(scope, receive, exchange.send)


def _path(scope: Scope) -> str:
    """The raw path, so that no control character can forge a log line."""
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    return raw.decode("ascii", "backslashreplace")
