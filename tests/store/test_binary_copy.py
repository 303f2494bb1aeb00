"""Rows that are put together here arrive as they were."""

from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any
from uuid import UUID

import orjson
import pytest

from whence.store import Store, binary_copy
from whence.store.binary_copy import bigint, copy, copy_large, integer, jsonb, moment, packed

TABLE = """
CREATE TEMP TABLE copied (
    id uuid, small integer, large bigint, words text, raw bytea, body jsonb, at timestamptz, number serial
) ON COMMIT DROP
"""
COPY = "COPY copied (id, small, large, words, raw, body, at) FROM STDIN (FORMAT binary)"
READ = "SELECT id, small, large, words, raw, body, at FROM copied ORDER BY number"

Values = tuple[UUID, int, int, str, bytes, dict[str, Any], datetime]
FIRST = datetime(1, 1, 1, tzinfo=UTC)


def made_up(chance: Random) -> Values:
    letters = "aé漢🙂 \n\t\\"
    return (
        UUID(int=chance.getrandbits(128)),
        chance.randint(-(2**31), 2**31 - 1),
        chance.randint(-(2**63), 2**63 - 1),
        "".join(chance.choices(letters, k=chance.randint(0, 300))),
        chance.randbytes(chance.randint(0, 300)),
        {"a": chance.random(), "b": [None, letters]},
        FIRST + timedelta(days=chance.randint(0, 3_000_000), microseconds=chance.randint(0, 86_400_000_000)),
    )


def fields(values: Values) -> tuple[bytes, ...]:
    ident, small, large, words, raw, body, at = values
    return (
        ident.bytes,
        integer(small),
        bigint(large),
        words.encode(),
        raw,
        jsonb(orjson.dumps(body)),
        moment(at),
    )


async def copied(store: Store, rows: list[bytes]) -> list[tuple[Any, ...]]:
    async with store.transaction() as tx:
        await tx._queries.run(TABLE)
        await copy(tx._queries, COPY, rows)
        return await tx._queries.all(READ)


async def copied_in_parts(store: Store, *values: bytes | None) -> list[tuple[Any, ...]]:
    async with store.transaction() as tx:
        await tx._queries.run(TABLE)
        await copy_large(tx._queries, COPY, *values)
        return await tx._queries.all(READ)


@pytest.mark.parametrize("at_once", [1, 1000, 1 << 20])
async def test_what_is_copied_is_what_is_read(
    store: Store, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(binary_copy, "_AT_ONCE", at_once)
    chance = Random(7)
    given = [made_up(chance) for _ in range(50)]
    assert await copied(store, [packed(*fields(one)) for one in given]) == given
    for one in given[:3]:
        assert await copied_in_parts(store, *fields(one)) == [one]


async def test_nothing_is_null(store: Store) -> None:
    nothing = (None,) * 7
    assert await copied(store, [packed(*nothing)]) == [nothing]
    assert await copied_in_parts(store, *nothing) == [nothing]


async def test_no_rows(store: Store) -> None:
    assert await copied(store, []) == []
