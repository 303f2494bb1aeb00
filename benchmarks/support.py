"""How well support tells what a chunk says from what it does not say.

    python -m benchmarks.support [--data ../shared/data]

Altered sentences: each chunk of the corpora in `retrieval` (see `benchmarks.retrieval`) gives its sentences as they are, reworded
in ways that keep their meaning, and changed in ways that do not. Each cites the chunk; four others of the corpus are passages, too.
Conditions, attributions and clauses are dropped from sentences of the corpora and of the pages in `support`; questions become statements.

Human labels: the claims in `support/wice_dev.jsonl`, each citing the chunks of its page. The score of a claim is that of the best chunk.
It is compared with the share of the claim's words, weighted by idf, that the best window of one to five sentences has.
"""

import argparse
import json
import math
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, filterfalse, pairwise, product
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

from benchmarks.results import Result, report
from benchmarks.retrieval import CHUNKING, DATA

from whence.chat.citing import validate
from whence.chat.sources import Source
from whence.chat.support import Citation, support
from whence.chunk import strategy

OTHERS = 4
WINDOWS = range(1, 6)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n{2,}")
_TWO = re.compile(r"[.!?][\"”)]\s")
_FIT = re.compile(r"[A-Z\"“][^|#*\[\]]{40,400}\.")
_FIGURE = re.compile(r"(?<![\w.,:/-])\d+(?:,\d{3})*(?:\.\d+)?(?![\w:/-]|[.,]\d)")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+(?: [A-Z][a-z]+)*")
_AUXILIARY = re.compile(r"\b(?:is|are|was|were|has|have|had|will|can|could|should|would|may|must)\b(?! not)")
_ADVERB = re.compile(r" (?!only|family|supply|apply|reply)[a-z]{3,}ly(?= )")
_ADVERBS = (
    "allegedly conditionally hardly mostly nearly often partly seldom tentatively virtually wrongly".split()
)
_CLAUSE = re.compile(
    r"((?:In|On|At|During|By|For|Under|With|Since|As|When|While|After|Before) [^,.;:]{3,60}), ([^,;:]+)\."
)
_PAIRS = (
    "increase decrease|increases decreases|increased decreased|increasing decreasing|rise fall|rose fell|rising falling|more less|"
    "higher lower|before after|above below|gain loss|gains losses|growth decline|up down|first last|maximum minimum|"
    "improve worsen|improved worsened|accept reject|accepted rejected|win lose|won lost|buy sell|bought sold|"
    "north south|east west|left right|over under|inside outside|open close|opened closed|begin end|began ended|"
    "long short|large small|largest smallest|highest lowest|most least|strong weak|old new|older younger|to from"
)
_OPPOSITE = {one: two for pair in _PAIRS.split("|") for one, two in (pair.split(" "), pair.split(" ")[::-1])}
_WORD = re.compile(r"[a-z]+")
_SAY = (
    "say|says|said|claim|claims|claimed|argue|argues|argued|believe|believes|believed|suggest|suggests|suggested|"
    "alleged|reported|stated|thought|warned"
)
_CLAUSE_ALONE = r"(?:the|it|they|he|she|[A-Z]\w+) [^,;:]{15,}"
_DROPPED = {
    "condition": (
        r"(?:If|Unless|When|Whenever|Provided|Assuming|Once|Should|As long as|In case|Except)\b [^,.;:]{8,120}, (?:then )?([^;:]{20,}\.)",
        r"([^;:]{20,}?),? (?:if|unless|provided that|as long as|in case|except) [^,.;:]{8,}\.",
    ),
    "attribution": (
        rf"[^,.;:]{{3,80}}? (?:{_SAY}) that ([^;:]{{20,}}\.)",
        r"According to (?!the (?:report|article|text)\b)[^,.;:]{3,80}, ([^;:]{20,}\.)",
        rf"[\"“]?([^;:]{{20,}}?),[\"”]? (?:\w+ ){{0,3}}(?:{_SAY})(?: [^,;:]{{0,60}})?\.",
    ),
    "part": (rf"([A-Z][^,;:]{{20,}}), (?:and|but) {_CLAUSE_ALONE}\.",),
    "question": (r"([A-Z][^;:?]{20,})\?",),
    "beside": (
        rf"(?!(?:If|When|Whenever|Unless|Once|According|Should)\b)[A-Z](?:(?! that )[^,;:]){{20,}}, (?:and|but) ({_CLAUSE_ALONE}\.)",
    ),
}
_INCOMPLETE = {"lead", "adverb", "without adverb", *_DROPPED}
"""Kinds with words added or left out, which are never verbatim."""
_ID = "0190a1b2-7c3d-7e4f-8a5b-{:012x}"

