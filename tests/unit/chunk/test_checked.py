from itertools import pairwise
from typing import Any

import pytest

from whence.chunk import ChunkingOptions, ChunkResult, checked_chunks, strategy
from whence.errors import BadInput, StrategyError

TEXT = "One two. " * 30 + "End."
OPTIONS = ChunkingOptions(max_chunk_size=200, min_chunk_size=10)


class Foreign:
    name = "foreign"

    def __init__(self, given: Any) -> None:
        self._given = given

    def chunk(self, _text: str, _options: ChunkingOptions) -> list[ChunkResult]:
        if isinstance(self._given, Exception):
            raise self._given
        return self._given  # type: ignore[no-any-return]


def spans(*cuts: int, kind: Any = "sentence") -> list[ChunkResult]:
    return [ChunkResult(TEXT[start:end], start, end, kind) for start, end in pairwise(cuts)]


def test_ours_pass() -> None:
    for one in map(strategy, ("character", "sentence", "paragraph")):
        assert checked_chunks(TEXT, one, OPTIONS) == one.chunk(TEXT, OPTIONS)


def test_so_does_what_others_do_well() -> None:
    given = spans(0, 150, len(TEXT))
    assert checked_chunks(TEXT, Foreign(given), OPTIONS) is given


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        (ZeroDivisionError("secret"), "failed with ZeroDivisionError"),
        (None, "gave something else than a list of ChunkResult"),
        (["One two."], "gave something else than a list of ChunkResult"),
        ([ChunkResult(TEXT, None, None, "sentence")], "failed with TypeError"),  # type: ignore[arg-type]
        ([ChunkResult("Two", 0, 3, "sentence")], "gave a chunk that is no part of the text"),
        (
            [*spans(0, 150), *spans(100, len(TEXT))],
            "gave a chunk that is no part of the text, or not in order",
        ),
        ([*spans(0, 100), *spans(120, len(TEXT))], "left out some of the text"),
        (spans(0, 150), "left out some of the text"),
        ([], "left out some of the text"),
        (spans(0, len(TEXT)), "gave a chunk of 274 characters, more than the maximum of 200"),
        (spans(0, 150, len(TEXT), kind="word"), "gave a chunk with the unknown boundary type 'word'"),
    ],
)
def test_what_is_wrong_is_said(given: Any, fault: str) -> None:
    with pytest.raises(StrategyError) as caught:
        checked_chunks(TEXT, Foreign(given), OPTIONS)
    assert str(caught.value).startswith(f"The chunking strategy 'foreign' {fault}")
    assert "secret" not in str(caught.value)


def test_an_error_of_ours_stays_what_it_is() -> None:
    with pytest.raises(BadInput, match="not for me"):
        checked_chunks(TEXT, Foreign(BadInput("not for me")), OPTIONS)
