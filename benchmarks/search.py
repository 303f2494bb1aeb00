"""How good search is, and what it and chat cost: `make bench-search` measures all of it.

Quality: see `benchmarks/retrieval.py`; misspelt questions: `benchmarks/typos.py`. Speed: `benchmarks/speed.py`, on made-up chunks;
vector stores beside it: `benchmarks/beside.py`. Chat, the validator of citations and
their support: `benchmarks/chat.py`, `benchmarks/citations.py` and `benchmarks/support.py`.
"""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks import beside, chat, citations, plot, speed, support, typos
from benchmarks.peers import STORES
from benchmarks.results import Result, report
from benchmarks.retrieval import DATA, Brief, Quality, quality

from whence.app import App
from whence.settings import Settings

PARTS = (
    "quality",
    "typos",
    "projects",
    "sizes",
    "growth",
    "workers",
    "peers",
    "chat",
    "citations",
    "support",
)
Part = Callable[[], list[Result]]
GROWING = (10_000, 100_000, 1_000_000)


def goodness(folder: Path) -> list[Result]:
    async def work(data: str) -> tuple[list[Quality], list[Quality], list[Brief], list[Brief]]:
        async with App.open(Settings(data_dir=Path(data))) as app:
            return await quality(app, folder)

    with tempfile.TemporaryDirectory() as data:
        qualities, in_letters, *briefs = asyncio.run(work(data))
    for what, found in ("questions", qualities), ("in letters", in_letters):
        print(f"{what:10} recall@5  hit rate@5  false empties  false finds")
        for one in found:
            print(
                f"{one.mode:10} {one.recall:8.1%}  {one.hit_rate:10.1%}  {one.empty:13.1%}  {one.false_finds:11.1%}"
            )
    for what, some in zip(("short", "spanish"), briefs, strict=True):
        print(f"{what:10} false empties  false finds")
        for brief in some:
            print(
                f"{brief.mode:10} {brief.empty:6} of {brief.about_something:3}  {brief.found:5} of {brief.about_nothing:3}"
            )
    sets = ("English", qualities), ("in letters", in_letters), ("Spanish", briefs[1])
    return [result for name, found in sets for result in _beside_legs(name, found)]


def _beside_legs(name: str, found: Sequence[Quality | Brief]) -> list[Result]:
    """Both legs together have to find more than each alone, on every set."""
    *legs, hybrid = found
    return [
        Result(
            what=f"{name}: recall@5 of hybrid above that of {leg.mode}",
            figure=f"{100 * (hybrid.recall - leg.recall):+.1f} points ({hybrid.recall:.1%} against {leg.recall:.1%})",
            target="> 0",
            met=hybrid.recall > leg.recall,
        )
        for leg in legs
    ]


def growth(options: argparse.Namespace) -> list[Result]:
    """A million vectors of few dimensions: the index of more takes an hour to make on two cores."""
    results, medians = speed.sizes(GROWING, options.rounds, dimensions=options.dimensions)
    print(plot.in_text(medians))
    if options.plot:
        plot.write_svg(medians, options.plot)
    return results


def _parts(given: str) -> list[str]:
    chosen = given.split(",")
    unknown = [name for name in chosen if name not in PARTS]
    if unknown:
        raise argparse.ArgumentTypeError(f"there is no {', '.join(unknown)}")
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--million", action="store_true", help="growth up to 1,000,000 chunks as well")
    parser.add_argument("--dimensions", type=int, default=64, help="of the vectors, for --million")
    parser.add_argument("--plot", type=Path, help="where to write the plot of --million")
    parser.add_argument(
        "--first", action="store_true", help="run peers before other processes, with pauses; needs root"
    )
    parser.add_argument("--stores", nargs="+", choices=[*STORES], default=[*STORES], help="the peers")
    parser.add_argument(
        "--keep", type=Path, help="folder in which peers keep what they loaded, for the next run"
    )
    parser.add_argument(
        "--data", type=Path, default=DATA, help="the folder with questions.jsonl and corpora/"
    )
    parser.add_argument("--only", type=_parts, help=f"comma-separated: {', '.join(PARTS)}")
    options = parser.parse_args()
    parts: dict[str, Part] = {
        "quality": lambda: goodness(options.data),
        "typos": lambda: typos.results(options.data),
        "projects": lambda: speed.projects(options.rounds),
        "sizes": lambda: speed.sizes(options.sizes, options.rounds)[0],
        "growth": lambda: growth(options),
        "workers": lambda: speed.workers(options.sizes[0], options.rounds),
        "peers": lambda: beside.peers_in_turns(
            options.sizes[-1], options.rounds, first=options.first, keep=options.keep, names=options.stores
        ),
        "chat": lambda: chat.results(options.data),
        "citations": citations.results,
        "support": lambda: support.results(options.data.parent),
    }
    left_out = {"peers"} if options.million else {"growth", "peers"}
    chosen = options.only or [name for name in PARTS if name not in left_out]
    if (
        not {"quality", "typos", "chat", "support"}.isdisjoint(chosen)
        and not (options.data / "questions.jsonl").exists()
    ):
        sys.exit(
            f"There are no questions in {options.data}: see benchmarks/retrieval.py. --only does without."
        )
    met = [report(parts[name]()) for name in chosen]
    sys.exit(not all(met))


if __name__ == "__main__":
    main()
