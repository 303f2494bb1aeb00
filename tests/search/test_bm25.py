"""Scores are those of the formula; what is found, and in which order."""

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from uuid import UUID

import pytest
from tests.search.shelf import Shelf, assert_same, generated

from whence.chunk import ChunkingOptions, strategy
from whence.models import DEFAULT_PROJECT_ID, ChunkKey, new_id
from whence.search.bm25 import TextHits, find
from whence.search.index import compact, reindex
from whence.store import Store, lexical

RETRIEVAL = Path(__file__).parents[3] / "shared" / "data" / "retrieval"


def ids(found: TextHits) -> list[UUID]:
    return [UUID(bytes=hit.chunk_id) for hit in found.hits]


async def test_scores_are_those_of_the_formula(shelf: Shelf) -> None:
    random = Random(5)
    for _ in range(8):
        await shelf.add(*(generated(random, random.randint(0, 80)) for _ in range(random.randint(1, 60))))
    for question in ("word1", "word1 word2 word3", "word7 word50 word999 word1000000", "word2 WORD2 word2"):
        for limit in (1, 10, 1000):
            assert_same(await shelf.find(question, limit=limit), await shelf.expected(question), limit)


@pytest.mark.skipif(not RETRIEVAL.exists(), reason="the corpora are not here")
async def test_scores_on_real_questions(shelf: Shelf) -> None:
    cut = strategy("sentence").chunk
    options = ChunkingOptions(max_chunk_size=600, min_chunk_size=100)
    for corpus in sorted((RETRIEVAL / "corpora").iterdir()):
        chunks = [chunk.text for chunk in cut(corpus.read_text(), options)]
        for start in range(0, len(chunks), 150):
            await shelf.add(*chunks[start : start + 150])
    await compact(shelf.store, shelf.project_id)
    questions = (RETRIEVAL / "questions.jsonl").read_text().splitlines()
    for line in questions[::20]:
        question = json.loads(line)["question"]
        assert_same(await shelf.find(question, limit=20), await shelf.expected(question), 20)


async def test_any_of_the_words_is_enough_and_more_are_better(shelf: Shelf) -> None:
    cats, dogs, both, _ = await shelf.add(
        "Cats sleep all day.", "Dogs bark at night.", "A dog and a cat met.", "Nothing of the kind is here."
    )
    found = ids(await shelf.find("Do cats like dogs?"))
    assert found[0] == both
    assert set(found) == {cats, dogs, both}


async def test_nothing_to_look_for_finds_nothing(shelf: Shelf) -> None:
    await shelf.add("Something is here.")
    for question in ("", "   ", "...", "the of and", "zebra", '""', '"', "\ud800", "\x00"):
        assert not (await shelf.find(question)).hits


async def test_an_empty_project(shelf: Shelf) -> None:
    found = await shelf.find("anything")
    assert found.hits == []
    assert found.ranking.shares_of([new_id().bytes]).popitem()[1] == 0


async def test_chunks_without_a_word_count_as_chunks(shelf: Shelf) -> None:
    await shelf.add("...", "one word", "—", "another word here")
    assert_same(await shelf.find("word"), await shelf.expected("word"), 10)


async def test_of_equal_chunks_the_lower_id_comes_first(shelf: Shelf) -> None:
    made: list[UUID] = []
    for _ in range(5):
        made += await shelf.add(*["the same words"] * 7)
    for limit in (1, 6, 7, 8, 20, 35, 50):
        assert ids(await shelf.find("same words", limit=limit)) == sorted(made)[:limit]


async def test_the_best_of_many_are_found_without_sorting_all(shelf: Shelf) -> None:
    random = Random(7)
    for count in (1_500, 700, 300):
        await shelf.add(*(generated(random, random.randint(1, 30)) for _ in range(count)))
    for question in ("word1 word2 word3", "word2", "word40 word41"):
        expected = await shelf.expected(question)
        for limit in (1, 10, 30, 200):
            assert_same(await shelf.find(question, limit=limit), expected, limit)


async def test_a_limit_of_none_finds_none(shelf: Shelf) -> None:
    await shelf.add("some words")
    assert (await shelf.find("words", limit=0)).hits == []


async def test_a_phrase_must_stand_there(shelf: Shelf) -> None:
    state, loose, apart = await shelf.add(
        "This is the state of the art.", "The art of the state.", "The state, and then the art, of something."
    )
    assert ids(await shelf.find('"state of the art"')) == [state]
    assert ids(await shelf.find('"States of the ART" museum')) == [state]
    assert set(ids(await shelf.find('state of the "art'))) == {state, loose, apart}
    assert ids(await shelf.find('"state of the art" "art of the state"')) == []
    assert ids(await shelf.find('art "of the state"')) == [loose]


async def test_a_phrase_scores_as_its_words_do(shelf: Shelf) -> None:
    await shelf.add("green tea and black tea", "black and green", "tea that is green")
    (hit,) = (await shelf.find('"black tea"')).hits
    assert hit.score == pytest.approx(dict(await shelf.expected("black tea"))[UUID(bytes=hit.chunk_id)])


