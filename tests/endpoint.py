"""An embedding endpoint on loopback that speaks OpenAI's protocol, and fails on demand.

It is a real server on a real port, so that other processes can be pointed at it too:

    with Endpoint() as endpoint:
        endpoint.script(status(429, retry_after="1"), ok)     # then `ok` for ever
        ... endpoint.url, endpoint.requests

Its vectors are those of the hash embedder, three times as long: whoever wants length 1 has to see to it.
"""

import base64
import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from whence.providers.hashed import vector, words

DIMENSIONS = 64


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


Behaviour = Callable[[Request], Reply | None]
"""What to do with a request; None hangs up without an answer."""


def embed(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    return [3 * float(value) for value in vector(words(text), dimensions)]


def answer(vectors: Sequence[Any], *, tokens: int | None) -> Reply:
    data = [{"object": "embedding", "index": n, "embedding": one} for n, one in enumerate(vectors)]
    body: dict[str, Any] = {"object": "list", "model": "test", "data": data}
    if tokens is not None:
        body["usage"] = {"prompt_tokens": tokens, "total_tokens": tokens}
    return Reply(body=json.dumps(body).encode())  # json writes NaN as such, like some endpoints


def ok(request: Request) -> Reply:
    dimensions = request.body.get("dimensions", DIMENSIONS)
    tokens = sum(len(words(text)) for text in request.inputs)
    return answer([embed(text, dimensions) for text in request.inputs], tokens=tokens)


def uncounted(request: Request) -> Reply:
    return answer([embed(text) for text in request.inputs], tokens=None)


def in_base64(request: Request) -> Reply:
    packed = [struct.pack(f"<{DIMENSIONS}f", *embed(text)) for text in request.inputs]
    return answer([base64.b64encode(one).decode() for one in packed], tokens=1)


def backwards(request: Request) -> Reply:
    """Right, but not in the order it was asked."""
    body = json.loads(ok(request).body)
    return Reply(body=json.dumps({**body, "data": body["data"][::-1]}).encode())


def of_size(dimensions: int) -> Behaviour:
    return lambda request: answer([embed(text, dimensions) for text in request.inputs], tokens=1)


def one_too_few(request: Request) -> Reply:
    return answer([embed(text) for text in request.inputs[1:]], tokens=1)


def filled_with(value: Any) -> Behaviour:
    """The first vector has this value in its last place, or everywhere if it is 0."""

    def reply(request: Request) -> Reply:
        vectors: list[list[Any]] = [embed(text) for text in request.inputs]
        vectors[0] = [0.0] * DIMENSIONS if value == 0 else [*vectors[0][:-1], value]
        return answer(vectors, tokens=1)

    return reply


def garbage(body: bytes = b"<html>It works!</html>") -> Behaviour:
    return lambda _: Reply(body=body)


def status(code: int, *, retry_after: str | None = None, message: str = "no") -> Behaviour:
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    body = json.dumps({"error": {"message": message, "code": code}}).encode()
    return lambda _: Reply(status=code, body=body, headers=headers)


def one_size_only(request: Request) -> Reply:
    """Refuses to be told the dimensions, as models do that cannot choose them."""
    if "dimensions" in request.body:
        return Reply(status=400, body=b'{"error": {"message": "dimensions is not supported by this model"}}')
    return ok(request)


def slow(seconds: float) -> Behaviour:
    def reply(request: Request) -> Reply:
        time.sleep(seconds)
        return ok(request)

    return reply


def hang_up(_: Request) -> None:
    return None


class Endpoint:
    def __init__(self, default: Behaviour = ok) -> None:
        self.default = default
        self.requests: list[Request] = []
        self.most_at_once = 0
        self._script: list[Behaviour] = []
        self._running = 0
        self._lock = threading.Lock()
        endpoint = self

        class Handler(_Handler):
            def answered(self, request: Request) -> Reply | None:
                return endpoint._handle(request)

        self._server = _Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def script(self, *behaviours: Behaviour) -> None:
        """What to do with the next requests, one after the other; after them the default again."""
        with self._lock:
            self._script = list(behaviours)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handle(self, request: Request) -> Reply | None:
        with self._lock:
            self.requests.append(request)
            self._running += 1
            self.most_at_once = max(self.most_at_once, self._running)
            behaviour = self._script.pop(0) if self._script else self.default
        try:
            return behaviour(request)
        finally:
            with self._lock:
                self._running -= 1


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # a client that keeps its connection open must not keep the test from ending
    request_queue_size = 128


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answered(self, request: Request) -> Reply | None:
        raise NotImplementedError

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): text for name, text in self.headers.items()}
        if self.path != "/v1/embeddings":
            self._send(Reply(status=404, body=b"{}"))
            return
        reply = self.answered(
            Request(path=self.path, headers=headers, body=json.loads(body), at=time.monotonic())
        )
        if reply is None:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        else:
            self._send(reply)

    def _send(self, reply: Reply) -> None:
        try:
            self.send_response(reply.status)
            for name, text in {"Content-Type": "application/json", **reply.headers}.items():
                self.send_header(name, text)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # whoever asked has gone, as some tests want it

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        pass


def closed_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
