"""Words and phrases in quotes; nothing else is syntax, and nothing is an error."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.search.query import MOST_TERMS, Query
from whence.text.lexer import key

TEXTS = st.one_of(st.text(), st.text(alphabet="ab \"“”'.-東京"))


def query(text: str) -> Query:
    return Query.of(text, "english")


def test_each_term_counts_once() -> None:
    assert query("House houses HOUSE garden").keys == (key("hous"), key("garden"))


def test_a_long_text_is_a_question_too() -> None:
    long = query(" ".join(f"word{n}" for n in range(20_000)))
    half = MOST_TERMS // 2
    asked = [*range(half), *range(20_000 - half, 20_000)]  # a question stands before a text or behind it
    assert long.keys == tuple(key(f"word{n}") for n in asked)


def test_each_phrase_is_looked_for_once() -> None:
    assert len(query('"black tea" ' * 500).phrases) == 1


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ('"state of the art"', [" state of the art "]),
        ("“black tea” and 'green tea'", [" black tea "]),
        ('an "unclosed quote', []),
        ('"" " " "..."', []),
        ('"one" "two"', [" one ", " two "]),
        ('"東京都"', [" 東京 京都 "]),
        ('5" pipe', []),
    ],
)
def test_phrases(text: str, phrases: list[str]) -> None:
    assert [phrase.places for phrase in query(text).phrases] == phrases


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("the State of the Art", True),
        ("state-of-the-art", True),
        ("state of art", False),
        ("estate of the art", False),
        ("state of the arts", True),
        ("art of the state", False),
        ("", False),
    ],
)
def test_a_phrase_is_words_in_their_order(text: str, holds: bool) -> None:
    assert query('"state of the art"').holds(text) is holds


def test_what_a_phrase_needs() -> None:
    asked = query('gallery "state of the art"')
    assert asked.required == {key("state"), key("art")}
    assert query("state of the art").required == frozenset()


def test_operators_are_words() -> None:
    assert (
        query("cat AND dog OR -bird +fish title:x NEAR/2 * ( ]").keys
        == query("cat dog bird fish title x NEAR 2").keys
    )


def test_highlights() -> None:
    text = "The e-mail about houses: a house, e-mails."
    (spans,) = query("email house").highlights([text])
    assert [text[start:end] for start, end in spans] == ["e-mail", "houses", "house", "e-mails"]
    assert query("東京").highlights(["大東京都", "京"]) == [[(1, 3)], []]
    assert query("of the").highlights([text]) == [[]]


@given(text=TEXTS, others=st.lists(TEXTS, max_size=4))
def test_highlights_of_several_texts_are_those_of_each(text: str, others: list[str]) -> None:
    asked = query(text)
    expected = [asked.highlights([other])[0] for other in others]
    counts = [sum(one in asked.keys for one in asked.lexer.keys(other)) for other in others]
    assert asked.highlights(others) == expected
    assert asked.highlights(others, counts) == expected
    assert asked.highlights(others, [count + 1 for count in counts]) == expected  # as if a word were new


@given(text=TEXTS, other=TEXTS)
def test_nothing_is_an_error(text: str, other: str) -> None:
    asked = query(text)
    assert isinstance(asked.holds(other), bool)
    for start, end in asked.highlights([other])[0]:
        assert other[start:end]


@given(text=st.text(alphabet="ab c-._", max_size=20), before=TEXTS, after=TEXTS)
def test_a_text_holds_the_phrases_in_it(text: str, before: str, after: str) -> None:
    assert query(f'"{text}"').holds(f"{before} {text} {after}")


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ('5" pipe and 3" valve', 0),
        ('a 5" pipe', 0),
        ('"night train" and 5" pipe', 1),
        ('about"night train"', 1),
        ("“night train” 7", 1),
    ],
)
def test_inches_open_no_phrase(text: str, phrases: int) -> None:
    assert len(Query.of(text, "english").phrases) == phrases
