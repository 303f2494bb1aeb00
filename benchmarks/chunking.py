"""Chunkers side by side: ours, bare loops, and the libraries people use.

Run it by `make bench-chunking`, which installs the peers into .bench-venv. Every contestant gets the same texts in
the same process; rounds are interleaved and the best CPU time of each counts, so that a busy machine disturbs as
little as possible. A document is cut once, when it comes in, so everybody gets a new copy of the texts in each round:
CPython keeps a string's UTF-8 form once somebody has asked for it, and with the same strings again the peers in Rust
would from the second round on be spared a fifth of what a document costs them. `--same` measures just that.
A peer that is slow gets only the beginning of the texts (its share is shown): that flatters it, where its cost grows
faster than the text.

The texts are built from ../shared/data (see docs/benchmarks.md for where it comes from), the same on every run.
The exit status says whether every target is met.
"""

import argparse
import json
import random
import re
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from whence.chunk import (
    CharacterStrategy,
    ChunkingOptions,
    ChunkingStrategy,
    ParagraphStrategy,
    SentenceStrategy,
    sentences,
)

DATA = Path(__file__).parents[1].parent / "shared" / "data"
SIZE = 1200
MANY, LARGE = 4_000_000, 3_000_000
DOCUMENT = 20_000
GROWTH = 11.0  # times the time for ten times the text
PATIENCE = 2.0  # seconds of CPU that a contestant may take for one round
QUICK, QUICK_ROUNDS = 0.1, 6  # seconds of CPU, and how many times as many rounds for who takes less
SIZE_ROUNDS = 15
GROWTH_ROUNDS, GROWTH_SECONDS = 9, 5.0  # both at least
BARE = re.compile(r'[.!?]+["\')\]]*(?=\s)')

Work = Callable[[str], object]


@dataclass(slots=True)
class Contestant:
    name: str
    work: Work
    kind: str  # which table it belongs to
    is_peer: bool = False
    rates: dict[str, float] = field(default_factory=dict)  # MB/s by text set
    shares: dict[str, float] = field(default_factory=dict)  # how much of the set it got


# Texts


def paragraphs() -> list[str]:
    """Prose only: speeches, encyclopaedia articles, mails, reviews and weblogs."""
    found = [
        paragraph
        for name in ("state_of_the_union.md", "wikitexts.md")
        for paragraph in (DATA / "retrieval" / "corpora" / name).read_text(encoding="utf-8").split("\n")
        if paragraph.strip()
    ]
    documents = json.loads((DATA / "sentences" / "ewt_dev.json").read_text(encoding="utf-8"))
    return found + [document["text"] for document in documents]


def prose(size: int, seed: int, *, headers: bool = False) -> str:
    order = random.Random(seed)
    source, parts, reached = paragraphs(), [], 0
    while reached < size:
        order.shuffle(source)
        for number, paragraph in enumerate(source):
            part = (
                f"{'#' * (1 + number % 3)} Part {number}\n\n{paragraph}"
                if headers and number % 4 == 0
                else paragraph
            )
            parts.append(part)
            reached += len(part) + 2
    return "\n\n".join(parts)[:size]


def text_sets() -> dict[str, list[str]]:
    many, marked = prose(MANY, seed=1), prose(MANY, seed=2, headers=True)
    return {
        "many": [many[start : start + DOCUMENT] for start in range(0, MANY, DOCUMENT)],
        "large": [prose(LARGE, seed=3)],
        "many, with headers": [marked[start : start + DOCUMENT] for start in range(0, MANY, DOCUMENT)],
        "large, with headers": [prose(LARGE, seed=4, headers=True)],
    }


# Contestants


def ours() -> Iterator[Contestant]:
    options = ChunkingOptions(max_chunk_size=SIZE)

    def cut(strategy: ChunkingStrategy) -> Work:
        return lambda text: strategy.chunk(text, options)

    yield Contestant("whence sentence", cut(SentenceStrategy()), "sentence")
    yield Contestant("whence paragraph", cut(ParagraphStrategy()), "paragraph")
    yield Contestant("whence character", cut(CharacterStrategy()), "character")
    yield Contestant("whence sentences()", sentences, "segment")
    yield Contestant("bare re.finditer", lambda text: sum(1 for _ in BARE.finditer(text)), "sentence")
    yield Contestant(
        "bare slicing loop",
        lambda text: [text[start : start + SIZE] for start in range(0, len(text), SIZE)],
        "character",
    )


