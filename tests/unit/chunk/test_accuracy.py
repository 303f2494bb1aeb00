"""How well the sentence rule does on real prose that others have segmented by hand."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from whence.chunk import ChunkingOptions, SentenceStrategy, sentences

DATA = Path(__file__).parents[3].parent / "shared" / "data" / "sentences" / "ewt_dev.json"

pytestmark = pytest.mark.skipif(
    not DATA.exists(), reason="needs ../shared/data/sentences (UD English-EWT): see docs/benchmarks.md"
)


@pytest.fixture(scope="module")
def documents() -> Any:
    return json.loads(DATA.read_text(encoding="utf-8"))


def f1(documents: Any, *, between: str = "\n\n", inner_only: bool = False) -> float:
    right = found = wanted = 0
    for document in documents:
        text: str = document["text"].replace("\n\n", between)
        last = len(text.rstrip()) if inner_only else -1
        true = set(document["sentence_ends"]) - {last}
        ours = {one.end_offset for one in sentences(text)} - {last}
        right, found, wanted = right + len(true & ours), found + len(ours), wanted + len(true)
    return 200 * right / (found + wanted)


def _wrapped(text: str, width: int) -> str:
    """Lines of at most the width where words allow it; every offset stays."""
    return re.sub(rf"(?=[^\n]{{{width + 1}}})([^\n]{{1,{width}}}) ", r"\1\n", text)


@pytest.mark.parametrize("inner_only", [False, True], ids=["all ends", "without the ends of texts"])
def test_sentence_ends_with_blank_lines(documents: Any, *, inner_only: bool) -> None:
    assert f1(documents, inner_only=inner_only) >= 91.0


def test_sentence_ends_with_single_line_feeds(documents: Any) -> None:
    assert f1(documents, between=" \n") >= 91.0


@pytest.mark.parametrize("width", [50, 72, 100])
def test_wrapping_lines_changes_little(documents: Any, width: int) -> None:
    wrapped = [{**one, "text": _wrapped(one["text"], width)} for one in documents]
    assert f1(wrapped) >= f1(documents) - 0.2


def test_sentence_ends_without_blank_lines(documents: Any) -> None:
    assert f1(documents, between="  ") >= 87.0


def test_cuts_at_400_characters_are_sentence_ends(documents: Any) -> None:
    options = ChunkingOptions(max_chunk_size=400)
    right = cuts = 0
    for document in documents:
        chunks = SentenceStrategy().chunk(document["text"], options)
        ends = set(document["sentence_ends"])
        right += sum(chunk.end_offset in ends for chunk in chunks[:-1])
        cuts += len(chunks) - 1
    assert cuts > 200
    assert right / cuts >= 0.98
