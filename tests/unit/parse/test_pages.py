"""The map of pages: exact for any pages, in code points."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.models import Page
from whence.parse.parsed import join_pages, page_at

PAGES = st.lists(st.text(st.sampled_from("aé漢🙂 \n\u00a0\u2028"), max_size=30), max_size=20)


@given(texts=PAGES)
def test_a_page_is_a_slice(texts: list[str]) -> None:
    text, pages = join_pages(texts)
    assert [page.number for page in pages] == list(range(1, len(texts) + 1))
    assert [text[page.start : page.end] for page in pages] == [one.strip() for one in texts]
    assert "".join(text.split()) == "".join("".join(texts).split())


@given(texts=PAGES)
def test_every_character_is_on_its_page(texts: list[str]) -> None:
    text, pages = join_pages(texts)
    for page in pages:
        for offset in range(page.start, page.end):
            assert page_at(pages, offset) == page.number
    for offset, character in enumerate(text):
        assert page_at(pages, offset) is not None or character.isspace()


@given(texts=PAGES)
def test_bytes_and_code_points_agree(texts: list[str]) -> None:
    """The same map, counted in bytes of UTF-8, cuts the same pages out of the bytes."""
    text, pages = join_pages(texts)
    content = text.encode()
    for page in pages:
        start, end = (len(text[:offset].encode()) for offset in (page.start, page.end))
        assert content[start:end].decode() == text[page.start : page.end]


def test_no_pages() -> None:
    assert page_at((), 0) is None
    assert join_pages([]) == ("", ())


@pytest.mark.parametrize(("offset", "number"), [(0, 1), (4, 1), (5, 1), (6, 1), (7, 4), (9, 4), (100, 4)])
def test_blank_pages_hold_nothing(offset: int, number: int) -> None:
    text, pages = join_pages(["first", "", " \n", "two", ""])
    assert text == "first\n\ntwo"
    assert pages[1:3] == (Page(number=2, start=5, end=5), Page(number=3, start=5, end=5))
    assert page_at(pages, offset) == number


def test_the_first_page_may_be_blank() -> None:
    text, pages = join_pages(["", "two"])
    assert page_at(pages, text.index("two")) == 2
