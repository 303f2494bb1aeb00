"""Conversations and their answers. A key sees its own conversations and those made without a key."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, LiteralString
from uuid import UUID

from psycopg.types.json import Jsonb

from whence.errors import AnswerNotFound, Conflict, ConversationNotFound
from whence.models import new_id, now
from whence.store.keys import Caller
from whence.store.pool import PagedQuery, Statements, fields_of, reader, records, uuids

MoveReason = Literal["changed", "deleted", "rejected"]
FeedbackFilter = Literal["up", "down", "any"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    project_id: UUID
    id: UUID
    title: str | None
    created_at: datetime
    updated_at: datetime
    is_own: bool
    """Whether the caller's key made the conversation. Without a key: whether it was made without one."""
    answer_count: int = 0
    stale_count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAnswer:
    """An answer as it was given, with later feedback, refreshes and stale citations."""

    project_id: UUID
    id: UUID
    conversation_id: UUID
    turn_id: UUID
    """Id of the first answer to the question. `refreshes` is the answer before this one, `refreshed_by` the one after it."""
    asked: dict[str, Any]
    answer: dict[str, Any]
    feedback: dict[str, Any] | None
    refreshes: UUID | None
    refreshed_by: UUID | None
    created_at: datetime
    moved: list[dict[str, Any]] | None
    """Stale citations: `number`, `chunk_id`, `reason` and `at`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCitation:
    """A citation: its number, its chunk, and its quote in the chunk."""

    number: int
    chunk_id: UUID
    start_offset: int | None = None
    end_offset: int | None = None


_VISIBLE: LiteralString = "(%(key_id)s::uuid IS NULL OR c.owner IS NULL OR c.owner = %(key_id)s)"
_OF_CALLER: LiteralString = f"(%(project_id)s::uuid IS NULL OR c.project_id = %(project_id)s) AND {_VISIBLE}"
_MOVED: LiteralString = """
    kb.answer_grounds g
    WHERE g.project_id = a.project_id AND g.answer_id = a.id AND g.reason IS NOT NULL"""
_CURRENT: LiteralString = """
    kb.answers a
    WHERE a.project_id = c.project_id AND a.conversation_id = c.id AND a.refreshed_by IS NULL"""
_CONVERSATION: LiteralString = f"""
    c.project_id, c.id, c.title, c.created_at, c.updated_at, c.owner IS NOT DISTINCT FROM %(key_id)s::uuid,
    (SELECT count(*) FROM {_CURRENT}),
    (SELECT count(*) FROM {_CURRENT} AND EXISTS (SELECT FROM {_MOVED}))"""
_ANSWER: LiteralString = f"""
    a.project_id, a.id, a.conversation_id, a.turn_id, a.asked, a.answer, a.feedback, a.refreshes, a.refreshed_by, a.created_at,
    (SELECT jsonb_agg(jsonb_build_object('number', g.number, 'chunk_id', g.chunk_id, 'reason', g.reason, 'at', g.moved_at)
                      ORDER BY g.number)
     FROM {_MOVED})"""
_conversation_of = reader(Conversation)
_answer_of = reader(StoredAnswer)

CREATE: LiteralString = """
INSERT INTO kb.conversations (project_id, id, owner, title, created_at, updated_at)
VALUES (%(project_id)s, %(id)s, %(owner)s, %(title)s, %(created_at)s, %(updated_at)s)
"""
SELECT_CONVERSATION: LiteralString = (
    f"SELECT {_CONVERSATION} FROM kb.conversations c WHERE c.id = %(id)s AND {_OF_CALLER}"
)
CONVERSATIONS = PagedQuery(
    _conversation_of,
    _CONVERSATION,
    f"FROM kb.conversations c WHERE c.project_id = %(project_id)s AND {_VISIBLE}",
    "c.updated_at DESC, c.id DESC",
    ident="c.id",
)
RENAME: LiteralString = """
UPDATE kb.conversations SET title = %(title)s WHERE project_id = %(project_id)s AND id = %(id)s
"""
DELETE: LiteralString = "DELETE FROM kb.conversations WHERE project_id = %(project_id)s AND id = %(id)s"
DELETE_OLD: LiteralString = "DELETE FROM kb.conversations WHERE updated_at < %(before)s"
TURNS: LiteralString = """
SELECT a.asked ->> 'message', a.answer ->> 'response' FROM kb.answers a
WHERE a.project_id = %(project_id)s AND a.conversation_id = %(id)s AND a.refreshed_by IS NULL
  AND (%(before)s::uuid IS NULL OR a.turn_id < %(before)s)
