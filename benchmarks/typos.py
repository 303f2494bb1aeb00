"""Of the questions that find their reference among the first five hits, how many still do with one, two or three misspelt words.

The questions and corpora are those of `benchmarks/retrieval.py`. A misspelt word lacks a letter, has one too many or a wrong
one, or has two letters swapped. Words of four letters and more are misspelt, drawn with a fixed seed.
"""

import asyncio
import random
import re
import string
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from uuid import UUID

from benchmarks.results import Result
from benchmarks.retrieval import Asked, ask, questions, recall, shelve

from whence.app import App
from whence.settings import Settings

WANTED = {1: 0.97, 2: 0.95, 3: 0.92}
"""Share of the questions by the number of misspelt words."""
_WORD = re.compile(r"[A-Za-z]{4,}")


def misspell(text: str, count: int, chance: random.Random) -> str:
    """Misspells up to `count` words of the text."""
    matches = list(_WORD.finditer(text))
    for match in sorted(chance.sample(matches, min(count, len(matches))), key=lambda one: -one.start()):
        text = text[: match.start()] + _misspell_word(match[0], chance) + text[match.end() :]
    return text


def _misspell_word(word: str, chance: random.Random) -> str:
    at, letter = chance.randrange(1, len(word) - 1), chance.choice(string.ascii_lowercase)
    kinds = (
        word[:at] + word[at + 1 :],
        word[:at] + letter + word[at:],
        word[:at] + letter + word[at + 1 :],
        word[:at] + word[at + 1] + word[at] + word[at + 2 :],
    )
    return chance.choice([kind for kind in kinds if kind != word])


def results(folder: Path) -> list[Result]:
    async def work(data: str) -> list[float]:
        async with App.open(Settings(data_dir=Path(data))) as app:
            asked = questions(folder)
            project = await shelve(app, folder, "everything", sorted({one.corpus for one in asked}))
            found = [one for one in asked if await _finds(app, project, one, one.question)]
            print(f"{len(found)} of {len(asked)} questions find their reference as they are")
            return [await _share(app, project, found, count) for count in WANTED]

    with tempfile.TemporaryDirectory() as data:
        shares = asyncio.run(work(data))
    return [
        Result(
            what=f"of these, with {count} misspelt word{'s' if count > 1 else ''}",
            figure=f"{share:.1%}",
            target=f">= {wanted:.0%}",
            met=share >= wanted,
        )
        for (count, wanted), share in zip(WANTED.items(), shares, strict=True)
    ]


async def _share(app: App, project_id: UUID, asked: Sequence[Asked], count: int) -> float:
    chance = random.Random(count)
    found = [await _finds(app, project_id, one, misspell(one.question, count, chance)) for one in asked]
    return sum(found) / len(found)


async def _finds(app: App, project_id: UUID, asked: Asked, question: str) -> bool:
    result = await ask(app, project_id, replace(asked, question=question), "hybrid", floor=True)
    return recall(asked, result.hits) > 0
