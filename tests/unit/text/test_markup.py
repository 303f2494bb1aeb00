"""Markup that loads or runs something is defused; everything else stays as it is, in pieces as in whole."""

import random

import pytest

from whence.text.markup import MarkupStream


def defuse_markup(text: str) -> str:
    stream = MarkupStream()
    return stream.feed(text) + stream.close()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See ![a map](https://evil.example/x?q=1).", "See ![a map]（https://evil.example/x?q=1)."),
        ("![a [b] c](//evil.example/x)", "![a [b] c]（//evil.example/x)"),
        ("![a \\](b](//evil.example/x)", "![a \\]（b]（//evil.example/x)"),
        ("[x ![a `]` b](https://evil.example)", "[x ![a `]` b]（https://evil.example)"),
        ("[click](javascript:alert(1))", "[click]（javascript:alert(1))"),
        ("[click]( <JavaScript:alert(1)>)", "[click]（ ＜JavaScript:alert(1)>)"),
        ("[click](&#106;avascript:alert(1))", "[click]（&#106;avascript:alert(1))"),
        ("[click](data:text/html,x)", "[click]（data:text/html,x)"),
        ("[click][1]\n\n[1]: javascript:alert(1)", "[click][1]\n\n[1]： javascript:alert(1)"),
        ('<img src="https://evil.example/x">', '＜img src="https://evil.example/x">'),
        ("<IMG/src=x>", "＜IMG/src=x>"),
        ('<div style="background:url(//evil)">', '＜div style="background:url(//evil)">'),
        ("<svg onload=alert(1)>", "＜svg onload=alert(1)>"),
        ("<javascript:alert(1)>", "＜javascript:alert(1)>"),
    ],
)
def test_what_loads_or_runs_something_is_shown_as_text(text: str, expected: str) -> None:
    assert defuse_markup(text) == expected
    assert len(expected) == len(text)


@pytest.mark.parametrize(
    "text",
    [
        "See [the guide](https://docs.example/a_(b)) and [part](part.md#one), [mail](mailto:a@b.example).",
        "Great![7] Then [more](https://x.example) follows.".replace("![7]", "! [7]"),
        "Great![1]\n\nSee [more](https://x.example).",
        "vector<int> a[2]; if (a < b && c > d) f(a[0](1));",
        "{[key: string]: any} and <b>bold</b> and <https://x.example>",
        "a \u2264 b, 1 < 2",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert defuse_markup(text) == text


def test_pieces_give_the_same_as_the_whole() -> None:
    parts = [
        "![",
        "[",
        "](",
        "]:",
        "<",
        "img ",
        "javascript:",
        "https://x",
        ")",
        "!",
        "]",
        "\n",
        " ",
        "word" * 30,
    ]
    chance = random.Random(7)
    for _ in range(300):
        text = "".join(chance.choices(parts, k=25))
        stream, shown, at = MarkupStream(), "", 0
        while at < len(text):
            size = chance.randint(1, 9)
            shown += stream.feed(text[at : at + size])
            at += size
        assert shown + stream.close() == defuse_markup(text)
