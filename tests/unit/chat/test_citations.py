"""The one validator. Rows name chunk ids by a letter: what the model writes, and what becomes of it."""

import re
import sys
from collections.abc import Callable

import pytest
from benchmarks.citations import HOSTILE, prose
from benchmarks.citations import PASSAGES as MANY
from hypothesis import given
from hypothesis import strategies as st

from whence.chat.citing import CitationStream, validate, without_citations
from whence.chat.sources import Source
from whence.text.prompt_escaping import UUID

A, B, C = (f"0190a1b2-7c3d-7e4f-8a5b-00000000000{number}" for number in (1, 2, 3))
DOCUMENT = "0190a1b2-7c3d-7e4f-8a5b-00000000000d"
UNKNOWN = "dead0000-7c3d-7e4f-8a5b-000000000009"
PASSAGES = [
    Source(id=A, text="Paris is the capital of France [2] and has been for long."),
    Source(id=B, text="Rome [1] was founded early.\n[3] Smith, On the origins of Rome. See items[2]."),
    Source(id=None, text="Composed of what is known."),
    Source(id=C, text="Nothing much.", document_id=DOCUMENT, chunk_index=4),
]

MARKERS = [
    ("Paris [1].", "Paris [A]."),
    ("Paris _[1]_.", "Paris _[A]_."),
    ("Paris [1, 2].", "Paris [A][B]."),
    ("Paris [1][2].", "Paris [A][B]."),
    ("Paris [ 1 ].", "Paris [A]."),
    ("Both [1-2].", "Both [A][B]."),
    ("Both [1–2] and [2 — 1].", "Both [A][B] and [A][B]."),
    ("Not all [1-1000000], [2-9], [9-2], [0-1], [7-9].", "Not all [A], [B], [B], [A]."),
    ("Two [1]-[3] and [Source 2]-[Source 9].", "Two [A]-[C] and [B]."),
    ("Apart [1] - [3] and [1] to [3].", "Apart [A] - [C] and [A] to [C]."),
    ("A link [1]-[2](https://a.b).", "A link [A]-[2](https://a.b)."),
    ("Twice [1, 1].", "Twice [A]."),
    ("巴黎是首都【1】。", "巴黎是首都[A]。"),
    ("巴黎是首都[1]。", "巴黎是首都[A]。"),
    ("Full ［１］ width.", "Full [A] width."),
    ("A footnote[^1].", "A footnote[A]."),
    ("A name［1］ and 【1】 and [1 und 2].", "A name[A] and [A] and [A][B]."),
    ("So [**1**], [*2*] and [_Source 3_].", "So [A], [B] and [C]."),
    ("So \\[1\\] and \\[2].", "So [A] and [B]."),
    ("A footnote [^1].", "A footnote [A]."),
    ("As [Passage 2] and [source: 1] say.", "As [B] and [A] say."),
    ("So [Sources 1 and 2].", "So [A][B]."),
    ("So [1, p. 7].", "So [A]."),
    ("So [1†source] and 【4:0†a.pdf】.", "So [A]."),
    (f"So [{A}].", "So [A]."),
    (f"So [{A.upper()}].", "So [A]."),
    (f"So [{A}, 2, {UNKNOWN}].", "So [A][B]."),
    (f"So[{A}].", "So[A]."),
    ("made in **France**[1], since 1850[2].", "made in **France**[A], since 1850[B]."),
    ("made in France[1].", "made in France[A]."),
    ("Nested [[1]].", "Nested [A]."),
    ("Nested [[9]], [[1, 2]], [[Source 1]].", "Nested, [A][B], [A]."),
    ("x = [[1]] and x = [[1, 2], [3, 4]]", "x = [[1]] and x = [[1, 2], [3, 4]]"),
    ("See [[Main Page]] [1].", "See [[Main Page]] [A]."),
    ("Paris [1, 2, and 3].", "Paris [A][B][C]."),
    ("Paris [8, 9, and 10].", "Paris."),
    ("Paris [1, 2, & 9].", "Paris [A][B]."),
    ("Paris [1 (p. 3)] [9 (page 4)].", "Paris [A]."),
    ("Paris [number 1] [number 9].", "Paris [A]."),
    ("Paris [文档 1] [出典：2] [출처 9].", "Paris [A] [B]."),
    ("So [cite: 1], [cite: 1, 2] and [Cite 9].", "So [A], [A][B]."),
    ("So [passage-1] and [source_2].", "So [A] and [B]."),
    ("So [1, kiln_manual.md] [Passage 2: kiln 7.pdf].", "So [A] [B]."),
    ("So [1 - kiln_manual.md] [2 (a.docx)] [1, a.md, p. 7].", "So [A] [B] [A]."),
    ("So [9, kiln_manual.md].", "So."),
    ("See [rates](https://a.b/c)[1], it is 180 [9].", "See [rates](https://a.b/c)[A], it is 180."),
    ("See [rates](https://a.b/c).[9] More", "See [rates](https://a.b/c). More"),
    ("See [rates](a_(b))[1].", "See [rates](a_(b))[A]."),
    ("See <https://a.b/c>[1].", "See <https://a.b/c>[A]."),
    ("See (https://a.b/c)[1].", "See (https://a.b/c)[A]."),
    ("See **https://a.b/c**[1].", "See **https://a.b/c**[A]."),
    ('See "https://a.b/c"[1].', 'See "https://a.b/c"[A].'),
    ("巴黎见https://a.b/c，费用180[1]。尼斯[9]。", "巴黎见https://a.b/c，费用180[A]。尼斯。"),
    ("[文档](http://a.b)中说，房间180欧元[9]。", "[文档](http://a.b)中说，房间180欧元。"),
]

