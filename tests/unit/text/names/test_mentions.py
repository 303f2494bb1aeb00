"""Which names a text may speak of."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.text.names import MAX_WORDS, name_key, names_in


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Tokens of OAuth 2.0 expire.", "OAuth 2.0"),
        ("An OAuth 2.0-based sign-in.", "OAuth 2.0"),
        ("They use “OAuth  2.0”.", "oauth 2.0"),
        ("We write C++, C# and .NET here.", "C++"),
        ("We write C++, C# and .NET here.", "C#"),
        ("We write C++, C# and .NET here.", ".NET"),
        ("See REQ-12: it must hold.", "REQ-12"),
        ("Größe und ﬁnale Maße", "GRÖSSE"),
        ("東京は大きい。", "東京"),
        ("हिन्दी में लिखा है", "हिन्दी"),
        ("Call f(x) now", "f(x)"),
        ("The Ministry of Foreign Affairs and of the Sea", "Ministry of Foreign Affairs and of the Sea"),
    ],
)
def test_a_name_in_a_text_is_found(text: str, name: str) -> None:
    assert name_key(name) in names_in(text)


def test_a_part_of_a_word_is_no_name() -> None:
    assert "auth" not in names_in("OAuth tokens")


@given(
    st.text(max_size=40),
    st.lists(st.from_regex(r"[a-z]{1,8}", fullmatch=True), min_size=1, max_size=MAX_WORDS),
    st.text(max_size=40),
)
def test_whatever_stands_around_it(before: str, words: list[str], after: str) -> None:
    name = " ".join(words)
    assert name_key(name) in names_in(f"{before}\n{name}\n{after}")


@given(st.text(max_size=200))
def test_any_text_is_read(text: str) -> None:
    assert "" not in names_in(text)
