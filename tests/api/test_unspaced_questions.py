"""Everyday questions in Chinese, Japanese, Korean and Thai, answered without a chat model."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from tests.search.everyday import EVERYDAY
from tests.search.library import WHOLE, Library

from whence.app import App
from whence.chat import Asked
from whence.models import DEFAULT_PROJECT_ID
from whence.settings import Settings

MISSED = {
    "chinese": {"报销期限", "餐费一天多少钱？"},  # noqa: RUF001 - another sentence has as many of the words
    "japanese": {"貸出期間", "犬は入れますか"},
}


@pytest.fixture
async def app(settings: Settings) -> AsyncIterator[App]:
    async with App.open(replace(settings, embedder="minilm")) as opened:
        yield opened


@pytest.mark.parametrize("language", EVERYDAY)
async def test_everyday_questions_are_answered_in_their_language(app: App, language: str) -> None:
    notes = EVERYDAY[language]
    for number, text in enumerate(notes.texts):
        await Library(app).add(f"{number}.md", [text], chunking=WHOLE)
    told = {
        question: (await app.chat.answer(DEFAULT_PROJECT_ID, Asked(message=question))).response
        for question, _ in notes.answered
    }
    missed = {question for question, says in notes.answered if says not in told[question]}
    assert missed <= MISSED.get(language, set())
    titles = [text.split("\n")[0].removeprefix("# ") for text in notes.texts]
    assert not [one for one in told.values() if one.startswith(tuple(f"{title} [" for title in titles))]
    for question in notes.unanswered:
        assert not (await app.chat.answer(DEFAULT_PROJECT_ID, Asked(message=question))).sources, question
