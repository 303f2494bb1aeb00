"""Limits of the server on real connections: what a client without manners can take of memory, descriptors and time."""

import asyncio
import json
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.api.conftest import serve_in_thread, usual_settings

from whence.store import Store
from whence.store.keys import Scope
from whence.web.protocol import _RESERVE

MB = 1024 * 1024
CONNECTIONS = 8
POOL = 8
"""Connections to the database, which are opened when they are needed."""


@dataclass(frozen=True, slots=True)
class Server:
    url: str
    key: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", int(self.url.rpartition(":")[2])), timeout=60)

    def head(self, line: str, *more: str, key: bool = True) -> bytes:
        lines = [line, "Host: localhost", *more]
        if key:
            lines.append(f"Authorization: Bearer {self.key}")
        return "\r\n".join([*lines, "", ""]).encode()


@pytest.fixture(scope="module")
def server(shared_dsn: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """It needs keys, and all its limits are low."""
    settings = replace(
        usual_settings(shared_dsn, tmp_path_factory.mktemp("limits")),
        auth="required",
        max_connections=CONNECTIONS,
        body_seconds=2,
        body_memory_mb=16,
    )
    with serve_in_thread(settings) as url:
        yield Server(url, asyncio.run(make_key(shared_dsn, "write")))


async def make_key(dsn: str, scope: Scope) -> str:
    async with Store.open(dsn, size=1) as store:
        _, secret = await store.keys.create(name="test", scope=scope, project_id=None)
        return secret.reveal()


def answer_on(connection: socket.socket) -> tuple[int, dict[str, str], dict[str, Any]]:
    """The whole answer, up to the end of the connection or of the declared body."""
    got = b""
    while b"\r\n\r\n" not in got and (part := connection.recv(65536)):
        got += part
    head, _, body = got.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(headers["content-length"]):
        body += connection.recv(65536)
    return int(first.split()[1]), headers, json.loads(body)


def refused(connection: socket.socket, status: int, code: str) -> dict[str, str]:
    """The headers of a refusal, after which the server closes the connection."""
    found, headers, body = answer_on(connection)
    assert (found, body["error"]["code"]) == (status, code)
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["connection"] == "close"
    with suppress(ConnectionResetError):
        assert connection.recv(1) == b""
    return headers


def send_until_refused(connection: socket.socket, part: bytes, *, most: int) -> int:
    """Bytes that were sent before the server closed the connection."""
    sent = 0
    with suppress(BrokenPipeError, ConnectionResetError):
        while sent < most:
            connection.sendall(part)
            sent += len(part)
    return sent


def test_broken_downloads_leave_nothing_behind(server: Server) -> None:
    sent = httpx.post(
        f"{server.url}/ingest/upload",
        headers=server.headers,
        files={"file": ("a.bin", b"\0x" * 4 * MB)},
        timeout=60,
    )
    document = sent.json()["data"]["items"][0]["documentId"]
    request = server.head(f"GET /api/v1/documents/{document}/file HTTP/1.1")

    def break_off(times: int) -> None:
        for _ in range(times):
            with closing(server.connect()) as connection:
                connection.sendall(request)
                assert connection.recv(1000).startswith(b"HTTP/1.1 200")

    break_off(20)
    before = descriptors(), memory()
    break_off(500)
    wait_until(lambda: descriptors() <= before[0] + POOL)
    assert memory() < before[1] + 60 * MB


def test_a_client_that_reads_nothing_is_left(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    sent = httpx.post(
        f"{server.url}/ingest/upload",
        headers=server.headers,
        files={"file": ("b.bin", b"\0y" * 8 * MB)},
        timeout=60,
    )
    path = f"/api/v1/documents/{sent.json()['data']['items'][0]['documentId']}/file"
    caplog.set_level("INFO", "whence.web")
    with closing(socket.socket()) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", int(server.url.rpartition(":")[2])))
        connection.sendall(server.head(f"GET {path} HTTP/1.1"))
        wait_until(lambda: any(path in record.getMessage() for record in list(caplog.records)))


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def memory() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize(
    "path", ["/ingest/text", "/ingest/upload", "/api/v1/chunks/bulk", "/v1/chat/completions"]
)
def test_without_a_key_no_body_is_read(server: Server, path: str) -> None:
    with closing(server.connect()) as connection:
        connection.sendall(server.head(f"POST {path} HTTP/1.1", "Content-Length: 1000000", key=False))
        status, headers, body = answer_on(connection)  # of the body nothing was sent
    assert (status, body["error"]["code"]) == (401, "UNAUTHORIZED")
    assert headers["www-authenticate"].startswith("Bearer")


def test_the_rest_of_a_refused_body_is_not_read_for_ever(server: Server) -> None:
    with closing(server.connect()) as connection:
        connection.sendall(server.head("POST /ingest/text HTTP/1.1", "Transfer-Encoding: chunked", key=False))
        part = b"10000\r\n" + b"x" * 65536 + b"\r\n"
        assert send_until_refused(connection, part, most=100 * MB) < 50 * MB


@pytest.mark.parametrize("start", [b"1;", b"1\r\nx\r\n0\r\nX-Trailer: "])
def test_an_endless_head_of_a_chunk_ends_the_connection(server: Server, start: bytes) -> None:
    with closing(server.connect()) as connection:
        connection.sendall(server.head("POST /ingest/text HTTP/1.1", "Transfer-Encoding: chunked") + start)
        assert send_until_refused(connection, b"x" * 65536, most=100 * MB) < 50 * MB


def test_a_body_that_stops_coming_is_408(server: Server) -> None:
    with closing(server.connect()) as connection:
        connection.sendall(server.head("POST /ingest/text HTTP/1.1", "Content-Length: 1000") + b'{"text": "')
        refused(connection, 408, "REQUEST_TIMEOUT")


@pytest.mark.parametrize("start", [b"", b"GET /healthz HTT", b"GET /healthz HTTP/1.1\r\nHost: local"])
def test_a_head_that_stops_coming_ends_the_connection(server: Server, start: bytes) -> None:
    with closing(server.connect()) as connection:
        connection.sendall(start)
        if start:
            refused(connection, 408, "REQUEST_TIMEOUT")
        else:
            assert connection.recv(1) == b""


def test_empty_lines_do_not_keep_a_connection_open(server: Server) -> None:
    with closing(server.connect()) as connection:
        connection.sendall(server.head("GET /healthz HTTP/1.1"))
        assert answer_on(connection)[0] == 200
        connection.sendall(b"\r\n")
        assert connection.recv(1) == b""


def test_bodies_share_a_budget_of_memory(server: Server) -> None:
    large = b'{"text": "' + b"x" * 9 * MB
    head = server.head("POST /ingest/text HTTP/1.1", f"Content-Length: {10 * MB}")
    with closing(server.connect()) as one, closing(server.connect()) as other:
        one.sendall(head + large)
        other.sendall(head)
        send_until_refused(other, b"x" * 65536, most=9 * MB)
        statuses = {answer_on(one)[0], answer_on(other)[0]}
    assert statuses == {408, 503}  # one was too much, the other was never finished
    answer = httpx.post(
        f"{server.url}/ingest/text", headers=server.headers, json={"text": "x" * 9 * MB}, timeout=60
    )
    assert answer.status_code == 202, "the budget is free again"


@contextmanager
def at_the_limit(server: Server) -> Iterator[None]:
    """As many connections as the server takes, each answered and open."""
    wait_until(lambda: httpx.get(f"{server.url}/api/v1/me", headers=server.headers).status_code == 200)
    with ExitStack() as held:
        for _ in range(CONNECTIONS):
            connection = held.enter_context(closing(server.connect()))
            connection.sendall(server.head("GET /healthz HTTP/1.1"))
            assert answer_on(connection)[0] == 200
        yield
    wait_until(lambda: httpx.get(f"{server.url}/api/v1/me", headers=server.headers).status_code == 200)


def test_one_connection_too_many_is_503(server: Server) -> None:
    with at_the_limit(server), closing(server.connect()) as refusal:
        refusal.sendall(server.head("GET /api/v1/me HTTP/1.1"))
        assert refused(refusal, 503, "SERVER_BUSY")["retry-after"] == "1"


def test_a_busy_server_answers_health_checks(server: Server) -> None:
    """A load balancer would restart a server whose check fails, also one that is only busy."""
    with at_the_limit(server):
        for path in ("/healthz", "/readyz") * _RESERVE:
            with closing(server.connect()) as probe:
                probe.sendall(server.head(f"GET {path} HTTP/1.1", key=False))
                status, headers, _ = answer_on(probe)
                assert (status, headers["connection"]) == (200, "close")
                assert probe.recv(1) == b"", "its place is free for the next"


def test_the_reserve_for_health_checks_is_small(server: Server) -> None:
    with at_the_limit(server), ExitStack() as held:
        for _ in range(_RESERVE):
            held.enter_context(closing(server.connect()))
        with closing(server.connect()) as refusal:  # nothing is sent
            refused(refusal, 503, "SERVER_BUSY")


@pytest.mark.parametrize(
    ("start", "part", "status", "code"),
    [
        (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Long: ", b"x" * 8192, 431, "HEADERS_TOO_LARGE"),
        (b"GET /healthz HTTP/1.1\r\n", b"X-Many: 1\r\n" * 800, 431, "HEADERS_TOO_LARGE"),
        (b"GET /healthz HTTP/1.1\r\n", b"x" * 8192, 431, "HEADERS_TOO_LARGE"),
        (b"GET /", b"x" * 8192, 414, "URL_TOO_LONG"),
        (b"GET /?", b"x=1&" * 2048, 414, "URL_TOO_LONG"),
    ],
)
def test_an_endless_head_is_ended(server: Server, start: bytes, part: bytes, status: int, code: str) -> None:
    with closing(server.connect()) as connection:
        connection.sendall(start)
        sent = send_until_refused(connection, part, most=40 * MB)
        assert sent < 20 * MB  # what fits into the socket's buffers, not what the server read
        refused(connection, status, code)


@pytest.mark.parametrize(
    ("line", "header", "status"),
    [
        ("GET /healthz?" + "x" * 15_000, "x" * 60_000, 200),
        ("GET /healthz", "x" * 66_000, 431),
        ("GET /healthz?" + "x" * 17_000, "", 414),
    ],
)
def test_a_head_in_one_piece_has_the_same_limits(server: Server, line: str, header: str, status: int) -> None:
    with closing(server.connect()) as connection:
        connection.sendall(server.head(f"{line} HTTP/1.1", f"X-Long: {header}", key=False))
        assert answer_on(connection)[0] == status


def test_a_large_body_before_the_next_head_is_no_large_head(server: Server) -> None:
    body = b'{"text": "' + b"x" * 200_000 + b'"}'
    first = server.head("POST /ingest/text HTTP/1.1", f"Content-Length: {len(body)}")
    second = server.head("GET /healthz HTTP/1.1")
    with closing(server.connect()) as connection:
        connection.sendall(first + body + second[:20])
        assert answer_on(connection)[0] == 202
        connection.sendall(second[20:])
        assert answer_on(connection)[0] == 200


def test_thousands_of_requests_in_one_read_are_not_queued(server: Server) -> None:
    with closing(server.connect()) as connection:
        send_until_refused(connection, server.head("GET /readyz HTTP/1.1", key=False) * 500, most=4 * MB)
        got = b""
        with suppress(ConnectionResetError):
            while part := connection.recv(65536):
                got += part
    assert got.count(b"HTTP/1.1 ") < 100


def test_what_is_no_http_is_told_so(server: Server) -> None:
    with closing(server.connect()) as connection:
        connection.sendall(b"\x16\x03\x01 hello\r\n\r\n")
        refused(connection, 400, "INVALID_REQUEST")
