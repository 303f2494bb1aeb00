"""A model endpoint on loopback that answers by a script: what those for embeddings and for chat have in common.

It is a real server on a real port, so that other processes can be pointed at it too.
"""

import json
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    path: str
    headers: dict[str, str]
    """Names in small letters."""
    body: dict[str, Any]
    at: float
    """When it came, by the monotonic clock."""

    @property
    def inputs(self) -> list[str]:
        return list(self.body["input"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """A reply in chunks, as they come. If the iterator raises HangUp, the connection ends there and then."""

    chunks: Iterator[bytes]
    content_type: str = "text/event-stream"


class HangUp(Exception):
    """Whoever writes the answer has gone."""


Behaviour = Callable[[Request], Reply | Stream | None]
"""What to do with a request; None hangs up without an answer."""


def garbage(body: bytes = b"<html>It works!</html>") -> Behaviour:
    return lambda _: Reply(body=body)


@contextmanager
def always(body: bytes) -> Iterator[str]:
    """The address of a server that has the same answer to every request."""

    class Same(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_PUT = do_GET  # noqa: N815 - names of the base class

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Same)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def status(code: int, *, retry_after: str | None = None, message: str = "no") -> Behaviour:
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    body = json.dumps({"error": {"message": message, "code": code}}).encode()
    return lambda _: Reply(status=code, body=body, headers=headers)


def hang_up(_: Request) -> None:
    return None


class Loopback:
    """Knows one path or several; any other is answered 404."""

    def __init__(self, path: str | tuple[str, ...], default: Behaviour) -> None:
        self.default = default
        self.requests: list[Request] = []
        self.most_at_once = 0
        self.running = 0
        self._script: list[Behaviour] = []
        self._lock = threading.Lock()
        endpoint = self

        class Handler(_Handler):
            known = (path,) if isinstance(path, str) else path

            def answer(self, request: Request) -> None:
                endpoint._answer(request, self)

        self._server = _Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def connections(self) -> int:
        return self._server.connections

    def script(self, *behaviours: Behaviour) -> None:
        """What to do with the next requests, one after the other; after them the default again."""
        with self._lock:
            self._script = list(behaviours)

    def restart(self, default: Behaviour) -> None:
        """As if it were new, for the next test."""
        with self._lock:
            self.default, self.requests, self.most_at_once, self._script = default, [], 0, []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _answer(self, request: Request, handler: "_Handler") -> None:
        with self._lock:
            self.requests.append(request)
            self.running += 1
            self.most_at_once = max(self.most_at_once, self.running)
            behaviour = self._script.pop(0) if self._script else self.default
        try:
            handler.send(behaviour(request))
        finally:
            with self._lock:
                self.running -= 1


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # a client that keeps its connection open must not keep the test from ending
    request_queue_size = 128
    connections = 0

    def process_request(self, request: Any, client_address: Any) -> None:
        self.connections += 1
        super().process_request(request, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(
            sys.exc_info()[1], ConnectionError
        ):  # whoever asked has gone, as some tests want it
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or the body may wait until the head is acknowledged, which takes 40 ms
    known: tuple[str, ...]

    def answer(self, request: Request) -> None:
        raise NotImplementedError

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        at = time.monotonic()
        headers = {name.lower(): text for name, text in self.headers.items()}
        if self.path in self.known:
            self.answer(Request(path=self.path, headers=headers, body=json.loads(body), at=at))
        else:
            self.send(Reply(status=404, body=b"{}"))

    def send(self, reply: Reply | Stream | None) -> None:
        try:
            if isinstance(reply, Reply):
                self._send_whole(reply)
            elif isinstance(reply, Stream):
                self._send_chunks(reply)
            else:
                self._hang_up()
        except HangUp:
            self._hang_up()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # whoever asked has gone, as some tests want it

    def _send_whole(self, reply: Reply) -> None:
        headers = {"Content-Type": "application/json", "Content-Length": str(len(reply.body))}
        self._send_head(reply.status, {**headers, **reply.headers})
        self.wfile.write(reply.body)

    def _send_chunks(self, reply: Stream) -> None:
        self._send_head(200, {"Content-Type": reply.content_type, "Transfer-Encoding": "chunked"})
        for chunk in reply.chunks:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        self.wfile.write(b"0\r\n\r\n")

    def _send_head(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, text in headers.items():
            self.send_header(name, text)
        self.end_headers()

    def _hang_up(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        pass


def closed_port() -> int:
    """A port that nobody listens on. It stays bound until the process ends, so that no other process gets it."""
    probe = socket.socket()
    probe.bind(("127.0.0.1", 0))
    port: int = probe.getsockname()[1]
    probe.detach()
    return port
