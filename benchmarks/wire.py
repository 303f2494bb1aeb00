"""A minimal HTTP client, so that timings are those of the server."""

import asyncio
import socket


def get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()


def post(path: str, body: bytes) -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def length_of(head: bytes) -> int:
    lower = head.lower()
    at = lower.index(b"content-length:") + len(b"content-length:")
    return int(lower[at:].split(b"\r\n", 1)[0])


class Client:
    """One keep-alive connection; blocking. One buffer for all answers: a new one for each would be timed too."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._buffer = memoryview(bytearray(1 << 20))

    def ask(self, request: bytes) -> bytes:
        """The body of a 200; anything else is an error of the benchmark."""
        self._socket.sendall(request)
        got = self._more(0)
        while (end := bytes(self._buffer[: min(got, 4096)]).find(b"\r\n\r\n")) < 0:
            got = self._more(got)
        head = bytes(self._buffer[:end])
        if not head.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(head.decode("latin-1"))
        whole = end + 4 + length_of(head)
        while got < whole:
            got = self._more(got)
        return bytes(self._buffer[end + 4 : whole])

    def _more(self, got: int) -> int:
        part = self._socket.recv_into(self._buffer[got:])
        if not part:
            raise ConnectionError("the server closed the connection")
        return got + part


async def respond(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes
) -> tuple[int, bytes]:
    writer.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    body = await reader.readexactly(length_of(head))
    return int(head[9:12]), body
