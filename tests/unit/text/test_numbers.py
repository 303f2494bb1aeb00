"""Numbers in one form."""

import pytest

from whence.text.numbers import figures, plain_number


@pytest.mark.parametrize(
    ("written", "scale", "plain"),
    [
        ("8.50", None, "8.5"),
        ("1,200,000", None, "1200000"),
        ("1.2", "million", "1200000"),
        ("0.500", None, "0.5"),
        ("23.000", None, "23.000"),
        ("8.400", None, "8.400"),
        ("8,4", None, "8.4"),
        ("23", None, "23"),
    ],
)
def test_one_form(written: str, scale: str | None, plain: str) -> None:
    assert plain_number(written, scale) == plain


@pytest.mark.parametrize(("one", "other"), [("23", "23.000"), ("8,4", "8.400"), ("1,5", "1.500")])
def test_groups_of_digits_are_not_dropped(one: str, other: str) -> None:
    """In German and Spanish the dot separates thousands."""
    assert figures(one)[0].key != figures(other)[0].key
