"""Measures the answerer without a model: how often its quotes contain the answer, and how often it stays silent.

    python -m benchmarks.answers [--only chroma spanish foreign small] [--misses]

Sets:

chroma     276 questions of Chroma's chunking_evaluation, asked of a project with all three corpora. A question is hit
           when a quote overlaps one of its reference spans.
spanish    every fourth question of XQuAD in Spanish. A question is hit when a quote overlaps the answer.
foreign    the questions of `chroma`, each asked of the two corpora that it is not about. Silence is right.
small      the small projects of `tests/small_projects`. A question is hit when the answer contains the expected words;
           the unanswerable ones are near misses, and silence is right.

The data of the first three is expected in `../shared/data`; it is not part of the project.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import tomllib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from uuid import UUID

from benchmarks.retrieval import CHUNKING, DATA, questions, shelve

from whence.app import App
from whence.chat import Answer, Asked
from whence.ingest import Chunking
from whence.settings import Settings

SPANISH = DATA.parent / "questions" / "xquad.es.json"
SMALL = Path(__file__).parents[1] / "tests" / "small_projects"
EVERY = 4
"""Every fourth Spanish question is asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    question: str
    is_answerable: bool
    spans: tuple[tuple[str, int, int], ...] = ()
    """Reference spans: document name, start, end."""
    words: str = ""
    """Words that a right answer contains, where there are no spans."""

    def is_hit(self, answer: Answer) -> bool:
        if self.words:
            return self.words.lower() in answer.response.lower()
        names = {one.document_id: one.name for one in answer.sources}
        return any(
            names.get(one.document_id) == name and _overlap(one.start_offset, one.end_offset, start, end)
            for one in answer.citations
            for name, start, end in self.spans
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    case: Case
    is_hit: bool
    is_silent: bool
    response: str
    quotes: tuple[str, ...]

    @classmethod
    def of(cls, case: Case, answer: Answer) -> "Outcome":
        return cls(
            case=case,
            is_hit=case.is_hit(answer),
            is_silent=not answer.sources,
            response=answer.response,
            quotes=tuple(one.quote or "" for one in answer.citations),
        )


def _overlap(start: int | None, end: int | None, low: int, high: int) -> bool:
    return start is not None and end is not None and max(start, low) < min(end, high)


async def chroma(app: App) -> AsyncIterator[tuple[UUID, list[Case]]]:
    asked = questions(DATA)
    project_id = await shelve(app, DATA, "chroma", sorted({one.corpus for one in asked}))
    yield (
        project_id,
        [
            Case(
                question=one.question,
                is_answerable=True,
                spans=tuple((f"{one.corpus}.md", start, end) for start, end in one.references),
            )
            for one in asked
        ],
    )


async def foreign(app: App) -> AsyncIterator[tuple[UUID, list[Case]]]:
    asked = questions(DATA)
    names = sorted({one.corpus for one in asked})
    for name in names:
        project_id = await shelve(app, DATA, f"without {name}", [other for other in names if other != name])
        yield (
            project_id,
            [Case(question=one.question, is_answerable=False) for one in asked if one.corpus == name],
        )


async def spanish(app: App) -> AsyncIterator[tuple[UUID, list[Case]]]:
    cases: list[Case] = []
    texts: dict[str, bytes] = {}
    for number, article in enumerate(json.loads(SPANISH.read_text(encoding="utf-8"))["data"]):
        name, text = f"article-{number}.txt", ""
        for paragraph in article["paragraphs"]:
            context = paragraph["context"].replace("\ufeff", " ")
            for one in paragraph["qas"]:
                at = len(text) + one["answers"][0]["answer_start"]
                span = (name, at, at + len(one["answers"][0]["text"]))
                cases.append(Case(question=one["question"], is_answerable=True, spans=(span,)))
            text += context + "\n\n"
        texts[name] = text.encode()
    yield await shelve_texts(app, "spanish", texts, CHUNKING), cases[::EVERY]


async def small(app: App) -> AsyncIterator[tuple[UUID, list[Case]]]:
    for folder in sorted(one for one in SMALL.iterdir() if one.is_dir()):
        asked = tomllib.loads((folder / "questions.toml").read_text(encoding="utf-8"))
        paths = [path for path in sorted(folder.iterdir()) if path.suffix != ".toml"]
        project_id = await shelve_texts(
            app, folder.name, {path.name: path.read_bytes() for path in paths}, Chunking()
        )
        cases = [
            Case(question=question, is_answerable=True, words=says) for question, says in asked["answerable"]
        ]
        cases += [Case(question=question, is_answerable=False) for question in asked["unanswerable"]]
        yield project_id, cases


async def shelve_texts(app: App, project: str, texts: Mapping[str, bytes], chunking: Chunking) -> UUID:
    made = await app.store.projects.create(name=project)
    for name, content in texts.items():
        with app.inbox.file() as file:
            await file.write(content)
            await file.finish()
            receipt = await app.receiver.receive(file, name=name, project_id=made.id, chunking=chunking)
        assert receipt.job_id is not None
        await app.ingest.run(made.id, receipt.job_id)
    return made.id


SETS: Mapping[str, Callable[[App], AsyncIterator[tuple[UUID, list[Case]]]]] = {
    "chroma": chroma,
    "spanish": spanish,
    "foreign": foreign,
    "small": small,
}
Ask = Callable[[App, UUID, str], Awaitable[Answer]]


async def ask(app: App, project_id: UUID, question: str) -> Answer:
    return await app.chat.answer(project_id, Asked(message=question))


async def outcomes(app: App, name: str, ask: Ask = ask) -> list[Outcome]:
    return [
        Outcome.of(case, await ask(app, project_id, case.question))
        async for project_id, cases in SETS[name](app)
        for case in cases
    ]


def summary(name: str, found: Sequence[Outcome]) -> list[str]:
    answerable = [one for one in found if one.case.is_answerable]
    others = [one for one in found if not one.case.is_answerable]
    lines = []
    if answerable:
        said = [one for one in answerable if not one.is_silent]
        lines.append(
            f"{name:8} hit {sum(one.is_hit for one in answerable):4} of {len(answerable):4}"
            f"   silent {len(answerable) - len(said):3}"
            f"   quotes {mean(len(one.quotes) for one in said):.2f}"
            f"   characters {mean(sum(map(len, one.quotes)) for one in said):4.0f}"
        )
    if others:
        lines.append(f"{name:8} unanswered {sum(one.is_silent for one in others):4} of {len(others):4}")
    return lines


def mistakes(found: Sequence[Outcome]) -> list[str]:
    return [
        f"    {one.case.question!r}\n        {one.response!r}"
        for one in found
        if (not one.is_hit if one.case.is_answerable else not one.is_silent)
    ]


async def measure(names: Sequence[str], *, misses: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with App.open(Settings(data_dir=Path(folder))) as app:
            for name in names:
                found = await outcomes(app, name)
                print("\n".join([*summary(name, found), *(mistakes(found) if misses else [])]), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--misses", action="store_true", help="print the questions that went wrong")
    options = parser.parse_args()
    if not (DATA / "questions.jsonl").exists() and options.only != ["small"]:
        sys.exit(f"There are no questions in {DATA}. `--only small` needs none.")
    asyncio.run(measure(options.only, misses=options.misses))


if __name__ == "__main__":
    main()
