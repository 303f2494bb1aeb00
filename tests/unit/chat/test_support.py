"""Every citation with the words that support it, every sentence without one."""

import sys
from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.texts import texts

from whence.chat.citing import Cited, Validated, validate
from whence.chat.sources import Source
from whence.chat.support import Citation, support

A, B = (f"0190a1b2-7c3d-7e4f-8a5b-00000000000{number}" for number in (1, 2))
DOCUMENT = "A preface. The bridge was built in 1874. It is 120 metres long and made of iron. The mayor, Anna Berg, opened it."
START = DOCUMENT.index("The bridge")
PASSAGES = [
    Source(id=A, text=DOCUMENT[START:], document_id="bridges", start=START, page=3),
    Source(
        id=B,
        text="Rome was founded in 753 BC. Its first king was Romulus. 东京是日本的首都。",
        document_id="rome",
        start=0,
    ),
]


def judged(response: str, passages: Sequence[Source] = PASSAGES) -> list[Citation]:
    return support(validate(response, passages), passages)


def test_the_citations_are_those_that_were_found_and_no_others() -> None:
    """A document's own `[1]` looks like a citation where its brackets are restored: it is none, and moves none."""
    text = f"The bridge was built in 1874 [1] and is long. It is made of iron [{A}]."
    cited = Cited(text.index(f"[{A}]"), len(text) - 1, A)
    uncited, found = support(Validated(text=text, cited=(cited,), code=()), PASSAGES)
    assert (uncited.chunk_id, found.chunk_id) == (None, A)
    assert text[found.response_start : found.response_end] == f"It is made of iron [{A}]."


def test_the_quote_is_the_span_of_the_document_that_supports_the_sentence() -> None:
    response = f"It is made of iron and 120 metres long [{A}]."
    (found,) = judged(response)
    assert (found.response_start, found.response_end) == (0, len(response))
    assert (found.chunk_id, found.document_id, found.page) == (A, "bridges", 3)
    assert found.quote == "It is 120 metres long and made of iron."
    assert DOCUMENT[found.start_offset : found.end_offset] == found.quote
    assert (found.support_level, found.supported, found.origin) == ("close", True, "model")


@pytest.mark.parametrize(
    ("said", "level", "score"),
    [
        ("It is 120 metres long and made of iron", "verbatim", 1.0),
        ("According to the documents, it is 120 metres long and made of iron", "close", 0.9),
        ("It is made of iron and 120 metres long", "close", 0.9),
        ("It is 120 metres long and not made of iron", "loose", None),
        ("The iron bridge has a length of 120 metres", "loose", None),
        ("Cats like milk and fish", "none", 0.0),
        # One common word is not even `loose`.
        (
            "Long before the war, herring fleets sailed from Bergen every autumn to the banks of Iceland",
            "none",
            0.0,
        ),
    ],
)
def test_each_level_has_its_score(said: str, level: str, score: float | None) -> None:
    (found,) = judged(f"{said} [{A}].")
    assert (found.support_level, found.supported) == (level, level in {"verbatim", "close"})
    assert found.support == score if score is not None else 0 < found.support <= 0.8


def test_a_sentence_that_cites_nothing_gets_the_passage_that_supports_it() -> None:
    response = f"Its first king was Romulus. The bridge was built in 1874 [{A}]. Its first king was Otto."
    attributed, cited, unsupported = judged(response)
    assert response[attributed.response_start : attributed.response_end] == "Its first king was Romulus."
    assert (attributed.chunk_id, attributed.quote, attributed.document_id) == (
        *(B, "Its first king was Romulus.", "rome"),
    )
    assert (attributed.support_level, attributed.supported, attributed.origin) == (
        "verbatim",
        True,
        "attributed",
    )
    assert (cited.chunk_id, cited.origin) == (A, "model")
    assert (unsupported.chunk_id, unsupported.support_level, unsupported.origin) == (None, "none", "model")


def test_of_two_passages_the_one_that_has_it_verbatim_is_attributed() -> None:
    passages = [
        Source(start=0, id=A, text="In 1874, the bridge was built."),
        Source(start=0, id=B, text="The bridge was built in 1874."),
        Source(start=0, id=None, text="The bridge was built in 1874."),
    ]
    (found,) = judged("The bridge was built in 1874.", passages)
    assert (found.chunk_id, found.support_level) == (B, "verbatim")


