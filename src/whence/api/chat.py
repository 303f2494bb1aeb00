"""Chat: questions about the documents, and answers."""

from typing import Annotated, Any, Self
from uuid import UUID

from pydantic import ConfigDict, Field, ValidationInfo, field_validator

from whence import links
from whence.api.base import CamelShape, RequestShape
from whence.api.evidence import INCLUDE_RECTS, PageRectsModel
from whence.api.search import UNGROUNDED, FiltersRequest, OfProject
from whence.api.values import Flag, Ident, text, whole, wrong
from whence.chat import MAX_SOURCES, Answer, Asked, Citation, Source, Sources, Verified
from whence.chat.support import Judgement, Level, Origin
from whence.providers import Message, Role
from whence.search import MAX_QUERY

MAX_TURNS = 1000
MAX_TURN = 100_000
"""Maximum characters of the history. Turns that do not fit into the model's context are left out, oldest first."""

Limit = Annotated[int, whole(1, MAX_SOURCES)]
DEFAULT_LIMIT = Asked(message="").limit
LIMIT = "Maximum number of chunks in the prompt."


class HistoryTurn(RequestShape):
    role: Role
    content: Annotated[str, text(MAX_TURN, blank=True)]


class ChatQuestion(RequestShape):
    """A question without its project, as `whence ask` sends it."""

    message: Annotated[str, text(MAX_QUERY)]
    history: list[HistoryTurn] = Field(
        default=[], max_length=MAX_TURNS, description="The conversation so far, the oldest turn first."
    )
    limit: Limit = Field(default=DEFAULT_LIMIT, description=LIMIT)
    filters: FiltersRequest | None = None
    verify: Flag | None = Field(
        default=None,
        description="Let the model judge each citation. Default: the project's setting, else `WHENCE_VERIFY`.",
    )
    include_ungrounded: Flag = Field(default=False, description=UNGROUNDED)
    include_rects: Flag = Field(
        default=False, description=INCLUDE_RECTS + " Stored answers always have them."
    )
    conversation_id: Ident | None = Field(
        default=None,
        validate_default=True,
        description="A conversation: its messages are the history, and the answer is stored in it.",
    )
    store: Flag | None = Field(
        default=None, description="Store the answer, without `conversationId` in a new conversation."
    )

    @field_validator("conversation_id", mode="after")
    @classmethod
    def _require_one_history(cls, ident: UUID | None, info: ValidationInfo) -> UUID | None:
        if ident is not None and info.data.get("history"):
            raise wrong("absent when `history` is given: the conversation has its own")
        return ident

    def asked(self) -> Asked:
        return Asked(
            message=self.message,
            history=tuple(Message(role=turn.role, content=turn.content) for turn in self.history),
            limit=self.limit,
            filters=None if self.filters is None else self.filters.filters(),
            verify=self.verify,
            include_ungrounded=self.include_ungrounded,
            include_rects=self.include_rects or bool(self.store) or self.conversation_id is not None,
        )


class ChatRequest(ChatQuestion, OfProject):
    model_config = ConfigDict(
        json_schema_extra={"example": {"project": "default", "message": "Who paid for it?"}}
    )

    stream: Flag | None = Field(default=None, description="Answer with server-sent events.")

    @field_validator("project_id", mode="before")
    @classmethod
    def _require_text(cls, ident: Any) -> Any:
        if not isinstance(ident, str):
            raise wrong("a UUID")
        return ident


class ChatSource(CamelShape):
    id: str | None = Field(
        description="The chunk's id, [LightRAG's](lightrag.md) for its own texts; null for `LightRAG Answer`.",
    )
    document_id: str | None = Field(json_schema_extra={"format": "uuid"})
    chunk_index: int | None = Field(description="The chunk's index in its document, from 0.")
    chunk_text: str
    source: str = Field(description="The file's name, or `LightRAG Answer`.", examples=["report.pdf"])
    distance: float | None = Field(description="Cosine distance to the question, from 0 to 1.")
    page: int | None
    start_offset: int | None = Field(
        default=None, description="Start of the chunk in the document's text, in code points."
    )
    end_offset: int | None = None
    document_version: int | None = None
    url: str | None = Field(default=None, description="A lasting link to the chunk.")

    @classmethod
    def of(cls, source: Source, /, **more: Any) -> Self:
        version, start, end = source.document_version, source.start, source.end
        return super().of(
            source,
            chunk_text=source.text,
            source=source.name,
            start_offset=start,
            end_offset=end,
            url=links.to_document(source.document_id, version=version, start=start, end=end),
            **more,
        )


