"""What an error repeats of a request: JSON as it came, and short."""

from typing import Any
from uuid import UUID

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.errors import InvalidParameter
from whence.web.responses import failure, repeatable

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
scalars = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=4,
)


def provided(value: Any) -> Any:
    error = InvalidParameter.of("x", provided=value, expected="something else")
    return orjson.loads(bytes(failure(error).body))["error"]["details"]["provided"]


@given(value=values)
def test_what_was_sent_is_told_as_it_was_sent(value: Any) -> None:
    if len(orjson.dumps(value)) <= 200:
        assert provided(value) == value


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (None, None),
        (True, True),
        ("abc", "abc"),
        ([None, True, "abc"], [None, True, "abc"]),
        ({"a": {"b": [1.5]}}, {"a": {"b": [1.5]}}),
        ((1, 2), [1, 2]),
        (UUID(int=7), "00000000-0000-0000-0000-000000000007"),
        ([UUID(int=7)], ["00000000-0000-0000-0000-000000000007"]),
        (2**70, "1180591620717411303424"),
        ("x" * 300, "x" * 200 + "…"),
        (["x" * 300], '["' + "x" * 198 + "…"),
        (["\ud800"], "…"),
        ("\ud800", "?"),
    ],
)
def test_nothing_is_told_in_python(value: Any, told: Any) -> None:
    assert provided(value) == told


def test_what_is_nested_deep_is_told_at_all() -> None:
    value: Any = 1
    for _ in range(2_000):
        value = [value]
    assert repeatable(value) == "…"
