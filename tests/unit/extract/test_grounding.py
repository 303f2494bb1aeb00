"""Quotes: where a text says something, or an honest None."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.extract.grounding import FoundQuote, SearchableText


def ground(value: Any, text: str, *, near: str | None = None) -> FoundQuote | None:
    return SearchableText(text).find(value, near=near)


ASCII = st.text(st.characters(max_codepoint=127), max_size=60)
TEXT = (
    "OAuth tokens must expire within 1 hour. The budget is 1,000 euros (1.250,50 with tax),\n"
    "due on 15 January 2024.  Dr. Zu\u0308rich’s “Big\nPlan” costs 15%. Versions: 2.0.1 and 3."
)


@pytest.mark.parametrize(
    ("value", "quote"),
    [
        ("1 hour", "1 hour"),
        ("OAUTH TOKENS", "OAuth tokens"),
        ("must expire within 1 hour!", "must expire within 1 hour"),
        (1000, "1,000"),
        ("1000", "1,000"),
        (1250.5, "1.250,50"),
        ("1250.50", "1.250,50"),
        ("2024-01-15", "15 January 2024"),
        ("Zürich's", "Zu\u0308rich’s"),
        ('"big plan"', "“Big\nPlan”"),
        (15, "15"),
        (3, "3"),
        ("2.0.1", "2.0.1"),
        (["1 hour", "OAuth"], "OAuth tokens must expire within 1 hour"),
        ({"a": "1 hour", "b": "never"}, "1 hour"),
        # Not there, however near:
        ("2.0", None),
        (5, None),
        (100, None),
        ("hou", None),
        ("sixty minutes", None),
        ("...", None),
        ("", None),
        (True, None),
        (None, None),
        ([], None),
    ],
)
def test_a_value_and_its_quote(value: Any, quote: str | None) -> None:
    span = ground(value, TEXT)
    assert (span.quote if span else None) == quote
    if span is not None:
        assert TEXT[span.start : span.end] == span.quote


def test_in_a_table_a_value_is_found_in_the_row_of_its_name() -> None:
    text = "| Service | Owner | Port |\n|---|---|---|\n| Mail | Ann | 80 |\n| Web | Bob | 80 |"
    span = ground("80", text, near="Web")
    assert span is not None
    assert span.start == text.rindex("80")


def test_of_several_places_the_one_near_the_name() -> None:
    text = "Alpha is done in 2 days. Much later, Beta is done in 2 days."
    near_beta = ground("2 days", text, near="Beta")
    assert near_beta is not None
    assert near_beta.start == text.rindex("2 days")
    first = ground("2 days", text)
    assert first is not None
    assert first.start == text.index("2 days")


@pytest.mark.parametrize(
    ("text", "value", "quote"),
    [
        ("Section 3 of the manual. Alpha allows three tries.", 3, "three"),
        ("Section three of the manual. Alpha allows 3 tries.", 3, "3"),
        ("Alpha allows three tries. That is in section 3.", 3, "three"),
        ("Within 2 days Beta does it. Alpha does it in two days.", "2 days", "two days"),
        (
            "From 2025-03-01 on there is Beta. Alpha came on the 1st of March, 2025.",
            "2025-03-01",
            "1st of March, 2025",
        ),
        ("Alpha has twenty-five rooms and 5 doors.", 25, "twenty-five"),
        ("Alpha has twenty five rooms.", "25 rooms", "twenty five rooms"),
        ("Alpha has 3 wind turbines.", "three wind turbines", "3 wind turbines"),
        # "One" is often no number.
        ("Alpha, one of the rules, allows 1 try.", 1, "1"),
        ("Alpha allows one try.", 1, "one"),
    ],
)
def test_also_of_places_in_several_notations(text: str, value: Any, quote: str) -> None:
    span = ground(value, text, near="Alpha")
    assert span is not None
    assert (span.quote, text[span.start : span.end]) == (quote, quote)


@pytest.mark.parametrize("value", [5, 20, "five rooms", "5 rooms"])
def test_a_part_of_a_number_in_words_is_no_place(value: Any) -> None:
    assert ground(value, "Alpha has twenty-five rooms.", near="Alpha") is None


def test_the_number_of_an_item_is_no_number_in_words() -> None:
    assert ground("three", "3. Alpha opens the valve.", near="Alpha") is None


@pytest.mark.parametrize(
    "said",
    ["1st of\nMarch, 2025", "March 1st, 2025", "Mar. 1, 2025", "1.3.2025", "01.03.2025", "1 MARCH 2025"],
)
def test_a_date_in_other_notations(said: str) -> None:
    for value in ("2025-03-01", "2025-03-01T00:00:00+00:00"):
        span = ground(value, f"It counts from {said}, and not before.")
        assert span is not None
        assert span.quote == said


@pytest.mark.parametrize("said", ["3.1.2025", "v1.3.2025.7", "1 March", "March 2025", "11 March 2025"])
def test_another_date_is_not_it(said: str) -> None:
    assert ground("2025-03-01", f"It counts from {said}, and not before.") is None


def test_the_exact_spelling_goes_before_another_one() -> None:
    span = ground("May", "It may rain in May.")
    assert span is not None
    assert span.start == 15


@pytest.mark.parametrize("text", ["東京は日本の首都です", "กรุงเทพมหานคร"])
def test_scripts_without_spaces(text: str) -> None:
    span = ground(text[:2], text)
    assert span is not None
    assert span.quote == text[:2]


@given(st.text(), st.text())
def test_a_quote_is_a_slice_of_the_text(value: str, text: str) -> None:
    for wanted in (value, text[1:4]):
        span = ground(wanted, text)
        assert span is None or (text[span.start : span.end] == span.quote and span.quote)


@given(st.text(alphabet="ab \n", min_size=1).filter(str.strip), st.text(alphabet="cd.", max_size=9))
def test_what_stands_between_spaces_is_found(words: str, around: str) -> None:
    assert ground(words, f"{around} {words} {around}") is not None
    assert ground(words.upper(), f"{around} {words} {around}") is not None


@given(
    before=ASCII,
    value=st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=8),
    after=ASCII,
)
def test_a_letter_elsewhere_changes_no_quote(before: str, value: str, after: str) -> None:
    """Plain texts are folded in a shorter way than others."""
    text = f"{before} {value} {after}"
    found, other = ground(value.swapcase(), text), ground(value.swapcase(), f"{text} \u00e9")
    assert found == other
