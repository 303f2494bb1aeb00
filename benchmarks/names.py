"""How well the rules for names and paraphrases do on texts that they were not written for.

    python -m benchmarks.names [--data ../shared/data]

The truth for names: abbreviations that a page defines next to their long forms, "World Health Organization (WHO)", found by the
letters alone (Schwartz and Hearst, 2003), in the pages of `support/wice_dev.jsonl` and the articles of `retrieval`.

Aliases: a passage of the page that has the abbreviation but not the long form, beside the object with the long form. Right is the
abbreviation; anything found in a passage that has neither is wrong, except a part of the long form.

Merge suggestions: all long forms and abbreviations of all pages as objects of one type. Right is a pair that a page defines.

Subjects: the questions of XQuAD with a specific answer. The answer is a value of the names in its question. Given to another name of the
paragraph, chosen by chance, it is exchanged. For confirmation the question takes the place of the first sentence; another question of the
paragraph asks differently. For grounding the two are objects of one type; for confirmation every capitalised word is a name.

Quantities: each integer between spaces in one line of forty is a value. It must be found there, and where it is replaced by another notation of
the same number; it must not be found where it is replaced by another number or by a code with its digits.

Paraphrases: the claims of WiCE against the sentences of their pages, for several shares of words. Right is a sentence that people
marked as support. Then sentences of the retrieval articles, altered as in `benchmarks.support`.
"""

import argparse
import itertools
import json
import random
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from statistics import mean
from typing import Any
from uuid import UUID

from benchmarks.results import Result, report
from benchmarks.retrieval import DATA
from benchmarks.support import cases

from whence.extract import paraphrase
from whence.extract.context import KnownClaim, KnownObject
from whence.extract.evidence import ChunkEvidence
from whence.extract.grounding import SearchableText
from whence.extract.mentions import Mentions
from whence.extract.specific import is_specific
from whence.text.aliases import References, TypedName, capitalised
from whence.text.content_words import words
from whence.text.names import fold
from whence.text.similar_names import similar_names

_DEFINED = re.compile(r"([^().;:\n]{4,120})\(([A-Z][\w&/-]{1,9})\)")
_PASSAGE = re.compile(r"\n+")
_SHARES = (0.4, 0.5, 0.6, 0.7, 0.8)
_ALTERED = ("true", "adverb", "clause", "negation", "direction", "names", "figures", "foreign")
_INTEGER = re.compile(
    r"(?<=\s)[1-9]\d{0,2}(?:,?\d{3})*(?=[\s.!?]|, )(?!\.\d)(?!\s(?:hundred|thousand|\w?illion|mil))"
)
_EVERY = 40
"""Of so many lines, one gives its numbers: all would take an hour."""
_KIND = "Organization"
_LONG = 3


def pages(data: Path) -> list[str]:
    """The texts of both sets."""
    claims = map(json.loads, (data / "support" / "wice_dev.jsonl").read_text().splitlines())
    found = dict.fromkeys("\n".join(claim["evidence"]) for claim in claims)
    articles = (path.read_text() for path in sorted((data / "retrieval" / "corpora").glob("*.md")))
    return [*found, *(part for text in articles for part in re.split(r"\n(?= ?= [^=])", text))]


def definitions(page: str) -> dict[str, str]:
    """Long forms by abbreviation. An abbreviation that is defined twice is left out."""
    found: dict[str, set[str]] = {}
    for before, short in _DEFINED.findall(page):
        if sum(letter.isupper() for letter in short) > 1 and (long := _long_form(before.strip(), short)):
            found.setdefault(short, set()).add(long)
    return {short: next(iter(longs)) for short, longs in found.items() if len(longs) == 1}


def _long_form(before: str, short: str) -> str | None:
    """The shortest end of the text that has the letters in order, the first at the start of a word."""
    at = len(before)
    for place in range(len(short) - 1, -1, -1):
        letter = short[place].lower()
        if not letter.isalnum():
            continue
        at -= 1
        while at >= 0 and (
            before[at].lower() != letter or (place == 0 and at > 0 and before[at - 1].isalnum())
        ):
            at -= 1
        if at < 0:
            return None
    long = before[at:].strip()
    words = long.split()
    fits = 2 <= len(words) <= min(len(short) + 5, 2 * len(short)) and words[0][0].isupper()
    return long if fits else None


