"""Citations in other styles: marks are where they are said to be, and a stream is the same as the whole."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from whence.chat import Source
from whence.chat.citing import CitationStream
from whence.chat.citing.restyle import Numbers, Restyled

SOURCES = [
    Source(id=f"01a1eac8-ac65-7e4e-a1b8-00000000000{number}", text="Words.", name=f"{number}.md")
    for number in range(3)
]
IDS = [source.id or "" for source in SOURCES]
PIECES = st.lists(
    st.one_of(
        st.sampled_from([f"[{ident}]" for ident in IDS]),
        st.sampled_from(["A word", " ", ". ", "\n", "`x[1]`", "[7]", "犬は🙂。", "👩‍👩‍👧"]),
    ),
    max_size=12,
)


def styled(style: str) -> Restyled:
    numbers = Numbers()
    writers = {
        "number": lambda one: f"[{numbers(one.id)}]",
        "id": lambda one: f"[{one.id}]",
        "none": lambda _: "",
    }
    return Restyled(SOURCES, writers[style])


def split_at(text: str, cuts: list[int]) -> list[str]:
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    return [text[start:end] for start, end in pairwise(places)]


@given(PIECES, st.sampled_from(["number", "id", "none"]), st.lists(st.integers(0, 600)))
def test_marks_and_streams(pieces: list[str], style: str, cuts: list[int]) -> None:
    validated = CitationStream(SOURCES, numbered=False).feed("".join(pieces), is_last=True)
    whole = styled(style)
    text = whole.feed(validated) + whole.close()
    numbers = Numbers()
    for mark in whole.marks:
        expected = {"number": f"[{numbers(mark.id)}]", "id": f"[{mark.id}]", "none": ""}[style]
        assert text[mark.start : mark.end] == expected
        assert validated[mark.old_start : mark.old_end] == f"[{mark.id}]"
    assert style != "id" or text == validated
    split = styled(style)
    assert "".join(map(split.feed, split_at(validated, cuts))) + split.close() == text
    assert split.marks == whole.marks


@given(PIECES)
def test_places_in_the_new_text(pieces: list[str]) -> None:
    validated = CitationStream(SOURCES, numbered=False).feed("".join(pieces), is_last=True)
    whole = styled("number")
    text = whole.feed(validated) + whole.close()
    inside = {at for mark in whole.marks for at in range(mark.old_start, mark.old_end)}
    for at, character in enumerate(validated):
        assert at in inside or text[whole.at(at)] == character
    assert whole.at(len(validated)) == len(text)