class ChatCitation(CamelShape):
    """One citation of one sentence. The names are those of `chat.Citation`."""

    response_start: int = Field(description="Start of the sentence in the response, in code points.")
    response_end: int
    chunk_id: str | None = Field(description="The `id` of a source; null for a sentence that cites nothing.")
    document_id: UUID | None
    start_offset: int | None = Field(description="Start of the quote in the document's text, in code points.")
    end_offset: int | None
    page: int | None
    quote: str | None = Field(description="Null if the chunk contains no word of the sentence.")
    support: float = Field(description="How well the chunk supports the sentence, from 0 to 1.")
    support_level: Level = Field(
        description="`verbatim` and `close` mean that the chunk supports the sentence."
    )
    supported: bool = Field(description="True for `verbatim` and `close`.")
    origin: Origin = Field(
        description="`model`, or `attributed` if the model cited nothing and Whence found the source."
    )
    judgement: Judgement | None = Field(
        description="The model's judgement of the sentence against the quote; null without `verify`."
    )
    judged_by: str | None
    pages: list[PageRectsModel] | None = Field(
        description="The rectangles of the quote; null without `includeRects`."
    )
    document_version: int | None = None
    url: str | None = Field(default=None, description="A lasting link to the quote.")

    @classmethod
    def of(cls, one: Citation, /, **more: Any) -> Self:
        start, end = one.start_offset, one.end_offset
        url = links.to_document(one.document_id, version=one.document_version, start=start, end=end)
        return super().of(one, url=url, **more)


class ChatAnswer(CamelShape):
    response: str = Field(description="Citations in it are `[<chunk id>]`.")
    messages: list[Message]
    sources: list[ChatSource]
    model: str = Field(description="The model that answered; `extractive` without one.")
    total_duration: int = Field(description="Milliseconds.")
    prompt_eval_count: int | None = Field(description="Tokens of the prompt; null if unknown.")
    eval_count: int | None = Field(description="Tokens of the answer; null if unknown.")
    citations: list[ChatCitation]
    notes: list[str] = Field(description="Remarks on how the answer was made.")
    answer_id: UUID | None = Field(
        default=None,
        description="The id of a stored answer. Like the next two fields, only of stored answers.",
    )
    conversation_id: UUID | None = None
    url: str | None = None

    @classmethod
    def of(cls, answer: Answer, /, **more: Any) -> Self:
        stored = {}
        if answer.id is not None:
            stored = {
                "answer_id": answer.id,
                "conversation_id": answer.conversation_id,
                "url": links.to_answer(answer.id),
            }
        shown = {name: getattr(answer, name) for name in ("response", "messages", "model", "notes")}
        return super().of(
            shown,
            **stored,
            sources=sources_of(answer),
            citations=citations_of(answer),
            total_duration=round(answer.seconds * 1000),
            prompt_eval_count=answer.prompt_tokens,
            eval_count=answer.completion_tokens,
            **more,
        )


def sources_of(found: Answer | Sources) -> list[ChatSource]:
    return [ChatSource.of(source) for source in found.sources]


def citations_of(found: Answer | Verified) -> list[ChatCitation]:
    return [ChatCitation.of(one) for one in found.citations]


class SourcesEvent(CamelShape):
    """The data of the event `sources`."""

    sources: list[ChatSource]
    model: str = Field(description="The model that answers; `extractive` answers are quotes.")


class VerifiedEvent(CamelShape):
    """The data of the event `verified`."""

    citations: list[ChatCitation]
    notes: list[str]

    @classmethod
    def of(cls, found: Answer | Verified, /, **more: Any) -> Self:
        return cls(citations=citations_of(found), notes=list(found.notes), **more)


class TokenEvent(CamelShape):
    """The data of the event `token`."""

    text: str
