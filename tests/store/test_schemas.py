"""Versions of a project's schema: numbered, never changed, and not made twice."""

import asyncio
from hashlib import sha256
from uuid import uuid4

import pytest

from whence.errors import ProjectNotFound, SchemaNotFound
from whence.models import DEFAULT_PROJECT_ID as PROJECT
from whence.store import Store


async def put(store: Store, text: str) -> tuple[int, bool]:
    made, new = await store.schemas.put(PROJECT, body={"text": text}, sha256=sha256(text.encode()).digest())
    return made.number, new


async def test_the_first_one_is_made_only_where_there_is_none(store: Store) -> None:
    first = await store.schemas.first(PROJECT, body={"text": "a"}, sha256=b"a")
    again = await store.schemas.first(PROJECT, body={"text": "b"}, sha256=b"b")
    assert (first.number, first.body, again) == (1, {"text": "a"}, first)


async def test_versions_are_counted(store: Store) -> None:
    assert await store.schemas.current(PROJECT) is None
    assert await put(store, "a") == (1, True)
    assert await put(store, "a") == (1, False)
    assert await put(store, "b") == (2, True)
    assert await put(store, "a") == (3, True)
    current = await store.schemas.current(PROJECT)
    assert current is not None
    assert (current.version, current.body) == ("v3", {"text": "a"})
    assert (await store.schemas.get(PROJECT, 2)).body == {"text": "b"}


async def test_the_tenth_comes_after_the_second(store: Store) -> None:
    for number in range(11):
        await put(store, str(number))
    versions, total = await store.schemas.page(PROJECT, limit=3, offset=0)
    assert ([one.version for one in versions], total) == (["v11", "v10", "v9"], 11)
    current = await store.schemas.current(PROJECT)
    assert current is not None
    assert current.number == 11


async def test_many_at_once_make_one_version_each(store: Store) -> None:
    found = await asyncio.gather(*(put(store, str(number % 4)) for number in range(12)))
    made = [number for number, new in found if new]
    assert sorted(made) == list(range(1, len(made) + 1))
    same = await asyncio.gather(*(put(store, "the same") for _ in range(6)))
    assert sorted(new for _, new in same) == [False] * 5 + [True]


async def test_what_is_not_there(store: Store) -> None:
    with pytest.raises(SchemaNotFound, match="There is no schema v7"):
        await store.schemas.get(PROJECT, 7)
    with pytest.raises(ProjectNotFound):
        await store.schemas.put(uuid4(), body={}, sha256=b"")
    with pytest.raises(SchemaNotFound):
        await store.schemas.get(PROJECT, 10**30)
