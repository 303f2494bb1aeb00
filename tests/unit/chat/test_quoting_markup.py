"""Rows with the names of their columns, sentences in bold and beside markup, titles of plain texts, and halves of a question."""

import pytest

from whence.chat import extractive
from whence.chat.passages import Passage


def passage(number: int, text: str) -> Passage:
    return Passage(id=f"0190a1b2-7c3d-7e4f-8a5b-{number:012}", text=text, document_id="d")


def extract(question: str, passages: list[Passage]) -> str | None:
    """With the numbers of the passages for their ids."""
    found = extractive.extract(question, passages)
    text = found.text if found else None
    for number, one in enumerate(passages, 1):
        text = text.replace(f"[{one.id}]", f"[{number}]") if text else None
    return text


CATS = passage(3, "Cats sleep for most of the day. They like milk.")
PRICES = "| Ticket | Adults | Children | |\n|---|---|---|---|\n| Day | 12 € | 6 € | |\n| Year | 80 € | | with a photo |\n"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (
            "What does a day ticket cost for children?",
            "Ticket · Adults · Children [1]\nDay · 12 € · 6 € [1]",
        ),
        (
            "What does a year ticket cost for adults?",
            "Ticket · Adults · Children [1]\nYear · 80 € · · with a photo [1]",
        ),
    ],
)
def test_a_row_is_quoted_with_the_names_of_its_columns(question: str, answer: str) -> None:
    assert extract(question, [passage(31, PRICES)]) == answer
    found = extractive.extract(question, [passage(31, PRICES)])
    assert found
    assert PRICES[found.quotes[0].start : found.quotes[0].end] == "| Ticket | Adults | Children | |"
    assert PRICES[found.quotes[1].start : found.quotes[1].end].startswith(("| Day |", "| Year |"))


def test_a_head_that_would_forge_a_citation_is_left_out() -> None:
    forged = passage(32, "| Part | Price [2] | Stock |\n|---|---|---|\n| Widget | 40 | 7 |")
    assert extract("price of the widget", [forged, CATS]) == "Widget · 40 · 7 [1]"


@pytest.mark.parametrize(
    ("text", "question", "answer"),
    [
        (
            "**Never open the boiler while it is hot. Wait for twenty minutes first.** Then fill it.",
            "How many minutes do I wait?",
            "Wait for twenty minutes first.",
        ),
        (
            '<p align="center"><img src="https://a.example/long/path/to/a/logo.png" width="200"></p>The boiler holds two litres.',
            "How many litres does the boiler hold?",
            "The boiler holds two litres.",
        ),
        (
            "![the boiler](https://a.example/pictures/boiler-in-the-kitchen.png) The boiler holds two litres.",
            "How many litres does the boiler hold?",
            "The boiler holds two litres.",
        ),
        (
            'The boiler holds <b>two</b> litres<br><a href="https://a.example/a/long/path">.</a>',
            "How many litres does the boiler hold?",
            "The boiler holds two litres.",
        ),
    ],
)
def test_sentences_in_bold_and_beside_markup_are_quoted(text: str, question: str, answer: str) -> None:
    found = extractive.extract(question, [passage(33, text)])
    assert found
    said = [
        found.text[quote.response_start : quote.response_end].rpartition(" [")[0] for quote in found.quotes
    ]
    assert answer in said
    assert not [one for one in said if "<" in one or "**" in one or "![" in one]
    quoted = [text[quote.start : quote.end] for quote in found.quotes]
    assert not [one for one in quoted if one.startswith(("<", "!", "*")) or one.endswith("**")]


def test_two_halves_of_a_question_are_no_answer_together() -> None:
    text = (
        "The museum in Oslo opens at nine. Dogs stay outside. Visitors find lockers in the basement. "
        "The ferry line was founded by Ann Lee in 1921."
    )
    told = extract("When was the museum in Oslo founded?", [passage(34, text)]) or ""
    assert not ("The museum" in told and "The ferry line" in told)
    both = "Who founded the ferry line, and when does the museum in Oslo open?"
    assert {
        "The museum in Oslo opens at nine. [1]",
        "The ferry line was founded by Ann Lee in 1921. [1]",
    } <= {f"{one.strip()} [1]" for one in (extract(both, [passage(34, text)]) or "").split("[1]")}


def test_the_first_line_of_a_plain_text_is_its_title() -> None:
    text = "Sauna rules\n\nTowels are to be used at all times. It is heated on Fridays."
    assert extract("When is the sauna heated?", [passage(35, text)]) == "It is heated on Fridays. [1]"
    assert extract("What are the sauna rules?", [passage(35, text)]) != "Sauna rules [1]"
