"""What each strategy makes of a text, beyond what every one of them must keep to."""

import re
from collections.abc import Callable, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.texts import PROSE, options, texts

from whence.chunk import CharacterStrategy, ChunkingOptions, ChunkResult, SentenceStrategy, sentences
from whence.chunk.boundaries import line_feeds
from whence.chunk.graphemes import first_content, is_inside

SMALL = ChunkingOptions(max_chunk_size=100, min_chunk_size=10)


class TestCharacter:
    @given(texts(), options())
    def test_cuts_are_where_they_have_always_been(self, text: str, chosen: ChunkingOptions) -> None:
        size = chosen.max_chunk_size
        pieces = [text[start : start + size] for start in range(0, len(text), size)]
        found = CharacterStrategy().chunk(text, chosen)
        assert [chunk.text for chunk in found] == [piece for piece in pieces if piece.strip()]

    def test_offsets_count_code_points(self) -> None:
        found = CharacterStrategy().chunk("漢字👍é" * 60, SMALL)
        assert [(one.start_offset, one.end_offset) for one in found] == [(0, 100), (100, 200), (200, 240)]
        assert {one.boundary_type for one in found} == {"character"}


def reference(text: str, chosen: ChunkingOptions) -> list[tuple[int, int, str]]:
    """Segment everything, then pack: slow and plain."""
    size, shortest = chosen.max_chunk_size, chosen.min_chunk_size
    ends = [one.end_offset for one in sentences(text)]
    pieces: list[tuple[int, int, str]] = []
    start, kind = first_content(text, 0), "sentence"
    while start < len(text.rstrip()):
        fitting = [end for end in ends if start < end <= start + size]
        places = range(start + 1, min(start + size, len(text) - 1) + 1)
        lines = [at for at in places if line_feeds(text)[at] == "\n"]
        spaces = [at for at in places if text[at].isspace()]
        letters = [at for at in places if not is_inside(text, at, start)]
        cut = max(lines or spaces or letters, default=start + size)
        end = fitting[-1] if fitting else len(text[:cut].rstrip())
        pieces.append((start, end, kind))
        start, kind = first_content(text, end), "sentence" if fitting else "character"
    merged: list[tuple[int, int, str]] = []
    for piece in pieces:
        if merged:
            last = merged[-1]
            if min(last[1] - last[0], piece[1] - piece[0]) < shortest and piece[1] - last[0] <= size:
                merged[-1] = (last[0], piece[1], last[2])
                continue
        merged.append(piece)
    return merged


def spans(chunks: Iterable[ChunkResult]) -> list[tuple[int, int, str]]:
    return [(chunk.start_offset, chunk.end_offset, chunk.boundary_type) for chunk in chunks]


class TestSentence:
    @given(texts(), options())
    def test_looking_back_packs_like_segmenting_everything(self, text: str, chosen: ChunkingOptions) -> None:
        assert spans(SentenceStrategy().chunk(text, chosen)) == reference(text, chosen)

    def test_real_prose_packs_the_same(self) -> None:
        chosen = ChunkingOptions(max_chunk_size=400)
        assert spans(SentenceStrategy().chunk(PROSE, chosen)) == reference(PROSE, chosen)

    def test_whole_sentences_up_to_the_maximum(self) -> None:
        found = SentenceStrategy().chunk("A sentence of thirty letters. " * 8, SMALL)
        assert {len(one.text) for one in found} == {89, 59}
        assert all(one.text.endswith("letters.") for one in found)
        assert {one.boundary_type for one in found} == {"sentence"}

    def test_a_title_is_not_parted_from_the_name(self) -> None:
        """emergent's chunker cut "Dr. Smith" after "Dr."."""
        text = "x" * 88 + ". He saw Dr. Smith again."
        assert [one.text for one in SentenceStrategy().chunk(text, SMALL)] == [
            "x" * 88 + ".",
            "He saw Dr. Smith again.",
        ]

    def test_a_short_piece_before_a_big_neighbour_is_kept(self) -> None:
        """emergent's chunker overwrote it."""
        text = "Short. " + "y" * 98 + ". End."
        assert [one.text for one in SentenceStrategy().chunk(text, SMALL)] == [
            "Short.",
            "y" * 98 + ".",
            "End.",
        ]

    def test_a_sentence_over_the_maximum_is_cut_at_it(self) -> None:
        found = SentenceStrategy().chunk("First. " + "z" * 250 + " end. Last.", SMALL)
        assert [(len(one.text), one.boundary_type) for one in found] == [
            (6, "sentence"),
            (100, "sentence"),
            (100, "character"),
            (61, "character"),
        ]

    def test_a_sentence_over_the_maximum_is_cut_at_a_line_end_before_white_space(self) -> None:
        found = SentenceStrategy().chunk("some words of it\n" * 4 + "and more " * 20, SMALL)
        assert [(one.text[-8:], one.boundary_type) for one in found] == [
            ("ds of it", "sentence"),
            ("and more", "character"),
            ("and more", "character"),
        ]

    def test_an_end_before_the_last_character(self) -> None:
        text = "終" * 99 + "。x"
        assert [one.text for one in SentenceStrategy().chunk(text, SMALL)] == ["終" * 99 + "。", "x"]

    def test_a_cut_never_tears_a_cluster(self) -> None:
        text = "👩‍👩‍👧‍👦" * 60
        found = SentenceStrategy().chunk(text, SMALL)
        assert all(len(one.text) == 98 for one in found[:-1])
        assert "".join(one.text for one in found) == text

    def test_a_short_piece_joins_across_a_gap(self) -> None:
        text = "Before. x" + " " * 200 + "y."
        assert [one.text for one in SentenceStrategy().chunk(text, SMALL)] == ["Before. x", "y."]

    @pytest.mark.parametrize(
        "rule", [re.compile(";"), lambda text: [at + 1 for at, c in enumerate(text) if c == ";"]]
    )
    def test_the_rule_can_be_overridden(self, rule: re.Pattern[str] | Callable[[str], list[int]]) -> None:
        text = "one two three. four five; " * 10
        found = SentenceStrategy(rule).chunk(text, SMALL)
        assert len(found) == 4
        assert all(one.text.endswith(";") for one in found)

    @given(texts(), options(), st.lists(st.integers(-5, 600), max_size=40))
    def test_any_rule_keeps_the_text(self, text: str, chosen: ChunkingOptions, ends: list[int]) -> None:
        found = SentenceStrategy(lambda _: ends).chunk(text, chosen)
        assert "".join("".join(one.text.split()) for one in found) == "".join(text.split())
        assert all(len(one.text) <= chosen.max_chunk_size for one in found)

    def test_non_ascii_offsets(self) -> None:
        """langextract#201, #289, #334: wrong offsets for Chinese and other texts."""
        text = "今天天气很好。" * 40
        found = SentenceStrategy().chunk(text, SMALL)
        assert [text[one.start_offset : one.end_offset] for one in found] == [one.text for one in found]
        assert {len(one.text) for one in found} == {98, 84}
