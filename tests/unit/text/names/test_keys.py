"""Names that are one name, and names that are not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.text.names import fold, identifier_key, name_key


@pytest.mark.parametrize(
    "name",
    [
        "OAuth 2.0",
        "oauth  2.0",
        " OAUTH\n2.0 ",
        "“OAuth 2.0”",
        "OAuth\u00a02.0.",
        "(OAuth 2.0)",
        "**OAuth 2.0**:",
    ],
)
def test_spellings_of_one_name(name: str) -> None:
    assert name_key(name) == "oauth 2.0"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Straße", "STRASSE"),
        ("ﬁle store", "File Store"),
        ("Zürich", "Zu\u0308rich"),
        ("Spider–Man", "spider-man"),
        ("O’Brien", "O'Brien"),
        ("soft\u00adware", "software"),
    ],
)
def test_typography_makes_no_other_name(one: str, other: str) -> None:
    assert name_key(one) == name_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("C", "C#"), ("C", "C++"), ("NET", ".NET"), ("f(x)", "f(x"), ("id", "_id"), ("Ana", "Aña")],
)
def test_what_means_something_stays(one: str, other: str) -> None:
    assert name_key(one) != name_key(other)


@pytest.mark.parametrize("name", ["...", "“”", "\u200b", " ", "()", "?!"])
def test_a_name_without_letters_still_has_a_key(name: str) -> None:
    assert name_key(name)


@given(st.text())
def test_a_key_is_its_own_key(name: str) -> None:
    key = name_key(name)
    assert name_key(key) == key
    assert bool(key) == bool(name)
    assert fold(fold(name)) == fold(name)


def test_identifiers_are_one_name_however_they_are_joined() -> None:
    assert (
        len({identifier_key(name) for name in ("dueDate", "due_date", "Due date", "due-date", "DUE DATE")})
        == 1
    )