def test_a_figure_that_the_quote_has_not_is_no_support() -> None:
    (right,) = judged(f"It is 120 metres long and made of iron [{A}].")
    (wrong,) = judged(f"It is 130 metres long and made of iron [{A}].")
    assert right.supported
    assert not wrong.supported
    assert wrong.support < right.support


@pytest.mark.parametrize(
    ("said", "is_so"),
    [
        ("because of the storm of 9 February", True),
        ("because of the storm of February 9", True),
        ("because of the storm of 9 March", False),
        ("because of the storm of the 9th of March", False),
        ("because of the storm of March 9", False),
        ("because of the storm in March", False),
    ],
)
def test_the_month_of_a_date_is_a_figure(said: str, is_so: bool) -> None:
    text = "Repairs exceeded their budget because of the storm of 9 February. Water came in."
    passages = [Source(start=0, id=A, text=text)]
    (found,) = judged(f"Repairs exceeded their budget {said} [{A}].", passages)
    assert found.supported is is_so


HOME = (
    "Employees may work from home up to three days a week. They agree the days with their manager. "
    "Equipment: a desk, a chair and a lamp are paid for, up to 600 pounds every four years.\n\n"
    "Requests are answered within five working days."
)
KILN = (
    "The elements last about 150 firings. Let the kiln cool for twenty hours. "
    "The warranty covers the controller for two years."
)
MEETING = "The next meeting is on 9 May 2025 at 18:00. In 2023 the survey recorded 812 seabird sightings."


@pytest.mark.parametrize(
    ("text", "said", "quote"),
    [
        (
            HOME,
            "You may work from home 4 days a week",
            "Employees may work from home up to three days a week.",
        ),
        (HOME, "Employees may work from home up to five days a week", HOME[:53]),
        (KILN, "The elements last about twenty firings", "The elements last about 150 firings."),
        (
            KILN,
            "The warranty covers the controller for twenty years",
            "The warranty covers the controller for two years.",
        ),
        (MEETING, "The next meeting is on 18 May 2025", "The next meeting is on 9 May 2025 at 18:00."),
        (MEETING, "The next meeting is on 9 May 2025 at 6 am", "The next meeting is on 9 May 2025 at 18:00."),
        (
            MEETING,
            "The survey recorded 2,023 seabird sightings",
            "In 2023 the survey recorded 812 seabird sightings.",
        ),
    ],
)
def test_a_wrong_figure_is_not_looked_for_elsewhere(text: str, said: str, quote: str) -> None:
    (found,) = judged(f"{said} [{A}].", [Source(start=0, id=A, text=text)])
    assert (found.quote, found.supported) == (quote, False)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HOME, "Employees may work from home up to 3 days a week"),
        (KILN, "Let the kiln cool for 20 hours"),
        (MEETING, "The next meeting is on 2025-05-09 at 6 pm"),
        ("A ticket costs 8.50 euros. Dogs are free.", "A ticket costs 8.5 euros"),
        ("The fund holds $1,200,000. It grows.", "The fund holds 1.2 million dollars"),
    ],
)
def test_a_figure_may_be_written_in_another_way(text: str, said: str) -> None:
    (found,) = judged(f"{said} [{A}].", [Source(start=0, id=A, text=text)])
    assert found.supported


def test_a_name_that_the_quote_has_not_weighs() -> None:
    (right,) = judged(f"The mayor Anna Berg opened it [{A}].")
    (wrong,) = judged(f"The mayor Otto Klein opened it [{A}].")
    assert wrong.support < right.support


def test_without_a_word_in_common_nothing_is_quoted() -> None:
    (found,) = judged(f"Cats like milk and fish [{A}].")
    assert (found.chunk_id, found.document_id, found.page) == (A, "bridges", 3)
    assert (found.quote, found.start_offset, found.end_offset, found.support) == (None, None, None, 0)
    assert not found.supported


def test_the_wrong_source_is_no_support() -> None:
    (found,) = judged(f"Romulus was the first king of Rome [{A}].")
    assert not found.supported


def test_two_sentences_are_quoted_where_both_are_said() -> None:
    (found,) = judged(f"Rome was founded in 753 BC, its first king was Romulus [{B}].")
    assert found.quote == "Rome was founded in 753 BC. Its first king was Romulus."
    assert found.supported


