"""The vector leg: which way it goes, that both ways find the same, and who makes the index."""

import os
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray

from whence.errors import WhenceError
from whence.findings import check_vector_indexes
from whence.models import DEFAULT_PROJECT_ID, ChunkKey, EmbeddingSpace, new_id
from whence.search import vectors
from whence.search.vectors import (
    MAKE_INDEX,
    VectorLeg,
    ask_for_index,
    drop_unused,
    exact_up_to,
    make_index,
    vector_lock,
)
from whence.store import Store
from whence.store.halfvec import HalfVector, HalfVectorDumper, halfvec, halfvecs
from whence.store.vector_search import index_name, nearest

DIMENSIONS = 32


@pytest.fixture
def low(monkeypatch: pytest.MonkeyPatch) -> int:
    """A switch so low that tests can be above it."""
    monkeypatch.setattr(vectors, "SWITCH", 200)
    monkeypatch.setattr(vectors, "_PRICE", 0)
    return 200


@pytest.fixture
async def space(store: Store) -> EmbeddingSpace:
    made = await store.vectors.ensure_space(provider="test", model="clouds", dimensions=DIMENSIONS)
    await store.vectors.first_space(DEFAULT_PROJECT_ID, made)
    return made


def clouds(count: int, *, seed: int) -> NDArray[np.float32]:
    """Points around a few centres, as texts are about a few things."""
    chance = np.random.default_rng(seed)
    centres = np.random.default_rng(0).normal(size=(20, DIMENSIONS))
    points = centres[chance.integers(0, 20, count)] + chance.normal(size=(count, DIMENSIONS))
    made: NDArray[np.float32] = (points / np.linalg.norm(points, axis=1, keepdims=True)).astype(np.float32)
    return made


async def fill(
    store: Store, space: EmbeddingSpace, count: int, *, project_id: UUID = DEFAULT_PROJECT_ID, seed: int = 1
) -> UUID:
    """A document with so many chunks; gives its id."""
    document, job = new_id(), new_id()
    params: dict[str, Any] = {"p": project_id, "d": document, "j": job, "s": os.urandom(32), "n": count}
    async with store.transaction() as tx:
        await tx._queries.run(
            """INSERT INTO kb.documents (project_id, id, name, mime, size, sha256, created_at, updated_at)
            VALUES (%(p)s, %(d)s, 'd', 'text/plain', 1, %(s)s, now(), now())""",
            params,
        )
        await tx._queries.run(
            """INSERT INTO kb.jobs (project_id, id, document_id, type, name, status, file_name, file_type, file_size, created_at)
            VALUES (%(p)s, %(j)s, %(d)s, 'document_processing', 'd', 'completed', 'd', 't', 1, now())""",
            params,
        )
        made = await tx._queries.all(
            """INSERT INTO kb.chunks (project_id, id, document_id, job_id, chunk_index, text, content_hash, created_at)
            SELECT %(p)s, gen_random_uuid(), %(d)s, %(j)s, n, 'word', '', now() FROM generate_series(0, %(n)s - 1) n
            RETURNING id""",
            params,
        )
        points = clouds(count, seed=seed)
        rows = zip((row[0] for row in made), halfvecs(points), strict=True)
        await tx.vectors.insert(project_id, space.id, rows)
    return document


def recall(found: Sequence[ChunkKey], expected: Sequence[ChunkKey]) -> float:
    return len(set(found) & set(expected)) / len(expected)


async def compare(
    store: Store,
    space: EmbeddingSpace,
    *,
    project_id: UUID = DEFAULT_PROJECT_ID,
    document_ids: list[UUID] | None = None,
) -> float:
    """Recall of the index in the nearest ten, over some questions."""
    leg, found = VectorLeg(store), []
    for point in clouds(20, seed=99):
        vector = halfvec(point)
        exact = await store.nearest.search(
            "exact", project_id, space, vector, limit=10, document_ids=document_ids
        )
        among = await store.nearest.count(project_id, space, most=1_000_000)
        near = await leg.nearest(project_id, space, vector, among=among, limit=10, document_ids=document_ids)
        assert len(near) == 10
        found.append(recall(list(near), [ident for ident, _ in exact]))
    return float(np.mean(found))