async def test_phrases_among_many_candidates(shelf: Shelf) -> None:
    texts = [f"red apple and green pear {n}" for n in range(700)]
    texts[650] = "long before the end there is one green apple among all the other things that are here too"
    made = await shelf.add(*texts)
    assert ids(await shelf.find('"green apple" red pear')) == [made[650]]


async def test_text_without_spaces_is_found(shelf: Shelf) -> None:
    weather, cats = await shelf.add("東京都の天気は晴れです。", "猫が好きな人は多い。")
    assert ids(await shelf.find("天気")) == [weather]
    assert ids(await shelf.find("猫が好き")) == [cats]
    assert ids(await shelf.find('"東京都の天気"')) == [weather]
    assert ids(await shelf.find("ภาษา")) == []


async def test_a_single_character_is_found_wherever_it_stands(shelf: Shelf) -> None:
    often, ends, alone, dog = await shelf.add("猫と猫が好き", "あれは子猫", "猫", "犬が好き")
    found = await shelf.find("猫")
    assert ids(found) == [often, ends, alone]
    assert ids(await shelf.find('"猫"')) == [often, ends, alone]
    assert set(ids(await shelf.find("猫 犬"))) == {often, ends, alone, dog}
    assert ids(await shelf.find("鳥")) == []
    await shelf.remove([ends])
    assert ids(await shelf.find("猫")) == [often, alone]
    assert ids(await shelf.find("것")) == []
    (thing,) = await shelf.add("그것은 물이다")
    assert ids(await shelf.find("물")) == [thing]


async def test_only_what_is_allowed_is_found(shelf: Shelf) -> None:
    made = await shelf.add(*(f"common words number {n}" for n in range(500)))
    query = await shelf.query("common words")
    asked: list[int] = []

    async def every_hundredth(some: Sequence[ChunkKey]) -> set[ChunkKey]:
        asked.append(len(some))
        return {ident.bytes for ident in made[::100]} & set(some)

    found = await find(shelf.store, shelf.project_id, query, limit=3, allowed=every_hundredth)
    assert ids(found) == [made[0], made[100], made[200]]
    assert asked == [200, 300]
    few = await find(shelf.store, shelf.project_id, query, limit=1, allowed=every_hundredth)
    assert ids(few) == [made[0]]
    assert asked == [200, 300, 200]


async def test_many_candidates_are_read_as_wholes(shelf: Shelf) -> None:
    made = await shelf.add(*(f"common words number {n}" for n in range(2_500)))
    query = await shelf.query("common words")

    async def last(some: Sequence[ChunkKey]) -> set[ChunkKey]:
        return {made[-1].bytes} & set(some)

    assert ids(await find(shelf.store, shelf.project_id, query, limit=3, allowed=last)) == [made[-1]]


async def test_the_scores_of_given_chunks(shelf: Shelf) -> None:
    random = Random(6)
    made: list[UUID] = []
    for _ in range(3):
        made += await shelf.add(*(generated(random, 40) for _ in range(50)))
    await shelf.remove(made[10:20])
    expected = dict(await shelf.expected("word1 word2 word30"))
    found = await shelf.find("word1 word2 word30", limit=1)
    random.shuffle(made)
    keys = [ident.bytes for ident in (*made, new_id())]
    scores = found.ranking.scores_of(keys)
    assert list(scores) == keys
    assert scores == pytest.approx({key: expected.get(UUID(bytes=key), 0.0) for key in keys}, abs=1e-9)
    assert found.ranking.scores_of([]) == {}


async def test_what_is_remembered_of_segments_is_bounded(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lexical, "_MOST_REMEMBERED", 16 * 5)
    for number in range(4):
        await shelf.add(f"word1 word{number}", "word1")
        for _ in range(2):
            assert_same(await shelf.find("word1 word3"), await shelf.expected("word1 word3"), 10)


async def test_nothing_crosses_projects(store: Store) -> None:
    other = await store.projects.create(name="other")
    here, there = Shelf(store, DEFAULT_PROJECT_ID), Shelf(store, other.id)
    (ours,) = await here.add("secret plans of ours")
    (theirs,) = await there.add("secret plans of theirs")
    await there.add("more of theirs")
    assert ids(await here.find("secret plans theirs")) == [ours]
    assert ids(await there.find("secret plans ours")) == [theirs]
    assert_same(await here.find("secret"), await here.expected("secret"), 10)
    assert (await here.find("secret")).ranking.scores_of([theirs.bytes]) == {theirs.bytes: 0.0}
    await store.projects.delete(other.id)
    assert ids(await here.find("secret")) == [ours]
    assert await store.lexical.segments(other.id) == []


async def test_the_language_of_a_project(shelf: Shelf) -> None:
    (houses,) = await shelf.add("Die Häuser der Stadt und der Wald.")
    assert ids(await shelf.find("Haus")) == []
    assert await reindex(shelf.store, shelf.project_id, language="german") == 1
    assert ids(await shelf.find("Haus")) == [houses]
    assert ids(await shelf.find("der")) == [houses]
    (trees,) = await shelf.add("Bäume im Wald.")
    assert ids(await shelf.find("Baum")) == [trees]
    await reindex(shelf.store, shelf.project_id, language="simple")
    assert ids(await shelf.find("Haus Baum")) == []
    assert ids(await shelf.find("haeuser HAUSER")) == [houses]
