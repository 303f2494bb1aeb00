"""When a text mentions a name, and which values are specific."""

import pytest

from whence.extract.evidence import Words, is_specific


@pytest.mark.parametrize(
    ("text", "name"),
    [("the authors write", "Authority"), ("marketing plans", "Market"), ("We operate it.", "Operator")],
)
def test_a_related_word_is_no_mention(text: str, name: str) -> None:
    assert not Words(text).mentions(name)


@pytest.mark.parametrize(("text", "name"), [("both databases", "Database"), ("our policies", "Policy")])
def test_a_plural_is_a_mention(text: str, name: str) -> None:
    assert Words(text).mentions(name)


@pytest.mark.parametrize(
    ("value", "expected"),
    [("zero trust", False), ("third party", False), ("twelve months", True), ("ninety days", True)],
)
def test_which_number_words_are_specific(value: str, *, expected: bool) -> None:
    assert is_specific(value, value) is expected
