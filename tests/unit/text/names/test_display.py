"""Names as they are shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.text.names import display_name, name_key


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("OAuth 2.0.", "OAuth 2.0"),
        ("the Gateway;", "the Gateway"),
        ("Node.js.", "Node.js"),
        ("API...", "API"),
        ("Acme Inc.", "Acme Inc."),
        ("Acme Inc..", "Acme Inc."),
        ("Acme Inc,", "Acme Inc"),
        ("U.S.", "U.S."),
        ("Jane Doe, Ph.D.", "Jane Doe, Ph.D."),
        ("J.", "J."),
        ("Yahoo!", "Yahoo!"),
        (".NET", ".NET"),
        ("C++", "C++"),
        ("...", "..."),
        ('".', '".'),
        ("", ""),
    ],
)
def test_the_stop_of_a_sentence_is_no_part_of_a_name(name: str, shown: str) -> None:
    assert display_name(name) == shown


@given(st.text() | st.from_regex(r"[\w.,; ()\"]{0,12}", fullmatch=True))
def test_what_is_shown_is_the_same_name(name: str) -> None:
    shown = display_name(name)
    assert name_key(shown) == name_key(name)
    assert display_name(shown) == shown
    assert not name or shown
