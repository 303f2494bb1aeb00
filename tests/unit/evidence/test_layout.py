"""Rectangles come from characters that are where the stored text says, or there are none."""

from dataclasses import replace

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


def over(page: ShownPage, text: str, moved: tuple[int, int]) -> ShownPage:
    """The page with a second line over the first, moved by so much."""
    boxes = np.frombuffer(page.boxes, np.uint16).reshape(-1, 4)
    return ShownPage(
        number=1,
        width=100,
        height=100,
        rotation=0,
        text=page.text + text,
        lines=page.lines + np.ones(len(text), np.uint16).tobytes(),
        boxes=page.boxes + (boxes[: len(text)] + np.array([*moved, *moved], np.uint16)).tobytes(),
    )


def test_characters_over_each_other_have_no_rectangle() -> None:
    assert rects(over(shown("ab"), "cd", (3, 3)), "ab\ncd", "ab") == "text_overlaps"


def test_letters_that_lie_partly_over_others_have_the_rest_of_their_boxes() -> None:
    """As the letters of a logo. Half a box is better than none, and read back it is the same."""
    page = over(shown("a"), "c", (400, 0))
    assert rects(page, "a\nc", "a") == [(0, 0, 0.01, 0.01)]
    layout = PageLayout.aligned(page, "a\nc")
    found = layout.rects(0, 1)
    assert not isinstance(found, str)
    assert 395 < found[0].x1 * SCALE < 400


def test_thin_letters_are_cut_along_their_length() -> None:
    """As the pieces of a tall brace: the next one begins before the end of this one."""
    page = over(shown("{"), "{", (0, 600))
    thin = replace(page, boxes=np.array([[0, 0, 20, 700], [0, 600, 20, 1300]], np.uint16).tobytes())
    assert rects(thin, "{\n{", "{") == [(0, 0, 0, 0.01)]


def test_a_part_of_a_glyph_has_no_rectangle() -> None:
    """But a recognised word has one box for all its characters."""
    page = shown("fi")
    box = page.boxes[:8]
    glyph = ShownPage(
        number=1, width=100, height=100, rotation=0, text="fi", lines=page.lines, boxes=box + box
    )
    assert rects(glyph, "fi", "fi") == [(0, 0, 0.01, 0.01)]
    assert rects(glyph, "fi", "i") == "text_overlaps"
    layout = PageLayout.aligned(glyph, "fi")
    assert layout.rects(1, 2, whole_words=True) == layout.rects(0, 2)


def test_characters_without_a_glyph_may_be_there_or_not() -> None:
    assert rects(shown("ab cd"), "a\u200cb c\u00add", "b c\u00add") == [(0.01, 0, 0.05, 0.01)]


def test_hyphens_at_line_ends() -> None:
    """The page has a mark for each; the stored text has the hyphen, or the word without it."""
    page = shown("a well-known fourth\u00ad", "quarter infor\u00ad", "mation, half\u00ad", "hour.")
    text = "# a well-known fourth-quarter information, half-hour."
    assert rects(page, text, "fourth-quarter") == [(0.13, 0, 0.2, 0.01), (0, 0.02, 0.07, 0.03)]
    assert rects(page, text, "information") == [(0.08, 0.02, 0.14, 0.03), (0, 0.04, 0.06, 0.05)]
    assert rects(page, text, "half-hour.") == [(0.08, 0.04, 0.13, 0.05), (0, 0.06, 0.05, 0.07)]
    assert rects(page, text, "-known") == [(0.06, 0, 0.12, 0.01)]


def test_a_hyphen_that_was_left_out_belongs_to_the_character_before_it() -> None:
    page = shown("infor\u00ad", "mation")
    boxes = np.frombuffer(page.boxes, np.uint16).reshape(-1, 4).copy()
    boxes[5] = boxes[6] + [10, 0, 10, 0]
    under = replace(page, boxes=boxes.tobytes())
    assert rects(page, "information", "r") == [(0.04, 0, 0.06, 0.01)]
    assert rects(under, "information", "mation") == "text_overlaps"


def test_a_character_has_one_hyphen_at_most() -> None:
    """Fonts may give the code of pdfium's mark to letters."""
    page = shown("ab\u00ad", "\u00ad", "c")
    assert rects(page, "ab\nc", "ab\nc") == [(0, 0, 0.03, 0.01), (0, 0.04, 0.01, 0.05)]


def test_the_mark_of_a_heading_is_no_hyphen() -> None:
    assert rects(shown("infor\u00ad", "4"), "infor\n# 4", "# 4") == [(0, 0.02, 0.01, 0.03)]


def test_no_two_rectangles_of_a_span_touch_the_same_letter() -> None:
    """As a tall sign with a raised letter close to it, and another letter below that: read one by one, each comes once."""
    page = shown("ab", "z")
    boxes = np.array([[0, 0, 400, 1000], [350, 0, 750, 300], [420, 350, 700, 900]], np.uint16)
    found = PageLayout.aligned(replace(page, boxes=boxes.tobytes()), "ab\nz").rects(0, 2)
    assert not isinstance(found, str)
    areas = np.array(found)[:, None] * SCALE
    touched = ((boxes[:, :2] < areas[..., 2:]) & (boxes[:, 2:] > areas[..., :2])).all(axis=2)
    assert touched.tolist() == [[True, False, False], [False, True, False]]


def test_lines_of_a_span_that_lie_over_each_other_have_one_rectangle() -> None:
    """As an integral sign and its lower limit."""
    page = shown("Rb", "a", "z")
    boxes = np.array([[0, 0, 400, 1000], [450, 0, 700, 300], [200, 600, 390, 900], [0, 1300, 400, 1600]])
    layout = PageLayout.aligned(replace(page, boxes=boxes.astype(np.uint16).tobytes()), "Rb\na\nz")
    found = layout.rects(0, 6)
    assert not isinstance(found, str)
    assert [[round(side * SCALE, -1) for side in rect] for rect in found] == [
        [0, 0, 700, 1000],
        [0, 1300, 400, 1600],
    ]
    assert layout.rects(3, 4) == "text_overlaps"
