"""A web site on loopback that answers with whatever bytes a test wants, at whatever pace."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from ssl import SSLContext

from whence.fetch import Allowed, Fetched, FetchRules
from whence.fetch.run import fetch

Answer = Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    path: str
    headers: dict[str, str]


@dataclass(slots=True)
class Site:
    port: int = 0
    connections: int = 0
    requests: list[Request] = field(default_factory=list)
    answers: dict[str, Answer] = field(default_factory=dict)
    greeting: bytes = b""
    """Sent before anything was asked: not what a web site does."""
    _serving: set[asyncio.Task[None]] = field(default_factory=set)

    def url(self, path: str = "/", *, host: str = "127.0.0.1", scheme: str = "http") -> str:
        return f"{scheme}://{host}:{self.port}{path}"

    def plays(self, path: str, answer: Answer) -> str:
        self.answers[path] = answer
        return self.url(path)

    def sends(self, path: str, *head: str, body: bytes = b"", status: str = "200 OK") -> str:
        """An answer with these header lines, as they are, and the length of the body."""
        lines = [f"HTTP/1.1 {status}", *head, f"Content-Length: {len(body)}", "Connection: close", "", ""]
        return self.plays(path, raw("\r\n".join(lines).encode() + body))

    def redirects(self, path: str, to: str, status: str = "302 Found") -> str:
        return self.sends(path, f"Location: {to}", status=status)

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.create_task(self._serve(reader, writer))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    async def close(self) -> None:
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._answer(reader, writer)
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            writer.write(self.greeting)
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            path = head[0].split(" ")[1]
            headers = dict(line.split(": ", 1) for line in head[1:] if line)
            self.requests.append(
                Request(path=path, headers={name.lower(): value for name, value in headers.items()})
            )
            await self.answers[path.partition("?")[0]](writer)


def raw(*parts: bytes, pause: float = 0) -> Answer:
    async def answer(writer: asyncio.StreamWriter) -> None:
        for part in parts:
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(pause)

    return answer


def forever(head: bytes, part: bytes, pause: float = 0) -> Answer:
    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        while True:
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(pause)

    return answer


@asynccontextmanager
async def opened(tls: SSLContext | None = None) -> AsyncIterator[Site]:
    site = Site()
    server = await asyncio.start_server(site.accept, "127.0.0.1", 0, ssl=tls)
    site.port = server.sockets[0].getsockname()[1]
    try:
        yield site
    finally:
        server.close()
        await site.close()


HERE = Allowed.of(["127.0.0.1"])
"""The site, and nothing else that is not public."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetching:
    """`fetch` with rules that let it reach the site."""

    into: Path
    rules: FetchRules = field(default_factory=lambda: FetchRules(allow=HERE, seconds=20))

    async def __call__(
        self, url: str, *, etag: str | None = None, last_modified: str | None = None
    ) -> Fetched | None:
        return await fetch(url, into=self.into, rules=self.rules, etag=etag, last_modified=last_modified)

    async def file(self, url: str) -> Fetched:
        result = await self(url)
        assert isinstance(result, Fetched)
        return result
