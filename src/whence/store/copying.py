"""Many rows at once, in the binary form of COPY: put together here, as the driver asks each value of each row for its type."""

import struct
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import LiteralString

from whence.store.pool import Queries

_SIGNATURE = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_END = b"\xff\xff"
_NULL = b"\xff\xff\xff\xff"
_AT_ONCE = 1 << 20  # bytes; a document may have a hundred times as many

_LENGTH = struct.Struct(">i").pack
_TIME = struct.Struct(">q").pack
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
_MICROSECONDS = 1_000_000

integer = struct.Struct(">i").pack
bigint = struct.Struct(">q").pack


def moment(value: datetime) -> bytes:
    """A timestamptz."""
    passed = value - _EPOCH
    return _TIME((passed.days * 86_400 + passed.seconds) * _MICROSECONDS + passed.microseconds)


def jsonb(text: bytes) -> bytes:
    return b"\x01" + text


async def copy(queries: Queries, statement: LiteralString, rows: Iterable[Sequence[bytes | None]]) -> None:
    """`COPY … FROM STDIN (FORMAT binary)`; uuids and bytea are their bytes, text is its UTF-8."""
    async with queries.connection() as conn, conn.cursor() as cursor, cursor.copy(statement) as copying:
        for part in _parts(rows):
            await copying.write(part)


def _parts(rows: Iterable[Sequence[bytes | None]]) -> Iterator[bytes]:
    part = bytearray(_SIGNATURE)
    for row in rows:
        part += len(row).to_bytes(2, "big")
        for value in row:
            if value is None:
                part += _NULL
            else:
                part += _LENGTH(len(value))
                if len(value) > _AT_ONCE:  # the driver would keep a buffer of that size for good
                    yield bytes(part)
                    part.clear()
                    yield from (value[at : at + _AT_ONCE] for at in range(0, len(value), _AT_ONCE))
                else:
                    part += value
        if len(part) > _AT_ONCE:
            yield bytes(part)
            part.clear()
    part += _END
    yield bytes(part)
