"""The text index stays exact: what comes, goes and is merged, in any order and at the same time, is counted right."""

import asyncio
from collections import Counter
from random import Random
from typing import LiteralString
from uuid import UUID

import numpy as np
import psycopg
import pytest
from tests.search.shelf import Shelf, assert_same, generated

from whence.errors import BadInput, DatabaseUnavailable, ProjectNotFound
from whence.models import new_id
from whence.search import index
from whence.search.index import FANOUT, LARGE, compact, compare_index, due, reindex, segments_of
from whence.search.postings import MOST_CHUNKS, in_block
from whence.search.vocabulary import count_words, unpack_words
from whence.store import Store
from whence.store.lexical import SegmentState
from whence.text.lexer import key, lexer

KILL: LiteralString = """
SELECT pg_terminate_backend(pid) FROM pg_locks
WHERE mode = 'RowExclusiveLock' AND relation = 'kb.lexical_segments'::regclass
"""
QUESTION = "word1 word2 word3 word5 word17 word200"


async def assert_exact(shelf: Shelf) -> None:
    """The index counts what the table of chunks holds: chunks, terms, and chunks for each term."""
    terms = lexer("english").terms
    counted = {ident: Counter(terms(text)) for ident, text in (await shelf.texts()).items()}
    having = Counter(key(term) for counts in counted.values() for term in counts)
    rows = await shelf.store.lexical.postings(shelf.project_id, [*having, key("nowhere")])
    found: Counter[int] = Counter()
    for row in rows:
        dead = set(np.frombuffer(row.dead, "<u2").tolist())
        for term, block in zip([*having, key("nowhere")], row.blocks, strict=True):
            postings = None if block is None else in_block(block, term)
            found[term] += 0 if postings is None else len(set(postings[0].tolist()) - dead)
    assert +found == having
    assert sum(row.live for row in rows) == len(counted)
    assert sum(row.length for row in rows) == sum(counts.total() for counts in counted.values())
    assert_same(await shelf.find(QUESTION, limit=50), await shelf.expected(QUESTION), 50)
    words = [unpack_words(packed) for packed in (await shelf.store.lexical.words(shelf.project_id)).values()]
    there = {word for text in (await shelf.texts()).values() for word in count_words([text])}
    assert there <= set().union(*words)


