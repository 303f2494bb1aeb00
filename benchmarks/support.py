"""How well the score of support tells right citations from wrong ones.

    python -m benchmarks.support [--data ../shared/data/retrieval]

Each of the questions of `benchmarks.retrieval` is given the chunks that hold its references and four others of the same corpus. Sentences are
made of about 60 % of a reference's words and four of the question's, and of whole references with one figure changed: to one that no passage
has, and to one that stands elsewhere in the cited chunk. Two references from different chunks make a sentence with both citations at its end,
and a third that has nothing to do with it.
"""

import argparse
import random
import re
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from benchmarks.results import Result, report
from benchmarks.retrieval import CHUNKING, DATA, Asked, questions

from whence.chat.citing import validate
from whence.chat.sources import Source
from whence.chat.support import support
from whence.chunk import strategy

OTHERS = 4
KEPT = 0.6
FROM_QUESTION = 4
_FIGURE = re.compile(r"(?<![\w.,:/-])\d+(?:,\d{3})*(?:\.\d+)?(?![\w:/-]|[.,]\d)")
_WORD = re.compile(  # a figure is kept whole, or not at all
    r"\$?\d\S* (?:hundred|thousand|million|billion|trillion)\S*|[A-Z][a-z]+ \d+(?: ?,)? \d{4}\S*|\d+ [A-Z][a-z]+ \d{4}\S*|"
    r"[A-Z][a-z]+ \d+\S*|\d+ [A-Z][a-z]+|\S+"
)
_ENDS = re.compile(r"[\s.!?\"”*|:;,-]+\Z")
_ID = "0190a1b2-7c3d-7e4f-8a5b-{:012x}"


class Case(NamedTuple):
    kind: str
    sentence: str
    cited: tuple[Source, ...]
    judged: Source
    """Whose citation it is about."""
    passages: Sequence[Source]


def cases(folder: Path) -> Iterator[Case]:
    chance = random.Random(7)
    asked = questions(folder)
    for corpus in sorted({one.corpus for one in asked}):
        text = (folder / "corpora" / f"{corpus}.md").read_text(encoding="utf-8")
        chunks = [
            Source(id=_ID.format(number), text=one.text, start=one.start_offset)
            for number, one in enumerate(strategy(CHUNKING.strategy).chunk(text, CHUNKING.options))
        ]
        for one in asked:
            if one.corpus == corpus:
                yield from _cases(one, text, chunks, chance)


def _cases(asked: Asked, text: str, chunks: Sequence[Source], chance: random.Random) -> Iterator[Case]:
    held = [(_bare(text[start:end]), _holding(chunks, start, end)) for start, end in asked.references]
    right = {chunk.id for _, chunk in held if chunk}
    if not right:
        return
    others = chance.sample([chunk for chunk in chunks if chunk.id not in right], OTHERS)
    passages = [*(chunk for chunk in chunks if chunk.id in right), *others]
    chance.shuffle(passages)
    question = asked.question.rstrip("?").split()
    for reference, chunk in held:
        if chunk is None:
            continue
        kept = [word for word in _WORD.findall(reference) if chance.random() < KEPT]
        said = " ".join([*kept, *chance.sample(question, min(FROM_QUESTION, len(question)))])
        yield Case("right", said, (chunk,), chunk, passages)
        yield Case("wrong", said, (others[0],), others[0], passages)
        yield from _changed(reference, chunk, passages, chance)
    for (one, first), (two, second) in combinations(held, 2):
        if first and second and first.id != second.id:
            both = f"{one} and {two}"
            for half in (first, second):
                yield Case("half", both, (first, second), half, passages)
            yield Case("stranger", both, (first, others[0], second), others[0], passages)


def _changed(
    reference: str, chunk: Source, passages: Sequence[Source], chance: random.Random
) -> Iterator[Case]:
    found = list(_FIGURE.finditer(reference))
    if not found:
        return
    one = chance.choice(found)
    yield Case("figures", reference, (chunk,), chunk, passages)
    shown = " ".join(passage.text for passage in passages)
    unheard = next(
        str(number)
        for number in range(int(float(one[0].replace(",", ""))) + 1, 10**12)
        if str(number) not in shown
    )
    elsewhere = [
        figure
        for figure in _FIGURE.findall(chunk.text.replace(reference, " "))
        if figure not in _FIGURE.findall(reference)
    ]
    for kind, instead in (
        ("unheard", unheard),
        ("elsewhere", chance.choice(elsewhere) if elsewhere else None),
    ):
        if instead:
            changed = reference[: one.start()] + instead + reference[one.end() :]
            yield Case(kind, changed, (chunk,), chunk, passages)


def _holding(chunks: Sequence[Source], start: int, end: int) -> Source | None:
    return next(
        (
            one
            for one in chunks
            if one.start is not None and one.start <= start and end <= one.start + len(one.text)
        ),
        None,
    )


def _bare(reference: str) -> str:
    """One sentence, whatever it was."""
    joined = " ".join(re.sub(r"[.!?]+(?=\s)|[|*#`\[\]]", " ", reference).split())
    return _ENDS.sub("", joined)


def supported(case: Case) -> bool:
    response = case.sentence + " " + "".join(f"[{one.id}]" for one in case.cited) + "."
    found = [
        one
        for one in support(validate(response, case.passages), case.passages)
        if one.chunk_id == case.judged.id
    ]
    return any(one.supported for one in found)


def results(data: Path) -> list[Result]:
    told: dict[str, list[bool]] = {}
    for case in cases(data):
        told.setdefault(case.kind, []).append(supported(case))

    def result(kind: str, what: str, least: float, most: float) -> Result:
        share = mean(told[kind])
        target = f">= {least:.0%}" if least else f"<= {most:.0%}"
        figure = f"{share:.1%} of {len(told[kind])} supported"
        return Result(what=what, figure=figure, target=target, met=least <= share <= most)

    return [
        result("right", "60 % of a reference, right chunk", 0.97, 1),
        result("wrong", "60 % of a reference, wrong chunk", 0, 0.03),
        result("figures", "whole references with figures", 0.97, 1),
        result("unheard", "one figure changed to one that no passage has", 0, 0.02),
        result("elsewhere", "one figure changed to one from elsewhere in the chunk", 0, 0.25),
        result("half", "two references, both cited at the end", 0.9, 1),
        result("stranger", "the same, a citation that has nothing to do with it", 0, 0.05),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    report(results(parser.parse_args().data))


if __name__ == "__main__":
    main()
