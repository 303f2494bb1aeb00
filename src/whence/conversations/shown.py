"""Converts stored answers to the API's models, with the reasons why they are stale and the current text."""

from typing import Any
from uuid import UUID

from whence import links
from whence.api.chat import ChatAnswer, ChatCitation, ChatSource
from whence.api.conversations import (
    AnswerModel,
    ConversationAnswer,
    ConversationMessage,
    ConversationModel,
    FeedbackModel,
    StaleReason,
)
from whence.chat import Answer, Citation, Source
from whence.conversations.changes import most_similar
from whence.models import new_id, now
from whence.store import Store
from whence.store.answers import Conversation, StoredAnswer

_REACH = 100_000
"""Number of characters before and after the old place in which a changed text is searched."""


async def show(store: Store, stored: StoredAnswer) -> AnswerModel:
    frozen = stored.answer
    for one in frozen["sources"]:
        one["url"] = _link_of(one)
    for one in frozen["citations"]:
        one["url"] = _link_of(one)
    moved = stored.moved or []
    fields = {
        **frozen,
        "id": stored.id,
        "projectId": stored.project_id,
        "conversationId": stored.conversation_id,
        "question": stored.asked["message"],
        "createdAt": stored.created_at,
        "url": links.to_answer(stored.id),
        "isStale": bool(moved),
        "staleAt": min((one["at"] for one in moved), default=None),
        "staleReasons": await _reasons(store, stored),
        "feedback": stored.feedback and FeedbackModel.model_validate(stored.feedback),
        "refreshes": stored.refreshes,
        "refreshedBy": stored.refreshed_by,
    }
    return AnswerModel.model_validate(fields)


def as_given(stored: StoredAnswer) -> Answer:
    """The answer as chat gave it, without messages and finish reason, which are not stored."""
    frozen = ChatAnswer.model_validate({**stored.answer, "messages": []})
    return Answer(
        response=frozen.response,
        messages=(),
        sources=tuple(map(_source_of, frozen.sources)),
        citations=tuple(map(_citation_of, frozen.citations)),
        removed=0,
        model=frozen.model,
        seconds=frozen.total_duration / 1000,
        prompt_tokens=frozen.prompt_eval_count,
        completion_tokens=frozen.eval_count,
        finish=None,
        notes=tuple(frozen.notes),
        id=stored.id,
        conversation_id=stored.conversation_id,
    )


def _source_of(one: ChatSource) -> Source:
    return Source(
        id=one.id,
        document_id=one.document_id,
        chunk_index=one.chunk_index,
        text=one.chunk_text,
        name=one.source,
        distance=one.distance,
        page=one.page,
        start=one.start_offset,
        end=one.end_offset,
        document_version=one.document_version,
    )


def _citation_of(one: ChatCitation) -> Citation:
    fields = one.model_dump(exclude={"url", "pages", "chunk_id", "document_id"})
    chunk_id = None if one.chunk_id is None else str(one.chunk_id)
    document_id = None if one.document_id is None else str(one.document_id)
    return Citation(**fields, chunk_id=chunk_id, document_id=document_id)


def show_unstored(project_id: UUID, question: str, answer: ChatAnswer) -> AnswerModel:
    """An answer that was not stored, in the form of one that was."""
    ident = new_id()
    fields = {
        **answer.as_json(),
        "id": answer.answer_id or ident,
        "projectId": project_id,
        "conversationId": answer.conversation_id or ident,
        "question": question,
        "createdAt": now(),
        "url": answer.url,
        "isStale": False,
        **dict.fromkeys(("staleAt", "feedback", "refreshes", "refreshedBy")),
        "staleReasons": [],
    }
    return AnswerModel.model_validate(fields)


async def show_conversation(store: Store, found: Conversation) -> ConversationAnswer:
    messages: list[ConversationMessage] = []
    for stored in await store.conversations.answers(found):
        answer = await show(store, stored)
        at = stored.created_at
        messages += (
            ConversationMessage(role="user", content=answer.question, created_at=at, answer=None),
            ConversationMessage(role="assistant", content=answer.response, created_at=at, answer=answer),
        )
    return ConversationAnswer.of(found, url=links.to_conversation(found.id), messages=messages)


def show_head(found: Conversation) -> ConversationModel:
    return ConversationModel.of(found, url=links.to_conversation(found.id))


def _link_of(frozen: dict[str, Any]) -> str | None:
    start, end = frozen.get("startOffset"), frozen.get("endOffset")
    return links.to_document(
        frozen["documentId"], version=frozen.get("documentVersion"), start=start, end=end
    )


async def _reasons(store: Store, stored: StoredAnswer) -> list[StaleReason]:
    """One reason per cited passage that changed."""
    sources = {one["id"]: one for one in stored.answer["sources"]}
    grouped: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for moved in stored.moved or ():
        quote = stored.answer["citations"][moved["number"]]["quote"]
        old = quote or sources[moved["chunk_id"]]["chunkText"]
        grouped.setdefault((moved["chunk_id"], old), []).append(moved)
    found = []
    for (chunk_id, old), moves in grouped.items():
        source = sources[chunk_id]
        document_id = UUID(source["documentId"])
        start = stored.answer["citations"][moves[0]["number"]]["startOffset"] or 0
        new, place, version = await _find_now(store, stored.project_id, document_id, old, near=start)
        end = None if new is None else place + len(new)
        fields = {
            "reason": moves[0]["reason"],
            "at": moves[0]["at"],
            "chunk_id": chunk_id,
            "document_id": document_id,
            "document_name": source["source"],
            "current_version": version,
            "citations": [one["number"] for one in moves],
            "old_text": old,
            "new_text": new,
            "quote_still_there": new == old,
            "url": end and links.to_document(document_id, version=version, start=place, end=end),
        }
        found.append(StaleReason.of(fields))
    return found


async def _find_now(
    store: Store, project_id: UUID, document_id: UUID, old: str, *, near: int
) -> tuple[str | None, int, int | None]:
    """The same text, else the most similar one, with its place and the document's version."""
    begin = max(0, near - _REACH)
    part = await store.documents.part(project_id, document_id, start=begin, end=near + len(old) + _REACH)
    if part is None:
        return None, 0, None
    text, version = part
    new = old if old in text else most_similar(old, text)
    return new, begin + text.find(new or ""), version