Sentences = Iterator[tuple[str, str]]


class Case(NamedTuple):
    kind: str
    sentence: str
    cited: Sequence[Source]
    passages: Sequence[Source]


def cases(folder: Path) -> Iterator[Case]:
    chance = random.Random(7)
    for corpus in sorted((folder / "corpora").glob("*.md")):
        chunks = passages(corpus.read_text(encoding="utf-8"))
        told = [[one for one in _SENTENCE.split(chunk.text) if _FIT.fullmatch(one)] for chunk in chunks]
        numbers = [number for number, found in enumerate(told) if found]
        for number in chance.sample(numbers, min(len(numbers), 400)):
            others = chance.sample([chunk for chunk in chunks if chunk is not chunks[number]], OTHERS)
            shown = [chunks[number], *others]
            for sentence in told[number]:
                yield Case("wrong", sentence, others[:1], shown)
                for kind, said in variants(sentence, chunks[number].text, chance):
                    yield Case(kind, said, shown[:1], shown)
        for one, two in pairwise(chance.sample(numbers, min(len(numbers), 100))):
            joined = f"{told[one][0].rstrip('.')} and {told[two][0]}"
            yield Case("both", joined, (chunks[one], chunks[two]), (chunks[one], chunks[two]))


def variants(sentence: str, chunk: str, chance: random.Random) -> Sentences:
    """The sentence reworded and altered, each with the kind of the change."""
    lowered = sentence if sentence[:2].isupper() else sentence[0].lower() + sentence[1:]
    yield "true", sentence
    yield "case", sentence.lower()
    yield "lead", f"According to the report, {lowered}"
    yield from (("without adverb", sentence.replace(found[0], "", 1)) for found in _ADVERB.finditer(sentence))
    if found := _CLAUSE.fullmatch(sentence):
        yield "clause", f"{found[2][0].upper()}{found[2][1:]} {found[1][0].lower()}{found[1][1:]}."
    if found := _AUXILIARY.search(sentence):
        yield "negation", f"{sentence[: found.end()]} not{sentence[found.end() :]}"
        yield "adverb", f"{sentence[: found.end()]} {chance.choice(_ADVERBS)}{sentence[found.end() :]}"
    turned = [found for found in _WORD.finditer(sentence) if found[0] in _OPPOSITE]
    if turned:
        one = chance.choice(turned)
        yield "direction", sentence[: one.start()] + _OPPOSITE[one[0]] + sentence[one.end() :]
    for kind, pattern in ("names", _NAME), ("figures", _FIGURE):
        yield from ((kind, said) for said in _exchanged(sentence, list(pattern.finditer(sentence)), chance))
    figures = list(_FIGURE.finditer(sentence))
    foreign = sorted(set(_FIGURE.findall(chunk.replace(sentence, " "))) - {figure[0] for figure in figures})
    if figures and foreign:
        one = chance.choice(figures)
        yield "foreign", sentence[: one.start()] + chance.choice(foreign) + sentence[one.end() :]


def dropped(data: Path) -> Iterator[Case]:
    """Sentences without their condition, without who says so, without a clause, and questions as statements."""
    corpora = [
        one.read_text(encoding="utf-8") for one in sorted((data / "retrieval" / "corpora").glob("*.md"))
    ]
    for text in *corpora, *("\n".join(claim["evidence"]) for claim in claims(data)):
        for chunk in passages(text):
            for sentence in filterfalse(_TWO.search, _SENTENCE.split(chunk.text)):
                for kind, patterns in _DROPPED.items():
                    found = next(filter(None, (re.fullmatch(one, sentence) for one in patterns)), None)
                    if found:
                        yield Case(kind, found[1][0].upper() + found[1][1:], [chunk], [chunk])


