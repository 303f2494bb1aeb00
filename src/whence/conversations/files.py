"""Conversations and answers as files: JSON, Markdown, JSON Lines."""

from collections.abc import AsyncGenerator
from uuid import UUID

from whence.api.conversations import ConversationAnswer
from whence.conversations.shown import show
from whence.store import Store
from whence.store.answers import FeedbackFilter
from whence.store.keys import Caller

_BATCH = 100


def as_markdown(conversation: ConversationAnswer) -> str:
    """Questions as headings, answers with their quotes as a list."""
    lines = [f"# {conversation.title or 'Conversation'}", ""]
    for message in conversation.messages:
        if message.answer is None:
            lines += [f"## {message.content}", ""]
            continue
        lines += [message.content, ""]
        names = {str(one.id): one.source for one in message.answer.sources}
        for one in message.answer.citations:
            if one.quote is not None:
                page = "" if one.page is None else f", page {one.page}"
                place = f"{names.get(str(one.chunk_id), '')}{page}"
                quote = " ".join(one.quote.split())
                lines.append(f"- [{one.chunk_id}] {place}: “{quote}” ({one.support_level})")
        lines += [f"- Stale: {one.reason}: “{one.old_text}”" for one in message.answer.stale_reasons] + [""]
    return "\n".join(lines)


async def answer_lines(
    store: Store,
    project_id: UUID,
    caller: Caller,
    *,
    stale: bool | None = None,
    feedback: FeedbackFilter | None = None,
) -> AsyncGenerator[bytes, None]:
    """The answers as JSON Lines, newest first."""
    offset = 0
    while True:
        found, _ = await store.answers.page(
            project_id, caller, stale=stale, feedback=feedback, limit=_BATCH, offset=offset
        )
        for stored in found:
            yield (await show(store, stored)).encode() + b"\n"
        if len(found) < _BATCH:
            return
        offset += _BATCH
