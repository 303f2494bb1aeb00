"""Unpacks, counts, hashes and writes the response body, piece by piece."""

import asyncio
import hashlib
import zlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx

from whence.errors import PayloadTooLarge
from whence.fetch.targets import failed

_PIECE = 1 << 18
_MB = 1 << 20
_GZIP = 16 + zlib.MAX_WBITS
_GZIP_MAGIC = b"\x1f\x8b"


async def write(response: httpx.Response, into: Path, *, host: str, max_bytes: int) -> tuple[int, bytes]:
    """Writes the body to a new file and returns its size and SHA-256; any failure removes the file.

    The file is opened and removed in the event loop, because a cancelled thread would leave it behind. It is written in a
    thread, 256 kB at a time: a slow disk must not block the loop.
    """
    length = response.headers.get("content-length", "")
    if length.isdecimal() and int(length) > max_bytes:
        raise _too_large(host, max_bytes)
    size, digest, waiting = 0, hashlib.sha256(), bytearray()
    with into.open("wb") as file:

        def flush() -> None:
            digest.update(waiting)
            file.write(waiting)
            waiting.clear()

        try:
            async for piece in unpack(response, host, max_bytes):
                size += len(piece)
                waiting += piece
                if len(waiting) >= _PIECE:
                    await asyncio.to_thread(flush)
            await asyncio.to_thread(flush)
        except BaseException:
            _discard(into)
            raise
    return size, digest.digest()


def _discard(half: Path) -> None:
    half.unlink(missing_ok=True)


async def unpack(response: httpx.Response, host: str, max_bytes: int) -> AsyncIterator[bytes]:
    """Limits packed bytes as well: a stream can go on forever without unpacking to anything."""
    gunzip = _Gunzip(host) if _is_gzip(response, host) else None
    packed = unpacked = 0
    async for raw in response.aiter_raw():
        for piece in gunzip.feed(raw) if gunzip else (raw,):
            unpacked += len(piece)
            if unpacked > max_bytes:
                raise _too_large(host, max_bytes)
            yield piece
        packed += len(raw)
        if packed > max_bytes:
            raise _too_large(host, max_bytes)
    if gunzip and gunzip.is_cut:
        raise failed(host, "cut", f"{host} sent only part of the file")


class _Gunzip:
    """Unpacks gzip, with at most one piece in memory: 64 kB may unpack to 64 MB. Accepts several members."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._member = zlib.decompressobj(_GZIP)
        self._seen = self._padding = False

    @property
    def is_cut(self) -> bool:
        return self._seen and not self._member.eof

    def feed(self, raw: bytes) -> Iterator[bytes]:
        rest, full = raw, False
        while (rest or full) and not self._padding:
            if self._member.eof:
                if not _GZIP_MAGIC.startswith(rest[:2]):
                    self._padding = True  # like gzip, ignore data after the last member
                    return
                self._member = zlib.decompressobj(_GZIP)
            self._seen = True
            try:
                piece = self._member.decompress(rest, _PIECE)
            except zlib.error as exc:
                raise failed(self._host, "encoding", f"{self._host} sent a body that is not gzip") from exc
            rest = self._member.unused_data if self._member.eof else self._member.unconsumed_tail
            # zlib may have read all input and still hold output.
            full = len(piece) == _PIECE and not self._member.eof
            yield piece


def _is_gzip(response: httpx.Response, host: str) -> bool:
    encodings = [one.strip().lower() for one in response.headers.get("content-encoding", "").split(",")]
    match [one for one in encodings if one not in {"", "identity"}]:
        case []:
            return False
        case ["gzip" | "x-gzip"]:
            return True
        case _:
            raise failed(host, "encoding", f"{host} sent a body in an encoding that was not asked for")


def _too_large(host: str, max_bytes: int) -> PayloadTooLarge:
    limit = f"{max_bytes // _MB} MB" if max_bytes % _MB == 0 else f"{max_bytes} bytes"
    return PayloadTooLarge(
        f"What {host} sends is larger than {limit}", details={"host": host, "max_bytes": max_bytes}
    )
