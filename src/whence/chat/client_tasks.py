"""Requests of chat clients that are not questions: a title, tags or follow-ups for a conversation."""

import json
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from time import monotonic

from whence.chat.answer import Answer, Event, Sources
from whence.chat.answerer import EXTRACTIVE, say
from whence.providers import ChatModel, Completion, Message

# Open WebUI encloses the conversation in this tag; LibreChat asks for a title in these words.
_IS_TASK = re.compile(r"<chat_history>|\btitle for the conversation\b", re.IGNORECASE)
_WANTED = re.compile(r'\{\s*"(title|tags|follow_ups|queries|text)"')
_FIRST_TURN = re.compile(r"^(?:user|human)\s*:\s*(.+)$", re.IGNORECASE | re.MULTILINE)
_TITLE_WORDS = 6
_NO_TITLE = "Conversation"


def is_client_task(message: str) -> bool:
    return _IS_TASK.search(message) is not None


async def do_client_task(
    model: ChatModel | None, messages: Sequence[Message], *, max_tokens: int
) -> AsyncGenerator[Event, None]:
    """The events of an answer without sources: the model's own words; without a model, the minimum that the client accepts."""
    began = monotonic()
    yield Sources(sources=(), model=model.model if model else EXTRACTIVE)
    parts = model.stream(messages, max_tokens=max_tokens) if model else say(_least(messages[-1].content))
    async with aclosing(parts) as stream:
        async for part in stream:
            if isinstance(part, Completion):
                done = part
            else:
                yield part
    yield Answer(
        response=done.text,
        messages=(*messages, Message(role="assistant", content=done.text)),
        sources=(),
        citations=(),
        removed=0,
        model=done.model,
        seconds=monotonic() - began,
        prompt_tokens=done.prompt_tokens,
        completion_tokens=done.completion_tokens,
        finish=done.finish,
        notes=(),
    )


def _least(task: str) -> str:
    """The first words of the conversation as its title; empty lists for everything that needs a model."""
    wanted = _WANTED.search(task)
    kind = wanted[1] if wanted else "title"
    turn = _FIRST_TURN.search(task)
    title = " ".join(turn[1].split()[:_TITLE_WORDS]) if turn else _NO_TITLE
    if wanted is None:
        return title
    values = {"title": title, "text": ""}
    return json.dumps({kind: values.get(kind, [])}, ensure_ascii=False)
