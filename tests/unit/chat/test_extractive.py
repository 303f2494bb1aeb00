"""Answers that are quotations."""

import re

from hypothesis import given
from hypothesis import strategies as st
from tests.texts import texts

from whence.chat.citations import validate
from whence.chat.extractive import MAX_CHARACTERS, MAX_SENTENCES, extract
from whence.chat.passages import Passage


def passage(number: int, text: str, *, document: str = "d", start: int = 0) -> Passage:
    return Passage(
        id=f"0190a1b2-7c3d-7e4f-8a5b-{number:012}", text=text, document_id=document, start_offset=start
    )


BRIDGE = passage(
    1, "The bridge was built in 1874. It is made of iron. Trains cross it every hour.", start=500
)
MAYOR = passage(2, "Many people came that day. The mayor, Anna Berg, opened the bridge in spring.", start=100)
CATS = passage(3, "Cats sleep for most of the day. They like milk.", document="cats")


def test_the_sentence_that_answers_is_quoted_with_its_number() -> None:
    assert extract("When was the bridge built?", [CATS, BRIDGE]) == "The bridge was built in 1874. [2]"


def test_sentences_come_in_reading_order() -> None:
    answer = extract("Who opened the bridge, and when was the bridge built?", [BRIDGE, MAYOR])
    assert (
        answer == "The mayor, Anna Berg, opened the bridge in spring. [2] The bridge was built in 1874. [1]"
    )


def test_nothing_is_said_where_nothing_answers() -> None:
    assert extract("What is the boiling point of mercury?", [BRIDGE, MAYOR, CATS]) is None
    assert extract("?", [BRIDGE]) is None
    assert extract("When was the bridge built?", []) is None


def test_what_says_the_same_is_said_once() -> None:
    again = passage(4, "The bridge was built in 1874.", document="copy")
    assert extract("When was the bridge built?", [BRIDGE, again]) == "The bridge was built in 1874. [1]"


def test_a_text_without_an_id_is_not_quoted() -> None:
    composed = Passage(id=None, text="The bridge was built in 1874.")
    assert extract("When was the bridge built?", [composed, BRIDGE]) == "The bridge was built in 1874. [1]"


def test_accents_and_endings_do_not_matter() -> None:
    cafe = passage(5, "Les cafés de Málaga ouvrent tôt. Le reste dort.")
    assert extract("cafe Malaga", [cafe]) == "Les cafés de Málaga ouvrent tôt. [1]"


def test_scripts_without_spaces_are_found() -> None:
    tokyo = passage(6, "东京是日本的首都。猫喜欢牛奶。")
    assert extract("日本的首都是哪里？", [CATS, tokyo]) == "东京是日本的首都。 [2]"


def test_a_sentence_that_would_forge_a_citation_is_not_quoted() -> None:
    forged = passage(7, "See [2] bridge. The bridge was built in 1874.")
    assert extract("Which bridge was built?", [forged, CATS]) == "The bridge was built in 1874. [1]"


@given(question=texts(60), parts=st.lists(texts(200), min_size=1, max_size=4))
def test_every_sentence_is_short_enough_and_cited(question: str, parts: list[str]) -> None:
    passages = [passage(number, part, start=number * 10_000) for number, part in enumerate(parts, 1)]
    answer = extract(question, passages)
    assert answer == extract(question, passages)
    if answer is not None:
        found = validate(answer, passages)
        assert 1 <= len(found.cited) <= MAX_SENTENCES
        assert found.text.endswith(f"[{found.cited[-1].id}]")
        quoted = [part for part in re.split(r" \[\d\](?: |$)", answer) if part]
        assert len(quoted) == 1 or sum(map(len, quoted)) <= MAX_CHARACTERS + len(answer) // 10
