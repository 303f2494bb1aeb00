"""A question about nothing in the documents finds nothing; one that they answer finds it, however it is put."""

import tomllib
from pathlib import Path
from uuid import uuid4

import pytest
from tests.search.everyday import EVERYDAY
from tests.search.german import ASKED, HOUSE
from tests.search.library import HERONS, TRAINS, WHOLE, Library, texts
from tests.search.unspaced import CHINESE, JAPANESE, KOREAN, Corpus

from whence.app import App

HERE = Path(__file__).parent
BRIEF = tomllib.loads((HERE / "short_questions.toml").read_text(encoding="utf-8"))
ABOUT_NOTHING = [*BRIEF["fitted"]["nothing"], *BRIEF["looked_at"]["nothing"]]
MOST_FINDS = {"text": 6, "hybrid": 3}
"""Of 64 short questions about nothing in the documents of small projects."""

WORDY = [
    "The marmot burrow of Ringebu lies on the slope above the church and has eleven chambers, of which the lowest is lined with dry grass.",
    *(
        f"In the year {year} the wardens counted the animals on the slope and wrote the number down."
        for year in range(1990, 2004)
    ),
]
LETTER = """Dear colleagues,

thank you for the parcel, which came on Tuesday; the ribbon was a little torn, but the cups are whole and stand on the shelf beside the
radio. My sister painted the kitchen yellow last week, and we had soup and bread with the neighbours, who sing in a choir. The bus was
late twice because of the roadworks behind the bakery, and the new clock in the hall goes wrong by five minutes every day.

{}

With kind regards to everybody, and do not forget the umbrella that "somebody from the choir" left with you in March.
Oliver"""


MODES = ("hybrid", "text")


@pytest.fixture
async def library(minilm_app: App) -> Library:
    return Library(minilm_app, (await minilm_app.store.projects.create(name=f"{uuid4()}")).id)


async def test_a_question_about_nothing_in_the_documents_finds_nothing_by_words(library: Library) -> None:
    await library.add("trains.md", TRAINS)
    query = "Which enzyme catalyses the synthesis of melatonin in the evening?"
    assert texts(await library.find(query, mode="text")) == []
    assert texts(await library.find(query, mode="text", floor=False)) == [TRAINS[0]]


async def test_the_floor_of_the_local_model(library: Library) -> None:
    await library.add("herons.txt", HERONS)
    await library.add("trains.md", TRAINS)
    assert texts(await library.find("What do these birds feed on?"))[0] == HERONS[1]
    assert texts(await library.find("How do I renew a passport of the Republic of Chile?")) == []
    assert len(texts(await library.find("How do I renew a passport of Chile?", floor=False))) == 6


async def test_hardly_any_short_question_about_nothing_in_the_documents_finds_anything(
    library: Library,
) -> None:
    for path in sorted((HERE.parent / "small_projects").glob("*/*.[mt][dx]*")):
        await library.add(path.name, [path.read_text(encoding="utf-8")], chunking=WHOLE)
    for mode in MODES:
        found = [one for one in ABOUT_NOTHING if texts(await library.find(one, mode=mode))]
        assert len(found) <= MOST_FINDS[mode], found
        for asked in (
            "How long is the warranty?",
            "How heavy is the lens?",
            "opening hours",
            "summer regatta",
        ):
            assert texts(await library.find(asked, mode=mode)), asked


@pytest.mark.parametrize("corpus", [JAPANESE, CHINESE, KOREAN], ids=["japanese", "chinese", "korean"])
async def test_the_floor_in_scripts_without_spaces(library: Library, corpus: Corpus) -> None:
    for number, text in enumerate(corpus.texts):
        await library.add(f"{number}.txt", [text])
    for mode in MODES:
        for query in corpus.answered:
            assert texts(await library.find(query, mode=mode)), query
        for query in corpus.unrelated:
            assert not texts(await library.find(query, mode=mode)), query


@pytest.mark.parametrize("language", EVERYDAY)
async def test_everyday_questions_in_scripts_without_spaces(library: Library, language: str) -> None:
    notes = EVERYDAY[language]
    for number, text in enumerate(notes.texts):
        await library.add(f"{number}.md", [text], chunking=WHOLE)
    for mode in MODES:
        found = {
            query: "".join(texts(await library.find(query, mode=mode))[:2]) for query, _ in notes.answered
        }
        assert not {query: found[query] for query, says in notes.answered if says not in found[query]}
        assert not [query for query in notes.unanswered if texts(await library.find(query, mode=mode))]


