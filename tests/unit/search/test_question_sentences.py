"""Which sentences of a message ask."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.search.query import MOST_TERMS, Query
from whence.search.query_text import LONG, asking
from whence.text.lexer import key

QUESTION = "Where do I renew the passport of a child?"
LOG = "\n".join(f"worker {n} has stopped with code {n * 7}" for n in range(20))


@pytest.mark.parametrize(
    ("message", "asked"),
    [
        (QUESTION, []),
        ("renew passport", []),
        ("", []),
        (f"Hello. {QUESTION} Thank you, Ann.", [QUESTION]),
        (f"We were abroad. {QUESTION} And when?", [QUESTION, "And when?"]),
        (f"{LOG}\n\n{QUESTION}", [QUESTION]),
        (f"{LOG}\n{QUESTION}", [QUESTION]),
        (LOG, ["worker 19 has stopped with code 133"]),
        ("x" * 1_000, []),
        ("It was born abroad. Tell me where to go.", ["It was born abroad.", "Tell me where to go."]),
        ("请看下面的记录。E42是什么意思？谢谢。", ["E42是什么意思？"]),
        ("She asked “Where is it?” Nobody knew.", ["She asked “Where is it?”"]),
    ],
)
def test_what_is_asked(message: str, asked: list[str]) -> None:
    assert asking(message) == asked


def test_of_many_questions_the_first_and_the_last() -> None:
    asked = asking(" ".join(f"What is number {n}?" for n in range(50)))
    assert asked == [f"What is number {n}?" for n in (0, 1, 2, 3, 46, 47, 48, 49)]


@given(message=st.one_of(st.text(), st.text(alphabet='ab.?!\n "。？')))
def test_a_question_is_a_part_of_the_message(message: str) -> None:
    seen = message.replace("\r\n", " \n").replace("\r", "\n")
    for one in asking(message):
        assert one in seen
        assert 0 < len(one) <= LONG


def test_the_words_of_the_question_are_looked_for_wherever_it_stands() -> None:
    """A text has more words than are looked for; those of its questions are among them."""
    words = [f"word{n}" for n in range(1_000)]
    for at in (0, 300, 500, 1_000):
        message = f"{' '.join(words[:at])}. {QUESTION} {' '.join(words[at:])}."
        query = Query.of(message, "english")
        assert len(query.keys) == MOST_TERMS
        (places,) = query.questions
        assert [query.keys[place] for place in places] == [key("renew"), key("passport"), key("child")]


def test_quotes_are_a_phrase_where_somebody_asks_for_them() -> None:
    assert Query.of('Where is the "night train" today?', "english").phrases
    told = 'She said "never again" and left. ' + " ".join(f"word{n}" for n in range(40))
    assert not Query.of(told, "english").phrases