def aliases(texts: list[str]) -> list[Result]:
    asked = right = wrong = parts = silent = 0
    for page in texts:
        for short, long in definitions(page).items():
            has = re.compile(rf"(?<!\w){re.escape(short)}(?!\w)")
            for passage in filter(None, _PASSAGE.split(page)):
                if fold(long) in fold(passage):
                    continue
                found = References(passage, known=[TypedName(_KIND, long)]).find(TypedName(_KIND, long))
                said = passage[found.start : found.end] if found else None
                is_asked = has.search(passage) is not None
                asked += is_asked
                silent += not is_asked
                right += is_asked and said == short
                parts += said not in (None, short) and fold(said or "") in fold(long)
                wrong += said not in (None, short) and fold(said or "") not in fold(long)
    return [
        Result(what="aliases: abbreviations that are found", figure=f"{right} of {asked}"),
        Result(what="aliases: precision", figure=f"{right / max(1, right + wrong):.3f}"),
        Result(what="aliases: parts of the name, in all passages", figure=f"{parts} in {asked + silent}"),
    ]


def suggestions(texts: list[str]) -> Iterator[Result]:
    defined = {(short, long) for page in texts for short, long in definitions(page).items()}
    names = sorted({name for pair in defined for name in pair})
    truth = {frozenset(pair) for pair in defined}
    by_reason: dict[str, set[frozenset[str]]] = {}
    for one, other, reason, _ in similar_names(names):
        by_reason.setdefault(reason, set()).add(frozenset((names[one], names[other])))
    yield Result(what="suggestions: names, defined pairs", figure=f"{len(names)}, {len(truth)}")
    for reason, found in sorted(by_reason.items()):
        right = len(found & truth)
        figure = f"{len(found)} pairs, {right} defined: precision {right / len(found):.3f}, recall {right / len(truth):.3f}"
        yield Result(what=f"suggestions: {reason}", figure=figure)


def paraphrases(data: Path) -> Iterator[Result]:
    claims = [json.loads(line) for line in (data / "support" / "wice_dev.jsonl").read_text().splitlines()]
    chosen = paraphrase.SHARED
    for share in _SHARES:
        paraphrase.SHARED = share
        counts = dict.fromkeys(("supported", "partially_supported", "not_supported"), (0, 0, 0))
        for claim in claims:
            at = _place(claim)
            marked = {place for places in claim["supporting_sentences"] for place in places}
            asked, found, right = counts[claim["label"]]
            counts[claim["label"]] = (asked + 1, found + (at is not None), right + (at in marked))
        (asked, found, right), (some, partly, _), (none, wrong, _) = counts.values()
        figure = f"supported {found} of {asked} ({right} in a marked sentence), partly {partly} of {some}, not {wrong} of {none}"
        yield Result(what=f"paraphrases: share {share:.1f}", figure=figure)
    paraphrase.SHARED = chosen


def altered(data: Path) -> Iterator[Result]:
    """Sentences of the corpora as descriptions, altered as in `benchmarks.support`."""
    kept: dict[str, list[bool]] = {}
    for case in cases(data / "retrieval"):
        if case.kind in _ALTERED:
            found = paraphrase.Sentences(case.cited[0].text).find(case.sentence, about="")
            kept.setdefault(case.kind, []).append(found is not None)
    for kind in _ALTERED:
        yield Result(what=f"paraphrases: {kind}", figure=f"{mean(kept[kind]):.1%} of {len(kept[kind])} kept")


def _place(claim: dict[str, Any]) -> int | None:
    """The sentence of the page that the rule takes the claim from."""
    sentences: list[str] = claim["evidence"]
    found = paraphrase.Sentences("\n\n".join(sentences)).find(claim["claim"], about="")
    starts = [0]
    for sentence in sentences:
        starts.append(starts[-1] + len(sentence) + 2)
    if found is None:
        return None
    return next(at for at, (start, end) in enumerate(pairwise(starts)) if start <= found.start_offset < end)


