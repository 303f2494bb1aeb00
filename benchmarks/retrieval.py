"""How well real questions are answered by text, vectors and both, and what the floor lets through.

The questions and corpora are those of Chroma's chunking_evaluation, expected in `../shared/data/retrieval`; they are not
part of the project. Corpora become documents of one project in chunks of up to 600 characters, cut at sentences and
embedded by the local model. A question's references are spans of its corpus.
"""

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean
from typing import Any
from uuid import UUID

from whence.app import App
from whence.chunk import ChunkingOptions
from whence.ingest import Chunking
from whence.search import Hit, Mode, Question, SearchResult

DATA = Path(__file__).parents[2] / "shared" / "data" / "retrieval"
CHUNKING = Chunking(strategy="sentence", options=ChunkingOptions(max_chunk_size=600, min_chunk_size=100))
LETTER = """Dear all,

thank you for the parcel, which came on Tuesday; the ribbon was a little torn, but the cups are whole and stand on the shelf beside the
radio. My sister painted the kitchen yellow last week, and we had soup and bread with the neighbours, who sing in a choir. The bus was
late twice because of the roadworks behind the bakery, and the new clock in the hall goes wrong by five minutes every day.

{}

With kind regards to everybody, and do not forget the umbrella that somebody left with you in March.
Oliver"""
SEPARATOR = "\n\n"
SHORT = Path(__file__).parents[1] / "tests" / "search" / "short_questions.toml"
MODES: tuple[Mode, ...] = ("text", "vector", "hybrid")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    corpus: str
    question: str
    references: tuple[tuple[int, int], ...]

    def in_letter(self) -> "Asked":
        return replace(self, question=LETTER.format(self.question))


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    mode: Mode
    recall: float
    """Of the characters of a question's references, how many are in the first five hits; mean over the questions."""
    hit_rate: float
    """How many questions have any of their references in the first five hits."""
    empty: float
    """How many find nothing, with the floor."""
    false_finds: float
    """How many find something in documents that they are not about, with the floor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """Of short or foreign questions: how many find nothing of what they ask, and something where nothing is."""

    mode: Mode
    empty: int
    about_something: int
    found: int
    about_nothing: int
    recall: float = 0.0
    """Recall@5 of Spanish questions, without the floor."""


def questions(folder: Path) -> list[Asked]:
    with (folder / "questions.jsonl").open(encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    return [
        Asked(
            corpus=one["corpus"],
            question=one["question"],
            references=tuple((span["start"], span["end"]) for span in one["references"]),
        )
        for one in found
    ]


async def quality(app: App, folder: Path) -> tuple[list[Quality], list[Quality], list[Brief], list[Brief]]:
    """Of each mode; the same of the questions in letters; of short ones; and of Spanish ones."""
    asked = questions(folder)
    names = sorted({one.corpus for one in asked})
    everything = await shelve(app, folder, "everything", names)
    foreign = {
        name: await shelve(app, folder, f"without {name}", [other for other in names if other != name])
        for name in names
    }
    letters = [one.in_letter() for one in asked]
    return (
        [await _quality(app, everything, foreign, asked, mode) for mode in MODES],
        [await _quality(app, everything, foreign, letters, mode) for mode in MODES],
        [await _brief(app, everything, mode, *_short_questions()) for mode in MODES],
        await _spanish(app, _articles(folder)),
    )


def _short_questions() -> tuple[list[str], list[str]]:
    """About nothing in the corpora, and about something."""
    parts = tomllib.loads(SHORT.read_text(encoding="utf-8")).values()
    nothing = [one for part in parts for one in part["nothing"]]
    return nothing, [
        one for part in parts for kind, asked in part.items() if kind != "nothing" for one in asked
    ]


def _articles(folder: Path) -> Sequence[Any]:
    """The Spanish articles and questions of XQuAD, in the folder beside this one."""
    found = json.loads((folder.parent / "questions" / "xquad.es.json").read_text(encoding="utf-8"))
    return list(found["data"])


async def _spanish(app: App, articles: Sequence[Any]) -> list[Brief]:
    """A project of every other article, asked every third question about these and about the others."""
    made = await app.store.projects.create(name="spanish")
    for article in articles[::2]:
        await _add(app, made.id, f"{article['title']}.md", SEPARATOR.join(_contexts(article)).encode())
    other, own = (
        [one for article in some for one in _asked_of(article)] for some in (articles[1::2], articles[::2])
    )
    nothing, something = ([one.question for one in some[::3]] for some in (other, own))
    found = []
    for mode in MODES:
        brief = await _brief(app, made.id, mode, nothing, something)
        results = [(one, await ask(app, made.id, one, mode, floor=False)) for one in own]
        found.append(replace(brief, recall=mean(recall(one, result.hits) for one, result in results)))
    return found


def _contexts(article: Any) -> list[str]:
    return [paragraph["context"] for paragraph in article["paragraphs"]]


def _asked_of(article: Any) -> Iterator[Asked]:
    """The questions about an article, each with the span of its answer."""
    start = 0
    for paragraph in article["paragraphs"]:
        for one in paragraph["qas"]:
            answer = one["answers"][0]
            begin = start + answer["answer_start"]
            span = begin, begin + len(answer["text"])
            yield Asked(corpus=article["title"], question=one["question"], references=(span,))
        start += len(paragraph["context"] + SEPARATOR)


async def _brief(
    app: App, project_id: UUID, mode: Mode, nothing: Sequence[str], something: Sequence[str]
) -> Brief:
    found = {
        one: bool((await app.search.find(project_id, Question(query=one, mode=mode, limit=5))).hits)
        for one in (*nothing, *something)
    }
    return Brief(
        mode=mode,
        empty=sum(not found[one] for one in something),
        about_something=len(something),
        found=sum(found[one] for one in nothing),
        about_nothing=len(nothing),
    )


async def _quality(
    app: App, everything: UUID, foreign: Mapping[str, UUID], asked: Sequence[Asked], mode: Mode
) -> Quality:
    found = [await ask(app, everything, one, mode, floor=False) for one in asked]
    floored = [await ask(app, everything, one, mode, floor=True) for one in asked]
    strange = [await ask(app, foreign[one.corpus], one, mode, floor=True) for one in asked]
    recalls = [recall(one, hits.hits) for one, hits in zip(asked, found, strict=True)]
    return Quality(
        mode=mode,
        recall=mean(recalls),
        hit_rate=mean(value > 0 for value in recalls),
        empty=mean(not hits.hits for hits in floored),
        false_finds=mean(bool(hits.hits) for hits in strange),
    )


async def ask(app: App, project_id: UUID, asked: Asked, mode: Mode, *, floor: bool) -> SearchResult:
    return await app.search.find(project_id, Question(query=asked.question, mode=mode, limit=5, floor=floor))


async def shelve(app: App, folder: Path, project: str, corpora: Iterable[str]) -> UUID:
    """A project with these corpora, each a document."""
    made = await app.store.projects.create(name=project)
    for name in corpora:
        await _add(app, made.id, f"{name}.md", (folder / "corpora" / f"{name}.md").read_bytes())
    return made.id


async def _add(app: App, project_id: UUID, name: str, content: bytes) -> None:
    with app.inbox.file() as file:
        await file.write(content)
        await file.finish()
        receipt = await app.receiver.receive(file, name=name, project_id=project_id, chunking=CHUNKING)
    assert receipt.job_id is not None
    await app.ingest.run(project_id, receipt.job_id)


def recall(asked: Asked, hits: Sequence[Hit]) -> float:
    """Chunks do not overlap, so what each has of a reference adds up."""
    total = sum(end - start for start, end in asked.references)
    inside = sum(
        max(0, min(end, hit.found.end or 0) - max(start, hit.found.start or 0))
        for start, end in asked.references
        for hit in hits
        if hit.found.document_name == f"{asked.corpus}.md"
    )
    return inside / total
