"""What of a long question is asked of vectors."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.providers import estimate_tokens
from whence.search.query_text import MOST_TOKENS, gists

QUESTION = "How do I renew the passport of a child that was born abroad?"


@given(text=st.text(max_size=100))
def test_a_question_stays_as_it_is(text: str) -> None:
    assert gists(text) == [text]


@pytest.mark.parametrize("character", ["word ", "猫", "7", "ж", "X"])
def test_of_a_long_text_there_is_the_beginning_and_the_end(character: str) -> None:
    filler = (character * 10_000)[:10_000]
    for text in (f"{QUESTION} {filler}", f"{filler} {QUESTION}"):
        short = gists(text)[0]
        assert QUESTION in short
        assert estimate_tokens(short) <= MOST_TOKENS + 1
        head, tail = short[: len(short) // 3], short[-len(short) // 3 :]
        assert text.startswith(head)
        assert text.endswith(tail)