async def by_index(
    store: Store,
    space: EmbeddingSpace,
    *,
    project_id: UUID = DEFAULT_PROJECT_ID,
    document_ids: list[UUID] | None = None,
) -> bool:
    """Which way the leg would go."""
    among = await store.nearest.count(project_id, space, most=1_000_000)
    return await VectorLeg(store)._by_index(project_id, space, among, 10, document_ids)


def test_what_is_few_is_read_whole_and_the_larger_the_space_the_more_are_few() -> None:
    assert exact_up_to(0, 100) == exact_up_to(100_000, 100) == 20_000
    assert 40_000 < exact_up_to(1_000_000, 100) < 50_000
    assert exact_up_to(10_000_000, 100) < 10_000_000 / 50


async def test_exact_gives_cosines_with_the_nearest_first(store: Store, space: EmbeddingSpace) -> None:
    await fill(store, space, 50)
    point = clouds(50, seed=1)[7]
    found = await VectorLeg(store).nearest(DEFAULT_PROJECT_ID, space, halfvec(point), among=50, limit=5)
    cosines = sorted((clouds(50, seed=1) @ point).tolist(), reverse=True)[:5]
    assert list(found.values()) == pytest.approx(cosines, abs=2e-3)
    everything = await VectorLeg(store).nearest(DEFAULT_PROJECT_ID, space, halfvec(point), among=50, limit=51)
    assert len(everything) == 50


@pytest.mark.usefixtures("low")
async def test_the_index_is_made_asked_and_right(store: Store, space: EmbeddingSpace) -> None:
    first = await fill(store, space, 400, seed=1)
    await fill(store, space, 800, seed=2)
    assert (await store.nearest.index(space)).state == "none"
    assert await ask_for_index(store, DEFAULT_PROJECT_ID)
    assert await store.queue.waits(MAKE_INDEX, lock=vector_lock(space.id))
    assert not await ask_for_index(store, DEFAULT_PROJECT_ID), "it waits already"
    await make_index(store, DEFAULT_PROJECT_ID, space.id)
    index = await store.nearest.index(space)
    assert (index.state, index.vectors, index.used) == ("valid", 1200, True)
    assert not await ask_for_index(store, DEFAULT_PROJECT_ID), "it is there"
    assert await compare(store, space) >= 0.95
    assert await compare(store, space, document_ids=[first]) >= 0.95
    assert await by_index(store, space)
    assert await by_index(store, space, document_ids=[first])
    await fill(store, space, 100, seed=3)  # goes on with the index there
    assert await compare(store, space) >= 0.95


