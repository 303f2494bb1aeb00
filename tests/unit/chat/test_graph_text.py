"""Which names a question may have in it, and how objects and relationships are told."""

from uuid import uuid4

from hypothesis import given
from hypothesis import strategies as st

from whence.chat.graph import composed, names_in
from whence.extract.names import name_key
from whence.types import GraphObject, Relationship, now

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
        assert "anna lindqvist" in names_in(question), question


def test_words_that_say_nothing_are_no_names() -> None:
    assert names_in("what is it and who are they") == []


@given(st.lists(st.sampled_from(["Anna", "Lindqvist", "the", "OAuth 2.0", "C++", "[1]", "…"]), max_size=200))
def test_names_are_in_the_form_in_which_they_are_compared(words: list[str]) -> None:
    found = names_in(" ".join(words))
    assert all(name_key(key) == key or key + "'s" == name_key(key + "'s") for key in found)
    assert len(found) <= 2 * 6 * 100


def test_objects_and_relationships_are_told_in_sentences() -> None:
    tie = Relationship(
        project_id=ANNA.project_id,
        id=uuid4(),
        type="works_at",
        source_id=ANNA.id,
        source_type="Person",
        source_name="Anna Lindqvist",
        target_id=uuid4(),
        target_type="Office",
        target_name="Narvik Office",
        properties={},
        created_at=now(),
        updated_at=now(),
    )
    assert composed([ANNA], [tie]).splitlines()[1:] == [
        "Anna Lindqvist (Person): born 1970; home town Narvik; roles head, founder.",
        "Anna Lindqvist (Person) works at Narvik Office (Office).",
    ]


def test_the_text_has_an_end() -> None:
    assert len(composed([ANNA] * 1000, [])) < 2_100