def test_each_part_of_a_sentence_is_judged_by_its_own_citation() -> None:
    found = judged(f"Rome was founded in 753 BC [{B}] and the bridge was built in 1874 [{A}].")
    assert [(one.chunk_id, one.supported) for one in found] == [(B, True), (A, True)]


C, D = (f"0190a1b2-7c3d-7e4f-8a5b-00000000000{number}" for number in (3, 4))
STUDIO = [
    Source(start=0, id=A, text="It must stand 45 cm from the wall. Never cover it."),
    Source(start=0, id=B, text="The kiln weighs 214 kg. It takes two people to move it."),
    Source(start=0, id=C, text="Glazes are kept in the kiln room. There are 45 of them."),
    Source(start=0, id=D, text="It was made in Denmark, and the kiln weighs 214 kg."),
]


@pytest.mark.parametrize(
    ("said", "cited", "supported"),
    [
        ("The kiln weighs 214 kg and must stand 45 cm from the wall", (B, A), (True, True)),
        ("The kiln weighs 214 kg and must stand 50 cm from the wall", (B, A), (False, False)),
        ("The kiln weighs 300 kg and must stand 45 cm from the wall", (B, A), (False, False)),
        ("The kiln weighs 214 kg and must stand 45 cm from the wall", (B,), (False,)),
        # What has nothing to do with it is marked, and lends no figure.
        ("The kiln weighs 214 kg and must stand 45 cm from the wall", (B, C, A), (True, False, True)),
        ("The kiln weighs 214 kg and must stand 45 cm from the wall", (B, C), (False, False)),
        # Two may say the same.
        ("The kiln weighs 214 kg and must stand 45 cm from the wall", (B, D, A), (True, True, True)),
        ("The kiln weighs 214 kg", (B, D), (True, True)),
        ("The kiln weighs 214 kg and must stand 45 cm from the wall", (B, B, A), (True, True, True)),
    ],
)
def test_citations_in_a_row_are_judged_by_what_they_say_together(
    said: str, cited: tuple[str, ...], supported: tuple[bool, ...]
) -> None:
    found = judged(f"{said} {''.join(f'[{one}]' for one in cited)}.", STUDIO)
    assert tuple(one.chunk_id for one in found) == cited
    assert tuple(one.supported for one in found) == supported


def test_each_of_a_row_quotes_its_own_chunk() -> None:
    found = judged(f"The kiln weighs 214 kg and must stand 45 cm from the wall [{B}][{A}].", STUDIO)
    assert [one.quote for one in found] == [
        "The kiln weighs 214 kg.",
        "It must stand 45 cm from the wall.",
    ]


def test_citations_that_were_mixed_up_do_not_help_each_other() -> None:
    found = judged(f"The kiln weighs 214 kg [{A}] and must stand 45 cm from the wall [{B}].", STUDIO)
    assert [one.supported for one in found] == [False, False]


def test_of_two_that_contradict_each_other_one_is_marked() -> None:
    annex = Source(start=0, id=B, text="See the annex. Employees may work from home up to five days a week.")
    said = f"Employees may work from home up to five days a week [{A}][{B}]."
    found = judged(said, [Source(start=0, id=A, text=HOME), annex])
    assert [one.supported for one in found] == [False, True]


def test_one_word_before_a_citation_is_judged_by_its_sentence() -> None:
    first, _ = judged(f"Iron [{A}] was invented by aliens from Jupiter [{B}].")
    assert not first.supported


def test_a_citation_behind_the_stop_belongs_to_the_sentence_before() -> None:
    response = f"Rome was founded in 753 BC. [{B}] The bridge was built in 1874. [{A}]"
    assert [(response[one.response_start : one.response_end], one.supported) for one in judged(response)] == [
        (f"Rome was founded in 753 BC. [{B}]", True),
        (f"The bridge was built in 1874. [{A}]", True),
    ]


def test_a_sentence_without_a_citation_is_marked() -> None:
    response = f"The bridge was built in 1874 [{A}]. Cats like milk and fish."
    _, unsupported = judged(response)
    assert response[unsupported.response_start : unsupported.response_end] == "Cats like milk and fish."
    assert unsupported.chunk_id is None
    assert unsupported.quote is None
    assert not unsupported.supported