@pytest.mark.usefixtures("low")
async def test_ef_search_is_halved_in_a_small_space(
    store: Store, space: EmbeddingSpace, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(store, space, 300)
    await store.nearest.build(space, vectors=300)
    vector = halfvec(clouds(1, seed=8)[0])

    async def near(ef_search: int) -> int:
        leg = VectorLeg(store, ef_search)
        return len(await leg.nearest(DEFAULT_PROJECT_ID, space, vector, among=300, limit=10))

    assert await near(200) == await near(2000) == 10
    # Postgres refuses more than 1000, which shows what it was given.
    for most, ef_search in ((300, 2002), (100, 1001)):
        monkeypatch.setattr(vectors, "FEW", most)
        with pytest.raises((psycopg.Error, WhenceError)) as refused:
            await near(ef_search)
        assert "hnsw.ef_search" in f"{refused.value} {refused.value.__cause__}"


@pytest.mark.parametrize("filtered", [False, True])
async def test_the_planner_takes_the_index(
    store: Store, space: EmbeddingSpace, dsn: str, filtered: bool
) -> None:
    document = await fill(store, space, 300)
    await store.nearest.build(space, vectors=300)
    statement = nearest("indexed", space, filtered=filtered)
    params = {"project_id": DEFAULT_PROJECT_ID, "vector": halfvec(clouds(1, seed=8)[0]), "limit": 10}
    with psycopg.connect(dsn) as conn:
        conn.adapters.register_dumper(HalfVector, HalfVectorDumper)
        conn.execute("SET enable_sort = off")  # of so few rows it would rather sort all
        explain = b"EXPLAIN " + statement
        plan = conn.execute(explain, {**params, "document_ids": [document]}).fetchall()
    assert any(index_name(space) in row[0] for row in plan), plan


@pytest.mark.usefixtures("low")
async def test_a_small_project_in_a_large_space_is_read_whole(store: Store, space: EmbeddingSpace) -> None:
    await fill(store, space, 1000)
    small = await store.projects.create(name="small")
    await fill(store, space, 60, project_id=small.id, seed=4)
    await store.nearest.build(space, vectors=1060)
    assert not await by_index(store, space, project_id=small.id)
    assert await compare(store, space, project_id=small.id) == 1


@pytest.mark.usefixtures("low")
async def test_a_filter_that_leaves_few_is_read_whole(store: Store, space: EmbeddingSpace) -> None:
    await fill(store, space, 1000)
    few = await fill(store, space, 50, seed=5)
    await store.nearest.build(space, vectors=1050)
    assert await by_index(store, space)
    assert not await by_index(store, space, document_ids=[few])
    assert await compare(store, space, document_ids=[few]) == 1


@pytest.mark.usefixtures("low")
async def test_without_an_index_or_with_a_broken_one_everything_is_read(
    store: Store, space: EmbeddingSpace, dsn: str
) -> None:
    await fill(store, space, 300)
    assert await compare(store, space) == 1
    await store.nearest.build(space, vectors=300)
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = %s::regclass",
            [f"kb.{index_name(space)}"],
        )
    assert (await store.nearest.index(space)).state == "broken"
    assert await compare(store, space) == 1
    assert await ask_for_index(store, DEFAULT_PROJECT_ID)
    await make_index(store, DEFAULT_PROJECT_ID, space.id)
    assert (await store.nearest.index(space)).state == "valid"


async def test_a_small_project_wants_no_index(store: Store, space: EmbeddingSpace, low: int) -> None:
    await fill(store, space, low)
    assert not await ask_for_index(store, DEFAULT_PROJECT_ID)
    await make_index(store, DEFAULT_PROJECT_ID, space.id)
    assert (await store.nearest.index(space)).state == "none"
    assert not await ask_for_index(store, new_id())


async def test_two_do_not_make_it_at_once(store: Store, space: EmbeddingSpace, dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("SELECT pg_advisory_lock(6402373705)")
        assert not await store.nearest.build(space, vectors=1)
        conn.execute("SELECT pg_advisory_unlock(6402373705)")
    assert await store.nearest.build(space, vectors=1)


async def test_the_connection_is_as_before_when_the_index_is_made(
    store: Store, space: EmbeddingSpace
) -> None:
    query = """SELECT current_setting('statement_timeout'), current_setting('lock_timeout'), current_setting('search_path'),
    current_setting('hnsw.iterative_scan'), current_setting('maintenance_work_mem')"""
    before = await store._queries.one(query)
    assert await store.nearest.build(space, vectors=1_000_000)
    assert await store._queries.one(query) == before


async def test_the_index_of_a_space_that_nobody_is_in_goes_away(store: Store, space: EmbeddingSpace) -> None:
    old = await store.vectors.ensure_space(provider="test", model="old", dimensions=4)
    for made in (old, space):
        await store.nearest.build(made, vectors=1)
    assert await drop_unused(store) == 1
    assert [index.state for index in await store.nearest.indexes()] == [
        "valid" if index.space == space else "none" for index in await store.nearest.indexes()
    ]


@pytest.mark.usefixtures("low")
async def test_the_doctor_tells_of_an_index_that_is_missing_and_of_one_that_is_there(
    store: Store, space: EmbeddingSpace
) -> None:
    assert await check_vector_indexes(store) == []
    await fill(store, space, 300)
    (missing,) = await check_vector_indexes(store)
    assert (missing.what, missing.state) == ("Vectors of clouds", "note")
    assert "and no index" in missing.says
    await store.nearest.build(space, vectors=300)
    (there,) = await check_vector_indexes(store)
    assert (there.state, there.says) == ("ok", "about 300 in an index")
