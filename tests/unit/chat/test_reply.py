"""What a model writes, and what a client reads of it: whatever brackets, only sources are cited."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.chat.citing import CitationStream, validate, without_citations
from whence.chat.sources import Source
from whence.text.prompt_escaping import BRACKETS, MASKS, UUID, restore_brackets

A, B = (f"0190a1b2-7c3d-7e4f-8a5b-00000000000{number}" for number in (1, 2))
UNKNOWN = "dead0000-7c3d-7e4f-8a5b-000000000009"
PASSAGES = [
    Source(id=A, text=f"Paris is the capital of France [2]. See ({UNKNOWN})."),
    Source(id=B, text="The boiler `x[1]` was made in Berlin."),
]
CITED = re.compile(rf"[\[【［]\s*({UUID})\s*[\]】］]")


def read(*pieces: str, masked: bool = True) -> str:
    citing = CitationStream(PASSAGES)
    given = [citing.feed(piece) for piece in pieces]
    text = "".join([*given, citing.close()])
    assert text == citing.validated.text
    return restore_brackets(text) if masked else text


@pytest.mark.parametrize(
    ("written", "given"),
    [
        (f"It leaves at 11:05 ⁅{UNKNOWN}].", "It leaves at 11:05."),
        (f"It leaves [{UNKNOWN}⁆ now", "It leaves now"),
        (f"It leaves ⁅{UNKNOWN}⁆ now", "It leaves now"),
        (f"It leaves ⦋ {UNKNOWN} 】 now", "It leaves now"),
        (f"It leaves ⁅1, {UNKNOWN}] now", f"It leaves [{A}] now"),
        (f"It leaves ⁅{B}].", f"It leaves [{B}]."),
        (f"It ⁅1[9], {UNKNOWN}] leaves", f"It [1?, {UNKNOWN}] leaves"),
        ("As the law ⁅12⁆ says ⦋3⦌ [1].", f"As the law [12] says 【3】 [{A}]."),
        (f"made in France[1]⁅{A}⁆.", f"made in France[{A}][{A}]."),
        ("As the law ⁅12] says.", "As the law [12] says."),
        (f"The code `⁅{UNKNOWN}]` [1].", f"The code `[{UNKNOWN}]` [{A}]."),
    ],
)
def test_only_sources_are_cited_whatever_the_brackets(written: str, given: str) -> None:
    assert read(written) == read(*written) == given


pieces = st.lists(
    st.sampled_from(
        [
            *BRACKETS,
            *MASKS,
            *[
                "1",
                "9",
                ", ",
                " ",
                "-",
                "?",
                "\n",
                ".",
                "`",
                "```\n",
                "(",
                ")",
                "Paris",
                " France",
                "Source ",
                "†",
                "p. 3",
                "=",
            ],
            *[UNKNOWN, UNKNOWN[:20], UNKNOWN[20:], A, B.upper(), A[:9], A[9:]],
            *["[1]", "[9]", f"⁅{UNKNOWN}", f"{UNKNOWN}]", f"{UNKNOWN}⁆", f"⦋{A}"],
        ]
    ),
    max_size=24,
)


@given(pieces, st.integers(1, 7), st.booleans())
def test_no_text_cites_what_is_no_source_and_no_cut_changes_it(
    written: list[str], size: int, masked: bool
) -> None:
    whole = "".join(written)
    text = read(whole, masked=masked)
    assert read(*written, masked=masked) == text
    assert read(*(whole[at : at + size] for at in range(0, len(whole), size)), masked=masked) == text
    assert without_citations(text, but=PASSAGES) == text
    assert masked or validate(text, PASSAGES).text == text
    if "`" not in whole:
        assert set(CITED.findall(text)) <= {A, B}
