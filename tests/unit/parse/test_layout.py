"""PDF pages laid out: structure is added, and nothing is ever taken away."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.parse.child.pdf import LayoutBlock, keep_hyphens, structured

PLAIN = "Chapter one\r\nThe heron waits\r\nby. the water.\r\nIt eats fish.\r\n\u2022 frogs\r\nand mice\r\n\u2022 fish\r\n7"
LINES = st.lists(st.text(st.sampled_from("abé漢.-•# \t"), max_size=12), max_size=12)
BLOCKS = st.lists(
    st.builds(
        LayoutBlock, st.text(st.sampled_from("abé漢. \n"), max_size=12), st.integers(0, 9), st.booleans()
    ),
    max_size=12,
)


def test_headings_paragraphs_and_lists() -> None:
    blocks = [
        LayoutBlock("Chapter one", 2),
        LayoutBlock("The heron waits"),
        LayoutBlock("by. the water.", is_item=True),
        LayoutBlock("It eats fish."),
        LayoutBlock("frogs\nand mice", is_item=True),
        LayoutBlock("fish", is_item=True),
    ]
    assert structured(PLAIN, blocks) == (
        "## Chapter one\n\nThe heron waits\nby. the water.\n\nIt eats fish.\n\n• frogs\nand mice\n\n• fish\n7"
    )


def test_a_heading_over_two_lines_becomes_one() -> None:
    blocks = [LayoutBlock("A long\nheading", 1), LayoutBlock("Text")]
    assert structured("A long\r\nheading\r\nText", blocks) == "# A long heading\n\nText"


def test_a_heading_that_is_not_there_as_such_stays_a_line() -> None:
    assert structured("Heading and more\nText", [LayoutBlock("Heading", 1)]) == "Heading and more\nText"


def test_without_blocks_the_lines_stay() -> None:
    assert structured("one  \r\ntwo", []) == "one\ntwo"


def test_the_order_may_be_another() -> None:
    assert structured("Left\nRight", [LayoutBlock("Right"), LayoutBlock("Left")]) == "Left\n\nRight"


@pytest.mark.parametrize("unwanted", ["\x02", "\x00", "\ufffe", "\x1f"])
def test_marks_inside_words_go(unwanted: str) -> None:
    assert structured(f"en{unwanted}coding", []) == "encoding"


@given(lines=LINES, blocks=BLOCKS)
def test_no_word_is_lost(lines: list[str], blocks: list[LayoutBlock]) -> None:
    plain = "\r\n".join(lines)
    out = structured(plain, blocks)
    without_marks = re.sub(r"^#+ (?=.)", "", out, flags=re.MULTILINE)
    original = re.sub(r"^#+ (?=.)", "", plain.replace("\r", ""), flags=re.MULTILINE)
    assert without_marks.replace("#", "").split() == original.replace("#", "").split()


@pytest.mark.parametrize(
    ("page", "mended"),
    [
        ("the fourth\ufffequarter. A quarter, the fourth.", "the fourth-quarter. A quarter, the fourth."),
        ("infor\x02mation on a", "information on a"),
        (
            "under\ufffestanding, standing under. Understanding",
            "understanding, standing under. Understanding",
        ),
        ("well\ufffeknown and well-known", "well-known and well-known"),
        ("non\ufffeEnglish, COVID\ufffe19, INFOR\ufffeMATION", "non-English, COVID-19, INFORMATION"),
    ],
)
def test_hyphens_at_line_ends_stay_where_the_word_needs_them(page: str, mended: str) -> None:
    assert keep_hyphens({1: page}) == {1: mended}
