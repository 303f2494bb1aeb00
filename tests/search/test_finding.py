"""A question's way on a real database: both legs, filters, context, and what happens when one of them fails."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest
from tests.endpoint import Endpoint, status
from tests.search.library import HERONS, SMALL, TRAINS, Library, texts

from whence.app import App
from whence.errors import EmbeddingError, ProjectNotFound
from whence.ingest.reembed import begin_move, move
from whence.models import DEFAULT_PROJECT_ID, Filters, new_id, now
from whence.search import Expansion, Hit, SearchResult, vectors
from whence.search.index import reindex
from whence.settings import Secret, Settings


@pytest.fixture
def settings(dsn: str, tmp_path: Path) -> Settings:
    return Settings(database_url=Secret(dsn), data_dir=tmp_path / "data", pool_size=4, embedder="hash")


@pytest.fixture
async def library(settings: Settings) -> AsyncIterator[Library]:
    async with App.open(settings) as app:
        yield Library(app)


@pytest.fixture
async def stocked(library: Library) -> Library:
    await library.add("herons.txt", HERONS)
    await library.add("trains.md", TRAINS)
    return library


@pytest.mark.parametrize("mode", ["hybrid", "vector", "text"])
async def test_every_mode_finds_the_chunk(stocked: Library, mode: str) -> None:
    found = await stocked.find("Where does the night train to Narvik leave?", mode=mode)
    assert texts(found)[0] == TRAINS[0]
    assert not found.notes


async def test_a_hit_tells_where_it_is(stocked: Library) -> None:
    hit = (await stocked.find("nest of sticks")).hits[0]
    text, _ = await stocked.app.store.documents.content(UUID(hit.chunk["document_id"]))
    assert text is not None
    assert text[hit.found.start : hit.found.end] == hit.chunk["content"] == HERONS[2]
    assert (hit.found.document_name, hit.found.mime, hit.found.page) == ("herons.txt", "text/plain", None)
    assert [hit.chunk["content"][start:end] for start, end in hit.highlights] == ["nest", "sticks"]


async def test_both_legs_say_what_they_think_of_every_hit(stocked: Library) -> None:
    for hit in (await stocked.find("train heron breakfast")).hits:
        assert hit.text is not None
        assert hit.cosine is not None
        assert hit.distance == pytest.approx(min(max(1 - hit.cosine, 0), 1))
        assert 0 <= hit.score <= 1


async def test_scores_are_the_same_whichever_leg_found_the_chunk(stocked: Library) -> None:
    """One that only one leg found is looked up in the other."""
    query = "frogs and fish for breakfast on the night train"
    both = {hit.chunk["id"]: hit for hit in (await stocked.find(query)).hits}
    near = {hit.chunk["id"]: hit for hit in (await stocked.find(query, mode="vector")).hits}
    words = {hit.chunk["id"]: hit for hit in (await stocked.find(query, mode="text")).hits}
    assert len(both) == 6
    for ident, hit in both.items():
        assert hit.cosine == pytest.approx(near[ident].cosine)
        assert hit.text == pytest.approx(words[ident].text if ident in words else 0.0)


async def test_a_leg_that_was_not_asked_says_nothing(stocked: Library) -> None:
    (words, *_) = (await stocked.find("heron", mode="text")).hits
    (near, *_) = (await stocked.find("heron", mode="vector")).hits
    assert (words.cosine, words.distance) == (None, None)
    assert near.text is None
    assert near.highlights


async def test_the_limit_is_kept_and_the_order_does_not_depend_on_it(stocked: Library) -> None:
    many = texts(await stocked.find("train heron water breakfast"))
    for limit in range(1, len(many) + 1):
        assert texts(await stocked.find("train heron water breakfast", limit=limit)) == many[:limit]


async def test_a_phrase_in_quotes_has_to_be_there(stocked: Library) -> None:
    assert texts(await stocked.find('"night train"')) == [TRAINS[0]]
    assert texts(await stocked.find('"train night"')) == []


async def test_a_phrase_has_to_be_there_by_vectors_alone_too(stocked: Library) -> None:
    found = await stocked.find('where is the "night train" today', mode="vector", floor=False)
    assert texts(found) == [TRAINS[0]]
    assert found.hits[0].text is None
    assert texts(await stocked.find('"train night"', mode="vector", floor=False)) == []


async def test_who_has_the_phrase_needs_nothing_else_to_show(settings: Settings) -> None:
    async with App.open(replace(settings, embedder="minilm")) as app:
        library = Library(app)
        await library.add("trains.md", TRAINS)
        query = 'Which of the seven proofs of the theorem is "at seven"?'
        for mode in ("hybrid", "vector", "text"):
            assert texts(await library.find(query, mode=mode)) == [TRAINS[1]]


async def test_a_phrase_that_many_have_keeps_the_order_of_the_vectors(stocked: Library) -> None:
    by_vector = texts(await stocked.find('"the water"', mode="vector", floor=False))
    plain = texts(await stocked.find("the water", mode="vector", floor=False))
    assert by_vector == [text for text in plain if "the water" in text]


@pytest.mark.parametrize("mode", ["hybrid", "vector", "text"])
async def test_pages_make_up_the_list(stocked: Library, mode: str) -> None:
    query = "train heron water breakfast"
    whole = await stocked.find(query, mode=mode, floor=False, limit=100)
    assert whole.total == len(whole.hits) > 3
    pages = [await stocked.find(query, mode=mode, floor=False, limit=2, offset=at) for at in range(0, 8, 2)]
    assert [text for page in pages for text in texts(page)] == texts(whole)
    assert {page.total for page in pages} == {whole.total}


async def test_nothing_found_has_no_pages(stocked: Library) -> None:
    assert (await stocked.find("quantum chromodynamics", mode="text")).total == 0


@pytest.mark.parametrize("mode", ["hybrid", "vector"])
async def test_what_has_nothing_in_common_with_the_question_is_no_hit(stocked: Library, mode: str) -> None:
    await stocked.add("far.txt", ["Quartz."])
    found = await stocked.find("night train to Narvik", mode=mode, limit=100)
    assert "Quartz." not in texts(found)
    assert all(hit.score > 0 for hit in found.hits)
    assert found.total == len(found.hits)
    everything = await stocked.find("night train to Narvik", mode=mode, limit=100, floor=False)
    assert "Quartz." in texts(everything)


async def test_a_score_can_be_asked_for(stocked: Library) -> None:
    hits = (await stocked.find("night train to Narvik")).hits
    best = (await stocked.find("night train to Narvik", min_score=hits[0].score)).hits
    assert [hit.chunk["id"] for hit in best] == [hits[0].chunk["id"]]


async def test_a_project_without_documents_finds_nothing(library: Library) -> None:
    for mode in ("hybrid", "vector", "text"):
        assert await library.find("anything", mode=mode) == SearchResult()


async def test_a_project_that_does_not_exist(library: Library) -> None:
    for mode in ("hybrid", "vector", "text"):
        with pytest.raises(ProjectNotFound):
            await library.find("anything", mode=mode, project_id=new_id())


async def test_nothing_crosses_projects(stocked: Library) -> None:
    other = await stocked.app.store.projects.create(name="other")
    await stocked.add("own.txt", ["Something about a heron that nobody else may read."], project_id=other.id)
    for mode in ("hybrid", "vector", "text"):
        assert len(texts(await stocked.find("heron", mode=mode, project_id=other.id, floor=False))) == 1
        found = texts(await stocked.find("heron that nobody may read", mode=mode, floor=False))
        assert found
        assert set(found) <= {*HERONS, *TRAINS}


async def test_what_was_deleted_is_not_found(stocked: Library) -> None:
    document = await stocked.app.store.documents.get(await stocked.add("gone.txt", ["A stork on a chimney."]))
    assert texts(await stocked.find("stork on a chimney"))[0] == "A stork on a chimney."
    await stocked.app.remover.document(document)
    assert "A stork on a chimney." not in texts(await stocked.find("stork on a chimney", floor=False))


@pytest.mark.parametrize("mode", ["hybrid", "vector", "text"])
async def test_filters_narrow_what_is_searched(stocked: Library, mode: str) -> None:
    documents, _ = await stocked.app.store.documents.page(DEFAULT_PROJECT_ID, limit=10, offset=0)
    ids = {document["name"]: UUID(document["id"]) for document in documents}
    await stocked.app.store._queries.run(
        "UPDATE kb.documents SET metadata = %(m)s::jsonb, created_at = created_at - interval '10 days' WHERE id = %(id)s",
        {"id": ids["trains.md"], "m": '{"team": "travel", "year": 2026, "tags": ["a", "b"]}'},
    )
    week_ago = now() - timedelta(days=7)
    query = "the heron in the water waits for the train at seven"
    only_trains = (
        Filters(document_ids=(ids["trains.md"],)),
        Filters(extensions=(".md",)),
        Filters(mimes=("text/markdown",)),
        Filters(metadata={"team": "travel"}),
        Filters(metadata={"tags": ["b"], "year": 2026}),
        Filters(created_before=week_ago),
    )
    for filters in only_trains:
        found = texts(await stocked.find(query, mode=mode, filters=filters, floor=False))
        assert found, filters
        assert set(found) <= set(TRAINS), filters
    both = Filters(mimes=("text/",), updated_from=week_ago)
    assert set(texts(await stocked.find(query, mode=mode, filters=both, floor=False))) & set(HERONS)
    for nothing in (Filters(document_ids=()), Filters(metadata={"team": "x"}), Filters(extensions=(".pdf",))):
        assert await stocked.find(query, mode=mode, filters=nothing) == SearchResult()


async def test_context_comes_with_the_hits_that_ask_for_it(stocked: Library) -> None:
    asked = Expansion(positional_count=1, semantic_chunk_count=2)
    hit = (await stocked.find("frogs and small fish", expansion=asked)).hits[0]
    assert hit.context is not None
    assert [chunk["content"] for chunk in hit.context.positional] == [HERONS[0], HERONS[2]]
    assert len(hit.context.semantic) == 2
    assert {alike.chunk["content"] for alike in hit.context.semantic} <= set(TRAINS)
    assert (await stocked.find("frogs and small fish")).hits[0].context is None


async def _first(library: Library, query: str) -> Hit:
    return (await library.find(query)).hits[0]


async def test_the_most_similar_of_the_same_document_come_first(library: Library) -> None:
    await library.add("birds.txt", [*HERONS, "A heron stands in the water of another pond and waits."])
    await library.add(
        "copy.txt", ["The grey heron stands in the shallow water of the pond all morning long."]
    )
    hit = await _first(library, HERONS[0])
    context = await library.app.search.context(
        DEFAULT_PROJECT_ID, UUID(hit.chunk["id"]), Expansion(positional_count=0, semantic_chunk_count=4)
    )
    names = [alike.chunk["document_id"] == hit.chunk["document_id"] for alike in context.semantic]
    assert names == [True, True, True, False]
    distances = [alike.distance for alike in context.semantic[:3]]
    assert distances == sorted(distances)
    assert hit.chunk["id"] not in [alike.chunk["id"] for alike in context.semantic]


async def test_related_objects_are_similar_enough(stocked: Library) -> None:
    hit = await _first(stocked, "grey heron")
    chunk_id = UUID(hit.chunk["id"])
    alike, far = new_id(), new_id()
    run = stocked.app.store._queries.run
    for ident, name in ((alike, "Grey heron"), (far, "Night train")):
        await run(
            """INSERT INTO kb.graph_objects VALUES (%(p)s, %(id)s, 'Bird', %(name)s, lower(%(name)s), '{"legs": 2}', now(), now())""",
            {"p": DEFAULT_PROJECT_ID, "id": ident, "name": name},
        )
    await run(
        "INSERT INTO kb.object_vectors SELECT project_id, %(o)s, space_id, embedding FROM kb.chunk_vectors WHERE id = %(id)s",
        {"id": chunk_id, "o": alike},
    )
    other = await _first(stocked, "night train to Narvik")
    await run(
        "INSERT INTO kb.object_vectors SELECT project_id, %(o)s, space_id, embedding FROM kb.chunk_vectors WHERE id = %(id)s",
        {"id": UUID(other.chunk["id"]), "o": far},
    )
    context = await stocked.app.search.context(DEFAULT_PROJECT_ID, chunk_id, Expansion())
    (related,) = context.objects
    assert (related.id, related.name, related.type, related.properties) == (
        alike,
        "Grey heron",
        "Bird",
        {"legs": 2},
    )
    assert related.similarity == pytest.approx(1, abs=1e-3)
    everything = Expansion(object_similarity_threshold=0)
    assert len((await stocked.app.search.context(DEFAULT_PROJECT_ID, chunk_id, everything)).objects) == 2
    none = Expansion(related_object_count=0, semantic_chunk_count=0, positional_count=0)
    empty = await stocked.app.search.context(DEFAULT_PROJECT_ID, chunk_id, none)
    assert (empty.positional, empty.semantic, empty.objects) == ((), (), ())


async def test_objects_that_a_chunk_names_are_related_however_far(stocked: Library) -> None:
    chunk_id = UUID((await _first(stocked, "grey heron")).chunk["id"])
    far = UUID((await _first(stocked, "night train to Narvik")).chunk["id"])
    run = stocked.app.store._queries.run
    for ident, name in ((pond := new_id(), "Pond"), (new_id(), "Ponder")):
        await run(
            "INSERT INTO kb.graph_objects VALUES (%(p)s, %(id)s, 'Place', %(name)s, lower(%(name)s), '{}', now(), now())",
            {"p": DEFAULT_PROJECT_ID, "id": ident, "name": name},
        )
        await run(
            "INSERT INTO kb.object_vectors SELECT project_id, %(o)s, space_id, embedding FROM kb.chunk_vectors WHERE id = %(id)s",
            {"id": far, "o": ident},
        )
    (related,) = (await stocked.app.search.context(DEFAULT_PROJECT_ID, chunk_id, Expansion())).objects
    assert related.id == pond
    assert related.similarity < 0.7


async def test_without_the_embedder_words_alone_answer_and_say_so(settings: Settings) -> None:
    with Endpoint() as endpoint:
        remote = replace(
            settings,
            embedder="openai",
            embedding_base_url=endpoint.url,
            embedding_model="test",
            embedding_dimensions=64,
            embedding_attempts=1,
            embedding_timeout=60,
        )
        async with App.open(remote) as app:
            library = Library(app)
            await library.add("herons.txt", HERONS)
            assert (await library.find("heron in the water")).notes == ()
            endpoint.default = status(503)
            found = await library.find("heron in the water")
            assert texts(found)[0] == HERONS[0]
            assert [hit.cosine for hit in found.hits] == [None] * len(found.hits)
            (note,) = found.notes
            assert note.startswith("Found by words alone, without vectors: ")
            with pytest.raises(EmbeddingError):
                await library.find("heron in the water", mode="vector")
            assert (await library.find("heron in the water", mode="text")).notes == ()


async def test_a_move_to_another_model_is_followed_at_once(settings: Settings, stocked: Library) -> None:
    assert texts(await stocked.find("grey heron", mode="vector"))[0] == HERONS[0]
    async with App.open(replace(settings, embedding_dimensions=128)) as other:
        await begin_move(other.store, other.embedders, DEFAULT_PROJECT_ID)
        assert await move(other.store, other.embedders, DEFAULT_PROJECT_ID)
    assert texts(await stocked.find("grey heron", mode="vector"))[0] == HERONS[0]


async def test_a_search_by_both_follows_a_move_too(settings: Settings, stocked: Library) -> None:
    assert (await stocked.find("grey heron")).hits[0].cosine
    async with App.open(replace(settings, embedding_dimensions=128)) as other:
        await begin_move(other.store, other.embedders, DEFAULT_PROJECT_ID)
        assert await move(other.store, other.embedders, DEFAULT_PROJECT_ID)
    found = await stocked.find("grey heron")
    assert found.vector is not None
    assert len(found.vector.value) == 4 + 2 * 128
    assert found.hits[0].cosine


async def test_another_language_is_followed_at_once(stocked: Library) -> None:
    assert texts(await stocked.find("heronry", mode="text")) == []
    assert texts(await stocked.find("waiting", mode="text")) == [HERONS[0]]
    await reindex(stocked.app.store, DEFAULT_PROJECT_ID, language="simple")
    assert texts(await stocked.find("waiting", mode="text")) == []
    assert texts(await stocked.find("waits", mode="text")) == [HERONS[0]]


async def test_a_project_that_was_deleted_since_the_last_search_is_not_found(library: Library) -> None:
    other = await library.app.store.projects.create(name="other")
    await library.add("herons.txt", HERONS, project_id=other.id)
    assert (await library.find("grey heron", project_id=other.id)).hits
    await library.app.store.projects.delete(other.id)
    with pytest.raises(ProjectNotFound):
        await library.find("grey heron", project_id=other.id)


async def test_a_worker_makes_the_index_when_a_project_has_become_large(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "SWITCH", 2)
    with library.app.inbox.file() as file:
        await file.write(" ".join(HERONS).encode())
        await file.finish()
        await library.app.receiver.receive(
            file, name="herons.txt", project_id=DEFAULT_PROJECT_ID, chunking=SMALL
        )
    async with library.app.working(), asyncio.timeout(60):
        while True:
            await asyncio.sleep(0.05)
            if "valid" in [index.state for index in await library.app.store.nearest.indexes()]:
                break
    assert texts(await library.find("heron in the water", mode="vector"))[0] == HERONS[0]


async def test_a_document_that_is_updated_all_the_time_is_always_found(stocked: Library) -> None:
    """What a search found may be replaced before it is read; then it begins anew."""
    versions = [f"The lighthouse keeper of Skagen counted {count} ships in the storm." for count in range(12)]
    document_id = await stocked.add("lighthouse.txt", versions[:1])
    done = asyncio.Event()

    async def updated() -> None:
        for version in versions[1:]:
            await stocked.replace(document_id, version)
        done.set()

    async def searched() -> int:
        count = 0
        while not done.is_set():
            found = await stocked.find(
                "lighthouse keeper of Skagen", mode=("hybrid", "text", "vector")[count % 3]
            )
            assert sum(text in versions for text in texts(found)) == 1
            count += 1
        return count

    _, *counts = await asyncio.gather(updated(), searched(), searched())
    assert all(counts)
