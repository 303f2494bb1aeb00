"""Binary COPY of many rows, encoded here because the driver looks up the type of every value."""

import asyncio
import struct
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import LiteralString

from whence.store.pool import Queries

_SIGNATURE = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_END = b"\xff\xff"
_NULL = b"\xff\xff\xff\xff"
_AT_ONCE = 1 << 20  # bytes per part; a document may have a hundred times as many

_LENGTH = struct.Struct(">i").pack
_TIME = struct.Struct(">q").pack
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
_MICROSECONDS = 1_000_000

integer = struct.Struct(">i").pack
bigint = struct.Struct(">q").pack


def moment(value: datetime) -> bytes:
    passed = value - _EPOCH
    return _TIME((passed.days * 86_400 + passed.seconds) * _MICROSECONDS + passed.microseconds)


def jsonb(text: bytes) -> bytes:
    return b"\x01" + text


def packed(*values: bytes | None) -> bytes:
    """Encode a row for `copy`. UUIDs and bytea are given as bytes, text as UTF-8."""
    parts = [len(values).to_bytes(2, "big")]
    for value in values:
        parts += (_NULL,) if value is None else (_LENGTH(len(value)), value)
    return b"".join(parts)


async def copy(queries: Queries, statement: LiteralString, rows: Iterable[bytes]) -> None:
    await _send(queries, statement, _group_rows(rows))


async def copy_large(queries: Queries, statement: LiteralString, *values: bytes | None) -> None:
    """Copy a single row with large values without duplicating them in memory."""
    await _send(queries, statement, _split_row(values))


async def _send(queries: Queries, statement: LiteralString, parts: Iterable[bytes]) -> None:
    async with queries.connection() as conn, conn.cursor() as cursor, cursor.copy(statement) as copying:
        for part in parts:
            await copying.write(part)
            await asyncio.sleep(0)  # writing alone might never yield to other tasks


def _group_rows(rows: Iterable[bytes]) -> Iterator[bytes]:
    part = bytearray(_SIGNATURE)
    for row in rows:
        part += row
        if len(part) > _AT_ONCE:
            yield bytes(part)
            part.clear()
    part += _END
    yield bytes(part)


def _split_row(values: Sequence[bytes | None]) -> Iterator[bytes]:
    yield _SIGNATURE + len(values).to_bytes(2, "big")
    for value in values:
        yield _NULL if value is None else _LENGTH(len(value))
        # In parts, because the driver keeps a buffer as large as the largest part.
        yield from (value[at : at + _AT_ONCE] for at in range(0, len(value or b""), _AT_ONCE) if value)
    yield _END