async def test_a_compound_is_found_by_the_part_that_the_documents_have(library: Library) -> None:
    await library.add("报销.txt", [CHINESE.texts[3]])
    for query in ("报销", "报销期限", "发票上传"):
        assert texts(await library.find(query)), query
    for query in ("退货期限", "保修期限", "护照办理期限"):
        assert not texts(await library.find(query)), query


async def test_a_long_chunk_among_notes_is_found_by_its_words(library: Library) -> None:
    for number in range(24):
        await library.add(f"{number}.txt", [f"Note {number}: bring the keys."])
    await library.add("slope.txt", [" ".join(WORDY)], chunking=WHOLE)
    for mode in MODES:
        for question in ("marmot burrow", "How many chambers has the marmot burrow of Ringebu?"):
            assert texts(await library.find(question, mode=mode))[0].startswith("The marmot burrow")
        assert texts(await library.find("How do I renew my passport?", mode=mode)) == []


async def test_a_question_in_a_letter_finds_what_it_finds_alone(library: Library) -> None:
    await library.add("herons.txt", HERONS)
    await library.add("trains.md", TRAINS)
    for mode in MODES:
        asked = LETTER.format("When does the night train to Narvik leave Stockholm in the evening?")
        assert texts(await library.find(asked, mode=mode))[0] == TRAINS[0]
        assert (
            texts(await library.find(LETTER.format("How do I renew the passport of a child?"), mode=mode))
            == []
        )


async def test_a_name_in_other_letters_is_what_a_question_is_about(library: Library) -> None:
    await library.add("codes.md", ["Error E42 means that the filter is clogged and has to be changed soon."])
    await library.add("trains.md", TRAINS)
    await library.add("park.txt", [CHINESE.texts[0]])
    for mode in MODES:
        assert "E42" in texts(await library.find("E42是什么意思", mode=mode))[0]
        assert texts(await library.find("E17是什么意思", mode=mode)) == []


async def test_words_come_first_in_a_script_that_the_model_does_not_know(library: Library) -> None:
    """The nearest vector is that of the other text in the same script."""
    await library.add(
        "inn.txt",
        [
            "最寄り駅から旅館までは無料の送迎バスが一日三便出ています。車でお越しの場合、駐車場は三十台まで無料です。"
        ],
    )
    await library.add(
        "park.txt",
        [
            "公園は午前八時に開園し、午後六時に閉園します。犬を連れて入園できますが、必ずリードを付けてください。"
        ],
    )
    found = (await library.find("送迎バスはありますか")).hits
    assert "送迎バス" in found[0].chunk["content"]
    assert found[0].text
    assert found[0].cosine is not None


async def test_a_small_project_in_a_language_that_the_model_hardly_knows_does_not_come_back_empty(
    library: Library,
) -> None:
    for number, text in enumerate(HOUSE):
        await library.add(f"{number}.txt", [text], chunking=WHOLE)
    empty = [question for question in ASKED if not texts(await library.find(question))]
    assert len(empty) <= 2, empty


async def test_a_rare_code_of_the_question_is_evidence(library: Library) -> None:
    severe = "Those of level SEV1 are told to the director within fifteen minutes."
    await library.add("levels.txt", [severe])
    await library.add("trains.md", TRAINS)
    await library.add("herons.txt", HERONS)
    for mode in MODES:
        assert texts(await library.find("Which outages and crashes count as SEV1?", mode=mode))[0] == severe
        assert texts(await library.find("Which outages and crashes count as SEV2?", mode=mode)) == []


async def test_the_background_is_sampled_again_when_a_project_has_grown(library: Library) -> None:
    async def background() -> object:
        return (await library.app.store.hits.setting(library.project_id)).background

    await library.add("herons.txt", HERONS)
    first = await background()
    assert texts(await library.find("How do I renew a passport of Chile?")) == []  # the setting is cached now
    for number, text in enumerate(HOUSE):
        await library.add(f"{number}.txt", [text], chunking=WHOLE)
    second = await background()
    assert first != second
    await library.add("one.txt", ["A single chunk more."])
    assert await background() == second
    assert texts(await library.find("Wie erreiche ich den Hausmeister?"))[0] == HOUSE[3]
