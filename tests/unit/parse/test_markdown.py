"""Markdown as it is kept: without the backslashes that only rendering needs."""

import pytest

from whence.parse.child.kreuzberg import unescape, without_link_targets, without_pictures


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (r"C\# and \<b\> \& 2 \* 3", "C# and <b> & 2 * 3"),
        (r"a\\b", r"a\b"),
        (r"\\\* c", r"\* c"),
        (r"\# no header", r"\# no header"),
        (r"\## no \* header", r"\## no * header"),
        (r"\#1 is fine", "#1 is fine"),
        (r"1\. one", "1. one"),
        (r"| a\|b | \* |", r"| a\|b | * |"),
        ("```\na\\*b\n```\nc\\*d", "```\na\\*b\n```\nc*d"),
        ("~~~~\n```\na\\*b\n~~~~\nc\\*d", "~~~~\n```\na\\*b\n~~~~\nc*d"),
        (r"C:\dir", r"C:\dir"),
    ],
)
def test_backslashes(given: str, kept: str) -> None:
    assert unescape(given) == kept


def test_pictures() -> None:
    assert without_pictures("see ![a heron](data:image/png;base64,AAAA) there") == "see a heron there"
    assert without_pictures("see ![](heron.png) there") == "see  there"
    assert without_pictures("![a](heron.png)") == "![a](heron.png)"


def test_targets_of_links_and_pictures_go() -> None:
    linked = 'See [![the map](map.png)](https://e.org/map "Map"), ![a heron](h.png) and [its nest](/n?x=1)! [1](#note)'
    assert without_link_targets(linked) == "See the map, a heron and its nest! 1"
    code = "Call `![a](b)` or `[a](b)`."
    assert without_link_targets(code) == code
