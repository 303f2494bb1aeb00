"""The validator of citations: its speed on prose, and its growth on texts that are made to slow it down.

    python -m benchmarks.citations

Prose has a marker every 200 characters or so. CPU time counts: the best of several rounds for speed, and for growth the
median of the ratios. The exit status says whether every target is met.
"""

import argparse
import gc
import statistics
import sys
import time
from collections.abc import Callable
from itertools import cycle, islice

from benchmarks.results import Result, report

from whence.chat.citing import CitationStream, validate
from whence.chat.sources import Source

SPEED = 50.0  # MB/s of answer text
GROWTH = 11.0  # times the time for ten times the text
GROWTH_SECONDS = 5.0  # of CPU, at least
MEASURABLE = 0.1  # seconds; below that, the clock is too coarse
PROSE = 10_000_000  # characters
TOKEN = 5  # characters in a token of a stream

SENTENCE = (
    "The committee met in the spring of that year and agreed, after some debate, that the bridge over the river"
    " would be rebuilt in stone, and that the cost would be borne by the three towns on its northern bank"
)
PASSAGES = [
    Source(id=f"0190a1b2-7c3d-7e4f-8a5b-{number:012}", text=f"{SENTENCE}, as item {number} says.")
    for number in range(1, 21)
]

HOSTILE: dict[str, Callable[[int], str]] = {
    "opening brackets": lambda size: "[" * size,
    "nested brackets": lambda size: "[" * (size // 2) + "]" * (size // 2),
    "nested numbers": lambda size: "[1" * (size // 2),
    "a long number": lambda size: "[" + "1" * size + "]",
    "long numbers": lambda size: f"[{'1' * 395}]" * (size // 397),
    "blanks in brackets": lambda size: f"[{' ' * 300}1" * (size // 302),
    "unknown markers": lambda size: "[99]" * (size // 4),
    "known markers": lambda size: "[1]" * (size // 3),
    "wide ranges": lambda size: "[1-999] " * (size // 8),
    "blanks before markers": lambda size: f"{' ' * 100}[99]" * (size // 104),
    "commas before markers": lambda size: ", [99]" * (size // 6),
    "items of nothing": lambda size: "\n- [99]" * (size // 7),
    "indexes": lambda size: "a[1]" * (size // 4),
    "markers behind words": lambda size: "kiln[1] " * (size // 8),
    "operators behind markers": lambda size: "kiln[1] - kiln" * (size // 14),
    "names of files": lambda size: f"[1, {'a.bc ' * 18}] " * (size // 96),
    "links": lambda size: f"[1]({'a(b)' * 20} " * (size // 85),
    "unknown ids": lambda size: "[deadbeef-0000-7000-8000-000000000000]" * (size // 38),
    "back ticks": lambda size: "`" * size,
    "back ticks apart": lambda size: "` `` ``` ```` " * (size // 14),
    "fences": lambda size: "```\n" * (size // 4),
    "an open fence": lambda size: "```\n" + "[1]\n" * (size // 4),
    "indented lines": lambda size: "a\n\n    x [1]\n" * (size // 15),
    "items with more below": lambda size: "- a\n\n    x [1]\n" * (size // 17),
    "emphasised markers": lambda size: "**[99]** " * (size // 9),
    "openings before markers": lambda size: '(“*"[99] ' * (size // 9),
    "words before markers": lambda size: "and [99] " * (size // 9),
    "tildes": lambda size: "~ " * (size // 2),
    "backslashes": lambda size: "\\" * size + "`",
}


def prose(size: int, *, last: int = 10) -> str:
    numbers = cycle([*range(1, 10), last])
    count = size // (len(SENTENCE) + 7) + 1
    return " ".join(f"{SENTENCE} [{number}]." for number in islice(numbers, count))[:size]


def at_once(text: str) -> None:
    validate(text, PASSAGES)


def in_tokens(text: str) -> None:
    stream = CitationStream(PASSAGES)
    for start in range(0, len(text), TOKEN):
        stream.feed(text[start : start + TOKEN])
    stream.close()


def seconds(work: Callable[[str], None], *texts: str) -> float:
    """Without the garbage collector, as `timeit` does: a collection visits all live objects, also those of others."""
    gc.disable()
    started = time.process_time()
    for text in texts:
        work(text)
    taken = time.process_time() - started
    gc.enable()
    return max(taken, 1e-9)


def best(work: Callable[[str], None], text: str, rounds: int) -> float:
    return min(seconds(work, text) for _ in range(rounds))


def results(rounds: int = 3, size: int = 100_000) -> list[Result]:
    text, some_unknown = prose(PROSE), prose(PROSE, last=99)
    found = [
        _fast("prose, at once", text, rounds),
        _fast("prose, one marker in ten unknown", some_unknown, rounds),
    ]
    streamed = text[: PROSE // 10]
    speed = len(streamed) / best(in_tokens, streamed, rounds) / 1e6
    print(f"     prose, {TOKEN} characters at a time: {speed:.1f} MB/s")
    return [*found, *(_grows(name, make, rounds, size) for name, make in {"prose": prose, **HOSTILE}.items())]


def _fast(what: str, text: str, rounds: int) -> Result:
    speed = len(text) / best(at_once, text, rounds) / 1e6
    return Result(
        what=f"citations, {what}",
        figure=f"{speed:.1f} MB/s",
        target=f">= {SPEED:.0f} MB/s",
        met=speed >= SPEED,
    )


def _grows(name: str, make: Callable[[int], str], rounds: int, size: int) -> Result:
    """One text against ten of a tenth, in turn, and the median: so noise and the processor's cache weigh the same."""
    parts, whole = [make(size) for _ in range(10)], make(10 * size)
    ratios: list[float] = []
    large = spent = 0.0
    while len(ratios) < rounds or spent < GROWTH_SECONDS:
        small, large = seconds(at_once, *parts), seconds(at_once, whole)
        ratios.append(10 * large / small)
        spent += small + large
    growth = statistics.median(ratios)
    unsure = ", too short to judge" if large <= MEASURABLE else ""
    return Result(
        what=f"citations, ten times as much of {name}",
        figure=f"{growth:.1f} x as long ({large:.3f} s for {size / 1e5:g} MB{unsure})",
        target=f"<= {GROWTH:.0f} x",
        met=growth <= GROWTH or large <= MEASURABLE,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--size", type=int, default=100_000, help="characters of the smaller texts")
    options = parser.parse_args()
    sys.exit(not report(results(options.rounds, options.size)))


if __name__ == "__main__":
    main()
