"""Quantities in one form."""

import pytest

from whence.text.numbers import figures, plain_number


@pytest.mark.parametrize(
    ("written", "scale", "plain"),
    [
        ("8.50", None, "8.5"),
        ("1,200,000", None, "1200000"),
        ("1.200.000", None, "1200000"),
        ("1.250,50", None, "1250.5"),
        ("48'000", None, "48000"),
        ("48\u202f000", None, "48000"),
        ("1.2", "million", "1200000"),
        ("1,200", "million", "1200000000"),
        ("1,2", "Millionen", "1200000"),
        ("1.200", "Millionen", "1200000000"),
        ("2", "dozen", "24"),
        ("0.500", None, "0.5"),
        ("23.000", None, "23.000"),
        ("8.400", None, "8.400"),
        ("8,4", None, "8.4"),
        ("23", None, "23"),
        ("2.0.10", None, "2.0.10"),
        ("05:30", None, "5:30"),
        ("17:00:00", None, "17:00"),
    ],
)
def test_one_form(written: str, scale: str | None, plain: str) -> None:
    assert plain_number(written, scale) == plain


@pytest.mark.parametrize(("one", "other"), [("23", "23.000"), ("8,4", "8.400"), ("1,5", "1.500")])
def test_groups_of_digits_are_not_dropped(one: str, other: str) -> None:
    """In German and Spanish the dot separates thousands."""
    assert figures(one)[0].key != figures(other)[0].key


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("US$3.5bn", "3500000000 dollar"),
        ("3,5 Mrd. €", "3500000000 . euro"),
        ("5m", "5 m"),
        ("twenty-five hundred", "2500"),
        ("two hundred and five", "205"),
        ("a thousand and an hour", "1000 and an hour"),
        ("the dozen, half a dozen", "the 12 , 6"),
        ("einundzwanzig, quatre-vingts", "21 , 80"),
        ("-$5 (\u22125)", "-5 dollar -5"),
        ("In 2020 300 people", "in 2020 300 people"),
    ],
)
def test_words_and_quantities_in_order(text: str, keys: str) -> None:
    assert " ".join(each.key for each in figures(text)) == keys


def test_the_last_zero_of_an_amount_says_nothing() -> None:
    kept = [each.key for each in figures("2.10 or 2.10 kW or $2.10", keep_zeros=True)]
    assert kept == ["2.10", "or", "2.1", "kw", "or", "2.1", "dollar"]