def peers() -> Iterator[Contestant]:
    langchain = import_module("langchain_text_splitters")
    recursive = langchain.RecursiveCharacterTextSplitter(
        chunk_size=SIZE, chunk_overlap=0, add_start_index=True
    )
    yield Contestant(
        "langchain Recursive", lambda text: recursive.create_documents([text]), "sentence", is_peer=True
    )
    levels = [("#" * level, f"h{level}") for level in range(1, 7)]
    by_header = langchain.MarkdownHeaderTextSplitter(levels)
    yield Contestant("langchain MarkdownHeader", by_header.split_text, "paragraph", is_peer=True)

    chonkie: Any = import_module("chonkie")
    sentence = chonkie.SentenceChunker(tokenizer="character", chunk_size=SIZE, chunk_overlap=0)
    yield Contestant("chonkie Sentence", sentence.chunk, "sentence", is_peer=True)
    chonkie_recursive = chonkie.RecursiveChunker(tokenizer="character", chunk_size=SIZE)
    yield Contestant("chonkie Recursive", chonkie_recursive.chunk, "sentence", is_peer=True)

    chunker = import_module("semchunk").chunkerify(len, SIZE, memoize=False)
    yield Contestant("semchunk", lambda text: chunker(text, offsets=True), "sentence", is_peer=True)

    splitters = import_module("semantic_text_splitter")
    plain, marked = splitters.TextSplitter(SIZE), splitters.MarkdownSplitter(SIZE)
    yield Contestant("semantic-text-splitter Text", plain.chunk_indices, "sentence", is_peer=True)
    yield Contestant("semantic-text-splitter Markdown", marked.chunk_indices, "paragraph", is_peer=True)

    parsers = import_module("llama_index.core.node_parser")
    llama = parsers.SentenceSplitter(chunk_size=SIZE, chunk_overlap=0, tokenizer=list)
    yield Contestant("llama-index SentenceSplitter", llama.split_text, "sentence", is_peer=True)

    sentencex = import_module("sentencex")
    yield Contestant("sentencex", lambda text: list(sentencex.segment("en", text)), "segment", is_peer=True)
    pysbd = import_module("pysbd").Segmenter(language="en", clean=False)
    yield Contestant("pysbd", pysbd.segment, "segment", is_peer=True)
    blingfire = import_module("blingfire")
    yield Contestant("blingfire", blingfire.text_to_sentences_and_offsets, "segment", is_peer=True)


# Measuring


def cpu(work: Work, texts: list[str]) -> float:
    started = time.process_time()
    for text in texts:
        work(text)
    return max(time.process_time() - started, 1e-9)


def affordable(contestant: Contestant, texts: list[str]) -> list[str]:
    """As much of the texts, from the beginning, as the contestant gets through in time."""
    whole = sum(map(len, texts))
    share = 20_000
    while share < whole:
        part = beginning(texts, share)
        if cpu(contestant.work, part) > PATIENCE / 10:
            return part
        share *= 8
    return texts


