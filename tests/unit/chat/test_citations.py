"""The one validator. Rows name chunk ids by a letter: what the model writes, and what becomes of it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.chat.citations import CitationStream, validate, without_citations
from whence.chat.markers import UUID
from whence.chat.passages import Passage

A, B, C = (f"0190a1b2-7c3d-7e4f-8a5b-00000000000{number}" for number in (1, 2, 3))
UNKNOWN = "dead0000-7c3d-7e4f-8a5b-000000000009"
PASSAGES = [
    Passage(id=A, text="Paris is the capital of France [2] and has been for long."),
    Passage(id=B, text="Rome [1] was founded early.\n[3] Smith, On the origins of Rome. See items[2]."),
    Passage(id=None, text="Composed of what is known."),
    Passage(id=C, text="Nothing much."),
]

MARKERS = [
    ("Paris [1].", "Paris [A]."),
    ("Paris _[1]_.", "Paris _[A]_."),
    ("Paris [1, 2].", "Paris [A][B]."),
    ("Paris [1][2].", "Paris [A][B]."),
    ("Paris [ 1 ].", "Paris [A]."),
    ("Both [1-2].", "Both [A][B]."),
    ("Both [1–2] and [2 — 1].", "Both [A][B] and [A][B]."),
    ("All [1-1000000].", "All [A][B][C]."),
    ("Twice [1, 1].", "Twice [A]."),
    ("巴黎是首都【1】。", "巴黎是首都[A]。"),
    ("巴黎是首都[1]。", "巴黎是首都[A]。"),
    ("Full ［１］ width.", "Full [A] width."),
    ("A footnote[^1].", "A footnote[^1]."),
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
    ("Nested [[1]].", "Nested [[A]]."),
]

LONG = "It was agreed by the three towns, after a debate of two days"
REMOVED = [
    (f"Paris [1]. {LONG} [9]. So", f"Paris [A]. {LONG}. So"),
    (f"Paris [1]. {LONG} [9] in May", f"Paris [A]. {LONG} in May"),
    (f"Paris [1]. {LONG} [9] and [2].", f"Paris [A]. {LONG} [B]."),
    (f"Paris [1]. {LONG} [1† [9].", f"Paris [A]. {LONG} [1†?."),
    ("Paris [9].", "Paris."),
    ("Paris [9] is big.", "Paris is big."),
    ("Paris  [9].", "Paris."),
    ("Paris [9]is big.", "Paris is big."),
    ("Paris [0].", "Paris."),
    ("Paris [1, 9].", "Paris [A]."),
    ("Paris [1], [9].", "Paris [A]."),
    ("Paris [1], [9], [2].", "Paris [A], [B]."),
    ("Paris [8], [9] and [1].", "Paris [A]."),
    ("Paris [8], [9].", "Paris."),
    ("Paris ([9]).", "Paris."),
    ("Paris ([8], [9]) is.", "Paris is."),
    ("Paris ([9] and more).", "Paris (and more)."),
    ("[9] Paris", "Paris"),
    ("- [9] Paris\n- [1] Rome", "- Paris\n- [A] Rome"),
    ("Paris [4].", "Paris."),
    ("Paris [4, 1].", "Paris [A]."),
    ("Behind what is composed [3].", "Behind what is composed [C]."),
    (f"So [{UNKNOWN}].", "So."),
    (f"x[{UNKNOWN}]", "x"),
    (f"[{UNKNOWN}](https://a.b)", "(https://a.b)"),
    ("So [123456789012345678901234567890].", "So."),
    ("Nested [[9]].", "Nested."),
    (f"Hidden [[9]{UNKNOWN}].", f"Hidden [?{UNKNOWN}]."),
    ("Hidden [1[9]].", "Hidden [1?]."),
    ("Paris , [9] , x", "Paris, x"),
    ("Paris, [9], x", "Paris, x"),
    ("Paris; [8], [9]; x", "Paris; x"),
    ("Paris, [9].", "Paris."),
    ("Paris, [9]", "Paris"),
    ("Paris, ([9]).", "Paris."),
    ("Paris, [9]\nRome", "Paris\nRome"),
    ("Paris, [9] is big.", "Paris, is big."),
    ("Paris,[9] is big.", "Paris, is big."),
    ("Paris, ([9] and more).", "Paris, (and more)."),
    ("Paris, [9] and [1].", "Paris, [A]."),
    ("Paris [1], [9], x", "Paris [A], x"),
    ("Paris [9] , x", "Paris, x"),
    ("巴黎、[9]、x", "巴黎、x"),
    ("As said in [9], it is", "As said in, it is"),
    (f"Paris [1]. {LONG}, [9].", f"Paris [A]. {LONG}."),
    (f"Paris [1]. {LONG}:\n\n- [9]\n", f"Paris [A]. {LONG}:\n\n"),
    ("- [9]", ""),
    ("- Paris\n- [9]\n- Rome", "- Paris\n- Rome"),
    ("- Paris\n- [8], [9]\n- Rome", "- Paris\n- Rome"),
    ("- Paris\n- ([9])\n- Rome", "- Paris\n- Rome"),
    ("1. Paris\n2. [9]\n3. Rome", "1. Paris\n3. Rome"),
    ("So:\n  * [9]  \n  * Rome", "So:\n  * Rome"),
    ("> - [9]\n> - Rome", "> - Rome"),
    ("- [9] [1]\n- Rome", "- [A]\n- Rome"),
    ("- ([9] Paris)", "- (Paris)"),
    ("- [9] ([9]) Paris", "- Paris"),
    ("a - [9]", "a -"),
]

LEFT_ALONE = [
    "`[1]` and ``x ` [1]``",
    "```py\nprint(a[1], [1])\n```\n",
    "- item:\n    ~~~\n    [1]\n    ~~~\n",
    "```\nan open fence [1]",
    "A [link](https://a.b/[1]) and [1](https://a.b), ![1](a.png)",
    "[1]: https://a.b/c",
    "a[1] and a[1][2], foo()[0], foo(x)[1], f([1]), x = [1, 2], items[0]",
    "a value in [0, 1]",
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


@pytest.mark.parametrize(("written", "expected"), [*MARKERS, *REMOVED])
def test_markers_become_ids_of_sources_or_go(written: str, expected: str) -> None:
    assert named(validate(written, PASSAGES).text) == expected


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_what_is_no_citation_is_left_alone(text: str) -> None:
    assert validate(text, PASSAGES).text == text


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("A \\` tick [1] ` here", "A \\` tick [A] ` here"),
        ("An odd ` tick [1]\n\nand ` another", "An odd ` tick [A]\n\nand ` another"),
        ("```\ncode\n```\nThen [1]", "```\ncode\n```\nThen [A]"),
        ("````\n```\n[1]\n````\nThen [1]", "````\n```\n[1]\n````\nThen [A]"),
        ("Never ```a``` code [1].", "Never ```a``` code [A]."),
    ],
)
def test_only_code_is_code(written: str, expected: str) -> None:
    assert named(validate(written, PASSAGES).text) == expected


def test_a_marker_is_copied_only_with_the_words_before_it() -> None:
    assert named(validate("The capital [2].", PASSAGES).text) == "The capital [B]."
    assert named(validate("Old Rome [1] was", PASSAGES).text) == "Old Rome [A] was"


def test_citations_are_listed_with_their_places() -> None:
    found = validate("Paris [1, 2]. Code `[1]`. More [3].", PASSAGES)
    assert [one.id for one in found.cited] == [A, B, C]
    assert all(found.text[one.start : one.end] == f"[{one.id}]" for one in found.cited)


def test_a_stream_holds_back_no_more_than_it_must() -> None:
    stream = CitationStream(PASSAGES)
    assert stream.feed("Paris is big") == "Paris is big"
    assert stream.feed(" [") == ""
    assert stream.feed("1]") == ""
    assert named(stream.feed(".")) == " [A]."
    assert stream.feed(" An [aside") == " An [aside"
    assert stream.close() == ""


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
    assert tuple(stream.cited) == whole.cited


@given(text=answers)
def test_every_id_in_brackets_is_a_source(text: str) -> None:
    found = validate(text, PASSAGES)
    assert all(found.text[one.start : one.end] == f"[{one.id}]" for one in found.cited)
    assert {one.id for one in found.cited} <= {A, B, C}
    if "`" not in text and "~~~" not in text:
        assert set(re.findall(rf"[\[【［]\s*({UUID})\s*[\]】］]", found.text)) <= {A, B, C}


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
