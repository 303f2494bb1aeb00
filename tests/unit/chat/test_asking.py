"""What a question asks for."""

import pytest

from whence.chat.asking import LEAST, Asking
from whence.chat.words import words


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("How much is a ticket?", "ticket"),
        ("May I take pictures?", "take pictures"),
        ("How many?", "how many"),  # then that is all there is to go by
        ("When does the museum open?", "museum open"),
        ("How fast is the ferry?", "ferry"),
        ("How deep is the lake?", "lake"),
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


@pytest.mark.parametrize(
    ("question", "wanted", "topic"),
    [
        ("What is the phone number of the library?", "phone", "number library"),
        ("How many employees does the library have?", "employees", "library"),
        ("Who founded the library?", "founded", "library"),
        ("Which pension fund does the company use?", "pension", "fund company use"),
        ("When was the museum built?", "built", "museum"),
        ("How many volunteers are needed?", "volunteers", ""),
        ("Where are potatoes?", "", ""),
        ("What time does the museum open?", "", ""),
    ],
)
def test_what_is_wanted_of_what_is_known_by_its_place(question: str, wanted: str, topic: str) -> None:
    asking = Asking.of(question)
    assert (asking.wanted, asking.topic) == (frozenset(words(wanted)), frozenset(words(topic)))


def test_words_that_say_little_count_less_and_those_for_what_is_wanted_more() -> None:
    counts = Asking.of("Which wine is used for the soup?").counts
    used, soup, wine = words("used soup wine")
    assert counts[used] < counts[soup] < counts[wine]


def test_words_of_an_earlier_question_count_less() -> None:
    asking = Asking.of("And audiobooks?", "How long are books lent?")
    assert asking.own == frozenset(words("audiobooks"))
    assert asking.counts["audiobook"] > asking.counts["book"]
    assert asking.may_be_answered_by("for two weeks")
    assert not asking.cannot_be_answered_by("They are lent.")


def test_a_long_question_needs_less_of_its_words() -> None:
    short, longer, long = (Asking.of(f"Where {' '.join(one)}?") for one in ("abcd", "fghjkl", "pqrstuvwxz"))
    assert short.enough > longer.enough > long.enough


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        ("How tall is the tower?", "It has 44 metres.", "It has 211 steps."),
        ("How heavy is the lens?", "It weighs two tons.", "It is two metres wide."),
        ("What is your phone number?", "Call 555-0123.", "Call us at 9."),
        ("How long must a password be?", "At least sixteen characters.", "Very long."),
        ("How fast is the ferry?", "It reaches 35 knots.", "It costs 35 euros."),
        ("How fast is the link?", "It carries 10 Gbit/s.", "It has 10 users."),
        ("When did it fall?", "Last year it fell.", "It fell."),
    ],
)
def test_what_has_nothing_of_what_is_wanted_cannot_answer(question: str, answer: str, other: str) -> None:
    asking = Asking.of(question)
    assert not asking.cannot_be_answered_by(answer)
    assert asking.cannot_be_answered_by(other)


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        ("What is a chunk?", "A chunk is a span.", "Each chunk has a span."),
        ("What is a chunk?", "`chunk` · a span", "chunk of text"),
        ("May I smoke?", "Smoking is not permitted.", "People smoke."),
    ],
)
def test_an_answer_has_a_form(question: str, answer: str, other: str) -> None:
    asking = Asking.of(question)
    assert asking.is_met_by(answer)
    assert not asking.is_met_by(other)


@pytest.mark.parametrize("question", ["How long?", "How often?", "How many?"])
def test_what_only_asks_goes_by_the_earlier_question(question: str) -> None:
    asking = Asking.of(question, "Can a loan be renewed?")
    assert not asking.own
    assert asking.words == frozenset(words("loan renewed"))


def test_no_question_is_so_long_that_nothing_is_enough() -> None:
    assert Asking.of(f"Where {' and '.join('bcdfghjklmn')}?").enough >= LEAST