@pytest.mark.parametrize("seed", range(3))
async def test_any_history(shelf: Shelf, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks come and go, segments are merged; small limits bring every kind of merge about."""
    monkeypatch.setattr(index, "FANOUT", 4)
    monkeypatch.setattr(index, "AT_ONCE", 16)
    monkeypatch.setattr(index, "MOST_CHUNKS", 100)
    monkeypatch.setattr(index, "LARGE", 50)
    random = Random(seed)
    there: list[UUID] = []
    for _ in range(40):
        step = random.random()
        if step < 0.6:
            there += await shelf.add(
                *(generated(random, random.randint(0, 30)) for _ in range(random.randint(1, 25)))
            )
        elif step < 0.85:
            gone = random.sample(there, k=min(len(there), random.randint(1, 30)))
            await shelf.remove(gone)
            there = [ident for ident in there if ident not in set(gone)]
        else:
            await compact(shelf.store, shelf.project_id)
            assert due(await shelf.store.lexical.segments(shelf.project_id)) == []
        if random.random() < 0.3:
            await assert_exact(shelf)
    await assert_exact(shelf)
    await shelf.remove(there)
    assert (await shelf.find(QUESTION)).hits == []
    await compact(shelf.store, shelf.project_id)
    assert await shelf.store.lexical.segments(shelf.project_id) == []


async def test_all_at_once(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two who add, one who removes and two who merge; each search sees one moment, and nothing is lost."""
    monkeypatch.setattr(index, "FANOUT", 3)
    made: list[UUID] = []

    async def add(seed: int) -> None:
        random = Random(seed)
        for _ in range(25):
            made.extend(await shelf.add(*(generated(random, 20) for _ in range(random.randint(1, 9)))))

    async def remove() -> None:
        random = Random(3)
        for _ in range(30):
            gone = random.sample(made, k=min(len(made), 5))
            made[:] = [ident for ident in made if ident not in set(gone)]
            await shelf.remove(gone)
            await asyncio.sleep(0)

    async def merge() -> None:
        for _ in range(25):
            await compact(shelf.store, shelf.project_id)

    async def look() -> None:
        for _ in range(40):
            hits = (await shelf.find("word1", limit=10_000)).hits
            assert len({hit.chunk_id for hit in hits}) == len(hits)

    await asyncio.gather(add(1), add(2), remove(), merge(), merge(), look())
    assert set(made) == set(await shelf.texts())
    await assert_exact(shelf)


async def test_a_chunk_that_goes_while_its_segment_is_merged(dsn: str, shelf: Shelf) -> None:
    """The one who deletes waits for the merge, and finds the chunk in the segment that came of it."""
    made = [ident for _ in range(FANOUT) for ident in await shelf.add("word1 word2", "word1 word3")]
    async with Store.open(dsn) as other:
        merging, goes_on = asyncio.Event(), asyncio.Event()

        async def merge() -> None:
            async with other.transaction() as tx:
                group = due(await tx.lexical.segments(shelf.project_id))
                await tx.lexical.share(shelf.project_id)
                held = await tx.lexical.hold(shelf.project_id, group)
                await index._merge_into_one(tx, shelf.project_id, held, lexer("english"))
                merging.set()
                await goes_on.wait()

        task = asyncio.create_task(merge())
        await merging.wait()
        removing = asyncio.create_task(shelf.remove(made[3:9]))
        await asyncio.sleep(0.2)
        assert not removing.done()
        goes_on.set()
        await asyncio.gather(task, removing)
    (only,) = await shelf.store.lexical.segments(shelf.project_id)
    assert (only.size, only.live) == (2 * FANOUT, 2 * FANOUT - 6)
    await assert_exact(shelf)


async def test_searches_that_know_segments_which_were_merged_since(shelf: Shelf) -> None:
    for _ in range(FANOUT):
        await shelf.add("word1 word2", "word1 word3")
    assert_same(await shelf.find("word1 word3"), await shelf.expected("word1 word3"), 10)
    assert await compact(shelf.store, shelf.project_id) == 1
    for _ in range(2):
        assert_same(await shelf.find("word1 word3"), await shelf.expected("word1 word3"), 10)
    await shelf.add("word3 word4")
    assert_same(await shelf.find("word1 word3"), await shelf.expected("word1 word3"), 10)


async def test_of_the_ids_of_many_projects_those_asked_last_are_remembered(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("whence.store.lexical._MOST_REMEMBERED", 100)
    lexical = shelf.store.lexical
    for project in range(5):
        lexical._remember(UUID(int=project), {UUID(int=1): b"x" * 40})
        lexical._remember(UUID(int=0), {UUID(int=1): b"x" * 40})
    assert list(lexical._known) == [UUID(int=4), UUID(int=0)]
    lexical._remember(UUID(int=9), {UUID(int=1): b"x" * 400})
    assert list(lexical._known) == [UUID(int=9)]


async def test_a_merge_that_is_killed_changes_nothing(dsn: str, shelf: Shelf) -> None:
    for _ in range(FANOUT):
        await shelf.add("word1 word2", "word1 word3")
    before = await shelf.store.lexical.segments(shelf.project_id)
    async with Store.open(dsn) as other:

        async def killed() -> None:
            async with other.transaction() as tx:
                held = await tx.lexical.hold(shelf.project_id, due(before))
                await index._merge_into_one(tx, shelf.project_id, held, lexer("english"))
                with psycopg.connect(dsn, autocommit=True) as killer:
                    killer.execute(KILL)

        with pytest.raises(DatabaseUnavailable):
            await killed()
    assert await shelf.store.lexical.segments(shelf.project_id) == before
    await assert_exact(shelf)
    assert await compact(shelf.store, shelf.project_id) == 1
    await assert_exact(shelf)


async def test_chunks_that_were_never_indexed_may_go(shelf: Shelf) -> None:
    made = await shelf.add("word1", "word2")
    await shelf.store.lexical.clear(shelf.project_id)
    await shelf.remove(made[:1])
    assert (await shelf.find("word2")).hits == []
    assert await reindex(shelf.store, shelf.project_id) == 1
    await assert_exact(shelf)


async def test_what_is_written_while_the_index_is_made_anew_waits(dsn: str, shelf: Shelf) -> None:
    made = [ident for _ in range(20) for ident in await shelf.add("word1 word2", "word2 word3")]
    async with Store.open(dsn) as other:
        again = Shelf(other, shelf.project_id)
        await asyncio.gather(
            reindex(shelf.store, shelf.project_id),
            again.remove(made[::3]),
            again.add("word1 word5"),
            compact(other, shelf.project_id),
            reindex(other, shelf.project_id),
        )
    await assert_exact(shelf)


async def test_an_unknown_language_is_refused(shelf: Shelf) -> None:
    await shelf.add("word1")
    with pytest.raises(BadInput) as error:
        await reindex(shelf.store, shelf.project_id, language="klingon")
    assert error.value.details["field"] == "language"
    await assert_exact(shelf)


async def test_a_project_that_is_not_there(store: Store) -> None:
    with pytest.raises(ProjectNotFound):
        await reindex(store, new_id())
    assert await compact(store, new_id()) == 0


def states(*sizes: int, size: int | None = None) -> list[SegmentState]:
    return [SegmentState(new_id(), size or live, live, new_id(), new_id()) for live in sizes]


def test_which_segments_become_one() -> None:
    assert due([]) == []
    assert due(states(*[10] * (FANOUT - 1))) == []
    peers = states(*[10] * (FANOUT + 3))
    assert due(peers) == [state.id for state in peers[:FANOUT]]
    mixed = states(*[1000, 10] * (FANOUT - 1))
    assert due(mixed) == []
    large = states(*[LARGE] * 40)
    assert due(large) == []
    half = states(*[LARGE - 1] * FANOUT)
    assert len(due(half)) == 2 == MOST_CHUNKS // (LARGE - 1)
    dead = states(40, size=100)
    assert due([*peers[:3], *dead]) == [dead[0].id]
    assert due(states(50, size=100)) == []
    nearly = states(99, size=100)
    assert due(nearly, purging=True) == [nearly[0].id]


def test_a_large_document_becomes_several_segments() -> None:
    made = segments_of([(new_id(), f"word{n}") for n in range(index.AT_ONCE + 1)], "english")
    assert [segment.size for segment in made] == [index.AT_ONCE, 1]


def test_the_order_of_chunks_does_not_matter() -> None:
    chunks = [(new_id(), f"word{n}") for n in range(5)]
    assert segments_of(chunks, "english") == segments_of(chunks[::-1], "english")
    assert segments_of([], "english") == []


async def test_merging_a_damaged_segment(shelf: Shelf, dsn: str) -> None:
    """The merge succeeds, and the check still counts the chunks that lost their terms."""
    damaged, _ = await shelf.add("The heron waits.", "The bittern booms."), await shelf.add("A wren sings.")
    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as database:
        await database.execute(
            "UPDATE kb.lexical_blocks SET payload = '' WHERE first_term IN (SELECT min(first_term) FROM kb.lexical_blocks GROUP BY segment_id ORDER BY segment_id LIMIT 1)"
        )
    assert (await compare_index(shelf.store, shelf.project_id)).incomplete == 2
    await shelf.remove(damaged[:1])
    assert await compact(shelf.store, shelf.project_id) == 1
    assert tuple(await compare_index(shelf.store, shelf.project_id)) == (0, 0, 1, 0)
