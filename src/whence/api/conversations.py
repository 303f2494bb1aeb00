"""Conversations, and their answers with later changes of their sources."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from whence.api.base import CamelShape, RequestShape
from whence.api.chat import ChatCitation, ChatSource
from whence.api.values import Ident, text, whole
from whence.providers import Role
from whence.store.answers import MoveReason

MAX_TITLE = 200
MAX_COMMENT = 10_000
MAX_CITATIONS = 10_000

Title = Annotated[str, text(MAX_TITLE)]
Rating = Literal["up", "down"]


class ConversationCreate(RequestShape):
    project_id: Ident | None = Field(
        default=None, description="Default: the key's project, or the default one."
    )
    title: Title | None = Field(default=None, description="Default: the first question.")


class ConversationChange(RequestShape):
    title: Title


class ConversationModel(CamelShape):
    id: UUID
    project_id: UUID
    title: str | None
    created_at: datetime
    updated_at: datetime
    is_own: bool = Field(
        description="Whether this key made the conversation. Changing others needs the scope `write`."
    )
    answer_count: int
    stale_count: int = Field(description="Number of stale answers that were not refreshed.")
    url: str | None


class FeedbackRequest(RequestShape):
    rating: Rating
    comment: Annotated[str | None, text(MAX_COMMENT)] = None
    wrong_citations: list[Annotated[int, whole(0, MAX_CITATIONS)]] = Field(
        default=[], max_length=1000, description="Positions in `citations`, from 0."
    )


class FeedbackModel(CamelShape):
    rating: Rating
    comment: str | None
    wrong_citations: list[int]
    at: datetime


class StaleReason(CamelShape):
    """A reason why an answer is stale."""

    reason: MoveReason = Field(
        description="`changed` or `deleted`: the cited chunk. `rejected`: a claim about the cited words."
    )
    at: datetime
    chunk_id: UUID
    document_id: UUID | None
    document_name: str
    current_version: int | None = Field(description="The document's current version; null if it is deleted.")
    citations: list[int] = Field(description="Positions in `citations`, from 0.")
    old_text: str = Field(description="The cited words.")
    new_text: str | None = Field(
        description="The current text: the same or the most similar words; null if there are none."
    )
    quote_still_there: bool
    url: str | None


class AnswerModel(CamelShape):
    """A stored answer. Question, response, sources and citations never change."""

    id: UUID
    project_id: UUID
    conversation_id: UUID
    question: str
    response: str
    sources: list[ChatSource]
    citations: list[ChatCitation]
    model: str
    notes: list[str]
    total_duration: int
    prompt_eval_count: int | None
    eval_count: int | None
    created_at: datetime
    url: str | None
    is_stale: bool
    stale_at: datetime | None
    stale_reasons: list[StaleReason]
    feedback: FeedbackModel | None
    refreshes: UUID | None = Field(description="The answer to the same question before this one.")
    refreshed_by: UUID | None = Field(description="The answer that replaced this one.")


class ConversationMessage(CamelShape):
    role: Role
    content: str
    created_at: datetime
    answer: AnswerModel | None = Field(description="Null for questions.")


class ConversationAnswer(ConversationModel):
    messages: list[ConversationMessage]


class DiffPart(CamelShape):
    op: Literal["same", "removed", "added"]
    text: str


class ChangedQuote(CamelShape):
    quote: str
    document_id: UUID | None
    url: str | None


class AnswerChanges(CamelShape):
    """The differences between a refreshed answer and the one before."""

    response_changed: bool = Field(description="Whether the text differs, ignoring citations.")
    diff: list[DiffPart] = Field(description="Sentences of both texts, in order.")
    sources_added: list[UUID]
    sources_removed: list[UUID]
    quotes_added: list[ChangedQuote]
    quotes_removed: list[ChangedQuote]


class RefreshedAnswer(CamelShape):
    answer: AnswerModel
    previous: AnswerModel
    changes: AnswerChanges


class Deleted(CamelShape):
    id: UUID
    deleted: Literal[True]
