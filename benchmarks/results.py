"""The results of a benchmark beside their targets."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    what: str
    figure: str
    target: str = ""
    met: bool = True
    """True without a target."""


def report(results: Sequence[Result]) -> bool:
    """Whether every target was met."""
    width = max(len(result.what) for result in results)
    for result in results:
        verdict = "MISS" if not result.met else "ok  " if result.target else "    "
        print(f"{verdict} {result.what:{width}}  {result.target:9}  {result.figure}", flush=True)
    return all(result.met for result in results)
