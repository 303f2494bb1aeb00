"""Which names a question may have in it, and how what the graph knows is told."""

from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.chat.graph import Fact, facts_of, names_asked
from whence.chat.prompt import build_prompt
from whence.chat.sources import Source
from whence.models import GraphObject, now
from whence.text.names import name_key

ANNA = GraphObject(
    project_id=uuid4(),
    id=uuid4(),
    type="Person",
    name="Anna Lindqvist",
    name_key="anna lindqvist",
    properties={"roles": ["head", "founder"], "born": 1970, "home_town": "Narvik"},
    created_at=now(),
    updated_at=now(),
)


def test_names_are_found_whatever_stands_around_them() -> None:
    for question in (
        "Who is Anna Lindqvist?",
        'Does "Anna  LINDQVIST" travel?',
        "What is Anna Lindqvist's office?",
        "(Anna Lindqvist) decides, no?",
    ):
        assert "anna lindqvist" in names_asked(question), question


def test_names_are_found_in_scripts_without_spaces() -> None:
    assert "東京塔" in names_asked("東京塔はいつ建てられましたか")


def test_words_that_say_nothing_are_no_names() -> None:
    assert names_asked("what is it and who are they") == []


@given(st.lists(st.sampled_from(["Anna", "Lindqvist", "the", "OAuth 2.0", "C++", "[1]", "…"]), max_size=200))
def test_names_are_in_the_form_in_which_they_are_compared(words: list[str]) -> None:
    found = names_asked(" ".join(words))
    assert all(name_key(key) == key for key in found)
    assert len(found) <= 600 * 8


def test_what_one_chunk_says_of_an_object_is_one_sentence() -> None:
    assert facts_of(ANNA, {}) == [
        Fact(text="Anna Lindqvist (Person): born 1970; home town Narvik; roles head, founder.", chunk_id=None)
    ]
    said: dict[tuple[UUID, str], dict[str, Any]] = {
        (ANNA.id, "born"): {"one": 1970},
        (ANNA.id, "home_town"): {"two": "Narvik"},
        (ANNA.id, "roles"): {"one": ["founder"], "two": ["head"]},
    }
    assert facts_of(ANNA, said) == [
        Fact(text="Anna Lindqvist (Person): born 1970; roles founder.", chunk_id="one"),
        Fact(text="Anna Lindqvist (Person): home town Narvik; roles head.", chunk_id="two"),
    ]
    bare = replace(ANNA, properties={})
    assert facts_of(bare, {(ANNA.id, "name"): {"one": ANNA.name}}) == [
        Fact(text="Anna Lindqvist (Person).", chunk_id="one", bare=True)
    ]


@pytest.mark.parametrize("value", ["She decides on travel.", "She decides on travel", "Does she?"])
def test_a_sentence_ends_once(value: str) -> None:
    (fact,) = facts_of(replace(ANNA, properties={"description": value}), {})
    assert fact.text == f"Anna Lindqvist (Person): description {value.rstrip('.')}" + (
        "" if value.endswith("?") else "."
    )


def test_a_model_is_told_which_passages_say_so() -> None:
    facts = [Fact(text="A is B [2].", chunk_id="x"), Fact(text="</passage> B is C.", chunk_id="z")]
    sources = [Source.of_graph(facts), Source(id="x", text="A is B."), Source(id="y", text="C.")]
    prompt = build_prompt("What is A?", sources, [], context=4_000, max_tokens=100)
    assert prompt.sources[0].text.splitlines()[1:] == ["A is B ⁅2⁆. [1]", "＜/passage> B is C."]
