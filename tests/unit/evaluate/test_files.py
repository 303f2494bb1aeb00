"""Files of questions: what they may have, and what is said about a wrong line."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.errors import BadInput
from whence.evaluate import read_questions, read_report

GOOD = {"question": "How long is the bridge?", "document": "bridge.pdf"}


def lines(*given: Any) -> bytes:
    return b"\n".join(one if isinstance(one, bytes) else json.dumps(one).encode() for one in given)


def test_lines_have_their_numbers_and_one_passage_or_more() -> None:
    more = {"question": "b", "text": "iron", "page": 2, "expected": [{"document": "a.md"}], "answer": "c"}
    found = read_questions(
        b"\xef\xbb\xbf" + lines(GOOD, b" ", more, {"question": "x", "answerable": False}), "q"
    )
    assert list(found) == [1, 3, 4]
    assert [len(one.passages) for one in found.values()] == [1, 2, 0]
    assert not found[4].answerable


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"{", "line 2: got {, expected a JSON object (unexpected end of data)"),
        ([1], "line 2: got [1], expected a JSON object"),
        ({"document": "a"}, "line 2, question: got nothing, expected a value"),
        ({"question": 5, "page": 1}, "line 2, question: got 5, expected a text, not a number"),
        ({"question": " ", "page": 1}, 'line 2, question: got " ", expected a text that is not blank'),
        ({"question": "a", "page": "2"}, 'line 2, page: got "2", expected an integer from 1 to 1000000'),
        ({"question": "a", "pages": 2}, "line 2, pages: got 2, expected one of question, "),
        ({"question": "a"}, "line 2, answerable: got true, expected false, or the line must have a document"),
        ({"question": "a", "answer": "b"}, "line 2, answerable: got true, expected false, or"),
        (
            {"question": "a", "page": 1, "answerable": False},
            "line 2, answerable: got false, expected true, or the line must have no page",
        ),
        (
            {"question": "a", "expected": [{}]},
            "line 2, expected: got [{}], expected passages with a document",
        ),
        (
            {"question": "a", "expected": [{"page": 0}]},
            "line 2, expected[0].page: got 0, expected an integer from 1 to 1000000",
        ),
        (GOOD, 'line 2, question: got "How long is the bridge?", expected another question than on line 1'),
    ],
)
def test_a_wrong_line_is_named_with_field_given_and_expected(line: Any, said: str) -> None:
    with pytest.raises(BadInput) as raised:
        read_questions(lines(GOOD, line), "questions.jsonl")
    first, second = raised.value.message.splitlines()
    assert first == "questions.jsonl has 1 wrong line:"
    assert second.strip().startswith(said)


def test_all_wrong_lines_are_named_up_to_a_limit() -> None:
    with pytest.raises(BadInput, match="has 30 wrong lines") as raised:
        read_questions(lines(*[b"?"] * 30), "q")
    assert len(raised.value.message.splitlines()) == 22
    assert raised.value.message.endswith("and 10 more")


def test_a_file_without_questions_is_refused() -> None:
    with pytest.raises(BadInput, match="has no questions"):
        read_questions(b"\n \n", "q")


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"version": 1}', lines(GOOD)])
def test_what_is_no_report_is_refused(content: bytes) -> None:
    with pytest.raises(BadInput, match=r"earlier\.json is no report"):
        read_report(content, "earlier.json")


@given(content=st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_any_file_is_read_or_refused(content: bytes) -> None:
    for reading in read_questions, read_report:
        with suppress(BadInput):
            reading(content, "file")