ORDER BY a.turn_id
"""
OF_CONVERSATION: LiteralString = f"""
SELECT {_ANSWER} FROM kb.answers a
WHERE a.project_id = %(project_id)s AND a.conversation_id = %(id)s AND a.refreshed_by IS NULL
ORDER BY a.turn_id
"""
# Locks the cited chunks in the order of `graph.locks`, so that a removal waits and then sees the new rows. A chunk that no longer exists
# counts as changed.
INSERT: LiteralString = """
WITH held AS (
    SELECT c.id FROM kb.chunks c
    WHERE c.project_id = %(project_id)s AND c.id = ANY(%(chunk_ids)s::uuid[])
    ORDER BY c.id FOR KEY SHARE
), place AS (
    UPDATE kb.conversations SET updated_at = %(now)s, title = coalesce(title, %(title)s)
    WHERE project_id = %(project_id)s AND id = %(conversation_id)s
    RETURNING id
), before AS (
    UPDATE kb.answers SET refreshed_by = %(id)s
    WHERE project_id = %(project_id)s AND id = %(refreshes)s::uuid AND refreshed_by IS NULL
    RETURNING id
), answer AS (
    INSERT INTO kb.answers (project_id, id, conversation_id, turn_id, asked, answer, refreshes, created_at)
    SELECT %(project_id)s, %(id)s, place.id, %(turn_id)s, %(asked)s, %(answer)s, %(refreshes)s::uuid, %(now)s FROM place
    WHERE %(refreshes)s::uuid IS NULL OR EXISTS (SELECT FROM before)
    RETURNING id
), grounds AS (
    INSERT INTO kb.answer_grounds (project_id, answer_id, number, chunk_id, start_offset, end_offset, reason, moved_at)
    SELECT %(project_id)s, answer.id, g.number, g.chunk_id, g.start_offset, g.end_offset,
           CASE WHEN held.id IS NULL THEN 'changed' END, CASE WHEN held.id IS NULL THEN %(now)s::timestamptz END
    FROM answer, json_to_recordset(%(grounds)s::json)
         AS g (number integer, chunk_id uuid, start_offset integer, end_offset integer)
    LEFT JOIN held ON held.id = g.chunk_id
)
SELECT FROM answer
"""
SELECT_ANSWER: LiteralString = f"""
SELECT {_ANSWER} FROM kb.answers a
JOIN kb.conversations c ON c.project_id = a.project_id AND c.id = a.conversation_id
WHERE a.id = %(id)s AND {_OF_CALLER}
"""
_LISTED: LiteralString = f"""
FROM kb.answers a
JOIN kb.conversations c ON c.project_id = %(project_id)s AND c.id = a.conversation_id
WHERE a.project_id = %(project_id)s AND {_VISIBLE}
  AND (%(conversation_id)s::uuid IS NULL OR a.conversation_id = %(conversation_id)s)"""
_STALE: LiteralString = f"EXISTS (SELECT FROM {_MOVED})"
_WITH_FEEDBACK: LiteralString = """
  AND a.feedback IS NOT NULL AND (%(feedback)s = 'any' OR a.feedback ->> 'rating' = %(feedback)s)"""


def _list_query(stale: bool | None, *, feedback: bool) -> PagedQuery[StoredAnswer]:
    wanted: LiteralString = (
        ""
        if stale is None
        else f"\n  AND a.refreshed_by IS NULL AND {_STALE}"
        if stale
        else f"\n  AND NOT {_STALE}"
    )
    rated: LiteralString = _WITH_FEEDBACK if feedback else ""
    return PagedQuery(
        _answer_of, _ANSWER, f"{_LISTED}{wanted}{rated}", "a.id DESC", is_after="a.id < %(after)s"
    )


ANSWERS = {
    (stale, feedback): _list_query(stale, feedback=feedback)
    for stale in (None, True, False)
    for feedback in (False, True)
}
"""Statements by (stale, with feedback): each uses its own index."""
RATE: LiteralString = """
UPDATE kb.answers SET feedback = %(feedback)s WHERE project_id = %(project_id)s AND id = %(id)s
"""
DELETE_TURN: LiteralString = """
DELETE FROM kb.answers
WHERE project_id = %(project_id)s AND conversation_id = %(conversation_id)s AND turn_id = %(turn_id)s
"""
COUNT_CITING: LiteralString = """
SELECT count(DISTINCT g.answer_id)
FROM kb.chunks c
JOIN kb.answer_grounds g ON g.project_id = c.project_id AND g.chunk_id = c.id AND g.reason IS NULL
JOIN kb.answers a ON a.project_id = g.project_id AND a.id = g.answer_id AND a.refreshed_by IS NULL
WHERE c.project_id = %(project_id)s AND c.document_id = %(document_id)s
"""
DELETE_EMPTY: LiteralString = """
DELETE FROM kb.conversations c WHERE c.project_id = %(project_id)s AND c.id = %(conversation_id)s AND NOT EXISTS (
    SELECT FROM kb.answers a WHERE a.project_id = %(project_id)s AND a.conversation_id = %(conversation_id)s)
