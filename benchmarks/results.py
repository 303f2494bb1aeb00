"""What a benchmark measured beside what was wanted."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    what: str
    figure: str
    target: str
    met: bool


def show(results: Sequence[Result]) -> None:
    width = max(len(result.what) for result in results)
    for result in results:
        print(
            f"{'ok  ' if result.met else 'MISS'} {result.what:{width}}  {result.target:9}  {result.figure}",
            flush=True,
        )


def leave(results: Sequence[Result]) -> None:
    """The exit status says whether every target is met."""
    sys.exit(not all(result.met for result in results))
