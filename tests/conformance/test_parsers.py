"""What parsing must keep to, for every format: no sentence lost, each on its page, structure for the chunkers."""

import asyncio
import re
from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path

import pytest
from tests.files.every import FileSample, every_format, write_every_format

from whence.chunk import ChunkingOptions, strategy
from whence.parse import Parsed, Parser, detect, page_at

SAMPLES = every_format()
OPTIONS = ChunkingOptions(max_chunk_size=200, min_chunk_size=10)


@pytest.fixture
async def parser() -> AsyncIterator[Parser]:
    async with Parser() as parser:
        yield parser


@pytest.fixture(params=SAMPLES, ids=lambda sample: sample.name)
def sample(request: pytest.FixtureRequest) -> FileSample:
    found: FileSample = request.param
    return found


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Parsed]:
    # The original has no name of its own where it is kept.
    path = tmp_path_factory.mktemp("parse") / "original"

    async def parse() -> dict[str, Parsed]:
        found = {}
        async with Parser() as parser:
            for sample in SAMPLES:
                path.write_bytes(sample.content)
                found[sample.name] = await parser.parse(path, name=sample.name)
        return found

    return asyncio.run(parse())


@pytest.fixture
def parsed(sample: FileSample, everything: dict[str, Parsed]) -> Parsed:
    return everything[sample.name]


def test_the_first_bytes_tell_what_it_is(sample: FileSample) -> None:
    assert detect(sample.name, sample.content[:4096]) == sample.mime


def test_what_it_is(parsed: Parsed, sample: FileSample) -> None:
    assert parsed.mime == sample.mime


def test_every_sentence_comes_out(parsed: Parsed, sample: FileSample) -> None:
    assert [sentence for sentence in sample.sentences if sentence not in parsed.text] == []


def test_texts_come_through_unchanged(parsed: Parsed, sample: FileSample) -> None:
    assert sample.faithful is None or parsed.text == sample.faithful


def test_nothing_else_comes_out(parsed: Parsed) -> None:
    assert not re.search(r"Not part of it|notPartOfIt|margin|[\0\ue000\ufdd0-\ufddf]", parsed.text)


def test_headings_are_headings(parsed: Parsed, sample: FileSample) -> None:
    titles = re.findall(r"^#{1,6} (.*)$", parsed.text, re.MULTILINE)
    assert [heading for heading in sample.headings if heading not in titles] == []


def test_tables_are_tables(parsed: Parsed, sample: FileSample) -> None:
    cells = [
        cell.strip() for row in re.findall(r"^\|.*\|$", parsed.text, re.MULTILINE) for cell in row.split("|")
    ]
    assert [cell for cell in sample.cells if cell not in cells] == []


def test_paragraphs_are_parted_by_blank_lines(parsed: Parsed, sample: FileSample) -> None:
    if sample.name.endswith((".csv", ".json", ".py", ".xlsx")):
        pytest.skip("there are none")
    paragraphs = [paragraph.strip() for paragraph in re.split(r"\r?\n\r?\n", parsed.text)]
    assert [sentence for sentence in sample.sentences if sentence not in paragraphs] == []


def test_sentences_are_on_their_pages(parsed: Parsed, sample: FileSample) -> None:
    assert bool(parsed.pages) == bool(sample.pages)
    for sentence, number in sample.pages.items():
        page = parsed.pages[number - 1]
        assert page.number == number
        assert sentence in parsed.text[page.start : page.end]
        assert page_at(parsed.pages, parsed.text.index(sentence)) == number


def test_pages_are_the_text(parsed: Parsed) -> None:
    assert [page.number for page in parsed.pages] == list(range(1, len(parsed.pages) + 1))
    for page, following in pairwise(parsed.pages):
        assert page.start <= page.end <= following.start
        assert parsed.text[page.end : following.start].strip() == ""
    if parsed.pages:
        assert (parsed.pages[0].start, parsed.pages[-1].end) == (0, len(parsed.text))


def test_chunks_know_their_pages(parsed: Parsed, sample: FileSample) -> None:
    chunks = strategy("paragraph").chunk(parsed.text, OPTIONS)
    assert all(parsed.text[chunk.start_offset : chunk.end_offset] == chunk.text for chunk in chunks)
    for sentence, number in sample.pages.items():
        holding = [chunk for chunk in chunks if sentence in chunk.text]
        assert len(holding) == 1
        assert (page_at(parsed.pages, holding[0].start_offset) or 0) <= number


@pytest.mark.parametrize("name", ["heron", "heron.docx", "heron.pdf", "HERON.JPG", ".", "häron.tar.gz"])
async def test_the_content_counts_not_the_name(parser: Parser, tmp_path: Path, name: str) -> None:
    for sample in write_every_format(tmp_path):
        if sample.faithful is None and not sample.name.endswith((".html", ".eml")):
            parsed = await parser.parse(tmp_path / sample.name, name=name)
            assert parsed.mime == sample.mime, sample.name


async def test_the_same_again(parser: Parser, tmp_path: Path) -> None:
    for sample in write_every_format(tmp_path):
        first, second = [await parser.parse(tmp_path / sample.name, name=sample.name) for _ in range(2)]
        assert first == second, sample.name
