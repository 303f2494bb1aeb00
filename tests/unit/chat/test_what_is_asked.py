"""Quotations answer what is asked, or there are none."""

import pytest

from whence.chat import extractive
from whence.chat.passages import Passage

ROOMS = """\
# Rules of the reading rooms

The reading rooms of the harbour library are open from 9 to 18 o'clock, on Thursdays until 21 o'clock. On Sundays they
are closed.

## Borrowing

A reader may have ten items at home at a time. Books are lent for four weeks, audiobooks for two. A loan can be renewed
twice, unless somebody else waits for the item.

## Rare charts

Charts from before 1850 do not leave the chart room. Photographs without flash are allowed.

## Fines

For each day that an item is late, a reader pays 20 cents, and never more than the item is worth.

## Dress code

Wear what you like, except when customers visit.

## Prices

| plan | monthly |
|---|---|
| Basic | 9 euros |
| Pro | 29 euros |
"""
REPORT = """\
# Quarterly report, spring 2024

The harbour library closed its books for the quarter on 31 March. This report says what was lent, what was spent and
what is planned.

## Lending

Readers borrowed 48,210 items, 6.4 % more than a year before. The founders' portraits were found in the cellar.

## Spending

Repairs went over budget because of the storm of 9 February: water came through the roof. The insurer has accepted the
claim. Long texts are read through small windows.
"""
PASSAGES = [
    Passage(id=f"0190a1b2-7c3d-7e4f-8a5b-{number:012}", text=text, document_id=str(number))
    for number, text in enumerate((ROOMS, REPORT), 1)
]


def said(question: str, before: str = "") -> str:
    found = extractive.extract(question, PASSAGES, before=before)
    text = found.text if found else ""
    for passage in PASSAGES:
        text = text.replace(f" [{passage.id}]", "")
    return text


@pytest.mark.parametrize(
    "question",
    [
        "What is the phone number of the library?",
        "How many employees does the library have?",
        "How do I get a library card?",
        "Who is the director of the library?",
        "What colour are the reading rooms?",
        "What is the price of bitcoin?",
        "Who designed the quarterly report?",
        "Does the library support Windows?",
        "How tall is the insurer?",
    ],
)
def test_what_has_only_the_topic_is_no_answer(question: str) -> None:
    assert not said(question)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What are the fines?", "For each day that an item is late"),
        ("How much is the fine?", "20 cents"),
        ("What is the dress code?", "Wear what you like"),
        ("What are the prices?", "Pro · 29 euros"),
    ],
)
def test_what_stands_under_a_title_is_found_by_it(question: str, answer: str) -> None:
    assert answer in said(question)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("When are the reading rooms open on Sunday?", "On Sundays they are closed."),
        ("Can I take photos of charts?", "Photographs without flash are allowed."),
        ("How many items may I have at home?", "A reader may have ten items at home at a time."),
        ("Summarize the quarterly report", "This report says what was lent"),
        ("How long can books be borrowed?", "Books are lent for four weeks"),
    ],
)
def test_other_words_and_short_sentences_answer_too(question: str, answer: str) -> None:
    assert answer in said(question)


LENT = "How long are books lent?"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("When was the storm?", "storm of 9 February"),
        ("What about repairs?", "Repairs went over budget"),
        ("What are the fines?", "20 cents"),
        ("And audiobooks?", "audiobooks for two"),
        ("Can they be renewed?", "renewed twice"),
        ("What about it?", "Books are lent for four weeks"),
        ("Why?", "Books are lent for four weeks"),
    ],
)
def test_a_question_that_goes_on_is_answered_by_its_own_words(question: str, answer: str) -> None:
    assert answer in said(question, LENT)


@pytest.mark.parametrize("question", ["Who is the mayor?", "What about parking?", "And in 2021?"])
def test_the_earlier_question_is_not_answered_again(question: str) -> None:
    assert not said(question, LENT)


GLOSSARY = """\
A document is cut into chunks. Each chunk is embedded. Chunks never overlap.

| word | meaning |
|---|---|
| chunk | a span of one document |

**Passage**: what a model is shown. A passage may be long.
"""


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is a chunk?", "chunk · a span of one document"),
        ("What is a passage?", "**Passage**: what a model is shown."),
    ],
)
def test_a_definition_is_quoted_before_what_only_has_the_word(question: str, answer: str) -> None:
    passage = Passage(id=PASSAGES[0].id, text=GLOSSARY, document_id="1")
    found = extractive.extract(question, [passage])
    assert found
    assert found.text == f"{answer} [{passage.id}]"


def test_a_name_is_not_its_lookalike() -> None:
    systems = Passage(id=PASSAGES[0].id, text="It runs on Windows and on macOS.", document_id="1")
    assert extractive.extract("Does it run on Windows?", [systems])
    panes = Passage(
        id=PASSAGES[0].id, text="Windows are cleaned in May. The windows are small.", document_id="1"
    )
    assert not extractive.extract("Does it run on Windows?", [panes])


def test_who_asks_how_to_change_something_asks_for_that_thing() -> None:
    """What else can be changed is no answer."""
    text = "A redirect is refused, so that nobody can change the document on its way. The port is 8420 by default."
    passage = Passage(id=PASSAGES[0].id, text=text, document_id="1")
    found = extractive.extract("How do I change the port?", [passage])
    assert found is not None
    assert found.text.startswith("The port is 8420 by default.")


def test_words_with_a_hyphen_are_found_without_it() -> None:
    passage = Passage(id=PASSAGES[0].id, text="Back-ups are made at two. The Wi-Fi is slow.", document_id="1")
    for question, answer in (("When are backups made?", "Back-ups"), ("Is there wifi?", "The Wi-Fi")):
        found = extractive.extract(question, [passage])
        assert found
        assert found.text.startswith(answer)


@pytest.mark.parametrize(
    "question", ["Wie hoch ist der Turm der Kirche?", "Quelle est la hauteur de la tour ?"]
)
def test_of_other_languages_no_more_is_wanted_than_a_word(question: str) -> None:
    text = "Der Turm misst 44 Meter. La tour mesure 44 mètres."
    assert extractive.extract(question, [Passage(id=PASSAGES[0].id, text=text, document_id="1")])
