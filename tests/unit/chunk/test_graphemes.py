import pytest
from hypothesis import given
from tests.texts import texts

from whence.chunk.graphemes import cut_before, first_content, is_inside

WHOLE = [
    "e\u0301",
    "👩‍👩‍👧‍👦",
    "👍🏽",
    "❤️‍🔥",
    "🇩🇪",
    "\r\n",
    "กำ",
    "🏴\U000e0067\U000e0062\U000e007f",
]


@pytest.mark.parametrize("cluster", WHOLE)
def test_a_cluster_is_whole(cluster: str) -> None:
    text = f"a{cluster}b"
    torn = [is_inside(text, position) for position in range(len(text) + 1)]
    assert torn == [False, False, *[True] * (len(cluster) - 1), False, False]


@pytest.mark.parametrize(
    "pair", ["ab", "a.", ". ", "\n\u0301", "\t\u0301", "가나", "👍👍", "a\u1100", "我们", "🇩a"]
)
def test_two_clusters_are_two(pair: str) -> None:
    assert not is_inside(pair, 1)


def test_flags_are_counted_in_pairs() -> None:
    assert [is_inside("🇩🇪🇫🇷🇮🇹", position) for position in range(7)] == [
        False,
        True,
        False,
        True,
        False,
        True,
        False,
    ]


def test_a_cut_steps_back_to_the_start_of_a_cluster() -> None:
    assert cut_before("abc👩‍👩‍👧", 0, 5) == 3
    assert cut_before("abcdef", 0, 5) == 5


def test_a_cluster_that_fills_everything_is_cut() -> None:
    assert cut_before("e" + "\u0301" * 500, 0, 100) == 100


@given(texts())
def test_content_starts_after_white_space(text: str) -> None:
    start = first_content(text, 0)
    assert not text[:start].strip()
    assert start == len(text) or not text[start].isspace() or is_inside(text, start + 1)
