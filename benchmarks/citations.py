"""The validator of citations: its speed on prose, and its growth on texts that are made to slow it down.

    python -m benchmarks.citations

Prose has a marker every 200 characters or so. The best of several rounds of CPU time counts. The
exit status says whether every target is met.
"""

import argparse
import sys
import time
from collections.abc import Callable
from itertools import cycle, islice

from whence.chat.citations import CitationStream, validate
from whence.chat.passages import Passage

SPEED = 50.0  # MB/s of answer text
GROWTH = 11.0  # times the time for ten times the text
TOKEN = 5  # characters in a token of a stream

SENTENCE = (
    "The committee met in the spring of that year and agreed, after some debate, that the bridge over the river"
    " would be rebuilt in stone, and that the cost would be borne by the three towns on its northern bank"
)
PASSAGES = [
    Passage(id=f"0190a1b2-7c3d-7e4f-8a5b-{number:012}", text=f"{SENTENCE}, as item {number} says.")
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
    "indexes": lambda size: "a[1]" * (size // 4),
    "unknown ids": lambda size: "[deadbeef-0000-7000-8000-000000000000]" * (size // 38),
    "back ticks": lambda size: "`" * size,
    "back ticks apart": lambda size: "` `` ``` ```` " * (size // 14),
    "fences": lambda size: "```\n" * (size // 4),
    "an open fence": lambda size: "```\n" + "[1]\n" * (size // 4),
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


def seconds(work: Callable[[str], None], text: str, rounds: int) -> float:
    best = float("inf")
    for _ in range(rounds):
        started = time.process_time()
        work(text)
        best = min(best, time.process_time() - started)
    return max(best, 1e-9)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--size", type=int, default=1_000_000, help="characters of the smaller hostile texts")
    arguments = parser.parse_args()
    rounds, size = arguments.rounds, arguments.size

    is_met = True
    text = prose(10_000_000)
    speed = len(text) / seconds(at_once, text, rounds) / 1e6
    is_met &= speed >= SPEED
    print(
        f"{'prose, at once':34}{speed:>9.1f} MB/s (wanted {SPEED:.0f}){'' if speed >= SPEED else '  MISSED'}"
    )
    some_unknown = prose(10_000_000, last=99)
    speed = len(some_unknown) / seconds(at_once, some_unknown, rounds) / 1e6
    print(f"{'one marker in ten unknown':34}{speed:>9.1f} MB/s")
    streamed = text[:1_000_000]
    speed = len(streamed) / seconds(in_tokens, streamed, rounds) / 1e6
    print(f"{f'prose, {TOKEN} characters at a time':34}{speed:>9.1f} MB/s")

    print(
        f"\n{'':34}{f'{size / 1e6:g} MB':>11}{f'{size / 1e5:g} MB':>11}{'growth':>9} (wanted at most {GROWTH:.0f})"
    )
    for name, make in {"prose": prose, **HOSTILE}.items():
        small, large = (seconds(at_once, make(length), rounds) for length in (size, 10 * size))
        growth = large / small
        missed = growth > GROWTH and large > 0.1  # below that, the clock's steps are what is measured
        is_met &= not missed
        print(f"{name:34}{small:>9.3f} s{large:>9.3f} s{growth:>9.1f}{'  MISSED' if missed else ''}")
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
