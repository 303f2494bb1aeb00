"""Asks questions in conversations and stores the answers as they were given."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from whence.api.chat import ChatAnswer, ChatQuestion, VerifiedEvent
from whence.api.conversations import MAX_TITLE
from whence.chat import Answer, Asked, Chat, Verified
from whence.chat.answer import Event, whole_answer
from whence.errors import Conflict, ConversationNotFound
from whence.models import new_id
from whence.providers import NOTHING_PASSED_ON, Message, PassedOn
from whence.store import Store
from whence.store.answers import StoredAnswer, StoredCitation
from whence.store.keys import Caller

MAX_ANSWERS = 500
"""Maximum number of answers per conversation, because all of them are its history."""
_NOT_ASKED = {"history", "conversation_id", "store", "project_id", "project", "stream"}
_NOT_FROZEN = {"messages", "answer_id", "conversation_id", "url"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Project, conversation and question of an answer to store."""

    project_id: UUID
    conversation_id: UUID | None
    """None for a new conversation."""
    question: ChatQuestion
    caller: Caller
    answer_id: UUID | None = None
    refreshed: StoredAnswer | None = None


class ConversationService:
    def __init__(self, store: Store, chat: Chat) -> None:
        self._store = store
        self._chat = chat

    async def answer(self, project_id: UUID, question: ChatQuestion, caller: Caller) -> Answer:
        """Like `Chat.answer`, in a conversation if the question requests one."""
        return await whole_answer(self.stream(project_id, question, caller))

    async def stream(
        self,
        project_id: UUID,
        question: ChatQuestion,
        caller: Caller,
        *,
        passed_on: PassedOn = NOTHING_PASSED_ON,
        answer_id: UUID | None = None,
    ) -> AsyncGenerator[Event, None]:
        """Like `Chat.stream`. An answer is stored before it is sent, and has its id: `answer_id`, or a new one."""
        asked = replace(question.asked(), passed_on=passed_on)
        if question.conversation_id is not None:
            asked = replace(asked, history=await self._history(project_id, question.conversation_id, caller))
        is_stored = question.store if question.store is not None else question.conversation_id is not None
        if not is_stored:
            events = self._chat.stream(project_id, asked)
        else:
            place = _Place(
                project_id=project_id,
                conversation_id=question.conversation_id,
                question=question,
                caller=caller,
                answer_id=answer_id,
            )
            events = self._storing(place, asked)
        async with aclosing(events) as opened:
            async for event in opened:
                yield event

    async def continued_after(self, answer_id: UUID, caller: Caller) -> UUID:
        """The conversation whose last answer this is. Raises `Conflict` if there are later ones, as they would be its history."""
        stored = await self._store.answers.get(answer_id, caller)
        conversation = await self._store.conversations.get(stored.conversation_id, caller)
        before = await self._store.conversations.turns(
            stored.project_id, conversation.id, before=stored.turn_id
        )
        if stored.refreshed_by is not None or len(before) + 1 < conversation.answer_count:
            details = {"answer_id": str(answer_id), "conversation_id": str(conversation.id)}
            raise Conflict("The conversation has later answers; continue its last answer", details=details)
        return conversation.id

    async def refresh(self, stored: StoredAnswer, caller: Caller) -> tuple[StoredAnswer, Answer]:
        """Ask the question again and replace the old answer by the new one. Returns the new answer as stored and as given."""
        if stored.refreshed_by is not None:
            details = {"answer_id": str(stored.id), "refreshed_by": str(stored.refreshed_by)}
            raise Conflict("The answer was already refreshed; refresh the newer one", details=details)
        kept = {
            name: value for name, value in stored.asked.items() if name != "project"
        }  # older answers have it
        question = ChatQuestion.model_validate(kept)
        turns = await self._store.conversations.turns(
            stored.project_id, stored.conversation_id, before=stored.turn_id
        )
        place = _Place(
            project_id=stored.project_id,
            conversation_id=stored.conversation_id,
            question=question,
            caller=caller,
            refreshed=stored,
        )
        answer = await whole_answer(self._storing(place, replace(question.asked(), history=_messages(turns))))
        assert answer.id is not None, "the answer was stored"
        return await self._store.answers.get(answer.id, caller), answer

    async def _history(self, project_id: UUID, conversation_id: UUID, caller: Caller) -> tuple[Message, ...]:
        conversation = await self._store.conversations.get(conversation_id, caller)
        if conversation.project_id != project_id:
            raise ConversationNotFound(details={"conversation_id": str(conversation_id)})
        if conversation.answer_count >= MAX_ANSWERS:
            raise Conflict(
                f"The conversation has {MAX_ANSWERS} answers; begin another one",
                details={"conversation_id": str(conversation_id)},
            )
        return _messages(await self._store.conversations.turns(project_id, conversation_id))

    async def _storing(self, place: _Place, asked: Asked) -> AsyncGenerator[Event, None]:
        answer: Answer | None = None
        asked = replace(asked, include_rects=True)  # they are stored with the answer
        async with aclosing(self._chat.stream(place.project_id, asked)) as events:
            async for event in events:
                if isinstance(event, Answer):
                    answer = await self._store_answer(place, event)
                    yield answer
                    continue
                if isinstance(event, Verified) and answer is not None and answer.id is not None:
                    judged = VerifiedEvent.of(event.in_answer(answer)).as_json()
                    await self._store.answers.amend(place.project_id, answer.id, judged)
                yield event

    async def _store_answer(self, place: _Place, answer: Answer) -> Answer:
        answer_id, project_id = place.answer_id or new_id(), place.project_id
        async with self._store.transaction() as tx:
            conversation_id = place.conversation_id
            if conversation_id is None:
                conversation_id = (await tx.conversations.create(project_id, place.caller)).id
            await tx.answers.add(
                project_id,
                conversation_id,
                answer_id=answer_id,
                asked=_frozen(place.question, _NOT_ASKED),
                answer=_frozen(ChatAnswer.of(answer), _NOT_FROZEN),
                grounds=list(_grounds(answer)),
                title=" ".join(place.question.message.split())[:MAX_TITLE],
                refreshed=place.refreshed,
            )
        return replace(answer, id=answer_id, conversation_id=conversation_id)


def _frozen(shape: ChatQuestion | ChatAnswer, without: set[str]) -> dict[str, Any]:
    return shape.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude=without)


def _messages(turns: Sequence[tuple[str, str]]) -> tuple[Message, ...]:
    return tuple(
        message
        for question, response in turns
        for message in (
            Message(role="user", content=question),
            Message(role="assistant", content=response),
        )
    )


def _grounds(answer: Answer) -> list[StoredCitation]:
    """The citations with their chunks. A quote is given by its place in the chunk, which may move in its document."""
    starts = {source.id: source.start for source in answer.sources}
    found = []
    for number, one in enumerate(answer.citations):
        if one.chunk_id is None or one.document_id is None:  # LightRAG's own texts are never stale
            continue
        ground = StoredCitation(number=number, chunk_id=UUID(one.chunk_id))
        begin = starts.get(one.chunk_id)
        if begin is not None and one.start_offset is not None and one.end_offset is not None:
            ground = replace(ground, start_offset=one.start_offset - begin, end_offset=one.end_offset - begin)
        found.append(ground)
    return found
