"""OpenAI's Responses: the same answers in the newer protocol, as one object or as a stream of events."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import ConfigDict, Field, field_validator

from whence.api.annotations import StyledAnswer
from whence.api.base import AnswerShape, or_text
from whence.api.chat import MAX_TURN, MAX_TURNS, ChatCitation, ChatQuestion, ChatSource, sources_of
from whence.api.completion_answers import tokens_of
from whence.api.completions import (
    CompletionTurn,
    Never,
    QuestionRequest,
    TolerantRequest,
    messages_of,
    needs_model,
    require_question,
    without_numbers,
)
from whence.api.values import Flag, canonical_uuid, text, wrong
from whence.chat import Answer
from whence.providers import Message, PassedOn

_PREFIX = "resp_"
_FORMAT = "text.format"


def answer_id_of(response_id: str) -> UUID | None:
    """The id of the stored answer; None if the text is not the id of a response."""
    ident = canonical_uuid(response_id.removeprefix(_PREFIX))
    return UUID(ident) if response_id.startswith(_PREFIX) and ident is not None else None


def response_id_of(answer_id: UUID) -> str:
    return f"{_PREFIX}{answer_id}"


class TextFormat(TolerantRequest):
    """The format, passed on to the model with all its fields."""

    model_config = ConfigDict(extra="allow")

    type: Literal["text", "json_object", "json_schema"] = "text"


class TextOptions(TolerantRequest):
    format: TextFormat | None = None


class ResponseRequest(QuestionRequest):
    model_config = ConfigDict(
        json_schema_extra={"example": {"model": "default", "input": "Who paid for it?"}}
    )

    input: list[CompletionTurn] = Field(
        json_schema_extra=or_text,
        description="The question, or a list of messages whose last one is the question. All other items are left out.",
    )
    previous_response_id: Annotated[str | None, text(MAX_TURN)] = Field(
        default=None, description="The last response of the conversation to continue."
    )
    conversation: None = Field(default=None, description="Use `previous_response_id`.")
    background: Never | None = Field(
        default=None, description="Every response is complete when it is answered."
    )
    store: Flag = Field(
        default=True, description="Store the answer, so that the conversation can be continued."
    )
    text: TextOptions | None = Field(
        default=None, description="`format` is passed on to the model; without a model only `text`."
    )

    @field_validator("input", mode="before")
    @classmethod
    def _read_input(cls, given: Any) -> Any:
        if isinstance(given, str):
            return [{"role": "user", "content": given}]
        if not isinstance(given, list) or not 1 <= len(given) <= MAX_TURNS:
            raise wrong(f"a text, or a list of 1 to {MAX_TURNS:,} messages")
        kinds = ("message", None)
        return [item for item in given if not isinstance(item, dict) or item.get("type") in kinds]

    @field_validator("input", mode="after")
    @classmethod
    def _end_with_a_question(cls, turns: list[CompletionTurn]) -> list[CompletionTurn]:
        require_question(turns)
        return turns

    @field_validator("previous_response_id", mode="after")
    @classmethod
    def _require_our_id(cls, ident: str | None) -> str | None:
        if ident is not None and answer_id_of(ident) is None:
            raise wrong("the id of a response")
        return ident

    @property
    def previous(self) -> UUID | None:
        """The id of the stored answer."""
        return None if self.previous_response_id is None else answer_id_of(self.previous_response_id)

    @field_validator("tool_choice", mode="after")
    @classmethod
    def _require_no_tool(cls, choice: str | dict[str, Any] | None) -> str | dict[str, Any] | None:
        if choice not in (None, "auto", "none"):
            raise wrong('absent, "auto" or "none": tools are not called here')
        return choice

    def require_possible(self) -> None:
        if self._format.type != "text":
            raise needs_model(_FORMAT, self._format.type, expected='absent or {"type": "text"}')

    @property
    def _format(self) -> TextFormat:
        return (self.text and self.text.format) or TextFormat()

    def said(self) -> list[Message]:
        return messages_of(self.input)

    def question(self, conversation_id: UUID | None) -> ChatQuestion:
        """The question. In a conversation only the last message is used, because the others are stored."""
        *history, question = self.said()
        before = [] if conversation_id else [without_numbers(turn) for turn in history]
        return ChatQuestion.model_validate(
            {
                "message": question.content,
                "history": [{"role": turn.role, "content": turn.content} for turn in before],
                "limit": self.limit,
                "verify": False if self.stream else None,
                "conversationId": conversation_id and str(conversation_id),
                "store": self.store,
            }
        )

    @property
    def passed_on(self) -> PassedOn:
        kind, given = self._format.type, self._format.model_extra
        if kind == "text":
            return PassedOn()
        return PassedOn(options={"response_format": {"type": kind, kind: given} if given else {"type": kind}})


class OutputAnnotation(AnswerShape):
    """`text[start_index:end_index]` is the citation."""

    type: Literal["url_citation"]
    start_index: int
    end_index: int
    title: str
    url: str


class OutputText(AnswerShape):
    type: Literal["output_text"]
    text: str
    annotations: list[OutputAnnotation]


class OutputMessage(AnswerShape):
    type: Literal["message"]
    id: str
    status: Literal["in_progress", "completed", "incomplete"]
    role: Literal["assistant"]
    content: list[OutputText]


class CachedTokens(AnswerShape):
    cached_tokens: int


class ReasoningTokens(AnswerShape):
    reasoning_tokens: int


class ResponseUsage(AnswerShape):
    input_tokens: int
    input_tokens_details: CachedTokens
    output_tokens: int
    output_tokens_details: ReasoningTokens
    total_tokens: int

    @classmethod
    def of(cls, answer: Answer, /, **more: Any) -> Self:
        prompt, completion, total = tokens_of(answer)
        return cls(
            input_tokens=prompt,
            input_tokens_details=CachedTokens(cached_tokens=0),
            output_tokens=completion,
            output_tokens_details=ReasoningTokens(reasoning_tokens=0),
            total_tokens=total,
            **more,
        )


class IncompleteDetails(AnswerShape):
    reason: Literal["max_output_tokens", "content_filter"]


class ResponseAnswer(AnswerShape):
    """OpenAI's response. The last four fields are our additions."""

    model_config = ConfigDict(populate_by_name=True)

    id: str
    object: Literal["response"]
    created_at: int
    status: Literal["in_progress", "completed", "incomplete"]
    error: None
    incomplete_details: IncompleteDetails | None
    instructions: None
    metadata: dict[str, Any]
    model: str = Field(description="The project's name.")
    output: list[OutputMessage]
    parallel_tool_calls: bool
    previous_response_id: str | None
    temperature: None
    tool_choice: str
    tools: list[dict[str, Any]]
    top_p: None
    store: bool
    usage: ResponseUsage | None
    sources: list[ChatSource] = Field(default=[])
    citations: list[ChatCitation] = Field(default=[])
    notes: list[str] = Field(default=[])
    answered_by: str = Field(default="", alias="answeredBy")