def claims(data: Path) -> list[dict[str, Any]]:
    lines = (data / "support" / "wice_dev.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def _exchanged(sentence: str, found: Sequence[re.Match[str]], chance: random.Random) -> Iterator[str]:
    pairs = [
        (one, two)
        for one, two in product(found, found)
        if one.start() < two.start() and one[0] not in two[0] and two[0] not in one[0]
    ]
    if pairs:
        one, two = chance.choice(pairs)
        between = sentence[one.end() : two.start()]
        yield sentence[: one.start()] + two[0] + between + one[0] + sentence[two.end() :]


def passages(text: str) -> list[Source]:
    return [
        Source(id=_ID.format(number), text=one.text, start=one.start_offset)
        for number, one in enumerate(strategy(CHUNKING.strategy).chunk(text, CHUNKING.options))
    ]


def judge(sentence: str, cited: Sequence[Source], shown: Sequence[Source]) -> list[Citation]:
    response = sentence.rstrip(".") + " " + "".join(f"[{one.id}]" for one in cited) + "."
    ids = {one.id for one in cited}
    return [one for one in support(validate(response, shown), shown) if one.chunk_id in ids]


def altered(data: Path) -> list[Result]:
    told: dict[str, list[bool]] = {}
    for case in chain(cases(data / "retrieval"), dropped(data)):
        found = judge(case.sentence, case.cited, case.passages)
        told.setdefault(case.kind, []).append(bool(found) and all(one.supported for one in found))
        if case.kind in _INCOMPLETE and "\n" not in case.sentence:
            told.setdefault("called verbatim", []).append(
                any(one.support_level == "verbatim" for one in found)
            )

    def result(kind: str, what: str, least: float, most: float) -> Result:
        share = mean(told[kind])
        target = f">= {least:.0%}" if least else f"<= {most:.0%}"
        figure = f"{share:.1%} of {len(told[kind])} supported"
        return Result(what=what, figure=figure, target=target, met=least <= share <= most)

    return [
        result("true", "as the chunk has it", 0.95, 1),
        result("case", "in lower case", 0.95, 1),
        result("lead", "after “According to the report,”", 0.95, 1),
        result("clause", "with its first clause last", 0.95, 1),
        result("both", "two sentences of two chunks, both cited", 0.9, 1),
        result("wrong", "another chunk cited", 0, 0.03),
        result("negation", "“not” inserted", 0, 0.05),
        result("direction", "direction turned", 0, 0.05),
        result("names", "two names exchanged", 0, 0.15),
        result("figures", "two figures exchanged", 0, 0.15),
        result("foreign", "a figure from elsewhere in the chunk", 0, 0.1),
        result("without adverb", "adverb dropped", 0, 0.05),
        result("adverb", "adverb inserted", 0, 0.05),
        result("condition", "condition dropped", 0, 0.05),
        result("attribution", "attribution dropped", 0, 0.05),
        result("question", "question as a statement", 0, 0.05),
        result("part", "second clause dropped", 0.8, 1),
        result("beside", "first clause dropped", 0.8, 1),
        result("called verbatim", "words added or left out, called verbatim", 0, 0.01),
    ]


def human(data: Path) -> list[Result]:
    told = claims(data)
    labels = [claim["label"] for claim in told]
    counts = Counter(word for claim in told for word in {*_words(" ".join(claim["evidence"]))})
    idf = {word: math.log(1 + len(told) / count) for word, count in counts.items()}
    scores = [_score(claim["claim"], "\n".join(claim["evidence"])) for claim in told]
    plain = [[_overlap(claim["claim"], claim["evidence"], idf, size) for claim in told] for size in WINDOWS]
    strongest = max(auroc(labels, "not_supported", one) for one in plain)
    ours = auroc(labels, "not_supported", scores)
    rest = auroc(labels, "partially_supported", scores)
    also = max(auroc(labels, "partially_supported", one) for one in plain)
    return [
        Result(
            what="supported above not supported, AUROC",
            figure=f"{ours:.3f} against {strongest:.3f} of weighted overlap",
            target="above",
            met=ours > strongest,
        ),
        Result(
            what="supported above partially supported, AUROC",
            figure=f"{rest:.3f} against {also:.3f} of weighted overlap",
        ),
    ]


def _score(claim: str, evidence: str) -> float:
    """The best of the chunks, each cited by itself."""
    found = passages(evidence)
    said = claim.strip().rstrip(".")
    response = "\n\n".join(f"{said} [{one.id}]." for one in found)
    return max((one.support for one in support(validate(response, found), found)), default=0.0)


def _overlap(claim: str, evidence: Sequence[str], idf: dict[str, float], size: int) -> float:
    wanted = {*_words(claim)}
    most = max(idf.values())
    whole = sum(idf.get(word, most) for word in wanted) or 1
    windows = (
        {*_words(" ".join(evidence[at : at + size]))} for at in range(max(1, len(evidence) - size + 1))
    )
    return max(sum(idf.get(word, most) for word in wanted & window) / whole for window in windows)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def auroc(labels: Sequence[str], against: str, scores: Sequence[float]) -> float:
    """How often a supported claim scores higher than one of the label `against`; a tie counts half."""
    right = [score for label, score in zip(labels, scores, strict=True) if label == "supported"]
    wrong = [score for label, score in zip(labels, scores, strict=True) if label == against]
    return mean((one > two) + (one == two) / 2 for one, two in product(right, wrong))


def results(data: Path) -> list[Result]:
    return [*altered(data), *human(data)]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA.parent)
    report(results(parser.parse_args().data))


if __name__ == "__main__":
    main()
