"""Small projects in memory: what is found there is what the database would have found, at every moment."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from random import Random
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.search.library import HERONS, TRAINS, Library, told

from whence.app import App
from whence.ingest.reembed import begin_move, move
from whence.models import DEFAULT_PROJECT_ID, EmbeddingSpace, Filters, new_id
from whence.providers import Embedders
from whence.search import Question, Search, SearchResult, held_vectors, memory_index
from whence.search.index import compact
from whence.search.memory_index import HeldProject, Memory, hold
from whence.settings import Secret, Settings
from whence.store.halfvec import halfvec
from whence.store.lexical import WholeSegment

QUESTIONS = (
    "Where does the night train to Narvik leave?",
    "frogs and fish for breakfast on the night train",
    '"night train" breakfast',
    "zebra",
    "猫",
    '"猫" train',
    "猫はどのくらい眠りますか",
)
CATS = (
    "猫は一日に十四時間ほど眠ります。子猫はさらに長く眠り、二十時間に達することもあります。",
    "犬は猫より短く眠ります。",
)


@pytest.fixture
def settings(dsn: str, tmp_path: Path) -> Settings:
    return Settings(database_url=Secret(dsn), data_dir=tmp_path / "data", pool_size=4, embedder="hash")


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_index, "_PAUSE", 0.0)


@pytest.fixture
async def library(settings: Settings) -> AsyncIterator[Library]:
    async with App.open(settings) as app:
        library = Library(app)
        await library.add("herons.txt", HERONS)
        await library.add("trains.md", TRAINS)
        yield library


async def learned(library: Library) -> HeldProject:
    """What is held after a search, once it has been read."""
    await library.find("anything")
    memory = library.app.search._memory
    await asyncio.gather(*memory._reading)
    kept = memory.get(DEFAULT_PROJECT_ID, await library.app.store.hits.setting(DEFAULT_PROJECT_ID))
    assert kept is not None
    return kept


async def remove(library: Library, document_id: UUID) -> None:
    await library.app.remover.document(await library.app.store.documents.get(document_id))


async def by_database(library: Library, query: str, **asked: object) -> SearchResult:
    search = Search(library.app.store, library.app.embedders)
    return await search.find(DEFAULT_PROJECT_ID, replace(Question(query=query), **asked))  # type: ignore[arg-type]


@pytest.mark.parametrize("mode", ["hybrid", "vector", "text"])
@pytest.mark.parametrize("query", QUESTIONS)
async def test_memory_finds_what_the_database_finds(library: Library, query: str, mode: str) -> None:
    await library.add("cats.txt", CATS)
    kept = await learned(library)
    for asked in ({}, {"limit": 2}, {"limit": 2, "offset": 1}, {"floor": False}):
        found = await library.find(query, mode=mode, **asked)
        assert told(found) == told(await by_database(library, query, mode=mode, **asked))
    assert await learned(library) is kept  # it would have been forgotten, had it been wrong


async def test_vectors_are_compared_beside_the_event_loop_if_they_are_many(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = await learned(library)
    assert not held.vectors.is_slow
    at_once = told(await library.find(QUESTIONS[0]))
    monkeypatch.setattr(held_vectors, "_LOOP_NUMBERS", 1)
    assert held.vectors.is_slow
    assert told(await library.find(QUESTIONS[0])) == at_once


@pytest.mark.parametrize("mode", ["hybrid", "vector", "text"])
async def test_a_large_project_is_sketched_and_found_alike(
    library: Library, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    monkeypatch.setattr(held_vectors, "FEW", 1)
    monkeypatch.setattr(held_vectors, "_FOR_MEAN", 1)
    await library.add("cats.txt", CATS)
    assert (await learned(library)).vectors.sketches is not None
    for query in QUESTIONS:
        found = await library.find(query, mode=mode)
        assert told(found) == told(await by_database(library, query, mode=mode))


async def test_memory_finds_it_among_many_segments_with_dead_chunks(library: Library) -> None:
    random = Random(4)
    words = " ".join((*HERONS, *TRAINS)).split()
    documents = []
    for number in range(20):
        sentences = [" ".join(random.sample(words, 14)).capitalize() + "." for _ in range(5)]
        documents.append(await library.add(f"{number}.txt", sentences))
    for document_id in documents[::3]:
        await remove(library, document_id)
    await learned(library)
    for query in QUESTIONS:
        assert told(await library.find(query)) == told(await by_database(library, query))
    await compact(library.app.store, DEFAULT_PROJECT_ID)
    for query in QUESTIONS:
        assert told(await library.find(query)) == told(await by_database(library, query))


async def test_what_comes_in_is_found_at_once(library: Library) -> None:
    await learned(library)
    news = "The zebra crossed the savannah towards the river at dawn, followed by its foal and a lion."
    await library.add("zebras.txt", [news])
    (hit, *_) = (await library.find("Where did the zebra go?")).hits
    assert hit.chunk["content"] == news
    assert (await learned(library)).numbering.total == 7


async def test_what_goes_is_not_found_any_more(library: Library) -> None:
    before = await library.find("night train to Narvik")
    await learned(library)
    await remove(library, UUID(before.hits[0].chunk["document_id"]))
    found = await library.find("night train to Narvik", floor=False)
    assert all(hit.found.document_name == "herons.txt" for hit in found.hits)
    assert told(found) == told(await by_database(library, "night train to Narvik", floor=False))


async def test_a_document_renamed_since_is_named_at_once(library: Library) -> None:
    question = "What is eaten in Lapland?"
    document = await library.app.store.documents.get(
        UUID((await library.find("night train to Narvik")).hits[0].chunk["document_id"])
    )
    held = await learned(library)
    assert held.has_no_name_with(["lapland"])
    assert not held.has_no_name_with(["lapland", "herons"])
    before = told(await library.find(question, floor=False))
    assert await learned(library) is held
    await library.app.store.documents.move(replace(document, name="lapland.md"))
    named = await library.find(question, floor=False)
    assert told(named) == told(await by_database(library, question, floor=False)) != before
    assert named.hits[0].found.document_name == "lapland.md"
    assert not (await learned(library)).has_no_name_with(["lapland"])
    assert told(await library.find(question, floor=False)) == told(named)


async def test_names_with_too_many_words_are_looked_up(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_index, "MOST_NAME_WORDS", 2)
    held = await learned(library)
    assert held.name_words is None
    for query in (*QUESTIONS, "What do herons eat?"):
        assert told(await library.find(query)) == told(await by_database(library, query))
    assert await learned(library) is held


async def test_a_project_in_another_space_is_read_anew(library: Library) -> None:
    first = await learned(library)
    async with Embedders(Settings(embedder="hash", embedding_dimensions=64)) as embedders:
        await begin_move(library.app.store, embedders, DEFAULT_PROJECT_ID)
        await move(library.app.store, embedders, DEFAULT_PROJECT_ID)
    again = await learned(library)
    assert (first.space.dimensions, again.space.dimensions) == (256, 64)
    assert told(await library.find(QUESTIONS[0])) == told(await by_database(library, QUESTIONS[0]))


async def test_filters_ask_the_database(library: Library) -> None:
    await learned(library)
    found = await library.find("night train heron", filters=Filters(extensions=(".md",)))
    assert {hit.found.document_name for hit in found.hits} == {"trains.md"}


async def test_one_that_is_in_use_stays_and_one_that_is_not_makes_room(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = library.app.store
    size = (await learned(library)).size
    setting = await store.hits.setting(DEFAULT_PROJECT_ID)
    other = (await store.projects.create(name="other")).id
    await library.add("herons.txt", HERONS, project_id=other)
    await library.add("trains.md", TRAINS, project_id=other)
    memory = Memory(store, most=int(1.5 * size))
    for project_id in (DEFAULT_PROJECT_ID, other):
        memory.learn(project_id, setting)
        await asyncio.gather(*memory._reading)
    assert memory.get(DEFAULT_PROJECT_ID, setting)
    assert memory.get(other, setting) is None
    monkeypatch.setattr(memory_index, "_UNUSED", -1.0)
    memory.learn(other, setting)
    await asyncio.gather(*memory._reading)
    assert memory.get(other, setting)
    assert memory.get(DEFAULT_PROJECT_ID, setting) is None


async def test_none_is_held_where_there_is_no_room_or_nothing_to_hold(library: Library) -> None:
    store = library.app.store
    setting = await store.hits.setting(DEFAULT_PROJECT_ID)
    for most, project_id, known in (
        (0, DEFAULT_PROJECT_ID, setting),
        (10**9, new_id(), setting),
        (10**9, DEFAULT_PROJECT_ID, setting._replace(space=None)),
        (10**9, DEFAULT_PROJECT_ID, setting._replace(chunks=memory_index.MOST_CHUNKS + 1)),
    ):
        memory = Memory(store, most=most)
        memory.learn(project_id, known)
        await asyncio.gather(*memory._reading)
        assert memory.get(project_id, setting) is None


async def test_a_project_that_changes_all_the_time_is_not_read_all_the_time(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_index, "_PAUSE", 1_000.0)
    await learned(library)
    await library.add(
        "zebras.txt", ["The zebra crossed the savannah towards the river at dawn with its foal."]
    )
    for _ in range(3):
        await library.find("zebra")
    memory = library.app.search._memory
    assert not memory._reading
    assert memory.get(DEFAULT_PROJECT_ID, await library.app.store.hits.setting(DEFAULT_PROJECT_ID)) is None


async def test_a_project_that_proved_too_large_is_not_read_again(library: Library) -> None:
    store = library.app.store
    setting = await store.hits.setting(DEFAULT_PROJECT_ID)
    size = (await learned(library)).size
    memory = Memory(store, most=size - 1)
    memory._sizes[DEFAULT_PROJECT_ID] = 1.0  # it looks smaller than it is
    memory.learn(DEFAULT_PROJECT_ID, setting)
    assert memory._reading
    await asyncio.gather(*memory._reading)
    assert memory.get(DEFAULT_PROJECT_ID, setting) is None
    memory.learn(DEFAULT_PROJECT_ID, setting)
    assert not memory._reading


async def test_what_cannot_be_read_is_no_matter(settings: Settings) -> None:
    async with App.open(settings) as app:
        setting = await app.store.hits.setting(DEFAULT_PROJECT_ID)
        space = await app.store.vectors.ensure_space(provider="test", model="none", dimensions=3)
        memory = Memory(app.store, most=10**9)
    memory.learn(DEFAULT_PROJECT_ID, setting._replace(space=space, chunks=1))
    await asyncio.gather(*memory._reading)
    assert memory.get(DEFAULT_PROJECT_ID, setting._replace(space=space)) is None
    await memory.aclose()


SPACE = EmbeddingSpace(id=new_id(), provider="test", model="dice", dimensions=3)


def segment(ids: list[bytes], dead: list[int]) -> WholeSegment:
    return WholeSegment(
        id=new_id(),
        size=len(ids),
        live=len(ids) - len(dead),
        length=1,
        dead=np.array(dead, "<u2").tobytes(),
        chunk_ids=b"".join(ids),
        first_terms=[],
        blocks=[],
    )


@given(
    st.lists(
        st.tuples(st.lists(st.integers(-3, 3), min_size=3, max_size=3).filter(any), st.booleans()),
        min_size=1,
        max_size=40,
    ),
    st.integers(1, 45),
    st.integers(0, 3),
)
def test_the_nearest_in_memory_are_the_nearest(
    points: list[tuple[list[int], bool]], limit: int, cut: int
) -> None:
    ids = [number.to_bytes(16, "big") for number in range(1, len(points) + 1)]
    cut = min(cut, len(points) - 1)
    segments = [
        segment(ids[part], [n for n, (_, lives) in enumerate(points[part]) if not lives])
        for part in (slice(0, cut), slice(cut, None))
        if ids[part]
    ]
    numbers = np.array([point for point, _ in points], ">f2").tobytes()
    made = hold(SPACE, segments, b"".join(ids), numbers)
    assert made is not None
    asked = np.array([1.0, 2.0, -1.0])
    rows = [
        (-float(np.dot(point, asked) / np.linalg.norm(point) / np.linalg.norm(asked)), ident)
        for ident, (point, lives) in zip(ids, points, strict=True)
        if lives
    ]
    near = made.near(halfvec(asked.tolist()), limit=limit, also=())
    assert list(near.values()) == pytest.approx([-value for value, _ in sorted(rows)[:limit]], abs=1e-5)
    by_id = {ident: -value for value, ident in rows}
    assert all(by_id[ident] == pytest.approx(value, abs=1e-5) for ident, value in near.items())
    others = made.near(halfvec(asked.tolist()), limit=1, also=by_id.keys())
    assert others == pytest.approx(by_id, abs=1e-5)


def test_chunks_without_a_vector_are_not_for_memory() -> None:
    ids = [number.to_bytes(16, "big") for number in (1, 2, 3)]
    numbers = np.ones((2, 3), ">f2").tobytes()
    assert hold(SPACE, [segment(ids, [])], b"".join(ids[:2]), numbers) is None
    assert hold(SPACE, [segment(ids, [2])], b"".join(ids[:2]), numbers) is not None
    assert hold(SPACE, [segment(ids[:2], [])], b"".join(ids[:2]), np.zeros((2, 3), ">f2").tobytes()) is None
    assert hold(SPACE, [segment(ids, [])], b"", b"") is None


def test_nothing_is_near_to_a_vector_that_points_nowhere() -> None:
    ids = [number.to_bytes(16, "big") for number in (1, 2)]
    made = hold(SPACE, [segment(ids, [])], b"".join(ids), np.ones((2, 3), ">f2").tobytes())
    assert made is not None
    assert made.near(halfvec([0.0, 0.0, 0.0]), limit=5, also=ids) == {}
