"""Work grows with the text and no faster, whatever the text. Counted, not timed.

Two things are counted: calls (of Python and C functions alike), and the characters that patterns pass over, which
calls do not show.
"""

import re
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from whence.chunk import ChunkingOptions, boundaries, markdown, sentences, strategy
from whence.chunk import graphemes as graphemes_module

HOSTILE: dict[str, Callable[[int], str]] = {
    "no spaces": lambda size: "x" * size,
    "only dots": lambda size: "." * size,
    "dots and spaces": lambda size: ". " * (size // 2),
    "one line": lambda size: "word and more, " * (size // 15),
    "newlines": lambda size: "\n" * size + "x",
    "newlines around": lambda size: "x" + "\n" * size + "x",
    "spaces": lambda size: "x" + " " * size + ".\n\n",
    "lines of nothing": lambda size: " \n" * (size // 2) + "x",
    "nested quotes": lambda size: "\"'(“" * (size // 8) + ".)”'\"" * (size // 10),
    "closing": lambda size: "." + ")" * size,
    "initials": lambda size: "J. " * (size // 3),
    "abbreviations": lambda size: "Dr. " * (size // 4),
    "list": lambda size: "- \n" * (size // 3),
    "marks": lambda size: "e" + "\u0301" * size,
    "joiners": lambda size: "👩‍" * (size // 2),
    "flags": lambda size: "🇩" * size,
    "viramas": lambda size: "क्" * (size // 2),
    "full stops": lambda size: "。" * size,
    "closed full stops": lambda size: "。」" * (size // 2),
    "footnotes": lambda size: ". [1]" * (size // 5),
    "short lines": lambda size: "A line\n" * (size // 7),
    "open quotes": lambda size: "「。" * (size // 2),
    "questions": lambda size: "α; Α" * (size // 4),
    "headers": lambda size: "# \n" * (size // 3),
    "deeper headers": lambda size: "# a\n## b\n### c\n" * (size // 15),
    "hashes": lambda size: "#" * size,
    "fences": lambda size: "```\n" * (size // 4),
    "fences in items": lambda size: "- ```x\n" * (size // 7),
    "indented fences": lambda size: "    ```x\n" * (size // 9),
    "indented fences of many kinds": lambda size: "    ```\n    ~~~~ x\n   ```\n\n" * (size // 31),
    "indents": lambda size: ("\n" + " " * 99) * (size // 100) + "x",
    "ticks": lambda size: "`" * size,
    "rules": lambda size: "x\n---\n" * (size // 6),
    "dashes": lambda size: "-" * size + "x",
    "pipes": lambda size: "|" * size,
    "rows": lambda size: "| \n" * (size // 3),
    "almost a rule": lambda size: "|\n|" + "-" * size + "x",
    "almost a rule of spaces": lambda size: "a|\n|" + " " * size + "x",
    "front matter": lambda size: "---\n" + "a: b\n" * (size // 5),
    "underlines": lambda size: "a\n\n" + "=" * size + " x",
    "titles": lambda size: "a\nb\nc\n==\n" * (size // 9),
    "titles of many lines": lambda size: "a\n" * (size // 2) + "===",
    "carriage returns": lambda size: "\r" * size + "x",
}


class Counting:
    """A compiled pattern that adds up how far its matches and its searches go."""

    def __init__(self, pattern: re.Pattern[str], tally: list[int]) -> None:
        self._pattern = pattern
        self._tally = tally

    def match(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        found = self._pattern.match(text, start, end)
        backwards = self._pattern is BACKWARD
        reached = found.end() if found else start
        self._tally[0] += 1 + (min(end, len(text)) - reached if backwards else reached - start)
        return found

    def search(self, text: str, start: int = 0) -> re.Match[str] | None:
        found = self._pattern.search(text, start)
        self._tally[0] += (found.end() if found else len(text)) - start
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pattern, name)


BACKWARD = boundaries._BACKWARD


@pytest.fixture
def passed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    tally = [0]
    for module in (boundaries, graphemes_module, markdown):
        for name, value in vars(module).copy().items():
            if isinstance(value, re.Pattern):
                monkeypatch.setattr(module, name, Counting(value, tally))
    return tally


def work(action: Callable[[], object], passed: list[int]) -> int:
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in {"call", "c_call"}

    passed[0] = 0
    sys.setprofile(count)
    try:
        action()
    finally:
        sys.setprofile(None)
    return calls + passed[0]


@pytest.mark.parametrize("name", ["sentence", "paragraph"])
@pytest.mark.parametrize("kind", HOSTILE)
class TestChunking:
    def test_ten_times_the_text_is_ten_times_the_work(self, kind: str, name: str, passed: list[int]) -> None:
        chunker, options = strategy(name), ChunkingOptions(max_chunk_size=500)
        small, large = HOSTILE[kind](10_000), HOSTILE[kind](100_000)
        once = work(lambda: chunker.chunk(small, options), passed)
        assert work(lambda: chunker.chunk(large, options), passed) <= 11 * once

    def test_larger_chunks_are_no_more_work(self, kind: str, name: str, passed: list[int]) -> None:
        chunker, text = strategy(name), HOSTILE[kind](50_000)
        small, large = ChunkingOptions(max_chunk_size=500), ChunkingOptions(max_chunk_size=5000)
        once = work(lambda: chunker.chunk(text, small), passed)
        assert work(lambda: chunker.chunk(text, large), passed) <= 2 * once


@pytest.mark.parametrize("kind", HOSTILE)
def test_sentences_too(kind: str, passed: list[int]) -> None:
    small, large = HOSTILE[kind](10_000), HOSTILE[kind](100_000)
    once = work(lambda: sentences(small), passed)
    assert work(lambda: sentences(large), passed) <= 11 * once + 100
