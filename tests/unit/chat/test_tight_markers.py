"""Citations right behind a word, and indexes of arrays, which look like them. Rows name chunk ids by a letter."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.chat.citing import CitationStream, Cited, Validated, validate
from whence.chat.sources import Source

A, B, C = (f"0190a1b2-7c3d-7e4f-8a5b-00000000000{number}" for number in (1, 2, 3))
UNKNOWN = "dead0000-7c3d-7e4f-8a5b-000000000009"
PASSAGES = [
    Source(id=A, text="The kiln weighs 214 kg and reaches 1280 °C. Vitamin C, H2O, iPhone, Node.js."),
    Source(id=B, text="Keep 45 cm from walls. See rows[2]. Made in France[3]."),
    Source(id=C, text="Nothing much."),
]

CITED = [
    ("It weighs 214 kg[1].", "It weighs 214 kg[A]."),
    ("It stands 45 cm[2].", "It stands 45 cm[B]."),
    ("It reaches 1280 °C[1].", "It reaches 1280 °C[A]."),
    ("- Weight: 214 kg[1]\n- Distance: 45 cm[2]", "- Weight: 214 kg[A]\n- Distance: 45 cm[B]"),
    (
        "The oven is heavy[1].\nIt must be kept away from walls[2].",
        "The oven is heavy[A].\nIt must be kept away from walls[B].",
    ),
    ("Das ist toll[1]. Wirklich toll[9].", "Das ist toll[A]. Wirklich toll."),
    ("**It is heavy[1]** and __hot[2]__, *big[3]*", "**It is heavy[A]** and __hot[B]__, *big[C]*"),
    ("“It is heavy[1]” (and hot[2]).", "“It is heavy[A]” (and hot[B])."),
    ("It is heavy[1][2], hot[1], [2] and big[1, 2]!", "It is heavy[A][B], hot[A], [B] and big[A][B]!"),
    ("It is heavy[1]–[3].", "It is heavy[A]–[C]."),
    ("214 kg[1]/472 lbs[2]", "214 kg[A]/472 lbs[B]"),
    ("| 214 kg[1]| 45 cm[2]<br>", "| 214 kg[A]| 45 cm[B]<br>"),
    ("5 m[1], 5 V[2], 5 kWh[3]", "5 m[A], 5 V[B], 5 kWh[C]"),
    ("The oven(s)[1] don't[2], l'eau[3].", "The oven(s)[A] don't[B], l'eau[C]."),
    ("Vitamin C[1], H2O[1], iPhone[1], Node.js[1].", "Vitamin C[A], H2O[A], iPhone[A], Node.js[A]."),
    ("As in kiln_manual.md[1] and example.com[2].", "As in kiln_manual.md[A] and example.com[B]."),
    ("Open from 9 a.m[1]. On iTunes[2].", "Open from 9 a.m[A]. On iTunes[B]."),
    ("Made in France[1], in France[2].", "Made in France[A], in France[B]."),
    ("It is heavy[1]是", "It is heavy[A]是"),
    ("Paris[1] - Rome[2] - Oslo[3]", "Paris[A] - Rome[B] - Oslo[C]"),
    ("It is heavy[1] (p. 3) and hot[2](p. 3).", "It is heavy[A] (p. 3) and hot[B](p. 3)."),
]

INDEXES = [
    "a[1], arr[1], args[1].name, x[0] = 3, matrix[1][2]",
    "Then users[2] is Bob, and items[1], too.",
    "user_names[1], sys.argv[1], this->foo[1], Foo::bar[2], $foo[1]",
    "prices[1] = 3, costs[1] += 2, sums[1] == 3, names[1] != 2, counts[1]++",
    "prices[0] is the first, prices[1] the second",
    "`prices` is a list. Then prices[1] is 3.",
    "prices = [3, 4], so prices[1] is 4.",
    "prices() gives two; prices[1] is 4.",
    "word[1]x, word[1]+1, word[1].x, word[1]*2",
    "See rows[2] and made in France[3].",
    "for x[i], x[i][1] and f(x)[1], foo()[2]",
    "handlers[1](x)",
    "args[[1]], args[[1, 2]] and args[[1]][2]",
]

LINKS = [
    ("It is hot [1](see [9]). So [1].", "It is hot [A](see). So [A]."),
    ("It is hot [1](p. 3).", "It is hot [A](p. 3)."),
    ("It is hot [1](the manual, p. 3).", "It is hot [A](the manual, p. 3)."),
    ("It is hot [1]([9]).", "It is hot [A]."),
    ("It is hot [1]-[2](p. 3).", "It is hot [A]-[B](p. 3)."),
    *(
        (link, link)
        for link in (
            "[1](https://a.b)",
            "[1](a_(b)_c)",
            "[1](#top)",
            "[1](<a b>)",
            '[1](https://a.b "A title")',
            "[1](https://a.b 'A title')",
            "[1]()",
            "[1](https://a.b/cut",
            f"[1](https://a.b/{'c' * 400} d)",
        )
    ),
]

BITS = [
    *[
        "kiln",
        "kg",
        "arr",
        "x",
        "x1",
        "France",
        "kiln = ",
        "`kiln`",
        "rows",
        "Vitamin C",
        "5 m",
        "p.x",
        "_",
        "prices",
    ],
    *[
        "[1]",
        "[2]",
        "[3]",
        "[9]",
        "[0]",
        "[1, 2]",
        "[1, p. 7]",
        "[1-3]",
        "[2-9]",
        "[^1]",
        "[[1]]",
        "[1】",
        "【2】",
    ],
    *[f"[{UNKNOWN}]", f"[{A}]", "[i]", "[2023]", "[1, a.md]", "[cite: 1]", "[1 - "],
    *[
        "–",
        "-",
        " - ",
        "\t",
        " ",
        " = ",
        "=",
        "+",
        " + ",
        "*",
        "**",
        "~",
        ".",
        ".x",
        ", ",
        " and ",
        "/",
        "x",
        "\n",
        "\n\n",
    ],
    *[
        "(",
        ")",
        "(see ",
        "([9])",
        "(p. 3)",
        "()",
        "(x)",
        "(a b)",
        "(<",
        ">",
        '"',
        "'",
        "<sup>",
        "</sup>",
        "{",
        "}",
        "&",
    ],
    *["\\", "!", " != ", "是", "--", " -- ", "a.md", "a.md]", "http://", "](", "\n- "],
]
texts = st.lists(st.sampled_from(BITS), max_size=12).map("".join)


def named(text: str) -> str:
    for letter, chunk_id in {"A": A, "B": B, "C": C}.items():
        text = text.replace(chunk_id, letter)
    return text


def streamed(text: str, size: int) -> str:
    stream = CitationStream(PASSAGES)
    parts = [stream.feed(text[at : at + size]) for at in range(0, len(text), size)]
    return "".join([*parts, stream.close()])


def again(once: Validated) -> tuple[str, tuple[Cited, ...]]:
    twice = validate(once.text, PASSAGES)
    return twice.text, twice.cited


@pytest.mark.parametrize(("written", "expected"), [*CITED, *LINKS, *((text, text) for text in INDEXES)])
def test_a_marker_behind_a_word_cites_unless_the_word_is_code(written: str, expected: str) -> None:
    assert named(validate(written, PASSAGES).text) == expected
    assert named(streamed(written, 1)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "kiln[9]–[1]kiln",
        "kiln[1]–[3]x",
        "kiln[1】–[3]x",
        "kiln[3]–[0]",
        "kiln[1, 2]–[1, 2]",
        f"kiln[1, p. 7]-\t[{UNKNOWN}]",
        "kiln[1] - kiln[9]",
        "kiln[1] - see [9].",
        "kiln[1] -- [9]",
        "kiln[1]*[9]*",
        "kiln[1]{[9]}",
        "kiln[1]<sup>[9]</sup>",
        "kiln[1](see [9])",
    ],
)
def test_what_goes_with_a_marker_makes_no_citation_of_what_was_none(text: str) -> None:
    once = validate(text, PASSAGES)
    assert again(once) == (once.text, once.cited)


@given(text=texts, size=st.integers(1, 7))
def test_no_cut_changes_it_and_neither_does_validating_again(text: str, size: int) -> None:
    once = validate(text, PASSAGES)
    assert streamed(text, size) == once.text
    assert again(once) == (once.text, once.cited)
