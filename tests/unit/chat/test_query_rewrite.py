"""The search query of a message that follows up on earlier questions."""

import pytest

from whence.chat.query_rewrite import is_small_talk, questions_followed_up
from whence.providers import Message

WHO = "Who wrote the report on the harbour of Narvik?"


def said(*questions: str) -> list[Message]:
    turns = []
    for one in questions:
        turns += [Message(role="user", content=one), Message(role="assistant", content="Somebody.")]
    return turns


def searched(message: str, history: list[Message]) -> str:
    return f"{message} {questions_followed_up(message, history)}".rstrip()


@pytest.mark.parametrize(
    "message",
    [
        "And in 2021?",
        "what about Oslo",
        "When was it finished?",
        "Why?",
        "How much did they pay for those?",
        "2021",
        "Which one has more rooms and windows?",
        "Does the old harbour still have that?",
    ],
)
def test_what_leans_on_the_last_question_is_searched_with_it(message: str) -> None:
    assert searched(message, said(WHO)) == f"{message} {WHO}"


@pytest.mark.parametrize(
    "message",
    [
        WHO,
        "Which ships entered the harbour of Bergen in 2021?",
        "How much does one week at the camp cost?",
        "Is there a swimming pool at the camp?",
        "How many rooms are there in the old castle?",
        "Who repaired the bridge that fell in Bergen?",
        "Which concerts take place in Bergen this year?",
    ],
)
def test_what_is_whole_is_searched_alone(message: str) -> None:
    assert searched(message, said("Who paid for the bridge?")) == message


def test_without_a_question_before_there_is_nothing_to_lean_on() -> None:
    assert searched("And in 2021?", []) == "And in 2021?"
    assert searched("Why?", [Message(role="assistant", content="Hello, I am here.")]) == "Why?"


def test_one_that_leans_on_another_takes_that_along() -> None:
    assert searched("And in 2022?", said(WHO, "And in 2021?")) == f"And in 2022? And in 2021? {WHO}"


def test_it_does_not_go_back_for_ever() -> None:
    assert searched("Why?", said(*["Why?"] * 50)) == " ".join(["Why?"] * 4)
    assert len(searched("Why?", said("word " * 10_000))) < 2_000


def test_what_stood_in_quotes_before_need_not_be_found_again() -> None:
    before = said('What did "Anders Berg" do with the “old boiler”?')
    assert searched("And the ferry?", before) == "And the ferry? What did Anders Berg do with the old boiler?"
    assert searched('And the "new ferry"?', before).startswith('And the "new ferry"? What')


@pytest.mark.parametrize(
    "message",
    [
        "thanks!",
        "Hello",
        "hi there",
        "Thank you very much.",
        "Great, thanks!",
        "ok",
        "Good morning!",
        "Hey, how are you?",
        "Bye 👋",
        "Nice",
        "Cool!",
        "Great. Perfect.",
    ],
)
def test_small_talk_asks_nothing(message: str) -> None:
    assert is_small_talk(message)


@pytest.mark.parametrize(
    "message",
    [
        "Hello world",
        "hi, what is the notice period?",
        "Thanksgiving",
        "ok, and in 2021?",
        "great wall",
        "Why?",
        "Nice?",
        "Cool ?",
        "?",
        "",
        "hi " * 50,
    ],
)
def test_what_may_be_asked_is_no_small_talk(message: str) -> None:
    assert not is_small_talk(message)