def test_what_claims_nothing_is_not_marked() -> None:
    response = "# The bridge\n\nHere is what is known:\n\n```\nsome code = [1]\n```\n\nIs it long? Yes."
    assert judged(response) == []
    assert judged("I could not find anything about dogs in the documents.") == []


def test_scripts_without_spaces_are_compared_too() -> None:
    same, other = judged(f"东京是日本的首都[{B}]。日本的首都是东京[{B}]。")
    assert (same.quote, same.support_level) == ("东京是日本的首都。", "verbatim")
    assert (other.quote, other.support_level) == ("东京是日本的首都。", "loose")


@given(text=texts(200), cites=st.lists(st.sampled_from([f" [{A}]", f"[{B}]", ". ", "\n\n"]), max_size=4))
def test_spans_are_always_exact_and_in_order(text: str, cites: list[str]) -> None:
    response = text + "".join(cites)
    found = judged(response)
    for one in found:
        assert 0 <= one.response_start < one.response_end <= len(response)
        assert 0 <= one.support <= 1
        assert (one.quote is None) == (one.start_offset is None) == (not one.support)
        if one.document_id == "bridges" and one.quote is not None:
            assert one.quote == DOCUMENT[one.start_offset : one.end_offset]
    assert [one.response_start for one in found] == sorted(one.response_start for one in found)
    assert found == judged(response)


def test_lines_that_end_with_a_citation_are_sentences_of_their_own() -> None:
    response = f"The bridge was built in 1874 [{A}]\nRome was founded in 753 BC [{B}]\n\n- Its first king was Romulus [{B}]"
    found = judged(response)
    assert [response[one.response_start : one.response_end] for one in found] == response.replace(
        "\n\n", "\n"
    ).split("\n")
    assert [(one.chunk_id, one.quote, one.supported) for one in found] == [
        (A, "The bridge was built in 1874.", True),
        (B, "Rome was founded in 753 BC.", True),
        (B, "Its first king was Romulus.", True),
    ]
    (wrapped,) = judged(f"The bridge was built in 1874 [{A}]\nand is made of iron.")
    assert wrapped.response_start == 0


def test_the_number_of_an_item_is_no_figure_of_its_sentence() -> None:
    found = judged(f"1. The bridge was built in 1874 [{A}]\n2) The mayor, Anna Berg, opened it [{A}].")
    assert [one.support for one in found] == [1.0, 1.0]
    assert (
        judged("1. Opening hours of the bridge:\n2. The bridge was sold to pirates:")[0].response_start == 32
    )


def test_each_row_of_a_table_is_judged_by_itself() -> None:
    rows = [f"| Rome founded | in 753 BC [{B}] |", f"| bridge built | 1999 [{A}] |", "| cats like | milk |"]
    response = "\n".join(["| what | when or which |", "|---|---|", *rows])
    found = judged(response)
    assert [response[one.response_start : one.response_end] for one in found] == rows
    assert [one.supported for one in found] == [True, False, False]


@pytest.mark.parametrize(
    "unit",
    [
        "| ferry | nine [{}] |\n",
        "- ferry leaves at nine [{}]\n",
        "the bridge was built [{}] ",
        "the bridge was built [{}][{}] ",
        "The bridge was built in 1874 [{}]. ",
        "```\ncode\n```\n\nThe bridge was built in 1874 [{}].\n\n",
    ],
)
def test_the_work_grows_with_the_answer_and_no_faster(unit: str) -> None:
    def work(times: int) -> int:
        response = unit.format(A, B) * times
        return calls(lambda: judged(response))

    work(10)
    assert work(200) < 2.2 * work(100)


def test_a_long_sentence_is_judged_once_for_all_its_citations() -> None:
    def work(times: int) -> int:
        response = " ".join(f"word{number} built iron [{A}][{B}]" for number in range(times))
        return calls(lambda: judged(response))

    work(10)
    assert work(200) < 2.2 * work(100)


def calls(action: Callable[[], object]) -> int:
    """How many functions are called, also those that are not written in Python."""
    counts = Counter[str]()
    sys.setprofile(lambda _, event, __: counts.update((event,)))
    try:
        action()
    finally:
        sys.setprofile(None)
    return counts["call"] + counts["c_call"]