def subjects(data: Path) -> Iterator[Result]:
    chance = random.Random(3)
    asked = 0
    kept = dict.fromkeys(itertools.product(("grounding", "confirmation"), ("right", "exchanged")), 0)
    unasked = 0
    answers = list(_answers(data / "questions" / "xquad.es.json"))
    for text, question, answer in answers:
        names = {" ".join(run.words) for run in capitalised(text)} - set(answer.split())
        own = sorted(names & {" ".join(run.words) for run in capitalised(question)})
        others = sorted(name for name in names if name not in question and name not in answer)
        if not own or not others or not (is_specific(answer, answer) or len(words(answer)) >= _LONG):
            continue
        asked += 1
        other = chance.choice(others)
        objects = [TypedName(_KIND, name) for name in (*own, other)]
        evidence = ChunkEvidence(text, [])
        mentions = Mentions(text, [], before="", known=[], proposed=objects, find=evidence.find)
        evidence.tell_apart(objects, mentions)
        for which, some in (("right", own), ("exchanged", [other])):
            kept["grounding", which] += any(evidence.find(answer, near=name) for name in some)
            kept["confirmation", which] += any(_confirms(evidence, answer, name, question) for name in some)
        rest = [
            each for there, each, other in answers if there == text and not {*words(other)} & {*words(answer)}
        ]
        unasked += any(_confirms(evidence, answer, name, rest[0]) for name in own if rest)
    kept["confirmation", "differently asked"] = unasked
    for (rule, which), count in kept.items():
        yield Result(
            what=f"subjects: {rule}, {which} values kept", figure=f"{count} of {asked}: {count / asked:.1%}"
        )


def _confirms(evidence: ChunkEvidence, answer: str, name: str, question: str) -> bool:
    """The question takes the place of the sentence that the value was claimed from."""
    known = KnownObject(id=UUID(int=1), type="", name=name, name_key=fold(name), properties={})
    evidence.claims = [KnownClaim(known.id, "", answer, question, question, 0, len(question))]
    return evidence.confirming(answer, known, "", is_named=True) is not None


def quantities(data: Path) -> Iterator[Result]:
    counts: dict[str, list[bool]] = {}
    texts = [
        *pages(data),
        *dict.fromkeys(text for text, *_ in _answers(data / "questions" / "xquad.es.json")),
    ]
    chosen = list(dict.fromkeys(line for text in texts for line in text.splitlines()))[::_EVERY]
    for sentence in chosen:
        for found in _INTEGER.finditer(sentence):
            value = int(found[0].replace(",", ""))
            counts.setdefault("as written", []).append(_finds(value, sentence))
            for kind, notations in ("other notations", _same(value)), ("other numbers", _others(value)):
                for each in notations:
                    replaced = f"{sentence[: found.start()]}{each}{sentence[found.end() :]}"
                    counts.setdefault(kind, []).append(
                        _finds(value, _without_digits(replaced, each, found.start()))
                    )
    for kind, kept in counts.items():
        yield Result(what=f"quantities: {kind}", figure=f"{mean(kept):.1%} of {len(kept)} found")


def _finds(value: int, text: str) -> bool:
    return SearchableText(text).find(value) is not None


def _without_digits(text: str, each: str, at: int) -> str:
    """The sentence without its other numbers, which may be the same."""
    before, behind = (re.sub(r"\d", "x", part) for part in (text[:at], text[at + len(each) :]))
    return before + each + behind


def _same(value: int) -> Iterator[str]:
    if value >= 1_000:
        yield from (f"{value:,}".replace(",", separator) for separator in ",. \u202f'")
    if value >= 1_000 and not value % 100:
        yield from (
            f"{value / 1_000:g}k",
            f"{value / 1_000:g} thousand",
            f"{value / 1_000:g} mil".replace(".", ","),
        )
    if not value % 100_000:
        yield from (f"{value / 1e6:g}{word}" for word in (" million", "M"))
        yield from (
            f"{value / 1e6:g}".replace(".", ",") + word
            for word in (" Millionen", " Mio.", " millones", " miljoen")
        )


def _others(value: int) -> Iterator[str]:
    yield from (
        f"-{value}",
        f"\u2212{value}",
        f"AB-{value}",
        f"{value}.5",
        f"{value},5",
        f"{value}k",
        f"{value}:30",
        str(value + 1),
    )
    if value > 99:
        yield str(value)[:-1]


def _answers(path: Path) -> Iterator[tuple[str, str, str]]:
    found = json.loads(path.read_text())
    for article in found["data"] if isinstance(found, dict) else found:
        for paragraph in article["paragraphs"]:
            for each in paragraph["qas"]:
                yield paragraph["context"], each["question"], each["answers"][0]["text"]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA.parent)
    data = parser.parse_args().data
    texts = pages(data)
    report(
        [
            *aliases(texts),
            *suggestions(texts),
            *subjects(data),
            *quantities(data),
            *paraphrases(data),
            *altered(data),
        ]
    )


if __name__ == "__main__":
    main()