SEEDS = [
    (f"So [chunk_{A}_5].", "So [A]."),
    (f"So [{A}:chunk-5] and [{B.upper()}:chunk-0].", "So [A] and [B]."),
    (f"So [chunk id: {A}], [Chunk ID {B}].", "So [A], [B]."),
    (f"So [chunk_{DOCUMENT}_4] and [{DOCUMENT}:chunk-5].", "So [C]."),
    (f"So [chunk_{UNKNOWN}_5], [{UNKNOWN}:chunk-5] and [chunk id: {UNKNOWN}].", "So."),
    ("So [LightRAG Answer]. And ([lightrag answer]).", "So. And."),
    *((f"So [{A.replace('-', dash)}].", "So [A].") for dash in "‐‑–−"),
    *((f"So [{A[:10]}{hidden}{A[10:]}{hidden}].", "So [A].") for hidden in "\u200b\u200d\u2060\ufeff\u00ad"),
    (f"So [{UNKNOWN.replace('-', '‑')}] and [\u200b{UNKNOWN}].", "So."),
]

LONG = "It was agreed by the three towns, after a debate of two days"
REMOVED = [
    # The marker and the blanks before it.
    ("Paris [9].", "Paris."),
    ("Paris [9] is big.", "Paris is big."),
    ("Paris  [9].", "Paris."),
    ("Paris\u00a0[9].", "Paris."),
    ("Paris [9]is big.", "Paris is big."),
    ("Paris [0], [4] and [123456789012345678901234567890].", "Paris."),
    ("巴黎【9】是首都［9］。", "巴黎是首都。"),
    ("Behind what is composed [3].", "Behind what is composed [C]."),
    (f"So [{UNKNOWN}].", "So."),
    (f"x[{UNKNOWN}]", "x"),
    (f"[{UNKNOWN}](https://a.b)", "(https://a.b)"),
    ("As said in [9], it is", "As said in, it is"),
    ("[9] Paris", "Paris"),
    ("[9]: foo\n[9], bar\n[9]. So\n- [9]: baz", "foo\nbar\nSo\n- baz"),
    ("**Paris [9]** is", "**Paris** is"),
    ("**[9] Paris** is", "**Paris** is"),
    ("Paris (\\[9\\]) is", "Paris is"),
    ("Set [9] .env, edit [9] .gitignore now.", "Set .env, edit .gitignore now."),
    (f"Paris [1]. {LONG} [9]. So", f"Paris [A]. {LONG}. So"),
    (f"Paris [1]. {LONG} [9] in May", f"Paris [A]. {LONG} in May"),
    (f"Paris [1]. {LONG} and [9]\nSo", f"Paris [A]. {LONG}\nSo"),
    # The separator before a marker that ends a phrase.
    ("Paris [1, 9].", "Paris [A]."),
    ("Paris [1], [9].", "Paris [A]."),
    ("Paris [1], [9], [2].", "Paris [A], [B]."),
    ("Paris [8], [9], and [10].", "Paris."),
    ("Paris, [9].", "Paris."),
    ("Paris, [9], x", "Paris, x"),
    ("Paris, [9] is big.", "Paris, is big."),
    ("Paris and [9].", "Paris."),
    ("Switzerland [9] and Paris, land [9].", "Switzerland and Paris, land."),
    ("From Paris [1] to [9] Rome.", "From Paris [A] to Rome."),
    ("A bus [1] or [9] a taxi.", "A bus [A] or a taxi."),
    ("It is 180 [1]; [9] taxes are included.", "It is 180 [A]; taxes are included."),
    ("10 [9] – [10] 20 euros", "10 – 20 euros"),
    ("Paris [9]-[11].", "Paris."),
    # Brackets and emphasis that are empty then.
    ("Paris ([9]).", "Paris."),
    ("Paris ( [9] ).", "Paris."),
    ("Paris ([8], [9]) is.", "Paris is."),
    ("Paris ([9] and more).", "Paris (and more)."),
    ("Paris ([1]; [9]).", "Paris ([A])."),
    ("Paris ([9]; [1]).", "Paris ([A])."),
    ("巴黎（[9]、[10]）是", "巴黎是"),
    ("Nested [[9]] {[9]}.", "Nested."),
    ("Paris **[9]** is *[9]*.", "Paris is."),
    # List items and lines that are empty then.
    ("- [9]", ""),
    ("- Paris\n- [9]\n- Rome", "- Paris\n- Rome"),
    ("- Paris\n- [8], [9]\n- Rome", "- Paris\n- Rome"),
    ("- Paris\n- ([9])\n- Rome", "- Paris\n- Rome"),
    ("- Paris\r\n- [9]\r\n- Rome", "- Paris\r\n- Rome"),
    ("1. Paris\n2. [9].\n3. Rome", "1. Paris\n3. Rome"),
    ("So:\n  * [9]  \n  * Rome", "So:\n  * Rome"),
    ("> - [9]\n> - Rome", "> - Rome"),
    ("# [9]\nRome", "Rome"),
    ("Paris\n[9]\nRome", "Paris\nRome"),
    ("- [9] Paris\n- [1] Rome", "- Paris\n- [A] Rome"),
    ("- [9] [1]\n- Rome", "- [A]\n- Rome"),
    ("| Paris | [9] |\n| Rome [9] | [1] |", "| Paris | |\n| Rome | [A] |"),
    # Nothing becomes a marker or code by it.
    (f"Hidden [[9]{UNKNOWN}].", f"Hidden [?{UNKNOWN}]."),
    ("Hidden [1[9]].", "Hidden [1?]."),
    ("So [1, kiln [9] x.md]", "So [1, kiln? x.md]"),
]

