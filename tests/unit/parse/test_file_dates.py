"""The date that a file gives itself."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.parse.dates import file_date, front_matter_date

DAY = datetime(2020, 5, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        (("2020-05-01T00:00:00Z", "2013-12-23"), DAY),
        ((None, "2020-05-01"), DAY),
        (("1970-01-01T00:00:00Z", "2020-05-01"), DAY),
        (((datetime.now(UTC) + timedelta(days=2)).isoformat(),), None),
        ((DAY.replace(tzinfo=None),), DAY),
        (("D:2020", None), None),
        ((), None),
    ],
)
def test_the_first_plausible_date(properties: tuple[object, ...], expected: datetime | None) -> None:
    assert file_date(*properties) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("---\ndate: 2020-05-01 # draft\n---\nText", DAY),
        ("---\r\ndate: 2020-05-01\r\n---\r\nText", DAY),
        ("---\ndate: 2020-05-01 02:00:00 +0200\n---\n", DAY),
        ("+++\ndate = 2020-05-01\n+++\n", DAY),
        ("---\nnested:\n  date: 2020-05-01\n---\n", None),
        ("---\ndate: 2020-05-01\n", None),
        ("Text\n---\ndate: 2020-05-01\n---\n", None),
    ],
)
def test_front_matter(text: str, expected: datetime | None) -> None:
    assert front_matter_date(text) == expected


@given(st.text(alphabet="-+\nadte: 2015=.'\"\r\ufeff", max_size=200))
def test_no_text_is_too_odd(text: str) -> None:
    front_matter_date(text)
    front_matter_date(f"---\n{text}\n---\n")