"""
AMEND: LiteralString = """
UPDATE kb.answers SET answer = answer || %(more)s WHERE project_id = %(project_id)s AND id = %(id)s
"""


class Conversations(Statements):
    async def create(self, project_id: UUID, caller: Caller, *, title: str | None = None) -> Conversation:
        made = Conversation(
            project_id=project_id, id=new_id(), title=title, created_at=now(), updated_at=now(), is_own=True
        )
        await self._queries.run(CREATE, {**fields_of(made), "owner": caller.key_id})
        return made

    async def get(self, conversation_id: UUID, caller: Caller) -> Conversation:
        """Raises `ConversationNotFound`, also if the conversation belongs to another project or key."""
        row = await self._queries.one(SELECT_CONVERSATION, {"id": conversation_id, **_restrict_to(caller)})
        if row is None:
            raise ConversationNotFound(details={"conversation_id": str(conversation_id)})
        return _conversation_of(row)

    async def page(
        self, project_id: UUID, caller: Caller, *, limit: int, offset: int, after: UUID | None = None
    ) -> tuple[list[Conversation], int]:
        params = {"project_id": project_id, "key_id": caller.key_id}
        return await self._queries.page(CONVERSATIONS, params, limit=limit, offset=offset, after=after)

    async def rename(self, conversation: Conversation, title: str) -> None:
        params = {"project_id": conversation.project_id, "id": conversation.id, "title": title}
        await self._queries.run(RENAME, params)

    async def delete(self, conversation: Conversation) -> None:
        await self._queries.run(DELETE, {"project_id": conversation.project_id, "id": conversation.id})

    async def delete_old(self, before: datetime) -> int:
        """Delete conversations without an answer since `before`. Returns their number."""
        return await self._queries.run(DELETE_OLD, {"before": before})

    async def turns(
        self, project_id: UUID, conversation_id: UUID, *, before: UUID | None = None
    ) -> list[tuple[str, str]]:
        """Questions and responses, oldest first; with `before`, only earlier turns."""
        params = {"project_id": project_id, "id": conversation_id, "before": before}
        return [(row[0], row[1]) for row in await self._queries.all(TURNS, params)]

    async def answers(self, conversation: Conversation) -> list[StoredAnswer]:
        """The newest answer to each question."""
        params = {"project_id": conversation.project_id, "id": conversation.id}
        return [_answer_of(row) for row in await self._queries.all(OF_CONVERSATION, params)]


class Answers(Statements):
    async def add(
        self,
        project_id: UUID,
        conversation_id: UUID,
        *,
        answer_id: UUID,
        asked: dict[str, Any],
        answer: dict[str, Any],
        grounds: Sequence[StoredCitation],
        title: str,
        refreshed: StoredAnswer | None = None,
    ) -> None:
        """Append an answer to the conversation, or replace its answer `refreshed`. `title` is used if the conversation has none."""
        params = {
            "project_id": project_id,
            "conversation_id": conversation_id,
            "id": answer_id,
            "turn_id": refreshed.turn_id if refreshed else answer_id,
            "refreshes": refreshed.id if refreshed else None,
            "asked": Jsonb(asked),
            "answer": Jsonb(answer),
            "grounds": records([fields_of(one) for one in grounds]),
            "chunk_ids": uuids({one.chunk_id for one in grounds}),
            "title": title,
            "now": now(),
        }
        if not await self._queries.run(INSERT, params):
            if refreshed is not None:
                raise Conflict(
                    "The answer was refreshed or deleted meanwhile", details={"answer_id": str(refreshed.id)}
                )
            raise ConversationNotFound(details={"conversation_id": str(conversation_id)})

    async def get(self, answer_id: UUID, caller: Caller) -> StoredAnswer:
        """Raises `AnswerNotFound`, also if the answer belongs to another project or key."""
        row = await self._queries.one(SELECT_ANSWER, {"id": answer_id, **_restrict_to(caller)})
        if row is None:
            raise AnswerNotFound(details={"answer_id": str(answer_id)})
        return _answer_of(row)

    async def page(
        self,
        project_id: UUID,
        caller: Caller,
        *,
        stale: bool | None = None,
        feedback: FeedbackFilter | None = None,
        conversation_id: UUID | None = None,
        limit: int,
        offset: int,
        after: UUID | None = None,
    ) -> tuple[list[StoredAnswer], int]:
        """Answers, newest first. Stale answers that were refreshed are left out."""
        params = {
            "project_id": project_id,
            "key_id": caller.key_id,
            "feedback": feedback,
            "conversation_id": conversation_id,
        }
        query = ANSWERS[stale, feedback is not None]
        return await self._queries.page(query, params, limit=limit, offset=offset, after=after)

    async def count_citing(self, project_id: UUID, document_id: UUID) -> int:
        """Number of answers that cite the document's current chunks and were not refreshed."""
        params = {"project_id": project_id, "document_id": document_id}
        return int(await self._queries.value(COUNT_CITING, params))

    async def rate(self, stored: StoredAnswer, feedback: dict[str, Any] | None) -> None:
        params = {"project_id": stored.project_id, "id": stored.id}
        await self._queries.run(RATE, {**params, "feedback": None if feedback is None else Jsonb(feedback)})

    async def delete(self, stored: StoredAnswer) -> None:
        """Delete the question with all its answers, and the conversation if it has no other question."""
        params = {
            "project_id": stored.project_id,
            "conversation_id": stored.conversation_id,
            "turn_id": stored.turn_id,
        }
        await self._queries.run(DELETE_TURN, params)
        await self._queries.run(DELETE_EMPTY, params)

    async def amend(self, project_id: UUID, answer_id: UUID, more: dict[str, Any]) -> None:
        """Add fields that were computed later, such as judgements."""
        await self._queries.run(AMEND, {"project_id": project_id, "id": answer_id, "more": Jsonb(more)})


def _restrict_to(caller: Caller) -> dict[str, UUID | None]:
    return {"project_id": caller.project_id, "key_id": caller.key_id}
