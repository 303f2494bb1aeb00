"""A chunk as units that can be quoted."""

from hypothesis import given
from hypothesis import strategies as st
from tests.texts import FRAGMENTS

from whence.offline.quotable_units import Unit, quotable_units


def quoted(text: str) -> list[str]:
    return [text[one.start : one.end] for one in quotable_units(text)]


def only(text: str) -> Unit:
    (found,) = quotable_units(text)
    return found


@given(st.lists(st.sampled_from([*FRAGMENTS, "word ", "Some words. ", "Is it? "])).map("".join))
def test_units_are_slices_in_order_that_do_not_overlap(text: str) -> None:
    reached = 0
    for one in quotable_units(text):
        assert reached <= one.start < one.end <= len(text)
        assert text[one.start : one.end].strip()
        assert one.head is None or text[slice(*one.head)].strip()
        reached = one.end


def test_sentences_keep_their_markup() -> None:
    text = "Use **bold** and [links](https://a.b).\nWrapped\nlines stay. A second one."
    assert quoted(text) == [
        "Use **bold** and [links](https://a.b).",
        "Wrapped\nlines stay.",
        "A second one.",
    ]


def test_headings_count_for_what_is_below_them() -> None:
    text = "# Payments\n\nOne.\n\n## Rollback\n\nTwo.\n\n# Orders\n\nThree."
    assert [one.heading for one in quotable_units(text)] == ["Payments", "Payments Rollback", "Orders"]


def test_a_question_counts_for_the_sentence_after_it() -> None:
    text = "# FAQ\n\nIs it safe? Yes. It is fast."
    assert [(text[a:b], heading) for a, b, _, heading, _ in quotable_units(text)] == [
        ("Yes.", "FAQ Is it safe?"),
        ("It is fast.", "FAQ"),
    ]


def test_items_lose_their_mark() -> None:
    text = "- Captain: Ann\n- Cook: Bo\n2. Third"
    assert quoted(text) == ["Captain: Ann", "Cook: Bo", "Third"]
    assert {one.kind for one in quotable_units(text)} == {"item"}


def test_rows_know_the_head_of_their_table() -> None:
    text = "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n"
    assert quoted(text) == ["| 1 | 2 |", "| 3 | 4 |"]
    assert [text[slice(*one.head or (0, 0))] for one in quotable_units(text)] == ["| a | b |\n|---|---|"] * 2


def test_code_is_one_unit() -> None:
    text = "```sh\nrun this\n\nand that\n```"
    assert (only(text).kind, quoted(text)) == ("code", [text])


def test_code_that_began_in_the_chunk_before_is_left_out() -> None:
    assert quoted("rest of code\n```\n\nA sentence.") == ["A sentence."]


def test_pictures_and_tags_are_left_out_around_a_sentence_and_kept_in_it() -> None:
    text = '<p align="center">![logo](a.png) It is <b>fast</b> and small.</p>\n\n[![build](b.svg)](https://c)\n\n<br>'
    assert quoted(text) == ["It is <b>fast</b> and small."]


def test_half_a_pair_of_stars_is_left_out() -> None:
    assert quoted("**It leaks. It drips.**") == ["It leaks.", "It drips."]


def test_carriage_returns_do_not_shift_the_slices() -> None:
    assert quoted("One.\r\n\r\nTwo.\r\n") == ["One.", "Two."]
