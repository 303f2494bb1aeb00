"""Unpacks, counts, hashes and writes the response body, piece by piece."""

import asyncio
import hashlib
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import httpx

from whence.errors import PayloadTooLarge
from whence.fetch.answers import failed

_PIECE = 1 << 18
_MB = 1 << 20
_GZIP = 16 + zlib.MAX_WBITS
_GZIP_MAGIC = b"\x1f\x8b"


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenFile:
    size: int
    sha256: bytes


async def write(response: httpx.Response, into: Path, *, host: str, max_bytes: int) -> WrittenFile:
    """Writes the body to a new file; any failure removes the file."""
    _check_length(response, host, max_bytes)
    unpack = _unpacker(response, host)
    with _new(into) as file:
        try:
            sink = _Sink(file, host, max_bytes)
            async for raw in response.aiter_raw():
                for piece in unpack.feed(raw):
                    await sink.take(piece)
                sink.count_packed(len(raw))
            unpack.finish()
            return await sink.close()
        except BaseException:
            _discard(into)
            raise


def _new(into: Path) -> BinaryIO:
    """Not in a thread: after a cancellation the file would stay, and stay open."""
    return into.open("wb")


def _discard(half: Path) -> None:
    """A partial file must not pass for a whole one. Not in a thread: a cancelled task must not wait."""
    half.unlink(missing_ok=True)


class _Sink:
    """Writes in a thread, 256 kB at a time: a slow disk must not block the event loop."""

    def __init__(self, file: BinaryIO, host: str, max_bytes: int) -> None:
        self._file = file
        self._host = host
        self._max_bytes = max_bytes
        self._hash = hashlib.sha256()
        self._waiting = bytearray()
        self._size = 0
        self._packed = 0

    def count_packed(self, size: int) -> None:
        """Limits packed bytes as well: a stream can go on forever without unpacking to anything."""
        self._packed += size
        if self._packed > self._max_bytes:
            raise _too_large(self._host, self._max_bytes)

    async def take(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._max_bytes:
            raise _too_large(self._host, self._max_bytes)
        self._waiting += piece
        if len(self._waiting) >= _PIECE:
            await self._flush()

    async def close(self) -> WrittenFile:
        await self._flush()
        await asyncio.to_thread(self._file.flush)
        return WrittenFile(size=self._size, sha256=self._hash.digest())

    async def _flush(self) -> None:
        piece, self._waiting = bytes(self._waiting), bytearray()
        await asyncio.to_thread(self._write, piece)

    def _write(self, piece: bytes) -> None:
        self._hash.update(piece)
        self._file.write(piece)


class _Plain:
    def feed(self, raw: bytes) -> Iterator[bytes]:
        yield raw

    def finish(self) -> None:
        pass


class _Gunzip:
    """Unpacks gzip, with at most one piece in memory: 64 kB may unpack to 64 MB. Accepts several members."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._member = zlib.decompressobj(_GZIP)
        self._seen = False
        self._padding = False

    def feed(self, raw: bytes) -> Iterator[bytes]:
        rest, full = raw, False
        while (rest or full) and not self._padding:
            if self._member.eof:
                if not _GZIP_MAGIC.startswith(rest[:2]):
                    self._padding = True  # like gzip, ignore data after the last member
                    return
                self._member = zlib.decompressobj(_GZIP)
            piece = self._unpack(rest)
            rest = self._member.unused_data if self._member.eof else self._member.unconsumed_tail
            # zlib may have read all input and still hold output.
            full = len(piece) == _PIECE and not self._member.eof
            yield piece

    def _unpack(self, packed: bytes) -> bytes:
        self._seen = True
        try:
            return self._member.decompress(packed, _PIECE)
        except zlib.error as exc:
            raise failed(self._host, "encoding", f"{self._host} sent a body that is not gzip") from exc

    def finish(self) -> None:
        if self._seen and not self._member.eof:
            raise failed(self._host, "cut", f"{self._host} sent only part of the file")


def _unpacker(response: httpx.Response, host: str) -> _Plain | _Gunzip:
    encodings = [one.strip().lower() for one in response.headers.get("content-encoding", "").split(",")]
    match [one for one in encodings if one not in {"", "identity"}]:
        case []:
            return _Plain()
        case ["gzip" | "x-gzip"]:
            return _Gunzip(host)
        case _:
            raise failed(host, "encoding", f"{host} sent a body in an encoding that was not asked for")


def _check_length(response: httpx.Response, host: str, max_bytes: int) -> None:
    """Refuses a body by its Content-Length, before reading it. Without one, `_Sink` counts."""
    length = response.headers.get("content-length", "")
    if length.isdecimal() and int(length) > max_bytes:
        raise _too_large(host, max_bytes)


def _too_large(host: str, max_bytes: int) -> PayloadTooLarge:
    limit = f"{max_bytes // _MB} MB" if max_bytes % _MB == 0 else f"{max_bytes} bytes"
    return PayloadTooLarge(
        f"What {host} sends is larger than {limit}", details={"host": host, "max_bytes": max_bytes}
    )
