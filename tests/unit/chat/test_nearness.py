"""How near a question is to the object that it is about without naming it, by the local model: what the threshold rests on.

The objects are in `near_objects.toml`; the questions about something else are those of the small projects.
"""

import tomllib
from pathlib import Path

import numpy as np
import pytest

from whence.chat.graph import _MEASURED
from whence.providers.factory import open_embedder
from whence.settings import Settings

HERE = Path(__file__)


@pytest.fixture
def objects() -> list[str]:
    found: list[str] = tomllib.loads(HERE.with_name("near_objects.toml").read_text(encoding="utf-8"))[
        "objects"
    ]
    return found


@pytest.fixture
def elsewhere() -> list[str]:
    asked = [
        tomllib.loads(path.read_text(encoding="utf-8"))
        for path in HERE.parents[2].glob("small_projects/*/questions.toml")
    ]
    return [q for one in asked for q in (*(q for q, _ in one["answerable"]), *one["unanswerable"])]


async def test_most_questions_are_near_to_what_they_are_about_and_hardly_any_to_something_else(
    objects: list[str], elsewhere: list[str]
) -> None:
    wanted = tomllib.loads(HERE.with_name("near_questions.toml").read_text(encoding="utf-8"))["questions"]
    embedder = open_embedder(Settings())
    threshold = _MEASURED[(embedder.provider, embedder.model)]
    things = (await embedder.embed(objects)).vectors
    near = (await embedder.embed([question for question, _ in wanted])).vectors @ things.T
    best = [objects[row] for row in near.argmax(axis=1)]
    right = [words in text for (_, words), text in zip(wanted, best, strict=True)]
    found = np.logical_and(right, near.max(axis=1) >= threshold)
    far = (await embedder.embed(elsewhere)).vectors @ things.T
    wrong = [question for question, row in zip(elsewhere, far, strict=True) if row.max() >= threshold]
    assert (len(wanted), len(elsewhere)) == (30, 208)
    assert sum(right) == 30
    assert sum(found) >= 28
    assert len(wrong) <= 4, wrong
