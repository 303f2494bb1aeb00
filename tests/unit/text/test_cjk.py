"""What of scripts without spaces says something."""

import pytest

from whence.search.query import Query
from whence.text.cjk import is_unspaced, weight
from whence.text.lexer import key


@pytest.mark.parametrize(
    ("term", "told"),
    [("会議", 1.0), ("の予", 0.3), ("です", 0.1), ("什么", 0.1), ("니까", 0.1), ("猫", 1.0), ("is", 1.0)],
)
def test_endings_tell_little(term: str, told: float) -> None:
    assert weight(term) == told


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        ("猫", ("猫",)),
        ("猫 山?", ("猫", "山")),
        ("「猫」とは何ですか", ("猫",)),
        ("猫 cafe", ("猫",)),
        ("猫が好き", ()),
        ("第3章", ()),
        ("물", ("물",)),
        ("할 수 있는 것", ()),  # syllables between words of their own
        ("ｶ", ("カ",)),
        ("a cat", ()),
        ("猫 猫 猫", ("猫",)),
    ],
)
def test_characters_that_stand_alone(text: str, alone: tuple[str, ...]) -> None:
    asked = Query.of(text, "english")
    assert asked.alone == alone
    assert {key(one) for one in alone} <= set(asked.keys)


def test_what_a_question_is_written_in() -> None:
    assert Query.of("会議室の予約 PDF", "english").is_unspaced
    assert not Query.of("What does the word 猫 mean in Japanese?", "english").is_unspaced
    assert not Query.of("Кошка", "english").is_unspaced
    assert not Query.of("", "english").is_unspaced
    assert not is_unspaced("")


def test_a_character_is_shown_wherever_it_stands() -> None:
    assert Query.of("猫", "english").highlights(["子猫と猫猫", "犬"]) == [[(1, 2), (3, 5)], []]


def test_a_character_in_quotes_has_to_be_there() -> None:
    asked = Query.of('"猫"', "english")
    assert asked.holds("子猫が眠る")
    assert not asked.holds("犬が眠る")
