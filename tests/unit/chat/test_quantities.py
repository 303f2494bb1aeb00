"""Figures are the same however they are written, and no other figures are."""

import sys
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.texts import texts

from whence.chat.support.quantities import figures, tells

WRITTEN = st.sampled_from(
    "9 may 2025 12:30 pm , . 1,000 2.5 million twenty one hundred and a dozen third 3rd - to 2023 年 5月 日 ²".split()
)


def says(text: str, claim: str) -> bool:
    marks = figures(text).marks.union(figures(text).rest.casefold().split())
    return all(tells(ways, marks) for ways in figures(claim).needs)


@pytest.mark.parametrize(
    "same",
    [
        ("8.5 euros", "8.50 euros", "8,50 euros"),
        ("1.2 million", "1,200,000", "$1,200,000", "1.200.000,00"),
        ("2 thousand", "2,000", "2000 metres", "two thousand"),
        ("9 May 2025", "May 9, 2025", "2025-05-09", "9th of May 2025", "9 May, 2025", "2025年5月9日"),
        ("9 Sept", "Sep. 9th", "September 9"),
        ("31.12.2024", "12/31/2024", "31 December 2024", "Dec 31, 2024"),
        ("6 pm", "18:00", "6 p.m.", "6:00 PM"),
        ("12 am", "0:00", "00:00"),
        ("twenty", "20"),
        ("twenty-five", "twenty five", "25"),
        ("two hundred and five", "205"),
        ("a hundred", "one hundred", "100"),
        ("a dozen", "12", "twelve"),
        ("three dozen", "36"),
        ("the fourth floor", "the 4th floor", "floor 4"),
        ("five and six", "6 or 5"),
        ("the 422nd", "422"),
    ],
)
def test_a_figure_is_the_same_however_it_is_written(same: tuple[str, ...]) -> None:
    assert all(says(one, other) for one in same for other in same)


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("9 May 2025", "9 May"),
        ("9 May 2025", "in May 2025"),
        ("9 May 2025", "in 2025"),
        ("9 May 2025", "on the 9th"),
        ("In 2025 they meet on 9 May", "9 May 2025"),
        ("9–11 May 2025", "from 9 May 2025 to 11 May 2025"),
        ("6–8 pm", "from 18:00 to 20:00"),
        ("9–5 pm", "from 9 am to 5 pm"),
        ("from 9 to 17", "from 9:00 to 17:00"),
        ("at 18:00", "at six"),
        ("in million euros 1.2", "1.2 million euros"),
        ("a one-year warranty", "1 year"),
        ("one year", "a one-year warranty"),
        ("up to five may come", "up to 5 may come"),
    ],
)
def test_what_says_more_says_it_too(text: str, claim: str) -> None:
    assert says(text, claim)


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("In 2023, 812 sightings were recorded", "2,023 sightings"),
        ("the 2023 survey", "2,023 sightings"),
        ("at 18:00 on 9 May 2025", "18 May 2025"),
        ("at 18:00", "18 rooms"),
        ("at 6 am", "6 pm"),
        ("9 May 2024", "9 May 2025"),
        ("9 May 2024 and 3 June 2025", "9 May 2025"),
        ("9 June", "9 rooms"),
        ("1.2 million", "1.2"),
        ("twenty", "two"),
        ("nineteen", "nine"),
        ("version 3.2.1", "3.2"),
    ],
)
def test_other_figures_are_others(text: str, claim: str) -> None:
    assert not says(text, claim)


@pytest.mark.parametrize(
    "text",
    ["one of them", "a third of it", "several hundred", "dozens", "A4", "the first", "a second", "none"],
)
def test_some_words_are_no_figures(text: str) -> None:
    assert not figures(text).needs


def test_what_is_left_has_no_figures() -> None:
    assert figures("The 2 bridges of 1874, opened on 9 May at 6 pm").rest.split() == [
        *("the", "bridges", "of", ",", "opened", "on", "at")
    ]


@given(
    texts(100) | st.lists(WRITTEN, max_size=12).map(" ".join) | st.lists(WRITTEN, max_size=12).map("".join)
)
def test_every_text_says_its_own_figures(text: str) -> None:
    assert says(text, text)


@pytest.mark.parametrize("unit", ["1,1", "9 ", "one ", "hundred ", "9 may ", "9 to ", "12:30-", "2025-05-"])
def test_the_work_grows_with_the_text_and_no_faster(unit: str) -> None:
    def work(times: int) -> int:
        counts = Counter[str]()
        sys.setprofile(lambda _, event, __: counts.update((event,)))
        try:
            figures(unit * times)
        finally:
            sys.setprofile(None)
        return counts.total()

    assert work(2000) < 2.2 * work(1000) + 100