def beginning(texts: list[str], size: int) -> list[str]:
    if len(texts) == 1:
        return [texts[0][:size]]
    return texts[: max(1, size // DOCUMENT)]


def copies(texts: list[str]) -> list[str]:
    return [text[:1] + text[1:] for text in texts]


def race(contestants: list[Contestant], texts: list[str], name: str, rounds: int, *, is_fresh: bool) -> None:
    """Every contestant once per round, in turn, and who is done in a moment in more rounds; the best round counts."""
    shares = [(contestant, affordable(contestant, texts)) for contestant in contestants]
    for turn in range(rounds * QUICK_ROUNDS):
        for contestant, part in shares:
            size = sum(map(len, part))
            if turn >= rounds and size / 1e6 / contestant.rates[name] > QUICK:
                continue
            rate = size / cpu(contestant.work, copies(part) if is_fresh else part) / 1e6
            contestant.rates[name] = max(rate, contestant.rates.get(name, 0.0))
            contestant.shares[name] = size / sum(map(len, texts))


HOSTILE: dict[str, Callable[[int], str]] = {
    "no spaces": lambda size: "x" * size,
    "only dots": lambda size: "." * size,
    "dots and spaces": lambda size: ". " * (size // 2),
    "one line": lambda size: "some words of one line, " * (size // 24),
    "newlines": lambda size: "x" + "\n" * size + "x",
    "nested quotes": lambda size: "\"'(“" * (size // 8) + ".)”'\"" * (size // 10),
    "initials": lambda size: "J. " * (size // 3),
    "dashes and spaces": lambda size: "a|\n|-" + " " * size + "x",
    "back ticks": lambda size: "`" * size,
}
HOSTILE_SECTIONS: dict[str, Callable[[int], str]] = {
    "short sections": lambda size: "## Part\n\nA short text.\n\n" * (size // 24),
}


def growth(strategy: ChunkingStrategy, make: Callable[[int], str]) -> float:
    """How many times longer 10 MB take than 1 MB; ten of the latter, so that noise and the processor's cache weigh the same.

    Both in turn, and the median of the ratios: the machine's own ups and downs are larger than what is looked for, and the best
    of either may be from another moment.
    """
    options = ChunkingOptions(max_chunk_size=SIZE)
    texts, text = [make(1_000_000) for _ in range(10)], [make(10_000_000)]

    def cut(one: str) -> object:
        return strategy.chunk(one, options)

    ratios: list[float] = []
    spent = 0.0
    while len(ratios) < GROWTH_ROUNDS or spent < GROWTH_SECONDS:
        small, large = cpu(cut, texts), cpu(cut, text)
        ratios.append(10 * large / small)
        spent += small + large
    return statistics.median(ratios)


# Accuracy


def ends_f1(segment: Callable[[str], set[int]], *, between: str = "\n\n") -> float:
    """With something else of two characters between paragraphs, the true ends stay where they are."""
    right = total = 0
    for document in json.loads((DATA / "sentences" / "ewt_dev.json").read_text(encoding="utf-8")):
        text = document["text"].replace("\n\n", between)
        true, found = set(document["sentence_ends"]), segment(text)
        right, total = right + len(true & found), total + len(true) + len(found)
    return 200 * right / total


def our_ends(text: str) -> set[int]:
    return {one.end_offset for one in sentences(text)}


def their_ends(work: Callable[[str], list[str]]) -> Callable[[str], set[int]]:
    def ends(text: str) -> set[int]:
        found, reached = set(), 0
        for sentence in map(str.strip, work(text)):
            at = text.find(sentence, reached)
            if sentence and at >= 0:
                reached = at + len(sentence)
                found.add(reached)
        return found

    return ends


def cuts_on_ends(size: int) -> float:
    right = cuts = 0
    for document in json.loads((DATA / "sentences" / "ewt_dev.json").read_text(encoding="utf-8")):
        chunks = SentenceStrategy().chunk(document["text"], ChunkingOptions(max_chunk_size=size))
        ends = set(document["sentence_ends"])
        right, cuts = right + sum(one.end_offset in ends for one in chunks[:-1]), cuts + len(chunks) - 1
    return 100 * right / cuts


# Reporting


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    what: str
    measured: float
    wanted: str
    is_met: bool


def at_least(what: str, measured: float, limit: float) -> Target:
    return Target(what=what, measured=measured, wanted=f">= {limit:g}", is_met=measured >= limit)


def at_most(what: str, measured: float, limit: float) -> Target:
    return Target(what=what, measured=measured, wanted=f"<= {limit:g}", is_met=measured <= limit)


def speed_targets(found: dict[str, Contestant]) -> Iterator[Target]:
    sentence, bare = found["whence sentence"], found["bare re.finditer"]
    for name in ("many", "large"):
        yield at_least(f"sentence / bare re.finditer, {name}", sentence.rates[name] / bare.rates[name], 1.5)
        fastest = max(
            (one for one in found.values() if one.is_peer and one.kind in {"sentence", "segment"}),
            key=lambda one: one.rates[name],
            default=None,
        )
        if fastest:
            what = f"sentence / fastest peer ({fastest.name}), {name}"
            yield at_least(what, sentence.rates[name] / fastest.rates[name], 1.0)
    paragraph = found["whence paragraph"]
    for name in ("many, with headers", "large, with headers"):
        for one in found.values():
            if one.is_peer and one.kind == "paragraph":
                yield at_least(
                    f"paragraph / {one.name}, {name}", paragraph.rates[name] / one.rates[name], 1.0
                )
    for name in ("many", "large"):
        ratio = found["bare slicing loop"].rates[name] / found["whence character"].rates[name]
        yield at_most(f"bare slicing loop / character, {name}", ratio, 2.0)


def size_target(sets: dict[str, list[str]]) -> Target:
    """Both sets in turn: in the race each has its own rounds, with the peers' memory coming and going between them."""
    work = next(one.work for one in ours() if one.name == "whence sentence")
    best = {"many": 0.0, "large": 0.0}
    for _ in range(SIZE_ROUNDS):
        for name, rate in best.items():
            texts = sets[name]
            best[name] = max(rate, sum(map(len, texts)) / cpu(work, texts))
    return at_least("sentence, large / many", best["large"] / best["many"], 0.8)


def accuracy_targets() -> Iterator[Target]:
    yield at_least("sentence F1 with blank lines", ends_f1(our_ends), 91.0)
    yield at_least("sentence F1 with single line feeds", ends_f1(our_ends, between=" \n"), 91.0)
    yield at_least("cuts at 400 characters on true sentence ends, %", cuts_on_ends(400), 98.0)


def growth_targets() -> Iterator[Target]:
    for strategy in (SentenceStrategy(), ParagraphStrategy()):
        kinds = HOSTILE | HOSTILE_SECTIONS if strategy.name == "paragraph" else HOSTILE
        for kind, make in kinds.items():
            what = f"{strategy.name}, 10 MB / 1 MB of {kind}"
            yield at_most(what, growth(strategy, make), GROWTH)


def print_speeds(contestants: list[Contestant]) -> None:
    ours_by_kind = {one.kind: one for one in contestants if one.name.startswith("whence")}
    print(f"{'':34}{'many documents':>26}{'one large document':>26}")
    for kind in ("sentence", "segment", "paragraph", "character"):
        for one in (one for one in contestants if one.kind == kind):
            cells = "".join(speed_cell(one, ours_by_kind[kind], name) for name in sets_of(kind))
            print(f"{one.name:34}{cells}")
        print()


def sets_of(kind: str) -> tuple[str, str]:
    return ("many, with headers", "large, with headers") if kind == "paragraph" else ("many", "large")


def speed_cell(one: Contestant, our: Contestant, name: str) -> str:
    rate, share = one.rates[name], one.shares[name]
    part = "" if share == 1 else f"*{share:.0%}"
    ratio = "" if one is our else f"{our.rates[name] / rate:.2f}x"
    return f"{rate:>9.2f} MB/s{part:>5}{ratio:>7}"


def print_accuracy(*, with_peers: bool) -> None:
    segmenters: dict[str, Callable[[str], set[int]]] = {"whence sentences()": our_ends}
    if with_peers:
        sentencex = import_module("sentencex")
        pysbd = import_module("pysbd").Segmenter(language="en", clean=False)
        blingfire = import_module("blingfire")
        segmenters["sentencex"] = their_ends(lambda text: list(sentencex.segment("en", text)))
        segmenters["pysbd"] = their_ends(pysbd.segment)
        segmenters["blingfire"] = their_ends(lambda text: str(blingfire.text_to_sentences(text)).split("\n"))
    print(
        f"{'sentence ends, F1 on UD English-EWT dev':44}{'blank lines':>14}{'line feeds':>14}{'spaces':>14}"
    )
    for name, segment in segmenters.items():
        scores = [ends_f1(segment, between=between) for between in ("\n\n", " \n", "  ")]
        print(f"{name:44}{scores[0]:>14.1f}{scores[1]:>14.1f}{scores[2]:>14.1f}")
    print()


def print_targets(targets: list[Target]) -> None:
    print(f"{'target':74}{'measured':>10}{'wanted':>10}")
    for target in targets:
        verdict = "" if target.is_met else "  MISSED"
        print(f"{target.what:74}{target.measured:>10.2f}{target.wanted:>10}{verdict}")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--without-peers", action="store_true")
    parser.add_argument(
        "--same", action="store_true", help="give everybody the same strings again in each round"
    )
    arguments = parser.parse_args()
    if not DATA.exists():
        print(f"The texts are not there: {DATA}. docs/benchmarks.md says how to get them.", file=sys.stderr)
        return 2
    warnings.simplefilter("ignore")  # the peers' own affairs
    contestants = [*ours(), *([] if arguments.without_peers else peers())]
    sets = text_sets()
    for name, texts in sets.items():
        marked = name.endswith("headers")
        racing = [one for one in contestants if (one.kind == "paragraph") == marked]
        race(racing, texts, name, arguments.rounds, is_fresh=not arguments.same)
    print_speeds(contestants)
    print_accuracy(with_peers=not arguments.without_peers)
    found = {one.name: one for one in contestants}
    targets = [
        *speed_targets(found),
        size_target(sets),
        *accuracy_targets(),
        *growth_targets(),
    ]
    print_targets(targets)
    return 0 if all(target.is_met for target in targets) else 1


if __name__ == "__main__":
    sys.exit(main())
