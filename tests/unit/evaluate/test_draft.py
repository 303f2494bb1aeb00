"""Drafts of questions: each has a text that is in the document."""

import json

import pytest
from hypothesis import given
from tests.texts import texts

from whence.evaluate.draft import drafts_from_text, read_draft

MANUAL = """# Kestrel manual

Kestrel is a message gateway for sensors. It needs no disk.

## Rare errors

A gateway that is full drops the oldest message first. It says so in its log.

## Empty
"""


def test_definitions_and_headings_become_questions() -> None:
    definition, heading = drafts_from_text(MANUAL, "manual.md", is_english=True)
    assert definition.question == "What is Kestrel?"
    assert definition.text == definition.answer == "Kestrel is a message gateway for sensors."
    assert heading.question == "What is said about Rare errors in Kestrel manual?"
    assert heading.text == "A gateway that is full drops the oldest message first."
    assert heading.answer is None
    assert drafts_from_text(MANUAL, "m.md", is_english=False)[-1].question == "Rare errors, Kestrel manual"


def test_a_document_without_a_title_is_named_by_its_file() -> None:
    (draft,) = drafts_from_text("## Fines\n\nEach day costs 20 cents.", "house_rules.v2.md", is_english=True)
    assert draft.question == "What is said about Fines in house rules.v2?"


@given(text=texts())
def test_every_draft_quotes_the_text(text: str) -> None:
    for draft in drafts_from_text(text, "a.md", is_english=True):
        assert text[draft.start :].startswith(draft.text)


def said(**changes: object) -> str:
    fields = {"question": "What is full?", "answer": "A gateway", "quote": "A gateway that is full"}
    return json.dumps({**fields, **changes})


def test_a_reply_is_read_with_the_words_of_the_passage() -> None:
    passage = "Note. A gateway\nthat is full drops messages."
    for reply in said(), f"```json\n{said()}\n```", f"<think>{{?}}</think>Here: {said()}":
        draft = read_draft(reply, passage)
        assert draft is not None
        assert passage[draft.start :].startswith(draft.text)
        assert (draft.question, draft.text, draft.answer) == (
            "What is full?",
            "A gateway\nthat is full",
            "A gateway",
        )


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "no",
        "{}",
        "[1]",
        "{]}",
        said(quote="Invented"),
        said(quote=""),
        said(answer=" "),
        said(question=""),
    ],
)
def test_a_reply_that_is_no_draft_is_dropped(reply: str) -> None:
    assert read_draft(reply, "Note. A gateway that is full drops messages.") is None
