"""What every chunking strategy must keep to, whoever wrote it.

To run it over a strategy of yours, install the distribution that offers it: the suite takes every strategy that
is registered, besides one that it installs itself to prove that this works.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import get_args

import pytest
from hypothesis import given
from tests.distributions import offer_strategy
from tests.texts import MARKDOWN, PROSE, options, texts

from whence.chunk import BoundaryType, ChunkingOptions, ChunkingStrategy, strategy

FOREIGN = """
    class WordStrategy:
        name = "word"

        def chunk(self, text, options):
            from whence.chunk import ChunkResult

            found, start, content = [], len(text) - len(text.lstrip()), len(text.rstrip())
            while start < content:
                end = min(start + options.max_chunk_size, content)
                if end < content and not text[end].isspace():
                    end = next((at for at in range(end, start, -1) if text[at - 1].isspace()), end)
                while text[end - 1].isspace():
                    end -= 1
                found.append(
                    ChunkResult(
                        text=text[start:end], start_offset=start, end_offset=end, boundary_type="character"
                    )
                )
                start = end + len(text[end:]) - len(text[end:].lstrip())
            return found
"""


@pytest.fixture(scope="module", params=["character", "sentence", "paragraph", "word", "paragraph of code"])
def chunker(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ChunkingStrategy]:
    site = tmp_path_factory.mktemp("site-packages")
    offer_strategy(site, name="word", value="foreign_chunker:WordStrategy", source=FOREIGN)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(site))
        name, _, kind = request.param.partition(" of ")
        yield strategy(name, code=kind == "code")


class TestChunker:
    def test_has_a_name_and_fits_the_protocol(self, chunker: ChunkingStrategy) -> None:
        assert isinstance(chunker, ChunkingStrategy)
        assert chunker.name == chunker.name.strip().lower()

    @pytest.mark.parametrize("text", ["", " ", "\n\n", "\t\r\n \u2028\u00a0" * 500])
    def test_nothing_comes_from_nothing(self, chunker: ChunkingStrategy, text: str) -> None:
        assert chunker.chunk(text, ChunkingOptions()) == []

    @pytest.mark.parametrize("text", ["x", "One short text.", PROSE, MARKDOWN, "x" * 5000, "é. " * 3000])
    @pytest.mark.parametrize("size", [100, 400, 1200, 10_000])
    def test_real_texts(self, chunker: ChunkingStrategy, text: str, size: int) -> None:
        check(chunker, text, ChunkingOptions(max_chunk_size=size, min_chunk_size=50))

    @given(text=texts(), chosen=options())
    def test_any_text(self, chunker: ChunkingStrategy, text: str, chosen: ChunkingOptions) -> None:
        check(chunker, text, chosen)

    @given(text=texts(), chosen=options())
    def test_a_short_piece_joins_a_neighbour_where_both_fit(
        self, chunker: ChunkingStrategy, text: str, chosen: ChunkingOptions
    ) -> None:
        for before, after in pairwise(chunker.chunk(text, chosen)):
            short = min(len(before.text), len(after.text)) < chosen.min_chunk_size
            fits = after.end_offset - before.start_offset <= chosen.max_chunk_size
            assert not (short and fits) or after.boundary_type == "section"

    @given(text=texts(), chosen=options())
    def test_twice_the_same(self, chunker: ChunkingStrategy, text: str, chosen: ChunkingOptions) -> None:
        assert chunker.chunk(text, chosen) == chunker.chunk(text, chosen)

    @given(text=texts().filter(lambda text: "```" not in text and "~~~" not in text), chosen=options())
    def test_a_chunk_is_one_chunk(
        self, chunker: ChunkingStrategy, text: str, chosen: ChunkingOptions
    ) -> None:
        """Fences aside: a piece of code that was too long for one chunk no longer says that it is code."""
        for chunk in chunker.chunk(text, chosen):
            assert [again.text for again in chunker.chunk(chunk.text, chosen)] == [chunk.text]


def check(chunker: ChunkingStrategy, text: str, chosen: ChunkingOptions) -> None:
    reached = 0
    for chunk in chunker.chunk(text, chosen):
        assert chunk.text == text[chunk.start_offset : chunk.end_offset]
        assert chunk.start_offset >= reached, "chunks overlap or are out of order"
        between = text[reached : chunk.start_offset]
        assert not between or between.isspace(), "text was lost between two chunks"
        assert 0 < len(chunk.text) <= chosen.max_chunk_size
        assert not chunk.text.isspace()
        assert chunk.boundary_type in get_args(BoundaryType)
        reached = chunk.end_offset
    rest = text[reached:]
    assert not rest or rest.isspace(), "text was lost at the end"
