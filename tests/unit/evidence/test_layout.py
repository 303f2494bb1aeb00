"""Rectangles come from characters that are where the stored text says, or there are none."""

import numpy as np
import pytest

from whence.evidence.layout import PageLayout, align
from whence.parse.shown import SCALE, ShownPage

STEP = 0.01


def shown(*lines: str, height: float = 0.01) -> ShownPage:
    """Letters of 0.01 of the width, in lines of 0.02 of the height."""
    letters = [
        (letter, row, column)
        for row, line in enumerate(lines)
        for column, letter in enumerate(line)
        if not letter.isspace()
    ]
    boxes = [
        (column * STEP, row * 0.02, (column + 1) * STEP, row * 0.02 + height) for _, row, column in letters
    ]
    return ShownPage(
        number=1,
        width=100,
        height=100,
        rotation=0,
        text="".join(letter for letter, _, _ in letters),
        lines=np.array([row for _, row, _ in letters], np.uint16).tobytes(),
        boxes=np.rint(np.array(boxes) * SCALE).astype(np.uint16).tobytes(),
    )


def rects(page: ShownPage, text: str, words: str) -> list[tuple[float, ...]] | str:
    layout = PageLayout.aligned(page, text)
    again = PageLayout.unpacked(layout.width, layout.height, layout.rotation, layout.packed())
    start = text.index(words)
    found = again.rects(start, start + len(words))
    return found if isinstance(found, str) else [tuple(round(one, 2) for one in rect) for rect in found]


def test_one_rectangle_for_each_line() -> None:
    text = "One two three\nfour five six"
    page = shown("One two three", "four five six")
    assert rects(page, text, "two") == [(0.04, 0, 0.07, 0.01)]
    assert rects(page, text, "three\nfour five") == [(0.08, 0, 0.13, 0.01), (0, 0.02, 0.09, 0.03)]


def test_white_space_has_no_rectangle() -> None:
    assert rects(shown("One", "two"), "One\n\n\ntwo", "\n\n") == []


def test_marks_of_headings_that_the_parser_added_are_left_out() -> None:
    text = "## Results of it\n\n# make\n\nThe end."
    page = shown("Results", "of it", "# make", "The end.")
    assert rects(page, text, "## Results of") == [(0, 0, 0.07, 0.01), (0, 0.02, 0.02, 0.03)]
    assert rects(page, text, "# make") == [(0, 0.04, 0.06, 0.05)]


@pytest.mark.parametrize("words", ["was raised", "mole was"])
def test_a_line_that_the_page_does_not_have_has_no_place(words: str) -> None:
    text = "The harbour is old and deep.\nThe mole was raised.\nNobody paid for any of that."
    page = shown("The harbour is old and deep.", "The mole is high.", "Nobody paid for any of that.")
    assert rects(page, text, words) == "text_differs"
    assert rects(page, text, "old and") == [(0.15, 0, 0.22, 0.01)]
    assert rects(page, text, "for any") == [(0.12, 0.04, 0.19, 0.05)]


def test_a_short_line_after_a_difference_is_not_guessed() -> None:
    _, found = align("a\nx\nb", "a" + "b")
    assert found.tolist() == [0, -1, -1]


def test_a_rectangle_is_cut_where_a_neighbour_reaches_into_it() -> None:
    text = "One two\nthree"
    page = shown("One two", "three", height=0.021)
    # The lines overlap a little; both have a rectangle that touches only its own.
    assert rects(page, text, "two") == [(0.04, 0, 0.07, 0.02)]
    assert rects(page, text, "three") == [(0, 0.02, 0.05, 0.04)]


def test_characters_over_each_other_have_no_rectangle() -> None:
    page = shown("ab")
    twice = ShownPage(
        number=1,
        width=100,
        height=100,
        rotation=0,
        text="ab" + "cd",
        lines=page.lines + np.array([1, 1], np.uint16).tobytes(),
        boxes=page.boxes + (np.frombuffer(page.boxes, np.uint16) + 3).tobytes(),
    )
    assert rects(twice, "ab\ncd", "ab") == "text_overlaps"


def test_the_characters_of_one_glyph_go_together() -> None:
    page = shown("fi")
    box = page.boxes[:8]
    glyph = ShownPage(
        number=1, width=100, height=100, rotation=0, text="fi", lines=page.lines, boxes=box + box
    )
    assert rects(glyph, "fi", "i") == [(0, 0, 0.01, 0.01)]
