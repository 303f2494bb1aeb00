"""Values as the schema wants them."""

from datetime import date
from typing import Any

import pytest

from whence.extract.schema import Property
from whence.extract.values import WrongValue, fitted, same
from whence.text.dates import dates_in, read_date

DATE = Property(format="date")
LEVEL = Property(enum=("low", "very high"))
TAGS = Property(type="array", items=Property())
EFFORT = Property(type="object", properties={"days": Property(type="integer")}, required=("days",))


@pytest.mark.parametrize(
    ("wanted", "value", "result"),
    [
        (Property(type="integer"), "5", 5),
        (Property(type="integer"), "1,000", 1000),
        (Property(type="integer"), 5.0, 5),
        (Property(type="number"), "2.5", 2.5),
        (Property(type="number"), 10**18, 10**18),
        (Property(type="boolean"), "Yes", True),
        (Property(type="boolean"), False, False),
        (Property(), 5, "5"),
        (Property(), True, "true"),
        (Property(), "  a b ", "a b"),
        (DATE, "15 January 2024", "2024-01-15"),
        (DATE, "Jan 15th, 2024", "2024-01-15"),
        (DATE, "15.01.2024", "2024-01-15"),
        (DATE, "2024-01-15T10:00:00Z", "2024-01-15"),
        (Property(format="date-time"), "2024-01-15T10:00:00+00:00", "2024-01-15T10:00:00+00:00"),
        (LEVEL, "Very-High", "very high"),
        (LEVEL, "LOW.", "low"),
        (TAGS, ["a", None, " b "], ["a", "b"]),
        (TAGS, "a", ["a"]),
        (EFFORT, {"Days": "3", "note": "x"}, {"days": 3, "note": "x"}),
        (EFFORT, [{"name": "days", "value": 3}], {"days": 3}),
        (None, {"a": [1, " b "]}, {"a": [1, "b"]}),
    ],
)
def test_what_has_one_reading_is_read(wanted: Property | None, value: Any, result: Any) -> None:
    found = fitted(value, wanted)
    assert found == result
    assert type(found) is type(result)
    assert fitted(found, wanted) == found


@pytest.mark.parametrize(
    ("wanted", "value", "words"),
    [
        (Property(type="integer"), "five", "an integer"),
        (Property(type="integer"), 5.5, "an integer"),
        (Property(type="integer"), True, "an integer"),
        (Property(type="number"), "1,00", "a number"),
        (Property(type="number"), float("inf"), "a number"),
        (Property(type="boolean"), 1, "true or false"),
        (Property(), ["a"], "a string"),
        (DATE, "01/02/2024", "a date"),
        (DATE, "2024-02-30", "a date"),
        (Property(format="date-time"), "soon", "a time"),
        (LEVEL, "medium", "one of low, very high"),
        (LEVEL, ["low"], "one of"),
        (TAGS, [["a"]], "a string"),
        (EFFORT, "3 days", "an object"),
        (EFFORT, {"hours": 3}, "an object with days"),
        (Property(), "x" * 20_000, "at most"),
        (None, ["x" * 20_000], "at most"),
    ],
)
def test_what_has_none_is_refused_with_what_was_expected(
    wanted: Property | None, value: Any, words: str
) -> None:
    with pytest.raises(WrongValue, match=words):
        fitted(value, wanted)


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("High", "high.", True),
        ("a  b", "A b", True),
        ("-5", "5", False),
        (1, 1.0, True),
        (1, True, False),
        (602 * 10**21, 6.02e23, True),
        (6.02e23, 602 * 10**21, True),
        (10**400, 6.02e23, False),
        (2**53 + 1, 2**53, False),
        (["a"], ["A"], True),
        (["a", "b"], ["b", "a"], False),
        ({"a": "X"}, {"a": "x"}, True),
        ({"a": 1}, {"b": 1}, False),
        ("1", 1, False),
    ],
)
def test_sameness(one: Any, other: Any, is_same: bool) -> None:
    assert same(one, other) is is_same


WRITTEN = [
    "2025-03-01",
    "2025/3/1",
    "1 March 2025",
    "01 Mar 2025",
    "1. March 2025",
    "1st of March, 2025",
    "1st March, 2025",
    "March 1, 2025",
    "March 1st 2025",
    "March the 1st, 2025",
    "Mar. 1, 2025",
    "1 Mar. 2025",
    "01-Mar-2025",
    "1.3.2025",
    "01.03.2025",
]


@pytest.mark.parametrize("text", WRITTEN)
def test_a_date_is_read_and_found_in_the_ways_it_is_written(text: str) -> None:
    day = date(2025, 3, 1)
    assert read_date(text) == day
    assert [each[0] for each in dates_in(text)] == [day]
    ((found, start, end),) = dates_in(f"It begins on {text}.")
    assert (found, start, end) == (day, 13, 13 + len(text))


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("03/01/2025", [date(2025, 1, 3), date(2025, 3, 1)]),
        ("13/01/2025", [date(2025, 1, 13)]),
        ("13.13.2025", []),
        ("30 Feb 2025", []),
        ("1 Mar 25", []),
        ("on 1 March of 2025", []),
        ("a1.3.2025", []),
    ],
)
def test_what_is_two_dates_is_found_as_both_and_what_is_none_as_none(text: str, days: list[date]) -> None:
    assert [each[0] for each in dates_in(text)] == days
    assert read_date(text) is None


def test_what_is_no_array_is_said_to_be_none() -> None:
    with pytest.raises(WrongValue, match=r"^an array, each item of it a string$"):
        fitted({"a": 1}, TAGS)
