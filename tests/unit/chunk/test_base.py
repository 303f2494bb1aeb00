from typing import Any

import pytest

from whence.chunk import ChunkingOptions, ChunkResult
from whence.errors import InvalidParameter


def test_defaults() -> None:
    assert ChunkingOptions() == ChunkingOptions(max_chunk_size=1200, min_chunk_size=100)


@pytest.mark.parametrize(("largest", "smallest"), [(100, 10), (10_000, 1000), (100, 99), (1001, 1000)])
def test_edges_are_allowed(largest: int, smallest: int) -> None:
    ChunkingOptions(max_chunk_size=largest, min_chunk_size=smallest)


@pytest.mark.parametrize(("largest", "smallest"), [(100, 50), (101, 100), (10_000, 100)])
def test_a_minimum_that_is_not_given_fits_the_maximum(largest: int, smallest: int) -> None:
    assert ChunkingOptions(max_chunk_size=largest).min_chunk_size == smallest


@pytest.mark.parametrize("value", [99, 10_001, 0, -1, 1200.0, "1200", None, True])
def test_a_wrong_maximum_is_named_with_its_range(value: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        ChunkingOptions(max_chunk_size=value)
    expected = "an integer from 100 to 10000"
    assert caught.value.details == {"parameter": "maxChunkSize", "provided": value, "expected": expected}
    assert str(caught.value) == f"maxChunkSize must be {expected}, not {value!r}"


@pytest.mark.parametrize("value", [9, 1001, 100.5, "ten", None, False])
def test_a_wrong_minimum_is_named_with_its_range(value: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        ChunkingOptions(min_chunk_size=value)
    expected = "an integer from 10 to 1000"
    assert caught.value.details == {"parameter": "minChunkSize", "provided": value, "expected": expected}


def test_the_minimum_is_less_than_the_maximum() -> None:
    with pytest.raises(InvalidParameter) as caught:
        ChunkingOptions(max_chunk_size=200, min_chunk_size=200)
    assert caught.value.details == {
        "parameter": "minChunkSize",
        "provided": 200,
        "expected": "less than maxChunkSize (200)",
    }
    assert str(caught.value) == "minChunkSize must be less than maxChunkSize (200), not 200"


def test_a_long_value_is_shown_shortened() -> None:
    value: Any = "x" * 100_000
    with pytest.raises(InvalidParameter) as caught:
        ChunkingOptions(max_chunk_size=value)
    assert len(str(caught.value)) < 100


def test_results_are_frozen() -> None:
    chunk = ChunkResult(text="a", start_offset=0, end_offset=1, boundary_type="sentence")
    with pytest.raises(AttributeError):
        chunk.text = "b"  # type: ignore[misc]
