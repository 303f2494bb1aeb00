"""Limits on connections, URLs, headers and waiting times, which uvicorn's own protocol lacks."""

import socket
from asyncio import TimerHandle, Transport
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from whence.errors import BadInput, HeadersTooLarge, RequestTimeout, ServerBusy, URLTooLong, WhenceError
from whence.settings import Settings
from whence.web.responses import NO_SNIFFING, failure

_MAX_PIPELINE = 16
_RESERVE = 8
"""Connections over the limit that are answered if they ask for one of `_PROBES`: a busy server is still alive."""
_PROBES = (b"/healthz", b"/readyz")
_USER_TIMEOUT: int | None = getattr(socket, "TCP_USER_TIMEOUT", None)  # Linux
_MOST_READ = 256 * 1024
_FULL = "The server has too many connections; try again"
_MAX_DISCARDED = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionLimits:
    connections: int
    url: int
    headers: int
    seconds: int

    @classmethod
    def of(cls, settings: Settings) -> "ConnectionLimits":
        return cls(
            connections=settings.max_connections,
            url=settings.max_url_kb * 1024,
            headers=settings.max_header_kb * 1024,
            seconds=settings.body_seconds,
        )


class LimitedProtocol(HttpToolsProtocol):
    """Refuses a request as soon as it is too long, and closes connections that send no whole request in time.

    uvicorn limits neither. The parser keeps an unfinished header to itself, so bytes are counted as they arrive. One read has at
    most 256 KB, so a connection holds no more than that beyond its limit.
    """

    def __init__(self, *args: Any, limits: ConnectionLimits, **named: Any) -> None:
        super().__init__(*args, **named)
        self._limits = limits
        self._in_head = False
        self._unserved = 0
        """Bytes received since the last complete head, except those of requests being served."""
        self._received = 0
        self._without_body = 0
        """Bytes received since the request began or the last part of its body: an unfinished head of a request or of a chunk."""
        self._is_reserve = False
        self._timer: TimerHandle | None = None
        self._refusal: WhenceError | None = None

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]  # as in uvicorn
        super().connection_made(transport)
        # The kernel closes a connection whose client reads nothing for this long, also while it is being closed.
        if _USER_TIMEOUT is not None:
            milliseconds = self._limits.seconds * 1000
            transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, _USER_TIMEOUT, milliseconds)
        over = len(self.connections) - self._limits.connections
        self._is_reserve = over > 0
        if over > _RESERVE:
            self._refuse(ServerBusy(_FULL))
        else:
            self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        began_before, self._received = self._in_head, self._unserved + len(data)
        self._without_body += len(data)
        super().data_received(data)
        if self._without_body > self._limits.headers + _MOST_READ and not self.transport.is_closing():
            self._refuse(HeadersTooLarge())
        if self.transport.is_closing() or not (
            self._in_head or self.cycle is None or self.cycle.response_complete
        ):
            return
        # The data is an incomplete head, or the rest of a body whose request was answered. If the head began in this read, the
        # read may contain more than the head, so only its parsed parts count.
        self._unserved += len(data) if began_before or not self._in_head else self._measure_head()
        error = self._check_lengths() if self._in_head else None
        if error or self._unserved > _MAX_DISCARDED:
            self._refuse(error or HeadersTooLarge())
        elif self._timer is None:
            self._await_head()

    def on_body(self, body: bytes) -> None:
        self._without_body = 0
        super().on_body(body)

    def on_message_begin(self) -> None:
        self._in_head, self._unserved, self._without_body = True, 0, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._in_head = False
        if self._received > self._limits.url:  # otherwise the head is short, too
            self._unserved = self._measure_head()
            self._refusal = self._check_lengths()
        if len(self.pipeline) >= _MAX_PIPELINE:
            self._refusal = ServerBusy("Too many requests on one connection wait for their answers")
        if self._is_reserve and self.url not in _PROBES:
            self._refusal = ServerBusy(_FULL)
        if self._refusal:
            raise self._refusal  # the parser stops, and uvicorn calls `send_400_response`
        self._unserved = 0
        self._stop_waiting()
        super().on_headers_complete()
        if self._is_reserve:
            self.cycle.keep_alive = False

    def send_400_response(self, msg: str) -> None:
        self._refuse(self._refusal or BadInput("This is not a valid HTTP request", details={"reason": msg}))

    def _measure_head(self) -> int:
        return len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)

    def _check_lengths(self) -> WhenceError | None:
        if len(self.url) > self._limits.url:
            return URLTooLong(details={"max_bytes": self._limits.url})
        if self._unserved > self._limits.headers + len(self.url):
            return HeadersTooLarge(details={"max_bytes": self._limits.headers})
        return None

    def _await_head(self) -> None:
        self._timer = self.loop.call_later(self._limits.seconds, self._give_up)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        if self._in_head:
            self._refuse(RequestTimeout(details={"seconds": self._limits.seconds}))
        else:
            self.transport.close()

    def _refuse(self, error: WhenceError) -> None:
        """Send the error and close the connection. While another answer is being sent, only close."""
        if self.cycle is None or self.cycle.response_complete:
            response, status = failure(error), HTTPStatus(error.status)
            headers = dict(response.raw_headers) | {NO_SNIFFING[0]: NO_SNIFFING[1], b"connection": b"close"}
            head = [b"HTTP/1.1 %d %s" % (status, status.phrase.encode())]
            head += [b"%s: %s" % header for header in headers.items()]
            self.transport.write(b"\r\n".join([*head, b"", bytes(response.body)]))
        self.transport.close()