LEFT_ALONE = [
    "`[1]` and ``x ` [1]``",
    "```py\nprint(a[1], [1])\n```\n",
    "- item:\n    ~~~\n    [1]\n    ~~~\n",
    "```\nan open fence [1]",
    "    int a [3];\n",
    "So:\n\n    x = y [1]\n    z [9]\n\n\n    w [9]\n\nThen",
    "So:\r\n\r\n\tx = y [1]\r\n  \tz [9]\r\n",
    "- So:\n\n      x = y [1]\n\n1. So:\n\n       z [9]",
    "- So\n\nThen:\n\n    x [9]",
    "* * *\n\n    x [9]",
    "-\tSo:\n\n\t\tx [9]\n",
    "- So\n  - and\n\n  then:\n\n      x [9]\n",
    f"- {LONG}, {LONG}.\n\n{LONG}, {LONG}, {LONG}, {LONG}, {LONG}, {LONG}, {LONG}:\n\n    x [9]\n",
    "1. So:\n\n   ```python\n   x = y [1]\n\n   z [9]\n   ```\n   - and\n     ~~~\n     x [9]\n     ~~~\n",
    "10. So:\n\n    ```\n    x = y [1]\n\n    z [9]\n    ```\n",
    "- So:\n    ```\n    x [9]\n    ```\n- `x\n  [9]` y",
    "So `x [1]\ny [9]` and ``a ` [9]\n  b [9]`` then",
    "> So `x [1]\n> y [9]` then",
    "```\n- x\n```\n\n    y [9]",
    "A [link](https://a.b/[1]) and [1](https://a.b), ![1](a.png)",
    "[1]: https://a.b/c",
    "See https://a.b/[1] and https://a.b/x[1]/y and [rates](a_(b)[1]).",
    "a[1] and a[1][2], foo()[0], foo(x)[1], f([1]), x = [1, 2], items[0]",
    'x["a"][9] and x[i][1][2] and {"a": [9], "b": [1, 2]}',
    "f([1], [2], [9]) and np.array([[1, 2], [3, 4]])",
    "a value in [0, 1]",
    "In the year [2023], in [2019-2021] and [2019, 2020], in May[2023]",
    "[1, as they say], [1, kiln], [1, e.g. kiln], [1, kiln.m], [1, what?.md]",
    "a[^1]b, `a[^1]`, \\\\[x]",
    "[x] done, [ ] open, [12:30], [2019-05-01], [sic], []",
    "Paris is the capital of France [2] and",
    'It says "Rome [1] was founded early".',
    "[3] Smith, On the origins of Rome.",
    "See items[2].",
    "Nothing here.",
]

