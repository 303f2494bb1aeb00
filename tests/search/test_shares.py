"""How much chunks have of what a question's words could come to: what the floor goes by."""

from math import log

import pytest
from tests.search.shelf import Shelf

from whence.models import new_id
from whence.search.relevance_threshold import TEXT_ALONE
from whence.text.lexer import DEFAULT_LANGUAGE, lexer


async def test_few_chunks_do_not_make_their_words_common(shelf: Shelf) -> None:
    """All of them have the words: in the world they are rare, and it is them that was asked for."""
    await shelf.add("The engine of the ferry is inspected every six months.", "The ferry has an engine.")
    found = await shelf.find("How often must the engine be inspected?")
    shares = found.ranking.shares_of([hit.chunk_id for hit in found.hits])
    assert shares[found.hits[0].chunk_id] > TEXT_ALONE
    assert found.ranking.shares_of([new_id().bytes]) != shares


async def test_a_long_chunk_among_short_ones_has_the_words_that_it_has(shelf: Shelf) -> None:
    filler = " ".join(f"filler{n}" for n in range(400))
    await shelf.add(*(f"Note {n}: bring the keys." for n in range(24)), f"The marmot burrow. {filler}")
    found = await shelf.find("marmot burrow")
    (hit,) = found.hits
    assert found.ranking.shares_of([hit.chunk_id])[hit.chunk_id] > TEXT_ALONE


async def test_shares_are_those_of_the_formula(shelf: Shelf) -> None:
    """Of every chunk, also of those in which other segments have more, and of those that were found by a character."""
    question = "heron frog 猫 water"
    await shelf.add("heron frog heron", "water", "nothing of it", "猫と猫 water heron")
    gone = await shelf.add("frog frog", "water 猫")
    await shelf.add("a heron and a frog")
    await shelf.remove(gone)
    shares = (await shelf.find(question)).ranking.shares_of([one.bytes for one in await shelf.texts()])
    terms = lexer(DEFAULT_LANGUAGE).terms
    counts = {
        ident.bytes: [text.count("猫"), *(terms(text).count(word) for word in ("heron", "frog", "water"))]
        for ident, text in (await shelf.texts()).items()
    }
    having = [sum(count > 0 for count in column) for column in zip(*counts.values(), strict=True)]
    telling = [log(1 + (1000 - few + 0.5) / (few + 0.5)) for few in having]
    assert len(shares) == 5
    for ident, share in shares.items():
        told = [tells * n / (n + 1.2) for tells, n in zip(telling, counts[ident], strict=True)]
        had = sum(tells for tells, n in zip(telling, counts[ident], strict=True) if n) / sum(telling)
        wanted = min(0.52, 1.2 * log(1 + 1000.5 / 0.5) / sum(telling))
        assert share == pytest.approx(sum(told) / sum(telling) * min(had / wanted, 1) ** 4)


async def test_what_lacks_the_rare_word_of_a_short_question_has_little_of_it(shelf: Shelf) -> None:
    """What the question is about is the word that nothing has, and not that which any text may have."""
    texts = (
        "The pumps work at night.",
        "The warranty ends after two years.",
        "The capital of the firm is small.",
    )
    works, warranty, capital = await shelf.add(*texts)
    asked = {
        "How does photosynthesis work?": works,
        "What is the capital of Mongolia?": capital,
        "How long is the warranty?": warranty,
        "How much capital is there?": capital,
    }
    shares = [(await shelf.find(one)).ranking.shares_of([its.bytes])[its.bytes] for one, its in asked.items()]
    assert max(shares[:1]) < TEXT_ALONE - 0.05
    assert max(shares[:2]) < TEXT_ALONE
    assert min(shares[2:]) > 2 * TEXT_ALONE


@pytest.mark.parametrize(
    ("question", "is_cut"),
    [
        ("When does the marmot burrow of Ringebu admit visitors in winter?", False),
        ("When does the marmot burrow of Ringebu open for visitors in winter?", True),
    ],
)
async def test_a_message_has_the_share_of_its_question(shelf: Shelf, question: str, is_cut: bool) -> None:
    """Or a little more: of a question alone, less counts where a rare word of it is lacking."""
    burrow, _ = await shelf.add("The marmot burrow of Ringebu opens in May.", "Something else is told here.")
    paste = " ".join(f"word{n}" for n in range(80))
    alone, before, behind, between, without = [
        (await shelf.find(asked)).ranking.shares_of([burrow.bytes])[burrow.bytes]
        for asked in (
            question,
            f"{question}\n\n{paste}",
            f"{paste}.\n\n{question}",
            f"{paste}. {question} {paste}.",
            paste,
        )
    ]
    assert before == pytest.approx(behind) == pytest.approx(between)
    assert (alone < before) if is_cut else (alone == pytest.approx(before))
    assert alone > TEXT_ALONE
    assert without == 0


async def test_a_word_of_a_short_question_in_a_message_is_not_enough(shelf: Shelf) -> None:
    await shelf.add("We are glad to help with parcels.")
    found = await shelf.find("My cat is ill and eats nothing since Monday. Can you help?")
    assert max(found.ranking.shares_of([hit.chunk_id for hit in found.hits]).values()) < TEXT_ALONE - 0.05
