"""Everyday questions in Chinese, Japanese, Korean and Thai, answered without a chat model."""

import pytest
from tests.search.everyday import EVERYDAY
from tests.search.library import WHOLE, Library

from whence.app import App
from whence.chat import Asked

MISSED = {
    "chinese": {"报销期限", "餐费一天多少钱？"},  # noqa: RUF001 - another sentence has as many of the words
    "japanese": {"貸出期間", "犬は入れますか"},
}


@pytest.mark.parametrize("language", EVERYDAY)
async def test_everyday_questions_are_answered_in_their_language(minilm_app: App, language: str) -> None:
    notes, chat = EVERYDAY[language], minilm_app.chat
    project_id = (await minilm_app.store.projects.create(name=language)).id
    for number, text in enumerate(notes.texts):
        await Library(minilm_app, project_id).add(f"{number}.md", [text], chunking=WHOLE)
    told = {
        question: (await chat.answer(project_id, Asked(message=question))).response
        for question, _ in notes.answered
    }
    missed = {question for question, says in notes.answered if says not in told[question]}
    assert missed <= MISSED.get(language, set())
    titles = [text.split("\n")[0].removeprefix("# ") for text in notes.texts]
    assert not [one for one in told.values() if one.startswith(tuple(f"{title} [" for title in titles))]
    for question in notes.unanswered:
        assert not (await chat.answer(project_id, Asked(message=question))).sources, question
