"""Long texts in windows, requests, and tokens in shares."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.providers.connection import LONGEST_WAIT, may_pass, wait_after
from whence.providers.windows import apportioned, batches, even_spans, windows

TEXTS = st.text(st.characters(codec="utf-8"), max_size=700)


@given(text=TEXTS, limit=st.integers(200, 400))
def test_windows_are_all_of_the_text(text: str, limit: int) -> None:
    found = list(windows([text], limit))
    assert "".join(window.text for window in found) == text
    assert all(len(window.text.encode()) <= limit for window in found)
    assert len(found) <= 1 + len(text.encode()) // (limit // 2)


def test_windows_end_at_white_space() -> None:
    text = "word " * 200
    assert all(window.text.endswith(" ") for window in windows([text], 203))


def test_windows_know_their_text() -> None:
    found = list(windows(["a", "b" * 500, "c"], 200))
    assert [window.owner for window in found] == [0, 1, 1, 1, 2]
    assert [window.weight for window in found] == [1, 200, 200, 100, 1]


@given(length=st.integers(0, 5000), limit=st.integers(1, 300))
def test_spans_are_even(length: int, limit: int) -> None:
    spans = even_spans(length, limit)
    assert [n for span in spans for n in range(*span)] == list(range(length))
    sizes = [end - start for start, end in spans]
    assert max(sizes) <= limit
    assert max(sizes) - min(sizes) <= 1
    assert len(spans) == max(1, -(-length // limit))


@given(weights=st.lists(st.integers(1, 50), max_size=40), inputs=st.integers(1, 9), most=st.integers(50, 120))
def test_batches_hold_everything_once(weights: list[int], inputs: int, most: int) -> None:
    parts = list(batches(weights, max_inputs=inputs, max_size=most))
    assert [n for part in parts for n in part] == list(range(len(weights)))
    assert all(0 < len(part) <= inputs for part in parts)
    assert all(sum(weights[n] for n in part) <= most for part in parts)


def test_a_window_over_the_limit_of_a_request_goes_alone() -> None:
    assert list(batches((5, 500, 5), max_inputs=9, max_size=100)) == [range(1), range(1, 2), range(2, 3)]


@given(total=st.integers(1, 10_000), weights=st.lists(st.integers(1, 9000), min_size=1, max_size=50))
def test_shares_add_up(total: int, weights: list[int]) -> None:
    shares = apportioned(total, weights)
    assert sum(shares) == total
    fair = [total * weight / sum(weights) for weight in weights]
    assert all(abs(share - right) <= 1 for share, right in zip(shares, fair, strict=True))


def test_which_statuses_may_pass() -> None:
    assert [code for code in (400, 401, 404, 408, 409, 422, 425, 429, 500, 503, 529) if may_pass(code)] == [
        *(408, 409, 425, 429, 500, 503, 529)
    ]


@pytest.mark.parametrize(("said", "seconds"), [("0", 0), ("2", 2), (" 1.5 ", 1.5), ("9" * 400, LONGEST_WAIT)])
def test_waiting_as_asked(said: str, seconds: float) -> None:
    assert wait_after(1, retry_after=said, backoff=9) == seconds


@pytest.mark.parametrize(("ahead", "low", "high"), [(10, 8, 10), (-10, 0, 0), (10**7, 60, 60)])
def test_waiting_for_a_date(ahead: int, low: float, high: float) -> None:
    moment = datetime.now(UTC) + timedelta(seconds=ahead)
    for said in (format_datetime(moment, usegmt=True), moment.strftime("%a, %d %b %Y %H:%M:%S -0000")):
        assert low <= wait_after(1, retry_after=said, backoff=99) <= high


@pytest.mark.parametrize(
    "said", [None, "", "soon", "-1", "1e5", "Mon, 99 Foo", "Mon, 01 Jan 99999999999999 0:0:0"]
)
def test_waiting_longer_each_time(said: str | None) -> None:
    for failures, longest in ((1, 1), (2, 2), (3, 4), (10, 20), (20, 20)):
        assert longest / 2 <= wait_after(failures, retry_after=said, backoff=1) <= longest
