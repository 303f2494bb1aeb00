import json

import pytest
from tests.texts import MARKDOWN, PROSE

from whence.api.chunking import PreviewAnswer
from whence.chunk import ChunkingOptions, chunk_metadata, strategy

OPTIONS = ChunkingOptions(max_chunk_size=100, min_chunk_size=10)


def test_the_summary() -> None:
    shown = PreviewAnswer.preview("A sentence of thirty letters. " * 4, strategy("sentence"), OPTIONS)
    summary = shown.summary
    assert (summary.count, summary.min_size, summary.median_size, summary.max_size) == (2, 29, 59, 89)
    assert summary.sentence_end_share == 1.0
    assert isinstance(summary.median_size, float), "of whole and of broken numbers alike"


def test_fixed_cuts_seldom_end_sentences() -> None:
    shares = {
        name: PreviewAnswer.preview(PROSE, strategy(name), OPTIONS).summary.sentence_end_share
        for name in ("character", "sentence")
    }
    assert shares["sentence"] == 1.0
    assert (shares["character"] or 0) < 0.2


@pytest.mark.parametrize("text", ["", "  \n", "One."])
def test_without_a_cut_there_is_no_share(text: str) -> None:
    shown = PreviewAnswer.preview(text, strategy("paragraph"), OPTIONS)
    assert shown.summary.sentence_end_share is None
    assert shown.summary.count == len(shown.chunks)
    assert shown.summary.max_size == len(text.strip())


def test_json() -> None:
    shown = PreviewAnswer.preview("# A\n\nOne.", strategy("paragraph"), OPTIONS).as_json()
    assert json.loads(json.dumps(shown)) == {
        "chunkingStrategy": "paragraph",
        "chunkingOptions": {"maxChunkSize": 100, "minChunkSize": 10},
        "chunks": [
            {
                "index": 0,
                "text": "# A\n\nOne.",
                "startOffset": 0,
                "endOffset": 9,
                "size": 9,
                "boundaryType": "section",
                "headings": ["A"],
            }
        ],
        "summary": {
            "count": 1,
            "minSize": 9,
            "medianSize": 9,
            "maxSize": 9,
            "sentenceEndShare": None,
            "truncated": False,
        },
    }


def test_metadata_has_the_same_keys_for_every_strategy() -> None:
    keys = {
        tuple(chunk_metadata(chunk, strategy=name))
        for name in ("character", "sentence", "paragraph")
        for chunk in strategy(name).chunk(MARKDOWN, OPTIONS)
    }
    assert keys == {
        (
            "strategy",
            "startOffset",
            "endOffset",
            "boundaryType",
            "headings",
            "source_page",
            "char_offset",
            "token_count",
        )
    }


def test_metadata_values() -> None:
    chunk = strategy("paragraph").chunk("# A\n\nOne.", OPTIONS)[0]
    assert chunk_metadata(chunk, strategy="paragraph", source_page=2, token_count=5) == {
        "strategy": "paragraph",
        "startOffset": 0,
        "endOffset": 9,
        "boundaryType": "section",
        "headings": ["A"],
        "source_page": 2,
        "char_offset": 0,
        "token_count": 5,
    }