PIECES = [
    *'[]()【】［］`~ \n\t.,;:!?-–0123459^#†\\"a',
    *["[1]", "[2]", "[9]", "[1, 9]", "[3]", f"[{A}]", f"[{B.upper()}]", f"[{UNKNOWN}]", UNKNOWN, A, A[:9]],
    *[
        "```",
        "```\n",
        "\n```\n",
        "~~~\n",
        "``",
        " and ",
        ", and ",
        "[[",
        "]]",
        "[[1]]",
        "(p. 2)",
        "number ",
        "x = ",
        "or",
        "p. ",
        "Passage ",
        "Source",
        "items",
        "foo()",
        "= ",
    ],
    *[
        "is the capital of France ",
        " Smith, On the origins of Rome",
        "巴黎",
        "。",
        "](http://x)",
        ": http://x",
    ],
    *["**", "*", "_", "~~", "“", "”", "（", "）", "「", "」", "<", ">", "<sup>", "</sup>", "{", "}", "'"],
    *["\n\n    ", "\n\t", "    ", "\n- a\n\n    "],
    *["\\[", "\\]", "\\[9\\]", "[*9*]", "**]", "..", "\na) ", "[^9]", "und "],
    *["<!--", "-->", "„", "passage ", "Source: ", "(Source:"],
    *["‐", "−", "～", "\u2009", "、", "；", "•", "【[9]】", "e.g. ", "cf. ", "[^9]: ", "'[9]'"],
    *["\u00a0", "&nbsp;", "&amp;", "see also ", "(see ", " an", "– ", "]-[", "– [9]", "([9]", "[9])", "# "],
    *["[LightRAG Answer]", "[LightRAG", f"[chunk_{A}_5]", f"{UNKNOWN}:chunk-5]", "chunk id: ", "\u200b"],
    *["a.md", "[1, a.md]", "[1 - ", "cite: ", "passage-", "[2023]", "[1-", "(a.md)", ".md]"],
    *["\r\n", "  ", "> ", "- ", "\n\n", "\n- ", "\n1. ", "\n10", ", ", " ,", "; "],
]
PROSE = [
    *[
        " The towns agreed in the spring to rebuild the bridge",
        " and then it was built again, of stone, in a year",
    ],
    *[
        " [1].",
        " [9].",
        " [9] Then",
        " [9] and",
        " [1]",
        " [9]",
        " [3]!",
        "\n[9].",
        " [9]\n\n",
        " ([9])",
        " [2], [9]",
        "[.",
        ", [9],",
        ", [9]",
        "\n- [9]",
        "\n1. [9]\n",
        " and [9]",
        " **[9]**",
        "**",
        " (see [9])",
        "; see also [9]",
        " – [9]",
        ' "[9]"',
        "[9]: ",
        "</sup>",
        "<sup>[9]",
        " and",
        " (",
        "）",
        "（[9]",
        "‐",
        " —",
        "\u00a0",
        " [1] is",
        " cf.",
    ],
]
answers = (
    st.lists(st.sampled_from(PIECES), max_size=25).map("".join)
    | st.lists(st.sampled_from(PROSE), max_size=12).map("".join)
    | st.text(max_size=60)
)


def named(text: str) -> str:
    for letter, chunk_id in {"A": A, "B": B, "C": C}.items():
        text = text.replace(chunk_id, letter)
    return text