class ResponseDeleted(AnswerShape):
    id: str
    object: Literal["response"]
    deleted: Literal[True]


class ResponseWriter:
    """Builds one response, whole or as the events of a stream."""

    def __init__(
        self, *, answer_id: UUID, created: int, model: str, previous: str | None, is_stored: bool
    ) -> None:
        self._message = {"type": "message", "id": f"msg_{answer_id}", "role": "assistant"}
        self._head = {
            "id": response_id_of(answer_id),
            "object": "response",
            "created_at": created,
            "error": None,
            "incomplete_details": None,
            "instructions": None,
            "metadata": {},
            "model": model,
            "parallel_tool_calls": True,
            "previous_response_id": previous,
            "temperature": None,
            "tool_choice": "auto",
            "tools": [],
            "top_p": None,
            "store": is_stored,
        }
        self._count = 0

    def whole(self, answer: Answer, styled: StyledAnswer, content: str) -> ResponseAnswer:
        reason = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(answer.finish or "")
        status = "incomplete" if reason else "completed"
        return ResponseAnswer.of(
            self._head,
            status=status,
            incomplete_details={"reason": reason} if reason else None,
            output=[{**self._message, "status": status, "content": [_make_part(content, styled, answer)]}],
            usage=ResponseUsage.of(answer),
            sources=sources_of(answer),
            citations=styled.citations(answer),
            notes=answer.notes,
            answered_by=answer.model,
        )

    def begin(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """The events before the text."""
        begun = ResponseAnswer.of(self._head, status="in_progress", output=[], usage=None).as_json()
        yield self._make_event("response.created", response=begun)
        yield self._make_event("response.in_progress", response=begun)
        item = {**self._message, "status": "in_progress", "content": []}
        yield self._make_event("response.output_item.added", output_index=0, item=item)
        empty = {"type": "output_text", "text": "", "annotations": []}
        yield self._make_event("response.content_part.added", **self._place, part=empty)

    def piece(self, piece: str) -> Iterator[tuple[str, dict[str, Any]]]:
        if piece:
            yield self._make_event("response.output_text.delta", **self._place, delta=piece, logprobs=[])

    def end(self, answer: Answer, styled: StyledAnswer, content: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """The events after the text."""
        done = self.whole(answer, styled, content).as_json()
        (item,) = done["output"]
        (part,) = item["content"]
        for number, note in enumerate(part["annotations"]):
            yield self._make_event(
                "response.output_text.annotation.added",
                **self._place,
                annotation_index=number,
                annotation=note,
            )
        yield self._make_event("response.output_text.done", **self._place, text=content, logprobs=[])
        yield self._make_event("response.content_part.done", **self._place, part=part)
        yield self._make_event("response.output_item.done", output_index=0, item=item)
        yield self._make_event(f"response.{done['status']}", response=done)

    def failure(self, error: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        return self._make_event("error", code=error["code"], message=error["message"], param=None)

    @property
    def _place(self) -> dict[str, Any]:
        return {"item_id": self._message["id"], "output_index": 0, "content_index": 0}

    def _make_event(self, kind: str, **fields: Any) -> tuple[str, dict[str, Any]]:
        number, self._count = self._count, self._count + 1
        return kind, {"type": kind, "sequence_number": number, **fields}


def _make_part(content: str, styled: StyledAnswer, answer: Answer) -> OutputText:
    notes = [OutputAnnotation.of(note.url_citation, type=note.type) for note in styled.annotations(answer)]
    return OutputText(type="output_text", text=content, annotations=notes)
