"""Two lists as one."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from whence.extract.values import accumulate, is_among, same

ITEMS = st.lists(st.sampled_from(["harbour", "Harbour", "museum", "1", 1, 1.0, True, None, ["a"], {"a": 1}]))


@given(ITEMS, ITEMS)
def test_every_element_is_there_once_in_the_order_of_both(one: list[Any], other: list[Any]) -> None:
    found = accumulate(one, other)
    assert all(is_among(item, found) for item in (*one, *other))
    assert not any(same(a, b) for at, a in enumerate(found) for b in found[:at])
    places = [next(at for at, item in enumerate((*one, *other)) if item is each) for each in found]
    assert places == sorted(places)


@given(ITEMS, ITEMS, ITEMS)
def test_it_does_not_matter_where_it_is_split(one: list[Any], two: list[Any], three: list[Any]) -> None:
    assert accumulate(accumulate(one, two), three) == accumulate(one, [*two, *three])
    assert accumulate(accumulate(one, two), two) == accumulate(one, two)