@pytest.mark.parametrize(("written", "expected"), [*MARKERS, *SEEDS, *REMOVED])
def test_markers_become_ids_of_sources_or_go(written: str, expected: str) -> None:
    assert named(validate(written, PASSAGES).text) == expected


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_what_is_no_citation_is_left_alone(text: str) -> None:
    found = validate(text, PASSAGES)
    assert found.text == text
    assert not found.cited


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("A \\` tick [1] ` here", "A \\` tick [A] ` here"),
        ("An odd ` tick [1]\n\nand ` another", "An odd ` tick [A]\n\nand ` another"),
        ("```\ncode\n```\nThen [1]", "```\ncode\n```\nThen [A]"),
        ("````\n```\n[1]\n````\nThen [1]", "````\n```\n[1]\n````\nThen [A]"),
        ("Never ```a``` code [1].", "Never ```a``` code [A]."),
        ("So\n    it goes on [1]", "So\n    it goes on [A]"),
        ("- So:\n\n    it goes on [1]", "- So:\n\n    it goes on [A]"),
        ("1. So:\n   - and\n\n      it goes on [9].", "1. So:\n   - and\n\n      it goes on."),
        ("- ```\n  x [9]\n  ```\n\n    it goes on [1]", "- ```\n  x [9]\n  ```\n\n    it goes on [A]"),
        ("    x [9]\nThen [1]", "    x [9]\nThen [A]"),
        ("So\n\n- [9]\n    x [9]", "So\n\n- \n    x"),
        ("* [9]\n    - x [1]\n", "* \n    - x [A]\n"),
        ("- [9]\r\n    x [1]", "- \r\n    x [A]"),
        ("- [9]\n  x\n\n    y [9]", "- \n  x\n\n    y"),
        ("So\n\n- [9]\n\n    x [9] y", "So\n\n- \n\n    x y"),
        ("So\n\n- [9]\n\n      x [9] y", "So\n\n- \n\n      x [9] y"),
        ("So `x [1]\n\ny [1]` z", "So `x [A]\n\ny [A]` z"),
        ("- So `x [1]\n- y [1]` z", "- So `x [A]\n- y [A]` z"),
        ("# So `x [1]\n```\ny [9]\n```\n` z [1]", "# So `x [A]\n```\ny [9]\n```\n` z [A]"),
        ("x ``` a\n- [9]\nb ``` [1] ```", "x ``` a\n\nb ``` [1] ```"),
        ("x ``` a\n*[9]* b ``` [1] ```", "x ``` a\n*[9]* b ``` [A] ```"),
        ("So\n\n[9]\n\n    x [9] y", "So\n\n\n    x [9] y"),
    ],
)
def test_only_code_is_code(written: str, expected: str) -> None:
    assert named(validate(written, PASSAGES).text) == expected


def test_a_marker_is_copied_only_with_the_words_before_it() -> None:
    assert named(validate("The capital [2].", PASSAGES).text) == "The capital [B]."
    assert named(validate("Old Rome [1] was", PASSAGES).text) == "Old Rome [A] was"


def test_code_blocks_are_listed_with_their_places() -> None:
    written = "So [9]:\n\n    x [9]\n\nThen [1].\n```\nz [9]\n```\nSo\n```\nopen"
    found = validate(written, PASSAGES)
    assert [found.text[start:end] for start, end in found.code] == [
        "    x [9]\n\n",
        "```\nz [9]\n```\n",
        "```\nopen",
    ]


def test_citations_are_listed_with_their_places() -> None:
    found = validate('Paris [1, 2]. Code `[1]`. More [3].\n"[9]. [1]', PASSAGES)
    assert [one.id for one in found.cited] == [A, B, C, A]
    assert all(found.text[one.start : one.end] == f"[{one.id}]" for one in found.cited)


def test_removed_markers_are_counted() -> None:
    text = f"Paris [1] is old [9]. Rome [Source 7] is older [{UNKNOWN}], see clause[8] and [1, 9]."
    assert validate(text, PASSAGES).removed == 4
    stream = CitationStream(PASSAGES)
    for character in text:
        stream.feed(character)
    stream.close()
    assert stream.validated == validate(text, PASSAGES)


def test_a_stream_holds_back_no_more_than_it_must() -> None:
    stream = CitationStream(PASSAGES)
    assert stream.feed("Paris is big") == "Paris is big"
    assert stream.feed(" [") == ""
    assert stream.feed("1]") == ""
    assert named(stream.feed(".")) == " [A]."
    assert stream.feed(" An [aside") == " An [aside"
    assert stream.close() == ""


