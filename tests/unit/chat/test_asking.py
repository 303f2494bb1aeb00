"""What a question asks for."""

import pytest

from whence.chat.asking import Asking
from whence.chat.words import words


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("How much is a ticket?", "ticket"),
        ("May I take pictures?", "take pictures"),
        ("How many?", "how many"),  # then that is all there is to go by
        ("When does the museum open?", "museum open"),
    ],
)
def test_words_that_only_ask_do_not_count(question: str, about: str) -> None:
    assert Asking.of(question).words == frozenset(words(about))


@pytest.mark.parametrize(
    "question",
    [
        "Which command installs it?",
        "What does `copy` do?",
        "How do I call crossing.finish()?",
        "What is batch_size?",
        "What does --force do?",
    ],
)
def test_who_asks_for_code_is_known_by_the_words(question: str) -> None:
    assert Asking.of(question).code


@pytest.mark.parametrize("question", ["How long is it open?", "Who runs the club?", "What is well-known?"])
def test_others_do_not_ask_for_it(question: str) -> None:
    assert not Asking.of(question).code


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        ("How long is a tour?", "It takes 50 minutes.", "It starts at 11."),
        ("How long is the leave?", "It is fourteen months.", "It is long."),
        ("How many are there?", "There are twenty.", "There are many."),
        ("How much is it?", "It is free.", "It is expensive."),
        ("When is it collected?", "On Tuesdays.", "By the council."),
        ("What year was it?", "In 1921.", "Long ago."),
    ],
)
def test_a_figure_is_wanted_where_the_question_says_so(question: str, answer: str, other: str) -> None:
    asking = Asking.of(question)
    assert asking.is_particular
    assert asking.may_be_answered_by(answer)
    assert not asking.may_be_answered_by(other)


def test_otherwise_anything_may_answer() -> None:
    asking = Asking.of("Who opened the bridge?")
    assert not asking.is_particular
    assert asking.may_be_answered_by("The mayor.")