def test_an_open_code_span_is_held_back_to_the_end_of_its_paragraph() -> None:
    stream = CitationStream(PASSAGES)
    assert stream.feed("Paris `x [1]\nis [9]") == "Paris"
    assert named(stream.feed("\n\n")) == " `x [A]\nis\n\n"


def test_an_open_code_span_is_held_back_for_four_hundred_characters() -> None:
    stream = CitationStream(PASSAGES)
    assert stream.feed("Paris `" + "word " * 79) == "Paris"
    assert stream.feed("word word").startswith(" `word word")


@pytest.mark.parametrize(
    "text",
    [
        "‐‐【[9]】",
        "\\\\[1]",
        "\\\\\\[9\\]",
        "‐ and [9]",
        "x, and see [9].",
        "a----([9])",
        "\n***_[9]_***",
        'x"[9]. [1]',
        ", , and [9]",
        "[9]. &nbsp;Rome",
        "([9]. &nbsp;Rome)",
        "([9].&nbsp;)",
        "x [1]and\\[9\\]-->",
        "- [9]\r\n\r\n    x [9]",
        "~~~\n[9]\n~~~\n~~[9]~~",
        "x `a [9]\n- [9]\nb` [1] `c\n[9]`",
        *LEFT_ALONE,
        "a\n\n[9]\r\n    \r\n    x [9]",
    ],
)
def test_a_stream_of_single_characters_gives_the_same(text: str) -> None:
    stream = CitationStream(PASSAGES)
    assert "".join(map(stream.feed, text)) + stream.close() == validate(text, PASSAGES).text


@given(text=answers, sizes=st.lists(st.integers(1, 9), min_size=1))
def test_a_stream_gives_the_same_however_it_is_cut(text: str, sizes: list[int]) -> None:
    stream = CitationStream(PASSAGES)
    parts: list[str] = []
    at = 0
    while at < len(text):
        size = sizes[len(parts) % len(sizes)]
        parts.append(stream.feed(text[at : at + size]))
        at += size
    whole = validate(text, PASSAGES)
    assert "".join(parts) + stream.close() == whole.text
    assert (tuple(stream.cited), tuple(stream.code)) == (whole.cited, whole.code)


@given(text=answers)
def test_every_id_in_brackets_is_a_source(text: str) -> None:
    found = validate(text, PASSAGES)
    assert all(found.text[one.start : one.end] == f"[{one.id}]" for one in found.cited)
    assert {one.id for one in found.cited} <= {A, B, C}
    if not found.code and "`" not in text and "<" not in text:
        assert set(re.findall(rf"[\[【［][^\S\n]*({UUID})[^\S\n]*[\]】］]", found.text)) <= {A, B, C}


@given(text=answers)
def test_a_valid_answer_stays_as_it_is(text: str) -> None:
    once = validate(text, PASSAGES)
    assert validate(once.text, PASSAGES).text == once.text


@given(text=answers)
def test_no_empty_brackets_and_no_double_spaces_come_about(text: str) -> None:
    found = validate(text, PASSAGES).text
    assert found.count("[]") <= text.count("[]")
    assert len(re.findall(r"\S  +\S", found)) <= len(re.findall(r"\S {2,}", text))


@given(text=st.text(st.characters(exclude_characters="[【［"), max_size=80))
def test_text_without_brackets_stays_as_it_is(text: str) -> None:
    assert validate(text, PASSAGES).text == text


def test_history_loses_its_ids_and_nothing_else() -> None:
    text = f"Paris [{A}], see [1] and a[2]. More [{UNKNOWN}][{B}]. `[{A}]`"
    assert without_citations(text) == f"Paris, see [1] and a[2]. More. `[{A}]`"


def calls(text: str) -> int:
    """How many functions the validator calls for a text, whatever the speed of the machine."""
    count = 0

    def counted(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(counted)
    try:
        validate(text, MANY)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("make", [prose, *HOSTILE.values()], ids=["prose", *HOSTILE])
def test_the_work_grows_with_the_text_and_no_faster(make: Callable[[int], str]) -> None:
    few, many = calls(make(600)), calls(make(3_000))
    assert many <= 7 * few + 500  # squared, it would be 25 times
